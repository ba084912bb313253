package sqlite

import "hash/maphash"

// dict numbers distinct strings from 0 in order of arrival. The strings lie in one
// arena and the hash table holds numbers, so that a million of them are three
// objects to the garbage collector and cost 16 bytes each beside their text.
type dict struct {
	text  []byte
	ends  []uint64 // string i is text[ends[i-1]:ends[i]]
	table []uint32 // open addressing; number+1, 0 is free; length is a power of two
	seed  maphash.Seed
}

func newDict() *dict { return &dict{table: make([]uint32, 16), seed: maphash.MakeSeed()} }

func (d *dict) len() int { return len(d.ends) }

// at returns string i without copying; it must not be kept or changed.
func (d *dict) at(i uint32) []byte {
	var start uint64
	if i > 0 {
		start = d.ends[i-1]
	}
	return d.text[start:d.ends[i]]
}

// str returns string i as a copy.
func (d *dict) str(i uint32) string { return string(d.at(i)) }

// find returns the number of s.
func (d *dict) find(s []byte) (uint32, bool) {
	n := d.table[d.probe(s)]
	return n - 1, n != 0
}

// add returns the number of s, numbering it if it is new.
func (d *dict) add(s []byte) (n uint32, isNew bool) {
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
func (d *dict) probe(s []byte) int {
	last := len(d.table) - 1
	at := int(maphash.Bytes(d.seed, s)) & last
	for d.table[at] != 0 && string(d.at(d.table[at]-1)) != string(s) {
		at = (at + 1) & last
	}
	return at
}

func (d *dict) rehash(size int) {
	d.table = make([]uint32, size)
	last := size - 1
	for i := range d.ends {
		at := int(maphash.Bytes(d.seed, d.at(uint32(i)))) & last
		for d.table[at] != 0 {
			at = (at + 1) & last
		}
		d.table[at] = uint32(i + 1)
	}
}

// memory estimates the bytes held.
func (d *dict) memory() int64 { return int64(cap(d.text) + 8*cap(d.ends) + 4*cap(d.table)) }
