package adapt

import (
	"math"
	"runtime"
	"sync"
)

// trainer holds a map being learnt and the working memory of one step.
type trainer struct {
	dim, batch int
	o          Options
	m          Map
	n          int // steps taken
	matrix     adam
	bias       adam

	q, d         []float32 // batch x dim
	y, gy        []float32 // mapped queries of unit length, and the gradient there
	length       []float32 // of the mapped queries before
	s, g         []float32 // batch x batch: similarities, and the gradient there
	gradM, gradB []float32
	dT, qT       []float32 // transposed
}

func newTrainer(dim, batch int, o Options) *trainer {
	floats := func(n int) []float32 { return make([]float32, n) }
	return &trainer{
		dim: dim, batch: batch, o: o, m: Identity(dim), matrix: newAdam(dim * dim), bias: newAdam(dim),
		q: floats(batch * dim), d: floats(batch * dim), y: floats(batch * dim), gy: floats(batch * dim), length: floats(batch),
		s: floats(batch * batch), g: floats(batch * batch), gradM: floats(dim * dim), gradB: floats(dim), dT: floats(batch * dim), qT: floats(batch * dim),
	}
}

// step takes one step of Adam down the gradient of the batch.
func (t *trainer) step() {
	t.gradient()
	t.n++
	decay := float32(t.o.Decay)
	for i := range t.gradM {
		same := float32(0)
		if i%(t.dim+1) == 0 {
			same = 1
		}
		t.gradM[i] += decay * (t.m.matrix[i] - same)
	}
	t.matrix.step(t.m.matrix, t.gradM, t.o.Rate, t.n)
	t.bias.step(t.m.bias, t.gradB, t.o.Rate, t.n)
}

// gradient sets gradM and gradB to those of the loss, without the pull to the identity:
//
//	L = (mean over i of -log softmax_j(y_i d_j / T)_i  +  the same over columns) / 2
//
// with y_i the mapped query i of unit length.
func (t *trainer) gradient() {
	t.forward()
	t.softmaxes()
	// gy = G d
	multiply(t.gy, t.g, t.d, t.batch, t.batch, t.dim)
	// Through the division by the length: what points along y does nothing.
	for i := range t.batch {
		y, gy := t.y[i*t.dim:][:t.dim], t.gy[i*t.dim:][:t.dim]
		along := float32(0)
		for k := range y {
			along += gy[k] * y[k]
		}
		for k := range y {
			gy[k] = (gy[k] - along*y[k]) / t.length[i]
		}
	}
	transpose(t.qT, t.q, t.batch, t.dim)
	multiply(t.gradM, t.qT, t.gy, t.dim, t.batch, t.dim)
	clear(t.gradB)
	for i := range t.batch {
		for k, x := range t.gy[i*t.dim:][:t.dim] {
			t.gradB[k] += x
		}
	}
}

// forward sets y, length and s.
func (t *trainer) forward() {
	multiply(t.y, t.q, t.m.matrix, t.batch, t.dim, t.dim)
	for i := range t.batch {
		y := t.y[i*t.dim:][:t.dim]
		for k := range y {
			y[k] += t.m.bias[k]
		}
		t.length[i] = normalize(y)
	}
	transpose(t.dT, t.d, t.batch, t.dim)
	multiply(t.s, t.y, t.dT, t.batch, t.dim, t.batch)
}

// softmaxes sets g to the gradient of the loss by the similarities before the division
// by the temperature.
func (t *trainer) softmaxes() {
	b, temperature := t.batch, t.o.Temperature
	clear(t.g)
	scale := 1 / (2 * float64(b) * temperature)
	add := func(at func(i, j int) int) {
		row := make([]float64, b)
		for i := range b {
			top := math.Inf(-1)
			for j := range b {
				row[j] = float64(t.s[at(i, j)]) / temperature
				top = max(top, row[j])
			}
			sum := 0.0
			for j := range b {
				row[j] = math.Exp(row[j] - top)
				sum += row[j]
			}
			for j := range b {
				p := row[j] / sum
				if i == j {
					p--
				}
				t.g[at(i, j)] += float32(p * scale)
			}
		}
	}
	add(func(i, j int) int { return i*b + j })
	add(func(i, j int) int { return j*b + i })
}

// loss is what gradient is the gradient of.
func (t *trainer) loss() float64 {
	t.forward()
	b, total := t.batch, 0.0
	add := func(at func(i, j int) int) {
		for i := range b {
			sum := 0.0
			for j := range b {
				sum += math.Exp(float64(t.s[at(i, j)]-t.s[at(i, i)]) / t.o.Temperature)
			}
			total += math.Log(sum)
		}
	}
	add(func(i, j int) int { return i*b + j })
	add(func(i, j int) int { return j*b + i })
	return total / float64(2*b)
}

// adam is the state of the optimizer for one array.
type adam struct{ mean, square []float32 }

func newAdam(n int) adam { return adam{make([]float32, n), make([]float32, n)} }

func (a adam) step(p, grad []float32, rate float64, n int) {
	const keepMean, keepSquare = 0.9, 0.999
	r := float32(rate / (1 - math.Pow(keepMean, float64(n))))
	c := float32(1 / (1 - math.Pow(keepSquare, float64(n))))
	for i, g := range grad {
		a.mean[i] = keepMean*a.mean[i] + (1-keepMean)*g
		a.square[i] = keepSquare*a.square[i] + (1-keepSquare)*g*g
		p[i] -= r * a.mean[i] / (float32(math.Sqrt(float64(a.square[i]*c))) + 1e-8)
	}
}

// multiply sets c = a b for a of n x k and b of k x m, on all cores, rows apart: the same
// sums in the same order on any number of them.
func multiply(c, a, b []float32, n, k, m int) {
	var work sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for w := range cores {
		work.Go(func() {
			for i := w * n / cores; i < (w+1)*n/cores; i++ {
				multiplyRow(c[i*m:][:m], a[i*k:][:k], b, m)
			}
		})
	}
	work.Wait()
}

// multiplyRow adds up four rows of b at a time: a row of c is read and written less often
// than it is added to.
func multiplyRow(c, a, b []float32, m int) {
	clear(c)
	l := 0
	for ; l+4 <= len(a); l += 4 {
		x0, x1, x2, x3 := a[l], a[l+1], a[l+2], a[l+3]
		b0, b1, b2, b3 := b[l*m:][:len(c)], b[(l+1)*m:][:len(c)], b[(l+2)*m:][:len(c)], b[(l+3)*m:][:len(c)]
		for j := range c {
			c[j] += x0*b0[j] + x1*b1[j] + x2*b2[j] + x3*b3[j]
		}
	}
	for ; l < len(a); l++ {
		x := a[l]
		for j, y := range b[l*m:][:len(c)] {
			c[j] += x * y
		}
	}
}

func transpose(to, from []float32, rows, columns int) {
	for i := range rows {
		for j := range columns {
			to[j*rows+i] = from[i*columns+j]
		}
	}
}
