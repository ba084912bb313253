// Command gen writes the assembly of package kernel: run go generate in bert/internal/kernel.
//
// Every kernel is described once, over a vector type that is either 512 or 256 bits wide,
// and written out for each instruction set. That keeps the order of floating point
// operations the same in all of them, which the package promises.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"log"
	"os"
	"path/filepath"
)

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := write(dir); err != nil {
		log.Fatal("gen: ", err)
	}
}

func write(dir string) error {
	var stubs bytes.Buffer
	fmt.Fprint(&stubs, generated, "package kernel\n")
	for _, f := range []struct {
		name string
		emit func(*assembler)
	}{
		{"avx512_amd64.s", emitAVX512},
		{"avx2_amd64.s", emitAVX2},
		{"avxvnni_amd64.s", emitAVXVNNI},
	} {
		a := newAssembler()
		f.emit(a)
		if err := os.WriteFile(filepath.Join(dir, f.name), a.text(), 0o666); err != nil {
			return err
		}
		stubs.Write(a.stubs.Bytes())
	}
	src, err := format.Source(stubs.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "stubs_amd64.go"), src, 0o666)
}

// emitRows writes the variants of a kernel for 1 to most rows, and the Go table of them.
func emitRows(a *assembler, name, suffix, typ string, most int, emit func(rows int)) {
	fmt.Fprintf(&a.stubs, "\n// %ss%s[r-1] is for r rows.\nvar %ss%s = []%s{", name, suffix, name, suffix, typ)
	for rows := 1; rows <= most; rows++ {
		fmt.Fprintf(&a.stubs, "%s%d%s,", name, rows, suffix)
	}
	fmt.Fprintln(&a.stubs, "}")
	for rows := 1; rows <= most; rows++ {
		emit(rows)
	}
}

// emitAVX512 writes the kernels that need AVX-512 F, BW, DQ, VL and VNNI.
func emitAVX512(a *assembler) {
	emitRows(a, "floatProduct", "AVX512", "floatProduct", 12, func(rows int) { emitFloatProduct(a, zmm, "AVX512", rows) })
	emitRows(a, "byteProduct", "AVX512", "byteProduct", 12, func(rows int) { emitByteProduct512(a, rows) })
	emitElementwise(a, zmm, "AVX512")
	emitQuantize(a, zmm, "AVX512", bytes512)
}

// emitAVX2 writes the kernels that need AVX2 and FMA.
func emitAVX2(a *assembler) {
	emitRows(a, "floatProduct", "AVX2", "floatProduct", 6, func(rows int) { emitFloatProduct(a, ymm, "AVX2", rows) })
	emitRows(a, "byteProduct", "AVX2", "byteProduct", 6, func(rows int) { emitByteProduct256(a, rows) })
	emitElementwise(a, ymm, "AVX2")
	emitQuantize(a, ymm, "AVX2", words256)
}

// emitAVXVNNI writes what differs from AVX2 where the CPU has 256-bit byte products.
func emitAVXVNNI(a *assembler) {
	emitRows(a, "byteProduct", "AVXVNNI", "byteProduct", 6, func(rows int) { emitByteProductVNNI(a, rows) })
	emitQuantize(a, ymm, "AVXVNNI", bytes256)
}
