package chroma

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// collection is one open collection: what of it is known here, as of one row.
type collection struct {
	store *Store
	name  string
	lease *lease

	writing   sync.Mutex // held by who changes something on the server
	attempted uint64     // highest version begun here, or by who had the lease before
	unclean   bool       // records that count not may be left on the server

	loading sync.Mutex // held by who brings what is known up to date

	mu        sync.RWMutex // held for moments, never during a request
	row       *row
	directory directory // nil: not loaded
	view      *view     // nil: not loaded
	closed    bool
	readers   int // that read records of versions they have chosen
	graveyard graveyard
}

// graveyard is records that count no more and that somebody may still be reading.
type graveyard struct{ records, markers []string }

func (g *graveyard) add(o graveyard) {
	g.records, g.markers = append(g.records, o.records...), append(g.markers, o.markers...)
}

func (g graveyard) empty() bool { return len(g.records)+len(g.markers) == 0 }

func newCollection(s *Store, r *row) *collection {
	return &collection{store: s, name: r.Spec.Name, row: r, unclean: true, lease: &lease{store: s, name: r.Spec.Name, owner: newOwner()}}
}

var _ store.Collection = (*collection)(nil)

// depth is how much of a collection must be known to answer.
type depth int

const (
	known  depth = iota // the row
	listed              // which documents there are
	viewed              // what they say
)

// errMoved is that a version that was chosen is gone: somebody has replaced it.
var errMoved = errors.New("the collection has changed meanwhile")

// fresh brings what is known up to date with the row, which is read first: who cannot
// reach the server gets no answer out of memory.
func (c *collection) fresh(ctx context.Context, need depth) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	r, err := c.store.row(ctx, c.name)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("the collection was removed from the server by somebody else: %w", store.ErrUnavailable)
	}
	if err != nil {
		return err
	}
	if c.enough(r, need) {
		return nil
	}
	c.loading.Lock()
	defer c.loading.Unlock()
	return c.load(ctx, r, need)
}

// enough reports whether what is known is not older than a row, and deep enough.
func (c *collection) enough(r *row, need depth) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return !c.behind(r) && (need < listed || c.directory != nil) && (need < viewed || c.view != nil)
}

// behind reports whether a row is newer than what is known.
func (c *collection) behind(r *row) bool {
	return r.sequence() > c.row.sequence() || r.sequence() == c.row.sequence() && (r.Records != c.row.Records || !sameSpec(r.Spec, c.row.Spec))
}

func sameSpec(a, b sextant.Collection) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func (c *collection) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return errClosed
	}
	return nil
}

// attempts bounds how often a read is begun again because others write.
const attempts = 50

// load reads what is missing. The caller holds loading.
func (c *collection) load(ctx context.Context, r *row, need depth) error {
	for range attempts {
		err := c.loadOnce(ctx, r, need)
		if !errors.Is(err, errMoved) {
			return err
		}
		if r, err = c.store.row(ctx, c.name); err != nil {
			return underneath(err)
		}
	}
	return fmt.Errorf("%w, again and again: %w", errMoved, store.ErrUnavailable)
}

// loadOnce reads what is missing, as of a row; errMoved if that is not the row any more.
func (c *collection) loadOnce(ctx context.Context, r *row, need depth) error {
	if c.enough(r, need) {
		return nil
	}
	c.mu.RLock()
	old, view, stale := c.row, c.view, c.behind(r)
	directory := c.directory
	c.mu.RUnlock()
	if !stale {
		r = old // a writer here is ahead of what was read
	}
	stale = stale && directory != nil
	if stale || need >= listed && directory == nil {
		l, err := c.list(ctx, r)
		if err != nil {
			return err
		}
		directory = l.directory
	}
	if need < viewed && view == nil {
		c.adopt(r, directory)
		return nil
	}
	if view == nil || r.Generation != old.Generation || !sameSpec(r.Spec, old.Spec) || view.wasteful() {
		var err error
		if view, err = newView(r.Spec); err != nil {
			return err
		}
	}
	ch, err := c.changes(ctx, r, view, directory)
	if err != nil {
		return err
	}
	return c.apply(r, directory, view, ch)
}

// now returns what is known. Rows and directories are replaced, never changed.
func (c *collection) now() (*row, directory) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.row, c.directory
}

// adopt puts a row and its directory in place; the view is read again when it is needed.
func (c *collection) adopt(r *row, d directory) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.row, c.directory, c.view = r, d, nil
}

// list reads which documents there are. If the ids on the server do not add up to what
// the row says, it has been replaced meanwhile, or records are lost.
func (c *collection) list(ctx context.Context, r *row) (listing, error) {
	l, err := c.listAll(ctx, r)
	if err != nil || l.sums == r.Held {
		return l, err
	}
	now, err := c.store.row(ctx, c.name)
	switch {
	case err != nil:
		return l, underneath(err)
	case now.sequence() != r.sequence() || now.Records != r.Records:
		return l, errMoved
	}
	return l, fmt.Errorf("%d documents with %d chunks are on the server, %d with %d should be; `sextant verify` names them: %w",
		l.sums.Documents, l.sums.Chunks, r.Held.Documents, r.Held.Chunks, store.ErrCorrupt)
}

