package vector

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Every kernel computes the integers of the plain one, whatever the bytes.
func TestKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 700).Draw(t, "dim")
		n := rapid.IntRange(1, 9).Draw(t, "rows")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		extreme := rapid.Bool().Draw(t, "extreme")
		draw := func(k int) []int8 {
			out := make([]int8, k)
			for i := range out {
				out[i] = int8(rng.IntN(256))
				if extreme {
					out[i] = []int8{-128, -127, 127}[rng.IntN(3)]
				}
			}
			return out
		}
		q := newQueryCodes(dim)
		q.set(draw(dim))
		rows := draw(n * padded(dim))
		want := make([]int32, n)
		dotsGo(q, rows, n, want)
		for _, k := range kernels {
			got := make([]int32, n)
			k.dots(q, rows, n, got)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", k.name, got, want)
			}
		}
	})
}

func TestPlainKernelByHand(t *testing.T) {
	q := newQueryCodes(3)
	q.set([]int8{1, -2, 127})
	rows := make([]int8, 2*stride)
	copy(rows, []int8{5, 6, 7})
	copy(rows[stride:], []int8{-127, 127, -127})
	got := make([]int32, 2)
	dotsGo(q, rows, 2, got)
	if want := []int32{5 - 12 + 889, -127 - 254 - 127*127}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The largest dimension does not overflow.
func TestKernelsAtTheLimit(t *testing.T) {
	codes := make([]int8, MaxDimension)
	for i := range codes {
		codes[i] = 127
	}
	q := newQueryCodes(MaxDimension)
	q.set(codes)
	for _, k := range kernels {
		got := make([]int32, 1)
		if k.dots(q, codes, 1, got); got[0] != 127*127*MaxDimension {
			t.Errorf("%s: %d", k.name, got[0])
		}
	}
}

func FuzzKernels(f *testing.F) {
	f.Add([]byte{1, 2, 255}, []byte{128, 127})
	f.Fuzz(func(t *testing.T, query, data []byte) {
		if len(query) == 0 || len(query) > MaxDimension {
			return
		}
		codes := make([]int8, len(query))
		for i, b := range query {
			codes[i] = int8(b)
		}
		q := newQueryCodes(len(codes))
		q.set(codes)
		n := 1 + len(data)/len(q.bytes)
		rows := make([]int8, n*len(q.bytes))
		for i, b := range data {
			rows[i] = int8(b)
		}
		want, got := make([]int32, n), make([]int32, n)
		dotsGo(q, rows, n, want)
		for _, k := range kernels {
			if k.dots(q, rows, n, got); !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", k.name, got, want)
			}
		}
	})
}

func BenchmarkKernel(b *testing.B) {
	for _, dim := range []int{384, 768} {
		q := newQueryCodes(dim)
		rows := make([]int8, groupRows*dim)
		for i := range rows {
			rows[i] = int8(i * 7)
		}
		q.set(rows[:dim])
		var out [groupRows]int32
		for _, k := range kernels {
			b.Run(fmt.Sprintf("%s/%d", k.name, dim), func(b *testing.B) {
				for b.Loop() {
					k.dots(q, rows, groupRows, out[:])
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/groupRows, "ns/row")
			})
		}
	}
}

// SEXTANT_VECTOR is how other packages' tests run on each kernel.
func TestDefaultKernelIsTheOneAskedFor(t *testing.T) {
	m, err := New(1)
	if err != nil {
		t.Fatal(err)
	}
	want := kernels[0].name
	if name := os.Getenv("SEXTANT_VECTOR"); slices.ContainsFunc(kernels, func(k kernel) bool { return k.name == name }) {
		want = name
	}
	if m.Kernel() != want {
		t.Errorf("kernel %s, want %s", m.Kernel(), want)
	}
	t.Logf("%s of %d kernels", m.Kernel(), len(kernels))
}
