package kernel

import (
	"math"

	"github.com/sextant-rag/sextant/bert/internal/kernel/approx"
)

// generic is the kernels in plain Go, and the definition of what the others compute. The
// conversions float32(a*b) keep compilers from fusing where the others do not.
type generic struct{}

func (generic) Name() string   { return "generic" }
func (generic) CodeBytes() int { return 1 }

func (g generic) Quantize(codes []byte, scales []RowScale, x []float32, rows, n int) {
	for r := range rows {
		scales[r] = quantizeRow(codes[r*n:(r+1)*n], x[r*n:(r+1)*n])
	}
}

func (g generic) GeluQuantize(codes []byte, scales []RowScale, x []float32, rows, n int) {
	for i, v := range x[:rows*n] {
		x[i] = gelu(v)
	}
	g.Quantize(codes, scales, x, rows, n)
}

func quantizeRow(codes []byte, x []float32) RowScale {
	low, high := float32(0), float32(0)
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	span := max(high-low, 1e-30)
	scale := float32(span * (1.0 / 255))
	inverse := 255 / span
	minusZero := roundEven(low * inverse)
	for i, v := range x {
		q := roundEven(fma(v, inverse, -minusZero))
		codes[i] = byte(max(0, min(255, q)))
	}
	return RowScale{Scale: scale, Zero: minusZero * scale}
}

func gelu(x float32) float32 {
	c := max(min(x, approx.GeluBound), -approx.GeluBound)
	t := fma(float32(c*c), 2.0/(approx.GeluBound*approx.GeluBound), -1)
	square := float32(t * t)
	const last = len(approx.Gelu) - 1
	chains := [2]float32{approx.Gelu[last], approx.Gelu[last-1]}
	for i := last - 2; i >= 0; i-- {
		chains[i%2] = fma(chains[i%2], square, approx.Gelu[i])
	}
	p := fma(chains[1], t, chains[0])
	return float32(x * fma(p, c, 0.5))
}

// MultiplyCodes takes four rows at a time. Two codes share a 64-bit word, 32 bits apart, so
// that one multiplication serves two rows; no sum comes near 32 bits.
func (generic) MultiplyCodes(out []float32, stride int, codes []byte, scales []RowScale, rows int, m *Matrix, p int) {
	weights, params := m.panel(p)
	for first := 0; first < rows; first += 4 {
		var sums [2][Width]int64
		row := func(i int) []byte { // rows past the end repeat the last
			r := min(first+i, rows-1)
			return codes[r*m.K : (r+1)*m.K]
		}
		sumCodes(&sums, weights, row(0), row(1), row(2), row(3))
		for r := first; r < min(first+4, rows); r++ {
			scaleSums(out[r*stride:r*stride+Width], &sums[(r-first)/2], (r-first)%2 == 1, scales[r], params)
		}
	}
}

func sumCodes(sums *[2][Width]int64, weights []int8, a, b, c, d []byte) {
	for k := 0; k < len(a); k += 4 {
		var x, y [4]int64
		for i := range x {
			x[i] = int64(a[k+i]) | int64(b[k+i])<<32
			y[i] = int64(c[k+i]) | int64(d[k+i])<<32
		}
		group := (*[4 * Width]int8)(weights[k*Width:])
		for j := range Width {
			w0, w1, w2, w3 := int64(group[4*j]), int64(group[4*j+1]), int64(group[4*j+2]), int64(group[4*j+3])
			sums[0][j] += x[0]*w0 + x[1]*w1 + x[2]*w2 + x[3]*w3
			sums[1][j] += y[0]*w0 + y[1]*w1 + y[2]*w2 + y[3]*w3
		}
	}
}

// scaleSums turns one of the two sums in each word into a float.
func scaleSums(row []float32, sums *[Width]int64, upper bool, scale RowScale, params []float32) {
	for j, both := range sums {
		sum := int32(both)
		if upper {
			sum = int32((both - int64(sum)) >> 32) // less what a negative lower sum borrowed
		}
		offset := fma(scale.Zero, params[Width+j], params[2*Width+j])
		row[j] = fma(float32(sum), float32(scale.Scale*params[j]), offset)
	}
}

func (generic) MultiplyFloats(out []float32, stride int, a []float32, aStride int, b []float32, bStride, k, rows int, init, factors []float32) {
	for r := range rows {
		var acc [Width]float32
		if init != nil {
			copy(acc[:], init[:Width])
		}
		for i, v := range a[r*aStride : r*aStride+k] {
			for j, w := range b[i*bStride : i*bStride+Width] {
				acc[j] = fma(v, w, acc[j])
			}
		}
		if factors != nil {
			for j := range acc {
				acc[j] *= factors[r]
			}
		}
		copy(out[r*stride:r*stride+Width], acc[:])
	}
}

