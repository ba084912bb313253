package sqlite

import "github.com/sextant-rag/sextant/filter"

// table holds the columns of documents, or of the elements of one group. The table of
// chunks has no columns: it only says what belongs to whom.
type table struct {
	slots   int // ever given out
	live    mask
	columns map[string]column

	// Elements and chunks belong to documents, whose own follow each other, as documents
	// are written whole: those of document d are first[d] to first[d+1].
	parent []uint32 // by slot
	first  []uint32 // by document, and one more
}

func newTable() *table { return &table{columns: map[string]column{}, first: []uint32{0}} }

// add gives out the next slot.
func (t *table) add() uint32 {
	slot := uint32(t.slots)
	t.slots++
	t.live.grow(slot)
	return slot
}

// addChild gives out the next slot to the last document.
func (t *table) addChild(document uint32) uint32 {
	t.parent = append(t.parent, document)
	return t.add()
}

// endDocument says that the last document has all its children.
func (t *table) endDocument() { t.first = append(t.first, uint32(t.slots)) }

// define makes the field's column, or makes a list of one that became one.
func (t *table) define(f filter.Field, was filter.Field) {
	c, ok := t.columns[f.Name]
	if !ok {
		t.columns[f.Name] = newColumn(f)
	} else if f.List && !was.List {
		c.widen()
	}
}

// removeChildren takes out a document's children, slots from up to to.
func (t *table) removeChildren(document uint32) (from, to uint32) {
	from, to = t.first[document], t.first[document+1]
	for slot := from; slot < to; slot++ {
		t.live.clear(slot)
	}
	return from, to
}

// up returns the documents to which the slots of m belong.
func (t *table) up(m mask, documents int) mask {
	out := newMask(documents)
	for slot := range m.all() {
		out.set(t.parent[slot])
	}
	return out
}

// down returns the slots that belong to the documents of m. It goes through the
// documents if they are few, and otherwise through the slots, which needs no branches.
func (t *table) down(m mask) mask {
	out := newMask(t.slots)
	if m.count() < int64(t.slots/8) {
		for document := range m.all() {
			for slot := t.first[document]; slot < t.first[document+1]; slot++ {
				out.set(slot)
			}
		}
		return out
	}
	for i := range out {
		block := t.parent[i<<6 : min(i<<6+64, len(t.parent))]
		var w uint64
		for j, document := range block {
			w |= m[document>>6] >> (document & 63) & 1 << j
		}
		out[i] = w
	}
	return out
}

func (t *table) memory() int64 {
	n := int64(8*cap(t.live) + 4*cap(t.parent) + 4*cap(t.first))
	for _, c := range t.columns {
		n += c.memory()
	}
	return n
}
