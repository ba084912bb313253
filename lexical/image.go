package lexical

import (
	"encoding/binary"
	"fmt"
	"math"
)

// An image is a segment as bytes, in an order in which it can be written as it is made:
//
//	lists    those of the terms end to end (see segment.list)
//	keys     those of the terms end to end
//	         where each key ends, where each list ends (see ends)
//	zones    the layouts of the rows end to end (see layout), and where each ends
//	rows     each row as uvarint distance to the one before (the first: row+1); then the
//	         uvarint length of each
//	         five 64-bit little-endian numbers: bytes of lists, bytes of keys, terms,
//	         bytes of zones, rows
//
// Everything but the rows is used where it lies, in memory or in a mapped file.
const imageFoot = 5 * 8

// afterLists is the image without its lists, which take so many bytes.
func (s *segment) afterLists(lists int) [][]byte {
	foot := make([]byte, 0, imageFoot)
	for _, n := range []int{lists, len(s.keys), s.terms(), len(s.zones.data), len(s.rows)} {
		foot = binary.LittleEndian.AppendUint64(foot, uint64(n))
	}
	return [][]byte{s.keys, s.keyEnd, s.dataEnd, s.zones.data, s.zones.end, s.appendRows(nil), foot}
}

func (s *segment) appendRows(b []byte) []byte {
	before := int64(-1)
	for _, row := range s.rows {
		b = binary.AppendUvarint(b, uint64(int64(row)-before))
		before = int64(row)
	}
	for _, n := range s.lengths {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

// readImage makes a segment of an image, of which it keeps hold. It looks at nothing but
// the rows: what may be damaged is to be validated before use.
func readImage(b []byte) (*segment, error) {
	if len(b) < imageFoot {
		return nil, fmt.Errorf("segment of %d bytes: %w", len(b), ErrCorrupt)
	}
	d := decoder{b: b[:len(b)-imageFoot]}
	var counts [5]int
	for i := range counts {
		n := binary.LittleEndian.Uint64(b[len(d.b)+8*i:])
		if n > uint64(len(b)) {
			return nil, fmt.Errorf("segment of %d bytes holds %d: %w", len(b), n, ErrCorrupt)
		}
		counts[i] = int(n)
	}
	s := &segment{}
	s.data, s.keys = d.bytes(counts[0]), d.bytes(counts[1])
	s.keyEnd, s.dataEnd = d.ends(counts[2]), d.ends(counts[2])
	s.zones.data, s.zones.end = d.bytes(counts[3]), d.ends(counts[4])
	d.rows(s, counts[4])
	if err := d.end(); err != nil {
		return nil, err
	}
	if len(s.rows) == 0 || s.terms() == 0 {
		return nil, fmt.Errorf("empty segment: %w", ErrCorrupt)
	}
	return s, nil
}

func (d *decoder) ends(n int) ends {
	if n > len(d.b)/4 {
		d.bad = true
		return nil
	}
	return d.bytes(4 * n)
}

// rows reads row numbers and lengths. Each takes two bytes at least, so n is bounded by
// what is there.
func (d *decoder) rows(s *segment, n int) {
	if n > len(d.b)/2 {
		d.bad = true
		return
	}
	s.rows, s.lengths = make([]uint32, n), make([]float32, n)
	row := -1
	for i := range s.rows {
		step := d.uint(math.MaxUint32 - row)
		d.bad = d.bad || step == 0
		row += step
		s.rows[i] = uint32(row)
	}
	for i := range s.lengths {
		length := d.uint(maxWeight * maxRowText)
		d.bad = d.bad || length == 0
		s.lengths[i] = float32(length)
		s.total += float64(length)
	}
}
