package chroma

import (
	"context"
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/vector"
)

// begin gets the right to write and brings what is known up to date. What a crash or a
// failure left on the server is removed. The caller holds writing, and calls end.
func (c *collection) begin(ctx context.Context) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	if err := c.store.writable(); err != nil {
		return err
	}
	isFresh, stolen, err := c.lease.acquire(ctx)
	if err != nil {
		return err
	}
	if err := c.fresh(ctx, listed); err != nil {
		return err
	}
	r, _ := c.now()
	if stolen {
		c.attempted = max(c.attempted, r.Version+1) // its last batch may still arrive
	}
	if isFresh || c.unclean {
		return c.sweep(ctx, r)
	}
	return nil
}

// end is called after writing.
func (c *collection) end() { c.lease.rest() }

// sweep removes records that do not count, and finishes a swap that was interrupted.
func (c *collection) sweep(ctx context.Context, r *row) error {
	if err := c.settle(ctx, r); err != nil {
		return err
	}
	l, err := c.listAll(atLeisure(ctx), r)
	if err != nil {
		return err
	}
	c.attempted = max(c.attempted, l.highest)
	c.store.mu.Lock()
	busy := c.readers > 0
	c.store.mu.Unlock()
	if busy { // somebody reads a version that was just replaced
		return nil
	}
	if err := c.removeAll(ctx, r, graveyard{l.dead, l.deadMarks}); err != nil {
		return underneath(err)
	}
	c.unclean = false
	return nil
}

// Upsert implements store.Collection.
func (c *collection) Upsert(ctx context.Context, records []store.Record) error {
	if err := c.upsert(ctx, records); err != nil {
		return fmt.Errorf("upsert: %w", err)
	}
	return nil
}

func (c *collection) upsert(ctx context.Context, batch []store.Record) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	spec := c.Spec()
	batch, err := prepared(batch, &spec)
	if err != nil || len(batch) == 0 {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.begin(ctx); err != nil {
		return err
	}
	defer c.end()
	now, _ := c.now()
	next := *now
	if !sameSpec(spec, next.Spec) {
		return fmt.Errorf("%w: it changed while documents were being written", store.ErrSpec)
	}
	p := &plan{row: &next, version: max(c.attempted, next.Version) + 1, put: directory{}}
	if err := p.records(batch); err != nil {
		return err
	}
	return c.commit(ctx, p)
}

// prepared checks records, rounds their vectors and leaves out those that a later one of
// the batch replaces.
func prepared(batch []store.Record, spec *sextant.Collection) ([]store.Record, error) {
	last := make(map[sextant.DocumentID]int, len(batch))
	for i, rec := range batch {
		if err := store.CheckRecord(rec, spec); err != nil {
			return nil, err
		}
		last[rec.Document.ID] = i
	}
	out := make([]store.Record, 0, len(last))
	dimension := 0
	for i, rec := range batch {
		rounded := make([][]float32, len(rec.Vectors))
		for k, v := range rec.Vectors {
			if dimension == 0 {
				dimension = len(v)
			}
			if len(v) != dimension {
				return nil, fmt.Errorf("document %q: vector of %d dimensions among others of %d: %w", rec.Document.ID, len(v), dimension, store.ErrRecord)
			}
			var err error
			if rounded[k], err = vector.Rounded(v); err != nil {
				return nil, fmt.Errorf("document %q: %w: %w", rec.Document.ID, store.ErrRecord, err)
			}
		}
		if last[rec.Document.ID] == i {
			rec.Vectors = rounded
			out = append(out, rec)
		}
	}
	return out, nil
}

// plan is one change on its way to the server.
type plan struct {
	row     *row // as it will be
	version uint64
	chunks  records
	markers records
	put     directory
	docs    []held // those put
	gone    []sextant.DocumentID
}

