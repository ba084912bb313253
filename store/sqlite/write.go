package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
)

// change is one call of Upsert or Delete on its way into the database.
type change struct {
	rows   []row // to store, replacing those of the same id
	remove []sextant.DocumentID
	schema int // version of the schema the rows were checked against

	removed int // documents Delete found
	done    bool
	err     error
}

// queue holds the changes that wait for the present commit to end.
type queue struct {
	mu      sync.Mutex
	waiting []*change
}

func (q *queue) add(ch *change) {
	q.mu.Lock()
	q.waiting = append(q.waiting, ch)
	q.mu.Unlock()
}

func (q *queue) take() []*change {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.waiting
	q.waiting = nil
	return all
}

// Upsert implements store.Collection.
func (c *collection) Upsert(ctx context.Context, records []store.Record) error {
	if err := c.check(ctx); err != nil {
		return fmt.Errorf("upsert: %w", err)
	}
	c.mu.RLock()
	spec, known := c.entry.spec, c.index.names
	ch := &change{rows: make([]row, len(records)), schema: c.schemas}
	c.mu.RUnlock()
	if err := encodeRows(ch.rows, records, &spec, known); err != nil {
		return fmt.Errorf("upsert: %w", err)
	}
	if len(records) == 0 {
		return nil
	}
	if err := c.submit(ctx, ch); err != nil {
		return fmt.Errorf("upsert: %w", err)
	}
	return nil
}

// encodeRows checks records and makes rows of them, on all cores if there are many.
func encodeRows(rows []row, records []store.Record, spec *sextant.Collection, known *names) error {
	n := workers(len(records))
	errs := make([]error, n)
	var work sync.WaitGroup
	for w := range n {
		work.Go(func() {
			for i := w * len(records) / n; i < (w+1)*len(records)/n && errs[w] == nil; i++ {
				if errs[w] = store.CheckRecord(records[i], spec); errs[w] == nil {
					rows[i], errs[w] = encodeRow(records[i], known)
				}
			}
		})
	}
	work.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return sameLength(rows)
}

// workers is how many cores are worth having for n records.
func workers(n int) int { return max(1, min(runtime.GOMAXPROCS(0), n/32)) }

// Delete implements store.Collection.
func (c *collection) Delete(ctx context.Context, ids []sextant.DocumentID) (int, error) {
	if err := c.check(ctx); err != nil {
		return 0, fmt.Errorf("delete: %w", err)
	}
	ch := &change{remove: ids}
	if err := c.submit(ctx, ch); err != nil {
		return 0, fmt.Errorf("delete: %w", err)
	}
	return ch.removed, nil
}

// submit has a change committed. Whoever gets the writing lock commits all that wait,
// as one transaction: many small writers then share the cost of one fsync.
func (c *collection) submit(ctx context.Context, ch *change) error {
	c.queue.add(ch)
	c.writing.Lock()
	defer c.writing.Unlock()
	if ch.done {
		return ch.err
	}
	changes := c.queue.take()
	err := c.commit(ctx, changes)
	for _, ch := range changes {
		ch.done = true
		if ch.err == nil {
			ch.err = err
		}
	}
	c.maintain()
	return ch.err
}

