package check

import (
	"strings"

	"github.com/sextant-rag/sextant"
)

// nameFault finds a name that the evidence does not have. Names are told by their capital:
// a word that begins a sentence is one only if it is no word of the language.
func nameFault(said, have *reading) *fault {
	if said.shouted {
		return nil
	}
	for _, i := range said.content {
		t := &said.tokens[i]
		if !t.upper || len(t.text) < 2 || said.begins(i) && common(t) || have.hasName(t) || have.abbreviates(said, i) {
			continue
		}
		return faulty(sextant.FaultEntity, "%q stands in none of its quotes", t.text)
	}
	return nil
}

// begins reports whether a token begins a sentence, a quotation or a bracket.
func (r *reading) begins(i int) bool {
	if i == r.begin {
		return true
	}
	before := r.at(i - 1)
	return before.kind == mark && before.text != "," && before.text != "-" && before.text != "/" && before.text != "&"
}

// hasName reports whether a text has a word, in whatever case and inflection, or another name
// of the same place or body.
func (r *reading) hasName(t *token) bool {
	if r.stems[t.stem] || r.stems[stem(strings.TrimSuffix(t.lower, "'"))] {
		return true
	}
	for _, other := range otherNames[t.stem] {
		if r.stems[other] {
			return true
		}
	}
	known := common(t)
	for stem := range r.stems {
		if known && derived(stem, t.stem) || alike(stem, t.stem) {
			return true
		}
	}
	return false
}

// abbreviates reports whether a word of a statement stands in the evidence by its initials,
// or is made of the initials of words there: NTSB, National Transportation Safety Board.
func (r *reading) abbreviates(said *reading, i int) bool {
	t := &said.tokens[i]
	if t.text == strings.ToUpper(t.text) && len(t.text) >= 2 && len(t.text) <= 6 {
		return r.initials(t.lower)
	}
	for from := max(0, i-5); from <= i; from++ {
		var letters strings.Builder
		for k := from; k < min(from+7, len(said.tokens)); k++ {
			w := &said.tokens[k]
			if w.kind != word || !w.upper && !functionWords[w.lower] {
				break
			}
			if w.upper {
				letters.WriteByte(w.lower[0])
			}
			if k >= i && letters.Len() >= 2 && r.stems[letters.String()] {
				return true
			}
		}
	}
	return false
}

// initials reports whether words in a row begin with those letters.
func (r *reading) initials(letters string) bool {
	for i := range r.tokens {
		rest := letters
		for k := i; k < len(r.tokens) && rest != ""; k++ {
			t := &r.tokens[k]
			if t.kind == word && t.lower[0] == rest[0] {
				rest = rest[1:]
			} else if k == i || t.kind == word && !functionWords[t.lower] || t.kind == mark && t.text != "-" {
				break
			}
		}
		if rest == "" {
			return true
		}
	}
	return false
}
