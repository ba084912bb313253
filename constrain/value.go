package constrain

import (
	"strings"

	"github.com/sextant-rag/sextant/filter"
)

// Values of fields that no lexicon speaks for, as they stand in the corpus: with no
// lexicon, this is how a foreign table's columns are understood.

// valueIndex finds values by another word or spelling than their own.
type valueIndex struct {
	fields   []*fieldValues
	spelled  *Candidates
	byWord   map[string]Condition // values of one word, for misspellings
	everyday map[string]Condition // by the everyday words for them
}

// everydayWords are said for values that forms and registers use.
var everydayWords = map[string]string{"female": "women woman girls girl", "male": "men man boys boy", "f": "women woman female females", "m": "men man male males"}

// maxSpelled bounds the values of a field that are guessed at: names by the thousand are
// too near to each other.
const maxSpelled = 2000

func newValueIndex(v *Vocabulary, spoken map[string]bool) *valueIndex {
	x := &valueIndex{byWord: map[string]Condition{}, everyday: map[string]Condition{}}
	twice := map[string]bool{}
	var words []string
	for _, name := range v.names {
		fv := v.fields[name]
		if spoken[name] || !fv.field.Facet {
			continue
		}
		x.fields = append(x.fields, fv)
		for key, value := range fv.byWords {
			condition := Is(name, value.Text)
			for w := range strings.FieldsSeq(everydayWords[key] + " " + otherForms(key, value.Text)) {
				_, twice[w] = x.everyday[w]
				x.everyday[w] = condition
			}
			if len(fv.values) <= maxSpelled && !strings.ContainsAny(key, " 0123456789") {
				_, twice[key] = x.byWord[key]
				x.byWord[key], words = condition, append(words, key)
			}
		}
	}
	for w, ambiguous := range twice {
		if ambiguous {
			delete(x.everyday, w)
			delete(x.byWord, w)
		}
	}
	x.spelled = NewCandidates(words)
	return x
}

// irregular are plurals that no rule makes, and what else is said for the same.
var irregular = map[string]string{"child": "children kids kid", "person": "people persons", "man": "men", "woman": "women", "foot": "feet", "tooth": "teeth", "mouse": "mice"}

// otherForms returns other forms of a value of one word: an irregular plural, and what is
// written with a hyphen in one word ("ebooks" for E-book).
func otherForms(key, text string) string {
	if strings.Count(key, " ") != 1 || strings.Count(text, "-") != 1 || strings.ContainsAny(key, "0123456789") {
		return irregular[key]
	}
	joined := strings.ReplaceAll(key, " ", "")
	return joined + " " + joined + "s"
}

// recognizeValues claims values by their words, the last perhaps in the plural; by the
// everyday word for them; and misspelt ones, which is said.
func recognizeValues(q *Query) []Claim {
	var out []Claim
	for _, fv := range q.values.fields {
		for i := range q.Tokens {
			value, to, ok := fv.longestAt(q, i)
			if !ok {
				value, to, ok = fv.pluralAt(q, i)
			}
			if !ok {
				continue
			}
			named := q.besideName(fv.field, i, to)
			if to == i+1 && stopWords[q.Tokens[i].Lower] && !named && (q.Word(i-1) != "with" || len(q.Tokens[i].Text) < 3) {
				continue
			}
			c := Claim{From: i, To: to, Conditions: []Condition{Is(fv.field.Name, value.Text)}}
			switch t := &q.Tokens[i]; {
			case named:
				c.Weight = 1
			case !t.capital && t.digits == 0:
				c.Weak = WeakNoun
			}
			out = append(out, c)
		}
	}
	for i := range q.Tokens {
		if c, ok := q.values.otherwise(q, i); ok {
			out = append(out, c)
		}
	}
	return out
}

// otherwise reads a value by another word for it, or misspelt.
func (x *valueIndex) otherwise(q *Query, i int) (Claim, bool) {
	if c, ok := x.everyday[q.Tokens[i].Lower]; ok {
		return Claim{From: i, To: i + 1, Conditions: []Condition{c}, Weight: -1, Weak: WeakNoun}, true
	}
	near, ok := q.Nearest(i, x.spelled)
	if !ok {
		return Claim{}, false
	}
	c, ok := x.byWord[near]
	return Claim{From: i, To: i + 1, Conditions: assumed([]Condition{c}, q.Tokens[i].Text, near), Weight: -5, Weak: WeakNoun}, ok
}

// pluralAt is longestAt for a value whose last word is in the plural: "head torches".
func (fv *fieldValues) pluralAt(q *Query, i int) (Value, int, bool) {
	var key string
	for n := 0; n < fv.longest && i+n < len(q.Tokens) && (n == 0 || q.Tokens[i+n].joins); n++ {
		for _, s := range singulars(q.Tokens[i+n].Lower) {
			if v, ok := fv.byWords[key+s]; ok && len(s) > 2 {
				return v, i + n + 1, true
			}
		}
		key += q.Tokens[i+n].Lower + " "
	}
	return Value{}, i, false
}

// besideName reports whether the field of a value is named beside it: "priority high".
func (q *Query) besideName(f filter.Field, from, to int) bool {
	words := Words(strings.ReplaceAll(f.Name, "_", " "))
	return q.HasWords(from-len(words), words...) || q.HasWords(to, words...)
}
