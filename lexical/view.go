package lexical

// A View is an index as of one moment: however often it is asked, the same rows and the
// same statistics answer. It costs nothing and holds on to what it sees.
type View struct {
	ix *Index
	st *state
}

// View returns the index as it is now.
func (ix *Index) View() View { return View{ix, ix.state.Load()} }

// Analyzer returns the one the index was made with.
func (v View) Analyzer() *Analyzer { return v.ix.analyzer }

// Search is [Index.Search] as of the view.
func (v View) Search(q Query, p BM25, mask []uint64, k int) Result {
	return v.ix.search(v.st, q, p, mask, k)
}

// SearchNear is [Index.SearchNear] as of the view.
func (v View) SearchNear(q Query, p BM25, mask []uint64, k int, order func(a, b uint32) int) Result {
	return v.ix.searchNear(v.st, q, p, mask, k, order)
}
