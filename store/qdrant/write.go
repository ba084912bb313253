package qdrant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// Limits of one request that writes: larger ones were seen to stall servers, and the
// server's own limit is 32 MiB.
const (
	maxPoints = 256
	maxBytes  = 8 << 20
)

// Upsert implements store.Collection. All records are checked before the first is sent.
func (c *collection) Upsert(ctx context.Context, records []store.Record) error {
	return failure("upsert", c.upsert(ctx, records))
}

func (c *collection) upsert(ctx context.Context, records []store.Record) error {
	if err := c.writable(ctx); err != nil {
		return err
	}
	spec := c.Spec()
	dimension := 0
	for _, rec := range records {
		if err := store.CheckRecord(rec, &spec); err != nil {
			return err
		}
		for _, v := range rec.Vectors {
			if dimension != 0 && len(v) != dimension {
				return fmt.Errorf("document %q: vectors of %d and of %d dimensions: %w", rec.Document.ID, dimension, len(v), store.ErrRecord)
			}
			dimension = len(v)
		}
	}
	if len(records) == 0 {
		return nil
	}
	records = lastOfEach(records)
	c.writing.Lock()
	defer c.writing.Unlock()
	w := &writer{spec: spec, analyzer: c.analyzer}
	analysed, length := w.analyseAll(records)
	if err := c.prepare(ctx, dimension, length); err != nil {
		return err
	}
	now := stamp()
	w.pivot, w.stamp = c.current().Pivot, int64(now/1000)
	stale, err := c.stale(ctx, records)
	if err != nil {
		return err
	}
	b := batch{c: c, ctx: ctx, sequence: now}
	for i, rec := range records {
		points, err := w.written(rec, analysed[i])
		if err != nil {
			return err
		}
		for _, p := range points {
			if err := b.add(p); err != nil {
				return err
			}
		}
	}
	b.remove = stale
	return b.flush()
}

// writable reports why nothing can be written.
func (c *collection) writable(ctx context.Context) error {
	switch {
	case c.s.life.Err() != nil:
		return fmt.Errorf("the store is closed: %w", store.ErrUnavailable)
	case ctx.Err() != nil:
		return ctx.Err()
	case c.s.o.ReadOnly:
		return errReadOnly
	case c.isGone():
		return fmt.Errorf("the collection was dropped: %w", store.ErrUnavailable)
	}
	return nil
}

// prepare makes what a batch is written to, unless it is there.
func (c *collection) prepare(ctx context.Context, dimension int, length float64) error {
	err := c.s.usable(ctx)
	if err != nil {
		return err
	}
	return c.materialize(ctx, dimension, length)
}

// lastOfEach keeps of records of one id the last.
func lastOfEach(records []store.Record) []store.Record {
	last := map[sextant.DocumentID]int{}
	for i, rec := range records {
		last[rec.Document.ID] = i
	}
	if len(last) == len(records) {
		return records
	}
	var out []store.Record
	for i, rec := range records {
		if last[rec.Document.ID] == i {
			out = append(out, rec)
		}
	}
	return out
}

// analyseAll reads the words of all chunks, and says how long they are on average.
func (w *writer) analyseAll(records []store.Record) ([][]analysis, float64) {
	out := make([][]analysis, len(records))
	chunks, length := 0, 0
	for i := range records {
		for _, ch := range records[i].Chunks {
			a := w.analyse(&records[i].Document, ch)
			out[i] = append(out[i], a)
			if a.length > 0 {
				chunks++
				length += a.length
			}
		}
	}
	return out, float64(length) / float64(max(1, chunks))
}

// held is what a head says of the points its document has.
type held struct {
	Document string         `json:"document_id"`
	Chunks   int            `json:"_chunks"`
	Texts    int            `json:"_texts"`
	Elements map[string]int `json:"_elements"`
}

var heldFields = []string{"document_id", "_chunks", "_texts", "_elements"}

// extents reads which points documents have; those that do not exist are left out.
func (c *collection) extents(ctx context.Context, ids []sextant.DocumentID) ([]held, error) {
	err := c.s.usable(ctx)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, id := range ids {
		list = append(list, c.id(headRecord(id)))
	}
	points, err := c.points(ctx, list, want{Fields: heldFields})
	if err != nil {
		return nil, err
	}
	out := make([]held, len(points))
	for i, p := range points {
		if err := json.Unmarshal(p.Payload, &out[i]); err != nil {
			return nil, fmt.Errorf("head: %w: %w", store.ErrCorrupt, err)
		}
	}
	return out, nil
}

