package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// forEachVectorSet runs a test for every assembly set of this machine.
func forEachVectorSet(t *testing.T, f func(t *testing.T, s Set)) {
	sets := Sets()
	if len(sets) == 1 {
		t.Skip("no AVX2: only the generic set runs here")
	}
	for _, s := range sets[:len(sets)-1] {
		t.Run(s.Name(), func(t *testing.T) { f(t, s) })
	}
}

// sameBits fails unless both slices hold the same bits; 0 and -0 differ.
func sameBits(t *testing.T, what string, want, got []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(want[i]) != math.Float32bits(got[i]) {
			t.Fatalf("%s[%d] = %v (%08x), generic has %v (%08x)", what, i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

func random(rng *rand.Rand, n int, scale float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64() * scale)
	}
	return x
}

func clone(x []float32) []float32 { return append([]float32(nil), x...) }

func randomMatrix(rng *rand.Rand, k, n int) *Matrix {
	m := NewMatrix(k, n)
	for i := range m.Codes {
		m.Codes[i] = int8(rng.IntN(255) - 127)
	}
	for j := range n {
		m.SetColumn(j, rng.Float32()*0.01, float32(rng.NormFloat64()))
	}
	return m
}

func TestQuantizedProductSameBits(t *testing.T) {
	forEachVectorSet(t, func(t *testing.T, s Set) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, shape := range [][3]int{{1, 32, 32}, {2, 64, 96}, {5, 96, 32}, {12, 384, 64}, {13, 384, 32}, {31, 1536, 64}, {3, 3072, 32}} {
			rows, k, n := shape[0], shape[1], shape[2]
			for _, gelu := range []bool{false, true} {
				x := random(rng, rows*k, 3)
				clear(x[:k]) // a row without range
				m := randomMatrix(rng, k, n)
				run := func(s Set) (out, y []float32, scales []RowScale) {
					y, scales, out = clone(x), make([]RowScale, rows), make([]float32, rows*n)
					codes := make([]byte, rows*k*s.CodeBytes())
					if gelu {
						s.GeluQuantize(codes, scales, y, rows, k)
					} else {
						s.Quantize(codes, scales, y, rows, k)
					}
					for p := range n / Width {
						s.MultiplyCodes(out[p*Width:], n, codes, scales, rows, m, p)
					}
					return out, y, scales
				}
				wantOut, wantY, wantScales := run(generic{})
				out, y, scales := run(s)
				sameBits(t, fmt.Sprint("gelu ", shape), wantY, y)
				for r := range rows {
					if scales[r] != wantScales[r] {
						t.Fatalf("%v gelu %v: scale of row %d = %v, generic has %v", shape, gelu, r, scales[r], wantScales[r])
					}
				}
				sameBits(t, fmt.Sprint("product ", shape), wantOut, out)
			}
		}
	})
}

func TestExtremeCodesDoNotSaturate(t *testing.T) {
	forEachVectorSet(t, func(t *testing.T, s Set) {
		const k = 1536
		m := NewMatrix(k, Width)
		for i := range m.Codes {
			m.Codes[i] = 127
		}
		for j := range Width {
			m.SetColumn(j, 1, 0)
		}
		x := make([]float32, k)
		for i := range x {
			x[i] = 255
		}
		codes, scales, out := make([]byte, 2*k), make([]RowScale, 1), make([]float32, Width)
		s.Quantize(codes, scales, x, 1, k)
		s.MultiplyCodes(out, Width, codes, scales, 1, m, 0)
		for j, v := range out {
			if v != 255*127*k {
				t.Fatalf("column %d = %v, want %v", j, v, 255*127*k)
			}
		}
	})
}

