package lexical

import "encoding/binary"

// A list holds the occurrences of one word in one segment, rows as ordinals within the
// segment:
//
//	docs  for each row: uvarint of the distance to the row before (the first: ordinal+1),
//	      one byte of term frequency, 255 meaning 255 or more
//	pos   for each row: if the frequency is 255 a uvarint of how many positions follow;
//	      then the positions in order, each as its distance to the one before (the
//	      first: itself) written as bytes that are summed up to one below 255
//	skips for every full block of 128 rows but the last: the ordinal it ends with, and
//	      where the next block begins in docs and pos, three little-endian uint32
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

// cursor walks a list in row order.
type cursor struct {
	list
	i, p int // next byte of docs and, if positions were kept up with, of pos
	ord  int // current row, -1 before the first
	tf   int
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

// block jumps as far ahead as skips allow without passing ord. It is only sound
// between rows whose positions were consumed or skipped.
func (c *cursor) block(ord int) {
	n := len(c.skips) / skipBytes
	lo, hi := 0, n // the number of blocks that end before ord
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if int(binary.LittleEndian.Uint32(c.skips[m*skipBytes:])) < ord {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == 0 {
		return
	}
	s := c.skips[(lo-1)*skipBytes:]
	if i := int(binary.LittleEndian.Uint32(s[4:])); i > c.i {
		c.ord = int(binary.LittleEndian.Uint32(s))
		c.i = i
		c.p = int(binary.LittleEndian.Uint32(s[8:]))
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

// positions appends those of the current row to dst. Every row must be read or skipped
// in turn.
func (c *cursor) positions(dst []uint32) []uint32 {
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

// skipPositions passes over those of the current row and returns their bytes.
func (c *cursor) skipPositions() []byte {
	from := c.p
	for n := c.count(); n > 0; n-- {
		for c.pos[c.p] == 255 {
			c.p++
		}
		c.p++
	}
	return c.pos[from:c.p]
}

// seek goes to the row ord and reports whether it is in the list, positions ready.
// Rows must be sought in rising order.
func (c *cursor) seek(ord int) bool {
	if c.ord >= ord {
		return c.ord == ord
	}
	c.block(ord)
	for c.next() {
		if c.ord >= ord {
			return c.ord == ord
		}
		c.skipPositions()
	}
	return false
}

// has goes to the row ord and reports whether it is in the list, without positions.
func (c *cursor) has(ord int) bool {
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
	df              int
	last            int // ordinal of the last row
	docs, pos, skip []byte
}

func (w *listWriter) reset() {
	w.df, w.last = 0, -1
	w.docs, w.pos, w.skip = w.docs[:0], w.pos[:0], w.skip[:0]
}

// row begins a row with its term frequency; its encoded positions are appended to pos.
func (w *listWriter) row(ord, tf int) {
	if w.df > 0 && w.df%blockRows == 0 {
		w.skip = binary.LittleEndian.AppendUint32(w.skip, uint32(w.last))
		w.skip = binary.LittleEndian.AppendUint32(w.skip, uint32(len(w.docs)))
		w.skip = binary.LittleEndian.AppendUint32(w.skip, uint32(len(w.pos)))
	}
	w.docs = binary.AppendUvarint(w.docs, uint64(ord-w.last))
	w.docs = append(w.docs, byte(min(tf, maxTF)))
	w.last = ord
	w.df++
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
