package vector

import "os"

// stride is what a row is padded to with zeros, so that kernels have no remainders to
// deal with and each row begins on a cache line. The usual dimensions are multiples of it.
const stride = 64

// kernel computes dot products of int8 rows with a query, on one instruction set.
type kernel struct {
	name string
	// dots sets out[i] to the product of the query with row i of n rows, which lie one
	// after the other, each of the query's padded length.
	dots func(q *queryCodes, rows []int8, n int, out []int32)
}

// queryCodes is a quantized query, padded, in the forms that kernels want.
type queryCodes struct {
	bytes []int8
	words []int16 // the same, widened
	bias  int32   // -128 times the sum of them
}

func newQueryCodes(dim int) *queryCodes {
	n := padded(dim)
	return &queryCodes{bytes: make([]int8, n), words: make([]int16, n)}
}

func (q *queryCodes) set(codes []int8) {
	copy(q.bytes, codes)
	q.bias = 0
	for i, c := range codes {
		q.words[i] = int16(c)
		q.bias -= 128 * int32(c)
	}
}

func padded(dim int) int { return (dim + stride - 1) / stride * stride }

// kernels are those this processor can run, the fastest first.
var kernels = append(vectorKernels(), kernel{"go", dotsGo})

// defaultKernel is the fastest, or the one SEXTANT_VECTOR names if it can be run.
var defaultKernel = func() kernel {
	for _, k := range kernels {
		if k.name == os.Getenv("SEXTANT_VECTOR") {
			return k
		}
	}
	return kernels[0]
}()

// dotsGo is the definition of a kernel, and the one for all other processors.
func dotsGo(q *queryCodes, rows []int8, n int, out []int32) {
	for i := range n {
		row := rows[i*len(q.bytes):][:len(q.bytes)]
		var a, b, c, d int32
		for j := 0; j+4 <= len(row) && j+4 <= len(q.bytes); j += 4 {
			r, x := row[j:j+4:j+4], q.bytes[j:j+4:j+4]
			a += int32(r[0]) * int32(x[0])
			b += int32(r[1]) * int32(x[1])
			c += int32(r[2]) * int32(x[2])
			d += int32(r[3]) * int32(x[3])
		}
		out[i] = a + b + c + d
	}
}
