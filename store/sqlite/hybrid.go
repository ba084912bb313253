package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
)

var _ store.Hybrid = (*collection)(nil)

// SearchHybrid implements store.Hybrid. Words and vectors are searched side by side,
// after the columns have been left alone; then each scores what the other found.
func (c *collection) SearchHybrid(ctx context.Context, q store.HybridQuery) ([]store.HybridHit, error) {
	hits, err := c.hybrid(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("search words and vectors: %w", err)
	}
	return hits, nil
}

func (c *collection) hybrid(ctx context.Context, q store.HybridQuery) ([]store.HybridHit, error) {
	if q.Vector != nil {
		if err := store.CheckUnit(q.Vector); err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrRecord, err)
		}
	}
	var allowed mask
	var view frozen
	var unfit error
	s, err := c.pin(ctx, func(x *index) {
		if encoder := c.entry.spec.Encoder; q.Vector != nil && q.Encoder != encoder {
			unfit = fmt.Errorf("%w: the query's is %q, the collection's %q", store.ErrEncoder, q.Encoder, encoder)
			return
		}
		if q.Filter, unfit = x.schema.Resolve(q.Filter); unfit == nil {
			allowed, view = x.chunksUnder(q.Filter), x.freeze()
		}
	})
	if err != nil {
		return nil, err
	}
	defer s.close()
	if unfit != nil || allowed.empty() {
		return nil, unfit
	}
	r := ranking{view: view, snapshot: s, query: q, allowed: allowed, depth: cmp.Or(max(q.Depth, 0), store.DefaultDepth)}
	if err := c.reading(func() error { return r.run(ctx) }); err != nil {
		return nil, err
	}
	return r.chosen()
}

// ranking is a hybrid search under way.
type ranking struct {
	view     frozen
	snapshot *snapshot
	query    store.HybridQuery
	allowed  mask
	depth    int

	found      []found           // candidates, in order of document id and ordinal
	candidates []store.Candidate // of these
}

func (r *ranking) run(ctx context.Context) error {
	var words []found
	done := make(chan error, 1) // waits for nobody, should the other side panic
	go func() {
		done <- lexical.Guard(func() { words = r.view.byWords(r.query.Text, r.allowed, r.depth) })
	}()
	near, err := r.nearest(ctx, r.allowed, r.depth)
	if fault := <-done; fault != nil {
		return fault
	}
	if err != nil {
		return err
	}
	union := r.join(words, near)
	r.scoreWords(union)
	return r.scoreVectors(ctx, union)
}

// nearest is the dense side; none without vectors. It goes by the vectors in RAM: what
// they are off by changes no ranking that was measured, and reading hundreds of stored
// ones would take longer than all else.
func (r *ranking) nearest(ctx context.Context, allowed mask, k int) ([]found, error) {
	if r.query.Vector == nil || r.view.vectors == nil || k == 0 {
		return nil, nil
	}
	return r.view.nearest(ctx, r.query.Vector, allowed, k, nil)
}

// join makes candidates of both rankings and returns them as a mask.
func (r *ranking) join(words, near []found) mask {
	union := newMask(len(r.view.parent))
	for _, f := range slices.Concat(words, near) {
		if slot := r.slot(f); !union.has(slot) {
			union.set(slot)
			r.found = append(r.found, f)
		}
	}
	slices.SortFunc(r.found, func(a, b found) int {
		return cmp.Or(bytes.Compare(r.id(a), r.id(b)), cmp.Compare(a.ordinal, b.ordinal))
	})
	r.candidates = make([]store.Candidate, len(r.found))
	for i, f := range r.found {
		r.candidates[i] = store.Candidate{DocumentID: sextant.DocumentID(r.id(f)), Index: f.ordinal}
	}
	at := r.places()
	for rank, f := range words {
		r.candidates[at[r.slot(f)]].LexicalRank = rank + 1
	}
	for rank, f := range near {
		c := &r.candidates[at[r.slot(f)]]
		c.Dense, c.DenseRank = f.score, rank+1
	}
	return union
}

func (r *ranking) slot(f found) uint32 { return r.view.first[f.document] + uint32(f.ordinal) }

func (r *ranking) id(f found) []byte { return r.view.ids.At(r.view.idOf[f.document]) }

// places says where in the candidates a chunk stands, by slot.
func (r *ranking) places() map[uint32]int {
	at := make(map[uint32]int, len(r.found))
	for i, f := range r.found {
		at[r.slot(f)] = i
	}
	return at
}

// scoreWords scores all candidates by words, with the nearness of the words to each
// other, which is too dear for more rows than these.
func (r *ranking) scoreWords(union mask) {
	at := r.places()
	result := r.view.text.SearchNear(r.view.text.Analyzer().Query(r.query.Text), lexical.DefaultBM25, union, len(r.found), r.view.compare)
	for _, h := range result.Hits {
		c := &r.candidates[at[h.Row]]
		c.Lexical, c.Terms = float64(h.Score), terms(result, h)
	}
}

// scoreVectors gives those that only words found their cosine.
func (r *ranking) scoreVectors(ctx context.Context, union mask) error {
	if r.query.Vector == nil {
		return nil
	}
	missing := 0
	for i, f := range r.found {
		if r.candidates[i].DenseRank > 0 {
			union.clear(r.slot(f))
			continue
		}
		missing++
	}
	near, err := r.nearest(ctx, union, missing)
	if err != nil {
		return err
	}
	at := r.places()
	for _, f := range near {
		r.candidates[at[r.slot(f)]].Dense = f.score
	}
	return nil
}

// chosen reads what the query chooses.
func (r *ranking) chosen() ([]store.HybridHit, error) {
	picks := r.query.Choose(slices.Clone(r.candidates))
	found := make([]found, len(picks))
	for i, p := range picks {
		found[i] = r.found[p]
		found[i].score, found[i].terms = 0, r.candidates[p].Terms
	}
	hits, err := r.snapshot.hits(found)
	if err != nil {
		return nil, err
	}
	out := make([]store.HybridHit, len(hits))
	for i, h := range hits {
		out[i] = store.HybridHit{Hit: h, Candidate: r.candidates[picks[i]], Place: picks[i]}
	}
	return out, nil
}
