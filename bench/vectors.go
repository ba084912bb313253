package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

const (
	clusters   = 2000
	categories = 100 // of which a filter lets one pass: 1 %
	askedFor   = 42
)

// vectorSet is made-up embeddings: unit vectors around centres, with components whose
// variance falls as i^-0.9 before all are turned alike, as spectra of text encoders do,
// and a category each for the filter.
type vectorSet struct {
	dim       int
	rows      [][]float32
	category  []int
	questions [][]float32 // drawn like the rows, but none of them
	nearest   [][]int     // of each question the rows with the largest inner products
	within    [][]int     // the same among rows of category askedFor
}

func makeVectors(n, dim, questions int) *vectorSet {
	turn, spectrum := newTurn(dim), make([]float64, dim)
	for i := range spectrum {
		spectrum[i] = math.Pow(float64(i+1), -0.45)
	}
	centres := make([][]float64, clusters)
	for i := range centres {
		centres[i] = normal(rand.New(rand.NewPCG(uint64(i), 1)), spectrum)
	}
	draw := func(seed, stream uint64) ([]float32, int) {
		rng := rand.New(rand.NewPCG(seed, stream))
		centre, v := centres[rng.IntN(clusters)], normal(rng, spectrum)
		for i := range v {
			v[i] = centre[i] + 0.6*v[i]
		}
		return turn.unit(v), rng.IntN(categories)
	}
	s := &vectorSet{dim: dim, rows: make([][]float32, n), category: make([]int, n), questions: make([][]float32, questions)}
	onAllCores(n, func(i int) { s.rows[i], s.category[i] = draw(uint64(i), 2) })
	onAllCores(questions, func(i int) { s.questions[i], _ = draw(uint64(i), 3) })
	s.nearest, s.within = make([][]int, questions), make([][]int, questions)
	onAllCores(questions, func(i int) { s.nearest[i], s.within[i] = s.bruteForce(s.questions[i]) })
	return s
}

// normal draws a vector of independent components with the given standard deviations.
func normal(rng *rand.Rand, deviations []float64) []float64 {
	v := make([]float64, len(deviations))
	for i, d := range deviations {
		v[i] = d * rng.NormFloat64()
	}
	return v
}

// turn is an orthogonal map, the product of a few reflections at random planes: enough
// to spread the large first components over all, at a fraction of a full rotation.
type turn [][]float64

func newTurn(dim int) turn {
	rng := rand.New(rand.NewPCG(4, 4))
	t := make(turn, 8)
	for i := range t {
		t[i] = make([]float64, dim)
		for j := range t[i] {
			t[i][j] = rng.NormFloat64()
		}
		scale(t[i], 1/math.Sqrt(dot(t[i], t[i])))
	}
	return t
}

// unit turns v, in place, and returns it with length 1.
func (t turn) unit(v []float64) []float32 {
	for _, w := range t {
		d := 2 * dot(v, w)
		for i := range v {
			v[i] -= d * w[i]
		}
	}
	scale(v, 1/math.Sqrt(dot(v, v)))
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}

// bruteForce compares a question with every row, in float64.
func (s *vectorSet) bruteForce(question []float32) (all, filtered []int) {
	scores := make([]float64, len(s.rows))
	for i, row := range s.rows {
		for j, x := range question {
			scores[i] += float64(x) * float64(row[j])
		}
	}
	return best(scores, func(int) bool { return true }), best(scores, func(i int) bool { return s.category[i] == askedFor })
}

// best returns the wanted rows of the largest scores among those let pass, the lower row
// first of equals.
func best(scores []float64, pass func(row int) bool) []int {
	var top []int
	for i, score := range scores {
		if !pass(i) || len(top) == wanted && score <= scores[top[wanted-1]] {
			continue
		}
		at := len(top)
		for at > 0 && score > scores[top[at-1]] {
			at--
		}
		top = slices.Insert(top[:min(len(top), wanted-1)], at, i)
	}
	return top
}

// onAllCores calls do with 0 to n-1.
func onAllCores(n int, do func(i int)) {
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	wg.Wait()
}

// The comparisons of vectors.
const (
	unfiltered = "vectors"
	filtered   = "filtered"
)

// vectorEngine finds rows by vector. all is the whole set, otherwise only rows of
// category askedFor count.
type vectorEngine interface {
	search(ctx context.Context, v []float32, all bool) (rows []int, err error)
	close() error
}

var vectorEngines = []entry[*vectorSet, vectorEngine]{
	{name: nameVector, in: map[string]float64{unfiltered: 0, filtered: 0}, open: openMatrix},
	{name: nameStore, in: map[string]float64{unfiltered: 0, filtered: 0}, open: openVectorStore},
	{name: "chromem-go", in: map[string]float64{unfiltered: 20, filtered: 20}, open: openChromem},
	{name: "sqlite-vec", in: map[string]float64{unfiltered: 10, filtered: 10}, open: openSQLiteVec},
	{name: "sqlite-vec, partitioned", in: map[string]float64{filtered: 0}, open: openSQLiteVecPartitioned},
}

// runVectors compares the engines on vectors, without a filter and under one of 1 %.
func runVectors(ctx context.Context, o options, dir string, log io.Writer) ([]result, error) {
	entries := pick(o, vectorEngines)
	if len(entries) == 0 {
		return nil, nil
	}
	const block = 5
	set := makeVectors(o.vectors, o.dim, o.rounds*block)
	title := fmt.Sprintf("Exact ten nearest of %d vectors of %d dimensions", o.vectors, o.dim)
	comparisons := []*comparison{
		{name: unfiltered, title: title, questions: len(set.questions), block: block},
		{name: filtered, title: title + ", under a filter of 1 %", questions: len(set.questions), block: block},
	}
	for _, e := range entries {
		engine, err := e.enter(ctx, log, set, dir, comparisons, contest[vectorEngine]{
			ask: func(engine vectorEngine, c string, question int) ([]int, error) {
				return engine.search(ctx, set.questions[question], c == unfiltered)
			},
			recall: func(c string, question int, rows []int) float64 {
				if c == unfiltered {
					return overlap(set.nearest[question], rows)
				}
				return overlap(set.within[question], rows)
			},
		})
		if err != nil {
			return nil, err
		}
		defer engine.close() // its files are thrown away
	}
	return runAll(ctx, o, comparisons, log)
}

// overlap is the share of the right rows that were found.
func overlap(right, rows []int) float64 {
	if len(right) == 0 {
		return 1
	}
	found := 0
	for _, row := range right {
		if slices.Contains(rows, row) {
			found++
		}
	}
	return float64(found) / float64(len(right))
}
