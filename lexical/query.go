package lexical

// Query is a question as the words it asks for. Everything in a text is a word: there
// are no operators, so no question can be malformed.
type Query struct {
	Terms []Term
}

// Term is a word of a query. It stands for all words of its stem.
type Term struct {
	Word   string  // as folded from the question
	Stem   string  // what it is matched by
	Weight float32 // how often it was asked for; the caller may change it
	// Unless is the stem of an identifier that this term stands in for: it counts
	// only if no row has that. "" for all other terms.
	Unless string
}

// Query reads the words of a question. An identifier is asked for whole and by the
// beginnings that name its family: "PA-28-161" also finds a PA-28, but "N123AB" no
// other registration.
func (a *Analyzer) Query(text string) Query {
	var q Query
	var spares []int // terms of the current compound that stand in for it
	a.scan(text, func(t token) {
		if t.need == detail {
			return
		}
		word, stem := a.names(t)
		at := q.add(Term{Word: word, Stem: stem, Weight: 1}, t.need == spare)
		switch {
		case t.need == spare && at >= 0:
			spares = append(spares, at)
		case t.whole:
			for _, i := range spares {
				q.Terms[i].Unless = stem
			}
			spares = spares[:0]
		}
	})
	return q
}

// add appends a term or, if its stem is there, raises that one's weight. A spare that
// is asked for anyway is not needed. It returns the index of a term added, or -1.
func (q *Query) add(t Term, spare bool) int {
	for i := range q.Terms {
		old := &q.Terms[i]
		if old.Stem != t.Stem {
			continue
		}
		if !spare {
			if old.Unless == "" {
				old.Weight += t.Weight
			}
			old.Unless = ""
		}
		return -1
	}
	q.Terms = append(q.Terms, t)
	return len(q.Terms) - 1
}
