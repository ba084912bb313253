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

// load reads the collection into RAM. One goroutine reads rows; columns are filled in
// order by another, and words are indexed by all cores, a block of rows at a time.
func (c *collection) load(ctx context.Context) error {
	if err := c.loadState(ctx); err != nil {
		return failure("read state", err)
	}
	text, err := newText(c.entry.spec)
	if err != nil {
		return err
	}
	c.text = text
	c.index = newIndex(c.entry.spec.Schema, newNames(c.state.Names))
	if err := c.loadRows(ctx); err != nil {
		return failure("load documents", err)
	}
	if n := c.index.documents.live.count(); n != c.state.Documents || c.index.marks != c.state.Marks {
		return fmt.Errorf("load documents: %d are there of %d, or others: %w", n, c.state.Documents, store.ErrCorrupt)
	}
	return nil
}

// loadState reads the state, or begins one in a new database.
func (c *collection) loadState(ctx context.Context) error {
	var err error
	c.state, err = scanState(c.db.write.QueryRowContext(ctx, selectState).Scan)
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
	c.state = state{Format: format, Sequence: uint64(c.entry.generation) << 32, Next: 1, Names: newNames(nil).with(c.entry.spec.Schema).list}
	return c.db.update(ctx, c.state.write)
}

// block is a run of rows on their way into the index.
type block struct {
	rows  []row
	chunk uint32 // slot of the first chunk
	batch *lexical.Batch
	err   error
	done  chan struct{}
}

const blockRows = 1024

func (c *collection) loadRows(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	blocks := make(chan *block, 2*runtime.GOMAXPROCS(0)) // in order; bounds what is in flight
	work := make(chan *block)
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for b := range work {
				p := plan{chunks: b.chunk}
				for i := range b.rows {
					p.rows = append(p.rows, &b.rows[i])
				}
				b.err = p.index(b.batch)
				close(b.done)
			}
		}()
	}
	read := make(chan error, 1)
	go func() {
		defer close(blocks)
		defer close(work)
		read <- c.readBlocks(ctx, func(b *block) bool {
			select {
			case blocks <- b:
			case <-ctx.Done():
				return false
			}
			select {
			case work <- b:
			case <-ctx.Done():
				return false
			}
			return true
		})
	}()
	for b := range blocks {
		if err := c.enter(ctx, b); err != nil {
			return err
		}
	}
	return <-read
}

// enter puts a block's rows into the columns, and its words once they are ready.
func (c *collection) enter(ctx context.Context, b *block) error {
	for i := range b.rows {
		if err := c.index.add(&b.rows[i]); err != nil {
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
	return b.batch.Commit()
}

const selectDoc = `SELECT row, id, revision, title, text, meta, chunks, rest, sum FROM doc `

// readBlocks reads all rows in order of their numbers, checks them and hands them on
// until yield wants no more.
func (c *collection) readBlocks(ctx context.Context, yield func(*block) bool) error {
	rows, err := c.db.read.QueryContext(ctx, selectDoc+`ORDER BY row`)
	if err != nil {
		return err
	}
	defer rows.Close()
	chunk := uint32(0)
	next := &block{batch: c.text.NewBatch(), done: make(chan struct{})}
	for rows.Next() {
		r, err := scanRow(rows.Scan)
		if err != nil {
			return err
		}
		d := decoder{b: r.chunks}
		next.rows = append(next.rows, r)
		chunk += uint32(d.count())
		if len(next.rows) == blockRows {
			if !yield(next) {
				return ctx.Err()
			}
			next = &block{chunk: chunk, batch: c.text.NewBatch(), done: make(chan struct{})}
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
