package main

import "fmt"

// The matrix kernels compute a few rows of one panel of 32 columns. Rows of the left side
// are read element by element and broadcast, rows of the right side are read as vectors;
// the whole block of results stays in registers.

var rowBases = []string{"R8", "R9", "R10", "R11"}

// rowAddress is the operand at byte disp of row r; R12 holds the row stride and each base
// register serves three rows.
func rowAddress(r, disp int) string {
	index := []string{"", "(R12*1)", "(R12*2)"}[r%3]
	return fmt.Sprintf("%d(%s)%s", disp, rowBases[r/3], index)
}

// setRowBases derives the other base registers from R8.
func setRowBases(a *assembler, rows int) {
	for i := 1; i*3 < rows; i++ {
		a.op("LEAQ (%s)(R12*2), %s", rowBases[i-1], rowBases[i])
		a.op("ADDQ R12, %s", rowBases[i])
	}
}

func advanceRows(a *assembler, rows, bytes int) {
	for _, base := range rowBases[:(rows+2)/3] {
		a.op("ADDQ $%d, %s", bytes, base)
	}
}

// emitFloatProduct writes c = init + a·b for rows x 2 vectors, then times scale by row.
// Each element is one chain of fused multiply-adds over ascending k.
func emitFloatProduct(a *assembler, v vector, suffix string, rows int) {
	a.function(fmt.Sprintf("floatProduct%d%s", rows, suffix), []argument{
		{"a", "*float32", "R8"}, {"aStride", "uintptr", "R12"}, {"b", "*float32", "BX"}, {"bStride", "uintptr", "R13"},
		{"k", "uintptr", "CX"}, {"c", "*float32", "DI"}, {"cStride", "uintptr", "SI"}, {"init", "*float32", "DX"}, {"scale", "*float32", "AX"},
	})
	setRowBases(a, rows)
	initFloatProduct(a, v, rows)
	acc := 2 * rows
	right := []int{acc, acc + 1}
	spare := registersFrom(acc+2, v)
	turn := 0
	step := func(k int) {
		for j, r := range right {
			a.op("VMOVUPS %d(BX), %s", j*v.bytes(), v.reg(r))
		}
		for r := range rows {
			x := spare[turn%len(spare)]
			turn++
			a.op("VBROADCASTSS %s, %s", rowAddress(r, 4*k), v.reg(x))
			for j, b := range right {
				a.op("VFMADD231PS %s, %s, %s", v.reg(b), v.reg(x), v.reg(2*r+j))
			}
		}
		a.op("ADDQ R13, BX")
	}
	const unroll = 4
	a.op("SUBQ $%d, CX", unroll)
	a.op("JL tail")
	a.op("PCALIGN $32")
	a.label("loop")
	for k := range unroll {
		step(k)
	}
	advanceRows(a, rows, 4*unroll)
	a.op("SUBQ $%d, CX", unroll)
	a.op("JGE loop")
	a.label("tail")
	a.op("ADDQ $%d, CX", unroll)
	a.op("JZ done")
	a.label("single")
	step(0)
	advanceRows(a, rows, 4)
	a.op("DECQ CX")
	a.op("JNZ single")
	a.label("done")
	storeFloatProduct(a, v, rows)
	a.end()
}

func registersFrom(first int, v vector) (regs []int) {
	for i := first; i < map[string]int{"Z": 32, "Y": 16}[v.prefix]; i++ {
		regs = append(regs, i)
	}
	return regs
}

func initFloatProduct(a *assembler, v vector, rows int) {
	a.op("TESTQ DX, DX")
	a.op("JZ zero")
	for j := range 2 {
		a.op("VMOVUPS %d(DX), %s", j*v.bytes(), v.reg(j))
	}
	for i := 2; i < 2*rows; i++ {
		a.op("VMOVAPS %s, %s", v.reg(i%2), v.reg(i))
	}
	a.op("JMP start")
	a.label("zero")
	for i := range 2 * rows {
		v.zero(a, i)
	}
	a.label("start")
}

