package embedtest

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/sextant-rag/sextant/embed"
)

// texts are of the kinds that embedders trip over.
var texts = []string{
	"The pilot lost control of the airplane during the landing in a strong crosswind.",
	"",
	" \n\t ",
	"Quarterly revenue of the bakery rose by four percent.",
	"Größe, naïveté, 中文, 한국어, العربية, 🛩️",
	"invalid \xff\xfe UTF-8",
	strings.Repeat("a very long text that goes on and on. ", 2000),
	strings.Repeat("x", 5000),
	"\x00\x01",
	"word",
}

// Run checks that an embedder keeps the contract of package embed. open is called once a
// test; what it opens must see as equal in meaning what is nearly equal in words.
func Run(t *testing.T, open func(t *testing.T) embed.Embedder) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(t *testing.T, e embed.Embedder)
	}{
		{"every text has a vector", testVectors},
		{"no texts give no vectors", testNone},
		{"the batch does not matter", testBatches},
		{"callers at once", testConcurrent},
		{"a cancelled context", testCancelled},
		{"the fingerprint", testFingerprint},
		{"meaning", testMeaning},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

// Embed embeds texts or fails the test.
func Embed(t testing.TB, e embed.Embedder, texts ...string) [][]float32 {
	t.Helper()
	vectors, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal("embed:", err)
	}
	if len(vectors) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(vectors), len(texts))
	}
	return vectors
}

// Query embeds a query or fails the test.
func Query(t testing.TB, e embed.Embedder, text string) []float32 {
	t.Helper()
	v, err := e.EmbedQuery(t.Context(), text)
	if err != nil {
		t.Fatal("embed query:", err)
	}
	return v
}

// Cosine is the cosine of the angle between two vectors.
func Cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func testVectors(t *testing.T, e embed.Embedder) {
	vectors := Embed(t, e, texts...)
	for i, text := range texts {
		vectors = append(vectors, Query(t, e, text))
		for _, v := range [][]float32{vectors[i], vectors[len(vectors)-1]} {
			checkVector(t, e, text, v)
		}
	}
}

func checkVector(t *testing.T, e embed.Embedder, text string, v []float32) {
	t.Helper()
	if len(v) != e.Dim() {
		t.Fatalf("%.30q has %d numbers, want %d", text, len(v), e.Dim())
	}
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	// A number that is not finite shows in the sum.
	if math.IsNaN(square) || math.IsInf(square, 0) || square == 0 {
		t.Errorf("%.30q has a vector of length %v", text, math.Sqrt(square))
	}
	if e.Fingerprint().Normalized && math.Abs(square-1) > 1e-4 {
		t.Errorf("%.30q has a vector of length %v, want 1", text, math.Sqrt(square))
	}
}

func testNone(t *testing.T, e embed.Embedder) {
	for _, none := range [][]string{nil, {}} {
		if got := Embed(t, e, none...); len(got) != 0 {
			t.Errorf("%d vectors for no texts", len(got))
		}
	}
}

// testBatches compares vectors of one batch, of its reverse and of single texts. A remote
// model may round differently from batch to batch, so a hair's breadth is allowed.
func testBatches(t *testing.T, e embed.Embedder) {
	together := Embed(t, e, texts...)
	reversed := make([]string, len(texts))
	for i, text := range texts {
		reversed[len(texts)-1-i] = text
	}
	backwards := Embed(t, e, reversed...)
	for i, text := range texts {
		alone := Embed(t, e, text)[0]
		for name, other := range map[string][]float32{"alone": alone, "in reverse order": backwards[len(texts)-1-i]} {
			if c := Cosine(together[i], other); c < 0.99999 {
				t.Errorf("%.30q %s is another vector: cosine %v", text, name, c)
			}
		}
	}
}

func testConcurrent(t *testing.T, e embed.Embedder) {
	want := Embed(t, e, texts[0])[0]
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := e.Embed(t.Context(), []string{texts[3], texts[0]})
			if err != nil || Cosine(got[1], want) < 0.99999 {
				t.Errorf("another vector beside other callers (error %v)", err)
			}
		})
	}
	wg.Wait()
}

func testCancelled(t *testing.T, e embed.Embedder) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := e.Embed(ctx, texts); !errors.Is(err, context.Canceled) || v != nil {
		t.Errorf("Embed gave %d vectors and error %v", len(v), err)
	}
	if v, err := e.EmbedQuery(ctx, texts[0]); !errors.Is(err, context.Canceled) || v != nil {
		t.Errorf("EmbedQuery gave %d numbers and error %v", len(v), err)
	}
	Embed(t, e, texts[0]) // and goes on working
}

func testFingerprint(t *testing.T, e embed.Embedder) {
	f := e.Fingerprint()
	if f.Model == "" || f.Dim != e.Dim() || f != e.Fingerprint() {
		t.Errorf("fingerprint %v of an embedder with %d dimensions", f, e.Dim())
	}
	if back, err := embed.ParseFingerprint(f.String()); err != nil || back != f {
		t.Errorf("text form %q reads as %v, error %v", f, back, err)
	}
}

func testMeaning(t *testing.T, e embed.Embedder) {
	query := Query(t, e, "airplane crosswind landing accident, pilot lost control")
	near, far := Embed(t, e, texts[0])[0], Embed(t, e, texts[3])[0]
	if Cosine(query, near) < Cosine(query, far)+0.2 {
		t.Errorf("cosine to the text that answers is %.3f, to another %.3f", Cosine(query, near), Cosine(query, far))
	}
}
