package chroma

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// Options says which server, and how to be let in.
type Options struct {
	URL      string // http://host:8000, or with user and password in it
	Tenant   string // "" is default_tenant; made if it is missing
	Database string // "" is default_database; made if it is missing

	Token          string // of token authentication
	TokenHeader    string // "X-Chroma-Token"; "" sends it as Authorization: Bearer
	User, Password string // of basic authentication

	// Names are what the server's collections are called, by the collections' own names:
	// {"incidents": "ntsb_incidents"}. Others are called as they are.
	Names    map[string]string
	ReadOnly bool          // every change is store.ErrUnsupported
	Timeout  time.Duration // of one request that reads; 0 is 2.5 seconds. Writing may take twenty times that
	Log      *slog.Logger  // what does not concern the caller; nil is none

	terms leaseTerms
}

// Store is a database of a server.
type Store struct {
	options Options
	client  *client
	journal *journal
	terms   leaseTerms
	log     *slog.Logger

	mu   sync.Mutex
	open map[string]*collection
	done bool
}

var _ store.Store = (*Store)(nil)

// Open makes a store of a server. It asks the server nothing yet, so that the two may be
// started in any order.
func Open(o Options) (*Store, error) {
	o.Tenant, o.Database = cmp.Or(o.Tenant, "default_tenant"), cmp.Or(o.Database, "default_database")
	o.Timeout = cmp.Or(o.Timeout, 2500*time.Millisecond)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	seen := map[string]string{}
	for name, called := range o.Names {
		if other, twice := seen[called]; twice {
			return nil, fmt.Errorf("chroma: both %q and %q are to be called %q: %w", name, other, called, store.ErrUnsupported)
		}
		seen[called] = name
	}
	c, err := newClient(o)
	if err != nil {
		return nil, err
	}
	s := &Store{options: o, client: c, log: o.Log, terms: cmp.Or(o.terms, usualTerms), open: map[string]*collection{}}
	s.journal = &journal{store: s}
	return s, nil
}

// recordsName is what the collection with the chunks is called on the server. Chroma
// takes names from three characters.
func (s *Store) recordsName(name string) string {
	called := cmp.Or(s.options.Names[name], name)
	if len(called) < 3 {
		called += "--c"
	}
	return called
}

var errClosed = fmt.Errorf("%w: it is closed", store.ErrUnavailable)

// check reports why nothing can be asked.
func (s *Store) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return errClosed
	}
	return nil
}

func (s *Store) writable() error {
	if s.options.ReadOnly {
		return fmt.Errorf("the store is open for reading only: %w", store.ErrUnsupported)
	}
	return nil
}

// reachable reports whether the database can be asked: an empty answer then means that
// nothing is there.
func (c *client) reachable(ctx context.Context) error {
	var about struct {
		Name string `json:"name"`
	}
	err := c.call(ctx, c.quick, http.MethodGet, c.base, nil, &about)
	if errors.Is(err, errMissing) {
		return nil // not made yet
	}
	if err == nil && about.Name == "" {
		err = badAnswer("a database")
	}
	return err
}

// empty reports that the database holds something after all, or cannot be asked.
func (c *client) empty(ctx context.Context) error {
	if err := c.reachable(ctx); err != nil {
		return err
	}
	var n int
	err := missingIsFine(c.read(ctx, http.MethodGet, "/collections_count", nil, &n))
	if err == nil && n != 0 {
		err = badAnswer("the list of collections")
	}
	return err
}

// prepare makes tenant and database if they are missing, and refuses a server that is
// too old to keep lists.
func (s *Store) prepare(ctx context.Context) error {
	c := s.client
	tenant, _, _ := strings.Cut(strings.TrimPrefix(c.base, c.root), "/databases/")
	var about struct {
		Name string `json:"name"`
	}
	err := c.call(ctx, c.quick, http.MethodGet, c.root+tenant, nil, &about)
	if errors.Is(err, errMissing) {
		err = thereIsFine(c.call(ctx, c.patient, http.MethodPost, c.root+"/tenants", map[string]string{"name": s.options.Tenant}, nil))
	}
	if err != nil {
		return err
	}
	err = c.call(ctx, c.quick, http.MethodGet, c.base, nil, &about)
	if errors.Is(err, errMissing) {
		err = thereIsFine(c.call(ctx, c.patient, http.MethodPost, c.root+tenant+"/databases", map[string]string{"name": s.options.Database}, nil))
	}
	return err
}

