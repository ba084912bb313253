package check

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/lexical/thesaurus"
)

// negationFault finds that a statement denies what its evidence says, or says what its
// evidence denies. Compared is what each denial is about: the first words behind it. A word
// is denied if its clause has an odd number of denials.
func negationFault(said, have *reading) *fault {
	saidClauses, haveClauses := said.clauses(), have.clauses()
	haveDenials := 0
	for _, c := range haveClauses {
		haveDenials += len(c.denials)
	}
	for s := range have.stems {
		if rest := unprefixed(s); rest != "" && thesaurus.Known(rest) {
			haveDenials++
		}
	}
	for _, c := range saidClauses {
		for _, denial := range c.denials {
			if said.tokens[denial].stem == "lack" && (have.stems[deficiency] || have.stems[deficient]) {
				continue
			}
			if haveDenials == 0 {
				return faulty(sextant.FaultNegation, "it denies (%q) what its quotes do not deny", said.tokens[denial].text)
			}
			if said.deniesQuality(have, c, denial) {
				continue
			}
			heads := said.heads(c, denial)
			for n, i := range heads {
				if n > 0 && said.placed(heads[0], i) {
					break // not installed in the homebuilt airplane denies no homebuilt
				}
				_, what := have.polarity(haveClauses, said, i)
				if what == silent && have.deniesAlike(haveClauses, &said.tokens[i]) {
					break // did not remember, did not recall
				}
				if what == affirmed && c.denied() && !have.deniesBefore() {
					return faulty(sextant.FaultNegation, "it denies %q, its quotes do not", said.tokens[i].text)
				}
				if what != silent {
					break // the nearest word that both have is what is denied
				}
			}
		}
	}
	for _, c := range haveClauses {
		for _, denial := range c.denials {
			if said.loses() && have.keeps(denial) || said.late() && have.soon(c, denial) {
				continue
			}
			for n, k := range have.heads(c, denial) {
				if n > 0 && (have.heads(c, denial)[0] != k-1 || have.affirms(haveClauses, k)) {
					break // what is denied is the first; the second only if it is described by that, and is not what others are too: excluding any pilot seat, of ten seats
				}
				if i, what := said.polarity(saidClauses, have, k); what == denied {
					break
				} else if what != affirmed || !c.denied() || said.conditions(have) {
					continue
				} else if _, theirs := have.polarity(haveClauses, said, i); theirs == denied {
					return faulty(sextant.FaultNegation, "its quotes deny %q, it does not", have.tokens[k].text)
				}
			}
		}
	}
	return said.prefixFault(have, saidClauses, haveClauses)
}

// deniesQuality reports whether what a denial of a statement denies is a quality that its
// evidence has with a prefix that denies it: failed to compensate adequately, inadequate
// compensation.
func (r *reading) deniesQuality(have *reading, c clause, denial int) bool {
	for i := denial + 1; i < c.to; i++ {
		t := &r.tokens[i]
		if t.lower == "enough" && (have.stems[stem("insufficient")] || have.stems[stem("inadequate")]) {
			return true
		}
		if t.kind != word || t.class()&(thesaurus.Adverb|thesaurus.Adjective) == 0 || have.stems[t.stem] {
			continue
		}
		for s := range have.stems {
			if rest := unprefixed(s); rest == t.stem || rest != "" && derived(rest, t.stem) {
				return true
			}
		}
	}
	return false
}

// loses reports whether a text says that something was lost.
func (r *reading) loses() bool { return r.stems[stem("lose")] || r.stems[stem("loss")] }

// keeps reports whether what is denied at a token is that something was kept: failure to
// maintain control is loss of it.
func (r *reading) keeps(denial int) bool {
	for k := denial + 1; k <= denial+3; k++ {
		if keeping[r.at(k).stem] {
			return true
		}
	}
	return false
}

var keeping = stemsOf("maintain", "keep", "retain", "hold", "regain")

// late reports whether a text says that something came late.
func (r *reading) late() bool { return r.stems[stem("late")] || r.stems[stem("delayed")] }

// soon reports whether what is denied is that something came in time: not soon enough.
func (r *reading) soon(c clause, denial int) bool {
	for i := denial + 1; i < c.to; i++ {
		if before := r.at(i - 1).lower; r.tokens[i].lower == "enough" && (before == "soon" || before == "early" || before == "quickly") || r.tokens[i].lower == "time" && before == "in" {
			return true
		}
	}
	return false
}

