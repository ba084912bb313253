package chroma

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

var (
	_ store.RecordReader = (*collection)(nil)
	_ store.MarkReader   = (*journal)(nil)
)

// Records implements store.RecordReader.
func (c *collection) Records(ctx context.Context, ids []sextant.DocumentID) ([]store.Record, error) {
	var present []sextant.DocumentID
	entries := directory{}
	read := map[sextant.DocumentID]store.Record{}
	err := c.reading(ctx, listed, func() error {
		present = present[:0]
		clear(entries)
		for _, id := range ids {
			if e, ok := c.directory[id]; ok {
				present, entries[id] = append(present, id), e
			}
		}
		return nil
	}, func(r *row) error {
		ctx := atLeisure(ctx)
		docs, err := c.bodies(ctx, r, entries, slices.Sorted(maps.Keys(entries)))
		if err != nil {
			return err
		}
		var keys []string
		for _, d := range docs {
			chunks, _ := d.entry.keys(d.document.ID)
			keys = append(keys, chunks...)
		}
		var vectors [][]float32
		if r.Spec.Encoder != "" {
			if vectors, err = c.embeddings(ctx, r, keys); err != nil {
				return err
			}
		}
		for _, d := range docs {
			rec := store.Record{Document: d.document, Chunks: d.chunks}
			if n := len(d.chunks); vectors != nil {
				rec.Vectors, vectors = vectors[:n:n], vectors[n:]
			}
			read[d.document.ID] = rec
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	out := make([]store.Record, len(present))
	for i, id := range present {
		out[i] = read[id]
	}
	return out, nil
}

// Marks implements store.MarkReader.
func (j *journal) Marks(ctx context.Context, after string, limit int) ([]store.Mark, error) {
	g, err := j.store.journalGet(ctx, selection{Where: equals("kind", "mark")})
	if err != nil {
		return nil, fmt.Errorf("read marks: %w", err)
	}
	ids := slices.DeleteFunc(g.IDs, func(id string) bool { return id <= markPrefix+after })
	slices.Sort(ids)
	var out []store.Mark
	for page := range slices.Chunk(ids[:min(limit, len(ids))], 20) {
		notes, err := j.notes(ctx, selection{IDs: page})
		if err != nil {
			return nil, fmt.Errorf("read marks: %w", err)
		}
		for _, n := range notes {
			out = append(out, store.Mark{Key: n.Key, Value: n.Body})
		}
	}
	slices.SortFunc(out, func(a, b store.Mark) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}
