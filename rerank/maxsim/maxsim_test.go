//go:build !nomodel

package maxsim_test

import (
	"strings"
	"testing"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/embed/local"
	"github.com/sextant-rag/sextant/rerank"
	"github.com/sextant-rag/sextant/rerank/maxsim"
	"github.com/sextant-rag/sextant/rerank/reranktest"
)

func open(t testing.TB) maxsim.Reranker {
	t.Helper()
	e, err := local.New(bert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return maxsim.New(e)
}

func TestConformance(t *testing.T) {
	reranktest.Run(t, true, func(t *testing.T) rerank.Reranker { return open(t) })
}

func TestModelNamesTheWeights(t *testing.T) {
	if got, want := open(t).Model(), "maxsim(all-MiniLM-L6-v2)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What answers in other words is before what repeats a common one.
func TestRareWordsCountMore(t *testing.T) {
	s := reranktest.Score(t, open(t), "What did the carburetor do in the cold?",
		"Ice formed in the carburetor, and the engine lost power.",
		"What did the pilot do in the town? He did what the others did.")
	if s[0] <= s[1] {
		t.Errorf("scores %v", s)
	}
}

// Twenty passages of 200 words, as many as one question has judged.
func BenchmarkTwentyPassages(b *testing.B) {
	r := open(b)
	sentence := "The pilot reported that the engine lost power during the climb, and that he turned back towards the field. "
	texts := make([]string, rerank.DefaultDepth)
	for i := range texts {
		texts[i] = strings.Repeat(sentence, 10)
	}
	for b.Loop() {
		reranktest.Score(b, r, "loss of engine power after takeoff because of water in the fuel", texts...)
	}
}
