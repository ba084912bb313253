package qdrant

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/vector"
)

const (
	defaultHits = 10
	maxHits     = 1 << 30
)

func limitOf(n int) int {
	if n <= 0 {
		return defaultHits
	}
	return min(n, maxHits)
}

// candidate is a chunk that a search looks at.
type candidate struct {
	chunk chunkPayload
	dense []float32
	rough float64 // the server's score
	score float64
	terms []string
}

func compareCandidates(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.chunk.Document, b.chunk.Document), cmp.Compare(a.chunk.Index, b.chunk.Index))
}

func byScore(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), compareCandidates(a, b))
}

func candidatesOf(points []point) ([]candidate, error) {
	out := make([]candidate, len(points))
	for i, p := range points {
		ch, err := chunkOf(p)
		if err != nil {
			return nil, err
		}
		out[i] = candidate{chunk: ch, dense: p.Dense, rough: p.Score}
	}
	return out, nil
}

// How many candidates are asked for first, at least, and by how much more at a time; more
// than most are not looked at.
const (
	leastDense = 64
	leastWords = 256
	growth     = 4
	most       = 1 << 17
)

// SearchDense implements store.Collection.
func (c *collection) SearchDense(ctx context.Context, q store.DenseQuery) (hits []store.Hit, err error) {
	err = c.asked(ctx, func(ctx context.Context) error {
		r, err := c.fresh(ctx)
		if err != nil {
			return err
		}
		if r.Spec.Encoder == "" {
			return fmt.Errorf("the collection has no encoder: %w", store.ErrUnsupported)
		}
		f, err := c.resolved(ctx, q.Filter)
		if err != nil {
			return err
		}
		found, err := c.byVector(ctx, r, q.Vector, f, limitOf(q.Limit))
		if err != nil {
			return err
		}
		hits, err = c.hits(ctx, found)
		return err
	})
	return hits, failure("search vectors", err)
}

// checkVector reports why a vector cannot be compared with the collection's.
func (r row) checkVector(v []float32) error {
	if err := store.CheckUnit(v); err != nil {
		return fmt.Errorf("%w: %w", store.ErrRecord, err)
	}
	if d := r.Dimension; d != 0 && d != len(v) {
		return fmt.Errorf("it has %d dimensions, the collection's vectors have %d: %w", len(v), d, store.ErrRecord)
	}
	return nil
}

// byVector returns the k nearest chunks under a resolved filter. What the server scores is
// scored again as the embedded store does: until the last that it gave is behind the best k
// by more than its arithmetic can be off, there may be others as good. If the vectors are
// no longer of the row's encoder, that is store.ErrEncoder.
func (c *collection) byVector(ctx context.Context, r row, v []float32, f filter.Filter, k int) ([]candidate, error) {
	if err := r.checkVector(v); err != nil {
		return nil, err
	}
	where, err := c.under(f, kindChunk, "")
	if err != nil || where == nil || r.Dimension == 0 {
		return nil, err
	}
	approximate, err := c.approximate(ctx, where)
	if err != nil {
		return nil, err
	}
	off, err := roundOff(v)
	if err != nil {
		return nil, err
	}
	for n := max(leastDense, growth*min(k, most/growth)); ; n *= growth {
		n = max(n, min(k, maxHits))
		points, err := c.nearest(ctx, &r.Spec.Encoder, nearestQuery{Dense: v, Where: where, Limit: n, Approximate: approximate, Want: want{Fields: wordFields, Dense: true}})
		if err != nil {
			return nil, err
		}
		found, err := candidatesOf(points)
		if err != nil {
			return nil, err
		}
		last := 0.0
		for i := range found {
			if len(found[i].dense) != len(v) {
				return nil, fmt.Errorf("a stored vector has %d dimensions: %w", len(found[i].dense), store.ErrUnavailable)
			}
			found[i].score = float64(vector.Product(v, found[i].dense))
			last = found[i].rough
		}
		slices.SortFunc(found, byScore)
		if len(found) < n || n >= most || len(found) > k && found[k-1].score > last+off {
			return found[:min(k, len(found))], nil
		}
	}
}

// sumsOff is more than sums of the products of unit vectors are off by.
const sumsOff = 1e-4

