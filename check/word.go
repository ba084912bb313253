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
	related   = 0.4
)

// wordFault finds that one word stands in the place of another that means something else,
// in a statement that otherwise is the evidence's own.
func wordFault(said, have *reading) *fault {
	for n, i := range said.content {
		t := &said.tokens[i]
		if len(t.lower) < 3 || have.means(t) || t.upper && (have.names(t) || have.abbreviates(said, i)) {
			continue
		}
		if other := said.stoodFor(have, n); other != "" {
			return faulty(sextant.FaultEntity, "it says %q where its quotes say %q", t.text, other)
		}
	}
	return nil
}

// stoodFor returns the word that the evidence has among the same neighbours as word n of a
// statement, if the statement lacks it: one neighbour on each side, or two on one.
func (r *reading) stoodFor(have *reading, n int) string {
	for k := range have.content {
		left, right := alikeWords(r.word(n-1), have.word(k-1)), alikeWords(r.word(n+1), have.word(k+1))
		switch {
		case left && right, left && alikeWords(r.word(n-2), have.word(k-2)), right && alikeWords(r.word(n+2), have.word(k+2)):
		default:
			continue
		}
		if t := have.word(k); !alikeWords(r.word(n), t) && have.count(t) > r.count(t) {
			return t.text
		}
	}
	return ""
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
	return a.stem == b.stem || derived(a.stem, b.stem) || thesaurus.Synonymous(a.stem, b.stem)
}

// means reports whether a text has a word, an inflection of it, or a word that means the
// same.
func (r *reading) means(t *token) bool {
	if r.stems[t.stem] {
		return true
	}
	for s := range r.stems {
		if derived(s, t.stem) {
			return true
		}
	}
	return r.synonym(t)
}

// coverage is the share of a statement's words and facts that its evidence has. Facts have
// been compared before: all of them count.
func coverage(said, have *reading) float64 {
	facts := len(said.dates) + len(said.times) + len(said.codes) + len(said.quantities)
	if len(said.content)+facts == 0 {
		return 0
	}
	n := facts
	for _, i := range said.content {
		if t := &said.tokens[i]; have.means(t) || t.upper && (have.names(t) || have.abbreviates(said, i)) {
			n++
		}
	}
	return float64(n) / float64(len(said.content)+facts)
}

// derived reports whether one stem looks like a derivation of another: collid and collis,
// depart and departur. They share their first letters, and not much is left of either.
func derived(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 4 {
		return false
	}
	n := 0
	for n < len(a) && a[n] == b[n] {
		n++
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
	return differ == 0 || differ == 2 && strings.Contains(a, "ei") != strings.Contains(b, "ei")
}

// tooFar is the fault of a statement whose quotes speak of something else.
func tooFar(share float64) *fault {
	return faulty(sextant.FaultUnsupported, "its quotes have only %.0f %% of its words", 100*share)
}