func storeFloatProduct(a *assembler, v vector, rows int) {
	spare := v.reg(2 * rows) // held the right side
	a.op("TESTQ AX, AX")
	a.op("JZ store")
	for r := range rows {
		a.op("VBROADCASTSS %d(AX), %s", 4*r, spare)
		for j := range 2 {
			a.op("VMULPS %s, %s, %s", spare, v.reg(2*r+j), v.reg(2*r+j))
		}
	}
	a.label("store")
	for r := range rows {
		for j := range 2 {
			a.op("VMOVUPS %s, %d(DI)", v.reg(2*r+j), j*v.bytes())
		}
		if r < rows-1 {
			a.op("ADDQ SI, DI")
		}
	}
}

// byteProductArguments are shared by the byte products: codes of a, a panel of weights,
// what turns sums into floats by column (params: scale, scale times column sum, bias) and
// by row (rowScales: scale, minus zero point times scale), and the result.
var byteProductArguments = []argument{
	{"a", "*byte", "R8"}, {"aStride", "uintptr", "R12"}, {"b", "*int8", "BX"}, {"k", "uintptr", "CX"},
	{"c", "*float32", "DI"}, {"cStride", "uintptr", "SI"}, {"params", "*float32", "DX"}, {"rowScales", "*float32", "AX"},
}

// emitByteProduct512 writes rows x 32 columns with VPDPBUSD. k is a multiple of 16.
func emitByteProduct512(a *assembler, rows int) {
	a.function(fmt.Sprintf("byteProduct%dAVX512", rows), byteProductArguments)
	setRowBases(a, rows)
	for i := range 2 * rows {
		zmm.zero(a, i)
	}
	turn := 0
	a.op("PCALIGN $32")
	a.label("loop")
	for group := range 4 {
		for j := range 2 {
			a.op("VMOVDQU32 %d(BX), Z%d", group*128+j*64, 24+j)
		}
		for r := range rows {
			x := 26 + turn%6
			turn++
			a.op("VPBROADCASTD %s, Z%d", rowAddress(r, 4*group), x)
			for j := range 2 {
				a.op("VPDPBUSD Z%d, Z%d, Z%d", 24+j, x, 2*r+j)
			}
		}
	}
	a.op("ADDQ $512, BX")
	advanceRows(a, rows, 16)
	a.op("SUBQ $16, CX")
	a.op("JNZ loop")
	for r := range rows {
		broadcastRowScale(a, zmm, r, 24, 25)
		for j := range 2 {
			scaleSums(a, zmm, 2*r+j, j*64, [4]int{24, 25, 26, 27})
			a.op("VMOVUPS Z%d, %d(DI)", 2*r+j, j*64)
		}
		if r < rows-1 {
			a.op("ADDQ SI, DI")
		}
	}
	a.end()
}

func broadcastRowScale(a *assembler, v vector, r, scale, zero int) {
	a.op("VBROADCASTSS %d(AX), %s", 8*r, v.reg(scale))
	a.op("VBROADCASTSS %d(AX), %s", 8*r+4, v.reg(zero))
}

// scaleSums turns the sums in register acc into floats: sum·(rowScale·scale) +
// (rowZero·columnSum + bias). regs are rowScale, rowZero and two that are overwritten.
func scaleSums(a *assembler, v vector, acc, disp int, regs [4]int) {
	a.op("VMULPS %d(DX), %s, %s", disp, v.reg(regs[0]), v.reg(regs[2]))
	a.op("VMOVUPS %d(DX), %s", 256+disp, v.reg(regs[3]))
	a.op("VFMADD231PS %d(DX), %s, %s", 128+disp, v.reg(regs[1]), v.reg(regs[3]))
	a.op("VCVTDQ2PS %s, %s", v.reg(acc), v.reg(acc))
	a.op("VFMADD213PS %s, %s, %s", v.reg(regs[3]), v.reg(regs[2]), v.reg(acc))
}

