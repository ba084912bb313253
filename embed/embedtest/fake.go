// Package embedtest holds what tests of embedders and of their users share: a conformance
// suite for the contract of package embed, and an embedder whose vectors carry meaning
// without a model.
package embedtest

import (
	"context"
	"hash/fnv"
	"math"
	"strings"
	"unicode"

	"github.com/sextant-rag/sextant/embed"
)

// fakeDim is enough for unrelated words to be nearly orthogonal.
const fakeDim = 128

// A Fake is an embedder for tests: texts are near each other as far as they share words, or
// words that Concepts makes one. Each word has a direction of its own, the same in every
// run; case, plurals and word order do not count. The zero value is ready for use.
type Fake struct {
	// Concepts maps a word in lower case to the word that stands for both: with
	// {"plane": "aircraft"} the two mean the same.
	Concepts map[string]string
	// Err, when set, is what every call returns.
	Err error
}

var _ embed.Embedder = Fake{}

// Embed returns one vector for each text.
func (f Fake) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if err := f.fail(ctx); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = f.vector(text)
	}
	return vectors, nil
}

// EmbedQuery returns the same vector as Embed.
func (f Fake) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if err := f.fail(ctx); err != nil {
		return nil, err
	}
	return f.vector(text), nil
}

func (f Fake) fail(ctx context.Context) error {
	if f.Err != nil {
		return f.Err
	}
	return ctx.Err()
}

// Dim returns the length of a vector.
func (Fake) Dim() int { return fakeDim }

// Fingerprint names the fake.
func (Fake) Fingerprint() embed.Fingerprint {
	return embed.Fingerprint{Model: "fake", Dim: fakeDim, Normalized: true}
}

func (f Fake) vector(text string) []float32 {
	v := make([]float32, fakeDim)
	addDirection(v, "") // so that a text without words has a vector
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		w = f.concept(w)
		for range 4 { // words outweigh what all texts share
			addDirection(v, w)
		}
	}
	normalize(v)
	return v
}

func (f Fake) concept(word string) string {
	if to, ok := f.Concepts[word]; ok {
		return to
	}
	if len(word) > 3 {
		word = strings.TrimSuffix(word, "s")
	}
	if to, ok := f.Concepts[word]; ok {
		return to
	}
	return word
}

// addDirection adds the direction of a word: numbers in [-1, 1) drawn from its hash.
func addDirection(v []float32, word string) {
	h := fnv.New64a()
	h.Write([]byte(word))
	state := h.Sum64()
	for i := range v {
		// A 64-bit linear congruential step (Knuth's MMIX constants).
		state = state*6364136223846793005 + 1442695040888963407
		v[i] += float32(int32(state>>32)) / (1 << 31)
	}
}

func normalize(v []float32) {
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
}
