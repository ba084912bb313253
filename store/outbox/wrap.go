package outbox

import (
	"context"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// wrap gives a collection its outbox, and keeps what it is besides. Which of these
// interfaces a store has is asked by type: one that it lacks must not appear.
func (s *Store) wrap(inner store.Collection) store.Collection {
	if inner == nil {
		return nil
	}
	c := &collection{inner, s}
	h, isHybrid := inner.(store.Hybrid)
	r, isReencoder := inner.(store.Reencoder)
	v, isVectors := inner.(store.VectorReader)
	w := reading{c, v}
	switch {
	case isHybrid && isReencoder && isVectors:
		return struct {
			reading
			mixing
			store.Reencoder
		}{w, mixing{c, h}, r}
	case isHybrid && isVectors:
		return struct {
			reading
			mixing
		}{w, mixing{c, h}}
	case isReencoder && isVectors:
		return struct {
			reading
			store.Reencoder
		}{w, r}
	case isVectors:
		return w
	}
	return c
}

// reading gives vectors and whole records back.
type reading struct {
	*collection
	vectors store.VectorReader
}

// Vectors implements store.VectorReader.
func (r reading) Vectors(ctx context.Context, id sextant.DocumentID) ([][]float32, error) {
	return after(ctx, r.collection, func() ([][]float32, error) { return r.vectors.Vectors(ctx, id) })
}

// Records implements store.RecordReader.
func (r reading) Records(ctx context.Context, ids []sextant.DocumentID) ([]store.Record, error) {
	return after(ctx, r.collection, func() ([]store.Record, error) { return store.Records(ctx, r.Collection, ids) })
}

// mixing ranks by words and vectors at once.
type mixing struct {
	c      *collection
	hybrid store.Hybrid
}

// SearchHybrid implements store.Hybrid.
func (m mixing) SearchHybrid(ctx context.Context, q store.HybridQuery) ([]store.HybridHit, error) {
	return after(ctx, m.c, func() ([]store.HybridHit, error) { return m.hybrid.SearchHybrid(ctx, q) })
}

// Inspect implements store.Inspector. It asks no collection for an answer, and so waits
// for nothing.
func (r reading) Inspect(ctx context.Context) (store.Inspection, error) {
	if i, ok := r.Collection.(store.Inspector); ok {
		return i.Inspect(ctx)
	}
	return store.Inspection{}, store.ErrUnsupported
}

// Repair implements store.Inspector.
func (r reading) Repair(ctx context.Context) (store.Inspection, error) {
	if i, ok := r.Collection.(store.Inspector); ok {
		return i.Repair(ctx)
	}
	return store.Inspection{}, store.ErrUnsupported
}

// Approximates implements store.Approximator.
func (m mixing) Approximates(ctx context.Context, f filter.Filter) (bool, error) {
	if a, ok := m.c.Collection.(store.Approximator); ok {
		return a.Approximates(ctx, f)
	}
	return false, nil
}
