package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// coarse is how far the cosine of a candidate may be off: rankings may go by vectors of
// eight bits.
const coarse = 0.03

// testHybrid: candidates are those of either ranking under the filter, each once and with
// both scores; what is chosen is read, in the order chosen; vectors of another encoder are
// refused.
func (d Differences) testHybrid(t *testing.T, open Open) {
	s := opened(t, open)
	if _, ok := ensure(t, s, sextant.Collection{Name: "probe", Encoder: "test-8"}).(store.Hybrid); !ok {
		t.Skip("this store does not rank by words and vectors in one read")
	}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		spec := Specs(fmt.Sprintf("h%d", n)).Draw(rt, "spec")
		spec.Encoder = "test-8"
		sub := &subject{rt, ensure(t, s, spec), NewReference(spec), d}
		defer func() { s.Drop(context.Background(), spec.Name) }()
		sub.upsert(rapid.SliceOfN(Records(spec), 0, 12).Draw(rt, "records"))
		if rapid.Bool().Draw(rt, "delete") {
			sub.delete()
		}
		for range 4 {
			sub.hybrid()
		}
	})
}

func (s *subject) hybrid() {
	raw := Filters(s.ref.spec.Schema).Draw(s.t, "filter")
	f, err := s.ref.spec.Schema.Resolve(raw)
	if err != nil {
		s.t.Fatalf("generated filter: %v", err)
	}
	q := store.HybridQuery{Text: "ice wing runway", Vector: Vectors(8).Draw(s.t, "vector"), Encoder: "test-8", Filter: raw, Depth: rapid.IntRange(1, 12).Draw(s.t, "depth")}
	cosines := map[string]float64{}
	for _, w := range s.ref.Nearest(f, q.Vector) {
		cosines[w.Chunk] = w.Score
	}
	var all []store.Candidate
	q.Choose = func(candidates []store.Candidate) []int {
		all = candidates
		order := make([]int, len(candidates))
		for i := range order {
			order[i] = len(candidates) - 1 - i
		}
		return order
	}
	c := s.c.(store.Hybrid)
	hits, err := c.SearchHybrid(context.Background(), q)
	if err != nil || len(hits) != len(all) {
		s.t.Fatalf("%d hits of %d candidates, %v", len(hits), len(all), err)
	}
	dense, words, seen := 0, 0, map[string]bool{}
	for i, a := range all {
		id := sextant.ChunkID(a.DocumentID, a.Index)
		cosine, ok := cosines[id]
		if !ok || seen[id] || math.Abs(cosine-a.Dense) > coarse || a.LexicalRank > 0 && a.Lexical <= 0 || a.LexicalRank == 0 && a.DenseRank == 0 {
			s.t.Fatalf("candidate %+v; its cosine is %g (under the filter: %t, twice: %t)", a, cosine, ok, seen[id])
		}
		seen[id] = true
		dense, words = dense+min(a.DenseRank, 1), words+min(a.LexicalRank, 1)
		if h := hits[len(hits)-1-i]; h.Hit.Chunk.ID != id || h.Place != i {
			s.t.Fatalf("asked for %s, read %s of place %d", id, h.Hit.Chunk.ID, h.Place)
		}
	}
	lexical, err := s.c.SearchLexical(context.Background(), store.LexicalQuery{Text: q.Text, Filter: raw, Limit: q.Depth})
	if err != nil || words != len(lexical) || dense != min(q.Depth, len(cosines)) {
		s.t.Fatalf("%d candidates by words, %d by vectors; want %d and %d of depth %d, %v", words, dense, len(lexical), min(q.Depth, len(cosines)), q.Depth, err)
	}
	q.Encoder = "other"
	if _, err := c.SearchHybrid(context.Background(), q); !errors.Is(err, store.ErrEncoder) {
		s.t.Fatalf("a vector of another encoder: %v", err)
	}
}
