// Package outbox lets ingestion go on while the server that keeps the documents cannot be
// reached: what is written then waits on this machine's disk, in order, and is carried over
// when the server is back, also by another process after this one was killed.
//
// A write that returns nil is durable, here or there. Whether it has arrived there is not
// told apart by whoever writes, but reading is: while anything waits, every question first
// has it carried over, and fails with store.ErrUnavailable if that cannot be done. So
// nobody is answered from a state that lacks what was acknowledged. Deleting says how many
// documents there were, which only the server knows, and therefore does not wait.
//
// Carrying over is repeated after a crash in between: writing a document, a receipt or a
// mark twice is the same as once.
package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Store is a store whose writes can wait.
type Store struct {
	store.Store
	waiting atomic.Int64 // changes on disk
	release func()
	stop    context.CancelFunc
	over    sync.WaitGroup

	mu    sync.Mutex // held while anything is put into the queue or carried over
	queue *queue
	done  bool
}

var _ store.Store = (*Store)(nil)

// every is how often carrying over is tried, besides before each question.
const every = 5 * time.Second

// Open opens the outbox in a folder, which is made if it is missing and belongs to one
// process (store.ErrLocked) and to this one server: what waits in it goes nowhere else.
// What waits since an earlier process is carried over as soon as that can be done. Close
// closes the store too.
func Open(dir string, st store.Store) (*Store, error) {
	q, err := openQueue(dir)
	if err != nil {
		return nil, err
	}
	release, ok, err := hold(filepath.Join(dir, "LOCK"))
	if err != nil {
		return nil, fmt.Errorf("outbox: %w: %w", store.ErrIO, err)
	}
	if !ok {
		return nil, fmt.Errorf("outbox %s: %w", dir, store.ErrLocked)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Store{Store: st, queue: q, release: release, stop: stop}
	s.waiting.Store(int64(len(q.open)))
	s.over.Go(func() { s.carryOn(ctx) })
	return s, nil
}

// Waiting says how many changes wait on disk.
func (s *Store) Waiting() int64 { return s.waiting.Load() }

// carryOn carries over from time to time.
func (s *Store) carryOn(ctx context.Context) {
	for {
		if s.waiting.Load() > 0 {
			_ = s.Flush(ctx) // who asks gets the reason
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// Flush carries over what waits, in order. On an error the rest goes on waiting.
func (s *Store) Flush(ctx context.Context) error {
	if s.waiting.Load() == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush(ctx)
}

func (s *Store) flush(ctx context.Context) error {
	for {
		ch, ok, err := s.queue.first()
		if err == nil && !ok {
			return nil
		}
		if err == nil {
			err = s.apply(ctx, ch)
		}
		if err == nil {
			err = s.queue.drop()
		}
		if err != nil {
			return fmt.Errorf("%d changes wait on this machine: %w", len(s.queue.open), err)
		}
		s.waiting.Add(-1)
	}
}

func (s *Store) apply(ctx context.Context, ch change) error {
	switch {
	case ch.Receipt != nil:
		return s.Store.Journal().PutReceipt(ctx, *ch.Receipt)
	case ch.Mark != nil:
		return s.Store.Journal().PutMark(ctx, ch.Mark.Key, ch.Mark.Value)
	case ch.Upsert == nil:
		return fmt.Errorf("a change that says nothing: %w", store.ErrCorrupt)
	}
	c, err := s.Store.Ensure(ctx, ch.Upsert.Spec)
	if err != nil {
		return err
	}
	records := make([]store.Record, len(ch.Upsert.Records))
	for i, b := range ch.Upsert.Records {
		if records[i], err = store.DecodeRecord(b, &ch.Upsert.Spec.Schema); err != nil {
			return err
		}
	}
	return c.Upsert(ctx, records)
}

// write does a change now, or has it wait if the server cannot be reached or others wait
// already.
func (s *Store) write(ctx context.Context, now func() error, later func() (change, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return now() // the store says that it is closed
	}
	err := s.flush(ctx)
	if err == nil {
		err = now()
	}
	if !errors.Is(err, store.ErrUnavailable) || ctx.Err() != nil {
		return err
	}
	ch, e := later()
	if e == nil {
		e = s.queue.put(ch)
	}
	if e != nil {
		return errors.Join(err, e)
	}
	s.waiting.Add(1)
	return nil
}

// Ensure implements store.Store.
func (s *Store) Ensure(ctx context.Context, spec sextant.Collection) (store.Collection, error) {
	if err := s.Flush(ctx); err != nil {
		return nil, err
	}
	c, err := s.Store.Ensure(ctx, spec)
	return s.wrap(c), err
}

// Open implements store.Store.
func (s *Store) Open(ctx context.Context, name string) (store.Collection, error) {
	c, err := s.Store.Open(ctx, name)
	return s.wrap(c), err
}

// Drop implements store.Store.
func (s *Store) Drop(ctx context.Context, name string) error {
	if err := s.Flush(ctx); err != nil {
		return err
	}
	return s.Store.Drop(ctx, name)
}

// Journal implements store.Store.
func (s *Store) Journal() store.Journal { return journal{s.Store.Journal(), s} }

// Close tries once more to carry over, and closes the store. What cannot be carried over
// goes on waiting for the next process.
func (s *Store) Close() error {
	s.stop()
	s.over.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), every)
	defer cancel()
	_ = s.Flush(ctx)
	err := s.Store.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done {
		s.done = true
		s.release()
	}
	return err
}

type journal struct {
	store.Journal
	s *Store
}

var _ store.MarkReader = journal{}

// PutReceipt implements store.Journal.
func (j journal) PutReceipt(ctx context.Context, r sextant.Receipt) error {
	return j.s.write(ctx, func() error { return j.Journal.PutReceipt(ctx, r) }, func() (change, error) { return change{Receipt: &r}, nil })
}

// PutMark implements store.Journal.
func (j journal) PutMark(ctx context.Context, key, value string) error {
	return j.s.write(ctx, func() error { return j.Journal.PutMark(ctx, key, value) }, func() (change, error) { return change{Mark: &store.Mark{Key: key, Value: value}}, nil })
}

// Receipts implements store.Journal.
func (j journal) Receipts(ctx context.Context, collection string, limit int) ([]sextant.Receipt, error) {
	if err := j.s.Flush(ctx); err != nil {
		return nil, err
	}
	return j.Journal.Receipts(ctx, collection, limit)
}

// Mark implements store.Journal.
func (j journal) Mark(ctx context.Context, key string) (string, error) {
	if err := j.s.Flush(ctx); err != nil {
		return "", err
	}
	return j.Journal.Mark(ctx, key)
}

// Marks implements store.MarkReader.
func (j journal) Marks(ctx context.Context, after string, limit int) ([]store.Mark, error) {
	r, ok := j.Journal.(store.MarkReader)
	if !ok {
		return nil, fmt.Errorf("reading marks: %w", store.ErrUnsupported)
	}
	if err := j.s.Flush(ctx); err != nil {
		return nil, err
	}
	return r.Marks(ctx, after, limit)
}

// collection is one whose writes can wait, and whose questions have them carried over.
type collection struct {
	store.Collection
	s *Store
}

// Upsert implements store.Collection. What waits was checked as every store checks it.
func (c *collection) Upsert(ctx context.Context, records []store.Record) error {
	spec := c.Spec()
	for _, rec := range records {
		if err := store.CheckRecord(rec, &spec); err != nil {
			return fmt.Errorf("upsert: %w", err)
		}
	}
	return c.s.write(ctx, func() error { return c.Collection.Upsert(ctx, records) }, func() (change, error) {
		u := &upsert{Spec: spec, Records: make([]json.RawMessage, len(records))}
		var err error
		for i, rec := range records {
			if u.Records[i], err = store.EncodeRecord(rec); err != nil {
				return change{}, err
			}
		}
		return change{Upsert: u}, nil
	})
}

// after has a question asked when nothing waits any more.
func after[T any](ctx context.Context, c *collection, ask func() (T, error)) (T, error) {
	if err := c.s.Flush(ctx); err != nil {
		var none T
		return none, err
	}
	return ask()
}

// Delete implements store.Collection.
func (c *collection) Delete(ctx context.Context, ids []sextant.DocumentID) (int, error) {
	return after(ctx, c, func() (int, error) { return c.Collection.Delete(ctx, ids) })
}

// Revisions implements store.Collection.
func (c *collection) Revisions(ctx context.Context, ids []sextant.DocumentID) (map[sextant.DocumentID]string, error) {
	return after(ctx, c, func() (map[sextant.DocumentID]string, error) { return c.Collection.Revisions(ctx, ids) })
}

// Get implements store.Collection.
func (c *collection) Get(ctx context.Context, ids []sextant.DocumentID) ([]sextant.Document, error) {
	return after(ctx, c, func() ([]sextant.Document, error) { return c.Collection.Get(ctx, ids) })
}

// Chunks implements store.Collection.
func (c *collection) Chunks(ctx context.Context, id sextant.DocumentID) ([]sextant.Chunk, error) {
	return after(ctx, c, func() ([]sextant.Chunk, error) { return c.Collection.Chunks(ctx, id) })
}

// Count implements store.Collection.
func (c *collection) Count(ctx context.Context, f filter.Filter, unit string) (int64, error) {
	return after(ctx, c, func() (int64, error) { return c.Collection.Count(ctx, f, unit) })
}

// Facet implements store.Collection.
func (c *collection) Facet(ctx context.Context, q store.FacetQuery) (store.Facet, error) {
	return after(ctx, c, func() (store.Facet, error) { return c.Collection.Facet(ctx, q) })
}

// Sum implements store.Collection.
func (c *collection) Sum(ctx context.Context, f filter.Filter, field string) (store.Sum, error) {
	return after(ctx, c, func() (store.Sum, error) { return c.Collection.Sum(ctx, f, field) })
}

// List implements store.Collection.
func (c *collection) List(ctx context.Context, q store.ListQuery) (store.List, error) {
	return after(ctx, c, func() (store.List, error) { return c.Collection.List(ctx, q) })
}

// Scan implements store.Collection.
func (c *collection) Scan(ctx context.Context, f filter.Filter) iter.Seq2[sextant.Document, error] {
	return func(yield func(sextant.Document, error) bool) {
		if err := c.s.Flush(ctx); err != nil {
			yield(sextant.Document{}, err)
			return
		}
		c.Collection.Scan(ctx, f)(yield)
	}
}

// SearchLexical implements store.Collection.
func (c *collection) SearchLexical(ctx context.Context, q store.LexicalQuery) ([]store.Hit, error) {
	return after(ctx, c, func() ([]store.Hit, error) { return c.Collection.SearchLexical(ctx, q) })
}

// SearchDense implements store.Collection.
func (c *collection) SearchDense(ctx context.Context, q store.DenseQuery) ([]store.Hit, error) {
	return after(ctx, c, func() ([]store.Hit, error) { return c.Collection.SearchDense(ctx, q) })
}

// Size implements store.Collection.
func (c *collection) Size(ctx context.Context) (store.Size, error) {
	return after(ctx, c, func() (store.Size, error) { return c.Collection.Size(ctx) })
}
