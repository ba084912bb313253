package check

import (
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/lexical/thesaurus"
)

// Shares of a statement's words that its evidence must have, in some form: under supported
// the rules are in doubt, under related the quotes speak of something else.
const (
	supported = 0.7
	related   = 0.3
)

// wordFault finds that one word stands in the place of another that means something else,
// in a statement that otherwise is the evidence's own.
func wordFault(said, have *reading) *fault {
	for n, i := range said.content {
		t := &said.tokens[i]
		if other := said.displaced(have, n); other != "" {
			return faulty(sextant.FaultEntity, "it says %q where its quotes say %q", t.text, other)
		}
		if len(t.lower) < 3 || generic[t.stem] || relationBegins[t.lower] || said.measuring(i) || have.means(said, i) || have.spelt(said, i) || said.contrary(have, t) || t.upper && (have.hasName(t) || have.abbreviates(said, i)) {
			continue
		}
		if other := said.stoodFor(have, n); other != "" {
			return faulty(sextant.FaultEntity, "it says %q where its quotes say %q", t.text, other)
		}
	}
	return nil
}

// stoodFor returns the word that the evidence has in the place of word n of a statement, if
// the statement lacks it: among the same neighbours, one on each side or two on one. Of
// verbs many can tell the same event, so that one stands for another only if they are
// opposites or all around them is the same to the letter; a thing or a quality is another
// thing or quality.
func (r *reading) stoodFor(have *reading, n int) string {
	t := r.word(n)
	for k := range have.body {
		other := have.word(k)
		if !r.besideAlike(have, n, k) && !r.verbatimAround(have, r.content[n], have.content[k]) || alikeWords(t, other) || have.count(other) <= r.count(other) {
			continue
		}
		if thesaurus.Opposed(t.stem, other.stem) && r.deniesOther(have, r.content[n], other.text) {
			continue // unhurt, not injured
		}
		named := t.upper == other.upper && !r.past(r.content[n]) && !have.past(have.content[k]) && ((t.class()|other.class())&thesaurus.Adverb == 0 && t.class()&other.class()&(thesaurus.Noun|thesaurus.Adjective) != 0 && r.inPlace(have, n, k) || r.modifies(r.content[n]) && have.modifies(have.content[k]) && r.at(r.content[n]+1).stem == have.at(have.content[k]+1).stem)
		if named || thesaurus.Opposed(t.stem, other.stem) || t.class()&other.class() != 0 && !(light[t.stem] && t.class()&thesaurus.Verb != 0) && r.verbatimAround(have, r.content[n], have.content[k]) {
			return other.text
		}
	}
	return ""
}

// inPlace reports whether word n of a text surely takes the place of word k of another that
// stands among the same neighbours: both are concrete things, or neither can be a verb and the
// very token on one side is the same. Of others each may be said beside the other: the wind
// blew, the windsock showed it.
func (r *reading) inPlace(have *reading, n, k int) bool {
	t, other := r.word(n), have.word(k)
	a, _ := thesaurus.Thing(t.lower)
	b, _ := thesaurus.Thing(other.lower)
	if a && b {
		return true
	}
	i, j := r.content[n], have.content[k]
	nouns := (t.class()&thesaurus.Verb == 0 || r.noun(i)) && (other.class()&thesaurus.Verb == 0 || have.noun(j))
	return nouns && (r.at(i-1).lower == have.at(j-1).lower || r.at(i+1).lower == have.at(j+1).lower)
}

// modifies reports whether word i stands between an article or the like and a word of
// meaning, which it then describes: the exhaust valve.
func (r *reading) modifies(i int) bool {
	before, behind := r.at(i-1), r.at(i+1)
	return (nounBefore[before.lower] || before.kind == number) && behind.kind == word && !functionWords[behind.lower]
}

// light are verbs that can tell many an event, so that one of them is no other predicate than
// a fuller verb in its place: the tank held, contained fuel.
var light = stemsOf("make", "take", "get", "go", "come", "give", "hold", "keep", "pass", "move", "run", "put", "set", "bring", "carry", "undergo", "enter", "reach", "show", "see", "find", "note", "describe", "provide", "contain", "include", "involve", "receive", "experience", "encounter", "acquire", "gain", "develop", "perform", "conduct", "use", "remain", "become", "appear", "occur", "happen", "proceed", "travel", "sit", "lie", "stand", "send", "place", "display", "present", "possess", "own", "form", "produce", "yield", "handle", "treat", "know", "think", "believe", "consider", "call", "name", "identify", "record", "list", "mention")

// generic are nouns that can take up anything said before.
var generic = stemsOf("value", "amount", "level", "number", "part", "portion", "thing", "way", "time", "case", "reason", "fact", "kind", "type", "work", "action", "process", "place", "point", "factor", "effect", "result", "event", "condition", "situation")

