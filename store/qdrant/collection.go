package qdrant

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
)

// collection is one open collection.
type collection struct {
	s       *Store
	writing sync.Mutex // one batch at a time in this process

	mu       sync.RWMutex
	row      row
	analyzer *lexical.Analyzer
	sequence uint64
	derived  *derived
	gone     bool
}

var _ store.Collection = (*collection)(nil)

func newCollection(s *Store) *collection { return &collection{s: s} }

// adopt takes over what the catalogue says.
func (c *collection) adopt(r row) error {
	a, err := store.AnalyzerOf(r.Spec)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.row, c.analyzer = r, a
	c.sequence = max(c.sequence, r.Created)
	return nil
}

// end makes the handle of a dropped collection useless.
func (c *collection) end() {
	c.mu.Lock()
	c.gone = true
	c.mu.Unlock()
}

func (c *collection) isGone() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.gone
}

func (c *collection) current() row {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.row
}

// Spec implements store.Collection.
func (c *collection) Spec() sextant.Collection { return c.current().Spec }

// Sequence implements store.Collection.
func (c *collection) Sequence() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.sequence
}

// refresh reads the sequence, which other processes may have moved on.
func (c *collection) refresh(ctx context.Context) error {
	sequence := c.current().Created
	points, err := c.points(ctx, []string{c.stateID()}, want{Fields: []string{"_sequence"}})
	if err != nil {
		return err
	}
	if len(points) > 0 {
		var s state
		if err := json.Unmarshal(points[0].Payload, &s); err != nil {
			return fmt.Errorf("state: %w: %w", store.ErrCorrupt, err)
		}
		if sequence, err = strconv.ParseUint(s.Sequence, 10, 64); err != nil {
			return fmt.Errorf("state: %w: %w", store.ErrCorrupt, err)
		}
	}
	c.mu.Lock()
	c.sequence = sequence
	c.mu.Unlock()
	return nil
}

// reached runs a read against the generation in use. One that has been replaced meanwhile
// is gone: then the catalogue says which took its place. Before anything is written there
// is none, and nothing is found.
func (c *collection) reached(ctx context.Context, read func(physical string) error) error {
	r := c.current()
	switch {
	case c.s.life.Err() != nil:
		return fmt.Errorf("the store is closed: %w", store.ErrUnavailable)
	case ctx.Err() != nil:
		return ctx.Err()
	case c.isGone():
		return fmt.Errorf("collection %s was dropped: %w", r.Spec.Name, store.ErrUnavailable)
	case r.Physical == "":
		return nil
	}
	err := read(r.Physical)
	if !errors.Is(err, errMissing) {
		return err
	}
	now, rowErr := c.s.row(ctx, r.Spec.Name)
	switch {
	case errors.Is(rowErr, store.ErrNotFound), rowErr == nil && now.Physical == r.Physical:
		return fmt.Errorf("collection %s was dropped on the server: %w", r.Spec.Name, store.ErrUnavailable)
	case rowErr != nil:
		return rowErr
	}
	if err := c.adopt(now); err != nil {
		return err
	}
	return read(now.Physical)
}

func (c *collection) count(ctx context.Context, where *clause) (n int64, err error) {
	err = c.reached(ctx, func(physical string) error {
		n, err = c.s.wire.count(ctx, physical, where)
		return err
	})
	return n, err
}

func (c *collection) points(ctx context.Context, ids []string, w want) (out []point, err error) {
	for len(ids) > 0 && err == nil {
		n := min(len(ids), maxRead)
		err = c.reached(ctx, func(physical string) error {
			some, err := c.s.wire.points(ctx, physical, ids[:n], w)
			out = append(out, some...)
			return err
		})
		ids = ids[n:]
	}
	return out, err
}

// maxRead is how many points are read at once.
const maxRead = 500

// scrolled reads all points under a condition, page by page.
func (c *collection) scrolled(ctx context.Context, where *clause, limit int, w want, each func(point) error) error {
	for offset := ""; ; {
		var p page
		err := c.reached(ctx, func(physical string) (err error) {
			p, err = c.s.wire.scroll(ctx, physical, scrollQuery{Where: where, Limit: limit, Offset: offset, Want: w})
			return err
		})
		if err != nil {
			return err
		}
		for _, x := range p.Points {
			if err := each(x); err != nil {
				return err
			}
		}
		if offset = p.Next; offset == "" {
			return nil
		}
	}
}

func (c *collection) nearest(ctx context.Context, q nearestQuery) (out []point, err error) {
	err = c.reached(ctx, func(physical string) error {
		out, err = c.s.wire.nearest(ctx, physical, q)
		return err
	})
	return out, err
}

// maxFacet is how many values of a field are read: more would be a smaller answer in
// silence, so that is refused.
const maxFacet = 1 << 20

func (c *collection) facet(ctx context.Context, key string, where *clause) (out []facetHit, err error) {
	err = c.reached(ctx, func(physical string) error {
		out, err = c.s.wire.facet(ctx, physical, facetQuery{Key: key, Where: where, Limit: maxFacet})
		return err
	})
	if err == nil && len(out) >= maxFacet {
		err = fmt.Errorf("%q has %d values or more: %w", key, maxFacet, store.ErrUnsupported)
	}
	return out, err
}

