package sqlite

import (
	"math"
	"slices"
	"testing"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
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

// Instants at the ends of what a value can hold fall into buckets like any other, in
// order and without a list of all days in between.
func TestIntervalsOfFarInstants(t *testing.T) {
	c := &numbers{kind: filter.Time}
	for slot, us := range []int64{math.MaxInt64, 0, math.MinInt64, -1, filter.Date(2010, 7, 4).Micros()} {
		c.cells.push(uint32(slot), us)
	}
	for by, want := range map[store.Interval][]string{
		store.Year: {"-290308", "1969", "1970", "2010", "294247"},
		store.Day:  {"-290308-12-21", "1969-12-31", "1970-01-01", "2010-07-04", "294247-01-10"},
		store.Hour: {"0", "4", "19", "23"},
	} {
		buckets, known := c.facetIntervals(sample{slots: fullMask(5), total: 5}, intervals[by])
		var got []string
		for _, b := range buckets {
			got = append(got, b.Value.Str())
		}
		if !slices.Equal(got, want) || known != 5 {
			t.Errorf("by %s: %q, %d known; want %q", by, got, known, want)
		}
	}
}
