package rerank

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sextant-rag/sextant"
)

// A Stage is a reranker as questions use it: opened at its first use, kept, waited for no
// longer than is worth it, and never the end of a question when it fails.
//
// It must not be copied. The zero value with Open set is ready for use.
type Stage struct {
	// Open makes the reranker. It is called when a question first needs one, and again after
	// it failed. A caller that stops waiting does not stop it.
	Open func(ctx context.Context) (Opened, error)
	// Patience is how long one question waits, for opening and judging; 0 is DefaultPatience.
	Patience time.Duration

	mu      sync.Mutex
	opening *opening
}

// DefaultPatience is ten times what judging twenty passages takes on two idle cores.
const DefaultPatience = 2 * time.Second

// Opened is a reranker with what it earns.
type Opened struct {
	Reranker
	Mix Mix
	// Note says for people what is not as asked: what stands in for a model, or why the
	// weight is 0. It is "" where all is well.
	Note string
}

// opening is one call of Open, which several questions may wait for.
type opening struct {
	done   chan struct{}
	opened Opened
	err    error
}

// Outcome is what became of one question's passages.
type Outcome struct {
	Passages []sextant.Passage // in their new order, or as they were
	Model    string            // what judged; "" where nothing did
	Applied  bool              // the order is the reranker's doing
	Degraded []string          // for people: what was not as asked, and why
}

// Run reranks passages, best first as given. It fails only when ctx ends; whatever else goes
// wrong leaves the order as it was and says so.
func (s *Stage) Run(ctx context.Context, query string, passages []sextant.Passage) (Outcome, error) {
	out := Outcome{Passages: passages}
	patience := s.Patience
	if patience <= 0 {
		patience = DefaultPatience
	}
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline)/2) // the answer wants time too
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	opened, err := s.open(bounded)
	if err == nil {
		out.Model = opened.Model()
		if opened.Note != "" {
			out.Degraded = append(out.Degraded, opened.Note)
		}
		out.Passages, err = Passages(bounded, opened, opened.Mix, query, passages)
	}
	switch {
	case err == nil:
		first, end := judged(passages)
		out.Applied = opened.Mix.Weight > 0 && end-first > 1 // one alone has no order
	case ctx.Err() != nil:
		return Outcome{Passages: passages}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		out.Passages = passages
		out.Degraded = append(out.Degraded, fmt.Sprintf("Reranking took longer than %s: passages are in the order of retrieval.", patience.Round(time.Millisecond)))
	default:
		out.Passages = passages
		message := "Reranking failed: passages are in the order of retrieval."
		if public, ok := errors.AsType[*sextant.Error](err); ok {
			message += " " + public.Message
		}
		out.Degraded = append(out.Degraded, message)
	}
	return out, nil
}

// Warm opens the reranker ahead of the first question.
func (s *Stage) Warm(ctx context.Context) error {
	_, err := s.open(ctx)
	return err
}

// open waits for the reranker, and begins to open it where nobody has.
func (s *Stage) open(ctx context.Context) (Opened, error) {
	s.mu.Lock()
	o := s.opening
	if o == nil {
		o = &opening{done: make(chan struct{})}
		s.opening = o
		go s.begin(context.WithoutCancel(ctx), o)
	}
	s.mu.Unlock()
	select {
	case <-o.done:
		return o.opened, o.err
	case <-ctx.Done():
		return Opened{}, ctx.Err()
	}
}

func (s *Stage) begin(ctx context.Context, o *opening) {
	o.opened, o.err = s.Open(ctx)
	if o.err != nil {
		s.mu.Lock()
		s.opening = nil
		s.mu.Unlock()
	}
	close(o.done)
}
