package lexical

import (
	"slices"
	"strings"
)

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
// other registration. In English, words that only make a sentence of a question are left
// out if anything else remains; that takes nothing from the index, and a phrase of them
// is still found by Rows.
func (a *Analyzer) Query(text string) Query {
	r := queryReader{at: map[string]int{}}
	a.scan(text, func(t token) {
		if t.need != detail {
			word, stem := a.names(t)
			r.read(t, Term{Word: word, Stem: stem, Weight: 1})
		}
	})
	q := Query{Terms: r.terms}
	if a.stems != nil {
		q.dropFunctionWords()
	}
	return q
}

// queryReader collects the terms of a query, one for each stem.
type queryReader struct {
	terms  []Term
	at     map[string]int // stem -> index in terms
	spares []int          // terms of the current compound that stand in for it
}

func (r *queryReader) read(t token, term Term) {
	i, seen := r.at[term.Stem]
	switch {
	case !seen:
		i = len(r.terms)
		r.at[term.Stem] = i
		r.terms = append(r.terms, term)
		if t.need == spare {
			r.spares = append(r.spares, i)
		}
	case t.need == wanted:
		r.want(i)
	}
	if t.whole {
		for _, i := range r.spares {
			r.terms[i].Unless = term.Stem
		}
		r.spares = r.spares[:0]
	}
}

// want notes that a term that is there is asked for once more; no spare any longer, if
// it was one.
func (r *queryReader) want(i int) {
	if r.terms[i].Unless == "" {
		r.terms[i].Weight++
	}
	r.terms[i].Unless = ""
}

// Expr returns the expression that matches any of the query's words in all their
// inflections: with Analyzer.Find, what to highlight.
func (q Query) Expr() Expr {
	var words Any
	for _, t := range q.Terms {
		words = append(words, Word{Text: t.Word, Inflections: true})
	}
	return words
}

// functionWords are those of Lucene's English list, and what questions begin with.
// Dropping them gained 0.001 (SciFact), 0.012 (Cranfield) and 0.006 (accident causes)
// of nDCG@10: "what" is rare in reports, and so looks telling.
var functionWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a an and are as at be but by for if in into is it no not of on or such that the
		their then there these they this to was will with what which who whom whose when where why how did does do
		were had has have been from can could would should`) {
		m[w] = true
	}
	return m
}()

func (q *Query) dropFunctionWords() {
	telling := func(t Term) bool { return !functionWords[t.Word] }
	if slices.ContainsFunc(q.Terms, telling) {
		q.Terms = slices.DeleteFunc(q.Terms, func(t Term) bool { return !telling(t) })
	}
}
