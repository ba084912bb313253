// Package kernel holds the inner loops of the encoder: products of matrices, in floats and
// in 8-bit codes, and the row-wise functions between them.
//
// There is one implementation in plain Go and one for each instruction set of amd64. All
// give the same bits. That takes care: a float product is one chain of fused multiply-adds
// over ascending k for each element; a sum over a row has 32 partial sums, one for each
// residue of the column, combined 16 apart, then 8, 4, 2 and 1; exp and the normal
// distribution are the polynomials of package approx; products of codes are sums of
// integers.
//
// Matrices are row-major slices with a stride in elements. Row lengths are multiples of 32,
// [Width], except where said.
package kernel

//go:generate go run ./gen

// Width is the number of columns of a panel, the unit in which right sides of products are
// stored.
const Width = 32

// A Set is the kernels of one instruction set. Sets are stateless and safe for concurrent
// use. Slices that are too short for the stated shape panic.
type Set interface {
	// Name is what the instruction set is called: avx512, avxvnni, avx2 or generic.
	Name() string

	// CodeBytes is the size of one activation code in this set's layout.
	CodeBytes() int

	// Quantize codes each of rows rows of n floats in 8 bits: x ≈ Scale·(code - zero) with
	// the row's range, widened to hold 0, spread over 0..255. codes has rows·n codes.
	Quantize(codes []byte, scales []RowScale, x []float32, rows, n int)

	// GeluQuantize is Quantize of x·Φ(x), which replaces x.
	GeluQuantize(codes []byte, scales []RowScale, x []float32, rows, n int)

	// MultiplyCodes writes panel p of codes·m + bias: rows rows of Width floats, stride
	// floats apart. scales are those of the codes.
	MultiplyCodes(out []float32, stride int, codes []byte, scales []RowScale, rows int, m *Matrix, p int)

	// MultiplyFloats writes rows rows of Width floats: init + a·b, times the row's factor.
	// a has k columns. b has k rows of Width floats. init is one row, or nil for zero;
	// factors holds one factor a row, or is nil for one.
	MultiplyFloats(out []float32, stride int, a []float32, aStride int, b []float32, bStride, k, rows int, init, factors []float32)

	// Softmax replaces each of rows rows of n floats by exp(x - max) and writes the
	// reciprocal of the row's sum to inverse.
	Softmax(x []float32, n, rows int, inverse []float32)

	// AddNorm writes LayerNorm(x + y), row by row of n floats; out may be x or y. y is as
	// large as x, or one row that is added to all.
	AddNorm(out, x, y []float32, norm *Norm, rows, n int)

	// Embed writes out = codes·scale + add, each len(out) long. scale is a pointer so that
	// passing it to assembly takes no room.
	Embed(out []float32, codes []int8, scale *float32, add []float32)

	// SumRows writes the sum of rows rows of n floats to out.
	SumRows(out, x []float32, rows, n int)

	// TransposePanel writes out[c·Width + r] = x[r·n + c] for Width rows of n floats.
	TransposePanel(out, x []float32, n int)
}

// A RowScale turns sums of a row's codes into floats.
type RowScale struct {
	Scale float32 // of one code step
	Zero  float32 // minus the code of 0, times Scale
}

// A Norm is the parameters of a layer normalisation: gamma·(v - mean)/sqrt(variance + eps) +
// beta.
type Norm struct {
	Gamma, Beta []float32
	constants   [2]float32 // 1/n and eps
}

// NewNorm returns a Norm for rows of len(gamma) floats.
func NewNorm(gamma, beta []float32, eps float32) Norm {
	return Norm{Gamma: gamma, Beta: beta, constants: [2]float32{1 / float32(len(gamma)), eps}}
}

// A Matrix is the weights of a linear layer with K inputs and N outputs, quantised
// symmetrically by output: w ≈ scale·code, codes in -127..127. K and N are multiples of
// Width.
type Matrix struct {
	K, N int
	// Codes are N/Width panels of K/4 groups; a group holds, for each of Width columns, its
	// four rows side by side.
	Codes []int8
	// Params are three rows of Width floats for each panel: scales, scales times the sum of
	// the column's codes, biases.
	Params []float32
}

// paramRows is how many rows of Matrix.Params a panel has.
const paramRows = 3

// CodeIndex returns where the code of row k, column n lies in Codes.
func (m *Matrix) CodeIndex(k, n int) int {
	return n/Width*Width*m.K + k/4*4*Width + n%Width*4 + k%4
}

// SetColumn fills the parameters of column n from its scale and bias; its codes must be set.
func (m *Matrix) SetColumn(n int, scale, bias float32) {
	sum := int32(0)
	for k := range m.K {
		sum += int32(m.Codes[m.CodeIndex(k, n)])
	}
	at := n/Width*Width*paramRows + n%Width
	m.Params[at] = scale
	m.Params[at+Width] = float32(float32(sum) * scale)
	m.Params[at+2*Width] = bias
}

// NewMatrix allocates a matrix for SetColumn to fill.
func NewMatrix(k, n int) *Matrix {
	return &Matrix{K: k, N: n, Codes: make([]int8, k*n), Params: make([]float32, n*paramRows)}
}

func (m *Matrix) panel(p int) (codes []int8, params []float32) {
	return m.Codes[p*Width*m.K : (p+1)*Width*m.K], m.Params[p*Width*paramRows : (p+1)*Width*paramRows]
}

// Sets returns the sets that this machine can run, fastest first. The last is in plain Go.
func Sets() []Set { return append(vectorSets(), generic{}) }
