package qdrant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// catalogueName is the collection that says which collections there are, and holds the
// journal. Its points have no vectors.
const catalogueName = "sextant_catalogue"

// Kinds of points in the catalogue.
const (
	kindCollection = "collection"
	kindReceipt    = "receipt"
	kindMark       = "mark"
)

// row is what the catalogue says of a collection.
type row struct {
	Spec       sextant.Collection `json:"spec"`
	Physical   string             `json:"physical"` // "" until something is written
	Generation int                `json:"generation"`
	Dimension  int                `json:"dimension"` // of vectors; 0 until there are any
	Pivot      float64            `json:"pivot"`     // average length that sparse vectors assume
	Created    uint64             `json:"created"`   // when the collection was made; tells it from others of its name
	Version    uint64             `json:"version"`   // grows with every change of the row
	Shadow     *shadow            `json:"shadow,omitempty"`
	// Closed is not 0 while nothing may be written, since new vectors take their place; it
	// tells one such time from others.
	Closed uint64 `json:"closed,omitempty"`
	// Retired are generations that were in use and are to be removed.
	Retired   []string `json:"retired,omitempty"`
	RetiredAt int64    `json:"retired_at,omitempty"` // the last of them, in nanoseconds since 1970
}

// shadow is a generation with vectors of another encoder, being made.
type shadow struct {
	Encoder   string `json:"encoder"`            // "" makes one without vectors
	Owner     uint64 `json:"owner"`              // tells the process that makes them from one that did before
	Physical  string `json:"physical,omitempty"` // "" until there is anything in it
	Dimension int    `json:"dimension,omitempty"`
}

// names reports whether a generation is or was the collection's, or is to be.
func (r row) names(physical string) bool {
	return r.Physical == physical || r.Shadow != nil && r.Shadow.Physical == physical || slices.Contains(r.Retired, physical)
}

// unwritten is the sequence of a collection that nothing was written to yet.
func (r row) unwritten() uint64 { return max(r.Created, r.Version) }

// entry is a point of the catalogue.
type entry struct {
	Kind       string `json:"_kind"`
	Key        string `json:"key"`
	Collection string `json:"collection,omitempty"`
	Body       string `json:"body"`
}

var lastStamp atomic.Uint64

// stamp is a number that no other change has: the time in nanoseconds, later than any
// given before in this process.
func stamp() uint64 {
	for {
		last := lastStamp.Load()
		next := max(uint64(time.Now().UnixNano()), last+1)
		if lastStamp.CompareAndSwap(last, next) {
			return next
		}
	}
}

func entryID(kind, key string) string { return pointID(catalogueName, kind+"\x00"+key) }

func (s *Store) catalogue() string { return s.o.Prefix + catalogueName }

// put writes an entry, making the catalogue if it is the first.
func (s *Store) put(ctx context.Context, e entry) error {
	payload, err := json.Marshal(e)
	if err != nil {
		return err
	}
	ops := []operation{{Upsert: []point{{ID: entryID(e.Kind, e.Key), Payload: payload}}}}
	return s.withCatalogue(ctx, func() error { return s.wire.update(ctx, s.catalogue(), ops) })
}

func (s *Store) remove(ctx context.Context, kind, key string) error {
	return s.withCatalogue(ctx, func() error {
		return s.wire.update(ctx, s.catalogue(), []operation{{Delete: []string{entryID(kind, key)}}})
	})
}

// withCatalogue makes the catalogue if what is done needs it. Of two processes that make
// it at once, one finds it made.
func (s *Store) withCatalogue(ctx context.Context, do func() error) error {
	err := do()
	if err == nil {
		s.seen.Store(true)
	}
	if !errors.Is(err, errMissing) || s.seen.Load() {
		return err
	}
	err = s.wire.create(ctx, s.catalogue(), parameters{Replicas: s.o.Replicas, Consistency: s.o.Consistency})
	if err != nil && !errors.Is(err, errExists) {
		return err
	}
	for _, field := range []string{"_kind", "collection"} {
		if err := s.wire.index(ctx, s.catalogue(), field, indexKeyword); err != nil {
			return err
		}
	}
	return do()
}

// isNew reports whether a failed read of the catalogue means that nothing was ever stored
// here. Once it has been seen, its absence is damage, and must not pass for an empty store.
func (s *Store) isNew(err error) bool {
	if err == nil {
		s.seen.Store(true)
	}
	return errors.Is(err, errMissing) && !s.seen.Load()
}

var entryFields = []string{"_kind", "key", "collection", "body"}

