package retrieve

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/store"
)

func drawCandidates(t *rapid.T) []store.Candidate {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) store.Candidate {
		return store.Candidate{Lexical: rapid.Float64Range(0, 30).Draw(t, "words"), Dense: rapid.Float64Range(-1, 1).Draw(t, "cosine")}
	}), 0, 40).Draw(t, "candidates")
}

// The order is that of the scores, ties in the order given, and every candidate is in it.
func TestFusionOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawCandidates(t)
		order, scores := fuse(all, rapid.Bool().Draw(t, "dense"), embed.Fusion{Alpha: rapid.Float64Range(0, 1).Draw(t, "alpha"), Spread: rapid.Float64Range(0, 1).Draw(t, "spread")})
		for i := 1; i < len(order); i++ {
			a, b := order[i-1], order[i]
			if scores[a] < scores[b] || scores[a] == scores[b] && a > b || math.IsNaN(scores[b]) {
				t.Fatalf("%d (%g) before %d (%g)", a, scores[a], b, scores[b])
			}
		}
		if slices.Sort(order); !slices.Equal(order, places(len(all))) {
			t.Fatalf("%v is no order of %d", order, len(all))
		}
	})
}

func places(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// A shift or a larger scale of either score changes no ranking: neither encoder nor BM25
// has a unit. (With a spread, a smaller scale does: that is what it is for.)
func TestFusionKnowsNoUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawCandidates(t)
		f := embed.Fusion{Alpha: 0.5}
		_, before := fuse(all, true, f)
		moved := slices.Clone(all)
		by, scale := rapid.Float64Range(-2, 2).Draw(t, "by"), rapid.Float64Range(0.5, 4).Draw(t, "scale")
		for i := range moved {
			moved[i].Lexical, moved[i].Dense = 3*moved[i].Lexical+1, scale*moved[i].Dense+by
		}
		_, after := fuse(moved, true, f)
		for i := range before {
			if math.Abs(before[i]-after[i]) > 1e-6 {
				t.Fatalf("candidate %d: %g became %g", i, before[i], after[i])
			}
		}
	})
}

// Where an encoder tells candidates apart by next to nothing, words decide.
func TestACluelessEncoderDoesNotDecide(t *testing.T) {
	all := []store.Candidate{{Lexical: 1.3, Dense: 0.18}, {Lexical: 0.1, Dense: 0.25}, {Lexical: 0.1, Dense: 0.20}, {Lexical: 0.1, Dense: 0.19}}
	if order, _ := fuse(all, true, embed.Fusion{Alpha: 0.6}); order[0] != 1 {
		t.Errorf("without a spread %v", order)
	}
	if order, _ := fuse(all, true, embed.Fusion{Alpha: 0.6, Spread: 0.1}); order[0] != 0 {
		t.Errorf("with a spread %v", order)
	}
}
