package vector

import "golang.org/x/sys/cpu"

// vectorKernels has none for processors without the dot product instructions that came
// with ARMv8.2 as an option and are in every server since 2018 and every Apple chip.
func vectorKernels() []kernel {
	if !cpu.ARM64.HasASIMDDP {
		return nil
	}
	return []kernel{{"sdot", func(q *queryCodes, rows []int8, n int, out []int32) {
		if n > 0 {
			_, _ = rows[n*len(q.bytes)-1], out[n-1]
			dotsSDOT(&q.bytes[0], &rows[0], n, len(q.bytes), &out[0])
		}
	}}}
}

// dotsSDOT is in assembly. n is at least 1 and dim a multiple of 64.
//
//go:noescape
func dotsSDOT(q, rows *int8, n, dim int, out *int32)