func TestFloatProductSameBits(t *testing.T) {
	forEachVectorSet(t, func(t *testing.T, s Set) {
		rapid.Check(t, func(rt *rapid.T) {
			rows, k := rapid.IntRange(1, 30).Draw(rt, "rows"), rapid.IntRange(1, 70).Draw(rt, "k")
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
			const bStride = 40
			a, b := random(rng, rows*k, 1), random(rng, k*bStride, 1)
			var init, factors []float32
			if rapid.Bool().Draw(rt, "init") {
				init = random(rng, Width, 1)
			}
			if rapid.Bool().Draw(rt, "factors") {
				factors = random(rng, rows, 1)
			}
			want, got := make([]float32, rows*Width), make([]float32, rows*Width)
			generic{}.MultiplyFloats(want, Width, a, k, b, bStride, k, rows, init, factors)
			s.MultiplyFloats(got, Width, a, k, b, bStride, k, rows, init, factors)
			sameBits(t, "product", want, got)
		})
	})
}

func TestRowFunctionsSameBits(t *testing.T) {
	forEachVectorSet(t, func(t *testing.T, s Set) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, shape := range [][2]int{{1, 32}, {3, 64}, {7, 384}, {24, 256}} {
			rows, n := shape[0], shape[1]
			t.Run(fmt.Sprint(rows, "x", n), func(t *testing.T) {
				x, y := random(rng, rows*n, 20), random(rng, rows*n, 2)
				x[1] = -1e30 // a masked score

				wantX, gotX, want, got := clone(x), clone(x), make([]float32, rows), make([]float32, rows)
				generic{}.Softmax(wantX, n, rows, want)
				s.Softmax(gotX, n, rows, got)
				sameBits(t, "softmax", wantX, gotX)
				sameBits(t, "softmax sum", want, got)

				norm := NewNorm(random(rng, n, 1), random(rng, n, 1), 1e-12)
				x[1] = 0
				for _, add := range [][]float32{y, y[:n]} {
					want, got := make([]float32, rows*n), make([]float32, rows*n)
					generic{}.AddNorm(want, x, add, &norm, rows, n)
					s.AddNorm(got, x, add, &norm, rows, n)
					sameBits(t, "norm", want, got)
				}

				want, got = make([]float32, n), make([]float32, n)
				generic{}.SumRows(want, x, rows, n)
				s.SumRows(got, x, rows, n)
				sameBits(t, "sum", want, got)

				codes, scale := randomMatrix(rng, 32, n).Codes, float32(0.01)
				generic{}.Embed(want, codes, &scale, y)
				s.Embed(got, codes, &scale, y)
				sameBits(t, "embed", want, got)

				square := random(rng, Width*n, 1)
				want, got = make([]float32, Width*n), make([]float32, Width*n)
				generic{}.TransposePanel(want, square, n)
				s.TransposePanel(got, square, n)
				sameBits(t, "transpose", want, got)
			})
		}
	})
}

// The machine's fused multiply-add rounds once; so must its emulation.
func TestFMARoundsOnce(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, x, y, z float32) {
		exact := new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
		want, _ := exact.Add(exact, big.NewFloat(float64(z))).Float32()
		if got := fma(x, y, z); got != want {
			t.Fatalf("fma(%x, %x, %x) = %x, want %x", x, y, z, got, want)
		}
	}
	// A product just above half a step of z: rounding twice would lose it.
	check(t, 1+0x1p-23, 0x1p-24+0x1p-47, 1)
	check(t, -1-0x1p-23, 0x1p-24+0x1p-47, 1+0x1p-23)
	check(t, 0x1.8p-70, 0x1.000002p-79, 0x1p-149)
	finite := rapid.Custom(func(t *rapid.T) float32 {
		e := rapid.IntRange(-70, 40).Draw(t, "exponent")
		m := rapid.Uint32Range(0, 1<<23-1).Draw(t, "mantissa")
		if rapid.Bool().Draw(t, "sparse") {
			m &= m << 5 & m << 9
		}
		return float32(math.Ldexp(float64(m|1<<23), e-23)) * float32(1-2*rapid.IntRange(0, 1).Draw(t, "sign"))
	})
	rapid.Check(t, func(t *rapid.T) {
		check(t, finite.Draw(t, "x"), finite.Draw(t, "y"), finite.Draw(t, "z"))
	})
}

