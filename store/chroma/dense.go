package chroma

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/vector"
)

const defaultHits = 10

func limitOf(n int) int {
	if n <= 0 {
		return defaultHits
	}
	return n
}

// Bounds of a search by vector. Up to fewChunks under a filter, their vectors are read
// and scored here. Up to exactChunks, the server is asked for the distances of all; what
// its graph does not reach is read and scored here, so that the result is exact. Beyond,
// the server is asked for deepChunks: with so many wanted its graph is searched
// thoroughly, but the result may lack one.
const (
	fewChunks   = 400
	exactChunks = 20_000
	deepChunks  = 4_000
)

// slack is how far a distance of the server's may be from 1 - Product: it adds up in
// float32.
const slack = 1e-5

// target is a chunk that may be found.
type target struct {
	id    sextant.DocumentID
	entry entry
	index int
}

func (t target) key() string { return t.entry.key(t.id, t.index).String() }

// candidates is what a search by vector chooses from.
type candidates struct {
	targets []target
	byKey   map[string]int
	total   int64 // chunks of the collection
	where   condition
}

// under collects the chunks of the documents under a resolved filter.
func (v *view) under(f filter.Filter, docs bits) candidates {
	var cs candidates
	for slot := range docs.all() {
		h := v.heads[slot]
		for i := range h.entry.chunks {
			cs.targets = append(cs.targets, target{h.id, h.entry, i})
		}
	}
	cs.total = v.chunks.count()
	if len(cs.targets) < int(cs.total) {
		cs.where, _ = where(&v.spec.Schema, f)
	}
	return cs
}

// SearchDense implements store.Collection.
func (c *collection) SearchDense(ctx context.Context, q store.DenseQuery) ([]store.Hit, error) {
	hits, err := c.dense(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("search vectors: %w", err)
	}
	return hits, nil
}

func (c *collection) dense(ctx context.Context, q store.DenseQuery) ([]store.Hit, error) {
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	if c.Spec().Encoder == "" {
		return nil, fmt.Errorf("the collection has no encoder: %w", store.ErrUnsupported)
	}
	if err := store.CheckUnit(q.Vector); err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrRecord, err)
	}
	if err := c.fresh(ctx, viewed); err != nil {
		return nil, err
	}
	ctx, cancel := c.store.client.hurried(ctx)
	defer cancel()
	var cs candidates
	var hits []store.Hit
	err := c.reading(ctx, viewed, func() error {
		if c.row.Dimension > 0 && c.row.Dimension != len(q.Vector) {
			return fmt.Errorf("a vector of %d dimensions, the collection has %d: %w", len(q.Vector), c.row.Dimension, store.ErrRecord)
		}
		f, err := c.view.resolve(q.Filter)
		if err == nil {
			cs = c.view.under(f, c.view.matching(f))
		}
		return err
	}, func(r *row) error {
		chosen, err := c.nearest(ctx, r, cs, q.Vector, limitOf(q.Limit))
		if err == nil {
			hits, err = c.hits(ctx, r, chosen)
		}
		return err
	})
	return hits, err
}

// nearest returns the k candidates with the largest cosine, scored by their stored
// vectors, ties in the order of the contract.
func (c *collection) nearest(ctx context.Context, r *row, cs candidates, query []float32, k int) ([]found, error) {
	k = min(k, len(cs.targets))
	if k == 0 {
		return nil, nil
	}
	if len(cs.targets) <= fewChunks || k >= len(cs.targets)/2 {
		all := make([]int, len(cs.targets))
		for i := range all {
			all[i] = i
		}
		return c.scored(ctx, r, cs, all, query, k)
	}
	near, err := c.distances(ctx, r, &cs, query, k)
	if err != nil {
		return nil, err
	}
	// The best k by the server's arithmetic, and all that may be as good.
	keep := min(k, len(near))
	for keep < len(near) && near[keep].distance <= near[k-1].distance+2*slack {
		keep++
	}
	chosen := make([]int, keep)
	for i, n := range near[:keep] {
		chosen[i] = cs.byKey[n.id]
	}
	return c.scored(ctx, r, cs, chosen, query, k)
}

