package chroma

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// bodiesAtOnce is how many documents one request reads: a page must come within the
// time limit of a request.
const bodiesAtOnce = 100

// bodies reads documents that a directory lists, in the order of ids; errMoved if one is
// not on the server any more.
func (c *collection) bodies(ctx context.Context, r *row, d directory, ids []sextant.DocumentID) ([]held, error) {
	out := make([]held, 0, len(ids))
	for page := range slices.Chunk(ids, bodiesAtOnce) {
		texts, err := c.firsts(ctx, r, d, page, "uris")
		if err != nil {
			return nil, err
		}
		for i, id := range page {
			doc, chunks, err := unpackBody(texts[i], &r.Spec.Schema, r.Spec.Name)
			switch {
			case err != nil:
				return nil, fmt.Errorf("document %q: %w", id, err)
			case doc.ID != id || len(chunks) != d[id].chunks:
				return nil, fmt.Errorf("document %q is stored under the name of %q: %w", doc.ID, id, store.ErrCorrupt)
			}
			out = append(out, held{doc, chunks, d[id], len(texts[i])})
		}
	}
	return out, nil
}

// firsts reads one column of the records that stand for documents, in the order of ids.
func (c *collection) firsts(ctx context.Context, r *row, d directory, ids []sextant.DocumentID, column string) ([]string, error) {
	var records, markers []string
	places := make(map[string]int, len(ids))
	for i, id := range ids {
		key := d[id].key(id, 0).String()
		places[key] = i
		if d[id].chunks == 0 {
			markers = append(markers, key)
		} else {
			records = append(records, key)
		}
	}
	out, found := make([]string, len(ids)), 0
	for _, part := range []struct {
		in  string
		ids []string
	}{{r.Records, records}, {r.catalog, markers}} {
		if len(part.ids) == 0 {
			continue
		}
		g, err := c.store.client.get(ctx, part.in, selection{IDs: part.ids, Include: []string{column}})
		if err != nil {
			return nil, err
		}
		for i, id := range g.IDs {
			at, ok := places[id]
			if !ok {
				return nil, badAnswer("the records asked for")
			}
			switch {
			case column == "metadatas":
				out[at] = string(g.Metadatas[i])
			case g.URIs[i] != nil:
				out[at] = *g.URIs[i]
			}
			found++
		}
	}
	if found != len(ids) {
		return nil, errMoved
	}
	return out, nil
}

// Get implements store.Collection.
func (c *collection) Get(ctx context.Context, ids []sextant.DocumentID) ([]sextant.Document, error) {
	docs, err := c.documents(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	out := make([]sextant.Document, len(docs))
	for i, d := range docs {
		out[i] = d.document
	}
	return out, nil
}

// documents reads those of ids that exist, in their order.
func (c *collection) documents(ctx context.Context, ids []sextant.DocumentID) ([]held, error) {
	var present []sextant.DocumentID
	entries := directory{}
	var read map[sextant.DocumentID]held
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
		docs, err := c.bodies(ctx, r, entries, slices.Sorted(maps.Keys(entries)))
		read = make(map[sextant.DocumentID]held, len(docs))
		for _, d := range docs {
			read[d.document.ID] = d
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]held, len(present))
	for i, id := range present {
		out[i] = read[id]
	}
	return out, nil
}

// Chunks implements store.Collection.
func (c *collection) Chunks(ctx context.Context, id sextant.DocumentID) ([]sextant.Chunk, error) {
	docs, err := c.documents(ctx, []sextant.DocumentID{id})
	if err != nil {
		return nil, fmt.Errorf("chunks: %w", err)
	}
	if len(docs) == 0 {
		return nil, nil
	}
	return docs[0].chunks, nil
}

