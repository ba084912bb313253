package check

import (
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/lexical/thesaurus"
)

// role is who or what stands on the two sides of a verb: who does it, and what it is done to.
type role struct {
	head       string // stem of the last word of who does it
	doer, done surroundings
	by         bool // who does it is said behind "by"
}

// roleFault finds that who does something and to whom it is done have changed places.
func roleFault(said, have *reading) *fault {
	for i := range said.tokens {
		if !said.verb(i) {
			continue
		}
		mine := said.role(i)
		if mine.head == "" || have.plays(mine, &said.tokens[i]) {
			continue
		}
		for k := range have.tokens {
			t := &have.tokens[k]
			if !have.verb(k) || !alikeWords(t, &said.tokens[i]) {
				continue
			}
			theirs := have.role(k)
			if (theirs.by && !mine.by || acts(mine.head) && acts(theirs.head) && mine.done.shared(theirs.done, nil) > 1) && mine.done[theirs.head] && !mine.doer[theirs.head] && !theirs.doer[mine.head] {
				return faulty(sextant.FaultEntity, "it has who and whom of %q the other way round", said.tokens[i].text)
			}
			if theirs.head != "" && (theirs.done[mine.head] && !theirs.doer[mine.head] || mine.doer.shared(theirs.done, theirs.doer) > mine.doer.shared(theirs.doer, theirs.done)) && mine.done[theirs.head] && !mine.doer[theirs.head] {
				return faulty(sextant.FaultEntity, "it has who and whom of %q the other way round", said.tokens[i].text)
			}
		}
	}
	return nil
}

// acts reports whether a stem may be that of someone: a person or a name.
func acts(head string) bool {
	_, person := thesaurus.Thing(head)
	return person || head != "" && !thesaurus.Known(head)
}

// plays reports whether a text has the one who does something do it.
func (r *reading) plays(mine role, verb *token) bool {
	for k := range r.tokens {
		t := &r.tokens[k]
		if r.verb(k) && alikeWords(t, verb) {
			if theirs := r.role(k); theirs.doer[mine.head] {
				return true
			}
		}
	}
	return false
}

// verb reports whether token i is used as a verb.
func (r *reading) verb(i int) bool {
	t := &r.tokens[i]
	if t.kind != word || t.taken {
		return false
	}
	if t.lower == "had" || t.lower == "has" || t.lower == "have" {
		return true
	}
	return !functionWords[t.lower] && !consequent[t.stem] && unprefixed(t.stem) == "" && t.class()&thesaurus.Verb != 0 && !nounBefore[r.at(i-1).lower] && (t.class() == thesaurus.Verb || strings.HasSuffix(t.lower, "s") || strings.HasSuffix(t.lower, "ed"))
}

// consequent are verbs that link cause and effect, which have a rule of their own.
var consequent = stemsOf("result", "cause", "lead", "trigger", "induce", "follow", "precede", "stem", "contribute")

// sideReach is how many words of meaning on a side of a verb are looked at.
const sideReach = 8

// role reads what stands around the verb at token i. In the passive voice the sides are
// exchanged: was struck by.
func (r *reading) role(i int) role {
	var out role
	out.doer, out.done = surroundings{}, surroundings{}
	if strings.HasSuffix(r.tokens[i].lower, "ing") && !auxiliaries[r.at(i-1).lower] {
		return out // whose doing it is does not stand before it
	}
	head := ""
	for k := r.subjectEnd(i); k >= 0 && len(out.doer) < sideReach && !r.clauseEnds(k); k-- {
		if t := &r.tokens[k]; t.kind != mark && !functionWords[t.lower] && t.class() != thesaurus.Adverb {
			if head == "" {
				head = t.stem
			}
			out.doer[t.stem] = true
		}
	}
	by := ""
	for k := i + 1; k < len(r.tokens) && len(out.done) < sideReach && !r.clauseEnds(k); k++ {
		t := &r.tokens[k]
		if t.kind != mark && !functionWords[t.lower] {
			out.done[t.stem] = true
		}
		if t.lower == "by" && r.passive(i) && !strings.HasSuffix(r.at(k+1).lower, "ing") { // by welding is how, not who
			by = r.headBehind(k)
		}
	}
	if r.passive(i) {
		out.doer, out.done, head = out.done, out.doer, by
		out.by = by != ""
	}
	out.head = head
	return out
}

