package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
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
	hits, err := c.search(ctx, q.Filter, func(x *index, allowed mask) []found {
		return c.byWords(x, q.Text, allowed, limitOf(q.Limit))
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
func (c *collection) search(ctx context.Context, f filter.Filter, choose func(x *index, allowed mask) []found) ([]store.Hit, error) {
	var chosen []found
	var filterErr error
	s, err := c.pin(ctx, func(x *index) {
		f, filterErr = x.schema.Resolve(f)
		if filterErr == nil {
			chosen = choose(x, x.chunks.down(x.matching(f)))
		}
	})
	if err != nil {
		return nil, err
	}
	defer s.close()
	if filterErr != nil {
		return nil, filterErr
	}
	return s.hits(ctx, chosen)
}

// byWords returns the k best chunks by BM25. The index breaks ties by slot, the
// contract by document id: where the score at the cut goes on behind it, all chunks
// that have it must be looked at.
func (c *collection) byWords(x *index, text string, allowed mask, k int) []found {
	query := c.text.Analyzer().Query(text)
	for n := k + 1; ; n *= 8 {
		r := c.text.Search(query, lexical.DefaultBM25, allowed, n)
		if len(r.Hits) == n && r.Hits[n-1].Score == r.Hits[k-1].Score {
			continue
		}
		out := make([]found, len(r.Hits))
		for i, h := range r.Hits {
			out[i] = x.found(h.Row, float64(h.Score))
			out[i].terms = terms(r, h)
		}
		return x.best(out, k)
	}
}

func (x *index) found(chunk uint32, score float64) found {
	document, ordinal := x.chunk(chunk)
	return found{document: document, row: x.rowOf[document], ordinal: ordinal, score: score}
}

// best returns the first k in the order of the contract.
func (x *index) best(all []found, k int) []found {
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.score, a.score),
			bytes.Compare(x.ids.at(x.idOf[a.document]), x.ids.at(x.idOf[b.document])), cmp.Compare(a.ordinal, b.ordinal))
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

// SearchDense implements store.Collection.
func (c *collection) SearchDense(ctx context.Context, q store.DenseQuery) ([]store.Hit, error) {
	return nil, fmt.Errorf("search vectors: %w", store.ErrUnsupported)
}

// hits reads what is shown of chunks. A document several of them are in is read once.
func (s *snapshot) hits(ctx context.Context, chosen []found) ([]store.Hit, error) {
	documents := map[int64][]store.Hit{}
	out := make([]store.Hit, len(chosen))
	for i, f := range chosen {
		chunks, ok := documents[f.row]
		if !ok {
			var err error
			if chunks, err = s.chunkHits(ctx, f.row); err != nil {
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
func (s *snapshot) chunkHits(ctx context.Context, number int64) ([]store.Hit, error) {
	r, err := s.row(ctx, number)
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
