package sqlite

import (
	"math"
	"math/bits"
	"slices"

	"github.com/sextant-rag/sextant/filter"
)

// numbers is a column of ints, floats, bools or times. All are held as int64 keys
// that sort as the values do, so that every condition is a set of closed intervals
// of keys, whatever the kind.
type numbers struct {
	kind  filter.Kind
	cells cells[int64]
}

// span is a closed interval of keys, lo <= hi.
type span struct{ lo, hi int64 }

func (c *numbers) present() mask { return c.cells.has }
func (c *numbers) widen()        { c.cells.widen() }
func (c *numbers) memory() int64 { return c.cells.memory(8) }

func (c *numbers) put(slot uint32, kind filter.Kind, n int, d *decoder) {
	for range n {
		c.cells.push(slot, keyOf(d.value(kind)))
	}
}

// keyOf returns the key of a value: the number itself, or for a float its bits with
// those of negative numbers turned around, as IEEE 754 numbers order by sign and
// magnitude.
func keyOf(v filter.Value) int64 {
	switch v.Kind() {
	case filter.Time:
		return v.Micros()
	case filter.Float:
		return floatKey(int64(math.Float64bits(v.Float())))
	}
	return v.Int()
}

// floatKey maps IEEE bits to keys and back: it is its own inverse.
func floatKey(b int64) int64 {
	if b < 0 {
		return b ^ math.MaxInt64
	}
	return b
}

// value is the inverse of keyOf.
func (c *numbers) value(key int64) filter.Value {
	switch c.kind {
	case filter.Time:
		return filter.OfMicros(key)
	case filter.Float:
		return filter.OfFloat(math.Float64frombits(uint64(floatKey(key))))
	case filter.Bool:
		return filter.OfBool(key != 0)
	}
	return filter.OfInt(key)
}

// spans returns the condition as disjoint intervals in rising order.
func (c *numbers) spans(f filter.Filter) []span {
	switch f := f.(type) {
	case filter.Exists:
		return []span{{math.MinInt64, math.MaxInt64}}
	case filter.Eq:
		k := keyOf(f.Value)
		return []span{{k, k}}
	case filter.In:
		out := make([]span, len(f.Values))
		for i, v := range f.Values {
			out[i] = span{keyOf(v), keyOf(v)}
		}
		slices.SortFunc(out, func(a, b span) int { return compareKeys(a.lo, b.lo) })
		return slices.Compact(out)
	case filter.Range:
		if s, ok := rangeSpan(f); ok {
			return []span{s}
		}
	}
	return nil
}

// rangeSpan returns the range as an interval of keys; false if it is empty.
func rangeSpan(f filter.Range) (span, bool) {
	s := span{math.MinInt64, math.MaxInt64}
	if !f.Lo.IsZero() {
		s.lo = keyOf(f.Lo)
		if f.LoExcl {
			if s.lo == math.MaxInt64 {
				return s, false
			}
			s.lo++
		}
	}
	if !f.Hi.IsZero() {
		s.hi = keyOf(f.Hi)
		if f.HiExcl {
			if s.hi == math.MinInt64 {
				return s, false
			}
			s.hi--
		}
	}
	return s, s.lo <= s.hi
}

func compareKeys(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (c *numbers) test(f filter.Filter, m mask) {
	found := slices.Clone(c.cells.has)
	c.keep(f, found)
	m.or(found)
}

func (c *numbers) keep(f filter.Filter, m mask) {
	m.and(c.cells.has)
	spans := c.spans(f)
	switch {
	case len(spans) == 0:
		clear(m)
	case c.cells.list:
		c.keepLists(spans, m)
	case len(spans) == 1:
		c.keepSpan(spans[0], m)
	default:
		c.keepSpans(spans, m)
	}
}

// keepSpan is the inner loop of most conditions: 64 values at a time without a
// branch where a word of m has many slots left, slot by slot where it has few.
func (c *numbers) keepSpan(s span, m mask) {
	width := uint64(s.hi) - uint64(s.lo)
	for i, w := range m {
		if w == 0 {
			continue
		}
		if block := c.cells.flat[i<<6:]; len(block) >= 64 && bits.OnesCount64(w) > 12 {
			m[i] = w & inSpan((*[64]int64)(block), s.lo, width)
			continue
		}
		for rest := w; rest != 0; rest &= rest - 1 {
			j := bits.TrailingZeros64(rest)
			if uint64(c.cells.flat[i<<6+j])-uint64(s.lo) > width {
				m[i] &^= 1 << j
			}
		}
	}
}

// inSpan tests 64 values; v is in [lo, lo+width] if v-lo does not exceed width as an
// unsigned number.
func inSpan(values *[64]int64, lo int64, width uint64) uint64 {
	var out uint64
	for j, v := range values {
		var bit uint64
		if uint64(v)-uint64(lo) <= width {
			bit = 1
		}
		out |= bit << j
	}
	return out
}

func (c *numbers) keepSpans(spans []span, m mask) {
	for slot := range m.all() {
		if !within(spans, c.cells.flat[slot]) {
			m.clear(slot)
		}
	}
}

func (c *numbers) keepLists(spans []span, m mask) {
	for slot := range m.all() {
		if !slices.ContainsFunc(c.cells.at(slot), func(k int64) bool { return within(spans, k) }) {
			m.clear(slot)
		}
	}
}

// within reports whether a key lies in one of the intervals.
func within(spans []span, key int64) bool {
	i, found := slices.BinarySearchFunc(spans, key, func(s span, k int64) int { return compareKeys(s.lo, k) })
	return found || i > 0 && key <= spans[i-1].hi
}
