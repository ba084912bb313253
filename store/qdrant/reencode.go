package qdrant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// New vectors are made in a generation of their own, the shadow, which holds everything the
// one in use does, and takes its place with one replacement of the catalogue's row. A second
// named vector beside the first would save copying the payloads, but not every server that
// can be used adds one later, and a document replaced in between would need both at once.
//
// All progress is in the shadow: a document is done if its head is there, with the stamp
// that it has in use. Heads are written last, so what a killed process left is known by
// what is missing. The ids of points are the same in every generation, and so is their
// order, in which both are read side by side.

var _ store.Reencoder = (*handle)(nil)

// errNotBegun is the error of new vectors that nobody began to make.
var errNotBegun = fmt.Errorf("none were begun: %w", store.ErrUnsupported)

// BeginVectors implements store.Reencoder.
func (c *collection) BeginVectors(ctx context.Context, encoder string) error {
	if encoder == "" {
		return failure("begin vectors", fmt.Errorf("no encoder: %w", store.ErrSpec))
	}
	return failure("begin vectors", c.begin(ctx, encoder))
}

func (c *collection) begin(ctx context.Context, encoder string) error {
	if err := c.writable(ctx); err != nil {
		return err
	}
	c.filling.Lock()
	defer c.filling.Unlock()
	owner := stamp()
	_, err := c.alter(ctx, func(r *row) error {
		next := shadow{Encoder: encoder}
		if r.Shadow != nil && r.Shadow.Encoder == encoder {
			next = *r.Shadow
		} else if r.Shadow != nil {
			r.retire(r.Shadow.Physical)
		}
		next.Owner = owner
		r.Shadow = &next
		return nil
	})
	if err != nil {
		return err
	}
	c.unfinished = 0
	c.mu.Lock()
	c.owner = owner
	c.mu.Unlock()
	return c.tidy(ctx)
}

// retire has a generation removed; "" is none.
func (r *row) retire(physical string) {
	if physical == "" {
		return
	}
	r.Retired = append(slices.Clone(r.Retired), physical)
	r.RetiredAt = time.Now().UnixNano()
}

// shadowed is the row as it is now, if this process makes the vectors of its shadow: of
// two that do, the first is stopped by the second.
func (c *collection) shadowed(ctx context.Context) (row, error) {
	if err := c.writable(ctx); err != nil {
		return row{}, err
	}
	r, err := c.latest(ctx)
	if err != nil {
		return r, err
	}
	c.mu.RLock()
	owner := c.owner
	c.mu.RUnlock()
	switch {
	case r.Shadow == nil || owner == 0:
		return r, errNotBegun
	case owner != r.Shadow.Owner:
		return r, errTaken
	}
	return r, nil
}

// errTaken stops a process in whose place another goes on.
var errTaken = fmt.Errorf("another process goes on making new vectors: %w", store.ErrLocked)

// headPage is how many documents of two generations are compared at once.
const headPage = 1000

// WithoutVectors implements store.Reencoder. The order is that of the ids of points.
func (c *collection) WithoutVectors(ctx context.Context, after string, limit int) (docs []store.Unencoded, next string, err error) {
	docs, next, err = c.withoutVectors(ctx, after, limit)
	return docs, next, failure("documents without vectors", err)
}

func (c *collection) withoutVectors(ctx context.Context, after string, limit int) ([]store.Unencoded, string, error) {
	if after != "" && !isPointID(after) {
		return nil, "", fmt.Errorf("%q: %w", after, store.ErrCursor)
	}
	r, err := c.shadowed(ctx)
	if err != nil || r.Physical == "" {
		return nil, "", err
	}
	for next := after; ; {
		var open []held
		if open, next, err = c.pending(ctx, r, next, max(limit, headPage)); err != nil {
			return nil, "", err
		}
		if len(open) > limit {
			open, next = open[:limit], c.id(headRecord(sextant.DocumentID(open[limit].Document)))
		}
		if len(open) == 0 && next != "" {
			continue
		}
		docs, err := c.unencoded(ctx, open)
		return docs, next, err
	}
}

// pending returns, of a page of documents in use, those that have chunks and are not in the
// shadow as they are, and where the next page begins.
func (c *collection) pending(ctx context.Context, r row, from string, limit int) ([]held, string, error) {
	p, err := c.s.wire.scroll(ctx, r.Physical, scrollQuery{Where: heads(), Limit: limit, Offset: from, Want: want{Fields: heldFields}})
	if err != nil {
		return nil, "", err
	}
	var out []held
	var ids []sextant.DocumentID
	for _, x := range p.Points {
		h, err := heldOf(x)
		if err != nil {
			return nil, "", err
		}
		if h.Chunks > 0 {
			out, ids = append(out, h), append(ids, sextant.DocumentID(h.Document))
		}
	}
	made, err := c.extents(ctx, r.Shadow.Physical, ids)
	if err != nil && !errors.Is(err, errMissing) { // it is named before it is made
		return nil, "", err
	}
	done := map[string]int64{}
	for _, h := range made {
		done[h.Document] = h.Stamp
	}
	out = slices.DeleteFunc(out, func(h held) bool { return done[h.Document] == h.Stamp })
	return out, p.Next, nil
}