// records makes records of documents.
func (p *plan) records(batch []store.Record) error {
	for _, rec := range batch {
		d := &rec.Document
		if len(rec.Vectors) > 0 {
			if n := len(rec.Vectors[0]); p.row.Dimension == 0 {
				p.row.Dimension = n
			} else if n != p.row.Dimension {
				return fmt.Errorf("document %q: vector of %d dimensions, the collection has %d: %w", d.ID, n, p.row.Dimension, store.ErrRecord)
			}
		}
		e := entry{p.version, len(rec.Chunks)}
		size, err := appendRecords(&p.chunks, &p.markers, &p.row.Spec, rec, e)
		if err != nil {
			return err
		}
		p.put[d.ID] = e
		p.docs = append(p.docs, held{*d, rec.Chunks, e, size})
	}
	return nil
}

// appendRecords makes the records of one document, and returns the bytes of its body.
func appendRecords(chunks, markers *records, spec *sextant.Collection, rec store.Record, e entry) (int, error) {
	d := &rec.Document
	text, err := packBody(rec)
	if err != nil {
		return 0, err
	}
	fields := fieldMembers(&spec.Schema, d.Meta)
	if len(rec.Chunks) == 0 {
		m := chunkMetadata(fields, d, sextant.Chunk{ID: string(d.ID), DocumentID: d.ID})
		markers.add(e.key(d.ID, 0).String(), marker, m, "", &text)
		return len(text), nil
	}
	for i, ch := range rec.Chunks {
		m := chunkMetadata(fields, d, ch)
		v := stand(len(chunks.IDs))
		if len(rec.Vectors) > 0 {
			v = rec.Vectors[i]
		}
		uri := &text
		if i > 0 {
			uri = nil
		}
		chunks.add(e.key(d.ID, i).String(), v, m, ch.Content, uri)
	}
	return len(text), nil
}

// stand is the vector of a chunk that has none: the server wants one. They differ, since
// its graph does badly with many equal ones.
func stand(i int) []float32 {
	sin, cos := math.Sincos(float64(i%1009) / 1009 * 2 * math.Pi)
	return []float32{float32(cos), float32(sin)}
}

// commit writes a plan's records, then the row, by which they count; then it makes them
// visible here and removes what they replaced.
func (c *collection) commit(ctx context.Context, p *plan) error {
	var old graveyard
	_, present := c.now()
	for id := range p.put {
		p.replace(present, id, &old)
	}
	for _, id := range p.gone {
		p.replace(present, id, &old)
	}
	for id, e := range p.put {
		p.row.Held.add(id, e, 1)
	}
	p.row.advance(p.version)
	c.attempted, c.unclean = max(c.attempted, p.version), true
	if err := c.send(ctx, p); err != nil {
		return err
	}
	c.unclean = false
	if err := c.publish(p); err != nil {
		return err
	}
	c.mu.Lock()
	c.graveyard.add(old)
	c.mu.Unlock()
	c.clear(context.WithoutCancel(ctx))
	return nil
}

// replace counts the present version of a document out. Markers of documents that are
// gone are of no use once their records are.
func (p *plan) replace(present directory, id sextant.DocumentID, old *graveyard) {
	e, ok := present[id]
	if !ok {
		return
	}
	p.row.Held.add(id, e, -1)
	records, markers := e.keys(id)
	old.add(graveyard{records, markers})
	if _, put := p.put[id]; !put {
		old.markers = append(old.markers, key{document: id, index: gone, version: p.version}.String())
	}
}

func (c *collection) send(ctx context.Context, p *plan) error {
	if len(p.chunks.IDs) > 0 {
		if p.row.Records == "" {
			r, err := c.makeRecords(ctx, p.row)
			if err != nil {
				return err
			}
			p.row.Records = r.ID
		}
		if err := c.store.client.add(ctx, p.row.Records, p.chunks); err != nil {
			return underneath(err)
		}
	}
	if len(p.markers.IDs) > 0 {
		if err := c.store.client.add(ctx, p.row.catalog, p.markers); err != nil {
			return underneath(err)
		}
	}
	if err := c.lease.confirm(ctx); err != nil {
		return err
	}
	return c.store.putRow(ctx, p.row)
}

