package sqlite

import (
	"slices"

	"github.com/sextant-rag/sextant/filter"
)

// table holds the columns of documents, or of the elements of one group.
type table struct {
	slots   int // ever given out
	live    mask
	columns map[string]column
	// For elements and chunks: the document slot each belongs to. A document's are
	// contiguous and in order, as documents are written whole.
	parent []uint32
}

// child reports whether the table's slots belong to documents.
func newTable() *table { return &table{columns: map[string]column{}} }

// add gives out the next slot.
func (t *table) add() uint32 {
	slot := uint32(t.slots)
	t.slots++
	t.live.grow(slot)
	return slot
}

// define makes a column of every field that has none, and lists of those that became one.
func (t *table) define(f filter.Field, was filter.Field) {
	c, ok := t.columns[f.Name]
	if !ok {
		t.columns[f.Name] = newColumn(f)
	} else if f.List && !was.List {
		c.widen()
	}
}

// span returns the slots [from,to) of a document's elements.
func (t *table) span(document uint32) (from, to uint32) {
	i, _ := slices.BinarySearch(t.parent, document)
	j := i
	for j < len(t.parent) && t.parent[j] == document {
		j++
	}
	return uint32(i), uint32(j)
}

// up returns the documents to which the slots of m belong.
func (t *table) up(m mask, documents int) mask {
	out := newMask(documents)
	for slot := range m.all() {
		out.set(t.parent[slot])
	}
	return out
}

// down returns the slots that belong to the documents of m.
func (t *table) down(m mask) mask {
	out := newMask(t.slots)
	for i, document := range t.parent {
		bit := m[document>>6] >> (document & 63) & 1
		out[i>>6] |= bit << (i & 63)
	}
	return out
}

func (t *table) memory() int64 {
	n := int64(8*cap(t.live) + 4*cap(t.parent))
	for _, c := range t.columns {
		n += c.memory()
	}
	return n
}
