package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

func states(encoder string) sextant.Collection {
	return sextant.Collection{Name: "states", Encoder: encoder, Schema: filter.Schema{Fields: []filter.Field{{Name: "state", Kind: filter.Keyword}}}}
}

func inState(s string) filter.Meta {
	return filter.Meta{Fields: filter.Fields{"state": {filter.OfString(s)}}}
}

func isState(s string) filter.Filter { return filter.Eq{Field: "state", Value: filter.OfString(s)} }

// testSearch: a filter is applied before the best are chosen, not after; ties are in
// order of ids, also where they are cut off; what is found says why.
func testSearch(t *testing.T, open Open) {
	c := ensure(t, opened(t, open), states(""))
	var records []store.Record
	for i := range 500 {
		records = append(records, plain("states", fmt.Sprintf("s:%03d", (i*77)%500), "wing ice wing ice", inState("TX")))
	}
	records = append(records, plain("states", "s:vt", "The wing of the airplane was covered with frost", inState("VT")))
	if err := c.Upsert(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		q    store.LexicalQuery
		want []sextant.DocumentID
	}{
		{"the only one far behind", store.LexicalQuery{Text: "wing ice", Filter: isState("VT"), Limit: 1}, []sextant.DocumentID{"s:vt"}},
		{"ties", store.LexicalQuery{Text: "ice", Limit: 3}, []sextant.DocumentID{"s:000", "s:001", "s:002"}},
		{"none under the filter", store.LexicalQuery{Text: "wing", Filter: isState("AK")}, nil},
		{"no words", store.LexicalQuery{Text: " -- "}, nil},
		{"unknown word", store.LexicalQuery{Text: "helicopter"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hits, err := c.SearchLexical(t.Context(), tt.q)
			var ids []sextant.DocumentID
			for _, h := range hits {
				ids = append(ids, h.Chunk.DocumentID)
			}
			if diff := cmp.Diff(tt.want, ids); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
	hits, err := c.SearchLexical(t.Context(), store.LexicalQuery{Text: "wings covered with frost"})
	if err != nil || len(hits) != 10 {
		t.Errorf("default limit: %d hits, %v", len(hits), err)
	}
	if len(hits) > 0 && (hits[0].Chunk.DocumentID != "s:vt" || !slices.Contains(hits[0].Terms, "wings") || hits[0].Score <= 0) {
		t.Errorf("best hit: %+v", hits[0])
	}
	if _, err := c.SearchLexical(t.Context(), store.LexicalQuery{Text: "ice", Filter: filter.Exists{Field: "nope"}}); !errors.Is(err, filter.ErrSchema) {
		t.Errorf("filter that does not fit: %v", err)
	}
	if _, err := c.SearchDense(t.Context(), store.DenseQuery{Vector: []float32{1}, Limit: 1}); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("vectors without an encoder: %v", err)
	}
}

// precision is how far the cosine of a stored vector may be off: half floats have 11
// bits.
const precision = 1e-3

// testDense compares nearest chunks with brute force.
func (d Differences) testDense(t *testing.T, open Open) {
	s := opened(t, open)
	probe := ensure(t, s, sextant.Collection{Name: "probe", Encoder: "test-8"})
	if _, err := probe.SearchDense(t.Context(), store.DenseQuery{Vector: []float32{1}}); errors.Is(err, store.ErrUnsupported) {
		t.Skip("this store searches no vectors")
	}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		spec := Specs(fmt.Sprintf("d%d", n)).Draw(rt, "spec")
		spec.Encoder = "test-8"
		sub := &subject{rt, ensure(t, s, spec), NewReference(spec), d}
		defer func() { s.Drop(context.Background(), spec.Name) }()
		for range rapid.IntRange(1, 3).Draw(rt, "batches") {
			sub.upsert(rapid.SliceOfN(Records(spec), 0, 8).Draw(rt, "records"))
		}
		if rapid.Bool().Draw(rt, "delete") {
			sub.delete()
		}
		for range 4 {
			sub.nearest()
		}
	})
	t.Run("filter first", func(t *testing.T) { testDenseFilter(t, s) })
}

