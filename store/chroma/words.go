package chroma

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
)

// SearchLexical implements store.Collection. Words are indexed here, by the same code as
// in the embedded store: the rankings are equal, score by score.
func (c *collection) SearchLexical(ctx context.Context, q store.LexicalQuery) ([]store.Hit, error) {
	if err := c.fresh(ctx, viewed); err != nil {
		return nil, fmt.Errorf("search words: %w", err)
	}
	ctx, cancel := c.store.client.hurried(ctx)
	defer cancel()
	var chosen []found
	var hits []store.Hit
	err := c.reading(ctx, viewed, func() error {
		f, err := c.view.resolve(q.Filter)
		if err == nil {
			chosen = c.view.byWords(q.Text, c.view.chunksOf(c.view.matching(f)), limitOf(q.Limit))
		}
		return err
	}, func(r *row) (err error) {
		hits, err = c.hits(ctx, r, chosen)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("search words: %w", err)
	}
	return hits, nil
}

// chunksOf returns the chunks of documents.
func (v *view) chunksOf(docs bits) bits {
	out := make(bits, len(v.chunks))
	for slot := range docs.all() {
		h := v.heads[slot]
		for i := range h.entry.chunks {
			out = out.with(int(h.first) + i)
		}
	}
	return out
}

// byWords returns the k best chunks by BM25 with nearness, ties in the contract's order.
func (v *view) byWords(text string, allowed bits, k int) []found {
	if allowed.count() == 0 {
		return nil
	}
	r := v.text.SearchNear(v.analyzer.Query(text), lexical.DefaultBM25, allowed, k, v.compare)
	out := make([]found, len(r.Hits))
	for i, h := range r.Hits {
		out[i] = v.found(h.Row)
		out[i].score, out[i].terms = float64(h.Score), terms(r, h)
	}
	return out
}

func (v *view) found(chunk uint32) found {
	h := v.heads[v.parent[chunk]]
	return found{id: h.id, entry: h.entry, index: int(chunk - h.first)}
}

// compare orders chunks by document id, then ordinal.
func (v *view) compare(a, b uint32) int {
	x, y := v.heads[v.parent[a]], v.heads[v.parent[b]]
	if x == y {
		return cmp.Compare(a, b)
	}
	return strings.Compare(string(x.id), string(y.id))
}

func terms(r lexical.Result, h lexical.Hit) []string {
	var out []string
	for i, t := range r.Terms {
		if h.Terms>>i&1 != 0 {
			out = append(out, t.Word)
		}
	}
	return out
}

var _ store.Hybrid = (*collection)(nil)

// SearchHybrid implements store.Hybrid. Both rankings are of one state.
func (c *collection) SearchHybrid(ctx context.Context, q store.HybridQuery) ([]store.HybridHit, error) {
	hits, err := c.hybrid(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("search words and vectors: %w", err)
	}
	return hits, nil
}

// mixture is a hybrid search under way.
type mixture struct {
	query store.HybridQuery
	depth int
	words []found
	cs    candidates

	found      []found // by document id and ordinal
	candidates []store.Candidate
	near       []found
}

func (c *collection) hybrid(ctx context.Context, q store.HybridQuery) ([]store.HybridHit, error) {
	if q.Vector != nil {
		if err := store.CheckUnit(q.Vector); err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrRecord, err)
		}
	}
	if err := c.fresh(ctx, viewed); err != nil {
		return nil, err
	}
	ctx, cancel := c.store.client.hurried(ctx)
	defer cancel()
	var m mixture
	var out []store.HybridHit
	err := c.reading(ctx, viewed, func() error {
		if q.Vector != nil && q.Encoder != c.row.Spec.Encoder {
			return fmt.Errorf("%w: the query's is %q, the collection's %q", store.ErrEncoder, q.Encoder, c.row.Spec.Encoder)
		}
		f, err := c.view.resolve(q.Filter)
		if err != nil {
			return err
		}
		docs := c.view.matching(f)
		m = mixture{query: q, depth: cmp.Or(max(q.Depth, 0), store.DefaultDepth)}
		m.words = c.view.byWords(q.Text, c.view.chunksOf(docs), m.depth)
		if q.Vector != nil {
			m.cs = c.view.under(f, docs)
		}
		return nil
	}, func(r *row) error {
		if err := c.mix(ctx, r, &m); err != nil {
			return err
		}
		picks := q.Choose(slices.Clone(m.candidates))
		chosen := make([]found, len(picks))
		for i, p := range picks {
			chosen[i] = m.found[p]
			chosen[i].score, chosen[i].terms = 0, m.candidates[p].Terms
		}
		hits, err := c.hits(ctx, r, chosen)
		if err != nil {
			return err
		}
		out = make([]store.HybridHit, len(hits))
		for i, h := range hits {
			out[i] = store.HybridHit{Hit: h, Candidate: m.candidates[picks[i]], Place: picks[i]}
		}
		return nil
	})
	return out, err
}

