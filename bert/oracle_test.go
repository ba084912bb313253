package bert_test

import (
	"math"
	"math/rand/v2"
	"strings"
)

func cosine[A, B float32 | float64](a []A, b []B) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func randomText(rng *rand.Rand, letters int) string {
	var b strings.Builder
	for range letters {
		b.WriteByte(byte('a' + rng.IntN(26)))
		if rng.IntN(5) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
