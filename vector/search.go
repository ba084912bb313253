package vector

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Hit is a row found. Rows of equal score are in order of their numbers.
type Hit struct {
	Row   uint32
	Score float32 // inner product with the query
}

// Fetch reads stored vectors: that of rows[i] into the i-th dim components of into. It is
// called with the candidates of a search, rising, and must not keep either slice.
type Fetch func(ctx context.Context, rows []uint32, into []float32) error

const (
	// Candidates are fourfold: on 57,301 texts int8 alone found 0.987 of the true ten
	// best, the best 10 of 20 re-scored 0.998, of 40 all.
	oversample    = 4
	minCandidates = 40
	// maxWidening bounds how often the candidates are doubled.
	maxWidening = 4
)

// Search returns the k rows with the largest inner product with the query, exactly as the
// vectors that fetch reads say; without fetch, as the int8 rows say. Row r is looked at if
// bit r%64 of mask[r/64] is set; rows beyond mask are not, and nil lets all pass.
//
// All rows are scored as int8, and the best max(40, 4k) are fetched and scored again, in
// float64. If the k-th of these is so close to the worst int8 score among them that a
// row left out might be better (see margin), twice as many are fetched, and so on up to
// sixteen times. Only a crowd of more rows than that within the margin, such as near
// copies of one text, can hide a better one among its own.
//
// A bad query gives the errors of Check; one of fetch or of ctx is returned as it is.
func (m *Matrix) Search(ctx context.Context, query []float32, mask []uint64, k int, fetch Fetch) ([]Hit, error) {
	if err := Check(query, m.dim); err != nil {
		return nil, fmt.Errorf("vector: search: %w", err)
	}
	st := m.state.Load()
	if k = min(k, st.n); k <= 0 {
		return nil, ctx.Err()
	}
	s := m.begin(st, query, mask)
	defer func() {
		s.st, s.mask = nil, nil
		m.pool.Put(s)
	}()
	if fetch == nil {
		hits, err := s.scan(ctx, k)
		return s.scaled(hits), err
	}
	for widening, keep := 0, max(minCandidates, oversample*k); ; widening, keep = widening+1, 2*keep {
		candidates, err := s.scan(ctx, keep)
		if err != nil {
			return nil, err
		}
		hits, err := s.rescore(ctx, query, candidates, fetch)
		if err != nil {
			return nil, err
		}
		if len(candidates) < keep || widening == maxWidening ||
			float64(hits[k-1].Score) >= float64(candidates[keep-1].Score*s.scale)+s.margin {
			return hits[:min(k, len(hits))], nil
		}
	}
}

// search is the working memory of one search.
type search struct {
	kernel  kernel
	codes   []int8
	query   *queryCodes
	scale   float32 // of the query
	margin  float64
	st      *state
	mask    []uint64
	masked  bool
	next    atomic.Int64 // the next block
	workers []*worker
	running sync.WaitGroup
	merged  []Hit
	rows    []uint32  // fetched
	vectors []float32 // of those
}

func (m *Matrix) begin(st *state, query []float32, mask []uint64) *search {
	s, _ := m.pool.Get().(*search)
	if s == nil {
		s = &search{kernel: m.kernel, codes: make([]int8, m.dim), query: newQueryCodes(m.dim)}
	}
	scale, square, _ := quantize(s.codes, query) // Check found no error
	s.query.set(s.codes)
	s.st, s.mask, s.masked, s.scale = st, mask, mask != nil, scale
	s.margin = margin(st, float64(scale), float64(scale)*math.Sqrt(float64(square)))
	return s
}

// margin is what an int8 score may be below the true one, four standard deviations of it.
// Rounding x and q to steps of a and b puts errors of variance a²/12 and b²/12 on their
// components, so that their product has one of variance (a²|q|² + b²|x|²)/12; of the
// rows the largest step and norm are taken.
func margin(st *state, scale, norm float64) float64 {
	a, x := float64(st.scale), float64(st.norm)
	return 4 * math.Sqrt((a*a*norm*norm+scale*scale*x*x)/12)
}

// blockRows is the piece of work that workers take, and the time between two looks at
// the context: some 50 microseconds.
const blockRows = 1 << 11

// scan returns the best keep rows by int8 score, best first, in units of the query's
// scale. The slice is valid until the next scan.
func (s *search) scan(ctx context.Context, keep int) ([]Hit, error) {
	s.next.Store(0)
	n := min(runtime.GOMAXPROCS(0), 1+s.rowsToScore()/(2*blockRows))
	for len(s.workers) < n {
		s.workers = append(s.workers, &worker{})
	}
	for _, w := range s.workers[1:n] {
		s.running.Go(func() { w.run(ctx, s, keep) })
	}
	s.workers[0].run(ctx, s, keep)
	s.running.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.merged = s.merged[:0]
	for _, w := range s.workers[:n] {
		s.merged = append(s.merged, w.hits...)
	}
	slices.SortFunc(s.merged, compareHits)
	return s.merged[:min(keep, len(s.merged))], nil
}

func compareHits(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
}

func (s *search) rowsToScore() int {
	if !s.masked {
		return s.st.n
	}
	n := 0
	for _, w := range s.mask {
		n += bits.OnesCount64(w)
	}
	return n
}

// scaled returns a copy of int8 hits with their scores in full.
func (s *search) scaled(hits []Hit) []Hit {
	out := slices.Clone(hits)
	for i := range out {
		out[i].Score *= s.scale
	}
	return out
}

// rescore fetches the candidates and returns them in their final order.
func (s *search) rescore(ctx context.Context, query []float32, candidates []Hit, fetch Fetch) ([]Hit, error) {
	hits := slices.Clone(candidates)
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Row, b.Row) })
	s.rows = s.rows[:0]
	for _, h := range hits {
		s.rows = append(s.rows, h.Row)
	}
	dim := len(query)
	s.vectors = slices.Grow(s.vectors[:0], len(hits)*dim)[:len(hits)*dim]
	if len(hits) > 0 {
		if err := fetch(ctx, s.rows, s.vectors); err != nil {
			return nil, err
		}
	}
	for i := range hits {
		hits[i].Score = Product(query, s.vectors[i*dim:][:dim])
	}
	slices.SortFunc(hits, compareHits)
	return hits, nil
}

// Product is the inner product in float64, one after the other: the same on every machine,
// since the product of two float32 is exact there, fused or not. It is the score that
// Search gives; b has at least the length of a.
func Product(a, b []float32) float32 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return float32(sum)
}
