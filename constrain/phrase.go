package constrain

import (
	"slices"
	"strings"
)

// phraseIndex finds phrases by their words.
type phraseIndex struct {
	table   *Table[*Phrase]
	byWord  map[string]*Phrase // of one word
	spelled *Candidates        // those with conditions, for misspellings
}

func newPhraseIndex(phrases []Phrase) *phraseIndex {
	x := &phraseIndex{table: &Table[*Phrase]{rows: map[string][]row[*Phrase]{}, gaps: " ("}, byWord: map[string]*Phrase{}}
	var single []string
	for i := range phrases {
		p := &phrases[i]
		x.table.add(p.Words, p)
		if len(p.Words) == 1 && len(p.Conditions) > 0 && !p.Alone {
			single = append(single, p.Words[0])
			x.byWord[p.Words[0]] = p
		}
	}
	x.table.sort()
	x.spelled = NewCandidates(single)
	return x
}

// recognizePhrases claims the phrases of the lexicon; a single word that is near one
// phrase only is taken for it and said so.
func recognizePhrases(q *Query) []Claim {
	var out []Claim
	for i := range q.Tokens {
		if p, to, ok := q.phrases.table.PluralAt(q, i); ok {
			out = append(out, Claim{From: i, To: to, Conditions: p.Conditions, Weight: p.Weight, Weak: p.Weak, Apart: p.Alone && !q.describes(to)})
			continue
		}
		if near, ok := q.Nearest(i, q.phrases.spelled); ok && !derived(q.Tokens[i].Lower, near) {
			out = append(out, Claim{From: i, To: i + 1, Conditions: assumed(q.phrases.byWord[near].Conditions, q.Tokens[i].Text, near), Weight: -5, Weak: WeakName})
		}
	}
	return out
}

// derived reports whether a word is made of another by an ending: a cruiser is no
// misspelt cruise.
func derived(word, of string) bool {
	ending, ok := strings.CutPrefix(word, of)
	return ok && slices.Contains([]string{"r", "rs", "er", "ers", "ist", "ists"}, ending)
}

// describes reports whether an event noun stands at token i, so that what precedes it
// says of which kind the events are: "instruction accidents". Records, reports and cases
// are of anything.
func (q *Query) describes(i int) bool {
	return q.Joined(i) && q.EventNoun(i) && !q.document(i)
}

// PhraseAt returns what the lexicon's phrases say of the tokens from i.
func (q *Query) PhraseAt(i int) ([]Condition, int, bool) {
	p, to, ok := q.phrases.table.PluralAt(q, i)
	if !ok || p.Alone {
		return nil, i, false
	}
	return p.Conditions, to, true
}

func assumed(conditions []Condition, wrote, read string) []Condition {
	out := slices.Clone(conditions)
	for i := range out {
		out[i].Assumed = Assumption(wrote, read)
	}
	return out
}

// Assumption is how it is said that a word was taken for another.
func Assumption(wrote, read string) string { return "“" + wrote + "” read as “" + read + "”" }