func (generic) Softmax(x []float32, n, rows int, inverse []float32) {
	for r := range rows {
		row := x[r*n : (r+1)*n]
		top := row[0]
		for _, v := range row {
			top = max(top, v)
		}
		var sums [Width]float32
		for i, v := range row {
			row[i] = exp(max(v-top, approx.ExpLowest))
			sums[i%Width] += row[i]
		}
		inverse[r] = 1 / sumLanes(&sums)
	}
}

// sumLanes adds lanes 16 apart, then 8, 4, 2 and 1.
func sumLanes(lanes *[Width]float32) float32 {
	for step := Width / 2; step > 0; step /= 2 {
		for i := range step {
			lanes[i] += lanes[i+step]
		}
	}
	return lanes[0]
}

// exp is for x in [approx.ExpLowest, 0].
func exp(x float32) float32 {
	const toInteger = 3 << 22 // added, it leaves x·log2(e) rounded in the low bits
	shifted := fma(x, approx.Log2E, toInteger)
	n := shifted - toInteger
	r := fma(n, approx.PlusLn2, fma(n, approx.MinusLn2, x))
	square := float32(r * r)
	c := &approx.Exp
	p := fma(c[0], r, c[1])
	p = fma(p, square, fma(c[2], r, c[3]))
	p = fma(p, square, fma(c[4], r, c[5]))
	p = fma(p, square, r) + 1
	return math.Float32frombits(math.Float32bits(p) + math.Float32bits(shifted)<<23)
}

func (generic) AddNorm(out, x, y []float32, norm *Norm, rows, n int) {
	inverseN, eps := norm.constants[0], norm.constants[1]
	gamma, beta := norm.Gamma[:n], norm.Beta[:n]
	for r := range rows {
		row := out[r*n : (r+1)*n]
		add := y
		if len(y) > n {
			add = y[r*n:]
		}
		var sums, squares [Width]float32
		for i, v := range x[r*n : (r+1)*n] {
			row[i] = v + add[i]
			sums[i%Width] += row[i]
		}
		mean := float32(sumLanes(&sums) * inverseN)
		for i, v := range row {
			squares[i%Width] = fma(v-mean, v-mean, squares[i%Width])
		}
		factor := 1 / sqrt(float32(sumLanes(&squares)*inverseN)+eps)
		for i, v := range row {
			row[i] = fma(float32((v-mean)*factor), gamma[i], beta[i])
		}
	}
}

func (generic) Embed(out []float32, codes []int8, scale *float32, add []float32) {
	for i := range out {
		out[i] = fma(float32(codes[i]), *scale, add[i])
	}
}

func (generic) SumRows(out, x []float32, rows, n int) {
	clear(out[:n])
	for r := range rows {
		for i, v := range x[r*n : (r+1)*n] {
			out[i] += v
		}
	}
}

func (generic) TransposePanel(out, x []float32, n int) {
	for r := range Width {
		for c, v := range x[r*n : (r+1)*n] {
			out[c*Width+r] = v
		}
	}
}

func roundEven(x float32) float32 { return float32(math.RoundToEven(float64(x))) }

// sqrt is exact: the double precision root of a float, rounded again, is the float root.
func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// fma returns x·y + z rounded once, as the machine instruction does. The product is exact
// in double precision. The sum is rounded twice, which matters only when the first rounding
// lands half way between two floats, or below the normal range; then it is repeated
// rounding to odd, after which a second rounding is harmless (Boldo and Melquiond 2008).
func fma(x, y, z float32) float32 {
	p := float64(x) * float64(y)
	c := float64(z)
	s := p + c
	const dropped, half, leastNormal = 1<<29 - 1, 1 << 28, 0x1p-126
	if math.Float64bits(s)&dropped != half && (s >= leastNormal || s <= -leastNormal) {
		return float32(s)
	}
	return float32(addToOdd(p, c, s))
}

// addToOdd returns p + c rounded to odd, given s = p + c rounded to nearest.
func addToOdd(p, c, s float64) float64 {
	// The rounding error of s (Knuth's two-sum), exact.
	t := s - p
	e := (p - (s - t)) + (c - t)
	bits := math.Float64bits(s)
	if e == 0 || math.IsNaN(e) || bits&1 == 1 {
		return s
	}
	if (e > 0) == (s > 0) {
		return math.Float64frombits(bits + 1)
	}
	return math.Float64frombits(bits - 1)
}
