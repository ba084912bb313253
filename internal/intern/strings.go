// Package intern numbers strings, millions of them, at little more than their bytes.
package intern

import (
	"errors"
	"hash/maphash"
	"math/bits"
	"sort"
	"unsafe"
)

// Strings numbers distinct strings from 0 in order of arrival. The strings lie in one
// arena and the hash table holds numbers, so that a million of them are three
// objects to the garbage collector and cost 10 to 13 bytes each beside their text.
//
// One goroutine may add while none reads; a copy of a Strings goes on saying what it said
// when it was made, At and Str alone, whatever is added to the original.
type Strings struct {
	text  []byte
	ends  []uint32 // where each ends in text, modulo 2^32
	wraps []int    // the first string that ends at 2^32 or later, at 2^33 or later, ...
	table []uint32 // open addressing; number+1, 0 is free
	seed  maphash.Seed
}

// ErrEnds is what Of says of ends that do not divide the text.
var ErrEnds = errors.New("ends of strings do not fit their text")

// The table grows by half when two thirds are full: by doubling at half, as is usual, it
// would be three quarters empty right after, which for a million strings is what they cost.
const smallest = 16

func (d *Strings) full() bool { return 3*len(d.ends) >= 2*len(d.table) }

// New returns an empty set.
func New() *Strings { return &Strings{table: make([]uint32, smallest), seed: maphash.MakeSeed()} }

// Of returns the strings that lie end to end in text, which it keeps, each ending where
// ends says. They must be distinct.
func Of(text []byte, ends []uint64) (*Strings, error) {
	d := &Strings{text: text, ends: make([]uint32, 0, len(ends)), seed: maphash.MakeSeed()}
	last := uint64(0)
	for _, end := range ends {
		if end < last || end > uint64(len(text)) {
			return nil, ErrEnds
		}
		d.addEnd(end)
		last = end
	}
	d.rehash(max(smallest, 2*len(ends)))
	return d, nil
}

// addEnd says where the next string ends.
func (d *Strings) addEnd(end uint64) {
	for uint64(len(d.wraps)) < end>>32 {
		d.wraps = append(d.wraps, len(d.ends))
	}
	d.ends = append(d.ends, uint32(end))
}

// Len is how many there are.
func (d *Strings) Len() int { return len(d.ends) }

// Text returns all of them end to end. It must not be changed.
func (d *Strings) Text() []byte { return d.text }

// End returns where in Text string i ends.
func (d *Strings) End(i uint32) uint64 {
	high := 0
	for high < len(d.wraps) && d.wraps[high] <= int(i) {
		high++
	}
	return uint64(high)<<32 | uint64(d.ends[i])
}

// With returns the string that has the byte of Text at a place, which must not lie before
// string first.
func (d *Strings) With(place uint64, first uint32) uint32 {
	n := sort.Search(d.Len()-int(first), func(i int) bool { return d.End(first+uint32(i)) > place })
	return first + uint32(n)
}

// At returns string i without copying; it must not be kept or changed.
func (d *Strings) At(i uint32) []byte {
	var start uint64
	if i > 0 {
		start = d.End(i - 1)
	}
	return d.text[start:d.End(i)]
}

// Str returns string i as a copy.
func (d *Strings) Str(i uint32) string { return string(d.At(i)) }

// Bytes returns the bytes of a string without copying, for Find and Add; they must not be
// changed.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Find returns the number of s.
func (d *Strings) Find(s []byte) (uint32, bool) {
	n := d.table[d.probe(s)]
	return n - 1, n != 0
}

// Add returns the number of s, numbering it if it is new.
func (d *Strings) Add(s []byte) (n uint32, isNew bool) {
	if d.full() {
		d.rehash(len(d.table) + len(d.table)/2)
	}
	at := d.probe(s)
	if n := d.table[at]; n != 0 {
		return n - 1, false
	}
	d.text = append(d.text, s...)
	d.addEnd(uint64(len(d.text)))
	d.table[at] = uint32(len(d.ends))
	return uint32(len(d.ends) - 1), true
}

// probe returns the place in the table where s is, or where it would go.
func (d *Strings) probe(s []byte) int {
	at := d.home(s)
	for d.table[at] != 0 && string(d.At(d.table[at]-1)) != string(s) {
		at = d.after(at)
	}
	return at
}

// home is where in the table the search for s begins: its hash as a fraction of 2^64,
// scaled to the table's length, which need not be a power of two.
func (d *Strings) home(s []byte) int {
	high, _ := bits.Mul64(maphash.Bytes(d.seed, s), uint64(len(d.table)))
	return int(high)
}

func (d *Strings) after(at int) int {
	if at++; at < len(d.table) {
		return at
	}
	return 0
}

func (d *Strings) rehash(size int) {
	d.table = make([]uint32, size)
	for i := range d.ends {
		at := d.home(d.At(uint32(i)))
		for d.table[at] != 0 {
			at = d.after(at)
		}
		d.table[at] = uint32(i + 1)
	}
}

// Memory estimates the bytes held.
func (d *Strings) Memory() int64 {
	return int64(cap(d.text) + 4*cap(d.ends) + 4*cap(d.table))
}