// commit makes changes durable and then visible. The caller holds the writing lock.
func (c *collection) commit(ctx context.Context, changes []*change) error {
	if c.failed != nil {
		return c.failed
	}
	p := c.plan(changes)
	if p.empty() {
		return nil
	}
	words := p.indexWords(c.index.text)
	err := c.db.update(ctx, p.size(), p.write)
	batches, wordsErr := words()
	if err == nil && wordsErr != nil {
		// Not reached by checked records; what is durable must become visible.
		err = c.fail(fmt.Errorf("index words: %w", wordsErr))
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return c.publish(p, batches)
}

// fail ends writing because the index could not follow the database; opening again
// makes it anew.
func (c *collection) fail(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = fmt.Errorf("nothing is written any more until the store is opened again: %w", err)
	return err
}

// publish makes a durable plan visible. New words and vectors come first, as the live
// set still hides them, and old words go last, as it then hides those: a reader in
// between finds every document whole.
func (c *collection) publish(p *plan, words []*lexical.Batch) error {
	for _, b := range words {
		if err := b.Commit(); err != nil {
			return c.fail(fmt.Errorf("index words: %w", err))
		}
	}
	if err := c.publishVectors(p); err != nil {
		return c.fail(fmt.Errorf("index vectors: %w", err))
	}
	gone := c.index.text.NewBatch()
	if err := c.apply(p, gone); err != nil {
		return c.fail(fmt.Errorf("index: %w", err))
	}
	if err := gone.Commit(); err != nil {
		return c.fail(fmt.Errorf("index words: %w", err))
	}
	return nil
}

func (c *collection) publishVectors(p *plan) error {
	if p.state.Dimension == 0 {
		return nil
	}
	if c.index.vectors == nil {
		c.mu.Lock()
		err := c.index.makeVectors(p.state.Dimension, p.chunks)
		c.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return c.index.addVectors(p.rows)
}

func (c *collection) apply(p *plan, gone *lexical.Batch) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, slot := range p.replaced {
		from, to := c.index.remove(slot)
		for chunk := from; chunk < to; chunk++ {
			gone.Remove(chunk)
		}
	}
	for _, r := range p.rows {
		if err := c.index.add(r); err != nil {
			return err
		}
	}
	c.state = p.state
	c.unsaved += len(p.rows) + len(p.gone)
	close(c.published)
	c.published = make(chan struct{})
	return nil
}

// plan is what a commit does: rows out, rows in, the new state.
type plan struct {
	replaced []uint32 // document slots
	gone     []int64  // their rows
	rows     []*row   // numbered
	state    state
	chunks   uint32 // slot of the first new chunk
}

func (p *plan) empty() bool { return len(p.gone) == 0 && len(p.rows) == 0 }

// plan joins changes, in order, into one step. Of several versions of a document only
// the last is written.
func (c *collection) plan(changes []*change) *plan {
	p := &plan{state: c.state, chunks: uint32(c.index.chunks.slots)}
	staged := map[string]int{} // id -> place in p.rows, -1 if it is gone
	for _, ch := range changes {
		if ch.err = c.fits(ch, p); ch.err != nil {
			continue
		}
		for i := range ch.rows {
			p.drop(c.index, staged, ch.rows[i].id)
			staged[ch.rows[i].id] = len(p.rows)
			p.rows = append(p.rows, &ch.rows[i])
		}
		for _, id := range ch.remove {
			if p.drop(c.index, staged, string(id)) {
				ch.removed++
			}
		}
	}
	p.rows = slices.DeleteFunc(p.rows, func(r *row) bool { return r == nil })
	p.finish()
	return p
}

// fits reports what changed since the rows were checked. The first vector ever fixes
// the length of all; a change's own are of one length.
func (c *collection) fits(ch *change, p *plan) error {
	if len(ch.rows) == 0 {
		return nil
	}
	if ch.schema != c.schemas {
		return fmt.Errorf("%w: it changed while documents were being written", store.ErrSpec)
	}
	for i := range ch.rows {
		for _, v := range ch.rows[i].vectors {
			if p.state.Dimension == 0 {
				p.state.Dimension = dimensionOf(v)
			}
			if dimensionOf(v) != p.state.Dimension {
				return fmt.Errorf("%s: vector of %d dimensions, the collection has %d: %w", ch.rows[i].id, dimensionOf(v), p.state.Dimension, store.ErrRecord)
			}
		}
	}
	return nil
}

// drop takes the present version of a document out, staged or stored, and reports
// whether there was one.
func (p *plan) drop(x *index, staged map[string]int, id string) bool {
	at, isStaged := staged[id]
	staged[id] = -1
	if isStaged {
		if at >= 0 {
			p.rows[at] = nil
		}
		return at >= 0
	}
	slot, ok := x.find(id)
	if ok {
		p.replaced = append(p.replaced, slot)
		p.gone = append(p.gone, x.rowOf[slot])
		p.state.Marks ^= mark(x.rowOf[slot], x.sumOf[slot])
	}
	return ok
}

// finish numbers the new rows and brings the state up to date.
func (p *plan) finish() {
	if p.empty() {
		return
	}
	for _, r := range p.rows {
		r.number = p.state.Next
		p.state.Next++
		r.sum = r.checksum()
		for i, blob := range r.vectors {
			sealVector(r.number<<chunkBits|int64(i), blob)
		}
		p.state.Marks ^= mark(r.number, r.sum)
	}
	p.state.Documents += int64(len(p.rows)) - int64(len(p.gone))
	p.state.Sequence++
}

// indexWords starts indexing the words of the new chunks, on all cores if there are
// many. What it returns waits for the batches, which are to be committed in order.
func (p *plan) indexWords(text *lexical.Index) (wait func() ([]*lexical.Batch, error)) {
	n := workers(len(p.rows))
	batches, errs := make([]*lexical.Batch, n), make([]error, n)
	var work sync.WaitGroup
	slot := p.chunks
	for i := range n {
		rows := p.rows[i*len(p.rows)/n : (i+1)*len(p.rows)/n]
		first := slot
		for _, r := range rows {
			slot += uint32(r.chunkCount())
		}
		batches[i] = text.NewBatch()
		work.Go(func() { errs[i] = indexRows(batches[i], rows, first) })
	}
	return func() ([]*lexical.Batch, error) {
		work.Wait()
		return batches, errors.Join(errs...)
	}
}

// indexRows puts the words of rows into a batch; the first of their chunks has the slot.
func indexRows(b *lexical.Batch, rows []*row, slot uint32) error {
	for _, r := range rows {
		chunks, err := r.decodeChunks()
		if err != nil {
			return err
		}
		parts, err := r.decodeParts()
		if err != nil {
			return err
		}
		for _, ch := range chunks {
			if err := b.Add(slot, store.TextFields(r.title, parts, ch)...); err != nil {
				return err
			}
			slot++
		}
	}
	b.Pack()
	return nil
}

// size estimates the bytes written: the rows, and a page for each that is changed.
func (p *plan) size() int {
	n := smallWrite + 4096*len(p.gone)
	for _, r := range p.rows {
		n += len(r.title) + len(r.text) + len(r.meta) + len(r.chunks) + len(r.rest) + 128
		for _, v := range r.vectors {
			n += len(v) + 64
		}
	}
	return n
}

// write carries the plan out in the database.
func (p *plan) write(tx *sql.Tx) error {
	if err := p.writeGone(tx); err != nil {
		return err
	}
	doc, err := tx.Prepare(`INSERT INTO doc VALUES(?,?,?,?,?,?,?,?,?)`)
	if err != nil {
		return err
	}
	defer doc.Close()
	vec, err := tx.Prepare(`INSERT INTO vec VALUES(?,?)`)
	if err != nil {
		return err
	}
	defer vec.Close()
	for _, r := range p.rows {
		if _, err := doc.Exec(r.number, r.id, r.revision, r.title, r.text, r.meta, r.chunks, r.rest, r.sum); err != nil {
			return err
		}
		for i, v := range r.vectors {
			if _, err := vec.Exec(r.number<<chunkBits|int64(i), v); err != nil {
				return err
			}
		}
	}
	return p.state.write(tx)
}

func (p *plan) writeGone(tx *sql.Tx) error {
	if len(p.gone) == 0 {
		return nil
	}
	doc, err := tx.Prepare(`DELETE FROM doc WHERE row = ?`)
	if err != nil {
		return err
	}
	defer doc.Close()
	vec, err := tx.Prepare(`DELETE FROM vec WHERE chunk >= ? AND chunk < ?`)
	if err != nil {
		return err
	}
	defer vec.Close()
	gone, err := tx.Prepare(`INSERT INTO gone VALUES(?,?)`)
	if err != nil {
		return err
	}
	defer gone.Close()
	for _, number := range p.gone {
		if _, err := doc.Exec(number); err != nil {
			return err
		}
		if _, err := gone.Exec(number, int64(p.state.Sequence)); err != nil {
			return err
		}
		if _, err := vec.Exec(number<<chunkBits, (number+1)<<chunkBits); err != nil {
			return err
		}
	}
	return nil
}
