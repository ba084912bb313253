// Package retrieve turns one query into passages: chunks of documents that satisfy the
// filter, ranked, each with the reasons for its place.
//
// The filter comes first, always: ranking happens among the documents that satisfy
// every condition, so the only match is found however far down it would stand
// otherwise. A store that cannot be reached is an error, never an empty result.
package retrieve

import (
	"context"
	"fmt"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Query is what to look for in one collection.
type Query struct {
	Text        string        // content words; "" finds by the filter alone
	Filter      filter.Filter // nil: everything
	Limit       int           // passages
	PerDocument int           // passages of one document at most; 0 is no bound
	Fill        bool          // complete with documents that satisfy the filter, newest first
}

// overfetch is how many more chunks are ranked than passages are wanted, so that
// folding by document leaves enough.
const overfetch = 4

// Search ranks the collection's chunks for the query.
func Search(ctx context.Context, c store.Collection, q Query) ([]sextant.Passage, error) {
	spec := c.Spec()
	var out []sextant.Passage
	if q.Text != "" {
		hits, err := c.SearchLexical(ctx, store.LexicalQuery{Text: q.Text, Filter: q.Filter, Limit: q.Limit * overfetch})
		if err != nil {
			return nil, fmt.Errorf("search %s: %w", spec.Name, err)
		}
		for rank, h := range hits {
			p := passage(spec.Name, h)
			p.Reasons = []sextant.Reason{{Kind: "lexical", Score: h.Score, Rank: rank + 1, Terms: h.Terms}}
			out = append(out, p)
		}
		out = fold(out, q.PerDocument)
	}
	if len(out) < q.Limit && q.Fill {
		filled, err := fill(ctx, c, q, out)
		if err != nil {
			return nil, fmt.Errorf("search %s: %w", spec.Name, err)
		}
		out = append(out, filled...)
	}
	return out[:min(len(out), q.Limit)], nil
}

func passage(collection string, h store.Hit) sextant.Passage {
	return sextant.Passage{ChunkID: h.Chunk.ID, DocumentID: h.Chunk.DocumentID, Source: collection, ChunkIndex: h.Chunk.Index, Content: h.Chunk.Content, Metadata: h.Meta,
		Title: h.Title, Locator: h.Locator, Heading: h.Chunk.Heading, Start: h.Chunk.Start, End: h.Chunk.End, Score: h.Score}
}

// fold keeps at most n passages of one document, the best ones.
func fold(passages []sextant.Passage, n int) []sextant.Passage {
	if n <= 0 {
		return passages
	}
	seen := map[sextant.DocumentID]int{}
	out := passages[:0:0]
	for _, p := range passages {
		if seen[p.DocumentID]++; seen[p.DocumentID] <= n {
			out = append(out, p)
		}
	}
	return out
}

// fill adds the first chunk of documents that satisfy the filter and share no word
// with the query, newest first.
func fill(ctx context.Context, c store.Collection, q Query, have []sextant.Passage) ([]sextant.Passage, error) {
	known := map[sextant.DocumentID]bool{}
	for _, p := range have {
		known[p.DocumentID] = true
	}
	spec := c.Spec()
	list, err := c.List(ctx, store.ListQuery{Filter: q.Filter, By: spec.DateField, Desc: true, Limit: q.Limit + len(known)})
	if err != nil {
		return nil, err
	}
	var ids []sextant.DocumentID
	for _, id := range list.IDs {
		if !known[id] && len(have)+len(ids) < q.Limit {
			ids = append(ids, id)
		}
	}
	docs, err := c.Get(ctx, ids)
	if err != nil {
		return nil, err
	}
	var out []sextant.Passage
	for _, d := range docs {
		chunks, err := c.Chunks(ctx, d.ID)
		if err != nil {
			return nil, err
		}
		if len(chunks) == 0 {
			continue
		}
		p := passage(spec.Name, store.Hit{Chunk: chunks[0], Title: d.Title, Meta: d.Meta})
		if part, ok := d.PartAt(chunks[0].Start); ok {
			p.Locator = part.Locator
		}
		p.Reasons = []sextant.Reason{{Kind: "filter", Detail: "satisfies every condition"}}
		out = append(out, p)
	}
	return out, nil
}