// displaced returns the word that the evidence has in the very place of word n of a statement,
// if the statement lacks it and the word stands elsewhere in the evidence, among others.
func (r *reading) displaced(have *reading, n int) string {
	t, i := r.word(n), r.content[n]
	if !have.stems[t.stem] {
		return ""
	}
	other := ""
	for _, k := range have.content {
		w := &have.tokens[k]
		switch {
		case w.stem == t.stem:
			if have.at(k-1).lower == r.at(i-1).lower && !nounBefore[r.at(i-1).lower] || have.likeness(k, r, i) > 1 {
				return ""
			}
		case r.stems[w.stem] || t.upper != w.upper || other != "" || !r.verbatimAround(have, i, k):
		case r.at(i-1).kind == word && !alikeWords(w, t):
			other = w.text
		}
	}
	return other
}

// besideAlike reports whether word n of a text and word k of another stand among the same
// neighbours.
func (r *reading) besideAlike(have *reading, n, k int) bool {
	if r.word(n-1).stem != have.word(k-1).stem && r.word(n+1).stem != have.word(k+1).stem {
		return false
	}
	if a, b := r.governor(r.content[n]), have.governor(have.content[k]); a != "" && b != "" && a != b {
		return false // after the accident and of the airplane are no two of a kind
	}
	left := r.together(n-1) && have.together(k-1) && alikeWords(r.word(n-1), have.word(k-1))
	right := r.together(n) && have.together(k) && alikeWords(r.word(n+1), have.word(k+1))
	return left && right || left && alikeWords(r.word(n-2), have.word(k-2)) || right && alikeWords(r.word(n+2), have.word(k+2))
}

// governor returns the preposition before a word, past an article; "" if there is none.
func (r *reading) governor(i int) string {
	before := r.at(i - 1)
	if before.lower == "the" || before.lower == "a" || before.lower == "an" {
		before = r.at(i - 2)
	}
	if governing[before.lower] {
		return before.lower
	}
	return ""
}

var governing = setOf("of", "after", "before", "during", "by", "with", "from", "for")

// together reports whether neither a mark nor a word that begins a clause stands between the
// n-th word of meaning and the next.
func (r *reading) together(n int) bool {
	if n < 0 || n+1 >= len(r.content) {
		return false
	}
	for _, t := range r.tokens[r.content[n]:r.content[n+1]] {
		if t.kind == mark && t.text != "-" && t.text != "/" && t.text != "#" || t.kind == word && subordinating[t.lower] {
			return false
		}
	}
	return true
}

var subordinating = setOf("whether", "if", "when", "because", "while", "although", "where", "unless")

// verbatimAround reports whether the two tokens on each side of two tokens are the same, or
// the same end of a sentence.
func (r *reading) verbatimAround(have *reading, i, k int) bool {
	for _, step := range []int{-1, 1} {
		for d := step; d != 3*step; d += step {
			a, b := r.at(i+d), have.at(k+d)
			if a.lower != b.lower && !(stop(a) && stop(b)) {
				return false
			}
			if stop(a) {
				break
			}
		}
	}
	return true
}

func stop(t *token) bool {
	return t.kind == mark && (t.text == "" || t.text == "." || t.text == "," || t.text == ";" || t.text == paragraph)
}

// class is what parts of speech a word can be. One that no dictionary has is a thing or a
// quality.
func (t *token) class() thesaurus.Class {
	if c := thesaurus.ClassOf(t.lower, t.stem); c != 0 && !(t.upper && c == thesaurus.Adverb && strings.Contains(t.lower, "'")) {
		return c
	}
	if thesaurus.Base(t.lower) != t.lower {
		return thesaurus.Verb // went
	}
	return thesaurus.Noun | thesaurus.Adjective
}

// word returns the n-th word of meaning, or nothing beyond the ends.
func (r *reading) word(n int) *token {
	if n < 0 || n >= len(r.content) {
		return &nothing
	}
	return &r.tokens[r.content[n]]
}

// count counts the words of a text that are or mean a word.
func (r *reading) count(t *token) (n int) {
	for _, i := range r.content {
		if alikeWords(&r.tokens[i], t) {
			n++
		}
	}
	return n
}

// alikeWords reports whether two words can mean the same.
func alikeWords(a, b *token) bool {
	if a.kind != word || b.kind != word {
		return false
	}
	for _, set := range contrastsOf[a.stem] {
		if set.sides[a.stem] == set.sides[b.stem] {
			return true
		}
	}
	return a.stem == b.stem || derived(a.stem, b.stem) || synonymous(a.stem, b.stem) || thesaurus.Related(a.stem, b.stem)
}

// contrary reports whether a text has a word with a prefix that denies it, or the word that
// it denies: what is denied is compared elsewhere.
func (r *reading) contrary(have *reading, t *token) bool {
	for s := range have.stems {
		if unprefixed(s) == t.stem || unprefixed(t.stem) == s {
			return true
		}
	}
	return false
}

