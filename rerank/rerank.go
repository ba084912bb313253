// Package rerank puts passages that were found into a better order, by reading each of the
// best together with the query. It is the contract and what all rerankers share: how their
// scores are mixed with those of retrieval, how far down they look, and how they are kept
// from doing harm. Packages below it do the reading.
//
// A reranker never replaces the order it was given; it is mixed in with a weight (see
// [Mix]). The weight of the built-in one is chosen on training data and held by a test on
// data it has not seen; one that a user brings shows on built-in cases what weight it earns,
// if any (see [Calibrate]).
package rerank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// A Reranker judges how well texts answer a query. It is safe for concurrent use.
type Reranker interface {
	// Score returns one number for each text, in their order: the higher, the better it
	// answers. The scale is the reranker's own; numbers of different queries do not compare.
	// A text's number depends on the query and the text alone. It fails as a whole; when ctx
	// ends, with an error that wraps ctx's.
	Score(ctx context.Context, query string, texts []string) ([]float32, error)

	// Model names what judges.
	Model() string
}

// ErrScores is wrapped by errors about scores that are no judgement: too few, too many, or
// not finite.
var ErrScores = errors.New("unusable scores")

// A Mix says how scores of a reranker join those of retrieval: for the Depth best passages
// both are brought to mean 0 and deviation 1, and
//
//	score = (1 - Weight)·retrieval + Weight·reranker
//
// Passages further down stay where they are.
type Mix struct {
	Weight float64 // 0 to 1
	Depth  int     // passages looked at; 0 is DefaultDepth
}

// DefaultDepth is how many passages are judged. Looking at 50 instead of 20 changed no
// figure by more than .003.
const DefaultDepth = 20

// Passages returns the passages, best first as given, in their new order. Each judged one
// has a reason of kind "rerank" with the reranker's own score and place. Scores of passages
// stay those of retrieval, handed out anew in falling order, so that they still compare
// with those of passages that were not judged.
//
// Passages that name what the query names stay first, and those that only satisfy the
// filter last: neither place is a matter of judgement. Nothing given is changed, also when
// it fails.
func Passages(ctx context.Context, r Reranker, m Mix, query string, passages []sextant.Passage) ([]sextant.Passage, error) {
	first, end := judged(passages)
	end = min(end, first+m.depth())
	if end-first < 2 || m.Weight <= 0 {
		return passages, nil
	}
	better, err := reorder(ctx, r, m, query, passages[first:end])
	if err != nil {
		return nil, err
	}
	return slices.Concat(passages[:first], better, passages[end:]), nil
}

// judged is the range of the passages whose places are a matter of judgement.
func judged(passages []sextant.Passage) (first, end int) {
	has := func(kind string) func(sextant.Passage) bool {
		return func(p sextant.Passage) bool {
			return slices.ContainsFunc(p.Reasons, func(r sextant.Reason) bool { return r.Kind == kind })
		}
	}
	for first < len(passages) && has("identifier")(passages[first]) {
		first++
	}
	if end = slices.IndexFunc(passages[first:], has("filter")); end < 0 {
		return first, len(passages)
	}
	return first, first + end
}

// reorder judges all of the passages.
func reorder(ctx context.Context, r Reranker, m Mix, query string, passages []sextant.Passage) ([]sextant.Passage, error) {
	texts, retrieval := make([]string, len(passages)), make([]float64, len(passages))
	for i, p := range passages {
		texts[i], retrieval[i] = Text(p), p.Score
	}
	scores, err := judge(ctx, r, query, texts)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(passages)
	for place, i := range order(scores) {
		p := &out[i]
		p.Reasons = append(slices.Clone(p.Reasons), sextant.Reason{Kind: "rerank", Score: scores[i], Rank: place + 1, Detail: r.Model()})
	}
	before := slices.Clone(out)
	for place, i := range order(mix(m.Weight, retrieval, scores)) {
		out[place] = before[i]
	}
	slices.SortFunc(retrieval, func(a, b float64) int { return cmp.Compare(b, a) })
	for i, score := range retrieval {
		out[i].Score = score
	}
	return out, nil
}

func (m Mix) depth() int {
	if m.Depth <= 0 {
		return DefaultDepth
	}
	return m.Depth
}

// judge asks for scores and looks at them.
func judge(ctx context.Context, r Reranker, query string, texts []string) ([]float64, error) {
	scores, err := r.Score(ctx, query, texts)
	if err != nil {
		return nil, fmt.Errorf("rerank %d passages with %s: %w", len(texts), r.Model(), err)
	}
	if len(scores) != len(texts) {
		return nil, fmt.Errorf("rerank %d passages with %s: %w: %d of them", len(texts), r.Model(), ErrScores, len(scores))
	}
	out := make([]float64, len(scores))
	for i, s := range scores {
		if out[i] = float64(s); math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
			return nil, fmt.Errorf("rerank %d passages with %s: %w: %v", len(texts), r.Model(), ErrScores, s)
		}
	}
	return out, nil
}

// Text is what a reranker reads of a passage: what the passage stands under, then its words.
func Text(p sextant.Passage) string {
	var b strings.Builder
	for _, line := range []string{p.Title, p.Heading} {
		if line != "" && !strings.Contains(p.Content, line) {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	b.WriteString(p.Content)
	return b.String()
}

// mix returns the mixed scores.
func mix(weight float64, retrieval, reranker []float64) []float64 {
	a, b := standardize(retrieval), standardize(reranker)
	for i := range a {
		a[i] = (1-weight)*a[i] + weight*b[i]
	}
	return a
}

// standardize brings scores to mean 0 and deviation 1. Scores that are all alike say
// nothing, so they become 0.
func standardize(scores []float64) []float64 {
	top := 0.0 // scaled down first, so that no square overflows
	for _, s := range scores {
		top = max(top, math.Abs(s))
	}
	if top == 0 {
		return make([]float64, len(scores))
	}
	mean, variance := 0.0, 0.0
	for _, s := range scores {
		mean += s / top / float64(len(scores))
	}
	for _, s := range scores {
		variance += (s/top - mean) * (s/top - mean) / float64(len(scores))
	}
	out := make([]float64, len(scores))
	if deviation := math.Sqrt(variance); deviation > 1e-9 {
		for i, s := range scores {
			out[i] = (s/top - mean) / deviation
		}
	}
	return out
}

// order returns the places of scores in falling order; equal ones keep theirs.
func order(scores []float64) []int {
	out := make([]int, len(scores))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return out
}
