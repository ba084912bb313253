package sqlite

import (
	"iter"
	"math/bits"
)

// mask is a set of slots, 64 to a word. Bits past the table's last slot are zero,
// which flip keeps so; a mask may be shorter than the table, its missing words being
// empty. Plain words beat compressed bitmaps here: a whole table of 100,000 slots is
// 12.5 kB, which an AND passes in a microsecond, and everything else (mapping elements to
// documents, ranges of numbers, the searches' masks) wants the words themselves.
type mask []uint64

func words(n int) int { return (n + 63) / 64 }

func newMask(n int) mask { return make(mask, words(n)) }

// fullMask returns the set of all n slots.
func fullMask(n int) mask {
	m := newMask(n)
	m.flip(n)
	return m
}

func (m mask) has(i uint32) bool {
	w := int(i >> 6)
	return w < len(m) && m[w]>>(i&63)&1 != 0
}

func (m mask) set(i uint32) { m[i>>6] |= 1 << (i & 63) }

func (m mask) clear(i uint32) { m[i>>6] &^= 1 << (i & 63) }

// grow sets slot i, adding words as needed.
func (m *mask) grow(i uint32) {
	for int(i>>6) >= len(*m) {
		*m = append(*m, 0)
	}
	m.set(i)
}

func (m mask) count() int64 {
	n := 0
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return int64(n)
}

func (m mask) empty() bool {
	for _, w := range m {
		if w != 0 {
			return false
		}
	}
	return true
}

func (m mask) and(o mask) {
	n := min(len(m), len(o))
	for i, w := range o[:n] {
		m[i] &= w
	}
	clear(m[n:])
}

// or adds o, which must not be longer than m.
func (m mask) or(o mask) {
	for i, w := range o {
		m[i] |= w
	}
}

// flip replaces m by its complement within [0,n).
func (m mask) flip(n int) {
	for i := range m {
		m[i] = ^m[i]
	}
	if n&63 != 0 {
		m[len(m)-1] &= 1<<(n&63) - 1
	}
}

// all yields the slots in rising order.
func (m mask) all() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, w := range m {
			for ; w != 0; w &= w - 1 {
				if !yield(uint32(i<<6 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}