// emitStrips writes a byte product as a loop over strips of a panel that each fill the
// registers: body computes the sums of one, columns wide, and stores them.
func emitStrips(a *assembler, rows, columns, codeBytes int, body func(), store func()) {
	a.op("MOVQ R8, R13")
	a.op("MOVQ CX, R15")
	a.op("MOVQ $%d, R14", 32/columns)
	a.label("strip")
	a.op("MOVQ R13, R8")
	setRowBases(a, rows)
	a.op("MOVQ R15, CX")
	a.op("MOVQ BX, R10") // rowBases[2] is free: at most six rows
	for i := range 2 * rows {
		ymm.zero(a, i)
	}
	a.op("PCALIGN $32")
	a.label("loop")
	body()
	advanceRows(a, rows, 8*codeBytes)
	a.op("ADDQ $256, R10")
	a.op("SUBQ $8, CX")
	a.op("JNZ loop")
	a.op("MOVQ DI, R11")
	store()
	a.op("ADDQ $%d, BX", 4*columns)
	a.op("ADDQ $%d, DX", 4*columns)
	a.op("ADDQ $%d, DI", 4*columns)
	a.op("DECQ R14")
	a.op("JNZ strip")
	a.end()
}

// emitByteProduct256 writes rows x 32 columns for AVX2, eight columns at a time. VPMADDUBSW
// would saturate (255·127·2 > 32767), so weights are widened and codes are 16-bit words:
// VPMADDWD is exact. k is a multiple of 8.
func emitByteProduct256(a *assembler, rows int) {
	a.function(fmt.Sprintf("byteProduct%dAVX2", rows), byteProductArguments)
	body := func() {
		for group := range 2 {
			a.op("VPMOVSXBW %d(R10), Y12", group*128)
			a.op("VPMOVSXBW %d(R10), Y13", group*128+16)
			for r := range rows {
				a.op("VPBROADCASTQ %s, Y14", rowAddress(r, 8*group))
				for j := range 2 {
					a.op("VPMADDWD Y%d, Y14, Y15", 12+j)
					a.op("VPADDD Y15, Y%d, Y%d", 2*r+j, 2*r+j)
				}
			}
		}
	}
	store := func() {
		for r := range rows {
			// Two sums a column lie side by side, columns 0-3 in one register, 4-7 in the other.
			a.op("VPHADDD Y%d, Y%d, Y%d", 2*r+1, 2*r, 2*r)
			a.op("VPERMQ $0xD8, Y%d, Y%d", 2*r, 2*r)
			broadcastRowScale(a, ymm, r, 12, 13)
			scaleSums(a, ymm, 2*r, 0, [4]int{12, 13, 14, 15})
			a.op("VMOVUPS Y%d, (R11)", 2*r)
			a.op("ADDQ SI, R11")
		}
	}
	emitStrips(a, rows, 8, 2, body, store)
}

// emitByteProductVNNI writes rows x 32 columns for AVX-VNNI, sixteen columns at a time.
func emitByteProductVNNI(a *assembler, rows int) {
	a.function(fmt.Sprintf("byteProduct%dAVXVNNI", rows), byteProductArguments)
	turn := 0
	body := func() {
		for group := range 2 {
			for j := range 2 {
				a.op("VMOVDQU %d(R10), Y%d", group*128+j*32, 12+j)
			}
			for r := range rows {
				x := 14 + turn%2
				turn++
				a.op("VPBROADCASTD %s, Y%d", rowAddress(r, 4*group), x)
				for j := range 2 {
					vexVPDPBUSD(a, 12+j, x, 2*r+j)
				}
			}
		}
	}
	store := func() {
		for r := range rows {
			broadcastRowScale(a, ymm, r, 12, 13)
			for j := range 2 {
				scaleSums(a, ymm, 2*r+j, j*32, [4]int{12, 13, 14, 15})
				a.op("VMOVUPS Y%d, %d(R11)", 2*r+j, j*32)
			}
			a.op("ADDQ SI, R11")
		}
	}
	emitStrips(a, rows, 16, 1, body, store)
}

// vexVPDPBUSD writes VPDPBUSD signed, unsigned, acc in its VEX form, which the Go assembler
// lacks: VEX.256.66.0F38.W0 50 /r (Intel SDM volume 2).
func vexVPDPBUSD(a *assembler, signed, unsigned, acc int) {
	second := 0x02 | (^acc>>3&1)<<7 | 1<<6 | (^signed>>3&1)<<5
	third := (^unsigned&15)<<3 | 1<<2 | 1
	modrm := 3<<6 | (acc&7)<<3 | signed&7
	a.op("BYTE $0xC4; BYTE $0x%02X; BYTE $0x%02X; BYTE $0x50; BYTE $0x%02X // VPDPBUSD Y%d, Y%d, Y%d", second, third, modrm, signed, unsigned, acc)
}