// headBehind returns the last word of the first run of words of meaning behind token k.
func (r *reading) headBehind(k int) string {
	head := ""
	for k++; k < len(r.tokens) && !r.clauseEnds(k); k++ {
		t := &r.tokens[k]
		if functionWords[t.lower] {
			if head != "" {
				break
			}
			continue
		}
		if t.kind != mark {
			head = t.stem
		}
	}
	return head
}

// passive reports whether a form of "be" stands before the verb at token i.
func (r *reading) passive(i int) bool {
	if before := r.at(i - 1).lower; before == "and" || before == "or" { // started at the weld and progressed by fatigue
		for j := i - 2; j >= 0 && !r.stops(j); j-- {
			if r.verb(j) && !r.passive(j) {
				return false
			} else if r.verb(j) {
				return strings.HasSuffix(r.tokens[i].lower, "ed") // was started and ran
			}
		}
	}
	if behind := r.at(i + 2); r.at(i+1).lower == "under" && (behind.text == "§" || behind.lower == "section" || behind.lower == "paragraph") {
		return true // the manual required under § 135.21
	}
	if r.at(i+1).lower == "by" && !strings.HasSuffix(r.at(i+2).lower, "ing") {
		return true
	}
	for k := i - 1; k >= max(0, i-3); k-- {
		switch t := &r.tokens[k]; {
		case t.lower == "was" || t.lower == "were" || t.lower == "been" || t.lower == "is" || t.lower == "are" || t.lower == "being" || t.lower == "be":
			return strings.HasSuffix(r.tokens[i].lower, "ed") || thesaurus.Base(r.tokens[i].lower) != r.tokens[i].lower
		case t.kind != word || t.class() != thesaurus.Adverb && t.lower != "not":
			return false
		}
	}
	return false
}

// past reports whether token i is an irregular form of a verb and used as one: left the runway.
func (r *reading) past(i int) bool {
	t, before, behind := r.at(i), r.at(i-1), r.at(i+1)
	irregular := thesaurus.Base(t.lower) != t.lower && t.class()&thesaurus.Verb != 0 || t.lower == "left" && nounBefore[behind.lower]
	return irregular && !nounBefore[before.lower] && (behind.kind == mark || functionWords[behind.lower] || behind.class() == thesaurus.Adverb)
}

// subjectEnd returns the last token of what the verb at token i is said of: right before it,
// past the word that relates it; of a further verb of a sentence that of the first one.
func (r *reading) subjectEnd(i int) int {
	k := i - 1
	for k >= 0 && (auxiliaries[r.tokens[k].lower] || r.tokens[k].lower == "not" || r.tokens[k].kind == word && r.tokens[k].class() == thesaurus.Adverb) {
		k--
	}
	switch {
	case k < 0:
		return k
	case r.tokens[k].lower == "which" || r.tokens[k].lower == "who" || r.tokens[k].lower == "that":
		k--
		if r.at(k).text == "," {
			k--
		}
		return k
	case r.tokens[k].lower == "and" || r.tokens[k].lower == "then" || r.tokens[k].text == ",":
		first := i
		for j := k; j >= 0 && !r.stops(j) && !(first != i && r.tokens[j].text == ","); j-- {
			if r.verb(j) {
				first = j
			}
		}
		if first == i {
			return k
		}
		return r.subjectEnd(first)
	}
	return k
}

// clauseEnds reports whether what belongs to a verb ends at token k.
func (r *reading) clauseEnds(k int) bool {
	t := &r.tokens[k]
	return r.stops(k) || t.kind == mark && strings.Contains(",:()", t.text) || t.kind == word && clauseWords[t.lower] && t.lower != "and" && t.lower != "or"
}
