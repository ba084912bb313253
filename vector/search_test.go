package vector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// exactly returns the k best rows by the definition.
func exactly(vectors [][]float32, query []float32, mask []uint64, k int) []Hit {
	var hits []Hit
	for row, v := range vectors {
		if v != nil && (mask == nil || row/64 < len(mask) && mask[row/64]>>(row%64)&1 != 0) {
			hits = append(hits, Hit{uint32(row), Product(query, v)})
		}
	}
	slices.SortFunc(hits, compareHits)
	return hits[:max(0, min(k, len(hits)))]
}

// fetching reads from vectors.
func fetching(vectors [][]float32) Fetch {
	return func(_ context.Context, rows []uint32, into []float32) error {
		dim := len(into) / len(rows)
		for i, row := range rows {
			copy(into[i*dim:], vectors[row])
		}
		return nil
	}
}

func matrixOf(t testing.TB, dim int, vectors [][]float32) *Matrix {
	t.Helper()
	m, err := New(dim)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Append(vectors...); err != nil {
		t.Fatal(err)
	}
	return m
}

// clustered returns n unit vectors around a few centres, components of falling weight:
// what embeddings look like, and harder than noise.
func clustered(rng *rand.Rand, n, dim, centres int) [][]float32 {
	middle := make([][]float64, centres)
	for i := range middle {
		middle[i] = make([]float64, dim)
		for j := range middle[i] {
			middle[i][j] = rng.NormFloat64() * math.Pow(float64(j+1), -0.45)
		}
	}
	out := make([][]float32, n)
	for i := range out {
		v, sum := make([]float64, dim), 0.0
		c := middle[rng.IntN(centres)]
		for j := range v {
			v[j] = c[j] + 0.6*rng.NormFloat64()*math.Pow(float64(j+1), -0.45)
			sum += v[j] * v[j]
		}
		out[i] = make([]float32, dim)
		for j := range v {
			out[i][j] = float32(v[j] / math.Sqrt(sum))
		}
	}
	return out
}

// Whatever is in the matrix, whatever passes, on every kernel: the result is the one of
// the definition.
func TestSearchIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 130).Draw(t, "dim")
		n := rapid.IntRange(0, 600).Draw(t, "rows")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		coarse := rapid.Bool().Draw(t, "ties")
		vectors := make([][]float32, n)
		for i := range vectors {
			if rng.IntN(10) > 0 {
				vectors[i] = draw(rng, dim, coarse)
			}
		}
		query := draw(rng, dim, coarse)
		mask := rapid.SliceOfN(rapid.Uint64(), 0, n/64+2).Draw(t, "mask")
		if rapid.Bool().Draw(t, "no mask") {
			mask = nil
		}
		k := rapid.IntRange(-1, 50).Draw(t, "k")
		want := exactly(vectors, query, mask, k)
		for _, kernel := range kernels {
			m, err := New(dim)
			if err != nil {
				t.Fatal(err)
			}
			m.kernel = kernel
			for part := range slices.Chunk(vectors, 100) {
				if err := m.Append(part...); err != nil {
					t.Fatal(err)
				}
			}
			got, err := m.Search(context.Background(), query, mask, k, fetching(vectors))
			if err != nil {
				t.Fatal(err)
			}
			if len(got)+len(want) > 0 && !slices.Equal(got, want) {
				t.Fatalf("%s: %s", kernel.name, cmp.Diff(want, got))
			}
		}
	})
}

// draw returns a vector that is not zero; a coarse one has many equals.
func draw(rng *rand.Rand, dim int, coarse bool) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
		if coarse {
			v[i] = float32(rng.IntN(3) - 1)
		}
	}
	v[rng.IntN(dim)] = 1
	return v
}

// A long matrix is scanned by all cores, in several slabs, and int8 selects candidates:
// all the true ten best are found, with and without filters, by every kernel the same.
func TestRecallIsOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const dim, n = 96, 3*slabRows + 777
	vectors := clustered(rng, n, dim, 200)
	m := matrixOf(t, dim, vectors)
	for _, share := range []int{1, 2, 30, 1000} {
		mask := make([]uint64, (n+63)/64)
		for row := range n {
			if rng.IntN(share) == 0 {
				mask[row/64] |= 1 << (row % 64)
			}
		}
		for range 10 {
			query := clustered(rng, 1, dim, 1)[0]
			if rng.IntN(2) == 0 {
				query = vectors[rng.IntN(n)]
			}
			want := exactly(vectors, query, mask, 10)
			for _, kernel := range kernels {
				m.kernel, m.pool = kernel, sync.Pool{}
				got, err := m.Search(context.Background(), query, mask, 10, fetching(vectors))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s, 1 in %d: %s", kernel.name, share, diff)
				}
			}
		}
	}
}

