package qdrant

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

const defaultPage = 1000

// idPage is how many ids are read at once.
const idPage = 5000

// place is where a document stands in an order. A cursor is the last of its page, so that
// the next one is well defined whatever has changed in between.
type place struct {
	ID    sextant.DocumentID
	Value filter.Value // of the field ordered by; zero is none
}

// order compares places.
type order struct{ desc bool }

func (o order) compare(a, b place) int {
	switch {
	case a.Value.IsZero() != b.Value.IsZero():
		if a.Value.IsZero() {
			return 1
		}
		return -1
	case o.desc:
		return cmp.Or(b.Value.Compare(a.Value), cmp.Compare(a.ID, b.ID))
	}
	return cmp.Or(a.Value.Compare(b.Value), cmp.Compare(a.ID, b.ID))
}

// List implements store.Collection. Qdrant orders by the ids of points or by numbers, so
// all ids under the filter are read and sorted here for a first page. They are kept until
// the collection changes: the pages after cost one small request and themselves.
func (c *collection) List(ctx context.Context, q store.ListQuery) (out store.List, err error) {
	err = c.asked(ctx, func(ctx context.Context) error {
		out, err = c.list(ctx, q)
		return err
	})
	return out, failure("list", err)
}

func (c *collection) list(ctx context.Context, q store.ListQuery) (store.List, error) {
	var by *filter.Field
	schema := c.Spec().Schema
	if q.By != "" {
		f, err := plainField(&schema, q.By)
		if err != nil {
			return store.List{}, err
		}
		if f.Group != "" || f.List {
			return store.List{}, fmt.Errorf("a document has several values of %q: %w", q.By, filter.ErrSchema)
		}
		by = &f
	}
	after, err := decodeCursor(q.After, by)
	if err != nil {
		return store.List{}, err
	}
	o := order{q.Desc}
	places, err := c.ordered(ctx, q, by, o)
	if err != nil {
		return store.List{}, err
	}
	out := store.List{Total: int64(len(places))}
	if q.After != "" {
		n, found := slices.BinarySearchFunc(places, after, o.compare)
		if found {
			n++
		}
		places = places[n:]
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultPage
	}
	page := places[:min(limit, len(places))]
	for _, p := range page {
		out.IDs = append(out.IDs, p.ID)
	}
	if len(page) < len(places) {
		out.Next = encodeCursor(page[len(page)-1], by)
	}
	return out, nil
}

// maxOrdered bounds the places that are kept for further pages, of all lists together.
const maxOrdered = 1 << 20

// ordered returns the places of a list in order. They are the caller's to read only.
func (c *collection) ordered(ctx context.Context, q store.ListQuery, by *filter.Field, o order) ([]place, error) {
	d, err := c.known(ctx)
	if err != nil {
		return nil, err
	}
	key := listKey(q)
	d.mu.Lock()
	places, ok := d.lists[key]
	d.mu.Unlock()
	if ok {
		return places, nil
	}
	if places, err = c.places(ctx, q.Filter, by); err != nil {
		return nil, err
	}
	slices.SortFunc(places, o.compare)
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := len(places)
	for _, other := range d.lists {
		kept += len(other)
	}
	if kept > maxOrdered || len(d.lists) >= maxDerived {
		clear(d.lists)
	}
	if len(places) <= maxOrdered {
		d.lists[key] = places
	}
	return places, nil
}

// listKey tells lists apart. Filters of thousands of ids are many times as long as their
// places, and would not count against maxOrdered.
func listKey(q store.ListQuery) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%q %t %#v", q.By, q.Desc, q.Filter))
}

// plainField is a field that holds values itself.
func plainField(s *filter.Schema, name string) (filter.Field, error) {
	f, ok := s.Field(name)
	if !ok || len(f.AnyOf) > 0 {
		return f, fmt.Errorf("no field %q that holds values: %w", name, filter.ErrSchema)
	}
	return f, nil
}

// places reads where the documents under a filter stand, in no order.
func (c *collection) places(ctx context.Context, f filter.Filter, by *filter.Field) ([]place, error) {
	f, err := c.resolved(ctx, f)
	if err != nil {
		return nil, err
	}
	where, err := c.under(f, kindHead, "")
	if err != nil || where == nil {
		return nil, err
	}
	fields := []string{"document_id"}
	if by != nil {
		fields = append(fields, valueKey(*by, ""))
	}
	var out []place
	err = c.scrolled(ctx, where, idPage, want{Fields: fields}, func(p point) error {
		var h headPayload
		if err := json.Unmarshal(p.Payload, &h); err != nil {
			return fmt.Errorf("head: %w: %w", store.ErrCorrupt, err)
		}
		x := place{ID: sextant.DocumentID(h.Document)}
		if by != nil {
			values, err := valuesOf(h.Metadata, *by)
			if err != nil {
				return err
			}
			if len(values) > 0 {
				x.Value = values[0]
			}
		}
		out = append(out, x)
		return nil
	})
	return out, err
}

// matching returns the ids of all documents under a filter, in order.
func (c *collection) matching(ctx context.Context, f filter.Filter) (ids []sextant.DocumentID, err error) {
	err = c.s.usable(ctx)
	if err != nil {
		return nil, err
	}
	places, err := c.places(ctx, f, nil)
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		ids = append(ids, p.ID)
	}
	slices.Sort(ids)
	return ids, nil
}

// cursor is a place as text: the value in JSON, null for none.
type cursor struct {
	By    string          `json:"by,omitempty"`
	ID    string          `json:"id"`
	Value json.RawMessage `json:"value,omitempty"`
}

func encodeCursor(p place, by *filter.Field) string {
	c := cursor{ID: string(p.ID)}
	if by != nil {
		c.By = by.Name
		if !p.Value.IsZero() {
			c.Value, _ = json.Marshal(plainValues(*by, []filter.Value{p.Value})) // values of the schema's kinds are JSON
		}
	}
	b, _ := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(b)
}

func decodeCursor(text string, by *filter.Field) (place, error) {
	var p place
	if text == "" {
		return p, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	var c cursor
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.ID == "" || by == nil && c.By != "" || by != nil && c.By != by.Name {
		return p, fmt.Errorf("%q: %w", text, store.ErrCursor)
	}
	p.ID = sextant.DocumentID(c.ID)
	if len(c.Value) > 0 && by != nil {
		if p.Value, err = decodeValue(*by, c.Value); err != nil {
			return p, fmt.Errorf("%q: %w", text, store.ErrCursor)
		}
	}
	return p, nil
}
