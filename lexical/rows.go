package lexical

import (
	"math/bits"
	"runtime"
	"slices"
)

// Rows returns the set of rows in which the expression matches, row r being bit r%64 of
// element r/64. It is exact: nothing is read but the index, whose positions cost about
// one byte a word; reading candidates' texts instead would save those and make each of
// them cost some 20 microseconds.
func (ix *Index) Rows(e Expr) []uint64 {
	st := ix.state.Load()
	n := ix.analyzer.compile(e)
	if n == nil {
		return make([]uint64, (st.last+64)/64)
	}
	return st.rowSet(func(s *segment) []uint64 { return s.matching(n) })
}

// RowsIn is Rows for matches that lie in fields of certain zones.
func (ix *Index) RowsIn(e Expr, zones Zones) []uint64 {
	st := ix.state.Load()
	n := ix.analyzer.compile(e)
	return st.rowSet(func(s *segment) []uint64 {
		out := make([]uint64, (len(s.rows)+63)/64)
		if n == nil {
			return out
		}
		for _, m := range spans(s, n, s.candidates(n)) {
			if zones.Has(s.zones.at(int(m.ord), m.start)) {
				out[m.ord>>6] |= 1 << (m.ord & 63)
			}
		}
		return out
	})
}

// Written returns the rows that have any word at all in fields of certain zones.
func (ix *Index) Written(zones Zones) []uint64 {
	return ix.state.Load().rowSet(func(s *segment) []uint64 {
		out := make([]uint64, (len(s.rows)+63)/64)
		for ord := range s.rows {
			if s.zones.meets(ord, zones) {
				out[ord>>6] |= 1 << (ord & 63)
			}
		}
		return out
	})
}

// rowSet joins what segments say by ordinal to a set of rows that are live.
func (st *state) rowSet(of func(*segment) []uint64) []uint64 {
	defer runtime.KeepAlive(st)
	out := make([]uint64, (st.last+64)/64)
	for _, p := range st.parts {
		for i, w := range of(p.seg) {
			for ord := i << 6; w != 0; w, ord = w>>1, ord+1 {
				if w&1 != 0 && !p.removed.has(ord) {
					row := p.seg.rows[ord]
					out[row>>6] |= 1 << (row & 63)
				}
			}
		}
	}
	return out
}

// matching returns the set of ordinals that a node matches.
func (s *segment) matching(n node) []uint64 {
	set := s.candidates(n)
	if isPlain(n) {
		return set
	}
	out := make([]uint64, len(set))
	for _, m := range spans(s, n, set) {
		out[m.ord>>6] |= 1 << (m.ord & 63)
	}
	return out
}

// isPlain reports whether a row matches as soon as it has the words, wherever they are.
func isPlain(n node) bool {
	switch n := n.(type) {
	case leaf:
		return true
	case union:
		return !slices.ContainsFunc(n, func(part node) bool { return !isPlain(part) })
	case every:
		return !slices.ContainsFunc(n, func(part node) bool { return !isPlain(part) })
	}
	return false
}

// candidates returns the rows that have the words of a node, in any order.
func (s *segment) candidates(n node) []uint64 {
	switch n := n.(type) {
	case leaf:
		return s.leafRows(n)
	case sequence:
		return s.intersect(n)
	case every:
		return s.intersect(n)
	case near:
		return s.intersect([]node{n.a, n.b})
	case union:
		out := make([]uint64, (len(s.rows)+63)/64)
		for _, part := range n {
			for i, w := range s.candidates(part) {
				out[i] |= w
			}
		}
		return out
	}
	return make([]uint64, (len(s.rows)+63)/64)
}

func (s *segment) intersect(parts []node) []uint64 {
	out := s.candidates(parts[0])
	for _, part := range parts[1:] {
		for i, w := range s.candidates(part) {
			out[i] &= w
		}
	}
	return out
}

// leafTerms calls f with the terms a leaf matches and the positions each takes.
func (s *segment) leafTerms(l leaf, f func(term, span int)) {
	if l.stem == nil {
		s.prefixed(l.word, f)
		return
	}
	s.members(l.stem, func(t int, word []byte, span int) {
		if l.matches(word, l.stem) {
			f(t, span)
		}
	})
}

func (s *segment) leafRows(l leaf) []uint64 {
	out := make([]uint64, (len(s.rows)+63)/64)
	s.leafTerms(l, func(t, _ int) {
		for c := s.list(t).cursor(); c.next(); {
			out[c.ord>>6] |= 1 << (c.ord & 63)
		}
	})
	return out
}

func (s *segment) leafSpans(l leaf, within []uint64) []span {
	var out []span
	var at []uint32
	terms := 0
	s.leafTerms(l, func(t, width int) {
		terms++
		c := s.list(t).cursor()
		for i, w := range within {
			for ; w != 0; w &= w - 1 {
				ord := i<<6 | bits.TrailingZeros64(w)
				if !c.seek(ord) {
					continue
				}
				at = c.positions(at[:0])
				for j, p := range at {
					if j == 0 || p != at[j-1] { // a weighted field repeats them
						out = append(out, span{uint32(ord), p, p + uint32(width)})
					}
				}
			}
		}
	})
	if terms > 1 {
		return ordered(out)
	}
	return out
}

// Range is a match in a text: its bytes, half open.
type Range struct{ Start, End int }

// Find returns where the expression matches in a text, in order, by the same rules as
// Rows: for snippets, and for texts that are in no index.
func (a *Analyzer) Find(e Expr, text string) []Range {
	src := newTokenSource(a, text)
	var out []Range
	for _, s := range spans(src, a.compile(e), nil) {
		out = append(out, Range{src.atoms[s.start].Start, src.atoms[s.end-1].End})
	}
	return out
}

// tokenSource is the words of one text.
type tokenSource struct {
	tokens []Token
	atoms  []Range // by position
}

func newTokenSource(a *Analyzer, text string) *tokenSource {
	src := &tokenSource{tokens: a.Tokens(text)}
	for _, t := range src.tokens {
		if t.Span == 1 {
			src.atoms = append(src.atoms, Range{t.Start, t.End})
		}
	}
	return src
}

func (src *tokenSource) leafSpans(l leaf, _ []uint64) []span {
	var out []span
	for _, t := range src.tokens {
		if l.matches([]byte(t.Word), []byte(t.Stem)) {
			out = append(out, span{0, uint32(t.Position), uint32(t.Position + min(t.Span, maxSpan))})
		}
	}
	return ordered(out)
}
