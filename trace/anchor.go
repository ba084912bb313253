package trace

// anchors finds which of a set of short strings occur in a text, in one pass over it: the
// automaton of Aho and Corasick (CACM 18, 1975) with all transitions written out. With
// dozens of strings it costs a fraction of looking for each.
type anchors struct {
	next [][256]uint16 // by state and byte
	ends []uint64      // by state: the owners of the strings that end there, as bits
}

// newAnchors takes strings with their owners, 0 to 63. The strings together must have
// fewer than 65,536 bytes.
func newAnchors(owners map[string]int) *anchors {
	a := &anchors{next: make([][256]uint16, 1), ends: make([]uint64, 1)}
	for s, owner := range owners {
		state := uint16(0)
		for i := range len(s) {
			if a.next[state][s[i]] == 0 {
				a.next[state][s[i]] = uint16(len(a.next))
				a.next, a.ends = append(a.next, [256]uint16{}), append(a.ends, 0)
			}
			state = a.next[state][s[i]]
		}
		a.ends[state] |= 1 << owner
	}
	a.link()
	return a
}

// link turns the tree of strings into the automaton, breadth first: where a state has no
// way on, it goes where the longest suffix of what was read would.
func (a *anchors) link() {
	suffix := make([]uint16, len(a.next))
	var queue []uint16
	for _, s := range a.next[0] {
		if s != 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		a.ends[state] |= a.ends[suffix[state]]
		for c, s := range a.next[state] {
			if s == 0 {
				a.next[state][c] = a.next[suffix[state]][c]
				continue
			}
			suffix[s] = a.next[suffix[state]][c]
			queue = append(queue, s)
		}
	}
}

// in returns the owners of the strings that occur in text, as bits.
func (a *anchors) in(text string) (found uint64) {
	state := uint16(0)
	for i := range len(text) {
		state = a.next[state][text[i]]
		found |= a.ends[state]
	}
	return found
}
