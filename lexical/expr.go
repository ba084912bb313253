package lexical

import (
	"bytes"
	"slices"
	"strings"
)

// Expr is a condition on the words of a row: Word, Prefix, Phrase, Any, All or Near. It
// holds where it has a match, a run of positions. Distances are in atoms: see the
// package comment.
type Expr interface{ isExpr() }

// Word matches a word as written, whatever its case; with Inflections any word of its
// stem. Text of several atoms ("N-123AB", "91.409(b)") matches them one after the other,
// however they are tied, and "take-off" also "takeoff".
type Word struct {
	Text        string
	Inflections bool
}

// Prefix matches the words that begin with Text. Of several atoms the last is the
// prefix: "PA-28-1" matches PA28-161.
type Prefix struct{ Text string }

// Phrase matches its parts one after the other. Parts without a word in them, such as
// "&", are passed over.
type Phrase []Expr

// Any matches where one of its parts does.
type Any []Expr

// All matches, where every part does, at each of their matches.
type All []Expr

// Near matches from A to B or B to A with at most Words atoms between them, at most
// MaxNear. They do not overlap.
type Near struct {
	A, B  Expr
	Words int
}

// MaxNear is the largest distance that Near looks at.
const MaxNear = 63

func (Word) isExpr()   {}
func (Prefix) isExpr() {}
func (Phrase) isExpr() {}
func (Any) isExpr()    {}
func (All) isExpr()    {}
func (Near) isExpr()   {}

// ParsePhrase reads words in order, those that end in an asterisk as prefixes:
// "mast bump*". It never fails; text without a word matches nothing.
func ParsePhrase(text string) Expr {
	var p Phrase
	for _, field := range strings.Fields(text) {
		if head, ok := strings.CutSuffix(field, "*"); ok {
			p = append(p, Prefix{head})
		} else {
			p = append(p, Word{Text: field})
		}
	}
	return p
}

// node is an expression compiled for an analyzer; nil matches nothing.
type node interface{ isNode() }

type (
	// leaf matches single words.
	leaf struct {
		word   []byte // the word or prefix
		stem   []byte // nil for a prefix
		family bool   // every word of the stem
	}
	sequence []node
	union    []node
	every    []node
	near     struct {
		a, b  node
		words uint32
	}
)

func (leaf) isNode()     {}
func (sequence) isNode() {}
func (union) isNode()    {}
func (every) isNode()    {}
func (near) isNode()     {}

func (a *Analyzer) compile(e Expr) node {
	switch e := e.(type) {
	case Word:
		return a.compileWord(e)
	case Prefix:
		atoms := a.leaves(e.Text, false)
		if len(atoms) > 0 {
			last := atoms[len(atoms)-1].(leaf)
			atoms[len(atoms)-1] = leaf{word: last.word}
		}
		return sequenceOf(atoms)
	case Phrase:
		return sequenceOf(a.compileAll(e))
	case Any:
		return union(a.compileAll(e))
	case All:
		parts := a.compileAll(e)
		if len(parts) < len(e) {
			return nil
		}
		return every(parts)
	case Near:
		x, y := a.compile(e.A), a.compile(e.B)
		if x == nil || y == nil {
			return nil
		}
		return near{x, y, uint32(min(max(e.Words, 0), MaxNear))}
	}
	return nil
}

// compileAll compiles the parts that can match.
func (a *Analyzer) compileAll(parts []Expr) []node {
	var out []node
	for _, p := range parts {
		if n := a.compile(p); n != nil {
			out = append(out, n)
		}
	}
	return out
}

func sequenceOf(parts []node) node {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	return sequence(parts)
}

// compileWord matches the atoms in a row or, if they are letters, joined.
func (a *Analyzer) compileWord(w Word) node {
	atoms := sequenceOf(a.leaves(w.Text, w.Inflections))
	var joined node
	a.scan(w.Text, func(t token) {
		if t.whole && t.alpha {
			joined = a.leaf(t, w.Inflections)
		}
	})
	if joined != nil && !strings.ContainsAny(strings.TrimSpace(w.Text), " \t\n") {
		return union{atoms, joined}
	}
	return atoms
}

func (a *Analyzer) leaves(text string, family bool) []node {
	var out []node
	a.scan(text, func(t token) {
		if t.span == 1 {
			out = append(out, a.leaf(t, family))
		}
	})
	return out
}

