package main

import "github.com/sextant-rag/sextant/bert/internal/kernel/approx"

func emitElementwise(a *assembler, v vector, suffix string) {
	emitSoftmax(a, v, suffix)
	emitAddNorm(a, v, suffix)
	emitEmbed(a, v, suffix)
	emitSumRows(a, v, suffix)
	emitTranspose(a, suffix)
}

// emitExp writes p = exp(x) for approx.ExpLowest <= x <= 0; n, r and q are overwritten.
func emitExp(a *assembler, v vector, x, n, r, q, p int) {
	const toInteger = 3 << 22 // added, it leaves x·log2(e) rounded in the low bits
	a.op("VMOVUPS %s, %s", a.float(toInteger), v.reg(n))
	a.op("VFMADD231PS %s, %s, %s", a.float(approx.Log2E), v.reg(x), v.reg(n))
	a.op("VSUBPS %s, %s, %s", a.float(toInteger), v.reg(n), v.reg(q))
	a.op("VMOVAPS %s, %s", v.reg(x), v.reg(r))
	a.op("VFMADD231PS %s, %s, %s", a.float(approx.MinusLn2), v.reg(q), v.reg(r))
	a.op("VFMADD231PS %s, %s, %s", a.float(approx.PlusLn2), v.reg(q), v.reg(r))
	a.op("VMULPS %s, %s, %s", v.reg(r), v.reg(r), v.reg(q)) // r²
	for i := 0; i < len(approx.Exp); i += 2 {
		term := x
		if i == 0 {
			term = p
		}
		a.op("VMOVUPS %s, %s", a.float(approx.Exp[i]), v.reg(term))
		a.op("VFMADD213PS %s, %s, %s", a.float(approx.Exp[i+1]), v.reg(r), v.reg(term))
		if i > 0 {
			a.op("VFMADD213PS %s, %s, %s", v.reg(x), v.reg(q), v.reg(p))
		}
	}
	a.op("VFMADD213PS %s, %s, %s", v.reg(r), v.reg(q), v.reg(p))
	a.op("VADDPS %s, %s, %s", a.float(1), v.reg(p), v.reg(p))
	// Times 2^n, in the exponent's bits.
	a.op("VPSLLD $23, %s, %s", v.reg(n), v.reg(n))
	a.op("VPADDD %s, %s, %s", v.reg(n), v.reg(p), v.reg(p))
}

// emitSoftmax writes, for each row of s, exp(s - max) in place and the reciprocal of the
// sum; the product with it is left to whoever reads the row. Row length n in bytes.
func emitSoftmax(a *assembler, v vector, suffix string) {
	a.function("softmax"+suffix, []argument{
		{"s", "*float32", "AX"}, {"n", "uintptr", "CX"}, {"rows", "uintptr", "DX"}, {"inverse", "*float32", "DI"},
	})
	const top, x, n, r, q, p, sums, tmp = 0, 4, 5, 6, 7, 8, 9, 4
	a.label("row")
	for i := range v.perRow() {
		a.op("VMOVUPS %d(AX), %s", i*v.bytes(), v.reg(top+i))
	}
	v.loop(a, "max", func(i, disp int) {
		a.op("VMAXPS %d(AX)(SI*1), %s, %s", disp, v.reg(top+i), v.reg(top+i))
	})
	v.reduce(a, "VMAXPS", top, tmp)
	a.op("VBROADCASTSS X%d, %s", top, v.reg(top))
	for i := range v.perRow() {
		v.zero(a, sums+i)
	}
	v.loop(a, "exp", func(i, disp int) {
		a.op("VMOVUPS %d(AX)(SI*1), %s", disp, v.reg(x))
		a.op("VSUBPS %s, %s, %s", v.reg(top), v.reg(x), v.reg(x))
		a.op("VMAXPS %s, %s, %s", a.float(approx.ExpLowest), v.reg(x), v.reg(x))
		emitExp(a, v, x, n, r, q, p)
		a.op("VMOVUPS %s, %d(AX)(SI*1)", v.reg(p), disp)
		a.op("VADDPS %s, %s, %s", v.reg(p), v.reg(sums+i), v.reg(sums+i))
	})
	v.reduce(a, "VADDPS", sums, tmp)
	a.op("VMOVSS %s, X%d", a.float(1), tmp)
	a.op("VDIVSS X%d, X%d, X%d", sums, tmp, tmp)
	a.op("VMOVSS X%d, (DI)", tmp)
	a.op("ADDQ $4, DI")
	a.op("ADDQ CX, AX")
	a.op("DECQ DX")
	a.op("JNZ row")
	a.end()
}

