package qdrant

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
)

// collection is one open collection.
type collection struct {
	s       *Store
	writing sync.Mutex // one batch at a time in this process

	filling    sync.Mutex // one batch of new vectors at a time
	unfinished int        // swaps that were incomplete; under filling, as what follows
	closing    uint64     // what the generation in use was closed with by this process; 0: it was not

	altering sync.Mutex // held while the catalogue's row is changed

	mu       sync.RWMutex
	row      row
	looked   time.Time // when the row was read, and the generation in use stood
	looking  *lookup
	owner    uint64 // of the shadow, where this process fills it
	prepared string // generation that they go into, which is there with all indexes
	analyzer *lexical.Analyzer
	sequence uint64
	derived  *derived
	gone     bool
}

var _ store.Collection = (*handle)(nil)

func newCollection(s *Store) *collection { return &collection{s: s} }

// adopt takes over what the catalogue said. What it said before what is known by now is
// passed over.
func (c *collection) adopt(r row) error {
	a, err := store.AnalyzerOf(r.Spec)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Created == c.row.Created && r.Version < c.row.Version {
		return nil
	}
	c.row, c.analyzer = r, a
	if r.Physical == "" {
		c.sequence = max(c.sequence, r.unwritten())
	}
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
	sequence := c.current().unwritten()
	points, err := c.points(ctx, []string{c.stateID()}, want{Fields: []string{"_sequence"}})
	if err != nil {
		return err
	}
	if len(points) > 0 {
		if sequence, err = sequenceIn(points[0]); err != nil {
			return err
		}
	}
	c.mu.Lock()
	c.sequence = sequence
	c.mu.Unlock()
	return nil
}

// sequenceIn reads the sequence that a collection's own point says.
func sequenceIn(p point) (uint64, error) {
	var s state
	err := json.Unmarshal(p.Payload, &s)
	n := uint64(0)
	if err == nil {
		n, err = strconv.ParseUint(s.Sequence, 10, 64)
	}
	if err != nil {
		return 0, fmt.Errorf("state: %w: %w", store.ErrCorrupt, err)
	}
	return n, nil
}

func (c *collection) count(ctx context.Context, where *clause) (n int64, err error) {
	err = c.reached(ctx, func(physical string) error {
		n, err = c.s.wire.count(ctx, physical, where)
		return err
	})
	return n, err
}

func (c *collection) points(ctx context.Context, ids []string, w want) ([]point, error) {
	return c.pointsBy(ctx, nil, ids, w)
}

// pointsBy is points for reads of vectors: those of another encoder are store.ErrEncoder.
func (c *collection) pointsBy(ctx context.Context, encoder *string, ids []string, w want) (out []point, err error) {
	for len(ids) > 0 && err == nil {
		n := min(len(ids), maxRead)
		err = c.reachedBy(ctx, encoder, func(physical string) error {
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

// nearest asks for the nearest by words, or by vectors of an encoder.
func (c *collection) nearest(ctx context.Context, encoder *string, q nearestQuery) (out []point, err error) {
	err = c.reachedBy(ctx, encoder, func(physical string) error {
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
	emptied := ""
	_, err = c.alter(ctx, func(now *row) error {
		emptied = ""
		if err := store.CheckChange(now.Spec, spec, held > 0); err != nil { // another encoder, since
			return err
		}
		if held == 0 && now.Physical != "" {
			// Nothing is in it, and its indexes are of other fields.
			emptied = now.Physical
			now.Physical, now.Dimension = "", 0
			if now.Shadow != nil {
				now.retire(now.Shadow.Physical)
				now.Shadow = nil
			}
		}
		before := now.Spec
		now.Spec = spec
		if now.Physical == "" {
			return nil
		}
		if now.Shadow != nil && now.Shadow.Physical != "" {
			if err := c.s.makeIndexes(ctx, now.Shadow.Physical, spec.Schema, &before.Schema); err != nil && !errors.Is(err, errMissing) {
				return err
			}
		}
		return c.s.makeIndexes(ctx, now.Physical, spec.Schema, &before.Schema)
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.derived = nil
	c.mu.Unlock()
	if emptied != "" {
		return c.s.wire.drop(ctx, emptied)
	}
	return nil
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
