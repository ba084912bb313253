package kernel

import (
	"golang.org/x/sys/cpu"
)

type (
	floatProduct func(a *float32, aStride uintptr, b *float32, bStride uintptr, k uintptr, c *float32, cStride uintptr, init, scale *float32)
	byteProduct  func(a *byte, aStride uintptr, b *int8, k uintptr, c *float32, cStride uintptr, params, rowScales *float32)
	quantizer    func(codes *byte, rowScales, x *float32, n, rows uintptr)
)

// vector is the kernels in assembly for one instruction set. Their strides and lengths are
// in bytes.
type vector struct {
	name                   string
	codeBytes              int
	floatProducts          []floatProduct // by rows, from 1
	floatColumns           int            // that a float product computes
	byteProducts           []byteProduct  // by rows, from 1
	quantize, geluQuantize quantizer
	softmax                func(s *float32, n, rows uintptr, inverse *float32)
	addNorm                func(out, x, y *float32, yStride uintptr, gamma, beta *float32, n, rows uintptr, norm *float32)
	embed                  func(out *float32, codes *int8, scale, add *float32, n uintptr)
	sumRows                func(out, x *float32, stride, rows, n uintptr)
	transpose8             func(out *float32, outStride uintptr, x *float32, stride, n uintptr)
}

func vectorSets() []Set {
	avx512 := &vector{
		name: "avx512", codeBytes: 1,
		floatProducts: floatProductsAVX512, floatColumns: 32, byteProducts: byteProductsAVX512,
		quantize: quantizeAVX512, geluQuantize: geluQuantizeAVX512, softmax: softmaxAVX512, addNorm: addNormAVX512,
		embed: embedAVX512, sumRows: sumRowsAVX512, transpose8: transpose8AVX512,
	}
	avx2 := &vector{
		name: "avx2", codeBytes: 2,
		floatProducts: floatProductsAVX2, floatColumns: 16, byteProducts: byteProductsAVX2,
		quantize: quantizeAVX2, geluQuantize: geluQuantizeAVX2, softmax: softmaxAVX2, addNorm: addNormAVX2,
		embed: embedAVX2, sumRows: sumRowsAVX2, transpose8: transpose8AVX2,
	}
	avxvnni := new(*avx2)
	avxvnni.name, avxvnni.codeBytes = "avxvnni", 1
	avxvnni.byteProducts, avxvnni.quantize, avxvnni.geluQuantize = byteProductsAVXVNNI, quantizeAVXVNNI, geluQuantizeAVXVNNI

	x := &cpu.X86
	hasAVX2 := x.HasAVX2 && x.HasFMA
	hasAVX512 := hasAVX2 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI
	var sets []Set
	if hasAVX512 {
		sets = append(sets, avx512)
	}
	if hasAVX2 && x.HasAVXVNNI {
		sets = append(sets, avxvnni)
	}
	if hasAVX2 {
		sets = append(sets, avx2)
	}
	return sets
}

func (v *vector) Name() string   { return v.name }
func (v *vector) CodeBytes() int { return v.codeBytes }

func (v *vector) Quantize(codes []byte, scales []RowScale, x []float32, rows, n int) {
	v.quantizeWith(v.quantize, codes, scales, x, rows, n)
}

func (v *vector) GeluQuantize(codes []byte, scales []RowScale, x []float32, rows, n int) {
	v.quantizeWith(v.geluQuantize, codes, scales, x, rows, n)
}

func (v *vector) quantizeWith(f quantizer, codes []byte, scales []RowScale, x []float32, rows, n int) {
	if rows == 0 {
		return
	}
	require(n > 0 && n%Width == 0 && len(codes) >= rows*n*v.codeBytes && len(scales) >= rows && len(x) >= rows*n)
	f(&codes[0], &scales[0].Scale, &x[0], uintptr(4*n), uintptr(rows))
}