// emitAddNorm writes out = LayerNorm(x + y) by row: gamma·(v - mean)/sqrt(variance + eps) +
// beta. A yStride of 0 adds the same row everywhere. norm points to 1/n and eps.
func emitAddNorm(a *assembler, v vector, suffix string) {
	a.function("addNorm"+suffix, []argument{
		{"out", "*float32", "DI"}, {"x", "*float32", "AX"}, {"y", "*float32", "BX"}, {"yStride", "uintptr", "R9"},
		{"gamma", "*float32", "R10"}, {"beta", "*float32", "R11"}, {"n", "uintptr", "CX"}, {"rows", "uintptr", "DX"}, {"norm", "*float32", "R12"},
	})
	const mean, squares, val, tmp = 0, 4, 8, 9
	a.label("row")
	for i := range v.perRow() {
		v.zero(a, mean+i)
		v.zero(a, squares+i)
	}
	v.loop(a, "add", func(i, disp int) {
		a.op("VMOVUPS %d(AX)(SI*1), %s", disp, v.reg(val))
		a.op("VADDPS %d(BX)(SI*1), %s, %s", disp, v.reg(val), v.reg(val))
		a.op("VADDPS %s, %s, %s", v.reg(val), v.reg(mean+i), v.reg(mean+i))
		a.op("VMOVUPS %s, %d(DI)(SI*1)", v.reg(val), disp)
	})
	v.reduce(a, "VADDPS", mean, tmp)
	a.op("VMULSS (R12), X%d, X%d", mean, mean)
	a.op("VBROADCASTSS X%d, %s", mean, v.reg(mean))
	v.loop(a, "square", func(i, disp int) {
		a.op("VMOVUPS %d(DI)(SI*1), %s", disp, v.reg(val))
		a.op("VSUBPS %s, %s, %s", v.reg(mean), v.reg(val), v.reg(val))
		a.op("VFMADD231PS %s, %s, %s", v.reg(val), v.reg(val), v.reg(squares+i))
	})
	v.reduce(a, "VADDPS", squares, tmp)
	a.op("VMULSS (R12), X%d, X%d", squares, squares)
	a.op("VADDSS 4(R12), X%d, X%d", squares, squares)
	a.op("VSQRTSS X%d, X%d, X%d", squares, squares, squares)
	a.op("VMOVSS %s, X%d", a.float(1), tmp)
	a.op("VDIVSS X%d, X%d, X%d", squares, tmp, squares)
	a.op("VBROADCASTSS X%d, %s", squares, v.reg(squares))
	v.loop(a, "scale", func(i, disp int) {
		a.op("VMOVUPS %d(DI)(SI*1), %s", disp, v.reg(val))
		a.op("VSUBPS %s, %s, %s", v.reg(mean), v.reg(val), v.reg(val))
		a.op("VMULPS %s, %s, %s", v.reg(squares), v.reg(val), v.reg(val))
		a.op("VMOVUPS %d(R10)(SI*1), %s", disp, v.reg(tmp))
		a.op("VFMADD213PS %d(R11)(SI*1), %s, %s", disp, v.reg(tmp), v.reg(val))
		a.op("VMOVUPS %s, %d(DI)(SI*1)", v.reg(val), disp)
	})
	a.op("ADDQ CX, DI")
	a.op("ADDQ CX, AX")
	a.op("ADDQ R9, BX")
	a.op("DECQ DX")
	a.op("JNZ row")
	a.end()
}

// emitEmbed writes out = codes·scale + add for one row of n codes.
func emitEmbed(a *assembler, v vector, suffix string) {
	a.function("embed"+suffix, []argument{
		{"out", "*float32", "DI"}, {"codes", "*int8", "AX"}, {"scale", "*float32", "BX"}, {"add", "*float32", "R9"}, {"n", "uintptr", "CX"},
	})
	a.op("VBROADCASTSS (BX), %s", v.reg(0))
	a.op("XORQ SI, SI")
	a.label("loop")
	a.op("VPMOVSXBD (AX)(SI*1), %s", v.reg(1))
	a.op("VCVTDQ2PS %s, %s", v.reg(1), v.reg(1))
	a.op("VFMADD213PS (R9)(SI*4), %s, %s", v.reg(0), v.reg(1))
	a.op("VMOVUPS %s, (DI)(SI*4)", v.reg(1))
	a.op("ADDQ $%d, SI", v.lanes)
	a.op("CMPQ SI, CX")
	a.op("JLT loop")
	a.end()
}

