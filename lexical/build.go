package lexical

import (
	"bytes"
	"math/bits"
	"slices"
)

// segmentWriter puts a segment together out of its rows, and its terms in key order.
type segmentWriter struct {
	segment
	list    listWriter
	lists   *blockWriter // where lists go once there are many; nil: they stay in data
	flushed int          // bytes that went there
}

// manyLists is how many bytes of lists are written at a time.
const manyLists = 1 << 18

func newSegmentWriter(rows []uint32, lengths []float32, zones layout) *segmentWriter {
	w := &segmentWriter{segment: segment{rows: rows, lengths: lengths, zones: zones}}
	for _, n := range lengths {
		w.total += float64(n)
	}
	w.list.reset()
	return w
}

// store ends the list being written and adds it under its key, unless it is empty.
func (w *segmentWriter) store(key []byte) {
	if w.list.df == 0 {
		return
	}
	w.keys = append(w.keys, key...)
	w.keyEnd.add(len(w.keys))
	w.data = w.list.appendTo(w.data)
	w.dataEnd.add(w.flushed + len(w.data))
	w.list.reset()
	if w.lists != nil && len(w.data) >= manyLists {
		w.flush()
	}
}

// flush writes out the lists that are still here.
func (w *segmentWriter) flush() {
	w.lists.write(w.data)
	w.flushed += len(w.data)
	w.data = w.data[:0]
}

// storeFamily is store for the list that sums up the words of a stem.
func (w *segmentWriter) storeFamily(stem []byte) {
	w.store(append(slices.Clip(stem), familyMark...))
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
	ids     map[string]uint32 // by word, joined forms with their mark: stems are asked for once
	keys    [][]byte          // by id
	counts  []uint32          // by id
	occ     []occurrence
	rows    []uint32
	lengths []float32
	zones   layout
	scratch []byte
}

func newBuilder() *builder { return &builder{ids: map[string]uint32{}} }

// reset empties the builder; what the segment made of it holds is given up.
func (b *builder) reset() {
	clear(b.ids)
	b.keys, b.counts, b.occ = b.keys[:0], b.counts[:0], b.occ[:0]
	b.rows, b.lengths, b.zones = nil, nil, layout{}
}

// fieldGap lies between the positions of two fields, so that neither a phrase nor Near
// crosses.
const fieldGap = MaxNear + 1

// add analyses a row. A row without words leaves no trace.
func (b *builder) add(a *Analyzer, row uint32, fields []Field) {
	ord := uint32(len(b.rows))
	base, length := 0, 0
	for _, f := range fields {
		weight, end := max(f.Weight, 1), base
		b.zones.begin(uint32(base), f.Zone)
		a.scan(f.Text, func(t token) {
			if t.span == 1 {
				length += weight
				end = base + t.pos + 1
			}
			id := b.id(a, t)
			b.counts[id] += uint32(weight)
			for range weight {
				b.occ = append(b.occ, occurrence{id, ord, uint32(base + t.pos)})
			}
		})
		if end == base {
			b.zones.undo()
			continue
		}
		base = end + fieldGap
	}
	if length > 0 {
		b.rows = append(b.rows, row)
		b.lengths = append(b.lengths, float32(length))
		b.zones.endRow()
		return
	}
	b.zones.drop()
}

func (b *builder) id(a *Analyzer, t token) uint32 {
	word := t.word
	if t.span > 1 {
		b.scratch = append(append(b.scratch[:0], word...), mark(t.span))
		word = b.scratch
	}
	if id, ok := b.ids[string(word)]; ok {
		return id
	}
	id := uint32(len(b.keys))
	b.ids[string(word)] = id
	b.keys = append(b.keys, a.key(t))
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
	slices.SortFunc(order, func(i, j uint32) int { return bytes.Compare(b.keys[i], b.keys[j]) })
	occ := b.sorted(order)
	w := newSegmentWriter(b.rows, b.lengths, b.zones)
	sum := familySum{seen: make([]uint64, (len(b.rows)+63)/64), tf: make([]uint16, len(b.rows))}
	first := 0 // term of the current family
	for i, id := range order {
		n := b.counts[id]
		w.write(occ[:n])
		occ = occ[n:]
		w.store(b.keys[id])
		if stem := stemOf(b.keys[id]); i+1 == len(order) || !inFamily(b.keys[order[i+1]], stem) {
			if w.terms()-first > 1 {
				sum.write(w, first)
				w.storeFamily(stem)
			}
			first = w.terms()
		}
	}
	return w.finish()
}

// familySum adds up the lists of a family.
type familySum struct {
	seen []uint64 // rows that have any of its words
	tf   []uint16 // by ordinal
}

// write writes the sum of the terms from first on.
func (f *familySum) write(w *segmentWriter, first int) {
	for t := first; t < w.terms(); t++ {
		for c := w.segment.list(t).cursor(); c.next(); {
			f.seen[c.ord>>6] |= 1 << (c.ord & 63)
			f.tf[c.ord] = uint16(min(int(f.tf[c.ord])+c.tf, maxTF))
		}
	}
	for i, x := range f.seen {
		for ; x != 0; x &= x - 1 {
			ord := i<<6 | bits.TrailingZeros64(x)
			w.list.row(ord, int(f.tf[ord]))
			f.tf[ord] = 0
		}
		f.seen[i] = 0
	}
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
