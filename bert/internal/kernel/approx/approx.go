// Package approx holds the polynomials that stand for exp and the normal distribution. The
// kernels in Go and the generator of those in assembly read them from here, so that all
// evaluate the same numbers in the same order.
package approx

// Single precision exp after Cephes (S. Moshier, netlib): x = n·ln 2 + r with n an integer,
// then exp(r) = 1 + r + r²·P(r). ln 2 is split in two parts so that r loses no bits.
const (
	Log2E    = 1.44269504088896341
	MinusLn2 = -0.693359375
	PlusLn2  = 2.12194440e-4
	// ExpLowest is the lowest argument; exp of less would be subnormal.
	ExpLowest = -87
)

// Exp are the coefficients of P, highest power first.
var Exp = [...]float32{1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5}

// GeluBound is where the normal distribution counts as 0 or 1.
const GeluBound = 5

// Gelu are the coefficients, lowest power first, of the polynomial P in
// Φ(c) = 1/2 + c·P(2c²/GeluBound² - 1), |c| <= GeluBound, with Φ the standard normal
// distribution. They are a weighted Chebyshev least-squares fit, weights raised where the
// error was largest until x·Φ(x) was off by at most 1.2e-6 anywhere in single precision.
// No division and no exponential: about a third of the work of the usual formulas for erf.
var Gelu = [...]float32{
	0.14136378, -0.07029659, 0.05152155, -0.04043489, 0.031425685, -0.023320768, 0.016493171,
	-0.01102454, 0.006193146, -0.002845965, 0.0019542284, -0.0015476381, 0.00051879045,
}
