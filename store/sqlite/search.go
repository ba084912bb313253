package sqlite

import (
	"context"
	"fmt"

	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
)

const defaultHits = 10

// found is a chunk that a search chose.
type found struct {
	row     int64 // of its document
	ordinal int   // within it
	score   float64
	terms   []string
}

// SearchLexical implements store.Collection.
func (c *collection) SearchLexical(ctx context.Context, q store.LexicalQuery) ([]store.Hit, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = defaultHits
	}
	var chosen []found
	var filterErr error
	s, err := c.pin(ctx, func(x *index) {
		f, err := x.schema.Resolve(q.Filter)
		if err != nil {
			filterErr = err
			return
		}
		allowed := x.chunks.down(x.matching(f))
		r := c.text.Search(c.text.Analyzer().Query(q.Text), lexical.DefaultBM25, allowed, limit)
		for _, h := range r.Hits {
			document, ordinal := x.chunk(h.Row)
			chosen = append(chosen, found{x.rowOf[document], ordinal, float64(h.Score), terms(r, h)})
		}
	})
	if err == nil {
		defer s.close()
		err = filterErr
	}
	if err != nil {
		return nil, fmt.Errorf("search words: %w", err)
	}
	hits, err := s.hits(ctx, chosen)
	if err != nil {
		return nil, fmt.Errorf("search words: %w", err)
	}
	return hits, nil
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
