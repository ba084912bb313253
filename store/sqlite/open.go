package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// Options says what to open.
type Options struct {
	Dir     string       // data folder, made if it is missing
	Address string       // where this process serves, for the lock file; see Announce
	Log     *slog.Logger // warnings of what does not concern the caller; nil is none

	// ReadOnly opens a folder that is there without writing anything in it, so that it may
	// be on a medium that cannot be written, and several processes may have it open so;
	// none, however, beside one that writes. Every change is store.ErrUnsupported.
	ReadOnly bool

	vfs string     // of SQLite; tests put one that fails here
	at  thresholds // tests put lower ones here
}

// Store is a data folder, open and locked.
type Store struct {
	options Options
	dir     string
	lock    *lock
	catalog *catalog

	mu   sync.Mutex // held while a collection is opened, changed or dropped
	open map[string]*collection
	done bool
}

var _ store.Store = (*Store)(nil)

// Open opens a data folder. A second process that tries gets store.ErrLocked, which
// names the first one. Collections are loaded when they are first asked for.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.at == (thresholds{}) {
		o.at = usual
	}
	if o.ReadOnly {
		return openToAsk(ctx, o)
	}
	if err := os.MkdirAll(filepath.Join(o.Dir, "c"), 0o700); err != nil {
		return nil, fmt.Errorf("open data folder: %w: %w", store.ErrUnavailable, err)
	}
	l, err := acquire(o.Dir, o.Address)
	if err != nil {
		return nil, fmt.Errorf("open data folder: %w", err)
	}
	if err := finishRestore(o.Dir); err != nil {
		_ = l.release()
		return nil, fmt.Errorf("open data folder: finish restoring: %w", err)
	}
	cat, err := soundCatalog(ctx, o.Dir, o.vfs, o.Log)
	if err != nil {
		_ = l.release()
		return nil, fmt.Errorf("open data folder: %w", err)
	}
	s := &Store{options: o, dir: o.Dir, lock: l, catalog: cat, open: map[string]*collection{}}
	if err := s.sweep(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("open data folder: %w", err)
	}
	return s, nil
}

// openToAsk opens a data folder for reading only.
func openToAsk(ctx context.Context, o Options) (*Store, error) {
	l, err := share(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open data folder: %w", err)
	}
	s := &Store{options: o, dir: o.Dir, lock: l, open: map[string]*collection{}}
	if _, err = os.Stat(filepath.Join(o.Dir, restoreName)); err == nil {
		err = fmt.Errorf("a backup is being put in place, which takes opening it for writing once: %w", store.ErrUnavailable)
	} else {
		s.catalog, err = catalogToRead(ctx, o.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("open data folder: %w", errors.Join(err, l.release()))
	}
	return s, nil
}

func catalogToRead(ctx context.Context, dir string) (*catalog, error) {
	path := filepath.Join(dir, catalogName)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	db, err := openReadOnly(path)
	if err != nil {
		return nil, err
	}
	c := &catalog{db: db}
	if _, err := c.entries(ctx); err != nil {
		return nil, errors.Join(failure("read catalogue", err), c.close())
	}
	return c, nil
}

// Announce writes into the lock file where this process serves, for Holder to find.
func (s *Store) Announce(address string) error { return s.lock.announce(address) }

// sweep removes the folders of dropped collections that a crash left behind.
func (s *Store) sweep(ctx context.Context) error {
	folders, err := s.catalog.dropped(ctx)
	if err != nil {
		return failure("read catalogue", err)
	}
	for _, folder := range folders {
		if err := os.RemoveAll(s.folder(folder)); err != nil {
			return err
		}
		if err := s.catalog.forget(ctx, folder); err != nil {
			return failure("forget dropped collection", err)
		}
	}
	return nil
}

func (s *Store) folder(name string) string { return filepath.Join(s.dir, "c", name) }

// Ensure implements store.Store.
func (s *Store) Ensure(ctx context.Context, spec sextant.Collection) (store.Collection, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("ensure collection: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.opened(ctx, spec.Name)
	if errors.Is(err, store.ErrNotFound) {
		if err := s.catalog.create(ctx, spec); err != nil {
			return nil, fmt.Errorf("ensure collection %s: %w", spec.Name, err)
		}
		c, err = s.opened(ctx, spec.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("ensure collection %s: %w", spec.Name, err)
	}
	if err := c.respecify(ctx, spec, s.catalog); err != nil {
		return nil, fmt.Errorf("ensure collection %s: %w", spec.Name, err)
	}
	return c, nil
}

// Open implements store.Store.
func (s *Store) Open(ctx context.Context, name string) (store.Collection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.opened(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open collection %q: %w", name, err)
	}
	return c, nil
}

// opened returns a collection, loading it if it is not in memory yet.
func (s *Store) opened(ctx context.Context, name string) (*collection, error) {
	if s.done {
		return nil, errClosed
	}
	if c := s.open[name]; c != nil {
		return c, nil
	}
	e, err := s.catalog.entry(ctx, name)
	if err != nil {
		return nil, err
	}
	c, err := openCollection(ctx, s.folder(e.folder), e, s.options)
	if err != nil {
		return nil, err
	}
	c.catalog = s.catalog
	if c.entry.spec.Encoder != e.spec.Encoder && !c.readOnly {
		if err := s.catalog.respecify(ctx, c.entry); err != nil {
			return nil, errors.Join(err, c.close(false))
		}
	}
	s.open[name] = c
	return c, nil
}

// Collections implements store.Store.
func (s *Store) Collections(ctx context.Context) ([]sextant.Collection, error) {
	specs, err := s.catalog.specs(ctx)
	return specs, failure("list collections", err)
}

// Drop implements store.Store. Whoever still holds the collection gets
// store.ErrUnavailable from then on.
func (s *Store) Drop(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return fmt.Errorf("drop collection %q: %w", name, errClosed)
	}
	e, err := s.catalog.entry(ctx, name)
	if err != nil {
		return fmt.Errorf("drop collection %q: %w", name, err)
	}
	if err := s.catalog.drop(ctx, e); err != nil {
		return failure("drop collection "+name, err)
	}
	if c := s.open[name]; c != nil {
		delete(s.open, name)
		err = c.close(false)
	}
	return errors.Join(err, s.sweep(ctx))
}

// Ping implements store.Store.
func (s *Store) Ping(ctx context.Context) error {
	return failure("ping", s.catalog.db.read.PingContext(ctx))
}

// Journal implements store.Store.
func (s *Store) Journal() store.Journal { return s.catalog }

// errClosed is what everything fails with after Close, and a collection's methods
// after Drop.
var errClosed = fmt.Errorf("%w: it is closed", store.ErrUnavailable)

// Close implements store.Store. It waits for changes being written; reads that are
// still going on fail.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return nil
	}
	s.done = true
	var errs []error
	for _, c := range s.open {
		errs = append(errs, c.close(true))
	}
	errs = append(errs, s.catalog.db.close(), s.lock.release())
	return errors.Join(errs...)
}
