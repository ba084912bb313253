package sqlite

import (
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/internal/intern"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/vector"
)

// index is everything a collection holds in RAM to filter, count and rank: derived
// from the rows of its database and at any time to be had from them again. Documents,
// elements and chunks are numbered by slots in order of arrival.
//
// The columns are guarded by the collection's lock; words and vectors look after
// themselves, and may be ahead of the columns by chunks that are not live yet.
type index struct {
	schema    filter.Schema
	names     *names
	documents *table
	groups    map[string]*table
	chunks    *table         // no columns: only what belongs to whom
	text      *lexical.Index // rows are slots of chunks
	vectors   *vector.Matrix // rows are slots of chunks; nil before the first vector
	file      *vectorFile    // the same as they are stored; nil when vectors is

	place   derivedPlace    // for files of its own
	ids     *intern.Strings // document ids
	idOf    []uint32        // by document slot
	slotOf  []uint32        // by id: the slot of the present version, +1; 0 if it was deleted
	rowOf   []int64         // by document slot: number of its row
	sumOf   []uint32        // by document slot: checksum of its row
	order   idOrder
	alive   int64    // documents that are
	marks   uint64   // exclusive or of the marks of the live rows
	columns []column // by number of the name; nil for groups
}

func newIndex(schema filter.Schema, n *names, a *lexical.Analyzer, place derivedPlace) *index {
	x := &index{documents: newTable(), chunks: newTable(), groups: map[string]*table{}, ids: intern.New(), place: place, text: lexical.NewIn(place.files(), a)}
	x.define(schema, n)
	return x
}

// define adjusts the columns to a schema that has grown.
func (x *index) define(schema filter.Schema, n *names) {
	for _, g := range schema.Groups {
		if x.groups[g.Name] == nil {
			x.groups[g.Name] = newTable()
			x.groups[g.Name].first = make([]uint32, x.documents.slots+1)
		}
	}
	for _, f := range schema.Fields {
		if len(f.AnyOf) == 0 {
			was, _ := x.schema.Field(f.Name)
			x.tableOf(f).define(f, was)
		}
	}
	x.schema, x.names = schema, n
	x.columns = make([]column, len(n.list))
	for i, name := range n.list {
		if f, ok := schema.Field(name); ok {
			x.columns[i] = x.tableOf(f).columns[name]
		}
	}
}

// makeVectors makes room for the first vector. The slots given out before belong to
// chunks that are gone, as chunks have vectors all or none; they get rows that no search
// returns, so that rows go on being slots.
func (x *index) makeVectors(dimension int, slots uint32) error {
	m, err := vector.New(dimension)
	if err != nil {
		return err
	}
	x.vectors, x.file = m, newVectorFile(dimension)
	x.file.attach(x.place)
	b := x.newVectorBatch()
	for range slots {
		if err := b.skip(); err != nil {
			return err
		}
	}
	return b.flush()
}

// tableOf returns the table a field's column is in.
func (x *index) tableOf(f filter.Field) *table {
	if f.Group == "" {
		return x.documents
	}
	return x.groups[f.Group]
}

// find returns the slot of a document's present version.
func (x *index) find(id string) (uint32, bool) {
	n, ok := x.ids.Find(intern.Bytes(id))
	if !ok || x.slotOf[n] == 0 {
		return 0, false
	}
	return x.slotOf[n] - 1, true
}

// add enters a row, whose document must not be there.
func (x *index) add(r *row) error {
	slot := x.documents.add()
	id, isNew := x.ids.Add(intern.Bytes(r.id))
	if isNew {
		x.slotOf = append(x.slotOf, 0)
	}
	if x.slotOf[id] != 0 {
		return fmt.Errorf("document %s stands twice", r.id)
	}
	x.slotOf[id] = slot + 1
	x.idOf = append(x.idOf, id)
	x.rowOf = append(x.rowOf, r.number)
	x.sumOf = append(x.sumOf, r.sum)
	x.alive++
	x.marks ^= mark(r.number, r.sum)
	if err := x.addMeta(slot, r.meta); err != nil {
		return fmt.Errorf("metadata of %s: %w", r.id, err)
	}
	for range r.chunkCount() {
		x.chunks.addChild(slot)
	}
	x.chunks.endDocument()
	return nil
}

// addMeta enters encoded metadata; see encodeMeta.
func (x *index) addMeta(slot uint32, meta []byte) error {
	d := decoder{b: meta}
	x.addFields(slot, &d)
	for range d.count() {
		g := x.groups[x.names.name(&d, d.uint())]
		if g == nil {
			return errCodec
		}
		for range d.count() {
			x.addFields(g.addChild(slot), &d)
		}
	}
	for _, g := range x.groups {
		g.endDocument()
	}
	return d.err
}

func (x *index) addFields(slot uint32, d *decoder) {
	for range d.count() {
		tag := d.uint()
		n := d.count()
		if tag>>3 >= uint64(len(x.columns)) || x.columns[tag>>3] == nil {
			d.fail()
			return
		}
		x.columns[tag>>3].put(slot, filter.Kind(tag&7), n, d)
	}
}

// remove takes the document in a slot out and returns the chunks [from,to) it had.
func (x *index) remove(slot uint32) (from, to uint32) {
	x.documents.live.clear(slot)
	x.alive--
	x.slotOf[x.idOf[slot]] = 0
	x.marks ^= mark(x.rowOf[slot], x.sumOf[slot])
	for _, g := range x.groups {
		g.removeChildren(slot)
	}
	return x.chunks.removeChildren(slot)
}

// slotOfRow returns the slot of a row, which may be dead.
func (x *index) slotOfRow(number int64) (uint32, bool) {
	i, found := slices.BinarySearch(x.rowOf, number)
	return uint32(i), found
}

// memory estimates the bytes held.
func (x *index) memory() int64 {
	n := x.documents.memory() + x.chunks.memory() + x.ids.Memory() + x.order.ranks.Load().memory()
	for _, g := range x.groups {
		n += g.memory()
	}
	n += x.text.Stats().Bytes
	if x.vectors != nil {
		n += x.vectors.Bytes() + x.file.memory()
	}
	return n + int64(4*(cap(x.idOf)+cap(x.slotOf)+cap(x.sumOf))+8*cap(x.rowOf))
}
