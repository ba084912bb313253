package intern

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Every string has one number and is found again, through growth and made again of its text.
func TestStringsKeepTheirNumbers(t *testing.T) {
	d := New()
	rng := rand.New(rand.NewPCG(1, 2))
	numbers := map[string]uint32{}
	for range 5000 {
		b := make([]byte, rng.IntN(4))
		for i := range b {
			b[i] = byte(rng.IntN(8))
		}
		n, isNew := d.Add(b)
		old, known := numbers[string(b)]
		if known == isNew || known && old != n || d.Str(n) != string(b) {
			t.Fatalf("add %q: %d, %v; known as %d, %v", b, n, isNew, old, known)
		}
		numbers[string(b)] = n
	}
	if d.Len() != len(numbers) {
		t.Errorf("%d strings, want %d", d.Len(), len(numbers))
	}
	if _, ok := d.Find([]byte("absent")); ok {
		t.Error("found what was never added")
	}
	ends := make([]uint64, d.Len())
	for i := range ends {
		ends[i] = d.End(uint32(i))
	}
	again, err := Of(d.Text(), ends)
	if err != nil {
		t.Fatal(err)
	}
	for s, n := range numbers {
		if got, ok := again.Find([]byte(s)); !ok || got != n {
			t.Errorf("made again %q is %d, %v, and was %d", s, got, ok, n)
		}
	}
	for _, ends := range [][]uint64{{2, 1}, {1, 9}} {
		if _, err := Of([]byte("abc"), ends); !errors.Is(err, ErrEnds) {
			t.Errorf("ends %d: %v", ends, err)
		}
	}
}

// Ends past 4 GB are kept in four bytes each all the same.
func TestEndsOfMuchText(t *testing.T) {
	d := New()
	want := []uint64{5, 1<<32 - 1, 1 << 32, 1<<32 + 7, 3<<32 + 1, 3<<32 + 1}
	for _, end := range want {
		d.addEnd(end)
	}
	for i, end := range want {
		if got := d.End(uint32(i)); got != end {
			t.Errorf("string %d ends at %d, want %d", i, got, end)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	ids := make([][]byte, 1<<20)
	for i := range ids {
		ids[i] = fmt.Appendf(nil, "table:R-%07d", i)
	}
	for b.Loop() {
		d := New()
		for _, id := range ids {
			d.Add(id)
		}
		b.ReportMetric(float64(d.Memory())/float64(len(ids)), "bytes/string")
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(len(ids)), "ns/string")
}
