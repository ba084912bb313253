package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"

	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
)

// load reads the collection into RAM: from the newest derived file that is whole,
// brought up to date, or else from the rows.
func (c *collection) load(ctx context.Context) error {
	if err := c.begin(ctx); err != nil {
		return failure("read state", err)
	}
	tx, err := c.db.read.BeginTx(ctx, nil)
	if err != nil {
		return failure("load", err)
	}
	defer tx.Rollback()
	if c.state, err = readState(ctx, tx); err != nil {
		return failure("read state", err)
	}
	if c.index, err = c.loadDerived(ctx, tx); err != nil {
		return fmt.Errorf("load index: %w", err)
	}
	if c.index == nil {
		if c.index, err = c.build(ctx, tx, c.entry, c.state); err != nil {
			return failure("load documents", err)
		}
		c.unsaved = c.index.documents.slots
	}
	c.removeVectorFiles()
	c.removeWordFiles()
	return nil
}

// begin makes the state of a new database.
func (c *collection) begin(ctx context.Context) error {
	_, err := scanState(c.db.write.QueryRowContext(ctx, selectState).Scan)
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var rows int
	if err := c.db.write.QueryRowContext(ctx, `SELECT count(*) FROM doc`).Scan(&rows); err != nil {
		return err
	}
	if rows > 0 {
		return fmt.Errorf("%d documents without a state: %w", rows, store.ErrCorrupt)
	}
	first := state{Format: format, Sequence: uint64(c.entry.generation) << 32, Next: 1, Names: newNames(nil).with(c.entry.spec.Schema).list}
	return c.db.update(ctx, smallWrite, first.write)
}

// build makes the index of all rows.
func (c *collection) build(ctx context.Context, tx *sql.Tx, e entry, st state) (*index, error) {
	a, err := store.AnalyzerOf(e.spec)
	if err != nil {
		return nil, err
	}
	x := newIndex(e.spec.Schema, newNames(st.Names), a, c.place())
	if err := x.catchUp(ctx, tx, st, 0, 0); err != nil {
		x.file.close()
		return nil, err
	}
	return x, nil
}

// catchUp brings an index of an earlier state, of which next was the next row's number,
// up to the state of the transaction, and compares the outcome with what that state says.
func (x *index) catchUp(ctx context.Context, tx *sql.Tx, st state, sequence uint64, next int64) error {
	if err := x.removeGone(ctx, tx, sequence); err != nil {
		return err
	}
	chunks := uint32(x.chunks.slots)
	var keys []int64 // of the vectors read
	vectors := make(chan error, 1)
	go func() {
		var err error
		keys, err = x.loadVectors(ctx, tx, next, st.Dimension, chunks)
		vectors <- err
	}()
	err := x.loadRows(ctx, tx, next)
	if e := <-vectors; err == nil {
		err = e
	}
	if err == nil {
		err = x.checkVectors(keys, chunks, st.Dimension)
	}
	if err != nil {
		return err
	}
	if x.alive != st.Documents || x.marks != st.Marks {
		return fmt.Errorf("%d documents are there of %d, or others: %w", x.alive, st.Documents, store.ErrCorrupt)
	}
	return nil
}

