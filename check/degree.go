package check

import (
	"strings"

	"github.com/sextant-rag/sextant"
)

// degreeFault finds that a statement goes further than its evidence, or less far: all for
// some, must for may, exactly for about, both for one.
func degreeFault(said, have *reading) *fault {
	for _, rule := range []func(said, have *reading) *fault{quantifierFault, modalFault, exactFault, bothFault, sexFault} {
		if f := rule(said, have); f != nil {
			return f
		}
	}
	return nil
}

// Quantifiers, by what they say of how many.
const (
	all = iota + 1
	many
	some
	few
	none
)

var quantifiers = map[string]int{"all": all, "every": all, "each": all, "most": many, "many": many, "numerous": many, "several": some, "some": some, "certain": some, "few": few, "no": none, "none": none}

// quantifierFault finds that more or fewer of something are meant than the evidence says.
func quantifierFault(said, have *reading) *fault {
	for i := range said.tokens {
		mine := said.quantifier(i)
		of := said.quantified(i)
		if mine == 0 || of < 0 {
			continue
		}
		own, other := false, ""
		for k := range have.tokens {
			t := &have.tokens[k]
			if t.kind != word || !alikeWords(t, &said.tokens[of]) {
				continue
			}
			switch theirs, text := have.quantifiedBy(k); {
			case theirs == 0:
			case theirs == mine:
				own = true
			case mine == all && theirs != none || mine == few && theirs != none || mine == many && theirs == few || mine == none && theirs == some:
				other = text
			}
		}
		if !own && other != "" {
			return faulty(sextant.FaultComparison, "it says %q where its quotes say %q", said.tokens[i].text, other)
		}
	}
	return nil
}

// quantifier returns what token i says of how many, 0 for nothing.
func (r *reading) quantifier(i int) int {
	t := &r.tokens[i]
	if t.kind != word || t.taken || t.lower == "no" && r.at(i+1).text == "." || t.lower == "few" && r.at(i-1).lower == "a" || (t.lower == "most" || t.lower == "all") && r.at(i-1).lower == "at" || t.lower == "all" && r.at(i-1).lower == "not" {
		return 0
	}
	return quantifiers[t.lower]
}

// quantified returns the word that a quantifier at token i is about, -1 for none.
func (r *reading) quantified(i int) int {
	last := -1
	for k := i + 1; k < min(i+6, len(r.tokens)); k++ {
		t := &r.tokens[k]
		switch {
		case t.kind == word && !functionWords[t.lower] && !r.verb(k):
			last = k
		case last >= 0 || t.kind != word || t.lower != "of" && t.lower != "the" && t.lower != "his" && t.lower != "her" && t.lower != "its" && t.lower != "their":
			return last
		}
	}
	return last
}

// quantifiedBy returns what is said right before token k of how many of it there are. A
// number or a share is some.
func (r *reading) quantifiedBy(k int) (quantifier int, text string) {
	for j := k - 1; j >= max(0, k-4); j-- {
		t := &r.tokens[j]
		if q := r.quantifier(j); q != 0 {
			return q, t.text
		}
		for _, q := range r.quantities {
			if q.end == j+1 && (q.unit == "percent" || q.unit == "" && r.at(q.end).lower == "of") {
				return some, q.written + " " + q.unit
			}
		}
		if t.kind == mark && t.text != "%" {
			return 0, ""
		}
	}
	return 0, ""
}

// modalFault finds that what may be done is said to have to be done, or what must be done to
// be allowed: the same thing, since one text may speak of both.
func modalFault(said, have *reading) *fault {
	may, must := said.modals()
	mayThere, mustThere := have.modals()
	switch {
	case said.conditions(have) || len(may) > 0 && len(must) > 0:
	case len(mayThere) == 0 && said.meets(may, have, mustThere):
		return faulty(sextant.FaultNegation, "it says that something may be, its quotes that it must be")
	case len(mustThere) == 0 && said.meets(must, have, mayThere) && !have.denied():
		return faulty(sextant.FaultNegation, "it says that something must be, its quotes that it may be")
	}
	return nil
}

// modals returns the words for what a text says may and must be done, as places of tokens.
// To allow something is to let it happen; only what is allowed may be done. What a thing
// requires or needs is no duty either.
func (r *reading) modals() (may, must []int) {
	for i := range r.tokens {
		t := &r.tokens[i]
		next, passive := r.at(i+1).lower, auxiliaries[r.at(i-1).lower]
		switch t.lower {
		case "may":
			if t.kind == word && !t.taken && next != "not" {
				may = append(may, r.governed(i))
			}
		case "permitted", "allowed":
			if passive {
				may = append(may, r.governed(i))
			}
		case "must", "shall":
			if next != "not" {
				must = append(must, r.governed(i))
			}
		case "required", "obliged": // a required inspection says nothing of what must be done
			if passive {
				must = append(must, r.governed(i))
			}
		case "has", "have", "needs", "need":
			if next == "to" {
				must = append(must, r.governed(i))
			}
		}
	}
	return may, must
}

