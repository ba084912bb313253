package outbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
	"github.com/sextant-rag/sextant/store/storetest"
)

func folder(t testing.TB, dir string) store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(dir, "data")})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func opened(t testing.TB, dir string, st store.Store) *Store {
	t.Helper()
	s, err := Open(filepath.Join(dir, "outbox"), st)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A store with an outbox is a store.
func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t testing.TB, dir string) store.Store { return opened(t, dir, folder(t, dir)) })
}

// server is a store that can be away.
type server struct {
	store.Store
	away atomic.Bool
}

func (s *server) err() error {
	if s.away.Load() {
		return fmt.Errorf("away: %w", store.ErrUnavailable)
	}
	return nil
}

func (s *server) Ensure(ctx context.Context, spec sextant.Collection) (store.Collection, error) {
	if err := s.err(); err != nil {
		return nil, err
	}
	c, err := s.Store.Ensure(ctx, spec)
	return &served{c, s}, err
}

func (s *server) Journal() store.Journal { return &servedJournal{s.Store.Journal(), s} }

type servedJournal struct {
	store.Journal
	s *server
}

func (j *servedJournal) PutMark(ctx context.Context, key, value string) error {
	return errors.Join(j.s.err(), j.Journal.PutMark(ctx, key, value))
}

type served struct {
	store.Collection
	s *server
}

func (c *served) Upsert(ctx context.Context, records []store.Record) error {
	if err := c.s.err(); err != nil {
		return err
	}
	return c.Collection.Upsert(ctx, records)
}

func (c *served) Count(ctx context.Context, f filter.Filter, unit string) (int64, error) {
	if err := c.s.err(); err != nil {
		return 0, err
	}
	return c.Collection.Count(ctx, f, unit)
}

func notes() sextant.Collection {
	return sextant.Collection{Name: "notes", Schema: filter.Schema{Fields: []filter.Field{{Name: "n", Kind: filter.Int}, {Name: "x", Kind: filter.Float}}}}
}

func note(id string, n int64) store.Record {
	return store.Record{Document: sextant.Document{ID: sextant.DocumentID(id), Collection: "notes", Text: "text", Revision: fmt.Sprint(n),
		Meta: filter.Meta{Fields: filter.Fields{"n": {filter.OfInt(n)}, "x": {filter.OfFloat(0.1)}}}}}
}

// What is written while the server is away waits, in order, survives the process, and
// is there for the first question that is answered afterwards. Meanwhile none is.
func TestWritesWait(t *testing.T) {
	dir := t.TempDir()
	srv := &server{Store: folder(t, dir)}
	s := opened(t, dir, srv)
	c, err := s.Ensure(t.Context(), notes())
	if err != nil {
		t.Fatal(err)
	}
	put := func(c store.Collection, recs ...store.Record) {
		t.Helper()
		if err := c.Upsert(t.Context(), recs); err != nil {
			t.Fatal(err)
		}
	}
	put(c, note("n:1", 1))
	srv.away.Store(true)
	put(c, note("n:1", 2), note("n:2", 2))
	put(c, note("n:1", 3))
	if err := s.Journal().PutMark(t.Context(), "read", "3"); err != nil {
		t.Fatal(err)
	}
	if s.Waiting() != 3 {
		t.Fatalf("%d wait, want 3", s.Waiting())
	}
	if n, err := c.Count(t.Context(), filter.All, ""); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("count while documents wait: %d, %v", n, err)
	}
	if err := c.Upsert(t.Context(), []store.Record{{}}); !errors.Is(err, store.ErrRecord) {
		t.Errorf("a bad record waits: %v", err)
	}
	s.stop() // as if the process had been killed
	s.over.Wait()
	s.release()

	s = opened(t, dir, srv)
	defer s.Close()
	if s.Waiting() != 3 {
		t.Fatalf("%d wait in the next process, want 3", s.Waiting())
	}
	srv.away.Store(false)
	c, err = s.Ensure(t.Context(), notes())
	if err != nil {
		t.Fatal(err)
	}
	now, err := c.Revisions(t.Context(), []sextant.DocumentID{"n:1", "n:2"})
	if err != nil || now["n:1"] != "3" || now["n:2"] != "2" || s.Waiting() != 0 {
		t.Errorf("after the outage: %v, %v, %d wait", now, err, s.Waiting())
	}
	if m, err := s.Journal().Mark(t.Context(), "read"); m != "3" || err != nil {
		t.Errorf("mark: %q, %v", m, err)
	}
}

// A second process gets no outbox that another one has, and a damaged change stops the
// queue instead of being passed over.
func TestOutboxIsOnes(t *testing.T) {
	dir := t.TempDir()
	srv := &server{Store: folder(t, dir)}
	s := opened(t, dir, srv)
	if _, err := Open(filepath.Join(dir, "outbox"), srv); !errors.Is(err, store.ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	c, err := s.Ensure(t.Context(), notes())
	if err != nil {
		t.Fatal(err)
	}
	srv.away.Store(true)
	if err := c.Upsert(t.Context(), []store.Record{note("n:1", 1)}); err != nil {
		t.Fatal(err)
	}
	name := s.queue.path(s.queue.open[0])
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	srv.away.Store(false)
	if _, err := c.Count(t.Context(), filter.All, ""); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a damaged change: %v", err)
	}
	s.Close()
}
