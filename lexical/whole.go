package lexical

// Whole is what is known of a corpus of which an index holds a part: the rows that could
// be among the best for a question, found by other means. With it they score as they
// would in an index of the whole.
type Whole struct {
	Rows   int            // that have words
	Length float64        // atoms of all of them
	With   map[string]int // rows that have a word of the stem, for each stem of the query
}

// SearchNearIn is SearchNear with scores as of the whole corpus. The rows of the index
// must be all that could be among its best.
func (ix *Index) SearchNearIn(w Whole, q Query, p BM25, k int, order func(a, b uint32) int) Result {
	st := *ix.state.Load()
	st.whole = &w
	st.rows, st.length = w.Rows, w.Length
	return ix.searchNear(&st, q, p, nil, k, order)
}

// SearchIn is Search, in the same way.
func (ix *Index) SearchIn(w Whole, q Query, p BM25, k int) Result {
	st := *ix.state.Load()
	st.whole = &w
	st.rows, st.length = w.Rows, w.Length
	return ix.search(&st, q, p, nil, k)
}

// Weigh returns the terms of a query that count in a whole corpus, as Search does.
func (w Whole) Weigh(q Query) []Matched {
	st := state{whole: &w, rows: w.Rows, length: w.Length}
	return st.weigh(q)
}

// Factor is the most the term can add to a score.
func (m Matched) Factor() float32 { return m.factor() }