func (s *subject) nearest() {
	raw := Filters(s.ref.spec.Schema).Draw(s.t, "filter")
	f, err := s.ref.spec.Schema.Resolve(raw)
	if err != nil {
		s.t.Fatalf("generated filter: %v", err)
	}
	v := Vectors(8).Draw(s.t, "vector")
	want := s.ref.Nearest(f, v)
	limit := rapid.IntRange(1, 12).Draw(s.t, "limit")
	hits, err := s.c.SearchDense(context.Background(), store.DenseQuery{Vector: v, Filter: raw, Limit: limit})
	if s.refused(err) {
		return
	}
	if err != nil || len(hits) != min(limit, len(want)) {
		s.t.Fatalf("nearest under %#v: %d hits, %v; want %d of %d", raw, len(hits), err, limit, len(want))
	}
	exact := map[string]float64{}
	for _, w := range want {
		exact[w.Chunk] = w.Score
	}
	for i, h := range hits {
		score, ok := exact[h.Chunk.ID]
		if !ok || math.Abs(score-h.Score) > precision || !s.may.Approximate && math.Abs(want[i].Score-h.Score) > precision {
			s.t.Fatalf("nearest under %#v: hit %d is %s with %g; it has %g, want %s with %g", raw, i, h.Chunk.ID, h.Score, score, want[i].Chunk, want[i].Score)
		}
		if i > 0 && !inOrder(hits[i-1], h) {
			s.t.Fatalf("hits out of order: %+v before %+v", hits[i-1], h)
		}
		s.checkHit(h)
		delete(exact, h.Chunk.ID)
	}
}

// testDenseFilter: the one match far behind 500 better ones is found, and vectors that
// do not fit are refused.
func testDenseFilter(t *testing.T, s store.Store) {
	c := ensure(t, s, states("test-4"))
	var records []store.Record
	for i := range 500 {
		rec := plain("states", fmt.Sprintf("s:%03d", (i*77)%500), "x", inState("TX"))
		rec.Vectors = [][]float32{{1, 0, 0, 0}}
		records = append(records, rec)
	}
	far := plain("states", "s:vt", "x", inState("VT"))
	far.Vectors = [][]float32{{-0.6, 0.8, 0, 0}}
	if err := c.Upsert(t.Context(), append(records, far)); err != nil {
		t.Fatal(err)
	}
	hits, err := c.SearchDense(t.Context(), store.DenseQuery{Vector: []float32{1, 0, 0, 0}, Filter: isState("VT"), Limit: 1})
	if err != nil || len(hits) != 1 || hits[0].Chunk.DocumentID != "s:vt" || math.Abs(hits[0].Score+0.6) > precision {
		t.Errorf("nearest in VT: %+v, %v", hits, err)
	}
	hits, err = c.SearchDense(t.Context(), store.DenseQuery{Vector: []float32{1, 0, 0, 0}, Limit: 2})
	if err != nil || len(hits) != 2 || hits[0].Chunk.DocumentID != "s:000" || hits[1].Chunk.DocumentID != "s:001" {
		t.Errorf("ties: %+v, %v", hits, err)
	}
	for _, v := range [][]float32{nil, {1, 0, 0}, {1, 1, 0, 0}, {float32(math.NaN()), 0, 0, 0}} {
		if _, err := c.SearchDense(t.Context(), store.DenseQuery{Vector: v}); !errors.Is(err, store.ErrRecord) {
			t.Errorf("query %v: %v", v, err)
		}
		far.Vectors = [][]float32{v}
		if err := c.Upsert(t.Context(), []store.Record{far}); !errors.Is(err, store.ErrRecord) {
			t.Errorf("vector %v: %v", v, err)
		}
	}
}
