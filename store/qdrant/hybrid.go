package qdrant

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/vector"
)

var _ store.Hybrid = (*collection)(nil)

// SearchHybrid implements store.Hybrid. Words and vectors are asked for side by side; then
// each scores what only the other found.
func (c *collection) SearchHybrid(ctx context.Context, q store.HybridQuery) (hits []store.HybridHit, err error) {
	err = c.asked(ctx, func(ctx context.Context) error {
		hits, err = c.hybrid(ctx, q)
		return err
	})
	return hits, failure("search words and vectors", err)
}

func (c *collection) hybrid(ctx context.Context, q store.HybridQuery) ([]store.HybridHit, error) {
	now, err := c.fresh(ctx)
	if err != nil {
		return nil, err
	}
	if q.Vector != nil {
		if err := store.CheckUnit(q.Vector); err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrRecord, err)
		}
		if q.Encoder != now.Spec.Encoder {
			return nil, otherEncoder(q.Encoder, now)
		}
	}
	f, err := c.resolved(ctx, q.Filter)
	if err != nil {
		return nil, err
	}
	depth := cmp.Or(max(q.Depth, 0), store.DefaultDepth)
	r, err := c.ranking(ctx, q.Text)
	if err != nil {
		return nil, err
	}
	sides, err := each(ctx, map[string]bool{"words": true, "vectors": q.Vector != nil}, func(ctx context.Context, side string) ([]candidate, error) {
		switch {
		case side == "words":
			return c.ranked(ctx, r, f, depth)
		case q.Vector != nil:
			return c.byVector(ctx, now, q.Vector, f, depth)
		}
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	u := joined(sides["words"], sides["vectors"])
	if err := u.scoreWords(r); err != nil {
		return nil, err
	}
	if err := c.scoreVectors(ctx, now, u, q.Vector); err != nil {
		return nil, err
	}
	return c.chosen(ctx, u, q.Choose)
}

// union is the candidates of both sides, in order of document id and index.
type union struct {
	found      []candidate
	candidates []store.Candidate // of these
}

func joined(words, near []candidate) *union {
	u := &union{}
	u.found = slices.Concat(words, near)
	slices.SortFunc(u.found, compareCandidates)
	u.found = slices.CompactFunc(u.found, func(a, b candidate) bool { return compareCandidates(a, b) == 0 })
	for _, f := range u.found {
		u.candidates = append(u.candidates, store.Candidate{DocumentID: sextant.DocumentID(f.chunk.Document), Index: f.chunk.Index})
	}
	for rank, f := range words {
		u.candidates[u.place(f)].LexicalRank = rank + 1
	}
	for rank, f := range near {
		a := &u.candidates[u.place(f)]
		a.Dense, a.DenseRank = f.score, rank+1
	}
	return u
}

func (u *union) place(f candidate) int {
	i, _ := slices.BinarySearchFunc(u.found, f, compareCandidates)
	return i
}

// scoreWords scores all by their words.
func (u *union) scoreWords(r ranking) error {
	if len(r.terms) == 0 {
		return nil
	}
	ranked, _, err := r.rank(slices.Clone(u.found), len(u.found), len(u.found))
	for _, f := range ranked {
		a := &u.candidates[u.place(f)]
		a.Lexical, a.Terms = f.score, f.terms
	}
	return err
}

// scoreVectors gives those that only words found their cosine.
func (c *collection) scoreVectors(ctx context.Context, r row, u *union, v []float32) error {
	if v == nil || r.Dimension == 0 {
		return nil
	}
	place := map[string]int{}
	var ids []string
	for i, f := range u.found {
		if u.candidates[i].DenseRank == 0 {
			id := c.id(f.chunk.ID)
			place[id] = i
			ids = append(ids, id)
		}
	}
	points, err := c.pointsBy(ctx, &r.Spec.Encoder, ids, want{Dense: true})
	for _, p := range points {
		if len(p.Dense) == len(v) {
			u.candidates[place[p.ID]].Dense = float64(vector.Product(v, p.Dense))
		}
	}
	return err
}

// chosen reads what the query chooses. A chunk whose document is gone by now is left out.
func (c *collection) chosen(ctx context.Context, u *union, choose func([]store.Candidate) []int) ([]store.HybridHit, error) {
	picks := choose(slices.Clone(u.candidates))
	var out []store.HybridHit
	found := make([]candidate, len(picks))
	for i, p := range picks {
		found[i] = u.found[p]
		found[i].score, found[i].terms = 0, u.candidates[p].Terms
	}
	hits, err := c.hits(ctx, found)
	if err != nil {
		return nil, err
	}
	at := 0
	for i, p := range picks {
		if at < len(hits) && hits[at].Chunk.ID == found[i].chunk.ID {
			out = append(out, store.HybridHit{Hit: hits[at], Candidate: u.candidates[p], Place: p})
			at++
		}
	}
	return out, nil
}
