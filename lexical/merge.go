package lexical

import "bytes"

// merge makes one segment of several that follow each other, without their removed
// rows; nil if none is left.
func merge(parts []part) *segment {
	m := newMerger(parts)
	if len(m.rows) == 0 {
		return nil
	}
	w := newSegmentWriter(m.rows, m.lengths)
	w.data = make([]byte, 0, m.size)
	for key := m.least(); key != nil; {
		for i := range m.inputs {
			m.inputs[i].copyTo(w, key)
		}
		next := m.least()
		w.term(key, next == nil || !inFamily(next, stemOf(key)))
		key = next
	}
	return w.finish()
}

// merger holds the inputs of a merge, and the rows that come out.
type merger struct {
	inputs  []mergeInput
	rows    []uint32
	lengths []float32
	size    int // of the inputs' data: what the result needs, or a little more
}

// mergeInput is a segment with a place in its dictionary.
type mergeInput struct {
	seg  *segment
	term int
	to   []int32 // by ordinal: the ordinal in the result, or -1
}

func newMerger(parts []part) *merger {
	m := &merger{}
	for _, p := range parts {
		in := mergeInput{seg: p.seg, to: make([]int32, len(p.seg.rows))}
		for ord, row := range p.seg.rows {
			in.to[ord] = -1
			if !p.removed.has(ord) {
				in.to[ord] = int32(len(m.rows))
				m.rows = append(m.rows, row)
				m.lengths = append(m.lengths, p.seg.lengths[ord])
			}
		}
		m.inputs = append(m.inputs, in)
		m.size += len(p.seg.data)
	}
	return m
}

// least returns the smallest key of a word that an input stands at; nil at the end of
// all. Lists of families are passed over: they are summed up anew.
func (m *merger) least() []byte {
	var least []byte
	for i := range m.inputs {
		in := &m.inputs[i]
		for in.term < in.seg.terms() && bytes.HasSuffix(in.seg.key(in.term), []byte(familyMark)) {
			in.term++
		}
		if in.term == in.seg.terms() {
			continue
		}
		if key := in.seg.key(in.term); least == nil || bytes.Compare(key, least) < 0 {
			least = key
		}
	}
	return least
}

// copyTo appends the input's list of the key, if it has one, and goes to the next.
func (in *mergeInput) copyTo(w *segmentWriter, key []byte) {
	if in.term == in.seg.terms() || !bytes.Equal(in.seg.key(in.term), key) {
		return
	}
	c := in.seg.list(in.term).cursor()
	in.term++
	for c.next() {
		from := c.p
		c.skipPositions()
		if to := in.to[c.ord]; to >= 0 {
			w.list.row(int(to), c.tf)
			w.list.pos = append(w.list.pos, c.pos[from:c.p]...)
		}
	}
}
