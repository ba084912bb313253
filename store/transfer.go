package store

import (
	"context"
	"fmt"

	"github.com/sextant-rag/sextant"
)

// RecordReader is what a collection is besides if it gives whole records back, many at a
// time. See Records for those that do not.
type RecordReader interface {
	// Records returns documents with their chunks and vectors in the order of ids; ids that
	// do not exist are left out.
	Records(ctx context.Context, ids []sextant.DocumentID) ([]Record, error)
}

// MarkReader is what a journal is besides if it lists its marks: without that they
// cannot be carried into another store.
type MarkReader interface {
	// Marks returns marks whose key is above after, by key, at most limit.
	Marks(ctx context.Context, after string, limit int) ([]Mark, error)
}

// Mark is a value that a Journal keeps under a key.
type Mark struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Records reads whole records in the order of ids, one by one where the collection has
// no other way. A collection with an encoder whose vectors cannot be read is
// ErrUnsupported.
func Records(ctx context.Context, c Collection, ids []sextant.DocumentID) ([]Record, error) {
	if r, ok := c.(RecordReader); ok {
		return r.Records(ctx, ids)
	}
	docs, err := c.Get(ctx, ids)
	if err != nil {
		return nil, err
	}
	v, readable := c.(VectorReader)
	encoded := c.Spec().Encoder != ""
	if encoded && !readable {
		return nil, fmt.Errorf("reading vectors: %w", ErrUnsupported)
	}
	out := make([]Record, len(docs))
	for i, d := range docs {
		out[i].Document = d
		if out[i].Chunks, err = c.Chunks(ctx, d.ID); err != nil {
			return nil, err
		}
		if encoded {
			if out[i].Vectors, err = v.Vectors(ctx, d.ID); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