// Revisions implements store.Collection.
func (c *collection) Revisions(ctx context.Context, ids []sextant.DocumentID) (map[sextant.DocumentID]string, error) {
	out := make(map[sextant.DocumentID]string, len(ids))
	entries := directory{}
	err := c.reading(ctx, listed, func() error {
		clear(out)
		clear(entries)
		for _, id := range ids {
			e, ok := c.directory[id]
			switch {
			case !ok:
			case c.view != nil:
				out[id] = c.view.heads[c.view.slots[id]].revision
			default:
				entries[id] = e
			}
		}
		return nil
	}, func(r *row) error {
		for page := range slices.Chunk(slices.Sorted(maps.Keys(entries)), 4*bodiesAtOnce) {
			texts, err := c.firsts(ctx, r, entries, page, "metadatas")
			if err != nil {
				return err
			}
			for i, id := range page {
				var m struct {
					Revision string `json:"revision"`
				}
				if err := json.Unmarshal([]byte(texts[i]), &m); err != nil {
					return badAnswer("metadata")
				}
				out[id] = m.Revision
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("revisions: %w", err)
	}
	return out, nil
}

// Scan implements store.Collection. All documents yielded are of the state in which the
// scan began; another process that replaces some meanwhile ends it with an error.
func (c *collection) Scan(ctx context.Context, f filter.Filter) iter.Seq2[sextant.Document, error] {
	return func(yield func(sextant.Document, error) bool) {
		stopped := false
		err := c.scan(ctx, f, func(d sextant.Document) bool {
			stopped = !yield(d, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(sextant.Document{}, fmt.Errorf("scan: %w", err))
		}
	}
}

func (c *collection) scan(ctx context.Context, f filter.Filter, yield func(sextant.Document) bool) error {
	need := viewed
	if filter.IsAll(f) {
		need = listed
	}
	entries, begun := directory{}, false
	return c.reading(ctx, need, func() error {
		if begun {
			return fmt.Errorf("another process has replaced documents while they were read: %w", store.ErrUnavailable)
		}
		clear(entries)
		if need == listed {
			maps.Copy(entries, c.directory)
			return nil
		}
		resolved, err := c.view.resolve(f)
		if err != nil {
			return err
		}
		for slot := range c.view.matching(resolved).all() {
			entries[c.view.heads[slot].id] = c.view.heads[slot].entry
		}
		return nil
	}, func(r *row) error {
		for page := range slices.Chunk(slices.Sorted(maps.Keys(entries)), 100) {
			docs, err := c.bodies(ctx, r, entries, page)
			if err != nil {
				return err
			}
			for _, d := range docs {
				if err := ctx.Err(); err != nil {
					return err
				}
				begun = true
				if !yield(d.document) {
					return nil
				}
			}
		}
		return nil
	})
}

var _ store.VectorReader = (*collection)(nil)

// Vectors implements store.VectorReader.
func (c *collection) Vectors(ctx context.Context, id sextant.DocumentID) ([][]float32, error) {
	var out [][]float32
	var e entry
	err := c.reading(ctx, listed, func() error {
		e = c.directory[id]
		return nil
	}, func(r *row) error {
		out = nil
		if e.chunks == 0 || r.Spec.Encoder == "" {
			return nil
		}
		ids, _ := e.keys(id)
		vectors, err := c.embeddings(ctx, r, ids)
		out = vectors
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	return out, nil
}

// embeddings reads vectors in the order of the ids of their records.
func (c *collection) embeddings(ctx context.Context, r *row, ids []string) ([][]float32, error) {
	const page = 500
	out := make([][]float32, 0, len(ids))
	for some := range slices.Chunk(ids, page) {
		g, err := c.store.client.get(ctx, r.Records, selection{IDs: some, Include: []string{"embeddings"}})
		if err != nil {
			return nil, err
		}
		read := make(map[string][]float32, len(g.IDs))
		for i, id := range g.IDs {
			read[id] = g.Embeddings[i]
		}
		for _, id := range some {
			v, ok := read[id]
			switch {
			case !ok:
				return nil, errMoved
			case r.Dimension > 0 && len(v) != r.Dimension:
				return nil, fmt.Errorf("a vector of %d dimensions is on the server, one of %d was written; `sextant verify` names what differs: %w", len(v), r.Dimension, store.ErrCorrupt)
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// found is a chunk that a search chose.
type found struct {
	id    sextant.DocumentID
	entry entry
	index int
	score float64
	terms []string
}

// hits reads what is shown of chunks.
func (c *collection) hits(ctx context.Context, r *row, chosen []found) ([]store.Hit, error) {
	entries := directory{}
	for _, f := range chosen {
		entries[f.id] = f.entry
	}
	docs, err := c.bodies(ctx, r, entries, slices.Sorted(maps.Keys(entries)))
	if err != nil {
		return nil, err
	}
	read := make(map[sextant.DocumentID]held, len(docs))
	for _, d := range docs {
		read[d.document.ID] = d
	}
	out := make([]store.Hit, len(chosen))
	for i, f := range chosen {
		d := read[f.id]
		if f.index >= len(d.chunks) {
			return nil, fmt.Errorf("chunk %d of %q: %w", f.index, f.id, store.ErrCorrupt)
		}
		ch := d.chunks[f.index]
		part, _ := d.document.PartAt(ch.Start)
		out[i] = store.Hit{Chunk: ch, Title: d.document.Title, Meta: d.document.Meta, Locator: part.Locator, Score: f.score, Terms: f.terms}
	}
	return out, nil
}

// drop removes the collection from the server: the row first, which ends it for all.
func (c *collection) drop(ctx context.Context) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, _, err := c.lease.acquire(ctx); err != nil {
		return err
	}
	r, err := c.store.row(ctx, c.name)
	if err != nil {
		return err
	}
	if err := c.store.client.drop(ctx, catalogPrefix+c.name); err != nil {
		return err
	}
	c.store.mu.Lock()
	if c.store.open[c.name] == c {
		delete(c.store.open, c.name)
	}
	c.store.mu.Unlock()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	var errs []error
	for _, name := range []string{r.Name, r.Name + freshSuffix} {
		errs = append(errs, c.store.client.drop(ctx, name))
	}
	return errors.Join(append(errs, c.lease.release(ctx))...)
}
