package qdrant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
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

// handle is a collection as somebody opened it. Whoever writes through it makes vectors by
// the encoder that the collection had then: after another process gave it one more, they
// are store.ErrEncoder instead of standing among those of the other.
type handle struct {
	*collection
	encoder atomic.Pointer[string]
}

func (c *collection) open() *handle {
	h := &handle{collection: c}
	h.keep()
	return h
}

// keep takes over the encoder that the collection has now.
func (h *handle) keep() {
	encoder := h.Spec().Encoder
	h.encoder.Store(&encoder)
}

// Upsert implements store.Collection. All records are checked before the first is sent.
func (h *handle) Upsert(ctx context.Context, records []store.Record) error {
	return failure("upsert", h.upsert(ctx, records, *h.encoder.Load()))
}

func (c *collection) upsert(ctx context.Context, records []store.Record, encoder string) error {
	if err := c.writable(ctx); err != nil {
		return err
	}
	spec := c.Spec()
	if encoder == spec.Encoder { // if not, that is what is wrong with them
		if err := checked(records, &spec); err != nil {
			return err
		}
	}
	if len(records) == 0 {
		return nil
	}
	records = lastOfEach(records)
	c.writing.Lock()
	defer c.writing.Unlock()
	err := c.changed(ctx, func(r row) (string, error) {
		if r.Spec.Encoder != encoder {
			return "", otherEncoder(encoder, r)
		}
		return c.upsertInto(ctx, r, records)
	})
	if err == nil {
		c.tidyLater(ctx, c.current())
	}
	return err
}

// checked reports records that contradict themselves or each other.
func checked(records []store.Record, spec *sextant.Collection) error {
	dimension := 0
	for _, rec := range records {
		if err := store.CheckRecord(rec, spec); err != nil {
			return err
		}
		for _, v := range rec.Vectors {
			if dimension != 0 && len(v) != dimension {
				return fmt.Errorf("document %q: vectors of %d and of %d dimensions: %w", rec.Document.ID, dimension, len(v), store.ErrRecord)
			}
			dimension = len(v)
		}
	}
	return nil
}

// lengthOfVectors is how long the vectors of records are, 0 if there are none.
func lengthOfVectors(records []store.Record) int {
	for _, rec := range records {
		for _, v := range rec.Vectors {
			return len(v)
		}
	}
	return 0
}

// upsertInto writes records to the generation of a row, which is made if there is none.
func (c *collection) upsertInto(ctx context.Context, r row, records []store.Record) (string, error) {
	if err := checked(records, &r.Spec); err != nil {
		return r.Physical, err
	}
	c.mu.RLock()
	w := &writer{spec: r.Spec, analyzer: c.analyzer}
	c.mu.RUnlock()
	analysed, length := w.analyseAll(records)
	r, err := c.materialize(ctx, r, lengthOfVectors(records), length)
	if err != nil {
		return r.Physical, err
	}
	w.pivot, w.stamp = r.Pivot, int64(stamp()/1000)
	stale, err := c.stale(ctx, r.Physical, records)
	if err != nil {
		return r.Physical, err
	}
	b := batch{c: c, ctx: ctx, physical: r.Physical, inUse: true}
	for i, rec := range records {
		if err := b.addAll(w.written(rec, analysed[i])); err != nil {
			return r.Physical, err
		}
	}
	b.remove = stale
	return r.Physical, b.flush()
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
	Stamp    int64          `json:"_stamp"`
}

var heldFields = []string{"document_id", "_chunks", "_texts", "_elements", "_stamp"}

// points is how many there are of a document, its head included.
func (h held) points() int64 {
	n := 1 + h.Chunks + h.Texts
	for _, elements := range h.Elements {
		n += elements
	}
	return int64(n)
}

// extents reads which points documents have in a generation; those that do not exist are
// left out.
func (c *collection) extents(ctx context.Context, physical string, ids []sextant.DocumentID) ([]held, error) {
	if err := c.s.usable(ctx); err != nil || physical == "" {
		return nil, err
	}
	var list []string
	for _, id := range ids {
		list = append(list, c.id(headRecord(id)))
	}
	var out []held
	for some := range slices.Chunk(list, maxRead) {
		points, err := c.s.wire.points(ctx, physical, some, want{Fields: heldFields})
		if err != nil {
			return nil, err
		}
		for _, p := range points {
			h, err := heldOf(p)
			if err != nil {
				return nil, err
			}
			out = append(out, h)
		}
	}
	return out, nil
}

