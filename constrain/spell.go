package constrain

import "slices"

// nearest finds the one candidate a word is a misspelling of: within one edit of
// a word of five to seven letters, two of a longer one, first letters equal, and no
// other candidate as near. Real words of the language are never misspellings.
func (q *Query) nearest(word string, candidates []string) (string, bool) {
	if len(word) < 4 || q.Lexicon.Words[word] || q.stop[word] {
		return "", false
	}
	limit := 1
	if len(word) >= 8 {
		limit = 2
	}
	best, at, tied := "", limit+1, false
	for _, c := range candidates {
		if c == word || len(c) < 5 || c[0] != word[0] {
			continue
		}
		switch d := editDistance(word, c, limit); {
		case d < at:
			best, at, tied = c, d, false
		case d == at && c != best:
			tied = true
		}
	}
	return best, at <= limit && !tied
}

// editDistance is the optimal string alignment distance (insertions, deletions,
// substitutions and swaps of neighbours), or limit+1 as soon as it must be more.
func editDistance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	before := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	next := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		if slices.Min(next) > limit {
			return limit + 1
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
