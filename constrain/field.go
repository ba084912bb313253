package constrain

import (
	"strings"

	"github.com/sextant-rag/sextant/filter"
)

// recognizeFields claims comparisons with a numeric field that is named in words:
// "priority above 3", "at least 5 retries". It is how the numbers of a foreign table
// are asked for; fields that a lexicon speaks for are left to it.
func recognizeFields(q *Query) []Claim {
	var out []Claim
	for _, spec := range q.Vocabulary.Collections {
		for _, f := range spec.Schema.Fields {
			if f.Kind != filter.Int && f.Kind != filter.Float || q.spoken[f.Name] {
				continue
			}
			for _, words := range fieldWords(f) {
				out = append(out, q.fieldComparisons(f, words)...)
			}
		}
	}
	return out
}

// fieldWords returns what a field is called: its name and its label.
func fieldWords(f filter.Field) [][]string {
	out := [][]string{Words(strings.ReplaceAll(f.Name, "_", " "))}
	if label := Words(f.Label); len(label) > 0 && strings.Join(label, " ") != strings.Join(out[0], " ") {
		out = append(out, label)
	}
	return out
}

func (q *Query) fieldComparisons(f filter.Field, words []string) []Claim {
	var out []Claim
	for i := range q.Tokens {
		if q.hasWords(i, words) {
			at := i + len(words)
			for at < len(q.Tokens) && (q.Tokens[at].Lower == "is" || q.Tokens[at].Lower == "of" || q.Tokens[at].Lower == "was" || q.Tokens[at].Lower == "are") {
				at++
			}
			if c, ok := q.comparisonAt(at); ok {
				out = append(out, Claim{From: i, To: c.To, Conditions: []Condition{bounded(f.Name, c)}, Weight: 1})
			}
		}
		if c, ok := q.comparisonAt(i); ok && q.hasWords(c.To, words) {
			out = append(out, Claim{From: i, To: c.To + len(words), Conditions: []Condition{bounded(f.Name, c)}, Weight: 1})
		}
	}
	return out
}