// stale returns the ids of points that earlier versions of documents have and these do not.
func (c *collection) stale(ctx context.Context, records []store.Record) ([]string, error) {
	ids := make([]sextant.DocumentID, len(records))
	byID := map[string]*store.Record{}
	for i := range records {
		ids[i] = records[i].Document.ID
		byID[string(ids[i])] = &records[i]
	}
	before, err := c.extents(ctx, ids)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, h := range before {
		rec := byID[h.Document]
		if rec == nil {
			continue
		}
		now := held{Chunks: len(rec.Chunks), Texts: len(cutText(rec.Document.Text)) - 1, Elements: map[string]int{}}
		for g, elements := range rec.Document.Meta.Groups {
			if len(elements) > 1 {
				now.Elements[g] = len(elements)
			}
		}
		out = append(out, c.beyond(h, now)...)
	}
	return out, nil
}

// beyond returns the ids of points of one extent that another does not have.
func (c *collection) beyond(h, now held) []string {
	id := sextant.DocumentID(h.Document)
	var out []string
	for i := now.Chunks; i < h.Chunks; i++ {
		out = append(out, c.id(sextant.ChunkID(id, i)))
	}
	for i := now.Texts; i < h.Texts; i++ {
		out = append(out, c.id(textRecord(id, i+1)))
	}
	for g, n := range h.Elements {
		for i := now.Elements[g]; i < n; i++ {
			out = append(out, c.id(elementRecord(id, g, i)))
		}
	}
	return out
}

// batch sends points in requests that are not too large. Each moves the sequence on, so
// that nothing derived from what was there before is taken for new.
type batch struct {
	c        *collection
	ctx      context.Context
	sequence uint64
	points   []point
	bytes    int
	remove   []string
}

func (b *batch) add(p point) error {
	size := len(p.Payload) + 12*len(p.Dense) + 20*len(p.Words.Indices) + 100
	if len(b.points) > 0 && (len(b.points) >= maxPoints || b.bytes+size > maxBytes) {
		if err := b.send(b.points, nil); err != nil {
			return err
		}
		b.points, b.bytes = nil, 0
	}
	b.points = append(b.points, p)
	b.bytes += size
	return nil
}

// flush sends what is left; points are removed last.
func (b *batch) flush() error {
	for len(b.remove) > maxRemoved {
		if err := b.send(nil, b.remove[:maxRemoved]); err != nil {
			return err
		}
		b.remove = b.remove[maxRemoved:]
	}
	return b.send(b.points, b.remove)
}

const maxRemoved = 10_000

func (b *batch) send(points []point, remove []string) error {
	body, err := json.Marshal(state{Kind: kindState, Sequence: strconv.FormatUint(b.sequence, 10)})
	if err != nil {
		return err
	}
	ops := []operation{{Upsert: append([]point{{ID: b.c.stateID(), Payload: body}}, points...)}}
	if len(remove) > 0 {
		ops = append(ops, operation{Delete: remove})
	}
	if err := b.c.write(b.ctx, ops); err != nil {
		return err
	}
	b.c.mu.Lock()
	b.c.sequence = max(b.c.sequence, b.sequence)
	b.c.mu.Unlock()
	return nil
}

// Attempts to write, and how long is waited after the first that fails.
const (
	writeAttempts = 4
	firstWait     = 250 * time.Millisecond
)

// write sends operations, again if the server is away for a moment: they are the same
// however often they are applied.
func (c *collection) write(ctx context.Context, ops []operation) error {
	for attempt := 1; ; attempt++ {
		err := c.writeOnce(ctx, ops)
		if err == nil || attempt == writeAttempts || ctx.Err() != nil || !errors.Is(err, store.ErrUnavailable) || c.isGone() {
			return err
		}
		wait := firstWait << (attempt - 1)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.s.life.Done():
			return err
		case <-time.After(wait/2 + rand.N(wait/2+1)):
		}
	}
}

func (c *collection) writeOnce(ctx context.Context, ops []operation) error {
	err := c.s.usable(ctx)
	if err != nil {
		return err
	}
	return c.reached(ctx, func(physical string) error { return c.s.wire.update(ctx, physical, ops) })
}

// Delete implements store.Collection.
func (c *collection) Delete(ctx context.Context, ids []sextant.DocumentID) (int, error) {
	n, err := c.delete(ctx, ids)
	return n, failure("delete", err)
}

func (c *collection) delete(ctx context.Context, ids []sextant.DocumentID) (int, error) {
	if err := c.writable(ctx); err != nil {
		return 0, err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	before, err := c.extents(ctx, distinct(ids))
	if err != nil || len(before) == 0 {
		return 0, err
	}
	b := batch{c: c, ctx: ctx, sequence: stamp()}
	for _, h := range before {
		// The head first: what is left of a document without one is never found.
		b.remove = append(b.remove, c.id(headRecord(sextant.DocumentID(h.Document))))
		b.remove = append(b.remove, c.beyond(h, held{})...)
	}
	return len(before), b.flush()
}

func distinct(ids []sextant.DocumentID) []sextant.DocumentID {
	seen := map[sextant.DocumentID]bool{}
	var out []sextant.DocumentID
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