// deniesAlike reports whether a text denies a word that means the same as another.
func (r *reading) deniesAlike(clauses []clause, t *token) bool {
	for _, c := range clauses {
		for _, denial := range c.denials {
			for _, k := range r.heads(c, denial)[:min(1, len(r.heads(c, denial)))] {
				if alikeWords(&r.tokens[k], t) {
					return true
				}
			}
		}
	}
	return false
}

// affirms reports whether a text says the word at token k also in a clause that denies nothing.
func (r *reading) affirms(clauses []clause, k int) bool {
	for _, c := range clauses {
		for i := c.from; i < c.to && len(c.denials) == 0; i++ {
			if t := &r.tokens[i]; t.kind == word && t.stem == r.tokens[k].stem {
				return true
			}
		}
	}
	return false
}

// What is deficient is lacked.
var deficiency, deficient = stem("deficiency"), stem("deficient")

// deniesBefore reports whether a text denies what it said before: he tried, but was unable to
// do so. What that was is not asked.
func (r *reading) deniesBefore() bool {
	for i := range r.tokens {
		if r.tokens[i].lower == "do" && (r.at(i+1).lower == "so" || r.at(i+1).lower == "it") && (r.denies(i-1) || r.denies(i-2)) {
			return true
		}
	}
	return false
}

// prefixFault finds a word whose evidence has it only with a prefix that denies it, or the
// other way: controlled for uncontrolled.
func (r *reading) prefixFault(have *reading, saidClauses, haveClauses []clause) *fault {
	for _, i := range r.content {
		t := &r.tokens[i]
		if have.stems[t.stem] || !r.contrary(have, t) {
			continue
		}
		_, mine := r.polarity(saidClauses, r, i)
		if _, theirs := have.polarity(haveClauses, r, i); theirs != silent && theirs != mine {
			return faulty(sextant.FaultNegation, "it says %q, its quotes the opposite", t.text)
		}
	}
	return nil
}

// conditions reports whether a statement says by a word of its own under what condition a
// thing may be done that its evidence forbids but for it: no one may do it unless; it may be
// done only if, it must be.
func (r *reading) conditions(have *reading) bool {
	excepted := have.stems["unless"] || have.stems["except"] || have.stems["until"]
	for _, t := range r.tokens {
		if excepted && conditionWords[t.lower] && !have.stems[t.stem] {
			return true
		}
	}
	return false
}

var conditionWords = setOf("only", "must", "shall", "required", "requires", "require", "need", "needs")

// clause is a range of tokens with one verb, more or less, and the denials in it.
type clause struct {
	from, to int
	denials  []int // tokens
}

func (c clause) denied() bool { return len(c.denials)%2 == 1 }

// placed reports whether a preposition stands between two tokens.
func (r *reading) placed(from, to int) bool {
	for k := from + 1; k < to; k++ {
		if places[r.tokens[k].lower] {
			return true
		}
	}
	return false
}

var places = setOf("in", "on", "at", "during", "within", "near", "under", "over")

// deniedAt reports whether an odd number of denials stands before token i in its clause.
func (r *reading) deniedAt(i int) bool {
	n := 0
	for _, c := range r.clauses() {
		for _, denial := range c.denials {
			if c.from <= i && i < c.to && denial < i {
				n++
			}
		}
	}
	return n%2 == 1
}

// clauses splits a text at its marks and at words that begin a clause.
func (r *reading) clauses() []clause {
	if !r.hasRead.clauses {
		r.parts, r.hasRead.clauses = r.readClauses(), true
	}
	return r.parts
}

func (r *reading) readClauses() []clause {
	var out []clause
	c := clause{}
	end := func(i int) {
		c.to = i
		if c.to > c.from {
			out = append(out, c)
		}
		c = clause{from: i}
	}
	verbal := false // the clause has a verb
	nor := false    // behind neither and nor all that is named is denied
	for i, t := range r.tokens {
		stops := t.kind == mark && strings.Contains(".;:!?()"+paragraph, t.text) && !(t.text == "." && r.at(i+1).glued)
		listed := t.text == "," || t.lower == "and" || t.lower == "or"
		switch {
		case t.lower == "that" && vague[r.at(i-1).lower] && len(c.denials) > 0, t.lower == "or" && len(c.denials) > 0:
			// no evidence that it was loose; did not slow or stop
		case orderWords[t.lower] && !verbal && len(c.denials) > 0: // no problems before the accident were reported
		case stops, t.kind == word && clauseWords[t.lower] && !listed:
			nor = t.lower == "nor" && !stops
			end(i)
		case listed && !nor && verbal && !(len(c.denials) > 0 && r.lists(i)):
			end(i)
		}
		if c.from == i {
			verbal = false
		}
		verbal = verbal || auxiliaries[t.lower] || r.verb(i)
		nor = nor || t.lower == "nor" || t.lower == "neither"
		if r.denies(i) {
			c.denials = append(c.denials, i)
		}
	}
	end(len(r.tokens))
	return out
}

