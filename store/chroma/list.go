package chroma

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

const defaultPage = 1000

// List implements store.Collection.
func (c *collection) List(ctx context.Context, q store.ListQuery) (store.List, error) {
	var out store.List
	err := c.look(ctx, viewed, func() (err error) {
		out, err = c.view.list(q)
		return err
	})
	if err != nil {
		return store.List{}, fmt.Errorf("list: %w", err)
	}
	return out, nil
}

// place is where a document stands in a list, and what a cursor says.
type place struct {
	By    string             `json:"by"`
	Desc  bool               `json:"desc"`
	Value string             `json:"value,omitempty"` // as filter.Value writes it
	None  bool               `json:"none,omitempty"`  // it has no value
	ID    sextant.DocumentID `json:"id"`

	value filter.Value
}

func (a place) compare(b place) int {
	switch none := cmp.Compare(number(a.None), number(b.None)); {
	case none != 0:
		return none
	case a.None || a.value == b.value:
		return strings.Compare(string(a.ID), string(b.ID))
	case a.Desc:
		return cmp.Or(b.value.Compare(a.value), strings.Compare(string(a.ID), string(b.ID)))
	}
	return cmp.Or(a.value.Compare(b.value), strings.Compare(string(a.ID), string(b.ID)))
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (v *view) list(q store.ListQuery) (store.List, error) {
	kind := filter.KindNone
	if q.By != "" {
		field, err := v.field(q.By)
		if err != nil {
			return store.List{}, err
		}
		if field.List || field.Group != "" {
			return store.List{}, fmt.Errorf("a document has several values of %q, or none of its own: %w", q.By, filter.ErrSchema)
		}
		kind = field.Kind
	}
	after, err := readCursor(q, kind)
	if err != nil {
		return store.List{}, err
	}
	f, err := v.resolve(q.Filter)
	if err != nil {
		return store.List{}, err
	}
	var places []place
	for slot := range v.matching(f).all() {
		h := v.heads[slot]
		p := place{By: q.By, Desc: q.Desc, ID: h.id, value: h.meta.Fields.One(q.By)}
		p.None = q.By != "" && p.value.IsZero()
		places = append(places, p)
	}
	slices.SortFunc(places, place.compare)
	out := store.List{Total: int64(len(places))}
	if after != nil {
		n, _ := slices.BinarySearchFunc(places, *after, place.compare)
		if n < len(places) && places[n].compare(*after) == 0 {
			n++
		}
		places = places[n:]
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultPage
	}
	if len(places) > limit {
		places = places[:limit]
		out.Next = places[limit-1].cursor()
	}
	for _, p := range places {
		out.IDs = append(out.IDs, p.ID)
	}
	return out, nil
}

func (a place) cursor() string {
	a.Value = a.value.String()
	b, _ := json.Marshal(a) // strings and bools always encode
	return base64.RawURLEncoding.EncodeToString(b)
}

// readCursor reads the place a page begins after; nil at the beginning.
func readCursor(q store.ListQuery, kind filter.Kind) (*place, error) {
	if q.After == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(q.After)
	var p place
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err == nil && (p.By != q.By || p.Desc != q.Desc) {
		err = fmt.Errorf("it is of another order")
	}
	if err == nil && kind != filter.KindNone && !p.None {
		p.value, err = filter.Parse(kind, p.Value)
	}
	if err != nil {
		return nil, fmt.Errorf("cursor %q: %w: %w", q.After, store.ErrCursor, err)
	}
	return &p, nil
}
