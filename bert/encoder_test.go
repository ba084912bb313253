package bert_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/bert/berttest"
)

// Shapes of encoders in use, with fewer layers so that the oracle is quick.
var shapes = map[string]bert.Config{
	"MiniLM-L6":  {Layers: 2, Hidden: 384, Heads: 12, Intermediate: 1536, Positions: 512, MaxTokens: 256, Pooling: bert.MeanPooling, Normalize: true},
	"MiniLM-L12": {Layers: 2, Hidden: 384, Heads: 12, Intermediate: 1536, Positions: 512, MaxTokens: 128, Pooling: bert.MeanPooling, Normalize: true},
	"bge-small":  {Layers: 2, Hidden: 384, Heads: 12, Intermediate: 1536, Positions: 512, MaxTokens: 512, Pooling: bert.CLSPooling, Normalize: true, QueryPrefix: "Represent this sentence for searching relevant passages: "},
	"bge-base":   {Layers: 1, Hidden: 768, Heads: 12, Intermediate: 3072, Positions: 512, MaxTokens: 512, Pooling: bert.CLSPooling, Normalize: true},
	"e5-small":   {Layers: 2, Hidden: 384, Heads: 12, Intermediate: 1536, Positions: 512, MaxTokens: 512, Pooling: bert.MeanPooling, Normalize: true, QueryPrefix: "query: ", DocumentPrefix: "passage: "},
	"tiny":       {Layers: 2, Hidden: 128, Heads: 2, Intermediate: 512, Positions: 64, MaxTokens: 64, Pooling: bert.MeanPooling},
}