// entries reads all entries of a kind, of one collection or all ("").
func (s *Store) entries(ctx context.Context, kind, collection string) ([]entry, error) {
	where := &clause{Must: []condition{keywords("_kind", kind)}}
	if collection != "" {
		where.Must = append(where.Must, keywords("collection", collection))
	}
	var out []entry
	for offset := ""; ; {
		p, err := s.wire.scroll(ctx, s.catalogue(), scrollQuery{Where: where, Limit: 1000, Offset: offset, Want: want{Fields: entryFields}})
		if s.isNew(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, point := range p.Points {
			var e entry
			if err := json.Unmarshal(point.Payload, &e); err != nil {
				return nil, fmt.Errorf("catalogue: %w: %w", store.ErrCorrupt, err)
			}
			out = append(out, e)
		}
		if offset = p.Next; offset == "" {
			return out, nil
		}
	}
}

// entry reads one entry; its body is "" if there is none.
func (s *Store) entry(ctx context.Context, kind, key string) (string, error) {
	points, err := s.wire.points(ctx, s.catalogue(), []string{entryID(kind, key)}, want{Fields: entryFields})
	if s.isNew(err) || err == nil && len(points) == 0 {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var e entry
	if err := json.Unmarshal(points[0].Payload, &e); err != nil {
		return "", fmt.Errorf("catalogue: %w: %w", store.ErrCorrupt, err)
	}
	return e.Body, nil
}

func (s *Store) rows(ctx context.Context) ([]row, error) {
	entries, err := s.entries(ctx, kindCollection, "")
	if err != nil {
		return nil, err
	}
	out := make([]row, len(entries))
	for i, e := range entries {
		if err := json.Unmarshal([]byte(e.Body), &out[i]); err != nil {
			return nil, fmt.Errorf("catalogue row of %s: %w: %w", e.Key, store.ErrCorrupt, err)
		}
	}
	return out, nil
}

// row reads a collection's row; store.ErrNotFound if there is none.
func (s *Store) row(ctx context.Context, name string) (row, error) {
	var r row
	body, err := s.entry(ctx, kindCollection, name)
	if err != nil {
		return r, err
	}
	if body == "" {
		return r, store.ErrNotFound
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		return r, fmt.Errorf("catalogue row of %s: %w: %w", name, store.ErrCorrupt, err)
	}
	return r, nil
}

func (s *Store) putRow(ctx context.Context, r *row) error {
	r.Version = max(stamp(), r.Version+1)
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.put(ctx, entry{Kind: kindCollection, Key: r.Spec.Name, Collection: r.Spec.Name, Body: string(body)})
}

func (s *Store) deleteRow(ctx context.Context, name string) error {
	return s.remove(ctx, kindCollection, name)
}

// journal is the part of the catalogue that ingestion remembers by.
type journal struct{ s *Store }

// PutReceipt implements store.Journal.
func (j journal) PutReceipt(ctx context.Context, r sextant.Receipt) error {
	if r.Run == "" {
		return fmt.Errorf("put receipt: it names no run: %w", store.ErrRecord)
	}
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("put receipt %s: %w", r.Run, err)
	}
	return failure("put receipt "+r.Run, j.write(ctx, func(ctx context.Context) error {
		return j.s.put(ctx, entry{Kind: kindReceipt, Key: r.Run, Collection: r.Collection, Body: string(body)})
	}))
}

func (j journal) write(ctx context.Context, do func(context.Context) error) error {
	err := j.s.usable(ctx)
	switch {
	case err != nil:
		return err
	case j.s.o.ReadOnly:
		return errReadOnly
	}
	return do(ctx)
}

// Receipts implements store.Journal.
func (j journal) Receipts(ctx context.Context, collection string, limit int) ([]sextant.Receipt, error) {
	err := j.s.usable(ctx)
	if err != nil {
		return nil, failure("read receipts", err)
	}
	entries, err := j.s.entries(ctx, kindReceipt, collection)
	if err != nil {
		return nil, failure("read receipts", err)
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(b.Key, a.Key) })
	if limit > 0 && len(entries) > limit {
		entries = entries[:limit]
	}
	var out []sextant.Receipt
	for _, e := range entries {
		var r sextant.Receipt
		if err := json.Unmarshal([]byte(e.Body), &r); err != nil {
			return nil, failure("read receipts", fmt.Errorf("receipt %s: %w: %w", e.Key, store.ErrCorrupt, err))
		}
		out = append(out, r)
	}
	return out, nil
}

// PutMark implements store.Journal.
func (j journal) PutMark(ctx context.Context, key, value string) error {
	return failure("put mark", j.write(ctx, func(ctx context.Context) error {
		if value == "" {
			return j.s.remove(ctx, kindMark, key)
		}
		return j.s.put(ctx, entry{Kind: kindMark, Key: key, Body: value})
	}))
}

// Mark implements store.Journal.
func (j journal) Mark(ctx context.Context, key string) (string, error) {
	err := j.s.usable(ctx)
	if err != nil {
		return "", failure("read mark", err)
	}
	value, err := j.s.entry(ctx, kindMark, key)
	return value, failure("read mark", err)
}

// Marks implements store.MarkReader.
func (j journal) Marks(ctx context.Context, after string, limit int) ([]store.Mark, error) {
	if err := j.s.usable(ctx); err != nil {
		return nil, failure("read marks", err)
	}
	entries, err := j.s.entries(ctx, kindMark, "")
	if err != nil {
		return nil, failure("read marks", err)
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.Key, b.Key) })
	var out []store.Mark
	for _, e := range entries {
		if e.Key > after && len(out) < limit {
			out = append(out, store.Mark{Key: e.Key, Value: e.Body})
		}
	}
	return out, nil
}

var _ store.MarkReader = journal{}
