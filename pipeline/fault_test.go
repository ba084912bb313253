package pipeline_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// faulty is a store whose reads fail from the nth one on, as a server's would that
// goes away in the middle of a question.
type faulty struct {
	store.Store
	left atomic.Int64
}

var errGone = errors.New("connection refused")

func (f *faulty) fails() bool { return f.left.Add(-1) < 0 }

func (f *faulty) Collections(ctx context.Context) ([]sextant.Collection, error) {
	if f.fails() {
		return nil, errGone
	}
	return f.Store.Collections(ctx)
}

func (f *faulty) Open(ctx context.Context, name string) (store.Collection, error) {
	if f.fails() {
		return nil, errGone
	}
	c, err := f.Store.Open(ctx, name)
	return &faultyCollection{c, f}, err
}

type faultyCollection struct {
	store.Collection
	f *faulty
}

func (c *faultyCollection) Count(ctx context.Context, f filter.Filter, unit string) (int64, error) {
	if c.f.fails() {
		return 0, errGone
	}
	return c.Collection.Count(ctx, f, unit)
}

func (c *faultyCollection) Facet(ctx context.Context, q store.FacetQuery) (store.Facet, error) {
	if c.f.fails() {
		return store.Facet{}, errGone
	}
	return c.Collection.Facet(ctx, q)
}

func (c *faultyCollection) Sum(ctx context.Context, f filter.Filter, field string) (store.Sum, error) {
	if c.f.fails() {
		return store.Sum{}, errGone
	}
	return c.Collection.Sum(ctx, f, field)
}

func (c *faultyCollection) List(ctx context.Context, q store.ListQuery) (store.List, error) {
	if c.f.fails() {
		return store.List{}, errGone
	}
	return c.Collection.List(ctx, q)
}

func (c *faultyCollection) Get(ctx context.Context, ids []sextant.DocumentID) ([]sextant.Document, error) {
	if c.f.fails() {
		return nil, errGone
	}
	return c.Collection.Get(ctx, ids)
}

func (c *faultyCollection) SearchLexical(ctx context.Context, q store.LexicalQuery) ([]store.Hit, error) {
	if c.f.fails() {
		return nil, errGone
	}
	return c.Collection.SearchLexical(ctx, q)
}

func (c *faultyCollection) Scan(context.Context, filter.Filter) iter.Seq2[sextant.Document, error] {
	return func(yield func(sextant.Document, error) bool) { yield(sextant.Document{}, errGone) }
}

// However early or late the store goes away, the question ends as source_unavailable:
// never as "no data", never as an answer with something missing.
func TestAStoreThatGoesAwayIsNeverNothingFound(t *testing.T) {
	for _, q := range []string{"damages in South in 2010", "Why did mould appear on the map of Norway?", "damages by branch and year", "What share of damages were in North?", "the latest damage"} {
		var f *faulty
		e, _ := library(t, func(s store.Store) store.Store { f = &faulty{Store: s}; f.left.Store(1 << 30); return f })
		healthy := ask(t, e, sextant.Question{Text: q})
		for n := int64(0); ; n++ {
			f.left.Store(n)
			a := ask(t, e, sextant.Question{Text: q})
			if f.left.Load() >= 0 { // it needed no more than n reads
				if a.Status != healthy.Status || a.Summary != healthy.Summary {
					t.Errorf("%s: healthy again, but %s: %s", q, a.Status, a.Summary)
				}
				break
			}
			if a.Status != sextant.SourceUnavailable || len(a.Findings) > 0 || len(a.Degraded) == 0 {
				t.Fatalf("%s: failing from read %d on: %s: %s", q, n, a.Status, a.Summary)
			}
		}
	}
}
