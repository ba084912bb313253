package lexical

import (
	"bytes"
	"errors"
	"runtime"
)

// merge makes one segment of several that follow each other, without their removed
// rows; nil if none is left. It goes into a file if it is large and there is room. If a
// part cannot be read it is ErrUnreadable.
func (ix *Index) merge(parts []part) (s *segment, err error) {
	size := 0
	for _, p := range parts {
		size += p.seg.size()
	}
	if size >= ix.files.least() {
		s, err = mergeToFile(parts, ix.files.Folder)
		if err == nil || errors.Is(err, ErrUnreadable) {
			return s, err
		}
		ix.files.warn(err)
	}
	err = Guard(func() { s = merge(parts) })
	return s, err
}

// merge merges parts in memory.
func merge(parts []part) *segment {
	defer runtime.KeepAlive(parts)
	m := newMerger(parts)
	m.out.data = make([]byte, 0, m.size)
	if len(m.out.rows) == 0 {
		return nil
	}
	for m.family() {
	}
	return m.out.finish()
}

// merger walks the dictionaries of its inputs side by side, family by family.
type merger struct {
	inputs []mergeInput
	out    *segmentWriter
	size   int // bytes of the inputs' lists
}

// mergeInput is a segment with a place in its dictionary.
type mergeInput struct {
	part
	base      int     // ordinal of its first row in the result, if none is removed
	to        []int32 // by ordinal: the ordinal in the result, or -1; nil if none is removed
	term      int     // the next to be read
	from, end int     // terms of the current family
}

func newMerger(parts []part) *merger {
	m := &merger{}
	var rows []uint32
	var lengths []float32
	var zones layout
	for _, p := range parts {
		in := mergeInput{part: p, base: len(rows)}
		if p.removed != nil {
			in.to = make([]int32, len(p.seg.rows))
		}
		for ord, row := range p.seg.rows {
			if p.removed.has(ord) {
				in.to[ord] = -1
				continue
			}
			if in.to != nil {
				in.to[ord] = int32(len(rows))
			}
			rows = append(rows, row)
			lengths = append(lengths, p.seg.lengths[ord])
			zones.copyRow(p.seg.zones, ord)
		}
		m.inputs = append(m.inputs, in)
		m.size += len(p.seg.data)
	}
	m.out = newSegmentWriter(rows, lengths, zones)
	return m
}

// family merges the next stem, and reports whether there was one.
func (m *merger) family() bool {
	least := m.least(func(in *mergeInput) bool { return in.term < in.seg.terms() })
	if least == nil {
		return false
	}
	stem := stemOf(least)
	for i := range m.inputs {
		m.inputs[i].enter(stem)
	}
	first := m.out.terms()
	for {
		key := m.least(func(in *mergeInput) bool { return in.term < in.end && !in.atMark() })
		if key == nil {
			break
		}
		for i := range m.inputs {
			if in := &m.inputs[i]; in.term < in.end && bytes.Equal(in.seg.key(in.term), key) {
				in.copyTo(&m.out.list, in.seg.list(in.term))
				in.term++
			}
		}
		m.out.store(key)
	}
	for i := range m.inputs {
		in := &m.inputs[i]
		if m.out.terms()-first > 1 && in.from < in.end {
			// The last term of a family is the one that stands for it.
			l := in.seg.list(in.end - 1)
			l.pos = nil
			in.copyTo(&m.out.list, l)
		}
		in.term = in.end
	}
	m.out.storeFamily(stem)
	return true
}

// least returns the smallest key of the inputs that are in it; nil if none is.
func (m *merger) least(within func(*mergeInput) bool) []byte {
	var least []byte
	for i := range m.inputs {
		in := &m.inputs[i]
		if !within(in) {
			continue
		}
		if key := in.seg.key(in.term); least == nil || bytes.Compare(key, least) < 0 {
			least = key
		}
	}
	return least
}

// enter finds the input's terms of a stem, which begin at its place if it has any.
func (in *mergeInput) enter(stem []byte) {
	in.from, in.end = in.term, in.term
	for in.end < in.seg.terms() && inFamily(in.seg.key(in.end), stem) {
		in.end++
	}
}

// atMark reports whether the input stands at the list that sums a family up.
func (in *mergeInput) atMark() bool {
	return bytes.HasSuffix(in.seg.key(in.term), []byte(familyMark))
}

// copyTo appends a list of the input without its removed rows.
func (in *mergeInput) copyTo(w *listWriter, l list) {
	if in.to == nil {
		w.rows(l, in.base)
		return
	}
	bare := len(l.pos) == 0
	for c := l.cursor(); c.next(); {
		from := c.p
		if !bare {
			c.skipPositions()
		}
		if to := in.to[c.ord]; to >= 0 {
			w.row(int(to), c.tf)
			w.pos = append(w.pos, c.pos[from:c.p]...)
		}
	}
}