// mix makes candidates of both rankings, each with both scores.
func (c *collection) mix(ctx context.Context, r *row, m *mixture) error {
	var err error
	if m.query.Vector != nil {
		if m.near, err = c.nearest(ctx, r, m.cs, m.query.Vector, m.depth); err != nil {
			return err
		}
	}
	at := map[string]int{}
	for _, f := range slices.Concat(m.words, m.near) {
		k := f.entry.key(f.id, f.index).String()
		if _, ok := at[k]; !ok {
			at[k] = 0
			m.found = append(m.found, f)
		}
	}
	slices.SortFunc(m.found, func(a, b found) int {
		return cmp.Or(strings.Compare(string(a.id), string(b.id)), cmp.Compare(a.index, b.index))
	})
	m.candidates = make([]store.Candidate, len(m.found))
	for i, f := range m.found {
		at[f.entry.key(f.id, f.index).String()] = i
		m.candidates[i] = store.Candidate{DocumentID: f.id, Index: f.index}
	}
	for rank, f := range m.words {
		m.candidates[at[f.entry.key(f.id, f.index).String()]].LexicalRank = rank + 1
	}
	for rank, f := range m.near {
		cand := &m.candidates[at[f.entry.key(f.id, f.index).String()]]
		cand.Dense, cand.DenseRank = f.score, rank+1
	}
	if err := c.scoreWords(m); err != nil {
		return err
	}
	return c.scoreVectors(ctx, r, m)
}

// scoreWords gives every candidate its score by words. Statistics are those of now: a
// batch that came between two steps moves scores a little, and no candidate.
func (c *collection) scoreWords(m *mixture) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.view == nil {
		return errMoved
	}
	var allowed bits
	place := map[uint32]int{}
	for i, f := range m.found {
		slot, ok := c.view.slots[f.id]
		if !ok || c.view.heads[slot].entry != f.entry {
			return errMoved
		}
		chunk := c.view.heads[slot].first + uint32(f.index)
		allowed, place[chunk] = allowed.with(int(chunk)), i
	}
	if len(m.found) == 0 {
		return nil
	}
	r := c.view.text.SearchNear(c.view.analyzer.Query(m.query.Text), lexical.DefaultBM25, allowed, len(m.found), c.view.compare)
	for _, h := range r.Hits {
		cand := &m.candidates[place[h.Row]]
		cand.Lexical, cand.Terms = float64(h.Score), terms(r, h)
	}
	return nil
}

// scoreVectors gives those that only words found their cosine.
func (c *collection) scoreVectors(ctx context.Context, r *row, m *mixture) error {
	if m.query.Vector == nil || r.Spec.Encoder == "" {
		return nil
	}
	var cs candidates
	var which, places []int
	for i, f := range m.found {
		if m.candidates[i].DenseRank == 0 {
			which = append(which, len(cs.targets))
			places = append(places, i)
			cs.targets = append(cs.targets, target{f.id, f.entry, f.index})
		}
	}
	scored, err := c.scored(ctx, r, cs, which, m.query.Vector, len(which))
	if err != nil {
		return err
	}
	type place struct {
		id    string
		index int
	}
	cosines := map[place]float64{}
	for _, f := range scored {
		cosines[place{string(f.id), f.index}] = f.score
	}
	for _, i := range places {
		m.candidates[i].Dense = cosines[place{string(m.found[i].id), m.found[i].index}]
	}
	return nil
}
