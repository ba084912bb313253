package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// reader is a connection with what is asked of it prepared. Preparing, and what
// database/sql does for a transaction, took longer than reading ten documents.
type reader struct {
	conn                                *sql.Conn
	begin, end, state, doc, rev, vector *sql.Stmt
}

// vectorsAtOnce is how many vectors one statement reads: as many as a search for ten
// re-scores at first, and more.
const vectorsAtOnce = 64

func newReader(db *sql.DB) (*reader, error) {
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	r := &reader{conn: conn}
	for _, s := range []struct {
		into *(*sql.Stmt)
		text string
	}{
		{&r.begin, `BEGIN`}, {&r.end, `ROLLBACK`}, {&r.state, selectState}, {&r.doc, selectDoc + `WHERE row = ?`}, {&r.rev, `SELECT revision FROM doc WHERE row = ?`},
		{&r.vector, `SELECT chunk, v FROM vec WHERE chunk IN (?` + strings.Repeat(`,?`, vectorsAtOnce-1) + `) ORDER BY chunk`},
	} {
		if *s.into, err = conn.PrepareContext(ctx, s.text); err != nil {
			return nil, errors.Join(err, r.close())
		}
	}
	return r, nil
}

// close closes the statements first: database/sql does not know those of a connection
// of one's own, and SQLite keeps a connection alive, and its log, for an open statement.
func (r *reader) close() error {
	var errs []error
	for _, s := range []*sql.Stmt{r.begin, r.end, r.state, r.doc, r.rev, r.vector} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(append(errs, r.conn.Close())...)
}

// readers keeps readers that are not in use. There is no upper bound: who reads while
// he scans must not wait for himself.
type readers struct {
	db     *sql.DB
	mu     sync.Mutex
	idle   []*reader
	closed bool
}

const maxIdle = 4

func (p *readers) get() (*reader, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		r := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return r, nil
	}
	p.mu.Unlock()
	return newReader(p.db)
}

// put takes a reader back that is in no transaction.
func (p *readers) put(r *reader) {
	p.mu.Lock()
	if len(p.idle) < maxIdle && !p.closed {
		p.idle = append(p.idle, r)
		r = nil
	}
	p.mu.Unlock()
	if r != nil {
		r.close()
	}
}

// close closes the readers that are idle; one in use is closed when it is put back.
func (p *readers) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, r := range p.idle {
		errs = append(errs, r.close())
	}
	p.idle, p.closed = nil, true
	return errors.Join(errs...)
}

// snapshot reads rows of one state of the collection. Single reads do not end early:
// they take microseconds, and watching a context costs more.
type snapshot struct {
	*reader
	home       *readers
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
		s, err := c.beginSnapshot()
		if err != nil {
			return nil, failure("begin", err)
		}
		st, err := scanState(s.state.QueryRow().Scan)
		if err == nil {
			var pinned bool
			if pinned, err = c.pinAt(ctx, st.Sequence, s, pick); pinned {
				return s, nil
			}
		}
		s.close()
		if err != nil {
			return nil, failure("begin", err)
		}
	}
}

func (c *collection) beginSnapshot() (*snapshot, error) {
	r, err := c.readers.get()
	if err != nil {
		return nil, err
	}
	if _, err := r.begin.Exec(); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return &snapshot{reader: r, home: &c.readers}, nil
}

// pinAt waits until the index is at a sequence; false if it is past it.
func (c *collection) pinAt(ctx context.Context, sequence uint64, s *snapshot, pick func(x *index)) (bool, error) {
	for {
		c.mu.RLock()
		at, next, failed := c.state.Sequence, c.published, c.failed
		if at == sequence {
			err := c.reading(func() error { pick(c.index); return nil })
			s.collection, s.names = c.entry.spec.Name, c.index.names
			c.mu.RUnlock()
			return err == nil, err
		}
		c.mu.RUnlock()
		if at > sequence || failed != nil {
			return false, failed
		}
		select {
		case <-next:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

func (s *snapshot) close() {
	if _, err := s.end.Exec(); err != nil {
		s.reader.close()
		return
	}
	s.home.put(s.reader)
}

// row reads a row that the pinned state has.
func (s *snapshot) row(number int64) (row, error) {
	r, err := scanRow(s.doc.QueryRow(number).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return r, fmt.Errorf("row %d is missing: %w", number, store.ErrCorrupt)
	}
	return r, failure("read document", err)
}

func (s *snapshot) document(number int64) (sextant.Document, error) {
	r, err := s.row(number)
	if err != nil {
		return sextant.Document{}, err
	}
	return r.document(s.collection, s.names)
}

// vectors reads the vectors of chunks, given by their keys in rising order, into one
// array.
func (s *snapshot) vectors(keys []int64, into []float32) error {
	dimension := len(into) / len(keys)
	args := make([]any, vectorsAtOnce)
	for len(keys) > 0 {
		n := min(vectorsAtOnce, len(keys))
		for i := range args {
			args[i] = keys[min(i, n-1)]
		}
		if err := s.someVectors(args, keys[:n], dimension, into); err != nil {
			return failure("read vectors", err)
		}
		keys, into = keys[n:], into[n*dimension:]
	}
	return nil
}

func (s *snapshot) someVectors(args []any, keys []int64, dimension int, into []float32) error {
	rows, err := s.vector.Query(args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	i := 0
	for ; rows.Next(); i++ {
		var key int64
		var blob sql.RawBytes
		if err := rows.Scan(&key, &blob); err != nil {
			return err
		}
		if i >= len(keys) || key != keys[i] {
			break
		}
		if err := decodeVector(into[i*dimension:][:dimension], key, blob); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if i < len(keys) {
		return fmt.Errorf("vector %d is missing: %w", keys[i], store.ErrCorrupt)
	}
	return nil
}