// roundOff is more than the server's inner products with a vector are off by. It keeps
// vectors as half floats, as we do, but it rounds the question's too before it compares:
// by Cauchy and Schwarz that is at most the length of what is rounded away.
func roundOff(v []float32) (float64, error) {
	rounded, err := halves(v)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", store.ErrRecord, err)
	}
	sum := 0.0
	for i, x := range v {
		d := float64(x) - float64(rounded[i])
		sum += d * d
	}
	return math.Sqrt(sum) + sumsOff, nil
}

// approximate reports whether so many chunks are under a filter that not all are compared.
func (c *collection) approximate(ctx context.Context, where *clause) (bool, error) {
	if c.s.o.ApproximateFrom <= 0 {
		return false, nil
	}
	n, err := c.count(ctx, where)
	return n >= c.s.o.ApproximateFrom, err
}

// SearchLexical implements store.Collection.
func (c *collection) SearchLexical(ctx context.Context, q store.LexicalQuery) (hits []store.Hit, err error) {
	err = c.asked(ctx, func(ctx context.Context) error {
		f, err := c.resolved(ctx, q.Filter)
		if err != nil {
			return err
		}
		found, err := c.byWords(ctx, q.Text, f, limitOf(q.Limit))
		if err != nil {
			return err
		}
		hits, err = c.hits(ctx, found)
		return err
	})
	return hits, failure("search words", err)
}

// nearDepth is how many of the best by words are ranked anew: as many as lexical ranks by their nearness, whatever is asked for.
const nearDepth = 50

// wordFields are what of a chunk its words are read from.
var wordFields = append([]string{"title", "_parts"}, chunkFields...)

// byWords returns the k best chunks under a resolved filter.
func (c *collection) byWords(ctx context.Context, text string, f filter.Filter, k int) ([]candidate, error) {
	r, err := c.ranking(ctx, text)
	if err != nil {
		return nil, err
	}
	return c.ranked(ctx, r, f, k)
}

func (c *collection) ranked(ctx context.Context, r ranking, f filter.Filter, k int) ([]candidate, error) {
	where, err := c.under(f, kindChunk, "")
	if err != nil || where == nil || len(r.terms) == 0 {
		return nil, err
	}
	need := max(k, nearDepth)
	for n := max(leastWords, growth*min(need, most/growth)); ; n *= growth {
		points, err := c.nearest(ctx, nil, nearestQuery{Words: r.vector, Where: where, Limit: n, Want: want{Fields: wordFields}})
		if err != nil {
			return nil, err
		}
		found, err := candidatesOf(points)
		if err != nil {
			return nil, err
		}
		complete := len(found) < n || n >= most
		last := 0.0
		if len(found) > 0 {
			last = found[len(found)-1].rough
		}
		ranked, bar, err := r.rank(found, k, need)
		if err != nil {
			return nil, err
		}
		if complete || bar > last*r.stretch*(1+1e-5) {
			return ranked, nil
		}
	}
}

// ranking is a question's words with what the whole collection says of them.
type ranking struct {
	analyzer *lexical.Analyzer
	query    lexical.Query
	whole    lexical.Whole
	terms    []lexical.Matched
	vector   sparse
	// stretch is by how much a score may exceed what the sparse vectors give: they assume
	// the average length there was when they were written.
	stretch float64
}

func (c *collection) ranking(ctx context.Context, text string) (ranking, error) {
	c.mu.RLock()
	r := ranking{analyzer: c.analyzer, query: c.analyzer.Query(text), stretch: 1}
	pivot := c.row.Pivot
	c.mu.RUnlock()
	if len(r.query.Terms) == 0 {
		return r, nil
	}
	var err error
	if r.whole, err = c.whole(ctx, r.query); err != nil || r.whole.Rows == 0 {
		return r, err
	}
	r.terms = r.whole.Weigh(r.query)
	weights := map[uint32]float32{}
	for _, t := range r.terms {
		weights[dimensionOf(t.Stem)] += t.Factor()
	}
	for i, w := range weights {
		r.vector.Indices, r.vector.Values = append(r.vector.Indices, i), append(r.vector.Values, w)
	}
	if average := r.whole.Length / float64(r.whole.Rows); pivot > 0 {
		r.stretch = max(1, average/pivot)
	}
	return r, nil
}

