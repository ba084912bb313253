package check

import (
	"context"
	"fmt"
	"math"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed"
)

// An Opinion says whether a statement follows from quoted words where the wording alone does
// not tell. It is a second opinion: it never saves a finding with a wrong fact.
type Opinion interface {
	// Supports returns how sure it is that evidence supports the statement: 0 for not at
	// all, 1 for surely.
	Supports(ctx context.Context, statement, evidence string) (float64, error)
}

// Similarity is the opinion of an encoder: texts with near vectors speak of the same thing.
// That is all it can tell, which is why facts are compared by rule.
type Similarity struct{ Embedder embed.Embedder }

var _ Opinion = Similarity{}

// Supports implements [Opinion]: the cosine of the two texts, negative ones as 0.
func (s Similarity) Supports(ctx context.Context, statement, evidence string) (float64, error) {
	v, err := s.Embedder.Embed(ctx, []string{statement, evidence})
	if err != nil {
		return 0, fmt.Errorf("compare a statement with its quotes: %w", err)
	}
	return max(0, cosine(v[0], v[1])), nil
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// Bounds of the second opinion. Without one, a statement in doubt needs two fifths of its words.
const (
	agreed  = 0.6
	unaided = 0.4
)

// judge decides about a statement whose facts all stand in its evidence: by its words, and
// where they are in doubt by the opinion.
func (c Checker) judge(ctx context.Context, said, have *reading, quotes []sextant.Quote, out *Result) *fault {
	share := coverage(said, have)
	switch {
	case share >= supported:
		return nil
	case c.Opinion == nil && share >= unaided:
		return nil
	case c.Opinion == nil || share < related:
		return tooFar(share)
	}
	out.Opinions++
	sure, err := c.Opinion.Supports(ctx, said.text, evidence(quotes))
	switch {
	case err != nil:
		out.Unasked = err
		if share >= unaided {
			return nil
		}
		return tooFar(share)
	case sure < agreed:
		return faulty(sextant.FaultUnsupported, "its quotes have only %.0f %% of its words, and do not say the same in others", 100*share)
	}
	return nil
}