func heldOf(p point) (held, error) {
	var h held
	if err := json.Unmarshal(p.Payload, &h); err != nil {
		return h, fmt.Errorf("head: %w: %w", store.ErrCorrupt, err)
	}
	return h, nil
}

// stale returns the ids of points that earlier versions of documents have and these do not.
func (c *collection) stale(ctx context.Context, physical string, records []store.Record) ([]string, error) {
	ids := make([]sextant.DocumentID, len(records))
	byID := map[string]*store.Record{}
	for i := range records {
		ids[i] = records[i].Document.ID
		byID[string(ids[i])] = &records[i]
	}
	before, err := c.extents(ctx, physical, ids)
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

// batch sends points in requests that are not too large. In a generation that is in use,
// each moves the sequence on once it is done.
type batch struct {
	c        *collection
	ctx      context.Context
	physical string
	inUse    bool
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

// addAll adds the points of a document, if they could be made.
func (b *batch) addAll(points []point, err error) error {
	for i := 0; i < len(points) && err == nil; i++ {
		err = b.add(points[i])
	}
	return err
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
	var ops []operation
	if len(points) > 0 {
		ops = append(ops, operation{Upsert: points})
	}
	if len(remove) > 0 {
		ops = append(ops, operation{Delete: remove})
	}
	if len(ops) == 0 {
		return nil
	}
	return b.c.write(b.ctx, b.physical, ops, b.inUse)
}

// withSequence adds to operations one that moves the sequence on after them. Who reads the
// sequence first and then anything else so has what belongs to it or is newer, and learns
// of the rest by the next. In front of them, or given once to several requests, it would
// say of what is not there yet that it was seen.
func (c *collection) withSequence(ops []operation) ([]operation, uint64, error) {
	sequence := stamp()
	p, err := c.state(sequence)
	return append(slices.Clone(ops), operation{Upsert: []point{p}}), sequence, err
}

// moved takes note of a sequence that this process wrote.
func (c *collection) moved(sequence uint64) {
	c.mu.Lock()
	c.sequence = max(c.sequence, sequence)
	c.mu.Unlock()
}

// state is the point of the collection itself, at a sequence.
func (c *collection) state(sequence uint64) (point, error) {
	body, err := json.Marshal(state{Kind: kindState, Sequence: strconv.FormatUint(sequence, 10)})
	return point{ID: c.stateID(), Payload: body}, err
}

// Attempts to write, and how long is waited after the first that fails.
const (
	writeAttempts = 4
	firstWait     = 250 * time.Millisecond
)

// write sends operations, again if the server is away for a moment: they are the same
// however often they are applied. The sequence is not: others may have written after the
// first time, and it must not go back to what it was before that.
func (c *collection) write(ctx context.Context, physical string, ops []operation, inUse bool) error {
	for attempt := 1; ; attempt++ {
		err := c.reachable(ctx)
		if err == nil {
			err = c.writeOnce(ctx, physical, ops, inUse)
		}
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

func (c *collection) writeOnce(ctx context.Context, physical string, ops []operation, inUse bool) error {
	if !inUse {
		return c.s.wire.update(ctx, physical, ops)
	}
	ops, sequence, err := c.withSequence(ops)
	if err != nil {
		return err
	}
	if err := c.s.wire.update(ctx, physical, ops); err != nil {
		return err
	}
	c.moved(sequence)
	return nil
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
	gone := map[string]bool{} // over all attempts: what the first removed, the next does not find
	err := c.changed(ctx, func(r row) (string, error) {
		before, err := c.extents(ctx, r.Physical, distinct(ids))
		if err != nil || len(before) == 0 {
			return r.Physical, err
		}
		b := batch{c: c, ctx: ctx, physical: r.Physical, inUse: true}
		for _, h := range before {
			gone[h.Document] = true
			b.remove = append(b.remove, c.removed(h)...)
		}
		return r.Physical, b.flush()
	})
	if err != nil {
		return 0, err
	}
	return len(gone), nil
}

// removed are the ids of all points of a document. The head first: what is left of a
// document without one is never found.
func (c *collection) removed(h held) []string {
	return append([]string{c.id(headRecord(sextant.DocumentID(h.Document)))}, c.beyond(h, held{})...)
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
