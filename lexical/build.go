package lexical

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"
)

// segmentWriter puts a segment together out of its rows, and its terms in key order.
type segmentWriter struct {
	segment
	list    listWriter
	members int      // terms written of the current family
	seen    []uint64 // rows of the current family, if it has or may get several terms
	tf      []uint16 // by ordinal, of the rows seen
}

func newSegmentWriter(rows []uint32, lengths []float32) *segmentWriter {
	w := &segmentWriter{segment: segment{rows: rows, lengths: lengths}}
	for _, n := range lengths {
		w.total += float64(n)
	}
	w.seen = make([]uint64, (len(rows)+63)/64)
	w.tf = make([]uint16, len(rows))
	w.list.reset()
	return w
}

// term ends the list being written and stores it, unless it is empty. last says that
// the next key is of another family.
func (w *segmentWriter) term(key []byte, last bool) {
	if w.list.df > 0 {
		w.store(key)
		if w.members++; w.members > 1 || !last {
			w.sumUp(w.segment.list(w.terms() - 1))
		}
	}
	if last {
		w.endFamily(stemOf(key))
	}
	w.list.reset()
}

func (w *segmentWriter) store(key []byte) {
	w.keys = append(w.keys, key...)
	w.keyEnd = append(w.keyEnd, uint32(len(w.keys)))
	w.data = binary.AppendUvarint(w.data, uint64(w.list.df))
	w.data = binary.AppendUvarint(w.data, uint64(len(w.list.docs)))
	w.data = append(w.data, w.list.skip...)
	w.data = append(w.data, w.list.docs...)
	w.data = append(w.data, w.list.pos...)
	w.dataEnd = append(w.dataEnd, uint32(len(w.data)))
}

// sumUp adds a list to the family's frequencies.
func (w *segmentWriter) sumUp(l list) {
	for c := l.cursor(); c.next(); {
		w.seen[c.ord>>6] |= 1 << (c.ord & 63)
		w.tf[c.ord] = uint16(min(int(w.tf[c.ord])+c.tf, maxTF))
	}
}

// endFamily stores the family's list if it has several terms, and forgets it.
func (w *segmentWriter) endFamily(stem []byte) {
	if w.members == 0 {
		return
	}
	w.list.reset()
	for i, x := range w.seen {
		for ; x != 0; x &= x - 1 {
			ord := i<<6 | bits.TrailingZeros64(x)
			if w.members > 1 {
				w.list.row(ord, int(w.tf[ord]))
			}
			w.tf[ord] = 0
		}
		w.seen[i] = 0
	}
	if w.members > 1 {
		w.store(append(slices.Clip(stem), familyMark...))
	}
	w.members = 0
}

// finish returns the segment without the room that was left for it to grow.
func (w *segmentWriter) finish() *segment {
	s := w.segment
	s.keys, s.data = fit(s.keys), fit(s.data)
	s.keyEnd, s.dataEnd = fit(s.keyEnd), fit(s.dataEnd)
	return &s
}

func fit[E any](s []E) []E {
	if cap(s)-len(s) > cap(s)/16 {
		return append(make([]E, 0, len(s)), s...)
	}
	return s
}

// occurrence is one word at one place.
type occurrence struct {
	term uint32 // in order of first appearance, until sorted
	ord  uint32
	pos  uint32
}

// builder collects the occurrences of some rows in the order they are read.
type builder struct {
	ids     map[string]uint32
	keys    []string
	counts  []uint32
	occ     []occurrence
	rows    []uint32
	lengths []float32
	scratch []byte
}

func newBuilder() *builder { return &builder{ids: map[string]uint32{}} }

// fieldGap lies between the positions of two fields, so that neither a phrase nor Near
// crosses.
const fieldGap = MaxNear + 1

// add analyses a row. A row without words leaves no trace.
func (b *builder) add(a *Analyzer, row uint32, fields []Field) {
	ord := uint32(len(b.rows))
	base, length := 0, 0
	for _, f := range fields {
		weight, end := max(f.Weight, 1), base
		a.scan(f.Text, func(t token) {
			if t.span == 1 {
				length += weight
				end = base + t.pos + 1
			}
			key := a.key(b.scratch[:0], t)
			id := b.id(key)
			b.counts[id] += uint32(weight)
			for range weight {
				b.occ = append(b.occ, occurrence{id, ord, uint32(base + t.pos)})
			}
		})
		base = end + fieldGap
	}
	if length > 0 {
		b.rows = append(b.rows, row)
		b.lengths = append(b.lengths, float32(length))
	}
}

func (b *builder) id(key []byte) uint32 {
	if id, ok := b.ids[string(key)]; ok {
		return id
	}
	id := uint32(len(b.keys))
	k := string(key)
	b.ids[k] = id
	b.keys = append(b.keys, k)
	b.counts = append(b.counts, 0)
	return id
}

// segment sorts what was collected by key; nil if there is nothing.
func (b *builder) segment() *segment {
	if len(b.rows) == 0 {
		return nil
	}
	order := make([]uint32, len(b.keys))
	for i := range order {
		order[i] = uint32(i)
	}
	sort.Slice(order, func(i, j int) bool { return b.keys[order[i]] < b.keys[order[j]] })
	occ := b.sorted(order)
	w := newSegmentWriter(b.rows, b.lengths)
	for i, id := range order {
		n := b.counts[id]
		w.write(occ[:n])
		occ = occ[n:]
		key := []byte(b.keys[id])
		last := i+1 == len(order) || !inFamily([]byte(b.keys[order[i+1]]), stemOf(key))
		w.term(key, last)
	}
	return w.finish()
}

// sorted returns the occurrences by term in the given order; within a term they stay
// in the order of rows and positions in which they were read.
func (b *builder) sorted(order []uint32) []occurrence {
	next := make([]uint32, len(b.keys))
	n := uint32(0)
	for _, id := range order {
		next[id] = n
		n += b.counts[id]
	}
	out := make([]occurrence, len(b.occ))
	for _, o := range b.occ {
		out[next[o.term]] = o
		next[o.term]++
	}
	return out
}

// write encodes the occurrences of one term. A joined form comes after its atoms, but
// begins where they do, so positions of one row may arrive out of order.
func (w *segmentWriter) write(occ []occurrence) {
	for len(occ) > 0 {
		n := 1
		for n < len(occ) && occ[n].ord == occ[0].ord {
			n++
		}
		row := occ[:n]
		occ = occ[n:]
		slices.SortFunc(row, func(a, b occurrence) int { return int(a.pos) - int(b.pos) })
		w.list.row(int(row[0].ord), n)
		w.list.count(n)
		at := uint32(0)
		for _, o := range row {
			w.list.position(o.pos - at)
			at = o.pos
		}
	}
}
