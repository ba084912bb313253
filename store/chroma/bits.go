package chroma

import (
	"iter"
	mathbits "math/bits"
	"slices"
)

// bits is a set of slots: slot n is bit n%64 of word n/64, and none beyond.
type bits []uint64

func (b bits) has(n int) bool { return n>>6 < len(b) && b[n>>6]>>(n&63)&1 != 0 }

// with returns the set with a slot in it; b itself is changed where it is long enough.
func (b bits) with(n int) bits {
	for n>>6 >= len(b) {
		b = append(b, 0)
	}
	b[n>>6] |= 1 << (n & 63)
	return b
}

func (b bits) clear(n int) {
	if n>>6 < len(b) {
		b[n>>6] &^= 1 << (n & 63)
	}
}

func (b bits) count() int64 {
	n := 0
	for _, w := range b {
		n += mathbits.OnesCount64(w)
	}
	return int64(n)
}

func (b bits) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(i<<6 + mathbits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// and, or and minus return new sets.
func (b bits) and(o bits) bits {
	out := slices.Clone(b[:min(len(b), len(o))])
	for i := range out {
		out[i] &= o[i]
	}
	return out
}

func (b bits) or(o bits) bits {
	if len(o) > len(b) {
		b, o = o, b
	}
	out := slices.Clone(b)
	for i, w := range o {
		out[i] |= w
	}
	return out
}

func (b bits) minus(o bits) bits {
	out := slices.Clone(b)
	for i := range min(len(b), len(o)) {
		out[i] &^= o[i]
	}
	return out
}