// lists reports whether what follows a comma, an and or an or at token i only goes on with a
// list: no verb and no denial of its own to the next mark.
func (r *reading) lists(i int) bool {
	for k := i + 1; k < len(r.tokens); k++ {
		t := &r.tokens[k]
		switch {
		case t.lower == "and" || t.lower == "or":
		case k <= i+2 && r.at(k-1).kind != word && t.class()&thesaurus.Verb != 0 && thesaurus.Base(t.lower) == t.lower && !strings.HasSuffix(t.lower, "ed") && !strings.HasSuffix(t.lower, "s"):
			return true // may not taxi, take off, or land
		case t.kind == mark && t.text != "-" && t.text != "/" || t.kind == word && clauseWords[t.lower]:
			return k > i+1
		case t.kind == word && (auxiliaries[t.lower] || r.verb(k) || r.denies(k)):
			return false
		}
	}
	return true
}

var auxiliaries = setOf("is", "are", "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "will", "would", "shall", "should", "may", "might", "can", "could", "must")

var orderWords = setOf("before", "after", "since", "until")

var clauseWords = setOf("nor", "but", "while", "when", "why", "after", "before", "because", "which", "who", "whose", "that", "although", "though", "and", "or", "if", "unless", "until", "where", "whereas", "however", "due", "since", "resulting", "resulted", "causing", "caused", "contributing")

// denies reports whether a word denies what follows it.
func (r *reading) denies(i int) bool {
	t := r.at(i)
	switch {
	case t.kind != word:
		return false
	case t.lower == "no" && (r.at(i+1).text == "." && r.at(i+1).glued || slices.Contains([]string{"more", "less", "later", "fewer", "greater", "longer"}, r.at(i+1).lower) && r.at(i+2).lower == "than"):
		return false // No. 2; no more than
	case t.lower == "not" && (slices.Contains([]string{"less", "more", "fewer", "later", "greater", "only", "to"}, r.at(i+1).lower) && r.at(i+1).lower != "to" || r.at(i+1).lower == "to" && r.at(i+2).lower == "exceed"):
		return false // a bound, read with its number
	case negators[t.lower] || strings.HasSuffix(t.lower, "n't"):
		return true
	case preventing[t.stem]:
		for k := i + 1; k < i+8; k++ {
			if r.at(k).lower == "from" {
				return true
			}
		}
		return false
	case t.lower == "before": // before he could recover
		for k := i + 1; k < min(i+6, len(r.tokens)) && !r.stops(k); k++ {
			if next := r.at(k + 1).lower; r.tokens[k].lower == "could" || next == "able" {
				return true
			}
		}
		return false
	case t.lower == "failure" && r.at(i+1).lower == "of":
		return r.failsTo(i + 2)
	case failing[t.stem]:
		return r.at(i+1).lower == "to" || r.at(i+1).lower == "of" && t.stem != "fail" && t.stem != "failur"
	}
	return false
}

// failsTo reports whether what it is that fails, from token i on, is followed by what it fails
// to do: failure of the airplane to climb.
func (r *reading) failsTo(i int) bool {
	for k := i; k < min(i+6, len(r.tokens)) && !r.stops(k); k++ {
		if r.tokens[k].lower == "to" && r.at(k-1).lower != "due" {
			behind := r.at(k + 1)
			return behind.class()&thesaurus.Verb != 0 && !functionWords[behind.lower]
		}
	}
	return false
}

var negators = setOf("not", "no", "never", "neither", "nor", "none", "prohibited", "prohibits", "prohibit", "forbidden", "forbids", "escaped", "excluding", "nothing", "nobody", "cannot", "without", "lack", "lacked", "lacking", "lacks", "absent", "hardly", "nowhere", "denied", "denies", "refused")

// preventing are stems that deny what follows them with "from".
var preventing = stemsOf("prevent", "bar", "ban", "preclude", "prohibit")

// failing are stems that deny what follows them with "to" or "of": failed to, absence of.
var failing = setOf("fail", "failur", "unabl", "inabl", "inabil", "absenc", "neglect", "omit", "refus", "declin", "forget")

// heads are what a denial is about: the first two words of meaning behind it in its clause,
// or where there is none the one before it.
func (r *reading) heads(c clause, denial int) []int {
	var out []int
	if vague[r.at(denial+1).lower] && r.at(denial+2).lower == "that" { // no evidence that the rack was loose
		for i := c.to - 1; i > denial+2 && len(out) == 0; i-- {
			if t := &r.tokens[i]; t.kind == word && !functionWords[t.lower] && !t.taken {
				out = append(out, i)
			}
		}
		return out
	}
	for i := denial + 1; i < c.to && len(out) < 2; i++ {
		if t := &r.tokens[i]; t.kind == word && !functionWords[t.lower] && !t.taken && !vague[t.lower] && !(t.class() == thesaurus.Adverb && r.at(i+1).kind == word) {
			out = append(out, i)
		}
	}
	for i := denial + 1; i < c.to && len(out) == 0; i++ {
		if r.tokens[i].kind == word && vague[r.tokens[i].lower] && r.tokens[i].lower != "to" {
			out = append(out, i)
		}
	}
	for i := denial - 1; i >= c.from && len(out) == 0; i-- {
		if t := &r.tokens[i]; t.kind == word && !functionWords[t.lower] && !t.taken {
			out = append(out, i)
		}
	}
	return out
}

// vague are words that denials go through: no evidence of X denies X.
var vague = setOf("evidence", "indication", "sign", "signs", "indications", "reported", "able", "any", "been", "known", "to")

// What a text says of a word.
const (
	silent = iota
	affirmed
	denied
)

// polarity returns what a text says of word i of another text, judged by that of its
// occurrences whose surroundings are most like the word's, and where that one stands.
func (r *reading) polarity(clauses []clause, other *reading, i int) (at, what int) {
	best, at, what := -1, -1, silent
	asked, occurrence, nth := other.tokens[i], 0, other.occurrence(i)
	for _, c := range clauses {
		for k := c.from; k < c.to; k++ {
			t := &r.tokens[k]
			prefixed := t.kind == word && (unprefixed(t.stem) == asked.stem || unprefixed(asked.stem) == t.stem)
			if t.kind != asked.kind || t.stem != asked.stem && !derived(t.stem, asked.stem) && !prefixed {
				continue
			}
			likeness := 2 * r.likeness(k, other, i)
			if r.behind(k) == other.behind(i) {
				likeness += 3 // what a verb is said of stands before it, what it is about behind
			}
			if occurrence++; occurrence == nth {
				likeness++ // of equals the one in the same place among its like
			}
			if likeness <= best {
				continue
			}
			best, at, what = likeness, k, affirmed
			switch {
			case unprefixed(t.stem) == asked.stem && prefixed: // no cracks in unburned controls
				if !r.denies(k - 1) {
					what = denied
				}
			case c.denied() != prefixed:
				what = denied
			}
		}
	}
	return at, what
}

// behind returns the stem of the next word of meaning within reach of token i, "" for none.
func (r *reading) behind(i int) string {
	for k := i + 1; k < min(i+4, len(r.tokens)); k++ {
		if t := &r.tokens[k]; t.kind == word && !functionWords[t.lower] {
			return t.stem
		}
	}
	return ""
}

// occurrence counts how often the stem of token i stands up to there.
func (r *reading) occurrence(i int) (n int) {
	for _, t := range r.tokens[:i+1] {
		if t.stem == r.tokens[i].stem {
			n++
		}
	}
	return n
}

// likeness counts the words of meaning that stand near token k of a text and near token i of
// another.
func (r *reading) likeness(k int, other *reading, i int) int {
	const near = 5
	around := map[string]bool{}
	for j := max(0, i-near); j < min(len(other.tokens), i+near+1); j++ {
		if t := other.tokens[j]; j != i && t.kind != mark && !functionWords[t.lower] {
			around[t.stem] = true
		}
	}
	n := 0
	for j := max(0, k-near); j < min(len(r.tokens), k+near+1); j++ {
		if j != k && around[r.tokens[j].stem] {
			n++
			delete(around, r.tokens[j].stem)
		}
	}
	return n
}