// More near copies than there are candidates: the search widens until the best is sure.
func TestNearCopiesAreToldApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	const dim, copies = 64, 300
	base := clustered(rng, 1, dim, 1)[0]
	vectors := clustered(rng, 2000, dim, 50)
	for i := range copies {
		v := slices.Clone(base)
		v[i%dim] += float32(i) * 1e-5
		vectors[i*6] = v
	}
	fetched := 0
	fetch := func(ctx context.Context, rows []uint32, into []float32) error {
		fetched = max(fetched, len(rows))
		return fetching(vectors)(ctx, rows, into)
	}
	m := matrixOf(t, dim, vectors)
	got, err := m.Search(context.Background(), base, nil, 10, fetch)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exactly(vectors, base, nil, 10), got); diff != "" {
		t.Error(diff)
	}
	if fetched <= minCandidates {
		t.Errorf("only %d vectors were fetched for %d copies", fetched, copies)
	}
}

func TestWithoutFetchInt8Decides(t *testing.T) {
	m := matrixOf(t, 2, [][]float32{{1, 0}, {0, 1}, {0.6, 0.8}, nil})
	got, err := m.Search(context.Background(), []float32{0, 2}, nil, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	var rows []uint32
	for _, h := range got {
		rows = append(rows, h.Row)
	}
	if diff := cmp.Diff([]uint32{1, 2, 0}, rows); diff != "" {
		t.Error(diff)
	}
	if s := got[1].Score; math.Abs(float64(s)-1.6) > 0.02 {
		t.Errorf("score %v, want about 1.6", s)
	}
}

func TestBadVectorsAreRefused(t *testing.T) {
	m := matrixOf(t, 3, [][]float32{{1, 2, 3}})
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, c := range []struct {
		v    []float32
		want error
	}{
		{[]float32{1, nan, 0}, ErrNotFinite},
		{[]float32{inf, 0, 0}, ErrNotFinite},
		{[]float32{0, 0, float32(math.Copysign(0, -1))}, ErrZero},
		{[]float32{1, 2}, nil},
		{[]float32{}, nil},
	} {
		_, searchErr := m.Search(context.Background(), c.v, nil, 1, nil)
		for _, err := range []error{Check(c.v, 3), m.Append([]float32{1, 1, 1}, c.v), searchErr} {
			var dimension *DimensionError
			if c.want != nil && !errors.Is(err, c.want) || c.want == nil && !errors.As(err, &dimension) {
				t.Errorf("%v: %v", c.v, err)
			}
		}
	}
	if err := m.Append([]float32{1e-45, 0, 0}); !errors.Is(err, ErrZero) {
		t.Errorf("too small to scale: %v", err)
	}
	if m.Len() != 1 {
		t.Errorf("%d rows after refused batches, want 1", m.Len())
	}
	if err := m.AppendCodes([]int8{1, -128, 0}, 1); err == nil {
		t.Error("code -128 was accepted")
	}
	if err := m.AppendCodes([]int8{1, 2, 3}, nan); !errors.Is(err, ErrNotFinite) {
		t.Errorf("scale NaN: %v", err)
	}
	for _, dim := range []int{0, -1, MaxDimension + 1} {
		if _, err := New(dim); err == nil {
			t.Errorf("a matrix of %d dimensions", dim)
		}
	}
}

// Rows come back as they are kept, and make the same matrix again.
func TestRowsCanBeCarriedOver(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	vectors := clustered(rng, 200, 70, 10)
	vectors[50] = nil
	m := matrixOf(t, 70, vectors)
	copied, err := New(70)
	if err != nil {
		t.Fatal(err)
	}
	for row := range m.Len() {
		codes, scale := m.Row(row)
		if err := copied.AppendCodes(codes, scale); err != nil {
			t.Fatal(err)
		}
		for i, c := range codes {
			if vectors[row] != nil && math.Abs(float64(vectors[row][i]-scale*float32(c))) > float64(scale)*0.5001 {
				t.Fatalf("row %d, component %d: %v became %v", row, i, vectors[row][i], scale*float32(c))
			}
		}
	}
	for _, q := range vectors[:5] {
		a, _ := m.Search(context.Background(), q, nil, 20, nil)
		b, _ := copied.Search(context.Background(), q, nil, 20, nil)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Error(diff)
		}
	}
	if codes, _ := m.Row(200); codes != nil {
		t.Error("a row beyond the end")
	}
}

