package vector

import (
	"errors"
	"fmt"
	"math"
)

// MaxDimension is the largest number of dimensions; with it, sums of products of int8
// stay within int32.
const MaxDimension = 1 << 16

// What is wrong with a vector.
var (
	ErrNotFinite = errors.New("vector has a component that is not a finite number")
	ErrZero      = errors.New("vector is zero, or too small to be told from it")
)

// DimensionError is a vector of the wrong number of dimensions.
type DimensionError struct{ Got, Want int }

// Error says how many dimensions there were and how many are wanted.
func (e *DimensionError) Error() string {
	return fmt.Sprintf("vector of %d dimensions, want %d", e.Got, e.Want)
}

// Check reports what is wrong with a vector that should have dim dimensions: a
// *DimensionError, ErrNotFinite or ErrZero.
func Check(v []float32, dim int) error {
	if len(v) != dim {
		return &DimensionError{Got: len(v), Want: dim}
	}
	_, err := largest(v)
	return err
}

// largest returns the largest magnitude in v.
func largest(v []float32) (float32, error) {
	top := uint32(0)
	for _, x := range v {
		// Magnitudes compare like the bits behind the sign; infinities and
		// not-a-number come out on top.
		top = max(top, math.Float32bits(x)&^(1<<31))
	}
	switch {
	case top >= 0x7f800000:
		return 0, ErrNotFinite
	case top == 0:
		return 0, ErrZero
	}
	return math.Float32frombits(top), nil
}

// quantize writes v as int8: v[i] is about scale*codes[i], off by scale/2 at most, and
// the largest magnitude is 127. It does not use -128, so that negation is exact. square
// is the sum of the squares of the codes.
func quantize(codes []int8, v []float32) (scale float32, square int32, err error) {
	top, err := largest(v)
	if err != nil {
		return 0, 0, err
	}
	if scale = top / 127; scale == 0 {
		return 0, 0, ErrZero
	}
	// In float64, where neither a huge nor a tiny vector over- or underflows.
	inverse := 127 / float64(top)
	for i, x := range v {
		c := nearest(float64(x) * inverse)
		codes[i] = int8(c)
		square += c * c
	}
	return scale, square, nil
}

// nearest rounds |x| < 2^31 to the nearest integer, ties to even: added to 1.5*2^52, a
// float64 has no room for a fraction.
func nearest(x float64) int32 {
	const magic = 3 << 51
	return int32(math.Float64bits(float64(x) + magic))
}
