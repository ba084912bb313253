package check

import (
	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/lexical/thesaurus"
)

// surroundings are the stems of the words that stand near something.
type surroundings map[string]bool

func (s surroundings) shared(other surroundings, but surroundings) (n int) {
	for w := range s {
		if other[w] && !but[w] {
			n++
		}
	}
	return n
}

// crossed reports whether two things a and b of a statement stand among each other's words
// of the evidence, and neither among its own. What the evidence has at both tells nothing.
func crossed(saidA, saidB, haveA, haveB surroundings, least int) bool {
	straight := saidA.shared(haveA, haveB) + saidB.shared(haveB, haveA)
	crossed := saidA.shared(haveB, haveA) + saidB.shared(haveA, haveB)
	return crossed >= least && crossed > 2*straight
}

// exchangedNumbers finds two numbers of one unit that have changed places.
func exchangedNumbers(said, have *reading) *fault {
	if len(said.quantities) < 2 {
		return nil
	}
	mine, theirs := said.numberSurroundings(), have.numberSurroundings()
	of := func(q quantity) surroundings {
		all := surroundings{}
		for k, x := range have.quantities {
			if x.unit == q.unit && same(x.value, q.value) {
				for w := range theirs[k] {
					all[w] = true
				}
			}
		}
		return all
	}
	for i, a := range said.quantities {
		for j, b := range said.quantities[:i] {
			if !a.hint && !b.hint && a.unit == b.unit && !said.numbersName(a) && !said.numbersName(b) && (a.unit != "" || len(a.nouns) > 0 && len(b.nouns) > 0) && !said.listed(b.end, a.at) && !same(a.value, b.value) && crossed(mine[i], mine[j], of(a), of(b), 1) {
				return faulty(sextant.FaultNumber, "it has %s and %s the other way round", said.said(b), said.said(a))
			}
		}
	}
	return nil
}

// keepsWords reports whether a number of a statement stands among words that its evidence has
// at the same number and at no other of its unit.
func (r *reading) keepsWords(have *reading, q quantity) bool {
	own, other := surroundings{}, surroundings{}
	for k, words := range have.numberSurroundings() {
		into := other
		if x := have.quantities[k]; x.unit != q.unit {
			continue
		} else if same(x.value, q.value) {
			into = own
		}
		for w := range words {
			into[w] = true
		}
	}
	for k, x := range r.quantities {
		if x.at == q.at {
			return r.numberSurroundings()[k].shared(own, other) > 0
		}
	}
	return false
}

// numbersName reports whether a number is part of a name: Rotax 503, Runway 22.
func (r *reading) numbersName(q quantity) bool {
	return q.unit == "" && r.at(q.at-1).upper && !r.begins(q.at-1)
}

// numberSurroundings returns for each quantity of a text the words that belong to it. Those
// between two quantities of a unit are divided at the first comma or joining word, or where
// there is none at the first word of grammar. A number before the verb of its sentence has
// what follows up to the next number.
func (r *reading) numberSurroundings() []surroundings {
	out := make([]surroundings, len(r.quantities))
	for i, q := range r.quantities {
		out[i] = surroundings{}
		from, to := 0, len(r.tokens)
		for _, x := range r.quantities[:i] {
			if x.unit == q.unit && !x.hint {
				from = r.divide(x.end, q.at)
			}
		}
		for _, x := range r.quantities[i+1:] {
			if x.unit == q.unit && !x.hint {
				to = x.at
				break
			}
		}
		verbal := false
		for k := q.at - 1; k >= from && !r.stops(k); k-- {
			r.surround(k, out[i])
			verbal = verbal || r.verb(k) || auxiliaries[r.tokens[k].lower]
		}
		if verbal {
			to = r.divide(q.end, to)
		}
		for k := q.end; k < to && !r.stops(k); k++ {
			r.surround(k, out[i])
		}
	}
	return out
}

// divide returns where the words between two quantities begin to belong to the second.
func (r *reading) divide(from, to int) int {
	grammar := to
	for k := from; k < to; k++ {
		t := &r.tokens[k]
		switch {
		case t.text == "," || joiners[t.lower] || r.stops(k):
			return k
		case grammar == to && t.kind == word && functionWords[t.lower]:
			grammar = k
		}
	}
	if to == len(r.tokens) {
		return to
	}
	return grammar
}

var joiners = setOf("and", "or", "but", "while", "whereas", "versus", "vs", "with", "than", "then", "compared", "against")

func (r *reading) surround(k int, into surroundings) {
	if t := &r.tokens[k]; t.kind == word && !functionWords[t.lower] && !t.taken {
		into[t.stem] = true
	}
}

// exchangedNames finds two names, persons or things that have changed places between clauses:
// each stands in a clause whose words its evidence has with the other.
func exchangedNames(said, have *reading) *fault {
	mine := said.nameSurroundings()
	if len(mine) < 2 {
		return nil
	}
	var theirs []named
	for _, a := range mine {
		for _, b := range mine {
			if a.stem >= b.stem || a.name != b.name || b.with[a.stem] && a.with[b.stem] {
				continue
			}
			if theirs == nil {
				theirs = have.nameSurroundings()
			}
			x, y := with(theirs, a.stem), with(theirs, b.stem)
			if x != nil && y != nil && crossed(a.with, b.with, x, y, 3) {
				return faulty(sextant.FaultEntity, "it has %q and %q the other way round", a.written, b.written)
			}
		}
	}
	return nil
}

// named is a name, a person or a thing, and the words of the clauses that it stands in.
type named struct {
	stem, written string
	name          bool // a name or an identifier, not a common word for a person or a thing
	with          surroundings
}

func with(all []named, stem string) surroundings {
	for _, n := range all {
		if n.stem == stem {
			return n.with
		}
	}
	return nil
}

// nameSurroundings returns the names, persons and things of a text.
func (r *reading) nameSurroundings() []named {
	var out []named
	at := map[string]int{}
	for _, c := range r.clauses() {
		words := surroundings{}
		for k := c.from; k < c.to; k++ {
			if t := &r.tokens[k]; t.kind == word && !functionWords[t.lower] && !t.taken && (!t.upper || r.begins(k) && common(t)) {
				words[t.stem] = true
			}
		}
		for k := c.from; k < c.to; k++ {
			t := &r.tokens[k]
			if !r.names(k) {
				continue
			}
			n, seen := at[t.stem]
			if !seen {
				n = len(out)
				at[t.stem] = n
				out = append(out, named{t.stem, t.text, t.upper || t.kind == number, surroundings{}})
			}
			for w := range words {
				if w != t.stem {
					out[n].with[w] = true
				}
			}
		}
	}
	return out
}

// names reports whether token k is a name or part of an identifier, a person or a thing.
func (r *reading) names(k int) bool {
	t := &r.tokens[k]
	switch {
	case t.kind == mark || functionWords[t.lower]:
		return false
	case t.kind == number:
		return t.taken && (r.at(k+1).glued && r.at(k+1).kind == word || t.glued && r.at(k-1).kind == word)
	case t.upper && !r.begins(k):
		return true
	}
	thing, _ := thesaurus.Thing(t.lower)
	return thing && r.noun(k) || t.lower == "men" || t.lower == "women"
}
