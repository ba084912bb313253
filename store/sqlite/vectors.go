package sqlite

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// Vectors are stored as IEEE half floats, two bytes a dimension, and a CRC-32C behind
// them. Half floats lost no recall where int8 selects and they re-score; that halves
// the largest part of the database.
const vectorSum = 4

func dimensionOf(blob []byte) int { return (len(blob) - vectorSum) / 2 }

func encodeVector(v []float32) []byte {
	b := make([]byte, 0, 2*len(v)+vectorSum)
	for _, x := range v {
		b = binary.LittleEndian.AppendUint16(b, half(x))
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// half rounds to the nearest half float, ties to even. Components of unit vectors are
// at most 1 in magnitude, so overflow does not occur; what is too small becomes
// subnormal or zero.
func half(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	exp := int(bits>>23&0xff) - 127 + 15
	frac := bits & 0x7fffff
	if exp <= 0 {
		if exp < -10 {
			return sign
		}
		frac |= 0x800000
		shift := uint(14 - exp)
		return sign | uint16(roundShift(frac, shift))
	}
	return sign + uint16(roundShift(uint32(exp)<<23|frac, 13)) // a carry moves into the exponent, as it should
}

// roundShift shifts right and rounds what falls off to nearest, ties to even.
func roundShift(x uint32, by uint) uint32 {
	q, rest, tie := x>>by, x&(1<<by-1), uint32(1)<<(by-1)
	if rest > tie || rest == tie && q&1 == 1 {
		q++
	}
	return q
}
