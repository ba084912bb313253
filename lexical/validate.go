package lexical

import (
	"bytes"
	"fmt"
	"math"
)

// validate looks through a segment that was read, so that nothing in it can lead a
// search astray: keys in order, every list decoding to exactly its rows in order, skips
// that point where they say, positions that add up.
func (s *segment) validate() error {
	for t := range s.terms() {
		key := s.key(t)
		if len(key) == 0 || key[0] == 0 || key[len(key)-1] == 0 || t > 0 && bytes.Compare(s.key(t-1), key) >= 0 {
			return fmt.Errorf("term %d: key out of order: %w", t, ErrCorrupt)
		}
		if !s.validList(t, bytes.HasSuffix(key, []byte(familyMark))) {
			return fmt.Errorf("term %d: bad list: %w", t, ErrCorrupt)
		}
	}
	return nil
}

func (s *segment) validList(t int, bare bool) bool {
	d := decoder{b: s.termData(t)}
	df := d.uint(len(s.rows))
	docs := d.uint(len(d.b))
	skips := 0
	if df > blockRows {
		skips = d.uint(len(d.b) / skipBytes)
	}
	l := list{df: df, skips: d.bytes(skips * skipBytes), docs: d.bytes(docs), pos: d.b}
	return !d.bad && df > 0 && l.valid(len(s.rows), bare)
}

// valid decodes a list of a segment of so many rows. A bare list has no positions.
func (l list) valid(rows int, bare bool) bool {
	docs, pos, skips := decoder{b: l.docs}, decoder{b: l.pos}, l.skips
	ord := -1
	for range l.df {
		if len(skips) > 0 {
			last, d, p := readSkip(skips)
			if int(last) == ord && int(d) == len(l.docs)-len(docs.b) && int(p) == len(l.pos)-len(pos.b) {
				skips = skips[skipBytes:]
			}
		}
		step := docs.uint(rows - 1 - ord)
		tf := docs.bytes(1)
		if docs.bad || step == 0 || tf[0] == 0 {
			return false
		}
		ord += step
		if !bare && !pos.positions(int(tf[0])) {
			return false
		}
	}
	return len(docs.b) == 0 && len(pos.b) == 0 && len(skips) == 0
}

// positions passes over the positions of one row.
func (d *decoder) positions(tf int) bool {
	n := tf
	if tf == maxTF {
		n = d.uint(len(d.b))
		if n < maxTF {
			return false
		}
	}
	at := 0
	for range n {
		for len(d.b) > 0 && d.b[0] == 255 {
			d.b = d.b[1:]
			at += 255
		}
		if len(d.b) == 0 {
			return false
		}
		at += int(d.b[0])
		d.b = d.b[1:]
	}
	return !d.bad && at < math.MaxInt32
}