func (a *Analyzer) leaf(t token, family bool) leaf {
	word, stem := a.names(t)
	return leaf{word: []byte(word), stem: []byte(stem), family: family}
}

// matches reports whether a leaf matches a word with its stem.
func (l leaf) matches(word, stem []byte) bool {
	switch {
	case l.stem == nil:
		return bytes.HasPrefix(word, l.word)
	case l.family:
		return bytes.Equal(stem, l.stem)
	}
	return bytes.Equal(word, l.word)
}

// source is where the matches of leaves come from: a segment, or one text.
type source interface {
	// leafSpans returns the matches of a leaf in the rows set in within, in order. For
	// a single text, within means nothing.
	leafSpans(l leaf, within []uint64) []span
}

// span is a match: positions start to end, half open, of the row ord.
type span struct{ ord, start, end uint32 }

func compareSpans(a, b span) int {
	switch {
	case a.ord != b.ord:
		return cmpUint(a.ord, b.ord)
	case a.start != b.start:
		return cmpUint(a.start, b.start)
	}
	return cmpUint(a.end, b.end)
}

func cmpUint(a, b uint32) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// spans returns the matches of a node in order, each once.
func spans(src source, n node, within []uint64) []span {
	switch n := n.(type) {
	case leaf:
		return src.leafSpans(n, within)
	case sequence:
		out := spans(src, n[0], within)
		for _, part := range n[1:] {
			if len(out) == 0 {
				return nil
			}
			within = narrowed(within, out)
			out = follow(out, spans(src, part, within))
		}
		return out
	case union:
		var out []span
		for _, part := range n {
			out = append(out, spans(src, part, within)...)
		}
		return ordered(out)
	case every:
		return allOf(src, n, within)
	case near:
		return nearby(spans(src, n.a, within), spans(src, n.b, within), n.words)
	}
	return nil
}

// narrowed returns the part of within that has a match among some.
func narrowed(within []uint64, some []span) []uint64 {
	if within == nil {
		return nil
	}
	out := make([]uint64, len(within))
	for _, s := range some {
		out[s.ord>>6] |= 1 << (s.ord & 63)
	}
	return out
}

func ordered(s []span) []span {
	slices.SortFunc(s, compareSpans)
	return slices.Compact(s)
}

// follow returns the matches of a that one of b begins right behind, as one.
func follow(a, b []span) []span {
	byEnd := slices.Clone(a)
	slices.SortFunc(byEnd, func(x, y span) int {
		return compareSpans(span{x.ord, x.end, x.start}, span{y.ord, y.end, y.start})
	})
	var out []span
	j := 0
	for _, x := range byEnd {
		for j < len(b) && (b[j].ord < x.ord || b[j].ord == x.ord && b[j].start < x.end) {
			j++
		}
		for k := j; k < len(b) && b[k].ord == x.ord && b[k].start == x.end; k++ {
			out = append(out, span{x.ord, x.start, b[k].end})
		}
	}
	return ordered(out)
}

// nearby returns what reaches from a match of a to one of b, or back, with at most
// words between them.
func nearby(a, b []span, words uint32) []span {
	longest := uint32(0)
	for _, y := range b {
		longest = max(longest, y.end-y.start)
	}
	var out []span
	j := 0
	for _, x := range a {
		reach := longest + words
		for j < len(b) && (b[j].ord < x.ord || b[j].ord == x.ord && b[j].start+reach < x.start) {
			j++
		}
		for k := j; k < len(b) && b[k].ord == x.ord && b[k].start <= x.end+words; k++ {
			y := b[k]
			if y.start >= x.end || y.end <= x.start && x.start-y.end <= words {
				out = append(out, span{x.ord, min(x.start, y.start), max(x.end, y.end)})
			}
		}
	}
	return ordered(out)
}

// allOf returns the matches of all parts in the rows that every part matches.
func allOf(src source, parts every, within []uint64) []span {
	var out []span
	rows := map[uint32]int{} // row -> parts seen
	for i, part := range parts {
		for _, s := range spans(src, part, within) {
			if rows[s.ord] == i {
				rows[s.ord] = i + 1
			}
			if rows[s.ord] == i+1 {
				out = append(out, s)
			}
		}
	}
	out = slices.DeleteFunc(out, func(s span) bool { return rows[s.ord] < len(parts) })
	return ordered(out)
}
