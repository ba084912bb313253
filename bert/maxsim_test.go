package bert_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/bert/berttest"
)

// MaxSim is the largest cosine over the states of the tokens, the same on every instruction
// set, for queries and texts around the sizes of its blocks.
func TestMaxSimMatchesStates(t *testing.T) {
	m := openFolder(t, berttest.New(bert.Config{Layers: 1, Hidden: 128, Heads: 2, Intermediate: 128, Positions: 128, MaxTokens: 128, Pooling: bert.MeanPooling}, 4).Write(t))
	rng := rand.New(rand.NewPCG(1, 1))
	var texts []string
	for _, letters := range []int{0, 1, 23, 24, 25, 31, 32, 33, 70, 200} {
		texts = append(texts, randomText(rng, letters))
	}
	var reference map[int][][]float32
	for _, instructions := range bert.Instructions() {
		e := newEncoder(t, m, bert.Options{Instructions: instructions})
		states, err := e.States(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		got := map[int][][]float32{}
		for q := range texts {
			if got[q], err = e.MaxSim(t.Context(), states[q], texts); err != nil {
				t.Fatal(err)
			}
			for d := range texts {
				compareMaxSim(t, got[q][d], states[q], states[d])
			}
		}
		if reference == nil {
			reference = got
		}
		for q := range got {
			for d := range got[q] {
				if !slices.Equal(got[q][d], reference[q][d]) {
					t.Fatalf("%s gives other bits for query %d and text %d", instructions, q, d)
				}
			}
		}
	}
}

func compareMaxSim(t *testing.T, got []float32, query, text bert.States) {
	t.Helper()
	const h = 128
	if len(got) != len(query.Tokens) {
		t.Fatalf("%d numbers for %d tokens", len(got), len(query.Tokens))
	}
	for i := range got {
		want := -1.0
		for j := range text.Tokens {
			want = max(want, cosine(query.Vectors[i*h:(i+1)*h], text.Vectors[j*h:(j+1)*h]))
		}
		if math.Abs(float64(got[i])-want) > 1e-5 {
			t.Errorf("token %d of %d, text of %d: %v, want %v", i, len(got), len(text.Tokens), got[i], want)
		}
	}
}