func TestApproximations(t *testing.T) {
	worstExp, worstGelu := 0.0, 0.0
	for x := -87.0; x <= 0; x += 0.0007 {
		worstExp = max(worstExp, math.Abs(float64(exp(float32(x)))/math.Exp(float64(float32(x)))-1))
	}
	for x := -8.0; x <= 8; x += 0.00013 {
		want := x * 0.5 * (1 + math.Erf(x/math.Sqrt2))
		worstGelu = max(worstGelu, math.Abs(float64(gelu(float32(x)))-want))
	}
	if worstExp > 2e-7 {
		t.Errorf("exp is off by a relative %.2g", worstExp)
	}
	if worstGelu > 2.5e-6 { // where |x| > 5 the distribution counts as 0 or 1
		t.Errorf("gelu is off by %.2g", worstGelu)
	}
}

func TestQuantizeRestores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float32Range(-1e6, 1e6), 32, 32).Draw(t, "x")
		codes, scales := make([]byte, 32), make([]RowScale, 1)
		generic{}.Quantize(codes, scales, x, 1, 32)
		for i, v := range x {
			got := float64(scales[0].Scale)*float64(codes[i]) + float64(scales[0].Zero)
			if math.Abs(got-float64(v)) > 0.51*float64(scales[0].Scale)+1e-6*math.Abs(float64(v)) {
				t.Fatalf("%v became %v at step %v", v, got, scales[0].Scale)
			}
		}
	})
}

func TestShortSlicesPanic(t *testing.T) {
	for _, s := range Sets() {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", s.Name())
				}
			}()
			s.Softmax(make([]float32, 63), 32, 2, make([]float32, 2))
		}()
	}
}

func TestGeneratedFilesAreCurrent(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "./gen", dir).CombinedOutput(); err != nil {
		t.Fatalf("go run ./gen: %v\n%s", err, out)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatal("nothing generated", err)
	}
	for _, f := range files {
		want, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(f.Name()); !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate", f.Name())
		}
	}
}

func BenchmarkMultiplyCodes(b *testing.B) {
	for _, s := range Sets() {
		for _, shape := range [][3]int{{256, 384, 1536}, {256, 1536, 384}, {12, 384, 1536}} {
			b.Run(fmt.Sprintf("%s/%dx%dx%d", s.Name(), shape[0], shape[1], shape[2]), func(b *testing.B) {
				rows, k, n := shape[0], shape[1], shape[2]
				m := randomMatrix(rand.New(rand.NewPCG(1, 1)), k, n)
				codes, scales, out := make([]byte, rows*k*s.CodeBytes()), make([]RowScale, rows), make([]float32, rows*n)
				for b.Loop() {
					for p := range n / Width {
						s.MultiplyCodes(out[p*Width:], n, codes, scales, rows, m, p)
					}
				}
				b.ReportMetric(2*float64(rows*k*n*b.N)/b.Elapsed().Seconds()/1e9, "GOP/s")
			})
		}
	}
}

func BenchmarkRowFunctions(b *testing.B) {
	for _, s := range Sets() {
		const rows, n = 64, 256
		x := random(rand.New(rand.NewPCG(1, 1)), rows*n, 1)
		y, codes, scales, inverse := clone(x), make([]byte, 2*rows*n), make([]RowScale, rows), make([]float32, rows)
		norm := NewNorm(x[:n], x[:n], 1e-12)
		for name, f := range map[string]func(){
			"softmax":      func() { s.Softmax(y, n, rows, inverse) },
			"geluQuantize": func() { s.GeluQuantize(codes, scales, y, rows, n) },
			"quantize":     func() { s.Quantize(codes, scales, y, rows, n) },
			"addNorm":      func() { s.AddNorm(y, x, x, &norm, rows, n) },
		} {
			b.Run(s.Name()+"/"+name, func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows*n), "ns/element")
			})
		}
	}
}
