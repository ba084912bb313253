package constrain

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// phraseIndex finds phrases by their words.
type phraseIndex struct {
	byWords map[string]*Phrase
	first   map[string]bool
	single  []string // one-word phrases with conditions, for misspellings
	longest int
}

func newPhraseIndex(phrases []Phrase) *phraseIndex {
	x := &phraseIndex{byWords: make(map[string]*Phrase, len(phrases)), first: map[string]bool{}}
	for i := range phrases {
		p := &phrases[i]
		key := strings.Join(p.Words, " ")
		x.byWords[key] = p
		x.first[p.Words[0]] = true
		for _, s := range singulars(p.Words[0]) { // the first word may be the plural one: "cubs"
			x.first[s] = true
		}
		x.longest = max(x.longest, len(p.Words))
		if len(p.Words) == 1 && len(p.Conditions) > 0 {
			x.single = append(x.single, p.Words[0])
		}
	}
	slices.Sort(x.single)
	return x
}

// singulars returns what a word may be the plural or genitive of.
func singulars(word string) []string {
	var out []string
	if s, ok := strings.CutSuffix(word, "ies"); ok && len(s) > 1 {
		out = append(out, s+"y")
	}
	if s, ok := strings.CutSuffix(word, "es"); ok && len(s) > 2 {
		out = append(out, s)
	}
	if s, ok := strings.CutSuffix(word, "s"); ok && len(s) > 1 && !strings.HasSuffix(s, "s") {
		out = append(out, s)
	}
	return out
}

// at finds the longest phrase that starts at token i.
func (x *phraseIndex) at(q *Query, i int) (p *Phrase, to int) {
	key := ""
	for n := 0; n < x.longest && i+n < len(q.Tokens); n++ {
		t := q.Tokens[i+n]
		if n > 0 && !t.joins() && t.Gap != " (" {
			break
		}
		stem := key
		if n > 0 {
			stem += " "
		}
		key = stem + t.Lower
		if hit := x.lookup(stem, t.Lower); hit != nil {
			p, to = hit, i+n+1
		}
	}
	return p, to
}

func (x *phraseIndex) lookup(stem, last string) *Phrase {
	if p := x.byWords[stem+last]; p != nil {
		return p
	}
	for _, s := range singulars(last) {
		if p := x.byWords[stem+s]; p != nil {
			return p
		}
	}
	return nil
}

// recognizePhrases claims the phrases of the lexicon; a single word that is near one
// phrase only is taken for it and said so.
func recognizePhrases(q *Query) []Claim {
	var out []Claim
	for i, t := range q.Tokens {
		if p, to := q.phrases.at(q, i); p != nil {
			out = append(out, Claim{From: i, To: to, Conditions: p.Conditions, Weight: p.Weight})
			continue
		}
		if near, ok := q.nearest(t.Lower, q.phrases.single); ok {
			out = append(out, Claim{From: i, To: i + 1, Conditions: assumed(q.phrases.byWords[near].Conditions, t.Text, near), Weight: -5})
		}
	}
	return out
}

// PhraseAt returns what the lexicon's phrases say of the tokens from i.
func (q *Query) PhraseAt(i int) ([]Condition, int, bool) {
	p, to := q.phrases.at(q, i)
	if p == nil {
		return nil, i, false
	}
	return p.Conditions, to, true
}

func assumed(conditions []Condition, wrote, read string) []Condition {
	out := slices.Clone(conditions)
	for i := range out {
		out[i].Assumed = "“" + wrote + "” read as “" + read + "”"
	}
	return out
}

// recognizeValues claims the values of faceted fields that the lexicon does not
// speak for: with no lexicon, this is how a foreign table's columns are understood.
func recognizeValues(q *Query) []Claim {
	var out []Claim
	for name, fv := range q.Vocabulary.fields {
		if q.spoken[name] || !fv.field.Facet {
			continue
		}
		for i := range q.Tokens {
			value, to, ok := q.longestAt(name, i)
			if !ok || to == i+1 && q.stop[q.Tokens[i].Lower] {
				continue
			}
			out = append(out, Claim{From: i, To: to, Conditions: []Condition{Is(name, value.Text)}, Weight: q.named(name, i, to)})
		}
	}
	return out
}

// named raises the weight of a value whose field is named beside it: "priority high".
func (q *Query) named(field string, from, to int) int {
	words := Words(strings.ReplaceAll(field, "_", " "))
	if q.hasWords(from-len(words), words) || q.hasWords(to, words) {
		return 1
	}
	return 0
}

// recognizeMeasures claims numbers of a lexicon's measures: "two or more killed",
// "killed more than five people".
func recognizeMeasures(q *Query) []Claim {
	var out []Claim
	for i := range q.Tokens {
		c, ok := q.comparisonAt(i)
		if !ok {
			continue
		}
		for _, m := range q.Lexicon.Measures {
			if to, ok := q.measureAfter(m, c.To); ok {
				out = append(out, q.measured(m, c, c.From, to))
			}
			if from, ok := q.measureBefore(m, c.From); ok {
				out = append(out, q.measured(m, c, from, q.skipPeople(c.To)))
			}
		}
	}
	return out
}

func (q *Query) measured(m Measure, c comparison, from, to int) Claim {
	return Claim{From: from, To: to, Conditions: []Condition{bounded(m.Field, c)}, Weight: 3}
}

func bounded(field string, c comparison) Condition {
	switch {
	case c.Set != nil:
		values := make([]any, len(c.Set))
		for i, n := range c.Set {
			values[i] = n
		}
		return Condition{Field: field, Op: sextant.OpIn, Values: values}
	case c.Lo == c.Hi:
		return Condition{Field: field, Op: sextant.OpEq, Values: []any{c.Lo}}
	case c.Hi < 0:
		return Condition{Field: field, Op: sextant.OpGte, Values: []any{c.Lo}}
	case c.Lo < 0:
		return Condition{Field: field, Op: sextant.OpLte, Values: []any{c.Hi}}
	}
	return Condition{Field: field, Op: sextant.OpBetween, Values: []any{c.Lo, c.Hi}}
}

var people = map[string]bool{"people": true, "persons": true, "person": true, "occupants": true, "occupant": true, "passengers": true, "passenger": true, "crew": true,
	"crewmembers": true, "pilots": true, "souls": true, "of": true, "the": true, "were": true, "was": true, "are": true, "is": true, "being": true, "or": true, "more": true,
	"on": true, "board": true, "aboard": true, "who": true, "got": true, "men": true, "victims": true}

// skipPeople steps over who was counted: "two people on board were [killed]".
func (q *Query) skipPeople(i int) int {
	for i < len(q.Tokens) && people[q.Tokens[i].Lower] && q.Tokens[i].joins() {
		i++
	}
	return i
}

func (q *Query) measureAfter(m Measure, i int) (int, bool) {
	for _, at := range []int{i, q.skipPeople(i)} {
		for _, phrase := range m.After {
			if w := strings.Fields(phrase); q.hasWords(at, w) {
				return at + len(w), true
			}
		}
	}
	return 0, false
}

func (q *Query) measureBefore(m Measure, i int) (int, bool) {
	for _, phrase := range m.Verbs {
		if w := strings.Fields(phrase); q.hasWords(i-len(w), w) {
			return i - len(w), true
		}
	}
	return 0, false
}