func openFolder(t testing.TB, dir string) *bert.Model {
	t.Helper()
	m, err := bert.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newEncoder(t testing.TB, m *bert.Model, o bert.Options) *bert.Encoder {
	t.Helper()
	e, err := bert.NewEncoder(m, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func encode(t testing.TB, e *bert.Encoder, texts ...string) [][]float32 {
	t.Helper()
	v, err := e.Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The engine in 8 bits stays close to the model in double precision, for every shape and
// for lengths around the sizes of its blocks.
func TestVectorsMatchTheModel(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			oracle := berttest.New(shape, 7)
			m := openFolder(t, oracle.Write(t))
			e := newEncoder(t, m, bert.Options{})
			rng := rand.New(rand.NewPCG(1, 1))
			lengths := []int{0, 1, 11, 31}
			if shape.Hidden < 384 { // the oracle is quick
				lengths = []int{0, 1, 9, 10, 11, 22, 23, 30, 31, 61, 62, 70}
			}
			for _, letters := range lengths {
				text := randomText(rng, letters)
				got, want := encode(t, e, text)[0], oracle.Vector(text)
				if c := cosine(got, want); c < 0.999 {
					t.Errorf("%d letters: cosine to the model %.5f", letters, c)
				}
				length := math.Sqrt(dot(got, got))
				if shape.Normalize && math.Abs(length-1) > 1e-5 || !shape.Normalize && math.Abs(length/math.Sqrt(dot(want, want))-1) > 0.02 {
					t.Errorf("%d letters: length %v", letters, length)
				}
			}
		})
	}
}

func dot[T float32 | float64](a, b []T) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// One text has one vector, to the bit: on every instruction set, alone or in any batch, by
// any number of workers, from the published files or packed.
func TestOneTextOneVector(t *testing.T) {
	oracle := berttest.New(bert.Config{Layers: 2, Hidden: 128, Heads: 2, Intermediate: 256, Positions: 160, MaxTokens: 160, Pooling: bert.MeanPooling, Normalize: true}, 3)
	m := openFolder(t, oracle.Write(t))
	packed, err := m.Pack(nil)
	if err != nil {
		t.Fatal(err)
	}
	repacked, err := bert.Open(string(packed))
	if err != nil {
		t.Fatal(err)
	}
	if repacked.Config() != m.Config() {
		t.Errorf("packed as %+v, want %+v", repacked.Config(), m.Config())
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var texts []string
	for _, letters := range []int{0, 1, 10, 11, 22, 23, 30, 47, 60, 94, 96, 120, 170} {
		texts = append(texts, randomText(rng, letters))
	}
	want := encode(t, newEncoder(t, m, bert.Options{Workers: 1, Instructions: "generic"}), texts...)
	for _, model := range []*bert.Model{m, repacked} {
		for _, instructions := range bert.Instructions() {
			for _, workers := range []int{1, 3} {
				if instructions == "generic" && workers == 1 {
					continue // slow, and what all is compared with
				}
				e := newEncoder(t, model, bert.Options{Workers: workers, Instructions: instructions})
				if e.Instructions() != instructions {
					t.Fatalf("runs on %s, want %s", e.Instructions(), instructions)
				}
				got := encode(t, e, texts...)
				for i := range texts {
					if !slices.Equal(want[i], got[i]) {
						t.Fatalf("%s, %d workers: text %d has another vector", instructions, workers, i)
					}
				}
				if alone := encode(t, e, texts[8]); !slices.Equal(alone[0], want[8]) {
					t.Fatalf("%s: alone, text 8 has another vector", instructions)
				}
			}
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	oracle := berttest.New(shapes["tiny"], 5)
	e := newEncoder(t, openFolder(t, oracle.Write(t)), bert.Options{})
	text := randomText(rand.New(rand.NewPCG(2, 2)), 62)
	v := encode(t, e, text, text+" and much more", text+strings.Repeat(" more", 1e5))
	if !slices.Equal(v[0], v[1]) || !slices.Equal(v[0], v[2]) {
		t.Error("what lies beyond the token limit changes the vector")
	}
}

func TestUnknownInstructions(t *testing.T) {
	m := openFolder(t, berttest.New(shapes["tiny"], 5).Write(t))
	if _, err := bert.NewEncoder(m, bert.Options{Instructions: "abacus"}); err == nil || !strings.Contains(err.Error(), "generic") {
		t.Errorf("error %v, want one that names what there is", err)
	}
}

func TestCancel(t *testing.T) {
	shape := shapes["MiniLM-L6"]
	e := newEncoder(t, openFolder(t, berttest.New(shape, 5).Write(t)), bert.Options{Instructions: "generic", Workers: 1})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	texts := slices.Repeat([]string{randomText(rand.New(rand.NewPCG(1, 1)), 200)}, 100)
	v, err := e.Encode(ctx, texts)
	if !errors.Is(err, context.DeadlineExceeded) || v != nil {
		t.Errorf("%d vectors, error %v", len(v), err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("stopped only after %v", took)
	}
	encode(t, e, "goes on working")
}

// A call takes room for its vectors and a handful of small things; nothing by token.
func TestSteadyStateAllocations(t *testing.T) {
	e := newEncoder(t, openFolder(t, berttest.New(shapes["tiny"], 5).Write(t)), bert.Options{Workers: 1})
	for _, letters := range []int{2, 60} {
		texts := []string{randomText(rand.New(rand.NewPCG(1, 1)), letters)}
		encode(t, e, texts...)
		if n := testing.AllocsPerRun(50, func() { encode(t, e, texts...) }); n > 3 {
			t.Errorf("%d letters: %v allocations", letters, n)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	e := newEncoder(t, openFolder(t, berttest.New(shapes["tiny"], 5).Write(t)), bert.Options{Workers: 2})
	long := strings.Repeat("endless text ", 1e5) // 1.3 MB
	encode(t, e, long)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	encode(t, e, slices.Repeat([]string{long}, 50)...)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("50 long texts took %d bytes", grown)
	}
}

func BenchmarkEncode(b *testing.B) {
	m := openFolder(b, berttest.New(bert.Config{Layers: 6, Hidden: 384, Heads: 12, Intermediate: 1536, Positions: 512, MaxTokens: 256, Pooling: bert.MeanPooling, Normalize: true}, 1).Write(b))
	rng := rand.New(rand.NewPCG(1, 1))
	for _, instructions := range bert.Instructions() {
		for _, letters := range []int{10, 254} {
			text := []string{randomText(rng, letters)}
			b.Run(fmt.Sprintf("%s/%d", instructions, letters+2), func(b *testing.B) {
				e := newEncoder(b, m, bert.Options{Workers: 1, Instructions: instructions})
				b.ReportAllocs()
				for b.Loop() {
					encode(b, e, text...)
				}
			})
		}
	}
}
