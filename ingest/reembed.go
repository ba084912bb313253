package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/store"
)

// Reembedding is what Reembed did.
type Reembedding struct {
	Collection string        `json:"collection"`
	From       string        `json:"from"` // the encoder before, "" if there were no vectors
	To         string        `json:"to"`   // the encoder now, "" if vectors were taken away
	Documents  int64         `json:"documents"`
	Chunks     int64         `json:"chunks"`  // of the collection
	Encoded    int64         `json:"encoded"` // chunks by this run; the others were there from one that was interrupted
	Took       time.Duration `json:"-"`
}

// reembedBatch is how many documents are encoded together: some seconds of work, which is
// what an interruption loses.
const reembedBatch = 64

// Reembed makes the vectors of a collection anew with an encoder, beside those in use, and
// puts them in place in one step; until then every question is answered from the old
// ones. A run that was interrupted is gone on with, if it was for the same encoder. A nil
// encoder takes all vectors away. Progress is told how many chunks this run encoded, and
// of how many at most; it may be nil.
//
// It excludes ingestion into the collection: what that writes would have old vectors.
func Reembed(ctx context.Context, st store.Store, collection string, e embed.Embedder, progress func(done, of int64)) (Reembedding, error) {
	began := time.Now()
	out := Reembedding{Collection: collection}
	c, err := st.Open(ctx, collection)
	if err != nil {
		return out, fmt.Errorf("reembed: %w", err)
	}
	r, ok := c.(store.Reencoder)
	if !ok {
		return out, fmt.Errorf("reembed %s: %w", collection, store.ErrUnsupported)
	}
	leave, err := enter(Job{Store: st, Collection: c.Spec()})
	if err != nil {
		return out, err
	}
	defer leave()
	size, err := c.Size(ctx)
	if err != nil {
		return out, fmt.Errorf("reembed %s: %w", collection, err)
	}
	out.From, out.Documents, out.Chunks = c.Spec().Encoder, size.Documents, size.Chunks
	if e == nil {
		err = r.DropVectors(ctx)
	} else {
		out.To = e.Fingerprint().String()
		if out.From == out.To {
			return out, nil
		}
		err = out.run(ctx, r, e, progress)
	}
	out.Took = time.Since(began)
	if err != nil {
		return out, fmt.Errorf("reembed %s: %w", collection, err)
	}
	return out, nil
}

// run encodes what has no new vector, until there is nothing and the swap succeeds.
func (r *Reembedding) run(ctx context.Context, c store.Reencoder, e embed.Embedder, progress func(done, of int64)) error {
	if err := c.BeginVectors(ctx, r.To); err != nil {
		return err
	}
	for {
		for after, more := "", true; more; more = after != "" {
			docs, next, err := c.WithoutVectors(ctx, after, reembedBatch)
			if err != nil {
				return err
			}
			if after = next; len(docs) == 0 {
				continue
			}
			n, err := encodeAgain(ctx, c, e, docs)
			if err != nil {
				return err
			}
			if r.Encoded += n; progress != nil {
				progress(r.Encoded, r.Chunks)
			}
		}
		if err := c.SwapVectors(ctx); !errors.Is(err, store.ErrIncomplete) {
			return err
		}
	}
}

// encodeAgain gives documents their new vectors and says how many those are.
func encodeAgain(ctx context.Context, c store.Reencoder, e embed.Embedder, docs []store.Unencoded) (int64, error) {
	records := make([]store.Record, len(docs))
	for i, d := range docs {
		records[i] = store.Record{Document: d.Document, Chunks: d.Chunks}
	}
	if err := encodeRecords(ctx, e, records); err != nil {
		return 0, err
	}
	vectors, n := make([][][]float32, len(docs)), int64(0)
	for i := range records {
		vectors[i] = records[i].Vectors
		n += int64(len(vectors[i]))
	}
	return n, c.PutVectors(ctx, docs, vectors)
}
