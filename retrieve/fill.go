package retrieve

import (
	"context"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

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