// governed returns the word of meaning that follows a modal verb at token i, -1 for none
// near.
func (r *reading) governed(i int) int {
	for k := i + 1; k < min(i+6, len(r.tokens)); k++ {
		if t := &r.tokens[k]; t.kind == word && !functionWords[t.lower] {
			return k
		}
	}
	return -1
}

// meets reports whether one of some words of a text means what one of another text's does.
func (r *reading) meets(mine []int, other *reading, theirs []int) bool {
	for _, i := range mine {
		for _, k := range theirs {
			if i >= 0 && k >= 0 && alikeWords(&r.tokens[i], &other.tokens[k]) {
				return true
			}
		}
	}
	return false
}

// denied reports whether a text denies anything.
func (r *reading) denied() bool {
	for i := range r.tokens {
		if r.denies(i) {
			return true
		}
	}
	return false
}

// exactFault finds that a number is said to be exact that the evidence only has about.
func exactFault(said, have *reading) *fault {
	for _, q := range said.quantities {
		if !exactWords[said.at(q.at-1).lower] && !(said.at(q.at-1).lower == "at" && exactWords[said.at(q.at-2).lower]) {
			continue
		}
		about := false
		for n, x := range have.quantities {
			if !same(x.value, q.value) || x.unit != q.unit {
				continue
			}
			if !have.approximate(n) {
				about = false
				break
			}
			about = true
		}
		if about {
			return faulty(sextant.FaultComparison, "it says that %s is exact, its quotes do not", said.said(q))
		}
	}
	return nil
}

var exactWords = setOf("exactly", "precisely", "measured")

// approximate reports whether the n-th number of a text is one about which it is not exact,
// or the end of a range of those.
func (r *reading) approximate(n int) bool {
	q := r.quantities[n]
	if q.bound != exactly || n > 0 && r.quantities[n-1].end == q.at-1 && r.approximate(n-1) {
		return true
	}
	for k := max(0, q.at-6); k < q.at; k++ {
		if near := k >= q.at-2; approximating[r.tokens[k].lower] && (near || strings.HasPrefix(r.tokens[k].lower, "estimat")) {
			return true
		}
	}
	return false
}

var approximating = setOf("about", "approximately", "roughly", "around", "nearly", "almost", "some", "estimated", "estimate", "~", "approx", "perhaps", "circa")

// bothFault finds that two are said of what the evidence has one of, or one alone of what it
// has two of.
func bothFault(said, have *reading) *fault {
	for i := range said.tokens {
		t := &said.tokens[i]
		of := said.quantified(i)
		switch {
		case t.lower == "both" && of >= 0 && strings.HasSuffix(said.tokens[of].text, "s") && have.singular(&said.tokens[of]):
			return faulty(sextant.FaultNumber, "it says both of what its quotes have one of: %q", said.tokens[of].text)
		case t.lower == "only" || t.lower == "solely":
			for k := max(0, i-3); k < min(i+5, len(said.tokens)); k++ {
				if w := &said.tokens[k]; w.kind == word && !functionWords[w.lower] && !said.stems["both"] && have.both(w.stem) {
					return faulty(sextant.FaultNumber, "it says %q of what its quotes have both of", t.text)
				}
			}
		}
	}
	return nil
}

// singular reports whether a text has a thing, and never more than one of it.
func (r *reading) singular(thing *token) bool {
	found := false
	for k := range r.tokens {
		t := &r.tokens[k]
		if t.kind == word && t.stem == thing.stem {
			if strings.HasSuffix(t.lower, "s") || r.at(k-1).lower == "both" || r.at(k-1).lower == "each" || r.at(k-1).lower == "and" {
				return false
			}
			found = true
		}
	}
	return found
}

// both reports whether a text speaks of both of something.
func (r *reading) both(stem string) bool {
	for i := range r.tokens {
		t := &r.tokens[i]
		if t.lower == "both" {
			if of := r.quantified(i); of >= 0 && r.tokens[of].stem == stem {
				return true
			}
		}
	}
	return false
}

var (
	ofMen   = setOf("he", "his", "him", "himself", "man", "men", "male", "husband", "father", "son", "boy", "mr")
	ofWomen = setOf("she", "her", "hers", "herself", "woman", "women", "female", "wife", "mother", "daughter", "girl", "ms", "mrs")
)

// sexFault finds that a statement makes a woman of a man or a man of a woman.
func sexFault(said, have *reading) *fault {
	he, she := said.sexes()
	his, hers := have.sexes()
	if he && !his && hers || she && !hers && his {
		return faulty(sextant.FaultEntity, "its quotes speak of a person of the other sex")
	}
	return nil
}

func (r *reading) sexes() (men, women bool) {
	for _, t := range r.tokens {
		men, women = men || ofMen[t.lower], women || ofWomen[t.lower]
	}
	return men, women
}