// unprefixed returns what a word with a prefix that denies it is made of; "" of any other.
func unprefixed(stem string) string {
	for _, p := range []string{"un", "in", "im", "non", "dis", "ir"} {
		if rest, ok := strings.CutPrefix(stem, p); ok && len(rest) >= 4 {
			return stemOfForm(rest)
		}
	}
	return ""
}

// stemOfForm returns the stem of what is an irregular form, such as seen, or the word itself.
func stemOfForm(word string) string {
	if base := thesaurus.Base(word); base != word {
		return stem(base)
	}
	return word
}

// spelt reports whether a word of a statement is one of those whose initials stand in the
// evidence: above ground level, agl.
func (r *reading) spelt(said *reading, i int) bool {
	for from := max(0, i-8); from <= i; from++ {
		var letters []byte
		for k := from; k < len(said.tokens) && len(letters) < 6; k++ {
			switch t := &said.tokens[k]; {
			case t.kind == word:
				letters = append(letters, t.lower[0])
			case t.text != "-":
				k = len(said.tokens)
				continue
			}
			if k >= i && len(letters) >= 3 && r.stems[string(letters)] && !functionWords[string(letters)] && thesaurus.ClassOf(string(letters), "") == 0 {
				return true
			}
		}
	}
	return false
}

// means reports whether a text has word i of a statement, an inflection of it, or a word that
// means the same. One that is only related must stand among the same words.
func (r *reading) means(said *reading, i int) bool {
	t := &said.tokens[i]
	if r.stems[t.stem] {
		return true
	}
	for s := range r.stems {
		if derived(s, t.stem) || strings.TrimPrefix(s, "post") == t.stem || strings.TrimPrefix(s, "pre") == t.stem || misspelt(s, t.stem) {
			return true
		}
	}
	modifier := said.modifies(i)
	for _, k := range r.content {
		if synonymous(r.tokens[k].stem, t.stem) && !(modifier && r.verb(k)) {
			return true // what describes a thing is no event: a state court, he stated
		}
	}
	for _, k := range r.content {
		if other := &r.tokens[k]; !said.stems[other.stem] && thesaurus.Related(other.stem, t.stem) && (len(said.content) < 3 || r.likeness(k, said, i) > 0) {
			return true
		}
	}
	return false
}

// coverage is the share of a statement's words and facts that its evidence has. Facts have
// been compared before: all of them count.
func coverage(said, have *reading) float64 {
	facts := len(said.dates) + len(said.times) + len(said.codes) + len(said.quantities)
	if len(said.content)+facts == 0 {
		return 0
	}
	n, asked := facts, facts
	for _, i := range said.content {
		t := &said.tokens[i]
		if speakers[t.stem] || reporting[t.lower] {
			continue // who says so
		}
		asked++
		if have.means(said, i) || said.contrary(have, t) || t.upper && (have.hasName(t) || have.abbreviates(said, i)) {
			n++
		}
	}
	return float64(n) / float64(max(asked, 1))
}

// derived reports whether one stem looks like a derivation of another: collid and collis,
// depart and departur. They share their first letters, and not much is left of either.
func derived(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 3 {
		return false
	}
	n := 0
	for n < len(a) && a[n] == b[n] {
		n++
	}
	if n == len(a) && n >= 5 { // tumor, tumorigenesis
		return true
	}
	if n == len(a) && n >= 3 && len(b) == n+1 && b[n] == b[n-1] { // puffing is stemmed to puf
		return true
	}
	return n >= 4 && n >= len(a)-2 && len(b)-n <= 5
}

// alike reports whether two longer names differ by a letter at most, as spellings do.
func alike(a, b string) bool {
	if len(a) < 6 || len(b) < 6 || len(a) != len(b) || a[0] != b[0] {
		return false
	}
	differ := 0
	for i := range len(a) {
		if a[i] != b[i] {
			differ++
		}
	}
	return differ == 0 || differ == 2 && swapped(a, b)
}

// swapped reports whether two strings of one length that differ in two places have two
// neighbours exchanged there: Knisley, Knisely.
func swapped(a, b string) bool {
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i]
		}
	}
	return false
}

// misspelt reports whether one of two longer words of one length is no word of the language
// and differs by a letter from the other.
func misspelt(a, b string) bool {
	if len(a) != len(b) || len(a) < 6 || strings.ContainsAny(a, "0123456789") {
		return false
	}
	differ := 0
	for i := range len(a) {
		if a[i] != b[i] {
			differ++
		}
	}
	return differ == 1 && thesaurus.Known(a) != thesaurus.Known(b)
}

// tooFar is the fault of a statement whose quotes speak of something else.
func tooFar(share float64) *fault {
	return faulty(sextant.FaultUnsupported, "its quotes have only %.0f %% of its words", 100*share)
}
