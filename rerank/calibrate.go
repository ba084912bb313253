package rerank

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // the cases
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sync"
)

// A Case is a query whose answer is known, with passages that retrieval found for it and
// thought about as good.
type Case struct {
	Query     string    `json:"query"`
	Texts     []string  `json:"texts"`
	Retrieval []float64 `json:"retrieval"` // scores of the texts
	Answer    []bool    `json:"answer"`    // which texts answer
}

// cases are accident causes and pieces of accident reports, works of the US government; see
// package rerank/cases, which makes the file.
//
//go:embed cases.jsonl.gz
var cases []byte

// Cases returns the built-in cases.
var Cases = sync.OnceValues(func() ([]Case, error) {
	z, err := gzip.NewReader(bytes.NewReader(cases))
	if err != nil {
		return nil, fmt.Errorf("read the reranking cases: %w", err)
	}
	var out []Case
	for d := json.NewDecoder(z); ; {
		var c Case
		switch err := d.Decode(&c); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("read the reranking cases: %w", err)
		}
		out = append(out, c)
	}
})

// A Calibration is what a reranker earned on the built-in cases.
type Calibration struct {
	Weight float64 `json:"weight"` // 0: it does not help, or not surely
	Gain   float64 `json:"gain"`   // of the mean reciprocal rank, by the best weight tried
	Chance float64 `json:"chance"` // share of shuffled judgements that gained as much
	Cases  int     `json:"cases"`
}

// weights are what Calibrate tries. Half is the most: what is learnt on a few cases of one
// kind is no reason to give up an order that words and meaning agree on.
var weights = []float64{0.2, 0.35, 0.5}

// A gain counts when it is worth having and no matter of chance: at least minGain, and
// reached by no more than maxChance of the shuffled judgements. Of twelve cross-encoders
// with random weights the best gained 0.039, by whatever their scores happen to go with.
const (
	minGain   = 0.05
	maxChance = 0.01
	shuffles  = 300
)

// Calibrate finds the weight a reranker earns: the one with the largest gain in mean
// reciprocal rank over retrieval alone. It is 0 unless there is a gain that the same scores,
// given to the texts of each case in random order, hardly ever reach (a permutation test).
// So a model that was never trained to rank, or was saved wrong, leaves the order of
// retrieval as it is.
//
// It asks for some 50 queries with 6 texts of 70 words each. The result depends on the
// reranker alone.
func Calibrate(ctx context.Context, r Reranker) (Calibration, error) {
	all, err := Cases()
	if err != nil {
		return Calibration{}, err
	}
	judged := make([][]float64, len(all))
	for i, c := range all {
		if judged[i], err = judge(ctx, r, c.Query, c.Texts); err != nil {
			return Calibration{}, fmt.Errorf("calibrate: %w", err)
		}
	}
	best := Calibration{Cases: len(all)}
	best.Weight, best.Gain = bestWeight(all, judged)
	rng := rand.New(rand.NewPCG(1, uint64(len(all))))
	for range shuffles {
		for _, scores := range judged {
			rng.Shuffle(len(scores), func(i, j int) { scores[i], scores[j] = scores[j], scores[i] })
		}
		if _, gain := bestWeight(all, judged); gain >= best.Gain {
			best.Chance += 1.0 / shuffles
		}
	}
	if best.Gain < minGain || best.Chance > maxChance {
		best.Weight = 0
	}
	return best, nil
}

// bestWeight is the weight with the largest gain in mean reciprocal rank.
func bestWeight(all []Case, judged [][]float64) (weight, gain float64) {
	gain = math.Inf(-1)
	for _, w := range weights {
		sum := 0.0
		for i, c := range all {
			sum += c.reciprocalRank(mix(w, c.Retrieval, judged[i])) - c.reciprocalRank(c.Retrieval)
		}
		if mean := sum / float64(len(all)); mean > gain {
			weight, gain = w, mean
		}
	}
	return weight, gain
}

func (c *Case) reciprocalRank(scores []float64) float64 {
	for place, i := range order(scores) {
		if c.Answer[i] {
			return 1 / float64(place+1)
		}
	}
	return 0
}
