package store

import (
	"context"
	"errors"

	"github.com/sextant-rag/sextant"
)

// ErrIncomplete is why new vectors cannot take the place of the old ones yet.
var ErrIncomplete = errors.New("not every chunk has its new vector yet")

// Reencoder is what a collection is besides if its vectors can be made anew, by another
// encoder, beside those in use. Until SwapVectors everything is answered from the old
// ones, and from then on from the new ones: no query sees some of both. What was stored
// before an interruption is there after it.
type Reencoder interface {
	// BeginVectors starts vectors of an encoder, or goes on with those it left; those of any
	// other that were begun are dropped.
	BeginVectors(ctx context.Context, encoder string) error
	// WithoutVectors returns the next documents, at most limit, that have chunks without a
	// new vector, in an order of the store's own, and a cursor for the call after, "" at the
	// end; there may be a next call even after none. Documents written meanwhile come behind
	// the others, or when all are asked for anew.
	WithoutVectors(ctx context.Context, after string, limit int) (docs []Unencoded, next string, err error)
	// PutVectors stores new vectors durably: for each document one a chunk. Documents that
	// were replaced or deleted meanwhile are passed over.
	PutVectors(ctx context.Context, docs []Unencoded, vectors [][][]float32) error
	// SwapVectors puts the new vectors in place of the old ones and makes the encoder the
	// collection's, in one step. ErrIncomplete if one is missing.
	SwapVectors(ctx context.Context) error
	// DropVectors takes all vectors away, in one step, and what was begun: the collection has
	// no encoder then.
	DropVectors(ctx context.Context) error
}

// Unencoded is a document that needs new vectors.
type Unencoded struct {
	Document sextant.Document
	Chunks   []sextant.Chunk
	Version  int64 // tells this version of the document from others; the store's own
}

// VectorReader is what a collection is besides if it gives its vectors back.
type VectorReader interface {
	// Vectors returns the vectors of a document's chunks, in order; none if it does not
	// exist or there are none.
	Vectors(ctx context.Context, id sextant.DocumentID) ([][]float32, error)
}
