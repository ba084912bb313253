package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/sextant-rag/sextant"
)

// eventWriter writes server-sent events (WHATWG HTML, section 9.2). Every event has an
// id, counted from 1, a name and one line of JSON, and reaches the client at once.
type eventWriter struct {
	w     http.ResponseWriter
	flush func() error
	id    int
}

// newEventWriter sends the headers. no-cache and X-Accel-Buffering keep proxies from
// holding events back; nothing here ever compresses a stream, for the same reason.
func newEventWriter(w http.ResponseWriter) *eventWriter {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	e := &eventWriter{w: w, flush: http.NewResponseController(w).Flush}
	_ = e.flush() // a client that has gone shows at the first event
	return e
}

// errGone says that nobody reads the stream any more. There is nothing to report then.
var errGone = errors.New("the client has gone")

func (e *eventWriter) event(name string, v any) error {
	data, err := JSON(v)
	if err != nil {
		return err
	}
	e.id++
	return e.send("id: " + strconv.Itoa(e.id) + "\nevent: " + name + "\ndata: " + string(data) + "\n\n")
}

// heartbeat is a comment: it keeps idle connections open and is no event.
func (e *eventWriter) heartbeat() error { return e.send(": still working\n\n") }

func (e *eventWriter) send(text string) error {
	if _, err := io.WriteString(e.w, text); err != nil {
		return errGone
	}
	if e.flush() != nil {
		return errGone
	}
	return nil
}

// streamAnswer writes what happens on the way to an answer, then exactly one terminal
// event: final with the answer, or error with a problem. Once the headers are out there
// is no status left to set, so every failure after that is an event.
func (s *Server) streamAnswer(w http.ResponseWriter, r *http.Request, q sextant.Question) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	happenings, err := s.start(ctx, q)
	if err != nil {
		return err
	}
	s.liftDeadline(w)
	e := newEventWriter(w)
	if err := s.writeEvents(e, happenings); err != nil && !errors.Is(err, errGone) {
		s.logFailure(r, err)
		_ = e.event("error", problemOf(explained(r.Context(), err), requestID(r)))
	}
	return nil
}

// writeEvents returns the error that has yet to be told, nil when all is told.
func (s *Server) writeEvents(e *eventWriter, happenings <-chan happening) error {
	beat := time.NewTicker(s.config.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			if err := e.heartbeat(); err != nil {
				return err
			}
		case h, open := <-happenings:
			if !open {
				return nil
			}
			if h.err != nil {
				return h.err
			}
			if err := e.event(h.event.Name(), h.event); err != nil {
				return err
			}
		}
	}
}