// makeRecords makes the collection for a row's records. One of the name may be there: of
// a collection that was dropped by somebody who did not get to the end, or somebody
// else's, which is left alone.
func (c *collection) makeRecords(ctx context.Context, r *row) (remote, error) {
	for range 2 {
		made, err := c.store.client.create(ctx, r.Name, ownedBy(r))
		if err != nil || made.Metadata[rowKey] == ownedBy(r)[rowKey] {
			return made, err
		}
		if err := notOurs(made, r); err != nil {
			return made, err
		}
		if err := c.store.client.drop(ctx, r.Name); err != nil {
			return made, err
		}
	}
	return remote{}, badAnswer("the collection that was made")
}

// ownedBy is the metadata of a collection of records.
func ownedBy(r *row) map[string]any {
	return map[string]any{rowKey: "records of " + r.Spec.Name + ", catalogue " + r.catalog}
}

// notOurs reports a collection that was not made for records of the row's collection.
func notOurs(found remote, r *row) error {
	if about, _ := found.Metadata[rowKey].(string); strings.HasPrefix(about, "records of "+r.Spec.Name+",") {
		return nil
	}
	return fmt.Errorf("the server has a collection %q that is not Sextant's; name another with %s_COLLECTION: %w", r.Name, strings.ToUpper(r.Spec.Name), store.ErrSpec)
}

// publish makes a plan that counts visible here.
func (c *collection) publish(p *plan) error {
	c.loading.Lock()
	defer c.loading.Unlock()
	c.mu.RLock()
	v, before := c.view, c.row
	d := make(directory, len(c.directory)+len(p.put))
	maps.Copy(d, c.directory)
	c.mu.RUnlock()
	for _, id := range p.gone {
		delete(d, id)
	}
	maps.Copy(d, p.put)
	if v == nil || v.wasteful() || !sameSpec(before.Spec, p.row.Spec) {
		c.adopt(p.row, d)
		return nil
	}
	ch := &changes{first: uint32(len(v.parent)), gone: p.gone}
	for _, doc := range p.docs {
		if _, ok := v.slots[doc.document.ID]; ok {
			ch.gone = append(ch.gone, doc.document.ID)
		}
	}
	if _, err := ch.take(v, p.docs, ch.first); err != nil {
		c.adopt(p.row, d)
		return err
	}
	return c.apply(p.row, d, v, ch)
}

// Delete implements store.Collection.
func (c *collection) Delete(ctx context.Context, ids []sextant.DocumentID) (int, error) {
	n, err := c.delete(ctx, ids)
	if err != nil {
		return 0, fmt.Errorf("delete: %w", err)
	}
	return n, nil
}

func (c *collection) delete(ctx context.Context, ids []sextant.DocumentID) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.begin(ctx); err != nil {
		return 0, err
	}
	defer c.end()
	now, present := c.now()
	next := *now
	p := &plan{row: &next, version: max(c.attempted, next.Version) + 1}
	seen := map[sextant.DocumentID]bool{}
	for _, id := range ids {
		if _, ok := present[id]; ok && !seen[id] {
			seen[id] = true
			p.gone = append(p.gone, id)
			p.markers.add(key{document: id, index: gone, version: p.version}.String(), marker, values(`{"deleted":true}`), "", nil)
		}
	}
	if len(p.gone) == 0 {
		return 0, nil
	}
	return len(p.gone), c.commit(ctx, p)
}

// respecify makes spec the collection's specification, if what it holds allows that.
func (c *collection) respecify(ctx context.Context, spec sextant.Collection) error {
	if sameSpec(c.Spec(), spec) {
		return nil
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.begin(ctx); err != nil {
		return err
	}
	defer c.end()
	now, present := c.now()
	next := *now
	holds := next.Held.Documents > 0
	if err := store.CheckChange(next.Spec, spec, holds); err != nil {
		return err
	}
	if sameSpec(next.Spec, spec) {
		return nil
	}
	if !holds && next.Records != "" { // the server fixes the dimension with the first vector
		if err := c.store.client.drop(ctx, next.Name); err != nil {
			return err
		}
		next.Records, next.Dimension = "", 0
	}
	next.Spec = spec
	if err := c.store.putRow(ctx, &next); err != nil {
		return err
	}
	c.loading.Lock()
	defer c.loading.Unlock()
	c.adopt(&next, present)
	return nil
}
