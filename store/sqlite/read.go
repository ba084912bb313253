package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// snapshot reads rows of one state of the collection.
type snapshot struct {
	tx         *sql.Tx
	doc        *sql.Stmt
	collection string
	names      *names
}

// pin calls pick with the index, and returns a snapshot of the database of the very
// state that pick saw. A reader may begin between a commit and its publication, or just
// before a commit and look at the index just after: both are found by comparing the
// sequence, and the first waits while the second begins again.
func (c *collection) pin(ctx context.Context, pick func(x *index)) (*snapshot, error) {
	for {
		if err := c.check(ctx); err != nil {
			return nil, err
		}
		tx, err := c.db.read.BeginTx(ctx, nil)
		if err != nil {
			return nil, failure("begin", err)
		}
		st, err := readState(ctx, tx)
		if err != nil {
			tx.Rollback()
			return nil, failure("begin", err)
		}
		s, err := c.pinAt(ctx, tx, st.Sequence, pick)
		if s != nil {
			return s, nil
		}
		tx.Rollback()
		if err != nil {
			return nil, err
		}
	}
}

// pinAt waits until the index is at a sequence; nil if it is past it.
func (c *collection) pinAt(ctx context.Context, tx *sql.Tx, sequence uint64, pick func(x *index)) (*snapshot, error) {
	for {
		c.mu.RLock()
		at, next, failed := c.state.Sequence, c.published, c.failed
		if at == sequence {
			pick(c.index)
			s := &snapshot{tx: tx, collection: c.entry.spec.Name, names: c.index.names}
			c.mu.RUnlock()
			return s, nil
		}
		c.mu.RUnlock()
		if at > sequence {
			return nil, nil
		}
		if failed != nil {
			return nil, failed
		}
		select {
		case <-next:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *snapshot) close() {
	if s.doc != nil {
		s.doc.Close()
	}
	s.tx.Rollback()
}

// row reads a row that the pinned state has.
func (s *snapshot) row(ctx context.Context, number int64) (row, error) {
	if s.doc == nil {
		var err error
		if s.doc, err = s.tx.PrepareContext(ctx, selectDoc+`WHERE row = ?`); err != nil {
			return row{}, failure("read document", err)
		}
	}
	r, err := scanRow(s.doc.QueryRowContext(ctx, number).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return r, fmt.Errorf("row %d is missing: %w", number, store.ErrCorrupt)
	}
	return r, failure("read document", err)
}

func (s *snapshot) document(ctx context.Context, number int64) (sextant.Document, error) {
	r, err := s.row(ctx, number)
	if err != nil {
		return sextant.Document{}, err
	}
	return r.document(s.collection, s.names)
}

// present returns the rows of the ids that exist, in their order.
func (x *index) present(ids []sextant.DocumentID) []int64 {
	var out []int64
	for _, id := range ids {
		if slot, ok := x.find(string(id)); ok {
			out = append(out, x.rowOf[slot])
		}
	}
	return out
}

// Get implements store.Collection.
func (c *collection) Get(ctx context.Context, ids []sextant.DocumentID) ([]sextant.Document, error) {
	var numbers []int64
	s, err := c.pin(ctx, func(x *index) { numbers = x.present(ids) })
	if err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	defer s.close()
	docs := make([]sextant.Document, len(numbers))
	for i, n := range numbers {
		if docs[i], err = s.document(ctx, n); err != nil {
			return nil, fmt.Errorf("get: %w", err)
		}
	}
	return docs, nil
}

// Chunks implements store.Collection.
func (c *collection) Chunks(ctx context.Context, id sextant.DocumentID) ([]sextant.Chunk, error) {
	var numbers []int64
	s, err := c.pin(ctx, func(x *index) { numbers = x.present([]sextant.DocumentID{id}) })
	if err != nil {
		return nil, fmt.Errorf("chunks: %w", err)
	}
	defer s.close()
	if len(numbers) == 0 {
		return nil, nil
	}
	r, err := s.row(ctx, numbers[0])
	if err != nil {
		return nil, fmt.Errorf("chunks: %w", err)
	}
	return r.decodeChunks()
}

// Revisions implements store.Collection. The revision is read without the row it
// belongs to, and so without its checksum: damage makes a document look changed, and
// it is written again.
func (c *collection) Revisions(ctx context.Context, ids []sextant.DocumentID) (map[sextant.DocumentID]string, error) {
	present := map[sextant.DocumentID]int64{}
	s, err := c.pin(ctx, func(x *index) {
		for _, id := range ids {
			if slot, ok := x.find(string(id)); ok {
				present[id] = x.rowOf[slot]
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("revisions: %w", err)
	}
	defer s.close()
	revision, err := s.tx.PrepareContext(ctx, `SELECT revision FROM doc WHERE row = ?`)
	if err != nil {
		return nil, failure("revisions", err)
	}
	defer revision.Close()
	out := make(map[sextant.DocumentID]string, len(present))
	for id, number := range present {
		var r string
		if err := revision.QueryRowContext(ctx, number).Scan(&r); err != nil {
			return nil, failure("revisions", err)
		}
		out[id] = r
	}
	return out, nil
}

// Scan implements store.Collection. All documents yielded are of the state in which
// the scan began.
func (c *collection) Scan(ctx context.Context, f filter.Filter) iter.Seq2[sextant.Document, error] {
	return func(yield func(sextant.Document, error) bool) {
		var numbers []int64
		var filterErr error
		s, err := c.pin(ctx, func(x *index) {
			if f, filterErr = x.schema.Resolve(f); filterErr == nil {
				for _, slot := range x.byID(x.matching(f)) {
					numbers = append(numbers, x.rowOf[slot])
				}
			}
		})
		if err != nil {
			yield(sextant.Document{}, fmt.Errorf("scan: %w", err))
			return
		}
		defer s.close()
		if filterErr != nil {
			yield(sextant.Document{}, fmt.Errorf("scan: %w", filterErr))
			return
		}
		for _, n := range numbers {
			d, err := s.document(ctx, n)
			if err != nil {
				yield(sextant.Document{}, fmt.Errorf("scan: %w", err))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}