// respecify changes the specification, if what is held allows it.
func (c *collection) respecify(ctx context.Context, spec sextant.Collection) error {
	old := c.current()
	if same(old.Spec, spec) {
		return nil
	}
	held, err := c.count(ctx, heads())
	if err != nil {
		return err
	}
	if err := store.CheckChange(old.Spec, spec, held > 0); err != nil {
		return err
	}
	if c.s.o.ReadOnly {
		return errReadOnly
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	now := c.current()
	now.Spec = spec
	if held == 0 && now.Physical != "" {
		// Nothing is in it, and its indexes are of other fields.
		if err := c.s.wire.drop(ctx, now.Physical); err != nil {
			return err
		}
		now.Physical, now.Dimension, now.Created = "", 0, stamp()
	}
	if now.Physical != "" {
		if err := c.s.makeIndexes(ctx, now.Physical, spec.Schema, &old.Spec.Schema); err != nil {
			return err
		}
	}
	if err := c.s.putRow(ctx, now); err != nil {
		return err
	}
	c.mu.Lock()
	c.derived = nil
	c.mu.Unlock()
	return c.adopt(now)
}

func same(a, b sextant.Collection) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// external is the name of a collection on the server.
func (s *Store) external(name string) string {
	return s.o.Prefix + cmp.Or(s.o.Names[name], name)
}

// materialize makes the generation that a first batch is written to: only now it is known
// how long vectors are. What was written before without any is taken along.
func (c *collection) materialize(ctx context.Context, dimension int, length float64) error {
	r := c.current()
	if r.Physical != "" && (dimension == 0 || r.Dimension == dimension) {
		return nil
	}
	if r.Dimension != 0 {
		return fmt.Errorf("vectors of %d dimensions, the collection's have %d: %w", dimension, r.Dimension, store.ErrRecord)
	}
	before := r.Physical
	next := r
	next.Dimension = dimension
	if next.Pivot == 0 {
		next.Pivot = max(1, length)
	}
	if err := c.s.generate(ctx, &next, dimension); err != nil {
		return err
	}
	if before != "" {
		if err := c.copyPoints(ctx, before, next.Physical); err != nil {
			return err
		}
	}
	if err := c.s.use(ctx, next); err != nil {
		return err
	}
	if err := c.adopt(next); err != nil {
		return err
	}
	if before != "" {
		return c.s.wire.drop(ctx, before)
	}
	return nil
}

// generate makes the Qdrant collection of a new generation, with its indexes: made later,
// they would not be used by the graph.
func (s *Store) generate(ctx context.Context, r *row, dimension int) error {
	p := parameters{Dense: dimension, Words: true, OnDisk: s.o.OnDisk, Shards: s.o.Shards, Replicas: s.o.Replicas, Consistency: s.o.Consistency}
	for {
		r.Generation++
		r.Physical = s.external(r.Spec.Name) + "_g" + strconv.Itoa(r.Generation)
		err := s.wire.create(ctx, r.Physical, p)
		if err == nil {
			break
		}
		if !errors.Is(err, errExists) {
			return err
		}
	}
	return s.makeIndexes(ctx, r.Physical, r.Spec.Schema, nil)
}

// use puts a generation in use: for this program by the catalogue's row, for other clients
// by the alias.
func (s *Store) use(ctx context.Context, r row) error {
	if err := s.putRow(ctx, r); err != nil {
		return err
	}
	name := s.external(r.Spec.Name)
	known, err := s.wire.aliases(ctx)
	if err != nil {
		return err
	}
	target, taken := known[name]
	if taken && target != r.Physical && !strings.HasPrefix(target, name+"_g") {
		s.o.Log.Warn("the server has an alias of this name that is not Sextant's; other clients find something else there", "alias", name, "collection", target)
		return nil
	}
	if target == r.Physical {
		return nil
	}
	err = s.wire.alias(ctx, name, r.Physical, taken)
	if errors.Is(err, errExists) {
		s.o.Log.Warn("the server has a collection of this name that is not Sextant's; other clients find that there", "collection", name, "documents are in", r.Physical)
		return nil
	}
	return err
}

// copyPoints takes points that have no vectors to another generation.
func (c *collection) copyPoints(ctx context.Context, from, to string) error {
	for offset := ""; ; {
		p, err := c.s.wire.scroll(ctx, from, scrollQuery{Limit: 100, Offset: offset, Want: want{All: true}})
		if err != nil {
			return err
		}
		if len(p.Points) > 0 {
			if err := c.s.wire.update(ctx, to, []operation{{Upsert: p.Points}}); err != nil {
				return err
			}
		}
		if offset = p.Next; offset == "" {
			return nil
		}
	}
}

// ownIndexes are of what is the same in every collection.
var ownIndexes = map[string]indexKind{
	"_kind": indexKeyword, "document_id": indexKeyword, "_length": indexInteger, "_stems": indexKeyword, "_words": indexKeyword, "_zones": indexInteger, "chunk_index": indexInteger, "_stamp": indexInteger,
}

// makeIndexes makes the payload indexes of a schema: those of old are there.
func (s *Store) makeIndexes(ctx context.Context, physical string, schema filter.Schema, old *filter.Schema) error {
	indexes := map[string]indexKind{}
	if old == nil {
		for key, kind := range ownIndexes {
			indexes[key] = kind
		}
		old = &filter.Schema{}
	}
	for _, g := range schema.Groups {
		if !old.HasGroup(g.Name) {
			indexes["_g."+g.Name] = indexInteger
		}
	}
	for _, f := range schema.Fields {
		if before, ok := old.Field(f.Name); len(f.AnyOf) > 0 || ok && len(before.AnyOf) == 0 {
			continue
		}
		indexes[valueKey(f, f.Group)] = map[filter.Kind]indexKind{filter.Keyword: indexKeyword, filter.Int: indexInteger, filter.Float: indexFloat, filter.Bool: indexBool, filter.Time: indexInteger}[f.Kind]
		if f.Fold != filter.Exact {
			indexes[foldedKey(f, f.Group)] = indexKeyword
		}
	}
	for key, kind := range indexes {
		if err := s.wire.index(ctx, physical, key, kind); err != nil {
			return fmt.Errorf("index of %s: %w", key, err)
		}
	}
	return nil
}
