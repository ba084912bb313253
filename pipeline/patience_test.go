package pipeline_test

import (
	"context"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/store"
)

// slowFacets is a collection whose facets take a while and stop when they are told to.
type slowFacets struct{ store.Collection }

func (c slowFacets) Facet(ctx context.Context, q store.FacetQuery) (store.Facet, error) {
	select {
	case <-time.After(20 * time.Millisecond):
		return c.Collection.Facet(ctx, q)
	case <-ctx.Done():
		return store.Facet{}, ctx.Err()
	}
}

type slowStore struct{ store.Store }

func (s slowStore) Open(ctx context.Context, name string) (store.Collection, error) {
	c, err := s.Store.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return slowFacets{c}, nil
}

// Callers that give up sooner than the engine can be ready do not keep it from being.
func TestImpatientCallersDoNotStarveTheEngine(t *testing.T) {
	e, _ := library(t, func(s store.Store) store.Store { return slowStore{s} })
	for range 100 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		err := e.Ready(ctx)
		cancel()
		if err == nil {
			return
		}
	}
	t.Error("never ready")
}
