package generate

import (
	"sync"

	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/lexical/thesaurus"
)

// How much a word says of a term that it is not itself.
const (
	synonymous = 0.6
	derivative = 0.7
	kindOf     = 0.65
)

// longStem is the length in bytes from which a stem can be told to be made of another.
const longStem = 5

// vocabulary is what can stand for some terms. Terms go by their number from here on: a
// question is matched with every word of every document that was found for it. Its tables are
// used again for another question once it is released.
type vocabulary struct {
	terms []string // distinct stems
	heads map[string]int32
	hits  []hit // lists of one stem each, linked by next
}

// hit is a term that a stem can stand for, and how surely.
type hit struct {
	term     int32
	next     int32 // 0: the last one; hits[0] is none
	strength float64
}

var vocabularies = sync.Pool{New: func() any { return &vocabulary{heads: map[string]int32{}, hits: make([]hit, 1)} }}

// release gives the tables back. The vocabulary is not to be used afterwards.
func (v *vocabulary) release() {
	if len(v.hits) > mostPooled {
		return
	}
	clear(v.heads)
	v.terms, v.hits = nil, v.hits[:1]
	vocabularies.Put(v)
}

// mostPooled bounds the tables that are kept: one question of many words must not make clearing
// dear for all that follow.
const mostPooled = 2048

func vocabularyOf(terms []string) *vocabulary {
	v := vocabularies.Get().(*vocabulary)
	v.terms = terms
	add := func(stem string, term int, strength float64) {
		v.hits = append(v.hits, hit{int32(term), v.heads[stem], strength})
		v.heads[stem] = int32(len(v.hits) - 1)
	}
	for i, t := range terms {
		add(t, i, 1)
		for s := range thesaurus.Meaning(t) {
			add(s, i, synonymous)
		}
		for _, s := range thesaurus.Kinds(t) {
			add(s, i, kindOf)
		}
	}
	return v
}

// numbers are those of some terms, in their order; what is no term has none.
func (v *vocabulary) numbers(terms []string) []int {
	out := make([]int, 0, len(terms))
	for _, t := range terms {
		for i, known := range v.terms {
			if t == known {
				out = append(out, i)
			}
		}
	}
	return out
}

// match notes what a text says of the terms.
func (v *vocabulary) match(text string, into matches) {
	lexical.English().Each(text, func(_, stem string) {
		for at := v.heads[stem]; at > 0; at = v.hits[at].next {
			h := v.hits[at]
			into[h.term] = max(into[h.term], h.strength)
		}
		if len(stem) < longStem {
			return
		}
		for i, t := range v.terms {
			if len(t) >= longStem && t[0] == stem[0] && t != stem && derived(t, stem) {
				into[i] = max(into[i], derivative)
			}
		}
	})
}

// matches is what a text says of each term of a vocabulary: 1 for the word itself, less for
// others that can mean it, 0 where it does not speak of it.
type matches []float64

// add joins what another text says, at a strength.
func (m matches) add(other matches, strength float64) {
	for i, s := range other {
		m[i] = max(m[i], strength*s)
	}
}

// share is how much of some terms, weighted by rarity, is said.
func (m matches) share(terms []int, weights []float64) float64 {
	var all, got float64
	for _, t := range terms {
		all += weights[t]
		got += weights[t] * m[t]
	}
	if all == 0 {
		return 0
	}
	return got / all
}

// ofAll is the share of all terms that is said.
func (m matches) ofAll(weights []float64) float64 {
	var all, got float64
	for t, w := range weights {
		all += w
		got += w * m[t]
	}
	if all == 0 {
		return 0
	}
	return got / all
}

// derived reports whether one stem is made of the other: collid and collis, depart and
// departur.
func derived(a, b string) bool {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n >= longStem && n >= min(len(a), len(b))-2 && max(len(a), len(b))-n <= 5
}