// unencoded reads documents with their chunks. Those replaced or deleted by now are left
// out: they come again, or need not.
func (c *collection) unencoded(ctx context.Context, open []held) ([]store.Unencoded, error) {
	ids := make([]sextant.DocumentID, len(open))
	var chunkIDs []string
	for i, h := range open {
		ids[i] = sextant.DocumentID(h.Document)
		for k := range h.Chunks {
			chunkIDs = append(chunkIDs, c.id(sextant.ChunkID(ids[i], k)))
		}
	}
	points, err := c.points(ctx, chunkIDs, want{Fields: chunkFields})
	if err != nil {
		return nil, err
	}
	chunks := map[sextant.DocumentID][]sextant.Chunk{}
	for _, p := range points {
		ch, err := chunkOf(p)
		if err != nil {
			return nil, err
		}
		id := sextant.DocumentID(ch.Document)
		chunks[id] = append(chunks[id], ch.chunk())
	}
	docs, err := c.documents(ctx, ids)
	if err != nil {
		return nil, err
	}
	now, err := c.stamps(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := map[sextant.DocumentID]sextant.Document{}
	for _, d := range docs {
		byID[d.ID] = d
	}
	var out []store.Unencoded
	for i, id := range ids {
		d, ok := byID[id]
		if !ok || now[id] != open[i].Stamp || len(chunks[id]) != open[i].Chunks {
			continue
		}
		slices.SortFunc(chunks[id], func(a, b sextant.Chunk) int { return a.Index - b.Index })
		out = append(out, store.Unencoded{Document: d, Chunks: chunks[id], Version: open[i].Stamp})
	}
	return out, nil
}

// stamps are when documents in use were written.
func (c *collection) stamps(ctx context.Context, ids []sextant.DocumentID) (map[sextant.DocumentID]int64, error) {
	heads, err := c.heads(ctx, ids, []string{"document_id", "_stamp"})
	out := make(map[sextant.DocumentID]int64, len(heads))
	for id, h := range heads {
		out[id] = h.Stamp
	}
	return out, err
}

// PutVectors implements store.Reencoder.
func (c *collection) PutVectors(ctx context.Context, docs []store.Unencoded, vectors [][][]float32) error {
	if len(docs) != len(vectors) {
		return failure("put vectors", fmt.Errorf("vectors of %d documents for %d: %w", len(vectors), len(docs), store.ErrRecord))
	}
	records := make([]store.Record, len(docs))
	for i, d := range docs {
		records[i] = store.Record{Document: d.Document, Chunks: d.Chunks, Vectors: vectors[i]}
		if len(d.Chunks) > 0 && len(vectors[i]) != len(d.Chunks) {
			return failure("put vectors", fmt.Errorf("document %q: %d vectors for %d chunks: %w", d.Document.ID, len(vectors[i]), len(d.Chunks), store.ErrRecord))
		}
	}
	c.filling.Lock()
	defer c.filling.Unlock()
	return failure("put vectors", c.fill(ctx, docs, records))
}

// fill writes whole documents to the shadow, unless they were replaced or deleted
// meanwhile.
func (c *collection) fill(ctx context.Context, docs []store.Unencoded, records []store.Record) error {
	r, err := c.shadowed(ctx)
	if err != nil {
		return err
	}
	spec := r.Spec
	spec.Encoder = r.Shadow.Encoder
	if err := checked(records, &spec); err != nil {
		return err
	}
	if r, err = c.makeShadow(ctx, r, lengthOfVectors(records)); err != nil {
		return err
	}
	if docs, records, err = c.stillThere(ctx, docs, records); err != nil || len(docs) == 0 {
		return err
	}
	c.mu.RLock()
	w := &writer{spec: spec, analyzer: c.analyzer, pivot: r.Pivot}
	c.mu.RUnlock()
	if err := c.stayClosed(ctx); err != nil {
		return err
	}
	analysed, _ := w.analyseAll(records)
	b := batch{c: c, ctx: ctx, physical: r.Shadow.Physical}
	if b.remove, err = c.stale(ctx, r.Shadow.Physical, records); err != nil {
		return err
	}
	for i, rec := range records {
		w.stamp = docs[i].Version
		if err := b.addAll(w.written(rec, analysed[i])); err != nil {
			return err
		}
	}
	return b.flush()
}

// stillThere leaves out what was replaced or deleted since it was read.
func (c *collection) stillThere(ctx context.Context, docs []store.Unencoded, records []store.Record) ([]store.Unencoded, []store.Record, error) {
	ids := make([]sextant.DocumentID, len(docs))
	for i, d := range docs {
		ids[i] = d.Document.ID
	}
	now, err := c.stamps(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	var outDocs []store.Unencoded
	var outRecords []store.Record
	for i, d := range docs {
		if stamp, ok := now[ids[i]]; ok && stamp == d.Version {
			outDocs, outRecords = append(outDocs, d), append(outRecords, records[i])
		}
	}
	return outDocs, outRecords, nil
}

// makeShadow makes the generation that new vectors go into, unless it is there. The
// catalogue names it first: a process that is killed in between leaves nothing behind that
// nobody knows of.
func (c *collection) makeShadow(ctx context.Context, r row, dimension int) (row, error) {
	if d := r.Shadow.Dimension; d != 0 && dimension != 0 && d != dimension {
		return r, fmt.Errorf("vectors of %d dimensions among others of %d: %w", dimension, d, store.ErrRecord)
	}
	if r.Shadow.Physical == "" || r.Shadow.Dimension == 0 && dimension != 0 {
		var err error
		retired := ""
		r, err = c.alter(ctx, func(now *row) error {
			retired = ""
			switch {
			case now.Shadow == nil || now.Shadow.Owner != r.Shadow.Owner:
				return errTaken
			case now.Shadow.Physical != "" && now.Shadow.Dimension == dimension:
				return nil
			}
			retired = now.Shadow.Physical
			now.retire(retired) // it holds documents without chunks only, which are taken over again
			for there := true; there; {
				now.Generation++
				var err error
				if there, err = c.s.wire.exists(ctx, c.s.generation(now)); err != nil {
					return err
				}
			}
			now.Shadow = &shadow{Encoder: now.Shadow.Encoder, Owner: now.Shadow.Owner, Physical: c.s.generation(now), Dimension: dimension}
			return nil
		})
		if err == nil && retired != "" {
			err = c.tidy(ctx)
		}
		if err != nil {
			return r, err
		}
	}
	c.mu.RLock()
	prepared := c.prepared == r.Shadow.Physical
	c.mu.RUnlock()
	if prepared {
		return r, nil
	}
	if err := c.s.wire.create(ctx, r.Shadow.Physical, c.s.parameters(r.Shadow.Dimension)); err != nil && !errors.Is(err, errExists) {
		return r, err
	}
	if err := c.s.makeIndexes(ctx, r.Shadow.Physical, r.Spec.Schema, nil); err != nil {
		return r, err
	}
	c.mu.Lock()
	c.prepared = r.Shadow.Physical
	c.mu.Unlock()
	return r, nil
}

// giveUp drops a shadow.
func (c *collection) giveUp(ctx context.Context) error {
	if err := c.writable(ctx); err != nil {
		return err
	}
	if _, err := c.alter(ctx, func(r *row) error {
		if r.Shadow != nil {
			r.retire(r.Shadow.Physical)
			r.Shadow = nil
		}
		return nil
	}); err != nil {
		return err
	}
	return c.tidy(ctx)
}

// DropVectors implements store.Reencoder: a generation without vectors takes the place of
// the one with some.
func (h *handle) DropVectors(ctx context.Context) error {
	had := h.Spec().Encoder
	err := h.dropVectors(ctx)
	if err == nil && had != "" {
		h.keep()
		h.retireLater(ctx)
	}
	return failure("drop vectors", err)
}

func (c *collection) dropVectors(ctx context.Context) error {
	r, err := c.latest(ctx)
	switch {
	case err != nil:
		return err
	case r.Spec.Encoder == "" && r.Shadow == nil:
		return nil
	case r.Spec.Encoder == "":
		return c.giveUp(ctx)
	}
	if err := c.begin(ctx, ""); err != nil {
		return err
	}
	for {
		for after, more := "", true; more; more = after != "" {
			docs, next, err := c.withoutVectors(ctx, after, scanPage)
			if err != nil {
				return err
			}
			records := make([]store.Record, len(docs))
			for i, d := range docs {
				records[i] = store.Record{Document: d.Document, Chunks: d.Chunks}
			}
			c.filling.Lock()
			err = c.fill(ctx, docs, records)
			c.filling.Unlock()
			if err != nil {
				return err
			}
			after = next
		}
		if err := c.swap(ctx); !errors.Is(err, store.ErrIncomplete) {
			return err
		}
	}
}
