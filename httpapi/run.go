package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/sextant-rag/sextant"
)

// happening is one step of a question: an event, or the error that ended it.
type happening struct {
	event sextant.Event
	err   error
}

// pending is how many events may wait for a slow reader before the engine does. A whole
// question has far fewer, so a reader of one byte a second holds its connection and
// some memory, not a place among the running questions.
const pending = 256

var errNoAnswer = errors.New("the engine stopped without an answer or an error")

// start lets the engine work on q in a goroutine of its own and returns what happens.
// The channel is closed after the Final, an error, or the end of ctx; whichever comes,
// nothing follows it. A full queue is refused before anything starts.
func (s *Server) start(ctx context.Context, q sextant.Question) (<-chan happening, error) {
	leave, err := s.queue.enter(ctx)
	if err != nil {
		return nil, err
	}
	out := make(chan happening, pending)
	s.working.Add(1)
	go func() {
		defer s.working.Done()
		defer close(out)
		defer leave()
		if err := s.forward(ctx, q, out); err != nil {
			send(ctx, out, happening{err: err})
		}
	}()
	return out, nil
}

// forward passes events on until the Final. A panic in the engine is an error like any
// other: this goroutine has no net/http above it that would catch one.
func (s *Server) forward(ctx context.Context, q sextant.Question, out chan<- happening) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("ask: panic: %v\n%s", v, debug.Stack())
		}
	}()
	for event, err := range s.engine.Ask(ctx, q) {
		if err != nil {
			s.metrics.failed()
			return err
		}
		s.metrics.see(event)
		send(ctx, out, happening{event: event})
		if _, ok := event.(sextant.Final); ok {
			return nil
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errNoAnswer
}

func send(ctx context.Context, out chan<- happening, h happening) {
	select {
	case out <- h:
	case <-ctx.Done():
		select { // a reader that is still there should learn how it ended
		case out <- h:
		default:
		}
	}
}

// liftDeadline takes the connection's write timeout away while the engine works. The read
// timeout needs no care: net/http drops it once the body is read.
func (s *Server) liftDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a writer without deadlines, as in tests, has none to lift
}

func (s *Server) restoreDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.config.WriteTimeout))
}
