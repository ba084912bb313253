package lexical

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
)

// validate looks through a segment that was read, so that nothing in it can lead a
// search astray: keys in order, every list decoding to exactly its rows in order, skips
// that point where they say, positions that add up.
func (s *segment) validate() error {
	defer runtime.KeepAlive(s)
	if !s.keyEnd.rising() || s.keyEnd.last() != len(s.keys) || !s.dataEnd.rising() || s.dataEnd.last() != len(s.data) ||
		!s.zones.end.rising() || s.zones.end.last() != len(s.zones.data) || !s.zones.valid() {
		return fmt.Errorf("pieces do not fit: %w", ErrCorrupt)
	}
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
	skips := l.skips
	ord, i, p := -1, 0, 0
	for range l.df {
		if len(skips) > 0 {
			if last, docs, pos := readSkip(skips); int(last) == ord && int(docs) == i && int(pos) == p {
				skips = skips[skipBytes:]
			}
		}
		step, n := binary.Uvarint(l.docs[i:])
		if i += n; n <= 0 || i >= len(l.docs) || step == 0 || step > uint64(rows-1-ord) || l.docs[i] == 0 {
			return false
		}
		ord += int(step)
		if !bare {
			if p = l.positionsEnd(p, int(l.docs[i])); p < 0 {
				return false
			}
		}
		i++
	}
	return i == len(l.docs) && p == len(l.pos) && len(skips) == 0
}

// positionsEnd returns the end of a row's positions that begin at p, or -1.
func (l list) positionsEnd(p, tf int) int {
	n := tf
	if tf == maxTF {
		count, size := binary.Uvarint(l.pos[p:])
		if size <= 0 || count < maxTF || count > uint64(len(l.pos)) {
			return -1
		}
		n, p = int(count), p+size
	}
	at := 0
	for ; n > 0; p++ {
		if p == len(l.pos) {
			return -1
		}
		at += int(l.pos[p])
		if l.pos[p] != 255 {
			n--
		}
	}
	if at >= math.MaxInt32 {
		return -1
	}
	return p
}
