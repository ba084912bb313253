package vector

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Half floats (IEEE 754 binary16) are the precision vectors are stored in: two bytes a
// component, half of float32, at no loss of recall where they re-score a scan. (The
// equally small bfloat16 lost 0.3 %.)

// ErrRange is a component too large for a half float, whose largest is 65,504.
var ErrRange = fmt.Errorf("vector has a component beyond %d: half floats do not reach it", maxHalf)

const maxHalf = 65504

// AppendHalf appends the vector as little-endian half floats, each the nearest, ties to
// even. On an error dst is returned as it was.
func AppendHalf(dst []byte, v []float32) ([]byte, error) {
	out := dst
	for _, x := range v {
		h, ok := toHalf(x)
		if !ok {
			if x-x != 0 {
				return dst, ErrNotFinite
			}
			return dst, ErrRange
		}
		out = binary.LittleEndian.AppendUint16(out, h)
	}
	return out, nil
}

// DecodeHalf decodes what AppendHalf wrote into v, two bytes for each component.
func DecodeHalf(v []float32, b []byte) error {
	if len(b) != 2*len(v) {
		return fmt.Errorf("%d bytes of half floats: %w", len(b), &DimensionError{Got: len(b) / 2, Want: len(v)})
	}
	for i := range v {
		v[i] = fromHalf(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return nil
}

// toHalf rounds to the nearest half float; false if that is not finite.
func toHalf(x float32) (uint16, bool) {
	bits := math.Float32bits(x)
	sign, exp, frac := uint16(bits>>16&0x8000), int(bits>>23&0xff)-112, bits&0x7fffff
	if exp <= 0 { // below 2^-14: subnormal, counted in units of 2^-24
		if exp < -10 {
			return sign, true
		}
		return sign | uint16(shiftRounded(frac|0x800000, uint(14-exp))), true
	}
	if exp > 30 {
		return 0, false
	}
	h := shiftRounded(uint32(exp)<<23|frac, 13) // a carry goes into the exponent, as it should
	return sign | uint16(h), h < 0x7c00
}

// shiftRounded shifts right and rounds what falls off to the nearest, ties to even.
func shiftRounded(x uint32, by uint) uint32 {
	q, rest, tie := x>>by, x&(1<<by-1), uint32(1)<<(by-1)
	if rest > tie || rest == tie && q&1 == 1 {
		q++
	}
	return q
}

func fromHalf(h uint16) float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10&31), uint32(h&0x3ff)
	switch exp {
	case 0:
		x := float32(frac) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(x) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// Rounded returns the vector as half floats hold it. Stores of other precision round what
// they are given, so that the same vectors rank the same everywhere.
func Rounded(v []float32) ([]float32, error) {
	b, err := AppendHalf(make([]byte, 0, 2*len(v)), v)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(v))
	return out, DecodeHalf(out, b)
}
