package qdrant

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Revisions implements store.Collection.
func (c *collection) Revisions(ctx context.Context, ids []sextant.DocumentID) (map[sextant.DocumentID]string, error) {
	out := map[sextant.DocumentID]string{}
	err := c.asked(ctx, func(ctx context.Context) error {
		heads, err := c.heads(ctx, ids, []string{"document_id", "_revision"})
		for id, h := range heads {
			out[id] = h.Revision
		}
		return err
	})
	return out, failure("revisions", err)
}

// asked runs a question under the time it may take.
func (c *collection) asked(ctx context.Context, ask func(context.Context) error) error {
	err := c.s.usable(ctx)
	if err != nil {
		return err
	}
	if c.isGone() {
		return fmt.Errorf("the collection was dropped: %w", store.ErrUnavailable)
	}
	return ask(ctx)
}

// heads reads fields of documents' heads; those that do not exist are left out.
func (c *collection) heads(ctx context.Context, ids []sextant.DocumentID, fields []string) (map[sextant.DocumentID]headPayload, error) {
	var list []string
	for _, id := range distinct(ids) {
		list = append(list, c.id(headRecord(id)))
	}
	points, err := c.points(ctx, list, want{Fields: fields})
	if err != nil {
		return nil, err
	}
	out := make(map[sextant.DocumentID]headPayload, len(points))
	for _, p := range points {
		var h headPayload
		if err := json.Unmarshal(p.Payload, &h); err != nil {
			return nil, fmt.Errorf("head: %w: %w", store.ErrCorrupt, err)
		}
		out[sextant.DocumentID(h.Document)] = h
	}
	return out, nil
}

var documentFields = []string{"document_id", "title", "_revision", "_record", "text", "_texts", "_chunks"}

// Get implements store.Collection.
func (c *collection) Get(ctx context.Context, ids []sextant.DocumentID) (out []sextant.Document, err error) {
	err = c.asked(ctx, func(ctx context.Context) error {
		out, err = c.documents(ctx, ids)
		return err
	})
	return out, failure("get", err)
}

