// Package intern numbers strings, millions of them, at little more than their bytes.
package intern

import (
	"errors"
	"hash/maphash"
)

// Strings numbers distinct strings from 0 in order of arrival. The strings lie in one
// arena and the hash table holds numbers, so that a million of them are three
// objects to the garbage collector and cost 16 to 24 bytes each beside their text.
//
// One goroutine may add while none reads; a copy of a Strings goes on saying what it said
// when it was made, At and Str alone, whatever is added to the original.
type Strings struct {
	text  []byte
	ends  []uint64 // string i is text[ends[i-1]:ends[i]]
	table []uint32 // open addressing; number+1, 0 is free; length is a power of two
	seed  maphash.Seed
}

// ErrEnds is what Of says of ends that do not divide the text.
var ErrEnds = errors.New("ends of strings do not fit their text")

const smallest = 16

// New returns an empty set.
func New() *Strings { return &Strings{table: make([]uint32, smallest), seed: maphash.MakeSeed()} }

// Of returns the strings that lie end to end in text, which it keeps. They must be
// distinct.
func Of(text []byte, ends []uint64) (*Strings, error) {
	last := uint64(0)
	for _, end := range ends {
		if end < last || end > uint64(len(text)) {
			return nil, ErrEnds
		}
		last = end
	}
	size := smallest
	for size < 2*len(ends)+2 {
		size *= 2
	}
	d := &Strings{text: text, ends: ends, seed: maphash.MakeSeed()}
	d.rehash(size)
	return d, nil
}

// Len is how many there are.
func (d *Strings) Len() int { return len(d.ends) }

// Text returns all of them end to end, and Ends where each ends. Neither must be changed.
func (d *Strings) Text() []byte { return d.text }

// Ends returns where in Text each ends.
func (d *Strings) Ends() []uint64 { return d.ends }

// At returns string i without copying; it must not be kept or changed.
func (d *Strings) At(i uint32) []byte {
	var start uint64
	if i > 0 {
		start = d.ends[i-1]
	}
	return d.text[start:d.ends[i]]
}

// Str returns string i as a copy.
func (d *Strings) Str(i uint32) string { return string(d.At(i)) }

// Find returns the number of s.
func (d *Strings) Find(s []byte) (uint32, bool) {
	n := d.table[d.probe(s)]
	return n - 1, n != 0
}

// Add returns the number of s, numbering it if it is new.
func (d *Strings) Add(s []byte) (n uint32, isNew bool) {
	if 2*len(d.ends) >= len(d.table) {
		d.rehash(2 * len(d.table))
	}
	at := d.probe(s)
	if n := d.table[at]; n != 0 {
		return n - 1, false
	}
	d.text = append(d.text, s...)
	d.ends = append(d.ends, uint64(len(d.text)))
	d.table[at] = uint32(len(d.ends))
	return uint32(len(d.ends) - 1), true
}

// probe returns the place in the table where s is, or where it would go.
func (d *Strings) probe(s []byte) int {
	last := len(d.table) - 1
	at := int(maphash.Bytes(d.seed, s)) & last
	for d.table[at] != 0 && string(d.At(d.table[at]-1)) != string(s) {
		at = (at + 1) & last
	}
	return at
}

func (d *Strings) rehash(size int) {
	d.table = make([]uint32, size)
	last := size - 1
	for i := range d.ends {
		at := int(maphash.Bytes(d.seed, d.At(uint32(i)))) & last
		for d.table[at] != 0 {
			at = (at + 1) & last
		}
		d.table[at] = uint32(i + 1)
	}
}

// Memory estimates the bytes held.
func (d *Strings) Memory() int64 {
	return int64(cap(d.text) + 8*cap(d.ends) + 4*cap(d.table))
}