func (v *vector) MultiplyCodes(out []float32, stride int, codes []byte, scales []RowScale, rows int, m *Matrix, p int) {
	if rows == 0 {
		return
	}
	weights, params := m.panel(p)
	row := m.K * v.codeBytes
	require(m.K > 0 && m.K%Width == 0 && fits(out, rows, stride, Width) && len(codes) >= rows*row && len(scales) >= rows)
	for r, block := range blocks(rows, len(v.byteProducts)) {
		v.byteProducts[block-1](&codes[r*row], uintptr(row), &weights[0], uintptr(m.K),
			&out[r*stride], uintptr(4*stride), &params[0], &scales[r].Scale)
	}
}

func (v *vector) MultiplyFloats(out []float32, stride int, a []float32, aStride int, b []float32, bStride, k, rows int, init, factors []float32) {
	if rows == 0 {
		return
	}
	require(k > 0 && fits(out, rows, stride, Width) && fits(a, rows, aStride, k) && fits(b, k, bStride, Width) &&
		(init == nil || len(init) >= Width) && (factors == nil || len(factors) >= rows))
	for column := 0; column < Width; column += v.floatColumns {
		var start, factor *float32
		if init != nil {
			start = &init[column]
		}
		for r, block := range blocks(rows, len(v.floatProducts)) {
			if factors != nil {
				factor = &factors[r]
			}
			v.floatProducts[block-1](&a[r*aStride], uintptr(4*aStride), &b[column], uintptr(4*bStride), uintptr(k),
				&out[r*stride+column], uintptr(4*stride), start, factor)
		}
	}
}

func (v *vector) Softmax(x []float32, n, rows int, inverse []float32) {
	if rows == 0 {
		return
	}
	require(n > 0 && n%Width == 0 && len(x) >= rows*n && len(inverse) >= rows)
	v.softmax(&x[0], uintptr(4*n), uintptr(rows), &inverse[0])
}

func (v *vector) AddNorm(out, x, y []float32, norm *Norm, rows, n int) {
	if rows == 0 {
		return
	}
	stride := n
	if len(y) == n {
		stride = 0
	}
	require(n > 0 && n%Width == 0 && len(out) >= rows*n && len(x) >= rows*n && fits(y, rows, stride, n) &&
		len(norm.Gamma) == n && len(norm.Beta) == n)
	v.addNorm(&out[0], &x[0], &y[0], uintptr(4*stride), &norm.Gamma[0], &norm.Beta[0], uintptr(4*n), uintptr(rows), &norm.constants[0])
}

func (v *vector) Embed(out []float32, codes []int8, scale *float32, add []float32) {
	n := len(out)
	require(n > 0 && n%Width == 0 && len(codes) >= n && len(add) >= n)
	v.embed(&out[0], &codes[0], scale, &add[0], uintptr(n))
}

func (v *vector) SumRows(out, x []float32, rows, n int) {
	require(rows > 0 && n > 0 && n%Width == 0 && len(out) >= n && len(x) >= rows*n)
	v.sumRows(&out[0], &x[0], uintptr(4*n), uintptr(rows), uintptr(4*n))
}

func (v *vector) TransposePanel(out, x []float32, n int) {
	require(n > 0 && n%Width == 0 && len(out) >= n*Width && len(x) >= n*Width)
	for r := 0; r < Width; r += 8 {
		v.transpose8(&out[r], 4*Width, &x[r*n], uintptr(4*n), uintptr(n))
	}
}

// require guards memory: assembly checks no bounds.
func require(ok bool) {
	if !ok {
		panic("kernel: shape out of bounds")
	}
}

// fits reports whether s holds rows rows of n, stride apart.
func fits(s []float32, rows, stride, n int) bool {
	return rows > 0 && stride >= 0 && len(s) >= (rows-1)*stride+n
}

// blocks yields the starts and sizes of blocks of at most most rows, as equal as can be: 13
// rows are 7 and 6, never 12 and 1, since a block costs nearly the same whatever its size.
func blocks(rows, most int) func(func(start, size int) bool) {
	return func(yield func(start, size int) bool) {
		count := (rows + most - 1) / most
		for start := 0; count > 0; count-- {
			size := (rows - start + count - 1) / count
			if !yield(start, size) {
				return
			}
			start += size
		}
	}
}