func (c *collection) documents(ctx context.Context, ids []sextant.DocumentID) ([]sextant.Document, error) {
	heads, err := c.heads(ctx, ids, documentFields)
	if err != nil {
		return nil, err
	}
	if err := c.readTexts(ctx, heads); err != nil {
		return nil, err
	}
	var out []sextant.Document
	for _, id := range ids {
		h, ok := heads[id]
		if !ok {
			continue
		}
		d, err := c.documentOf(h)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// readTexts puts together texts that one point does not hold.
func (c *collection) readTexts(ctx context.Context, heads map[sextant.DocumentID]headPayload) error {
	for id, h := range heads {
		if h.Texts == 0 {
			continue
		}
		pieces := make([]string, h.Texts)
		var list []string
		place := map[string]int{}
		for i := range pieces {
			p := c.id(textRecord(id, i+1))
			place[p] = i
			list = append(list, p)
		}
		points, err := c.points(ctx, list, want{Fields: []string{"text"}})
		if err != nil {
			return err
		}
		if len(points) != h.Texts {
			return fmt.Errorf("document %q: %d of %d pieces of its text: %w", id, len(points), h.Texts, store.ErrCorrupt)
		}
		for _, p := range points {
			var t textPayload
			if err := json.Unmarshal(p.Payload, &t); err != nil {
				return fmt.Errorf("text: %w: %w", store.ErrCorrupt, err)
			}
			pieces[place[p.ID]] = t.Text
		}
		for _, text := range pieces {
			h.Text += text
		}
		heads[id] = h
	}
	return nil
}

// documentOf makes a document of its head, without the text if that was not read.
func (c *collection) documentOf(h headPayload) (sextant.Document, error) {
	spec := c.Spec()
	d := sextant.Document{ID: sextant.DocumentID(h.Document), Collection: spec.Name, Title: h.Title, Text: h.Text, Revision: h.Revision}
	var r record
	if err := json.Unmarshal([]byte(h.Record), &r); err != nil {
		return d, fmt.Errorf("document %q: %w: %w", d.ID, store.ErrCorrupt, err)
	}
	meta, err := spec.Schema.Decode(r.Metadata)
	if err != nil {
		return d, fmt.Errorf("document %q: %w: %w", d.ID, store.ErrCorrupt, err)
	}
	d.Source, d.Parts, d.Valid, d.Differences, d.Meta = r.Source, r.Parts, r.Valid, r.Differences, meta
	d.Source.Retrieved = d.Source.Retrieved.UTC()
	d.Valid.From, d.Valid.To = d.Valid.From.UTC(), d.Valid.To.UTC()
	for i := range d.Differences {
		d.Differences[i].Source.Retrieved = d.Differences[i].Source.Retrieved.UTC()
	}
	return d, nil
}

var chunkFields = []string{"chunk_id", "document_id", "chunk_index", "start", "end", "heading", "content"}

// Chunks implements store.Collection.
func (c *collection) Chunks(ctx context.Context, id sextant.DocumentID) (out []sextant.Chunk, err error) {
	err = c.asked(ctx, func(ctx context.Context) error {
		points, err := c.chunkPoints(ctx, nil, id, want{Fields: chunkFields})
		for _, p := range points {
			ch, err := chunkOf(p)
			if err != nil {
				return err
			}
			out = append(out, ch.chunk())
		}
		return err
	})
	slices.SortFunc(out, func(a, b sextant.Chunk) int { return a.Index - b.Index })
	return out, failure("chunks of "+string(id), err)
}

// chunkPoints reads the points of a document's chunks, in no order.
func (c *collection) chunkPoints(ctx context.Context, encoder *string, id sextant.DocumentID, w want) ([]point, error) {
	heads, err := c.heads(ctx, []sextant.DocumentID{id}, []string{"document_id", "_chunks"})
	if err != nil {
		return nil, err
	}
	var list []string
	for i := range heads[id].Chunks {
		list = append(list, c.id(sextant.ChunkID(id, i)))
	}
	return c.pointsBy(ctx, encoder, list, w)
}

func chunkOf(p point) (chunkPayload, error) {
	var ch chunkPayload
	if err := json.Unmarshal(p.Payload, &ch); err != nil {
		return ch, fmt.Errorf("chunk: %w: %w", store.ErrCorrupt, err)
	}
	return ch, nil
}

func (p chunkPayload) chunk() sextant.Chunk {
	return sextant.Chunk{ID: p.ID, DocumentID: sextant.DocumentID(p.Document), Index: p.Index, Start: p.Start, End: p.End, Heading: p.Heading, Content: p.Content}
}

var _ store.VectorReader = (*collection)(nil)

// Vectors implements store.VectorReader.
func (c *collection) Vectors(ctx context.Context, id sextant.DocumentID) (out [][]float32, err error) {
	err = c.asked(ctx, func(ctx context.Context) error {
		r, err := c.fresh(ctx)
		if err != nil || r.Dimension == 0 {
			return err
		}
		points, err := c.chunkPoints(ctx, &r.Spec.Encoder, id, want{Fields: []string{"chunk_index"}, Dense: true})
		if err != nil {
			return err
		}
		out = make([][]float32, len(points))
		for _, p := range points {
			ch, err := chunkOf(p)
			if err != nil {
				return err
			}
			if ch.Index >= len(out) {
				return fmt.Errorf("chunk %d of %d: %w", ch.Index, len(out), store.ErrCorrupt)
			}
			out[ch.Index] = p.Dense
		}
		return nil
	})
	return out, failure("vectors", err)
}

// scanPage is how many documents are read at once.
const scanPage = 64

// Scan implements store.Collection.
func (c *collection) Scan(ctx context.Context, f filter.Filter) iter.Seq2[sextant.Document, error] {
	return func(yield func(sextant.Document, error) bool) {
		ids, err := c.matching(ctx, f)
		if err != nil {
			yield(sextant.Document{}, failure("scan", err))
			return
		}
		for len(ids) > 0 {
			n := min(len(ids), scanPage)
			documents, err := c.Get(ctx, ids[:n])
			for _, d := range documents {
				if ctx.Err() != nil {
					err = ctx.Err()
					break
				}
				if !yield(d, nil) {
					return
				}
			}
			if err != nil {
				yield(sextant.Document{}, failure("scan", err))
				return
			}
			ids = ids[n:]
		}
	}
}

// Size implements store.Collection. What it costs, the server does not say.
func (c *collection) Size(ctx context.Context) (size store.Size, err error) {
	err = c.asked(ctx, func(ctx context.Context) error {
		if size.Documents, err = c.count(ctx, heads()); err != nil {
			return err
		}
		if size.Chunks, err = c.count(ctx, &clause{Must: []condition{isKind(kindChunk)}}); err != nil {
			return err
		}
		r := c.current()
		if r.Dimension > 0 {
			size.Vectors = size.Chunks
		}
		size.StoredAs = c.s.external(r.Spec.Name)
		size.Points, err = c.count(ctx, nil)
		return err
	})
	return size, failure("size", err)
}
