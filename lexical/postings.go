package lexical

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// A list holds the occurrences of one word in one segment, rows as ordinals within the
// segment:
//
//	docs  for each row: uvarint of the distance to the row before (the first: ordinal+1),
//	      one byte of term frequency, 255 meaning 255 or more
//	pos   for each row: if the frequency is 255 a uvarint of how many positions follow;
//	      then the positions in order, each as its distance to the one before (the
//	      first: itself) written as bytes that are summed up to one below 255
//	skips for every block of rows but the last: the ordinal it ends with, and where the
//	      next block begins in docs and pos, three little-endian uint32. A block has 128
//	      rows, or up to twice as many where lists were merged.
//
// Ranking reads docs alone, two bytes a row for common words. Positions cost about one
// byte an occurrence and make phrases exact without reading any text.
type list struct {
	df    int // rows
	docs  []byte
	pos   []byte
	skips []byte
}

const (
	blockRows = 128
	skipBytes = 12
	maxTF     = 255
)

// uvarint reads a uvarint of up to 32 bits, whose list is known to be valid.
func uvarint(b []byte, i int) (v uint32, next int) {
	for shift := 0; ; shift += 7 {
		c := b[i]
		i++
		if c < 0x80 {
			return v | uint32(c)<<shift, i
		}
		v |= uint32(c&0x7f) << shift
	}
}

// lastRow returns the last ordinal.
func (l list) lastRow() int {
	ord := -1
	for i := 0; i < len(l.docs); i++ {
		d := uint32(l.docs[i])
		if d < 0x80 {
			i++
		} else {
			d, i = uvarint(l.docs, i)
		}
		ord += int(d)
	}
	return ord
}

// cursor walks a list in row order.
type cursor struct {
	list
	i, p   int // next byte of docs and, if positions were kept up with, of pos
	ord    int // current row, -1 before the first
	tf     int
	unread bool // seek stopped at a row whose positions p still points at
}

func (l list) cursor() cursor { return cursor{list: l, ord: -1} }

// next goes to the next row, leaving positions behind.
func (c *cursor) next() bool {
	if c.i >= len(c.docs) {
		return false
	}
	d, i := uvarint(c.docs, c.i)
	c.ord += int(d)
	c.tf = int(c.docs[i])
	c.i = i + 1
	return true
}

// block jumps to the last block that may hold ord, if it lies ahead.
func (c *cursor) block(ord int) {
	n := len(c.skips) / skipBytes
	i := sort.Search(n, func(i int) bool { return int(binary.LittleEndian.Uint32(c.skips[i*skipBytes:])) >= ord })
	if i == 0 {
		return
	}
	if last, docs, pos := readSkip(c.skips[(i-1)*skipBytes:]); int(docs) > c.i {
		c.ord, c.i, c.p = int(last), int(docs), int(pos)
	}
}

// count reads how many positions the current row has.
func (c *cursor) count() int {
	if c.tf < maxTF {
		return c.tf
	}
	n, p := uvarint(c.pos, c.p)
	c.p = p
	return int(n)
}

// positions appends those of the row that seek found to dst.
func (c *cursor) positions(dst []uint32) []uint32 {
	c.unread = false
	at := uint32(0)
	for n := c.count(); n > 0; n-- {
		for c.pos[c.p] == 255 {
			at += 255
			c.p++
		}
		at += uint32(c.pos[c.p])
		c.p++
		dst = append(dst, at)
	}
	return dst
}

// pass passes over n positions. Each takes a byte below 255, after one of 255 for
// every 255 it is larger.
func (c *cursor) pass(n int) {
	for n > 0 {
		some := c.pos[c.p : c.p+n]
		c.p += n
		n = bytes.Count(some, more)
	}
}

var more = []byte{255}

// skipPositions passes over those of the current row.
func (c *cursor) skipPositions() { c.pass(c.count()) }

