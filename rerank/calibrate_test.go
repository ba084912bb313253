package rerank_test

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sextant-rag/sextant/rerank"
	"github.com/sextant-rag/sextant/rerank/reranktest"
)

// random judges by nothing, the same way every time.
type random uint64

func (r random) Score(_ context.Context, query string, texts []string) ([]float32, error) {
	out := make([]float32, len(texts))
	for i, text := range texts {
		h := fnv.New64a()
		_, _ = h.Write([]byte(query + text))
		out[i] = float32(rand.New(rand.NewPCG(h.Sum64(), uint64(r))).NormFloat64())
	}
	return out, nil
}

func (random) Model() string { return "random" }

// knowing judges by the known answers, as a good model would: not always right.
type knowing struct {
	random
	noise float32
	sign  float32
}

func (k knowing) Score(ctx context.Context, query string, texts []string) ([]float32, error) {
	out, _ := k.random.Score(ctx, query, texts)
	cases, err := rerank.Cases()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(cases, func(c rerank.Case) bool { return c.Query == query })
	for j := range out {
		out[j] *= k.noise
		if cases[i].Answer[j] {
			out[j] += k.sign
		}
	}
	return out, nil
}

func calibrate(t *testing.T, r rerank.Reranker) rerank.Calibration {
	t.Helper()
	c, err := rerank.Calibrate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCasesCanBeWonAndLost(t *testing.T) {
	cases, err := rerank.Cases()
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for _, c := range cases {
		if len(c.Texts) < 2 || len(c.Texts) != len(c.Retrieval) || len(c.Texts) != len(c.Answer) || !slices.Contains(c.Answer, true) {
			t.Errorf("%q: %d texts, %d scores, answers %v", c.Query, len(c.Texts), len(c.Retrieval), c.Answer)
		}
		if c.Answer[0] {
			right++
		}
	}
	if len(cases) < 30 || right < len(cases)/4 || right > len(cases)*3/4 {
		t.Errorf("%d cases, of which retrieval gets %d right", len(cases), right)
	}
}

// What helps gets weight, what does not or does harm gets none.
func TestWeightIsEarned(t *testing.T) {
	for name, tt := range map[string]struct {
		r     rerank.Reranker
		earns bool
	}{
		"knows it":        {knowing{1, 0.2, 1}, true},
		"mostly knows it": {knowing{1, 0.6, 1}, true},
		"the wrong way":   {knowing{1, 0.2, -1}, false},
		"all alike":       {given6{}, false},
	} {
		if c := calibrate(t, tt.r); (c.Weight > 0) != tt.earns {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

type given6 struct{}

func (given6) Model() string { return "alike" }
func (given6) Score(_ context.Context, _ string, texts []string) ([]float32, error) {
	return make([]float32, len(texts)), nil
}

// A model with random weights, or any other that judges by nothing, is let in about as
// seldom as the bound says.
func TestChanceEarnsNothing(t *testing.T) {
	let := 0
	const n = 40
	for seed := range n {
		if calibrate(t, random(seed)).Weight > 0 {
			let++
		}
	}
	if let > n/40 {
		t.Errorf("%d of %d rerankers that judge at random were given weight", let, n)
	}
}

func TestCalibrateFails(t *testing.T) {
	down := errors.New("down")
	if _, err := rerank.Calibrate(t.Context(), reranktest.Fake{Err: down}); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
	if _, err := rerank.Calibrate(t.Context(), given{1}); !errors.Is(err, rerank.ErrScores) {
		t.Errorf("error %v", err)
	}
}