// removeGone takes out the documents whose rows were deleted after a sequence.
func (x *index) removeGone(ctx context.Context, tx *sql.Tx, after uint64) error {
	rows, err := tx.QueryContext(ctx, `SELECT row FROM gone WHERE sequence > ? ORDER BY row`, int64(after))
	if err != nil {
		return err
	}
	defer rows.Close()
	words := x.text.NewBatch()
	for rows.Next() {
		var number int64
		if err := rows.Scan(&number); err != nil {
			return err
		}
		if slot, ok := x.slotOfRow(number); ok && x.documents.live.has(slot) {
			from, to := x.remove(slot)
			for chunk := from; chunk < to; chunk++ {
				words.Remove(chunk)
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return words.Commit()
}

// block is a run of rows on their way into the index.
type block struct {
	rows  []*row
	chunk uint32 // slot of the first chunk
	words *lexical.Batch
	err   error
	done  chan struct{}
}

// blockRows is large enough to save the index of words a round of merging, and small
// enough that the blocks in flight take some megabytes.
const blockRows = 2048

func (x *index) newBlock(chunk uint32) *block {
	return &block{chunk: chunk, words: x.text.NewBatch(), done: make(chan struct{})}
}

// loadRows enters all rows from a number on. One goroutine reads and checks them, all
// cores index words, a block of rows at a time, and the caller fills the columns in order.
func (x *index) loadRows(ctx context.Context, tx *sql.Tx, from int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	blocks := make(chan *block, runtime.GOMAXPROCS(0)) // in order; bounds what is in flight
	work := make(chan *block)
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for b := range work {
				b.err = indexRows(b.words, b.rows, b.chunk)
				close(b.done)
			}
		}()
	}
	first := uint32(x.chunks.slots)
	read := make(chan error, 1)
	go func() {
		defer close(blocks)
		defer close(work)
		read <- x.readBlocks(ctx, tx, from, first, func(b *block) bool {
			return send(ctx, blocks, b) && send(ctx, work, b)
		})
	}()
	for b := range blocks {
		if err := x.enter(ctx, b); err != nil {
			cancel()
			<-read //nolint:errcheck // only its end matters: it uses the transaction
			return err
		}
	}
	return <-read
}

func send(ctx context.Context, to chan<- *block, b *block) bool {
	select {
	case to <- b:
		return true
	case <-ctx.Done():
		return false
	}
}

// enter puts a block's rows into the columns, and its words once they are ready.
func (x *index) enter(ctx context.Context, b *block) error {
	for _, r := range b.rows {
		if err := x.add(r); err != nil {
			return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
		}
	}
	select {
	case <-b.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if b.err != nil {
		return fmt.Errorf("%w: %w", store.ErrCorrupt, b.err)
	}
	return b.words.Commit()
}

const selectDoc = `SELECT row, id, revision, title, text, meta, chunks, rest, sum FROM doc `

// readBlocks reads rows in order of their numbers, checks them and hands them on until
// yield wants no more.
func (x *index) readBlocks(ctx context.Context, tx *sql.Tx, from int64, chunk uint32, yield func(*block) bool) error {
	rows, err := tx.QueryContext(ctx, selectDoc+`WHERE row >= ? ORDER BY row`, from)
	if err != nil {
		return err
	}
	defer rows.Close()
	next := x.newBlock(chunk)
	for rows.Next() {
		r, err := scanRow(rows.Scan)
		if err != nil {
			return err
		}
		next.rows = append(next.rows, &r)
		chunk += uint32(r.chunkCount())
		if len(next.rows) == blockRows {
			if !yield(next) {
				return ctx.Err()
			}
			next = x.newBlock(chunk)
		}
	}
	if len(next.rows) > 0 && !yield(next) {
		return ctx.Err()
	}
	return rows.Err()
}

// scanRow reads one row of doc and checks its sum.
func scanRow(scan func(...any) error) (row, error) {
	var r row
	if err := scan(&r.number, &r.id, &r.revision, &r.title, &r.text, &r.meta, &r.chunks, &r.rest, &r.sum); err != nil {
		return r, err
	}
	if r.sum != r.checksum() {
		return r, fmt.Errorf("row %d: %w", r.number, store.ErrCorrupt)
	}
	return r, nil
}

// loadVectors reads the vectors of the rows from a number on, whose chunks begin at a slot,
// and returns their keys. It runs beside loadRows.
func (x *index) loadVectors(ctx context.Context, tx *sql.Tx, from int64, dimension int, slot uint32) ([]int64, error) {
	if dimension == 0 {
		return nil, nil
	}
	if x.vectors == nil {
		if err := x.makeVectors(dimension, slot); err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrCorrupt, err)
		}
	}
	rows, err := tx.QueryContext(ctx, `SELECT chunk, v FROM vec WHERE chunk >= ? ORDER BY chunk`, from<<chunkBits)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	batch := x.newVectorBatch()
	var keys []int64
	for rows.Next() {
		var key int64
		var blob sql.RawBytes
		if err := rows.Scan(&key, &blob); err != nil {
			return nil, err
		}
		if err := batch.add(key, blob); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return keys, batch.flush()
}

// checkVectors reports whether the vectors read are exactly those of the chunks from a
// slot on, in the order of the slots.
func (x *index) checkVectors(keys []int64, slot uint32, dimension int) error {
	if dimension == 0 {
		return nil
	}
	if len(keys) != x.chunks.slots-int(slot) {
		return fmt.Errorf("%d vectors for %d chunks: %w", len(keys), x.chunks.slots-int(slot), store.ErrCorrupt)
	}
	v := x.freeze()
	for i, key := range keys {
		if key != v.key(slot+uint32(i)) {
			return fmt.Errorf("vector %d belongs to another chunk: %w", key, store.ErrCorrupt)
		}
	}
	return nil
}
