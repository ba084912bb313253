package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/internal/intern"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/vector"
)

const defaultHits = 10

// found is a chunk that a search chose.
type found struct {
	document uint32 // slot
	row      int64  // of its document
	ordinal  int    // within it
	score    float64
	terms    []string
}

// SearchLexical implements store.Collection.
func (c *collection) SearchLexical(ctx context.Context, q store.LexicalQuery) ([]store.Hit, error) {
	hits, err := c.search(ctx, q.Filter, func(v frozen, allowed mask) []found {
		return v.byWords(q.Text, allowed, limitOf(q.Limit))
	})
	if err != nil {
		return nil, fmt.Errorf("search words: %w", err)
	}
	return hits, nil
}

func limitOf(n int) int {
	if n <= 0 {
		return defaultHits
	}
	return n
}

// search has choose pick chunks of the documents under a filter, and reads them.
func (c *collection) search(ctx context.Context, f filter.Filter, choose func(v frozen, allowed mask) []found) ([]store.Hit, error) {
	var chosen []found
	var filterErr error
	s, err := c.pin(ctx, func(x *index) {
		if f, filterErr = x.resolve(f); filterErr != nil {
			return
		}
		if allowed := x.chunksUnder(f); !allowed.empty() {
			chosen = choose(x.freeze(), allowed)
		}
	})
	if err != nil {
		return nil, err
	}
	defer s.close()
	if filterErr != nil {
		return nil, filterErr
	}
	return s.hits(chosen)
}

// chunksUnder returns the live chunks of matching documents.
func (x *index) chunksUnder(f filter.Filter) mask {
	m := x.matching(f)
	if m.count() == x.alive {
		return slices.Clone(x.chunks.live)
	}
	return x.chunks.down(m)
}

// byWords returns the k best chunks by BM25 with nearness, ties in the contract's order.
func (v frozen) byWords(text string, allowed mask, k int) []found {
	r := v.text.SearchNear(v.text.Analyzer().Query(text), lexical.DefaultBM25, allowed, k, v.compare)
	out := make([]found, len(r.Hits))
	for i, h := range r.Hits {
		out[i] = v.found(h.Row, float64(h.Score))
		out[i].terms = terms(r, h)
	}
	return out
}

// compare orders chunks by document id, then ordinal.
func (v frozen) compare(a, b uint32) int {
	da, db := v.parent[a], v.parent[b]
	if da == db {
		return cmp.Compare(a, b)
	}
	return bytes.Compare(v.ids.At(v.idOf[da]), v.ids.At(v.idOf[db]))
}

func (v frozen) found(chunk uint32, score float64) found {
	document, ordinal := v.chunk(chunk)
	return found{document: document, row: v.rowOf[document], ordinal: ordinal, score: score}
}

// best returns the first k in the order of the contract.
func (v frozen) best(all []found, k int) []found {
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.score, a.score),
			bytes.Compare(v.ids.At(v.idOf[a.document]), v.ids.At(v.idOf[b.document])), cmp.Compare(a.ordinal, b.ordinal))
	})
	return all[:min(k, len(all))]
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

// SearchDense implements store.Collection. The scan runs after the columns have been
// left alone: it takes longer than anything else, and rows written meanwhile are not in
// the mask.
func (c *collection) SearchDense(ctx context.Context, q store.DenseQuery) ([]store.Hit, error) {
	hits, err := c.byVector(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("search vectors: %w", err)
	}
	return hits, nil
}

func (c *collection) byVector(ctx context.Context, q store.DenseQuery) ([]store.Hit, error) {
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	if c.Spec().Encoder == "" {
		return nil, fmt.Errorf("the collection has no encoder: %w", store.ErrUnsupported)
	}
	if err := store.CheckUnit(q.Vector); err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrRecord, err)
	}
	var allowed mask
	var view frozen
	var filterErr error
	s, err := c.pin(ctx, func(x *index) {
		if q.Filter, filterErr = x.resolve(q.Filter); filterErr == nil {
			allowed, view = x.chunksUnder(q.Filter), x.freeze()
		}
	})
	if err != nil {
		return nil, err
	}
	defer s.close()
	switch {
	case filterErr != nil:
		return nil, filterErr
	case view.vectors == nil:
		return nil, nil
	}
	chosen, err := view.nearest(ctx, q.Vector, allowed, limitOf(q.Limit), view.stored(s))
	if err != nil {
		return nil, err
	}
	return s.hits(chosen)
}