// Ping implements store.Store.
func (s *Store) Ping(ctx context.Context) error {
	err := s.check(ctx)
	if err == nil {
		err = s.client.reachable(ctx)
	}
	if err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	return nil
}

// Journal implements store.Store.
func (s *Store) Journal() store.Journal { return s.journal }

// Collections implements store.Store.
func (s *Store) Collections(ctx context.Context) ([]sextant.Collection, error) {
	rows, err := s.rows(ctx)
	if err != nil {
		return nil, fmt.Errorf("list collections: %w", err)
	}
	specs := make([]sextant.Collection, len(rows))
	for i, r := range rows {
		specs[i] = r.Spec
	}
	return specs, nil
}

// rows reads the whole catalogue, by name.
func (s *Store) rows(ctx context.Context) ([]*row, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	all, err := s.client.collections(ctx)
	if errors.Is(err, errMissing) {
		return nil, nil // no such database yet
	}
	if err != nil {
		return nil, err
	}
	if len(all) == 0 { // that nothing is there must be said twice
		return nil, s.client.empty(ctx)
	}
	var rows []*row
	for _, r := range all {
		if !strings.HasPrefix(r.Name, catalogPrefix) || r.Name == journalName {
			continue
		}
		row, err := readRow(r)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b *row) int { return strings.Compare(a.Spec.Name, b.Spec.Name) })
	return rows, nil
}

// Open implements store.Store.
func (s *Store) Open(ctx context.Context, name string) (store.Collection, error) {
	c, err := s.opened(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open collection %q: %w", name, err)
	}
	return c, nil
}

// opened returns a collection that is on the server.
func (s *Store) opened(ctx context.Context, name string) (*collection, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	r, err := s.row(ctx, name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return nil, errClosed
	}
	c := s.open[name]
	if c == nil {
		c = newCollection(s, r)
		s.open[name] = c
	}
	return c, nil
}

// Ensure implements store.Store.
func (s *Store) Ensure(ctx context.Context, spec sextant.Collection) (store.Collection, error) {
	c, err := s.ensured(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("ensure collection %s: %w", spec.Name, err)
	}
	return c, nil
}

func (s *Store) ensured(ctx context.Context, spec sextant.Collection) (*collection, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if _, err := store.AnalyzerOf(spec); err != nil {
		return nil, err
	}
	c, err := s.opened(ctx, spec.Name)
	if errors.Is(err, store.ErrNotFound) {
		if err = s.writable(); err == nil {
			err = s.make(ctx, spec)
		}
		if err == nil {
			c, err = s.opened(ctx, spec.Name)
		}
	}
	if err != nil {
		return nil, err
	}
	return c, c.respecify(ctx, spec)
}

// make enters a collection. Its generation is the time, so that one made again under a
// dropped one's name never shows an old sequence.
func (s *Store) make(ctx context.Context, spec sextant.Collection) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	last, err := s.journal.notes(ctx, selection{IDs: []string{generationKey}})
	if err != nil {
		return err
	}
	var before uint64
	if len(last) > 0 {
		_, _ = fmt.Sscan(last[0].Body, &before) // the time is enough, hours apart
	}
	r := &row{Format: format, Spec: spec, Generation: max(before+1, uint64(time.Now().Unix())), Name: s.recordsName(spec.Name)}
	if err := s.journal.put(ctx, generationKey, map[string]any{"kind": generationKey}, fmt.Sprint(r.Generation)); err != nil {
		return err
	}
	m, err := r.metadata()
	if err != nil {
		return err
	}
	_, err = s.client.create(ctx, catalogPrefix+spec.Name, m)
	return err
}

// Drop implements store.Store. Whoever still holds the collection gets
// store.ErrUnavailable from then on.
func (s *Store) Drop(ctx context.Context, name string) error {
	err := s.check(ctx)
	if err == nil {
		err = s.writable()
	}
	var c *collection
	if err == nil {
		c, err = s.opened(ctx, name)
	}
	if err == nil {
		err = c.drop(ctx)
	}
	if err != nil {
		return fmt.Errorf("drop collection %q: %w", name, err)
	}
	return nil
}

// Close implements store.Store. It waits for changes being written.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.done {
		s.mu.Unlock()
		return nil
	}
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for _, c := range open {
		c.close()
	}
	s.mu.Lock()
	s.done = true
	s.mu.Unlock()
	s.client.http.CloseIdleConnections()
	return nil
}
