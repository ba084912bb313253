package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// thresholds say when what is done beside the work is done: derived files are written
// and the index is compacted.
type thresholds struct {
	// refresh is how many documents change before a derived file is written while the
	// collection is in use; then it takes as many as half of those there are, so that
	// filling a collection writes it a few times only.
	refresh int
	// save is the same for closing: fewer are read again in some milliseconds.
	save int
	// compact is how many dead slots are suffered in any case.
	compact int
	// words is how large a segment of the index of words must be to be kept in a file; 0
	// leaves that to package lexical.
	words int
	// log is how many bytes are written before the log is copied into the file.
	log int
}

var usual = thresholds{refresh: 50_000, save: 1_000, compact: 10_000, log: 16 << 20}

// ManyChunks is where an exact scan of all vectors begins to cost more than a question
// should, see package vector.
const ManyChunks = 2_000_000

// maintain starts what is due. The caller holds the writing lock.
func (c *collection) maintain() {
	x := c.index
	if x.chunks.slots >= ManyChunks && !c.warned {
		c.warned = true
		c.log.Warn("the collection is larger than the embedded store is made for; consider a store of its own", "collection", c.name, "chunks", x.chunks.slots)
	}
	due := c.unsaved >= max(c.at.refresh, x.documents.slots/2)
	tidy := !c.readOnly && (due || c.wasteful())
	if c.busy || c.closing || c.failed != nil || !tidy && !c.unreadable.Load() {
		return
	}
	c.busy = true
	c.background.Go(func() {
		err := c.refresh()
		if err != nil && !errors.Is(err, context.Canceled) {
			c.log.Warn("maintenance failed; nothing is lost, but opening will take longer", "collection", c.name, "reason", err)
		}
		c.maintained(err)
	})
}

// maintained ends maintenance. If words have come to be unreadable meanwhile, or still
// are, it begins again; after an error it is left to who meets them next, so that a disk
// that fails for good is not read without end.
func (c *collection) maintained(err error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.busy = false
	switch {
	case err != nil:
		c.unreadable.Store(false)
	case c.unreadable.Load():
		c.maintain()
	}
}

// wasteful reports whether most slots are of documents that have been replaced.
func (c *collection) wasteful() bool {
	alive := int(c.index.alive)
	dead := c.index.documents.slots - alive
	return dead > c.at.compact && dead > alive
}

// refresh makes the index anew if it is due, and writes a derived file of one that is
// sound, unless nothing is to be written.
func (c *collection) refresh() error {
	c.writing.Lock()
	anew := c.wasteful() || c.unreadable.Load()
	c.writing.Unlock()
	if anew {
		if err := c.compact(c.life); err != nil {
			return fmt.Errorf("compact: %w", err)
		}
	}
	if c.readOnly || c.unreadable.Load() {
		return nil
	}
	return c.save(c.life)
}

// compact replaces the index by one made anew of the rows, without the dead slots of
// the old one. Reading them goes on beside all other work; what was written meanwhile
// is added at the end, when writers wait for a moment.
func (c *collection) compact(ctx context.Context) error {
	tx, st, err := c.snapshotAtRest(ctx)
	if err != nil {
		return err
	}
	c.writing.Lock()
	e, schemas := c.entry, c.schemas
	c.writing.Unlock()
	x, err := c.build(ctx, tx, e, st)
	tx.Rollback()
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	old := x // the one that is given up
	defer func() { old.file.close() }()
	if c.schemas != schemas || c.failed != nil {
		return nil // the next time
	}
	if tx, err = c.db.read.BeginTx(ctx, nil); err != nil {
		return err
	}
	defer tx.Rollback()
	if err := x.catchUp(ctx, tx, c.state, st.Sequence, st.Next); err != nil {
		return err
	}
	c.mu.Lock()
	old, c.index = c.index, x
	c.mu.Unlock()
	c.unreadable.Store(false)
	return nil
}

// snapshotAtRest begins a read transaction between two commits.
func (c *collection) snapshotAtRest(ctx context.Context) (*sql.Tx, state, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	tx, err := c.db.read.BeginTx(ctx, nil)
	if err != nil {
		return nil, state{}, err
	}
	st, err := readState(ctx, tx)
	if err != nil {
		tx.Rollback()
	}
	return tx, st, err
}

// save writes a derived file, and forgets which rows went before it.
func (c *collection) save(ctx context.Context) error {
	c.writing.Lock()
	if c.failed != nil {
		c.writing.Unlock()
		return nil
	}
	publish, err := c.writeDerived()
	sequence, words := c.state.Sequence, c.index.text.View().Files()
	if err == nil {
		c.unsaved = 0
	}
	c.writing.Unlock()
	if err != nil {
		return fmt.Errorf("write derived file: %w", err)
	}
	if err := publish(); err != nil {
		return fmt.Errorf("write derived file: %w", err)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	c.saved = words
	c.removeWordFiles()
	return c.db.update(ctx, smallWrite, func(tx *sql.Tx) error {
		_, err := tx.Exec(`DELETE FROM gone WHERE sequence <= ?`, int64(sequence))
		return err
	})
}

// close waits for the change being written and for maintenance, and saves the index if
// that will save time.
func (c *collection) close(save bool) error {
	c.writing.Lock()
	c.closing = true
	c.writing.Unlock()
	c.stop()
	c.background.Wait()
	if save && !c.readOnly && c.unsaved >= c.at.save {
		if e := c.save(context.Background()); e != nil {
			c.log.Warn("the index was not saved; nothing is lost, but opening will take longer", "collection", c.name, "reason", e)
		}
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	c.closed = true
	c.failed = errClosed
	c.mu.Unlock()
	c.index.file.close()
	return errors.Join(c.readers.close(), c.db.close())
}