func TestSearchEndsWithItsContextOrFetch(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	m := matrixOf(t, 8, clustered(rng, 5000, 8, 10))
	query := clustered(rng, 1, 8, 1)[0]
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Search(ctx, query, nil, 10, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := errors.New("disk")
	fetch := func(context.Context, []uint32, []float32) error { return broken }
	if _, err := m.Search(context.Background(), query, nil, 10, fetch); !errors.Is(err, broken) {
		t.Errorf("fetch failed: %v", err)
	}
}

func TestAppendWhileSearching(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	const dim = 16
	vectors := clustered(rng, 9000, dim, 20)
	m := matrixOf(t, dim, nil)
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-done:
					return
				default:
				}
				n := m.Len() / 10 * 10
				mask := make([]uint64, n/64) // rows there are for sure
				for i := range mask {
					mask[i] = ^uint64(0)
				}
				got, err := m.Search(context.Background(), vectors[1], mask, 3, fetching(vectors))
				if err != nil || !slices.Equal(got, exactly(vectors[:len(mask)*64], vectors[1], nil, 3)) {
					t.Errorf("%d rows: %v, %v", n, got, err)
					return
				}
			}
		}()
	}
	for part := range slices.Chunk(vectors, 10) {
		if err := m.Append(part...); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	wg.Wait()
}

func TestScanDoesNotAllocate(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rng := rand.New(rand.NewPCG(12, 12))
	m := matrixOf(t, 64, clustered(rng, 20_000, 64, 10))
	s := m.begin(m.state.Load(), clustered(rng, 1, 64, 1)[0], nil)
	ctx := context.Background()
	n := testing.AllocsPerRun(20, func() {
		if _, err := s.scan(ctx, 40); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations in a scan", n)
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, c := range []struct{ rows, dim int }{{100_000, 384}, {100_000, 768}, {1_000_000, 384}} {
		if c.rows > 100_000 && testing.Short() {
			continue
		}
		m, query, fetch := benchmarkMatrix(b, c.rows, c.dim)
		for _, percent := range []int{100, 60, 10, 1} {
			b.Run(fmt.Sprintf("%dk/%d/%dpercent", c.rows/1000, c.dim, percent), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(13, 13))
				var mask []uint64
				if percent < 100 {
					mask = make([]uint64, (c.rows+63)/64)
					for row := range c.rows {
						if rng.IntN(100) < percent {
							mask[row/64] |= 1 << (row % 64)
						}
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := m.Search(context.Background(), query, mask, 10, fetch); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// benchmarkMatrix is noise, which a scan does not mind, and fetches half floats.
func benchmarkMatrix(b *testing.B, rows, dim int) (*Matrix, []float32, Fetch) {
	b.Helper()
	rng := rand.New(rand.NewPCG(14, 14))
	m, err := New(dim)
	if err != nil {
		b.Fatal(err)
	}
	codes := make([]int8, dim)
	for range rows {
		for i := range codes {
			codes[i] = int8(rng.IntN(255) - 127)
		}
		if err := m.AppendCodes(codes, 1.0/1270); err != nil {
			b.Fatal(err)
		}
	}
	query := clustered(rng, 1, dim, 1)[0]
	stored, err := AppendHalf(nil, query)
	if err != nil {
		b.Fatal(err)
	}
	return m, query, func(_ context.Context, rows []uint32, into []float32) error {
		for i := range rows {
			if err := DecodeHalf(into[i*dim:(i+1)*dim], stored); err != nil {
				return err
			}
			into[i*dim] += float32(i)
		}
		return nil
	}
}
