package trace

import "strings"

// anchors finds which of a set of short strings occur in a text, in one pass over it. Three
// bytes at a time are looked up in a table of those that begin one of the strings; only where
// the table says perhaps are the strings themselves compared. Each look-up is independent of
// the one before, which an automaton's is not: that costs eight times as much a byte.
type anchors struct {
	begins [1 << hashBits]bool
	list   map[uint32][]anchor // by their first three bytes
}

type anchor struct {
	text  string
	owner int  // 0 to 63
	fold  bool // in any case
}

const hashBits = 16

// newAnchors takes ASCII strings of at least three bytes.
func newAnchors(all []anchor) *anchors {
	a := &anchors{list: map[uint32][]anchor{}}
	for _, s := range all {
		key := three(s.text, 0)
		a.begins[hash(key)] = true
		a.list[key] = append(a.list[key], s)
	}
	return a
}

// three reads three bytes, letters of either case alike.
func three(s string, i int) uint32 {
	return (uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16) | 0x202020
}

// hash spreads three bytes over the table (multiplicative hashing, Knuth, TAOCP 3, 6.4).
func hash(key uint32) uint32 { return key * 0x9E3779B1 >> (32 - hashBits) }

// in returns the owners of the strings that occur in text where near says that more of what
// they belong to may follow, as bits. An owner is asked about until it is found.
func (a *anchors) in(text string, near func(owner int, text string, end int) bool) (found uint64) {
	for i := 0; i+3 <= len(text); i++ {
		key := three(text, i)
		if !a.begins[hash(key)] {
			continue
		}
		for _, s := range a.list[key] {
			end := i + len(s.text)
			if found&(1<<s.owner) == 0 && end <= len(text) && (text[i:end] == s.text || s.fold && strings.EqualFold(text[i:end], s.text)) && near(s.owner, text, end) {
				found |= 1 << s.owner
			}
		}
	}
	return found
}