// distances returns candidates by rising distance: all of them, where that is possible
// at bounded cost.
func (c *collection) distances(ctx context.Context, r *row, cs *candidates, query []float32, k int) ([]near, error) {
	cs.byKey = make(map[string]int, len(cs.targets))
	for i, t := range cs.targets {
		cs.byKey[t.key()] = i
	}
	exact := len(cs.targets) <= exactChunks
	n, cond := len(cs.targets), cs.where
	switch {
	case exact && cs.total <= exactChunks && len(cs.targets) > int(cs.total/8):
		n, cond = int(cs.total), nil // sorting out here is faster than a condition there
	case !exact:
		n = min(len(cs.targets), max(deepChunks, 4*k))
		if cond == nil && len(cs.targets) < int(cs.total) {
			n = exactChunks // the condition cannot be told to the server: look deep instead
		}
	}
	hits, err := c.store.client.query(ctx, r.Records, query, min(n, 30_000), cond)
	if err != nil {
		return nil, err
	}
	seen := make([]bool, len(cs.targets))
	out := make([]near, 0, len(hits))
	for _, h := range hits {
		if i, ok := cs.byKey[h.id]; ok && !seen[i] {
			seen[i] = true
			out = append(out, h)
		}
	}
	if exact || len(out) < k {
		if len(out) < len(cs.targets) && !exact && len(cs.targets) > 5*exactChunks {
			return nil, fmt.Errorf("%d of the %d nearest found among %d chunks under a filter that this server cannot apply: %w", len(out), k, len(cs.targets), store.ErrUnsupported)
		}
		more, err := c.unreached(ctx, r, cs, seen, query)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	slices.SortFunc(out, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.id, b.id))
	})
	return out, nil
}

// unreached scores the candidates that the server's graph did not reach.
func (c *collection) unreached(ctx context.Context, r *row, cs *candidates, seen []bool, query []float32) ([]near, error) {
	var ids []string
	for i, t := range cs.targets {
		if !seen[i] {
			ids = append(ids, t.key())
		}
	}
	vectors, err := c.embeddings(ctx, r, ids)
	if err != nil {
		return nil, err
	}
	out := make([]near, len(ids))
	for i, id := range ids {
		out[i] = near{id, 1 - float64(vector.Product(query, vectors[i]))}
	}
	return out, nil
}

// scored reads the vectors of some candidates and returns the best k.
func (c *collection) scored(ctx context.Context, r *row, cs candidates, which []int, query []float32, k int) ([]found, error) {
	ids := make([]string, len(which))
	for i, n := range which {
		ids[i] = cs.targets[n].key()
	}
	vectors, err := c.embeddings(ctx, r, ids)
	if err != nil {
		return nil, err
	}
	out := make([]found, len(which))
	for i, n := range which {
		t := cs.targets[n]
		out[i] = found{id: t.id, entry: t.entry, index: t.index, score: float64(vector.Product(query, vectors[i]))}
	}
	slices.SortFunc(out, compareFound)
	return out[:min(k, len(out))], nil
}

func compareFound(a, b found) int {
	return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(string(a.id), string(b.id)), cmp.Compare(a.index, b.index))
}

var _ store.Approximator = (*collection)(nil)

// Approximates implements store.Approximator.
func (c *collection) Approximates(ctx context.Context, f filter.Filter) (bool, error) {
	n := 0
	err := c.look(ctx, viewed, func() error {
		f, err := c.view.resolve(f)
		if err == nil && c.view.chunks.count() > exactChunks {
			for slot := range c.view.matching(f).all() {
				n += c.view.heads[slot].entry.chunks
			}
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("search vectors: %w", err)
	}
	return n > exactChunks, nil
}
