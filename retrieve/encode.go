package retrieve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed"
)

// vector returns the query's vector, or why words have to rank alone; neither where
// nobody expects vectors.
func (r *Retriever) vector(ctx context.Context, spec sextant.Collection, text string) (v []float32, why string) {
	switch {
	case spec.Encoder == "" && r.options.Encoder == nil:
		return nil, ""
	case spec.Encoder == "":
		return nil, fmt.Sprintf("%s has no vectors: it was searched by words only. `sextant reembed %s` adds them.", spec.Name, spec.Name)
	case r.options.Encoder == nil && r.options.Missing != "":
		return nil, r.options.Missing
	case r.options.Encoder == nil:
		return nil, fmt.Sprintf("%s was searched by words only: no encoder is set.", spec.Name)
	case r.Encoder() != spec.Encoder:
		return nil, Mismatch(spec, r.options.Encoder.Fingerprint())
	}
	wait := r.options.Patience
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	v, err := r.queries.get(ctx, r.options.Encoder, text)
	switch {
	case err == nil:
		return v, ""
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Sprintf("The encoder did not answer in time (%s): searched by words only.", wait.Round(time.Millisecond))
	case ctx.Err() != nil:
		return nil, "" // the search fails with it in a moment
	}
	message := "The encoder failed: searched by words only."
	if public, _ := sextant.PublicMessage(err); sextant.ErrorCode(err) != sextant.CodeInternal {
		message = public + " Searched by words only."
	}
	return nil, message
}

// Mismatch says that a collection's vectors are of another encoder than the one in use,
// and what to do.
func Mismatch(spec sextant.Collection, now embed.Fingerprint) string {
	name := spec.Encoder
	difference := ""
	if stored, err := embed.ParseFingerprint(spec.Encoder); err == nil {
		name = stored.Model
		if d := stored.Differences(now); stored.Model == now.Model && len(d) > 0 {
			difference = " (" + d[0] + ")"
		}
	}
	return fmt.Sprintf("%s has vectors of the encoder %s, and %s is set%s: these cannot be compared, so it is searched by words only. `sextant reembed %s` makes them anew.",
		spec.Name, name, now.Model, difference, spec.Name)
}

// queries remembers the vectors of the last texts asked for. Of several that ask for the
// same at once, one encodes.
type queries struct {
	mu    sync.Mutex
	known map[string]*encoding
	order []string // oldest first
}

// remembered is how many vectors are kept: those of a question and its parts.
const remembered = 64

// encoding is a text being encoded; the fields are set once done is closed.
type encoding struct {
	done   chan struct{}
	vector []float32
	err    error
}

// get returns the vector of a text. The encoder goes on when a caller stops waiting:
// what comes late for this one is there for the next.
func (q *queries) get(ctx context.Context, encoder embed.Embedder, text string) ([]float32, error) {
	q.mu.Lock()
	e := q.known[text]
	if e == nil {
		e = q.begin(context.WithoutCancel(ctx), encoder, text)
	}
	q.mu.Unlock()
	select {
	case <-e.done:
		return e.vector, e.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// longest bounds an encoding that nobody waits for any more.
const longest = 30 * time.Second

func (q *queries) begin(ctx context.Context, encoder embed.Embedder, text string) *encoding {
	e := &encoding{done: make(chan struct{})}
	if q.known == nil {
		q.known = map[string]*encoding{}
	}
	q.known[text] = e
	q.order = append(q.order, text)
	if len(q.order) > remembered {
		delete(q.known, q.order[0])
		q.order = q.order[1:]
	}
	go func() {
		ctx, cancel := context.WithTimeout(ctx, longest)
		defer cancel()
		e.vector, e.err = encoder.EmbedQuery(ctx, text)
		if e.err != nil {
			q.forget(text, e)
		}
		close(e.done)
	}()
	return e
}

// forget drops a failure, so that the next one who asks tries again.
func (q *queries) forget(text string, e *encoding) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.known[text] == e {
		delete(q.known, text)
	}
}
