package httpapi

import (
	"context"
	"sync/atomic"

	"github.com/sextant-rag/sextant"
)

// queue bounds the work in hand: a number of questions run, a number wait, the next is
// turned away at once. Unbounded, a burst would only make every answer late and the
// memory full.
type queue struct {
	running chan struct{}
	waiting atomic.Int64
	limit   int64
}

func newQueue(running, waiting int) *queue {
	return &queue{running: make(chan struct{}, running), limit: int64(waiting)}
}

// enter waits for a place; leave gives it back. A full queue is codeBusy.
func (q *queue) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-q.running }
	select {
	case q.running <- struct{}{}:
		return leave, nil
	default:
	}
	if q.waiting.Add(1) > q.limit {
		q.waiting.Add(-1)
		busy := &sextant.Error{Code: codeBusy, Op: "queue", Message: "Too many questions are being answered right now.", Hint: "Try again in a moment."}
		return nil, withHeader(busy, "Retry-After", "1")
	}
	defer q.waiting.Add(-1)
	select {
	case q.running <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
