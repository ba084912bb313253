package retrieve

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/lexical"
)

// Dropped is a passage that refinement left out, and why.
type Dropped struct {
	Passage sextant.Passage
	Reason  string
}

// Dedup leaves out passages whose every fact stands in another one that is kept: each of
// their content words (as stems), numbers, names and negations, title included. Of two
// passages the one that says more stays, at the better of their places. What is kept is kept
// byte for byte, and near words are not enough: a passage with one detail more than its twin
// is no duplicate of it.
func Dedup(passages []sextant.Passage) (kept []sextant.Passage, dropped []Dropped) {
	facts := make([]map[string]bool, len(passages))
	for i, p := range passages {
		facts[i] = factsOf(p)
	}
	gone := make([]bool, len(passages))
	place := make([]int, len(passages)) // by passage: where it stands in the order
	for i := range passages {
		place[i] = i
	}
	for i := range passages {
		for j := range i {
			if gone[i] || gone[j] {
				continue
			}
			switch {
			case within(facts[i], facts[j]):
				gone[i] = true
				dropped = append(dropped, Dropped{passages[i], "all it says stands in " + passages[j].ChunkID})
			case within(facts[j], facts[i]):
				gone[j], place[i] = true, min(place[i], place[j])
				dropped = append(dropped, Dropped{passages[j], "all it says stands in " + passages[i].ChunkID})
			}
		}
	}
	var order []int
	for i := range passages {
		if !gone[i] {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return place[a] - place[b] })
	for _, i := range order {
		kept = append(kept, passages[i])
	}
	return kept, dropped
}

// factsOf are the things a passage says, in whatever order: stems of words that carry
// meaning, and whatever has a digit as it stands.
func factsOf(p sextant.Passage) map[string]bool {
	out := map[string]bool{}
	for _, t := range lexical.English().Tokens(p.Title + "\n" + p.Content) {
		out[t.Stem] = true
	}
	for word := range strings.FieldsFuncSeq(p.Title+"\n"+p.Content, unicode.IsSpace) {
		word = strings.ToLower(strings.Trim(word, `.,;:!?()[]"'“”‘’`))
		if strings.ContainsFunc(word, unicode.IsDigit) || denies[word] {
			out["="+word] = true
		}
	}
	return out
}

// denies are words that an analyzer may pass over and that turn a statement round.
var denies = map[string]bool{"no": true, "not": true, "never": true, "none": true, "nor": true, "without": true, "neither": true, "cannot": true, "except": true, "unless": true}

func within(a, b map[string]bool) bool {
	if len(a) > len(b) {
		return false
	}
	for fact := range a {
		if !b[fact] {
			return false
		}
	}
	return true
}
