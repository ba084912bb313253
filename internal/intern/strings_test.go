package intern

import (
	"errors"
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
	again, err := Of(d.Text(), d.Ends())
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
