// Package reranktest holds what tests of rerankers and of their users share: a conformance
// suite for the contract of package rerank, and a reranker that judges without a model.
package reranktest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/sextant-rag/sextant/rerank"
)

// A Fake judges a text by the share of the query's words that it holds. The zero value is
// ready for use.
type Fake struct {
	Name  string  // what Model returns; "" is fake
	Err   error   // what Score returns, if set
	Hangs bool    // Score waits until ctx ends
	Sign  float32 // -1 judges the other way round; 0 is 1
}

var _ rerank.Reranker = Fake{}

// Model names the fake.
func (f Fake) Model() string {
	if f.Name == "" {
		return "fake"
	}
	return f.Name
}

// Score implements rerank.Reranker.
func (f Fake) Score(ctx context.Context, query string, texts []string) ([]float32, error) {
	if f.Hangs {
		<-ctx.Done()
	}
	if err := errors.Join(f.Err, ctx.Err()); err != nil {
		return nil, err
	}
	asked := words(query)
	out := make([]float32, len(texts))
	for i, text := range texts {
		have := words(text)
		for w := range asked {
			if have[w] {
				out[i] += 1 / float32(len(asked))
			}
		}
		if f.Sign < 0 {
			out[i] = -out[i]
		}
	}
	return out, nil
}

func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		out[strings.TrimSuffix(w, "s")] = true
	}
	return out
}

// texts are of the kinds that rerankers trip over. The first answers the query.
var texts = []string{
	"The pilot lost control of the airplane during the landing in a strong crosswind.",
	"Quarterly revenue of the bakery rose by four percent.",
	"",
	" \n\t ",
	"Größe, naïveté, 中文, 한국어, العربية, 🛩️",
	"invalid \xff\xfe UTF-8",
	strings.Repeat("a very long text that goes on and on. ", 2000),
	strings.Repeat("x", 5000),
	"\x00\x01",
	"word",
}

const query = "airplane crosswind landing, pilot lost control"

// Run checks that a reranker keeps the contract of package rerank. open is called once a
// test. meaning says whether what it opens judges by meaning, which a model with random
// weights does not.
func Run(t *testing.T, meaning bool, open func(t *testing.T) rerank.Reranker) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(t *testing.T, r rerank.Reranker)
	}{
		{"every text has a score", testScores},
		{"no texts have none", testNone},
		{"a score depends on the pair alone", testPairs},
		{"callers at once", testConcurrent},
		{"a cancelled context", testCancelled},
		{"the name", testName},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
	if meaning {
		t.Run("meaning", func(t *testing.T) { testMeaning(t, open(t)) })
	}
}

// Score scores texts or fails the test.
func Score(t testing.TB, r rerank.Reranker, query string, texts ...string) []float32 {
	t.Helper()
	scores, err := r.Score(t.Context(), query, texts)
	if err != nil {
		t.Fatal("score:", err)
	}
	if len(scores) != len(texts) {
		t.Fatalf("%d scores for %d texts", len(scores), len(texts))
	}
	return scores
}

func testScores(t *testing.T, r rerank.Reranker) {
	for _, q := range []string{query, "", "\xff", strings.Repeat("what ", 3000)} {
		for i, s := range Score(t, r, q, texts...) {
			if math.IsNaN(float64(s)) || math.IsInf(float64(s), 0) {
				t.Errorf("query %.20q, text %.20q: score %v", q, texts[i], s)
			}
		}
	}
}

func testNone(t *testing.T, r rerank.Reranker) {
	for _, none := range [][]string{nil, {}} {
		Score(t, r, query, none...)
	}
}

// testPairs allows a hair's breadth: a server may round differently from batch to batch.
func testPairs(t *testing.T, r rerank.Reranker) {
	together := Score(t, r, query, texts...)
	backwards := slices.Clone(texts)
	slices.Reverse(backwards)
	reversed := Score(t, r, query, backwards...)
	for i, text := range texts {
		alone := Score(t, r, query, text)[0]
		for name, other := range map[string]float32{"alone": alone, "in reverse order": reversed[len(texts)-1-i]} {
			if math.Abs(float64(other-together[i])) > 1e-4*(1+math.Abs(float64(together[i]))) {
				t.Errorf("%.30q %s scores %v, else %v", text, name, other, together[i])
			}
		}
	}
}

func testConcurrent(t *testing.T, r rerank.Reranker) {
	want := Score(t, r, query, texts[0])[0]
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := r.Score(t.Context(), query, []string{texts[1], texts[0]})
			if err != nil || math.Abs(float64(got[1]-want)) > 1e-4*(1+math.Abs(float64(want))) {
				t.Errorf("scores %v beside other callers, want %v (error %v)", got, want, err)
			}
		})
	}
	wg.Wait()
}

func testCancelled(t *testing.T, r rerank.Reranker) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := r.Score(ctx, query, texts); !errors.Is(err, context.Canceled) || s != nil {
		t.Errorf("%d scores, error %v", len(s), err)
	}
	Score(t, r, query, texts[0]) // and goes on working
}

func testName(t *testing.T, r rerank.Reranker) {
	if name := r.Model(); name == "" || name != r.Model() {
		t.Errorf("it is called %q", name)
	}
}

func testMeaning(t *testing.T, r rerank.Reranker) {
	scores := Score(t, r, query, texts...)
	for i := 1; i < len(scores); i++ {
		if scores[i] >= scores[0] {
			t.Errorf("%.30q scores %v, the text that answers %v", texts[i], scores[i], scores[0])
		}
	}
}
