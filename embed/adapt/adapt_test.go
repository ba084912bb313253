package adapt

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func randomUnit(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	normalize(v)
	return v
}

// world is documents, and queries that are they turned by one rotation: what the map has
// to undo.
func world(n, dim int) (queries, documents [][]float32) {
	r := rand.New(rand.NewPCG(7, 7))
	for range n {
		d := randomUnit(r, dim)
		q := make([]float32, dim)
		for i := 0; i+1 < dim; i += 2 { // by 80 degrees in every second plane
			c, s := float32(math.Cos(1.4)), float32(math.Sin(1.4))
			q[i], q[i+1] = c*d[i]-s*d[i+1], s*d[i]+c*d[i+1]
		}
		queries, documents = append(queries, q), append(documents, d)
	}
	return queries, documents
}

// share is how often a mapped query is nearer to its own document than to all others.
func share(m Map, queries, documents [][]float32) float64 {
	hits := 0
	for i, q := range queries {
		y, best, at := m.Apply(q), float32(-2), 0
		for j, d := range documents {
			dot := float32(0)
			for k := range d {
				dot += y[k] * d[k]
			}
			if dot > best {
				best, at = dot, j
			}
		}
		if at == i {
			hits++
		}
	}
	return float64(hits) / float64(len(queries))
}

func TestLearnUndoesARotation(t *testing.T) {
	queries, documents := world(600, 16)
	m, err := Learn(t.Context(), queries[:400], documents[:400], Options{Epochs: 30, Batch: 64, Rate: 1e-2})
	if err != nil {
		t.Fatal(err)
	}
	before, after := share(Identity(16), queries[400:], documents[400:]), share(m, queries[400:], documents[400:])
	if before > 0.3 || after < 0.9 {
		t.Errorf("of queries never seen, %.2f found their document before and %.2f after", before, after)
	}
	again, err := Learn(t.Context(), queries[:400], documents[:400], Options{Epochs: 30, Batch: 64, Rate: 1e-2})
	if err != nil || again.matrix[5] != m.matrix[5] {
		t.Errorf("the same pairs gave another map, %v", err)
	}
}

// The gradient is that of the loss, by differences.
func TestGradientIsThatOfTheLoss(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	tr := newTrainer(5, 6, Options{Temperature: 0.3}.withDefaults())
	for i := range 6 {
		copy(tr.q[i*5:], randomUnit(r, 5))
		copy(tr.d[i*5:], randomUnit(r, 5))
	}
	for i := range tr.m.matrix {
		tr.m.matrix[i] += float32(r.NormFloat64()) / 10
	}
	tr.gradient()
	for _, p := range []struct {
		name         string
		values, grad []float32
	}{{"matrix", tr.m.matrix, tr.gradM}, {"bias", tr.m.bias, tr.gradB}} {
		for i := range p.values {
			const h = 1e-2
			was := p.values[i]
			p.values[i] = was + h
			up := tr.loss()
			p.values[i] = was - h
			down := tr.loss()
			p.values[i] = was
			if want := (up - down) / (2 * h); math.Abs(want-float64(p.grad[i])) > 2e-3 {
				t.Errorf("%s %d: gradient %g, differences say %g", p.name, i, p.grad[i], want)
			}
		}
	}
}

func TestTowardEndsAtBothEnds(t *testing.T) {
	queries, documents := world(64, 8)
	m, err := Learn(t.Context(), queries, documents, Options{Epochs: 3})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range m.Toward(1).Apply(queries[0]) {
		if math.Abs(float64(x-m.Apply(queries[0])[i])) > 1e-6 || math.Abs(float64(m.Toward(0).Apply(queries[0])[i]-queries[0][i])) > 1e-6 {
			t.Fatalf("component %d", i)
		}
	}
}

func TestMapsAreStored(t *testing.T) {
	queries, documents := world(32, 8)
	m, err := Learn(t.Context(), queries, documents, Options{Epochs: 1})
	if err != nil {
		t.Fatal(err)
	}
	data, err := m.MarshalBinary()
	var got Map
	if err != nil || got.UnmarshalBinary(data) != nil || got.Apply(queries[3])[2] != m.Apply(queries[3])[2] {
		t.Error("a map does not come back as it was")
	}
	for _, bad := range [][]byte{nil, data[:9], append(data, 0), {0, 0, 0, 0}} {
		if err := got.UnmarshalBinary(bad); !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
}

func TestLearnRefuses(t *testing.T) {
	queries, documents := world(Least-1, 4)
	if _, err := Learn(t.Context(), queries, documents, Options{}); !errors.Is(err, ErrFew) {
		t.Errorf("few pairs: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	queries, documents = world(64, 4)
	if _, err := Learn(ctx, queries, documents, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func FuzzMap(f *testing.F) {
	data, _ := Identity(2).MarshalBinary()
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		var m Map
		if m.UnmarshalBinary(data) == nil && len(m.Apply(make([]float32, m.Dim()))) != m.Dim() {
			t.Error("a map of another length")
		}
	})
}
