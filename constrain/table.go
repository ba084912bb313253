package constrain

import (
	"cmp"
	"slices"
	"strings"
)

// Table finds the longest of its entries that starts at a token. An entry is a run of
// words; hyphens, dots and blanks between them are one. It is immutable.
type Table[V any] struct {
	rows map[string][]row[V] // by the first word, longest first
	gaps string              // gaps that do not end an entry, beside those of Token.Joins
}

type row[V any] struct {
	rest  []string
	value V
}

// NewTable makes a table of entries by their words.
func NewTable[V any](entries map[string]V) *Table[V] {
	t := &Table[V]{rows: make(map[string][]row[V], len(entries))}
	for text, value := range entries {
		t.add(Words(text), value)
	}
	t.sort()
	return t
}

func (t *Table[V]) add(words []string, value V) {
	if len(words) > 0 {
		t.rows[words[0]] = append(t.rows[words[0]], row[V]{words[1:], value})
	}
}

func (t *Table[V]) sort() {
	for _, rows := range t.rows {
		slices.SortStableFunc(rows, func(a, b row[V]) int {
			return cmp.Or(cmp.Compare(len(b.rest), len(a.rest)), slices.Compare(a.rest, b.rest))
		})
	}
}

// At finds the longest entry at token i and the token after it.
func (t *Table[V]) At(q *Query, i int) (value V, to int, ok bool) { return t.at(q, i, false) }

// of returns the entry that is exactly these words.
func (t *Table[V]) of(words []string) (value V, ok bool) {
	if len(words) == 0 {
		return value, false
	}
	for _, r := range t.rows[words[0]] {
		if slices.Equal(r.rest, words[1:]) {
			return r.value, true
		}
	}
	return value, false
}

// PluralAt is At for names of things: the last word may be a plural or genitive.
func (t *Table[V]) PluralAt(q *Query, i int) (value V, to int, ok bool) { return t.at(q, i, true) }

func (t *Table[V]) at(q *Query, i int, plurals bool) (value V, to int, ok bool) {
	if i < 0 || i >= len(q.Tokens) {
		return value, i, false
	}
	word := q.Tokens[i].Lower
	for _, r := range t.rows[word] {
		if end := i + 1 + len(r.rest); t.matches(q, i+1, r.rest, plurals) {
			return r.value, end, true
		}
	}
	if !plurals {
		return value, i, false
	}
	for _, s := range singulars(word) {
		for _, r := range t.rows[s] {
			if len(r.rest) == 0 {
				return r.value, i + 1, true
			}
		}
	}
	return value, i, false
}

func (t *Table[V]) matches(q *Query, i int, words []string, plurals bool) bool {
	if i+len(words) > len(q.Tokens) {
		return false
	}
	for k, w := range words {
		token := &q.Tokens[i+k]
		if !token.joins && (t.gaps == "" || token.Gap != t.gaps) {
			return false
		}
		if token.Lower != w && !(plurals && k == len(words)-1 && isPlural(token.Lower, w)) {
			return false
		}
	}
	return true
}

// singulars returns what a word may be the plural or genitive of.
func singulars(word string) []string {
	if !strings.HasSuffix(word, "s") {
		return nil
	}
	var out []string
	if s, ok := strings.CutSuffix(word, "ies"); ok && len(s) > 1 {
		out = append(out, s+"y")
	}
	if s, ok := strings.CutSuffix(word, "es"); ok && len(s) > 2 {
		out = append(out, s)
	}
	if s := word[:len(word)-1]; len(s) > 1 && !strings.HasSuffix(s, "s") {
		out = append(out, s)
	}
	return out
}

// isPlural reports whether word is a plural or genitive of singular.
func isPlural(word, singular string) bool {
	if len(word) <= len(singular) || len(singular) < 2 || word[len(word)-1] != 's' {
		return false
	}
	if strings.HasPrefix(word, singular) {
		return len(word) == len(singular)+1 && !strings.HasSuffix(singular, "s") || len(word) == len(singular)+2 && strings.HasSuffix(word, "es") && len(singular) > 2
	}
	stem, ok := strings.CutSuffix(word, "ies")
	return ok && len(stem) > 1 && stem+"y" == singular
}

// set makes a set of words.
func set(text string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		out[w] = true
	}
	return out
}

// phrases makes a table in which every phrase of a comma-separated text has the value.
func phrases[V any](value V, text string) map[string]V {
	out := map[string]V{}
	for p := range strings.SplitSeq(text, ",") {
		out[strings.TrimSpace(p)] = value
	}
	return out
}

// tableOf joins maps of entries into one table.
func tableOf[V any](parts ...map[string]V) *Table[V] {
	t := &Table[V]{rows: map[string][]row[V]{}}
	for _, part := range parts {
		for text, value := range part {
			t.add(Words(text), value)
		}
	}
	t.sort()
	return t
}
