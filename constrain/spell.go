package constrain

import (
	"slices"
	"strings"
)

// Candidates are words that a misspelt one may stand for, by first letter. It is
// immutable.
type Candidates struct{ byFirst [256][]string }

// NewCandidates prepares lower-case words of five letters and more; shorter ones have
// too many neighbours to be guessed.
func NewCandidates(words []string) *Candidates {
	c := &Candidates{}
	words = slices.Clone(words)
	slices.Sort(words)
	for _, w := range slices.Compact(words) {
		if len(w) >= 5 && len(w) <= maxSpelt {
			c.byFirst[w[0]] = append(c.byFirst[w[0]], w)
		}
	}
	return c
}

const maxSpelt = 24

// Nearest finds the one candidate that token i is a misspelling of: within one edit of
// a word of up to seven letters, two of a longer one, first letters equal, and no other
// candidate as near. Words of the language and words with digits are no misspellings.
func (q *Query) Nearest(i int, c *Candidates) (string, bool) {
	t := &q.Tokens[i]
	word := t.Lower
	if len(word) < 4 || len(word) > maxSpelt || t.digits > 0 || q.RealWord(word) {
		return "", false
	}
	limit := 1
	if len(word) >= 8 {
		limit = 2
	}
	best, at, tied := "", limit+1, false
	for _, candidate := range c.byFirst[word[0]] {
		if candidate == word {
			return "", false
		}
		switch d := editDistance(word, candidate, limit); {
		case d < at:
			best, at, tied = candidate, d, false
		case d == at && d <= limit:
			tied = true
		}
	}
	return best, at <= limit && !tied
}

// RealWord reports whether a word in small letters, or what it is the plural of, is known
// to the lexicon as one of the language or of the domain's names.
func (q *Query) RealWord(word string) bool {
	if q.Lexicon.Words[word] || q.Lexicon.Names[word] || stopWords[word] {
		return true
	}
	for _, s := range singulars(word) {
		if q.Lexicon.Words[s] || q.Lexicon.Names[s] {
			return true
		}
	}
	return false
}

// editDistance is the optimal string alignment distance (insertions, deletions,
// substitutions and swaps of neighbours) of words of at most maxSpelt bytes, or
// limit+1 as soon as it must be more.
func editDistance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	var rows [3][maxSpelt + 1]int
	before, row, next := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
			least = min(least, next[j])
		}
		if least > limit {
			return limit + 1
		}
		before, row, next = row, next, before
	}
	return min(row[len(b)], limit+1)
}

// Near returns up to n values of a field that a text may have been meant for: within
// two edits, first letters equal, the nearest and then the commonest first.
func (v *Vocabulary) Near(field, text string, n int) []string {
	fv := v.fields[field]
	wanted := strings.ToLower(strings.Join(Words(text), " "))
	if fv == nil || wanted == "" || len(wanted) > maxSpelt {
		return []string{}
	}
	const limit = 2
	var near [limit + 1][]string
	for _, value := range fv.values {
		have := strings.ToLower(value.Text)
		if have == "" || have[0] != wanted[0] || len(have) > maxSpelt {
			continue
		}
		if d := editDistance(wanted, have, limit); d <= limit {
			near[d] = append(near[d], value.Text)
		}
	}
	out := append([]string{}, slices.Concat(near[:]...)...)
	return out[:min(n, len(out))]
}
