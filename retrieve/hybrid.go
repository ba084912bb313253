package retrieve

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/sextant-rag/sextant/store"
)

// hybrid has the store rank by words and vectors together, or does it here with its two
// searches where it cannot.
func hybrid(ctx context.Context, c store.Collection, q store.HybridQuery) ([]store.HybridHit, error) {
	if h, ok := c.(store.Hybrid); ok {
		return h.SearchHybrid(ctx, q)
	}
	return joined(ctx, c, q)
}

// joined joins a store's two searches. A score that only the other search could give is
// taken to be the least that it gave to any: the truth is at most that.
func joined(ctx context.Context, c store.Collection, q store.HybridQuery) ([]store.HybridHit, error) {
	depth := cmp.Or(q.Depth, store.DefaultDepth)
	var words, near []store.Hit
	var wordsErr, nearErr error
	var both sync.WaitGroup
	both.Go(func() {
		words, wordsErr = c.SearchLexical(ctx, store.LexicalQuery{Text: q.Text, Filter: q.Filter, Limit: depth})
	})
	if q.Vector != nil {
		near, nearErr = c.SearchDense(ctx, store.DenseQuery{Vector: q.Vector, Filter: q.Filter, Limit: depth})
	}
	both.Wait()
	if err := errors.Join(wordsErr, nearErr); err != nil {
		return nil, err
	}
	hits := join(words, near)
	candidates := make([]store.Candidate, len(hits))
	for i := range hits {
		hits[i].Place, candidates[i] = i, hits[i].Candidate
	}
	var out []store.HybridHit
	for _, i := range q.Choose(candidates) {
		out = append(out, hits[i])
	}
	return out, nil
}

func join(words, near []store.Hit) []store.HybridHit {
	byID := map[string]*store.HybridHit{}
	enter := func(h store.Hit) *store.Candidate {
		hit := byID[h.Chunk.ID]
		if hit == nil {
			hit = &store.HybridHit{Hit: h, Candidate: store.Candidate{DocumentID: h.Chunk.DocumentID, Index: h.Chunk.Index}}
			hit.Hit.Score = 0
			byID[h.Chunk.ID] = hit
		}
		return &hit.Candidate
	}
	for i, h := range words {
		c := enter(h)
		c.Lexical, c.LexicalRank, c.Terms = h.Score, i+1, h.Terms
	}
	for i, h := range near {
		c := enter(h)
		c.Dense, c.DenseRank = h.Score, i+1
	}
	out := make([]store.HybridHit, 0, len(byID))
	for _, h := range byID {
		if c := &h.Candidate; c.DenseRank == 0 && len(near) > 0 {
			c.Dense = near[len(near)-1].Score
		}
		if c := &h.Candidate; c.LexicalRank == 0 && len(words) > 0 {
			c.Lexical = words[len(words)-1].Score
		}
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b store.HybridHit) int {
		return cmp.Or(cmp.Compare(a.Candidate.DocumentID, b.Candidate.DocumentID), cmp.Compare(a.Candidate.Index, b.Candidate.Index))
	})
	return out
}