// seek goes to the first row not below ord and reports whether it is ord; if so,
// positions may be called, once. Rows must be sought in rising order.
func (c *cursor) seek(ord int) bool {
	if c.ord >= ord {
		return c.ord == ord
	}
	if c.unread {
		c.skipPositions()
	}
	c.block(ord)
	c.unread = false
	for behind := 0; c.next(); {
		switch {
		case c.ord >= ord:
			c.pass(behind)
			c.unread = true
			return c.ord == ord
		case c.tf < maxTF:
			behind += c.tf
		default: // its count stands among the positions
			c.pass(behind)
			behind = 0
			c.skipPositions()
		}
	}
	return false
}

// has goes to the first row not below ord and reports whether it is ord, without
// positions. Rows must be asked for in rising order.
func (c *cursor) has(ord int) bool {
	if c.ord >= ord {
		return c.ord == ord
	}
	c.block(ord)
	for c.next() {
		if c.ord >= ord {
			return c.ord == ord
		}
	}
	return false
}

// listWriter encodes one list.
type listWriter struct {
	df    int
	last  int // ordinal of the last row
	docs  []byte
	pos   []byte
	skips []byte
	block int // rows since the last skip
}

func (w *listWriter) reset() {
	w.df, w.last, w.block = 0, -1, 0
	w.docs, w.pos, w.skips = w.docs[:0], w.pos[:0], w.skips[:0]
}

// row begins a row with its term frequency; its positions are to follow.
func (w *listWriter) row(ord, tf int) {
	w.skip()
	w.docs = binary.AppendUvarint(w.docs, uint64(ord-w.last))
	w.docs = append(w.docs, byte(min(tf, maxTF)))
	w.last = ord
	w.df++
	w.block++
}

// skip ends a block if it is long enough; rows must follow.
func (w *listWriter) skip() {
	if w.block >= blockRows {
		w.appendSkip(uint32(w.last), uint32(len(w.docs)), uint32(len(w.pos)))
		w.block = 0
	}
}

func (w *listWriter) appendSkip(ord, docs, pos uint32) {
	w.skips = binary.LittleEndian.AppendUint32(w.skips, ord)
	w.skips = binary.LittleEndian.AppendUint32(w.skips, docs)
	w.skips = binary.LittleEndian.AppendUint32(w.skips, pos)
}

// count writes how many positions follow, where the frequency does not say so.
func (w *listWriter) count(n int) {
	if n >= maxTF {
		w.pos = binary.AppendUvarint(w.pos, uint64(n))
	}
}

// position writes one as its distance to the one before.
func (w *listWriter) position(delta uint32) {
	for ; delta >= 255; delta -= 255 {
		w.pos = append(w.pos, 255)
	}
	w.pos = append(w.pos, byte(delta))
}

// rows copies a list whose ordinals go up by base.
func (w *listWriter) rows(l list, base int) {
	w.skip()
	first, i := uvarint(l.docs, 0)
	w.docs = binary.AppendUvarint(w.docs, uint64(base+int(first)-1-w.last))
	docs, pos := len(w.docs)-i, len(w.pos)
	w.docs = append(w.docs, l.docs[i:]...)
	w.pos = append(w.pos, l.pos...)
	for s := l.skips; len(s) > 0; s = s[skipBytes:] {
		ord, d, p := readSkip(s)
		if len(l.pos) == 0 {
			p = 0 // a word's list that goes into one of a family, without its positions
		}
		w.appendSkip(ord+uint32(base), d+uint32(docs), p+uint32(pos))
	}
	w.block += l.df
	if len(l.skips) > 0 {
		w.block = blockRows // no less than that many, or the list had ended with the block
	}
	w.last = base + l.lastRow()
	w.df += l.df
}

func readSkip(s []byte) (ord, docs, pos uint32) {
	return binary.LittleEndian.Uint32(s), binary.LittleEndian.Uint32(s[4:]), binary.LittleEndian.Uint32(s[8:])
}

// appendTo appends the list as it stands in a segment.
func (w *listWriter) appendTo(data []byte) []byte {
	data = binary.AppendUvarint(data, uint64(w.df))
	data = binary.AppendUvarint(data, uint64(len(w.docs)))
	if w.df > blockRows {
		data = binary.AppendUvarint(data, uint64(len(w.skips)/skipBytes))
		data = append(data, w.skips...)
	}
	data = append(data, w.docs...)
	return append(data, w.pos...)
}
