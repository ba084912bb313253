package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/generate"
)

// Look finds passages for a claim, best first: more than are judged, so that some can be
// taken away.
type Look func(ctx context.Context, claim string) ([]sextant.Passage, error)

// weighed is how many of the passages are judged.
const weighed = 10

// Point is one point of a refusal curve: what scores lower is refused.
type Point struct {
	Score  float64 `json:"score"`
	False  float64 `json:"false"`  // share of the claims with their documents that are refused
	Recall float64 `json:"recall"` // share of the claims without their documents that are refused
}

// Refusal says how well a score tells what the documents can decide from what they cannot.
type Refusal struct {
	Claims int     `json:"claims"`
	AUC    float64 `json:"auc"` // chance that a claim without its documents scores below one with them
	Curve  []Point `json:"curve"`
}

// Refuse scores every claim with its documents among those that are searched and without,
// as if they had never been taken in.
func Refuse(ctx context.Context, claims []Claim, look Look) (Refusal, error) {
	var with, without []float64
	for _, c := range claims {
		found, err := look(ctx, c.Text)
		if err != nil {
			return Refusal{}, fmt.Errorf("eval: claim %s: %w", c.ID, err)
		}
		own := c.Documents()
		others := slices.DeleteFunc(slices.Clone(found), func(p sextant.Passage) bool { return own[NativeID(p.DocumentID)] })
		with = append(with, generate.Supports(c.Text, found[:min(len(found), weighed)]).Score())
		without = append(without, generate.Supports(c.Text, others[:min(len(others), weighed)]).Score())
	}
	return Refusal{Claims: len(claims), AUC: auc(without, with), Curve: curve(with, without)}, nil
}

// auc is the chance that a number of the first is below one of the second; ties count half.
func auc(low, high []float64) float64 {
	if len(low) == 0 || len(high) == 0 {
		return 0.5
	}
	below := 0.0
	for _, a := range low {
		for _, b := range high {
			switch {
			case a < b:
				below++
			case a == b:
				below += 0.5
			}
		}
	}
	return below / float64(len(low)*len(high))
}

// curveAt are the shares of false refusals that a curve has a point for.
var curveAt = []float64{0.01, 0.02, 0.04, 0.08, 0.12, 0.16, 0.20, 0.30, 0.40, 0.50}

// curve gives the highest threshold, and its right refusals, for each share of false ones
// that may not be passed.
func curve(with, without []float64) []Point {
	var out []Point
	sorted := slices.Sorted(slices.Values(with))
	for _, share := range curveAt {
		if len(sorted) == 0 {
			break
		}
		p := Point{Score: sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]}
		p.False, p.Recall = under(with, p.Score), under(without, p.Score)
		out = append(out, p)
	}
	return out
}

func under(scores []float64, bound float64) float64 {
	n := 0
	for _, s := range scores {
		if s < bound {
			n++
		}
	}
	return float64(n) / float64(max(len(scores), 1))
}

// RecallAt is the share of right refusals where no more than a share is refused falsely.
func (r Refusal) RecallAt(share float64) float64 {
	best := 0.0
	for _, p := range r.Curve {
		if p.False <= share {
			best = max(best, p.Recall)
		}
	}
	return best
}