// rank scores candidates by their words and returns the best k, and the score by BM25
// alone that one must have had to be looked at for its nearness.
func (r ranking) rank(found []candidate, k, need int) (ranked []candidate, bar float64, err error) {
	slices.SortFunc(found, compareCandidates)
	index := lexical.New(r.analyzer)
	b := index.NewBatch()
	for i, f := range found {
		var parts []sextant.Part
		if f.chunk.Parts != "" {
			if err := json.Unmarshal([]byte(f.chunk.Parts), &parts); err != nil {
				return nil, 0, fmt.Errorf("parts of %s: %w: %w", f.chunk.ID, store.ErrCorrupt, err)
			}
		}
		if err := b.Add(uint32(i), store.TextFields(f.chunk.Title, parts, f.chunk.chunk())...); err != nil {
			return nil, 0, err
		}
	}
	if err := b.Commit(); err != nil {
		return nil, 0, err
	}
	plain := index.SearchIn(r.whole, r.query, lexical.DefaultBM25, need)
	if n := len(plain.Hits); n == need && n > 0 {
		bar = float64(plain.Hits[n-1].Score)
	}
	// Rows are numbered in the contract's order, so ties need no other.
	result := index.SearchNearIn(r.whole, r.query, lexical.DefaultBM25, k, nil)
	for _, h := range result.Hits {
		f := found[h.Row]
		f.score = float64(h.Score)
		f.terms = nil
		for i, t := range result.Terms {
			if h.Terms>>i&1 != 0 {
				f.terms = append(f.terms, t.Word)
			}
		}
		ranked = append(ranked, f)
	}
	return ranked, bar, nil
}

// lengths are statistics of all chunks that have words.
type lengths struct {
	rows  int
	total float64
}

// whole reads the collection's statistics of a question's words.
func (c *collection) whole(ctx context.Context, q lexical.Query) (lexical.Whole, error) {
	w := lexical.Whole{With: map[string]int{}}
	d, err := c.known(ctx)
	if err != nil {
		return w, err
	}
	l, err := c.lengths(ctx, d)
	if err != nil || l.rows == 0 {
		return w, err
	}
	w.Rows, w.Length = l.rows, l.total
	stems := map[string]bool{}
	for _, t := range q.Terms {
		stems[t.Stem] = true
		if t.Unless != "" {
			stems[t.Unless] = true
		}
	}
	counts, err := each(ctx, stems, func(ctx context.Context, stem string) (int, error) {
		return once(d, d.stems, stem, func() (int, error) {
			n, err := c.count(ctx, &clause{Must: []condition{isKind(kindChunk), keywords("_stems", stem)}})
			return int(n), err
		})
	})
	w.With = counts
	return w, err
}

func (c *collection) lengths(ctx context.Context, d *derived) (lengths, error) {
	all, err := once(d, d.lengths, "", func() (lengths, error) {
		var l lengths
		hits, err := c.facet(ctx, "_length", &clause{Must: []condition{isKind(kindChunk)}})
		for _, h := range hits {
			var n int64
			if err := json.Unmarshal(h.Value, &n); err != nil {
				return l, damaged("_length", err)
			}
			l.rows += int(h.Count)
			l.total += float64(n) * float64(h.Count)
		}
		return l, err
	})
	return all, err
}

// hits reads what is shown of the documents that candidates are of. One whose document is
// gone by now is left out.
func (c *collection) hits(ctx context.Context, found []candidate) ([]store.Hit, error) {
	var ids []sextant.DocumentID
	for _, f := range found {
		ids = append(ids, sextant.DocumentID(f.chunk.Document))
	}
	heads, err := c.heads(ctx, ids, []string{"document_id", "title", "_revision", "_record"})
	if err != nil {
		return nil, err
	}
	documents := make(map[sextant.DocumentID]sextant.Document, len(heads))
	for id, h := range heads {
		if documents[id], err = c.documentOf(h); err != nil {
			return nil, err
		}
	}
	var out []store.Hit
	for _, f := range found {
		d, ok := documents[sextant.DocumentID(f.chunk.Document)]
		if !ok {
			continue
		}
		part, _ := d.PartAt(f.chunk.Start)
		out = append(out, store.Hit{Chunk: f.chunk.chunk(), Title: d.Title, Meta: d.Meta, Locator: part.Locator, Score: f.score, Terms: f.terms})
	}
	return out, nil
}