// frozen is what an index says of chunks, as of one moment. It stays true without the
// lock, since slots and ids are only appended.
type frozen struct {
	parent  []uint32 // by chunk
	first   []uint32 // by document
	rowOf   []int64
	idOf    []uint32
	ids     intern.Strings
	text    lexical.View
	vectors *vector.Matrix
	file    *vectorFile
}

func (x *index) freeze() frozen {
	return frozen{parent: x.chunks.parent, first: x.chunks.first, rowOf: x.rowOf, idOf: x.idOf, ids: *x.ids, text: x.text.View(), vectors: x.vectors, file: x.file}
}

// chunk returns the document a chunk belongs to, and its ordinal there.
func (v frozen) chunk(slot uint32) (document uint32, ordinal int) {
	document = v.parent[slot]
	return document, int(slot - v.first[document])
}

// key returns the key of a chunk's vector.
func (v frozen) key(chunk uint32) int64 {
	document, ordinal := v.chunk(chunk)
	return v.rowOf[document]<<chunkBits | int64(ordinal)
}

// stored reads vectors as they are stored.
func (v frozen) stored(s *snapshot) vector.Fetch {
	return func(_ context.Context, chunks []uint32, into []float32) error { return v.fetch(s, chunks, into) }
}

// nearest returns the k chunks with the largest cosine, scored by the vectors that fetch
// reads; without it by those in RAM, which are within a thousandth or so. As for words, a
// tie at the cut has all its chunks looked at.
func (v frozen) nearest(ctx context.Context, query []float32, allowed mask, k int, fetch vector.Fetch) ([]found, error) {
	k = min(k, v.vectors.Len())
	for n := k + 1; ; n *= 8 {
		hits, err := v.vectors.Search(ctx, query, allowed, n, fetch)
		if err != nil {
			return nil, vectorError(err)
		}
		if len(hits) == n && hits[n-1].Score == hits[k-1].Score {
			continue
		}
		out := make([]found, len(hits))
		for i, h := range hits {
			out[i] = v.found(h.Row, float64(h.Score))
		}
		return v.best(out, k), nil
	}
}

// vectorError makes a query that does not fit the stored vectors the caller's error.
func vectorError(err error) error {
	var length *vector.DimensionError
	if errors.As(err, &length) || errors.Is(err, vector.ErrNotFinite) || errors.Is(err, vector.ErrZero) {
		return fmt.Errorf("%w: %w", store.ErrRecord, err)
	}
	return err
}

// hits reads what is shown of chunks. A document several of them are in is read once.
func (s *snapshot) hits(chosen []found) ([]store.Hit, error) {
	documents := map[int64][]store.Hit{}
	out := make([]store.Hit, len(chosen))
	for i, f := range chosen {
		chunks, ok := documents[f.row]
		if !ok {
			var err error
			if chunks, err = s.chunkHits(f.row); err != nil {
				return nil, err
			}
			documents[f.row] = chunks
		}
		if f.ordinal >= len(chunks) {
			return nil, fmt.Errorf("chunk %d of row %d: %w", f.ordinal, f.row, store.ErrCorrupt)
		}
		out[i] = chunks[f.ordinal]
		out[i].Score, out[i].Terms = f.score, f.terms
	}
	return out, nil
}

// chunkHits returns a document's chunks as hits without a score.
func (s *snapshot) chunkHits(number int64) ([]store.Hit, error) {
	r, err := s.row(number)
	if err != nil {
		return nil, err
	}
	chunks, err := r.decodeChunks()
	if err != nil {
		return nil, err
	}
	d, err := r.document(s.collection, s.names)
	if err != nil {
		return nil, err
	}
	hits := make([]store.Hit, len(chunks))
	for i, ch := range chunks {
		part, _ := d.PartAt(ch.Start)
		hits[i] = store.Hit{Chunk: ch, Title: d.Title, Meta: d.Meta, Locator: part.Locator}
	}
	return hits, nil
}
