package vector

import "golang.org/x/sys/cpu"

func vectorKernels() []kernel {
	var out []kernel
	x := &cpu.X86
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VNNI {
		out = append(out, kernel{"vnni", func(q *queryCodes, rows []int8, n int, out []int32) {
			if n > 0 {
				_, _ = rows[n*len(q.bytes)-1], out[n-1]
				dotsVNNI(&q.bytes[0], &rows[0], n, len(q.bytes), q.bias, &out[0])
			}
		}})
	}
	if x.HasAVX2 {
		out = append(out, kernel{"avx2", func(q *queryCodes, rows []int8, n int, out []int32) {
			if n > 0 {
				_, _ = rows[n*len(q.bytes)-1], out[n-1]
				dotsAVX2(&q.words[0], &rows[0], n, len(q.bytes), &out[0])
			}
		}})
	}
	return out
}

// dotsVNNI and dotsAVX2 are in assembly. n is at least 1 and dim a multiple of 64.

//go:noescape
func dotsVNNI(q, rows *int8, n, dim int, bias int32, out *int32)

//go:noescape
func dotsAVX2(q *int16, rows *int8, n, dim int, out *int32)