// emitSumRows writes out = x[0] + x[1] + ... by column, from the first row on; n and
// stride are in bytes.
func emitSumRows(a *assembler, v vector, suffix string) {
	a.function("sumRows"+suffix, []argument{
		{"out", "*float32", "DI"}, {"x", "*float32", "AX"}, {"stride", "uintptr", "BX"}, {"rows", "uintptr", "DX"}, {"n", "uintptr", "CX"},
	})
	a.op("XORQ SI, SI")
	a.label("column")
	v.zero(a, 0)
	a.op("LEAQ (AX)(SI*1), R8")
	a.op("MOVQ DX, R9")
	a.label("row")
	a.op("VADDPS (R8), %s, %s", v.reg(0), v.reg(0))
	a.op("ADDQ BX, R8")
	a.op("DECQ R9")
	a.op("JNZ row")
	a.op("VMOVUPS %s, (DI)(SI*1)", v.reg(0))
	a.op("ADDQ $%d, SI", v.bytes())
	a.op("CMPQ SI, CX")
	a.op("JLT column")
	a.end()
}

// emitTranspose writes out[c][r] = x[r][c] for 8 rows and n columns in blocks of 8 x 8, with
// 256-bit registers in either case; strides are in bytes, n is in columns, a multiple of 8.
func emitTranspose(a *assembler, suffix string) {
	a.function("transpose8"+suffix, []argument{
		{"out", "*float32", "DI"}, {"outStride", "uintptr", "SI"}, {"x", "*float32", "AX"}, {"stride", "uintptr", "BX"}, {"n", "uintptr", "CX"},
	})
	a.label("block")
	a.op("MOVQ AX, R8")
	for r := range 8 {
		a.op("VMOVUPS (R8), Y%d", r)
		a.op("ADDQ BX, R8")
	}
	for i := 0; i < 8; i += 2 { // pairs of rows: a0 b0 a1 b1, a2 b2 a3 b3
		a.op("VUNPCKLPS Y%d, Y%d, Y%d", i+1, i, 8+i)
		a.op("VUNPCKHPS Y%d, Y%d, Y%d", i+1, i, 9+i)
	}
	for half := range 2 { // fours of rows
		for i := range 2 {
			lo, hi := 8+4*half+i, 10+4*half+i
			a.op("VUNPCKLPD Y%d, Y%d, Y%d", hi, lo, 4*half+2*i)
			a.op("VUNPCKHPD Y%d, Y%d, Y%d", hi, lo, 4*half+2*i+1)
		}
	}
	for c := range 4 { // eights of rows
		a.op("VPERM2F128 $0x20, Y%d, Y%d, Y%d", 4+c, c, 8+c)
		a.op("VPERM2F128 $0x31, Y%d, Y%d, Y%d", 4+c, c, 12+c)
	}
	for c := range 8 {
		a.op("VMOVUPS Y%d, (DI)", 8+c)
		a.op("ADDQ SI, DI")
	}
	a.op("ADDQ $32, AX")
	a.op("SUBQ $8, CX")
	a.op("JNZ block")
	a.end()
}

// codeForm is how quantised activations are stored.
type codeForm int

const (
	bytes512 codeForm = iota // unsigned bytes, packed by AVX-512
	bytes256                 // unsigned bytes, packed by AVX2
	words256                 // unsigned bytes in 16-bit words
)

func emitQuantize(a *assembler, v vector, suffix string, form codeForm) {
	emitQuantizeRows(a, v, "quantize"+suffix, form, nil)
	emitQuantizeRows(a, v, "geluQuantize"+suffix, form, func(x int) { emitGelu(a, v, x, [5]int{x + 1, x + 2, x + 3, x + 4, x + 5}) })
}

// emitQuantizeRows writes, for each row of n bytes of floats, its codes, and its scale and
// minus zero point times scale to rowScales. The range always holds 0. apply, if any, changes
// a register first, and x is overwritten with the result.
func emitQuantizeRows(a *assembler, v vector, name string, form codeForm, apply func(x int)) {
	a.function(name, []argument{
		{"codes", "*byte", "DI"}, {"rowScales", "*float32", "BX"}, {"x", "*float32", "AX"}, {"n", "uintptr", "CX"}, {"rows", "uintptr", "DX"},
	})
	const low, high, val, zero = 0, 4, 8, 13
	a.label("row")
	for i := range v.perRow() {
		v.zero(a, low+i)
		v.zero(a, high+i)
	}
	v.loop(a, "range", func(i, disp int) {
		a.op("VMOVUPS %d(AX)(SI*1), %s", disp, v.reg(val))
		if apply != nil {
			apply(val)
			a.op("VMOVUPS %s, %d(AX)(SI*1)", v.reg(val), disp)
		}
		a.op("VMINPS %s, %s, %s", v.reg(val), v.reg(low+i), v.reg(low+i))
		a.op("VMAXPS %s, %s, %s", v.reg(val), v.reg(high+i), v.reg(high+i))
	})
	v.reduce(a, "VMINPS", low, val)
	v.reduce(a, "VMAXPS", high, val)
	emitRowScale(a, low, high, val)
	a.op("VBROADCASTSS X%d, %s", low, v.reg(low))
	a.op("VBROADCASTSS X%d, %s", high, v.reg(high))
	v.zero(a, zero)
	v.loop(a, "code", func(i, disp int) {
		a.op("VMOVUPS %d(AX)(SI*1), %s", disp, v.reg(val))
		a.op("VFMADD213PS %s, %s, %s", v.reg(high), v.reg(low), v.reg(val))
		a.op("VCVTPS2DQ %s, %s", v.reg(val), v.reg(val))
		storeCodes(a, form, val, zero)
	})
	a.op("ADDQ CX, AX")
	a.op("ADDQ $8, BX")
	a.op("DECQ DX")
	a.op("JNZ row")
	a.end()
}

