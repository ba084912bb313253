package qdrant

import (
	"context"
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

var _ store.RecordReader = (*collection)(nil)

// Records implements store.RecordReader: a few requests for many documents, where each
// alone would be as many.
func (c *collection) Records(ctx context.Context, ids []sextant.DocumentID) (out []store.Record, err error) {
	err = c.asked(ctx, func(ctx context.Context) error {
		out, err = c.records(ctx, ids)
		return err
	})
	return out, failure("records", err)
}

func (c *collection) records(ctx context.Context, ids []sextant.DocumentID) ([]store.Record, error) {
	r, err := c.fresh(ctx)
	if err != nil {
		return nil, err
	}
	docs, err := c.documents(ctx, ids)
	if err != nil {
		return nil, err
	}
	heads, err := c.heads(ctx, ids, []string{"document_id", "_chunks"})
	if err != nil {
		return nil, err
	}
	var chunkIDs []string
	for _, d := range docs {
		for i := range heads[d.ID].Chunks {
			chunkIDs = append(chunkIDs, c.id(sextant.ChunkID(d.ID, i)))
		}
	}
	points, err := c.pointsBy(ctx, &r.Spec.Encoder, chunkIDs, want{Fields: chunkFields, Dense: r.Dimension > 0})
	if err != nil {
		return nil, err
	}
	type piece struct {
		chunk sextant.Chunk
		dense []float32
	}
	pieces := map[sextant.DocumentID][]piece{}
	for _, p := range points {
		ch, err := chunkOf(p)
		if err != nil {
			return nil, err
		}
		id := sextant.DocumentID(ch.Document)
		pieces[id] = append(pieces[id], piece{ch.chunk(), p.Dense})
	}
	out := make([]store.Record, len(docs))
	for i, d := range docs {
		out[i].Document = d
		if have := len(pieces[d.ID]); have != heads[d.ID].Chunks {
			return nil, fmt.Errorf("document %q: %d of %d chunks: %w", d.ID, have, heads[d.ID].Chunks, store.ErrUnavailable)
		}
		slices.SortFunc(pieces[d.ID], func(a, b piece) int { return a.chunk.Index - b.chunk.Index })
		for _, p := range pieces[d.ID] {
			out[i].Chunks = append(out[i].Chunks, p.chunk)
			if r.Dimension > 0 {
				out[i].Vectors = append(out[i].Vectors, p.dense)
			}
		}
	}
	return out, nil
}
