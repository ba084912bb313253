package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

const defaultPage = 1000

// List implements store.Collection.
func (c *collection) List(ctx context.Context, q store.ListQuery) (store.List, error) {
	var out store.List
	err := c.look(ctx, func(x *index) error {
		var err error
		out, err = x.list(q)
		return err
	})
	if err != nil {
		return store.List{}, fmt.Errorf("list: %w", err)
	}
	return out, nil
}

// place is where a document stands in an order: the key of its value, then its id.
// It is also what a cursor holds, so that the page after it is well defined whatever
// has changed in between, the document itself included.
type place struct {
	missing bool // no value: behind all that have one
	number  int64
	word    []byte
	id      []byte
	rank    int // of the id, where ids are ranked, see ordering
}

// ordering compares documents by a field.
type ordering struct {
	x     *index
	by    string
	desc  bool
	col   column // nil: by id alone
	ranks *ranks // nil: ids are few and compared as they are
}

func (x *index) ordering(by string, desc bool) (ordering, error) {
	o := ordering{x: x, by: by, desc: desc}
	if by == "" {
		return o, nil
	}
	f, err := x.plainField(by)
	if err != nil {
		return o, err
	}
	if f.Group != "" || f.List {
		return o, fmt.Errorf("a document has several values of %q: %w", by, filter.ErrSchema)
	}
	o.col = x.documents.columns[by]
	return o, nil
}

func (o ordering) place(slot uint32) place {
	p := place{id: o.x.ids.At(o.x.idOf[slot])}
	if o.ranks != nil {
		p.rank = 2*int(o.ranks.of[slot]) + 1
	}
	switch c := o.col.(type) {
	case *keywords:
		if v := c.cells.at(slot); v != nil {
			p.word = c.spellings.At(v[0])
		} else {
			p.missing = true
		}
	case *numbers:
		if v := c.cells.at(slot); v != nil {
			p.number = v[0]
		} else {
			p.missing = true
		}
	}
	return p
}

func (o ordering) compare(a, b place) int {
	if a.missing != b.missing {
		if a.missing {
			return 1
		}
		return -1
	}
	byValue := cmp.Or(cmp.Compare(a.number, b.number), bytes.Compare(a.word, b.word))
	if o.desc {
		byValue = -byValue
	}
	if byValue != 0 {
		return byValue
	}
	if o.ranks != nil {
		return cmp.Compare(a.rank, b.rank)
	}
	return bytes.Compare(a.id, b.id)
}

// rankOf ranks the id of a cursor, whose document may be gone: behind the last slot that
// has an id as low.
func (o ordering) rankOf(id []byte) int {
	n, _ := slices.BinarySearchFunc(o.ranks.sorted, id, func(slot uint32, id []byte) int {
		if bytes.Compare(o.x.ids.At(o.x.idOf[slot]), id) <= 0 {
			return -1
		}
		return 1
	})
	return 2 * n
}

func (x *index) list(q store.ListQuery) (store.List, error) {
	f, err := x.resolve(q.Filter)
	if err != nil {
		return store.List{}, err
	}
	o, err := x.ordering(q.By, q.Desc)
	if err != nil {
		return store.List{}, err
	}
	var after *place
	if q.After != "" {
		p, err := o.decodeCursor(q.After)
		if err != nil {
			return store.List{}, err
		}
		after = &p
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultPage
	}
	m := x.matching(f)
	out := store.List{Total: m.count()}
	limit = min(limit, int(out.Total)) // one more must not overflow
	if out.Total > manyIDs {
		o.ranks = x.ranked()
		if after != nil {
			after.rank = o.rankOf(after.id)
		}
	}
	page := o.first(m, after, limit+1)
	for _, p := range page[:min(limit, len(page))] {
		out.IDs = append(out.IDs, sextant.DocumentID(p.id))
	}
	if len(page) > limit {
		out.Next = o.encodeCursor(page[limit-1])
	}
	return out, nil
}

// first returns the n foremost places behind after, in order. It keeps the best so far
// in a heap with the hindmost on top, instead of sorting all: pages are short and
// results may be long.
func (o ordering) first(m mask, after *place, n int) []place {
	if o.col == nil && o.ranks != nil {
		return o.firstByID(m, after, n)
	}
	var best []place
	for slot := range m.all() {
		p := o.place(slot)
		switch {
		case after != nil && o.compare(p, *after) <= 0:
		case len(best) < n:
			best = append(best, p)
			o.up(best, len(best)-1)
		case o.compare(p, best[0]) < 0:
			best[0] = p
			o.down(best)
		}
	}
	slices.SortFunc(best, o.compare)
	return best
}

// firstByID walks the slots in the order of their ids.
func (o ordering) firstByID(m mask, after *place, n int) []place {
	from := 0
	if after != nil {
		from = after.rank / 2
	}
	var page []place
	for _, slot := range o.ranks.sorted[from:] {
		if m.has(slot) {
			page = append(page, o.place(slot))
			if len(page) == n {
				break
			}
		}
	}
	return page
}

// up moves the i-th place of a heap to where it belongs.
func (o ordering) up(heap []place, i int) {
	for i > 0 && o.compare(heap[i], heap[(i-1)/2]) > 0 {
		heap[i], heap[(i-1)/2] = heap[(i-1)/2], heap[i]
		i = (i - 1) / 2
	}
}

// down does so with the first.
func (o ordering) down(heap []place) {
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < len(heap) && o.compare(heap[child+1], heap[child]) > 0 {
			child++
		}
		if child >= len(heap) || o.compare(heap[child], heap[i]) <= 0 {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

// A cursor names its order, so that it cannot be used in another.
func (o ordering) encodeCursor(p place) string {
	var e encoder
	e.str(o.by)
	e.uint(bit(o.desc))
	e.uint(bit(p.missing))
	e.int(p.number)
	e.str(string(p.word))
	e.str(string(p.id))
	return base64.RawURLEncoding.EncodeToString(e.b)
}

func (o ordering) decodeCursor(s string) (place, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return place{}, fmt.Errorf("cursor %q: %w", s, store.ErrCursor)
	}
	d := decoder{b: b}
	by, desc := d.str(), d.uint()
	p := place{missing: d.uint() != 0, number: d.int(), word: d.bytes(), id: d.bytes()}
	if d.err != nil || len(d.b) > 0 || by != o.by || desc != bit(o.desc) {
		return place{}, fmt.Errorf("cursor %q is of another list: %w", s, store.ErrCursor)
	}
	return p, nil
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
