package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/embed/adapt"
	"github.com/sextant-rag/sextant/store"
)

// Report is what was learnt and how it was tested.
type Report struct {
	Collection string        `json:"collection"`
	Version    string        `json:"version,omitempty"` // "" if nothing was kept
	Kind       string        `json:"pairs_kind"`
	Pairs      int           `json:"pairs"`
	Strength   float32       `json:"strength"`
	Before     float64       `json:"mrr_before"` // of the pairs held out: mean of one over the rank of their document
	After      float64       `json:"mrr_after"`
	Low        float64       `json:"gain_low"` // 95 % interval of the gain
	High       float64       `json:"gain_high"`
	Curve      []Point       `json:"curve"`
	Took       time.Duration `json:"-"`
	Kept       bool          `json:"kept"`

	Map adapt.Map `json:"-"` // learnt from all pairs; zero if nothing was kept
}

// Point is what so many pairs would have gained.
type Point struct {
	Pairs int     `json:"pairs"`
	Gain  float64 `json:"gain"`
}

// Progress tells what is being done, and how far.
type Progress func(what string, done, of int)

// ErrNoVectors is why nothing can be learnt.
var ErrNoVectors = errors.New("the collection has no vectors of this encoder")

// Learn learns from one half of the pairs, tests on the other by how high the right
// document stands among all of that half by meaning alone, and if that gains for certain
// (the 95 % interval of a paired bootstrap is above 0) learns from all. The collection
// may be nil where all pairs have a text.
func Learn(ctx context.Context, c store.Collection, e embed.Embedder, p Pairs, progress Progress) (Report, error) {
	began := time.Now()
	if progress == nil {
		progress = func(string, int, int) {}
	}
	r := Report{Kind: p.Kind, Strength: p.Strength}
	if c != nil {
		r.Collection = c.Spec().Name
	}
	queries, documents, err := encode(ctx, c, e, p.All, progress)
	if err != nil {
		return r, fmt.Errorf("tune: %w", err)
	}
	r.Pairs = len(queries)
	half := len(queries) / 2
	if half < adapt.Least {
		return r, fmt.Errorf("tune: %d usable pairs: %w", len(queries), adapt.ErrFew)
	}
	before := reciprocalRanks(adapt.Identity(e.Dim()), queries[half:], documents[half:])
	r.Before = mean(before)
	for _, n := range []int{half / 8, half / 4, half / 2, half} {
		if n < adapt.Least {
			continue
		}
		m, err := adapt.Learn(ctx, queries[:n], documents[:n], adapt.Options{Progress: func(step, of int) { progress(fmt.Sprintf("learning from %d pairs", n), step, of) }})
		if err != nil {
			return r, fmt.Errorf("tune: %w", err)
		}
		after := reciprocalRanks(m.Toward(p.Strength), queries[half:], documents[half:])
		r.After = mean(after)
		r.Curve = append(r.Curve, Point{n, r.After - r.Before})
		r.Low, r.High = interval(before, after)
	}
	if r.Kept = r.Low > 0; r.Kept {
		m, err := adapt.Learn(ctx, queries, documents, adapt.Options{Progress: func(step, of int) { progress(fmt.Sprintf("learning from all %d pairs", len(queries)), step, of) }})
		if err != nil {
			return r, fmt.Errorf("tune: %w", err)
		}
		r.Map = m.Toward(p.Strength)
	}
	r.Took = time.Since(began)
	return r, nil
}

// encodeAtOnce is how many texts are encoded between two looks at progress.
const encodeAtOnce = 256

// encode returns the vectors of the pairs: questions are encoded as queries, answers
// taken from the store. Pairs whose document is not there are left out.
func encode(ctx context.Context, c store.Collection, e embed.Embedder, pairs []Pair, progress Progress) (queries, documents [][]float32, err error) {
	reader, _ := c.(store.VectorReader)
	if reader != nil && c.Spec().Encoder != e.Fingerprint().String() && slices.ContainsFunc(pairs, func(p Pair) bool { return p.Text == "" }) {
		return nil, nil, ErrNoVectors
	}
	for len(pairs) > 0 {
		n := min(encodeAtOnce, len(pairs))
		q, d, err := encodeSome(ctx, c, reader, e, pairs[:n])
		if err != nil {
			return nil, nil, err
		}
		queries, documents, pairs = append(queries, q...), append(documents, d...), pairs[n:]
		progress("encoding questions", len(queries), len(queries)+len(pairs))
	}
	return queries, documents, nil
}

func encodeSome(ctx context.Context, c store.Collection, reader store.VectorReader, e embed.Embedder, pairs []Pair) (queries, documents [][]float32, err error) {
	asked := make([]string, len(pairs))
	var texts []string
	for i, p := range pairs {
		asked[i] = p.Query
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	q, err := embed.Queries(ctx, e, asked)
	if err != nil {
		return nil, nil, err
	}
	given, err := e.Embed(ctx, texts)
	if err != nil {
		return nil, nil, err
	}
	for i, p := range pairs {
		var best []float32
		switch {
		case p.Text != "":
			best, given = given[0], given[1:]
		case reader != nil:
			if best, err = bestChunk(ctx, c, reader, p, q[i]); err != nil {
				return nil, nil, err
			}
		}
		if best != nil {
			queries, documents = append(queries, q[i]), append(documents, best)
		}
	}
	return queries, documents, nil
}

// bestChunk is the vector of the document's chunk nearest to the question, of those that
// do not hold the question itself; nil if there is none.
func bestChunk(ctx context.Context, c store.Collection, reader store.VectorReader, p Pair, query []float32) ([]float32, error) {
	chunks, err := c.Chunks(ctx, p.Document)
	if err != nil {
		return nil, err
	}
	vectors, err := reader.Vectors(ctx, p.Document)
	if err != nil || len(vectors) != len(chunks) { // replaced in between
		return nil, err
	}
	var best []float32
	top := float32(-2)
	for i, ch := range chunks {
		if overlaps(ch, p) {
			continue
		}
		if s := dot(query, vectors[i]); s > top {
			best, top = vectors[i], s
		}
	}
	return best, nil
}

func overlaps(c sextant.Chunk, p Pair) bool { return c.Start < p.End && p.Start < c.End }

func dot(a, b []float32) float32 {
	sum := float32(0)
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// heldOut is how many pairs are tested: each is compared with all others.
const heldOut = 2000

// reciprocalRanks is, for each query, one over the place of its document among all.
func reciprocalRanks(m adapt.Map, queries, documents [][]float32) []float64 {
	n := min(heldOut, len(queries))
	out := make([]float64, n)
	for i, q := range queries[:n] {
		y := m.Apply(q)
		own, rank := dot(y, documents[i]), 1
		for j, d := range documents[:n] {
			if j != i && dot(y, d) > own {
				rank++
			}
		}
		out[i] = 1 / float64(rank)
	}
	return out
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, x := range all {
		sum += x
	}
	return sum / float64(max(len(all), 1))
}

// interval is the 95 % percentile interval of the mean difference, by a paired bootstrap.
func interval(before, after []float64) (low, high float64) {
	const draws = 2000
	random := rand.New(rand.NewPCG(2, uint64(len(before))))
	means := make([]float64, draws)
	for i := range means {
		for range before {
			at := random.IntN(len(before))
			means[i] += (after[at] - before[at]) / float64(len(before))
		}
	}
	slices.SortFunc(means, cmp.Compare[float64])
	return means[draws*25/1000], means[draws*975/1000]
}
