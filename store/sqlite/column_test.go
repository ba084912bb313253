package sqlite

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sextant-rag/sextant/filter"
)

// keywordColumn makes a column with one value a slot.
func keywordColumn(fold filter.Fold, values ...string) *keywords {
	k := newKeywords(filter.Field{Kind: filter.Keyword, Fold: fold})
	for slot, v := range values {
		k.cells.push(uint32(slot), k.number([]byte(v)))
	}
	return k
}

// A part is looked for in each folded value by itself, although they lie end to end.
func TestContaining(t *testing.T) {
	k := keywordColumn(filter.Case, "ab", "ca", "bca", "Ab ab", "", "ä", "b")
	for sub, want := range map[string][]uint32{
		"ab": {0, 3}, "BC": {2}, "ca": {1, 2}, "abc": nil, "": {0, 1, 2, 3, 4, 5, 6}, "Ä": {5}, "a": {0, 1, 2, 3}, "abab": nil, "b": {0, 2, 3, 6},
	} {
		m := newMask(7)
		k.test(filter.Contains{Sub: sub}, m)
		if got := slices.Collect(m.all()); !slices.Equal(got, want) {
			t.Errorf("containing %q: %v, want %v", sub, got, want)
		}
	}
}

// Keys sort as values do, infinities and the smallest numbers included.
func TestKeysKeepOrder(t *testing.T) {
	floats := []float64{math.Inf(-1), -math.MaxFloat64, -1.5, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 0.5, 1, math.MaxFloat64, math.Inf(1)}
	c := &numbers{kind: filter.Float}
	for i, f := range floats {
		v := filter.OfFloat(f)
		if back := c.value(keyOf(v)); back != v {
			t.Errorf("%g comes back as %v", f, back)
		}
		if i > 0 && keyOf(filter.OfFloat(floats[i-1])) >= keyOf(v) {
			t.Errorf("key of %g is not above that of %g", f, floats[i-1])
		}
	}
	if keyOf(filter.OfFloat(math.Copysign(0, -1))) != keyOf(filter.OfFloat(0)) {
		t.Error("minus zero is another number")
	}
}

// dict gives every string one number and finds it again, through growth.
func TestDict(t *testing.T) {
	d := newDict()
	rng := rand.New(rand.NewPCG(1, 2))
	numbers := map[string]uint32{}
	for range 5000 {
		b := make([]byte, rng.IntN(4))
		for i := range b {
			b[i] = byte(rng.IntN(8))
		}
		n, isNew := d.add(b)
		old, known := numbers[string(b)]
		if known == isNew || known && old != n || d.str(n) != string(b) {
			t.Fatalf("add %q: %d, %v; known as %d, %v", b, n, isNew, old, known)
		}
		numbers[string(b)] = n
	}
	if d.len() != len(numbers) {
		t.Errorf("%d strings, want %d", d.len(), len(numbers))
	}
	if _, ok := d.find([]byte("absent")); ok {
		t.Error("found what was never added")
	}
}
