package compute

import "math"

// wilson returns the 95 % score interval of k of n (Wilson 1927), as shares.
func wilson(k, n int64) (low, high float64) {
	const z = 1.959963984540054
	p, size := float64(k)/float64(n), float64(n)
	centre := (p + z*z/(2*size)) / (1 + z*z/size)
	half := z / (1 + z*z/size) * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	return max(0, centre-half), min(1, centre+half)
}