// emitRowScale takes a row's range in X registers low and high, stores scale and -zero·scale,
// and leaves 1/scale in low and the zero point in high; spare and the next are overwritten.
func emitRowScale(a *assembler, low, high, spare int) {
	scale, tmp := spare, spare+1
	a.op("VSUBSS X%d, X%d, X%d", low, high, high) // high - low
	a.op("VMAXSS %s, X%d, X%d", a.float(1e-30), high, high)
	a.op("VMULSS %s, X%d, X%d", a.float(1.0/255), high, scale)
	a.op("VMOVSS %s, X%d", a.float(255), tmp)
	a.op("VDIVSS X%d, X%d, X%d", high, tmp, tmp) // 255/(high - low)
	a.op("VMULSS X%d, X%d, X%d", tmp, low, high)
	a.op("VROUNDSS $0, X%d, X%d, X%d", high, high, high) // -zero point
	a.op("VMULSS X%d, X%d, X%d", scale, high, low)
	a.op("VMOVSS X%d, (BX)", scale)
	a.op("VMOVSS X%d, 4(BX)", low)
	a.op("VMOVAPS X%d, X%d", tmp, low)
	a.op("VXORPS %s, X%d, X%d", a.integer(1<<31), high, high)
}

// storeCodes clamps the integers in register x to 0..255 and stores them. The register after
// x is overwritten.
func storeCodes(a *assembler, form codeForm, x, zero int) {
	upper := x + 1
	switch form {
	case bytes512:
		a.op("VPMAXSD Z%d, Z%d, Z%d", zero, x, x)
		a.op("VPMOVUSDB Z%d, (DI)", x)
		a.op("ADDQ $16, DI")
	case bytes256:
		a.op("VEXTRACTI128 $1, Y%d, X%d", x, upper)
		a.op("VPACKUSDW X%d, X%d, X%d", upper, x, x)
		a.op("VPACKUSWB X%d, X%d, X%d", x, x, x)
		a.op("VMOVQ X%d, (DI)", x)
		a.op("ADDQ $8, DI")
	case words256:
		a.op("VPMINSD %s, Y%d, Y%d", a.integer(255), x, x)
		a.op("VEXTRACTI128 $1, Y%d, X%d", x, upper)
		a.op("VPACKUSDW X%d, X%d, X%d", upper, x, x)
		a.op("VMOVDQU X%d, (DI)", x)
		a.op("ADDQ $16, DI")
	}
}

// emitGelu writes x = x·Φ(x), Φ the normal distribution: see approx.Gelu. Even and odd
// powers are two chains, which halves the wait for each other's result.
func emitGelu(a *assembler, v vector, x int, spare [5]int) {
	xc, t, even, odd, square := spare[0], spare[1], spare[2], spare[3], v.reg(spare[4])
	a.op("VMINPS %s, %s, %s", a.float(approx.GeluBound), v.reg(x), v.reg(xc))
	a.op("VMAXPS %s, %s, %s", a.float(-approx.GeluBound), v.reg(xc), v.reg(xc))
	a.op("VMULPS %s, %s, %s", v.reg(xc), v.reg(xc), v.reg(t))
	a.op("VMOVUPS %s, %s", a.float(2.0/(approx.GeluBound*approx.GeluBound)), v.reg(odd))
	a.op("VFMADD213PS %s, %s, %s", a.float(-1), v.reg(odd), v.reg(t))
	a.op("VMULPS %s, %s, %s", v.reg(t), v.reg(t), square)
	last := len(approx.Gelu) - 1
	for i := last; i >= 0; i-- {
		chain := []int{even, odd}[i%2]
		if i >= last-1 {
			a.op("VMOVUPS %s, %s", a.float(approx.Gelu[i]), v.reg(chain))
			continue
		}
		a.op("VFMADD213PS %s, %s, %s", a.float(approx.Gelu[i]), square, v.reg(chain))
	}
	a.op("VFMADD213PS %s, %s, %s", v.reg(even), v.reg(t), v.reg(odd))
	a.op("VFMADD213PS %s, %s, %s", a.float(0.5), v.reg(xc), v.reg(odd))
	a.op("VMULPS %s, %s, %s", v.reg(odd), v.reg(x), v.reg(x))
}
