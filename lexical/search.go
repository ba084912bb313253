package lexical

import (
	"cmp"
	"math"
	"runtime"
	"slices"
)

// BM25 are the constants of the ranking formula; see Search.
type BM25 struct{ K1, B float32 }

// DefaultBM25 is what Anserini and Pyserini use on passages (k1 0.9, b 0.4; Yang, Fang
// and Lin 2017): short texts of one kind need less correction for length than the
// 1.2 and 0.75 that Robertson's group found on news of very mixed length.
var DefaultBM25 = BM25{K1: 0.9, B: 0.4}

// MaxQueryTerms is how many terms of a query count. Of a longer one, the rarest do.
const MaxQueryTerms = 64

// Result is what a search found.
type Result struct {
	Hits  []Hit
	Terms []Matched // the terms that counted, the most telling first
}

// Hit is a row found. Rows of equal score are in order of their numbers.
type Hit struct {
	Row   uint32
	Score float32
	Terms uint64 // bit i: the row has Result.Terms[i]
}

// Matched is a term of the query that some row has.
type Matched struct {
	Term
	Rows int     // that have it
	IDF  float32 // ln(1 + (N - Rows + 0.5) / (Rows + 0.5)) of N rows
}

// Search returns the k best rows whose bit is set in mask, row r being bit r%64 of
// mask[r/64]; rows beyond it are not set, and a nil mask lets all pass. A mask does not
// change scores: they come from all rows in the index.
//
//	score(row) = sum over terms t of weight(t) * idf(t) * f / (f + K1*(1 - B + B*length/average))
//
// f is how often words of the term's stem occur in the row, each times the weight of
// its field, length the number of atoms of the row counted the same way. That is BM25
// (Robertson and Zaragoza 2009) with the idf of Lucene, which is never negative, and
// without the constant factor K1+1; weighted fields are the linear combination of
// frequencies of Robertson, Zaragoza and Taylor (2004). Frequencies above 255 count as
// 255. Sums are float32, taken in the order of Result.Terms, so equal texts get
// equal scores.
func (ix *Index) Search(q Query, p BM25, mask []uint64, k int) Result {
	return ix.search(ix.state.Load(), q, p, mask, k)
}

func (ix *Index) search(st *state, q Query, p BM25, mask []uint64, k int) Result {
	defer runtime.KeepAlive(st)
	res := Result{Terms: st.weigh(q)}
	if k <= 0 || len(res.Terms) == 0 {
		return res
	}
	sc, _ := ix.scorers.Get().(*scorer)
	if sc == nil {
		sc = &scorer{}
	}
	sc.begin(st, p, k)
	for i := range st.parts {
		sc.part(&st.parts[i], res.Terms, mask)
	}
	res.Hits = sc.top.sorted()
	st.explain(res)
	ix.scorers.Put(sc)
	return res
}

// weigh looks the query's terms up and returns those that some row has, in order of
// what they can add to a score.
func (st *state) weigh(q Query) []Matched {
	rows := make(map[string]int, len(q.Terms))
	for _, t := range q.Terms {
		rows[t.Stem] = st.rowsWith(t.Stem)
	}
	out := make([]Matched, 0, len(q.Terms))
	for _, t := range q.Terms {
		n := rows[t.Stem]
		if n == 0 || t.Weight <= 0 || t.Unless != "" && rows[t.Unless] > 0 {
			continue
		}
		idf := math.Log(1 + (float64(st.rows)-float64(n)+0.5)/(float64(n)+0.5))
		out = append(out, Matched{Term: t, Rows: n, IDF: float32(idf)})
	}
	slices.SortStableFunc(out, func(a, b Matched) int { return cmp.Compare(b.factor(), a.factor()) })
	return out[:min(len(out), MaxQueryTerms)]
}

// factor is the most the term can add to a score.
func (m Matched) factor() float32 { return m.Weight * m.IDF }

// rowsWith counts the rows that have a word of the stem.
func (st *state) rowsWith(stem string) int {
	if st.whole != nil {
		return st.whole.With[stem]
	}
	n := 0
	for i := range st.parts {
		n += st.parts[i].rowsWith(stem)
	}
	return n
}

func (p *part) rowsWith(stem string) int {
	t := p.seg.family([]byte(stem))
	if t < 0 {
		return 0
	}
	l := p.seg.list(t)
	if p.removed == nil {
		return l.df
	}
	if gone, ok := p.removed.sizes.Load(stem); ok {
		return l.df - gone.(int)
	}
	gone := 0
	for c := l.cursor(); c.next(); {
		if p.removed.has(c.ord) {
			gone++
		}
	}
	p.removed.sizes.Store(stem, gone)
	return l.df - gone
}

// explain sets the terms of each hit.
func (st *state) explain(res Result) {
	var lists []cursor // by term, in the part at hand; empty for one that it lacks
	st.rising(res.Hits, func(s *segment) {
		lists = lists[:0]
		for _, t := range res.Terms {
			var c cursor
			if f := s.family([]byte(t.Stem)); f >= 0 {
				c = s.list(f).cursor()
			}
			lists = append(lists, c)
		}
	}, func(i, ord int) {
		for j := range lists {
			if lists[j].df > 0 && lists[j].has(ord) {
				res.Hits[i].Terms |= 1 << j
			}
		}
	})
}

// rising calls row for each hit that is still there, with its place among the hits and
// its ordinal, in the order of rows, in which lists are read; and enter before the first
// of each segment.
func (st *state) rising(hits []Hit, enter func(*segment), row func(i, ord int)) {
	order := make([]int, len(hits))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(hits[a].Row, hits[b].Row) })
	var in *segment
	for _, i := range order {
		p, ord := st.locate(hits[i].Row)
		if p == nil || p.removed.has(ord) {
			continue
		}
		if p.seg != in {
			in = p.seg
			enter(in)
		}
		row(i, ord)
	}
}