func (c *collection) listAll(ctx context.Context, r *row) (listing, error) {
	markers, err := c.store.client.ids(ctx, r.catalog, nil)
	if err != nil {
		return listing{}, underneath(err)
	}
	var chunks []string
	if r.Records != "" {
		if chunks, err = c.store.client.ids(ctx, r.Records, nil); err != nil {
			return listing{}, c.moved(ctx, r, err)
		}
	}
	return sorted(r, chunks, markers), nil
}

// moved tells a collection of records that was replaced from one that somebody removed.
func (c *collection) moved(ctx context.Context, r *row, err error) error {
	if !errors.Is(err, errMissing) {
		return err
	}
	if now, e := c.store.row(ctx, c.name); e == nil && now.Records != r.Records {
		return errMoved
	}
	return underneath(err)
}

// look has f evaluated on what is known, which stays as it is until f returns.
func (c *collection) look(ctx context.Context, need depth, f func() error) error {
	if err := c.fresh(ctx, need); err != nil {
		return err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return errClosed
	}
	return f()
}

// reading has choose pick records under what is known and fetch read them from the
// server. They are not removed in between by this process; another one's doing is
// noticed by fetch as errMoved, and all is done again.
func (c *collection) reading(ctx context.Context, need depth, choose func() error, fetch func(r *row) error) error {
	for i := range attempts {
		var r *row
		err := c.look(ctx, need, func() error {
			r = c.row
			if err := choose(); err != nil {
				return err
			}
			c.store.mu.Lock()
			c.readers++
			c.store.mu.Unlock()
			return nil
		})
		if err != nil {
			return err
		}
		err = c.moved(ctx, r, fetch(r))
		c.unpin()
		if !errors.Is(err, errMoved) {
			return err
		}
		if i > 2 {
			if err := c.stale(ctx, r); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("%w, again and again: %w", errMoved, store.ErrUnavailable)
}

// stale reports records that are missing though nobody has replaced them.
func (c *collection) stale(ctx context.Context, r *row) error {
	now, err := c.store.row(ctx, c.name)
	if err == nil && now.sequence() == r.sequence() && now.Records == r.Records {
		err = fmt.Errorf("records are missing on the server; `sextant verify` names them: %w", store.ErrCorrupt)
	}
	return underneath(err)
}

// unpin ends a reading; the last one lets go what was replaced meanwhile.
func (c *collection) unpin() {
	c.store.mu.Lock()
	c.readers--
	last := c.readers == 0
	c.store.mu.Unlock()
	if last {
		c.mu.RLock()
		waiting := !c.graveyard.empty() && !c.closed
		c.mu.RUnlock()
		if waiting {
			go c.bury()
		}
	}
}

// bury removes records that count no more, unless somebody reads.
func (c *collection) bury() {
	c.writing.Lock()
	defer c.writing.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c.clear(ctx)
}

// clear removes what is in the graveyard. What fails is removed by a later sweep. The
// caller holds writing.
func (c *collection) clear(ctx context.Context) {
	c.mu.Lock()
	c.store.mu.Lock()
	busy := c.readers > 0
	c.store.mu.Unlock()
	g, r := c.graveyard, c.row
	if busy || g.empty() || c.closed {
		c.mu.Unlock()
		return
	}
	c.graveyard = graveyard{}
	c.mu.Unlock()
	if err := c.removeAll(ctx, r, g); err != nil {
		c.unclean = true
		c.store.log.Warn("chroma: replaced records are left on the server until the next change", "collection", c.name, "error", err)
	}
}

// removeAll removes records, those of documents that are said to be gone last: until
// then the markers hide what is left of them.
func (c *collection) removeAll(ctx context.Context, r *row, g graveyard) error {
	if r.Records != "" && len(g.records) > 0 {
		if err := c.store.client.remove(ctx, r.Records, g.records); err != nil {
			return err
		}
	}
	if len(g.markers) == 0 {
		return nil
	}
	return c.store.client.remove(ctx, r.catalog, g.markers)
}

// Spec implements store.Collection.
func (c *collection) Spec() sextant.Collection {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.row.Spec
}

// Sequence implements store.Collection. It is that of the last answer, or change, here.
func (c *collection) Sequence() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.row.sequence()
}

// Size implements store.Collection. What the server's disk holds it does not tell.
func (c *collection) Size(ctx context.Context) (store.Size, error) {
	var size store.Size
	err := c.look(ctx, listed, func() error {
		size = store.Size{Documents: c.row.Held.Documents, Chunks: c.row.Held.Chunks}
		if c.row.Spec.Encoder != "" {
			size.Vectors = size.Chunks
		}
		if c.view != nil {
			size.Memory = c.view.memory()
		}
		return nil
	})
	if err != nil {
		return size, fmt.Errorf("size: %w", err)
	}
	return size, nil
}

// close ends the collection here and gives its lease back.
func (c *collection) close() {
	c.writing.Lock()
	defer c.writing.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), c.store.options.Timeout)
	defer cancel()
	c.clear(ctx)
	_ = c.lease.release(ctx) // otherwise it runs out
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
}
