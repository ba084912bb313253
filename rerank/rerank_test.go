package rerank_test

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
	"github.com/sextant-rag/sextant/rerank"
	"github.com/sextant-rag/sextant/rerank/reranktest"
)

func ExamplePassages() {
	found := []sextant.Passage{
		{ChunkID: "a", Content: "The landing was hard.", Score: 1.2},
		{ChunkID: "b", Content: "A gusty crosswind during the landing.", Score: 1.1},
		{ChunkID: "c", Content: "The bakery is closed.", Score: 0.4},
	}
	better, _ := rerank.Passages(context.Background(), reranktest.Fake{}, rerank.Mix{Weight: 0.5}, "crosswind landing", found)
	for _, p := range better {
		fmt.Println(p.ChunkID, p.Score, p.Reasons[0].Kind, p.Reasons[0].Rank)
	}
	// Output:
	// b 1.2 rerank 1
	// a 1.1 rerank 2
	// c 0.4 rerank 3
}

func TestConformance(t *testing.T) {
	reranktest.Run(t, true, func(*testing.T) rerank.Reranker { return reranktest.Fake{} })
}

// given scores, whatever the texts say.
type given []float32

func (g given) Score(context.Context, string, []string) ([]float32, error) { return g, nil }
func (given) Model() string                                                { return "given" }

func drawPassages(t *rapid.T) (passages []sextant.Passage, scores given) {
	n := rapid.IntRange(0, 12).Draw(t, "n")
	for i := range n {
		passages = append(passages, sextant.Passage{ChunkID: fmt.Sprint(i), Score: rapid.Float64Range(-1e6, 1e6).Draw(t, "retrieval")})
		scores = append(scores, rapid.Float32().Filter(func(f float32) bool { return !math.IsInf(float64(f), 0) }).Draw(t, "score"))
	}
	slices.SortStableFunc(passages, func(a, b sextant.Passage) int { return -cmpFloat(a.Score, b.Score) })
	return passages, scores
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// What holds for any scores: the same passages come back, judged ones before the others;
// scores fall; nothing given is changed; weight 0 changes nothing, and weight 1 is the
// reranker's own order.
func TestPassagesProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		passages, scores := drawPassages(t)
		depth := rapid.IntRange(1, 15).Draw(t, "depth")
		weight := rapid.SampledFrom([]float64{0, 0.2, 0.5, 1}).Draw(t, "weight")
		before := slices.Clone(passages)
		n := min(depth, len(passages))
		got, err := rerank.Passages(t.Context(), scores[:n], rerank.Mix{Weight: weight, Depth: depth}, "q", passages)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, passages); diff != "" {
			t.Fatalf("what was given has changed:\n%s", diff)
		}
		if !slices.IsSortedFunc(got, func(a, b sextant.Passage) int { return -cmpFloat(a.Score, b.Score) }) {
			t.Fatalf("scores do not fall: %+v", got)
		}
		ids := func(ps []sextant.Passage) (out []string) {
			for _, p := range ps {
				out = append(out, p.ChunkID)
			}
			return out
		}
		if diff := cmp.Diff(ids(before)[n:], ids(got)[n:]); diff != "" {
			t.Fatalf("passages below the depth have moved:\n%s", diff)
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(ids(before))), slices.Sorted(slices.Values(ids(got)))); diff != "" {
			t.Fatalf("other passages:\n%s", diff)
		}
		if weight == 0 && !slices.Equal(ids(before), ids(got)) {
			t.Fatalf("weight 0 gives the order %v", ids(got))
		}
		if weight == 1 {
			for i := 1; i < n; i++ {
				if got[i-1].Reasons[0].Score < got[i].Reasons[0].Score*(1-1e-6)-1e-6 && distinct(scores[:n]) {
					t.Fatalf("weight 1 puts %v before %v", got[i-1].Reasons, got[i].Reasons)
				}
			}
		}
	})
}

// distinct reports whether scores differ by more than what standardizing them rounds away.
func distinct(scores []float32) bool {
	s := slices.Sorted(slices.Values(scores))
	top := max(math.Abs(float64(s[0])), math.Abs(float64(s[len(s)-1])))
	for i := 1; i < len(s); i++ {
		if float64(s[i])-float64(s[i-1]) < 1e-6*top {
			return false
		}
	}
	return true
}

// Scores on another scale mean the same.
func TestScaleDoesNotMatter(t *testing.T) {
	passages := []sextant.Passage{{ChunkID: "a", Score: 9}, {ChunkID: "b", Score: 8}, {ChunkID: "c", Score: 1}}
	want, err := rerank.Passages(t.Context(), given{0.1, 0.9, 0.2}, rerank.Mix{Weight: 0.5}, "q", passages)
	if err != nil {
		t.Fatal(err)
	}
	got, err := rerank.Passages(t.Context(), given{-30, 50, -20}, rerank.Mix{Weight: 0.5}, "q", passages)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if want[i].ChunkID != got[i].ChunkID {
			t.Errorf("place %d: %s, want %s", i+1, got[i].ChunkID, want[i].ChunkID)
		}
	}
}

func TestUnusableScores(t *testing.T) {
	passages := make([]sextant.Passage, 3)
	down := errors.New("down")
	for name, tt := range map[string]struct {
		r    rerank.Reranker
		want error
	}{
		"too few":   {given{1, 2}, rerank.ErrScores},
		"too many":  {given{1, 2, 3, 4}, rerank.ErrScores},
		"no number": {given{1, float32(math.NaN()), 3}, rerank.ErrScores},
		"infinite":  {given{1, float32(math.Inf(1)), 3}, rerank.ErrScores},
		"it fails":  {reranktest.Fake{Err: down}, down},
	} {
		if got, err := rerank.Passages(t.Context(), tt.r, rerank.Mix{Weight: 0.5}, "q", passages); !errors.Is(err, tt.want) || got != nil {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
}

// Identifiers and filters decide before judgement does.
func TestSomePlacesAreNoMatterOfJudgement(t *testing.T) {
	because := func(id, kind string, score float64) sextant.Passage {
		return sextant.Passage{ChunkID: id, Score: score, Reasons: []sextant.Reason{{Kind: kind}}}
	}
	passages := []sextant.Passage{because("a", "identifier", 5), because("b", "identifier", 4), because("c", "dense", 3), because("d", "lexical", 2), because("e", "filter", 0), because("f", "filter", 0)}
	got, err := rerank.Passages(t.Context(), given{1, 2}, rerank.Mix{Weight: 1}, "q", passages)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range got {
		ids = append(ids, p.ChunkID)
	}
	if diff := cmp.Diff([]string{"a", "b", "d", "c", "e", "f"}, ids); diff != "" {
		t.Error(diff)
	}
}

func TestTextHasTheHeadings(t *testing.T) {
	p := sextant.Passage{Title: "§ 91.103", Heading: "Preflight action", Content: "Each pilot in command shall become familiar."}
	if got, want := rerank.Text(p), "§ 91.103\nPreflight action\nEach pilot in command shall become familiar."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.Content = "Preflight action. Each pilot"
	if got, want := rerank.Text(p), "§ 91.103\nPreflight action. Each pilot"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
