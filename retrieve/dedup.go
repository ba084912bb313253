package retrieve

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/signal"
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
	if len(passages) < 2 {
		return slices.Clone(passages), nil
	}
	said := make([]facts, len(passages))
	for i, p := range passages {
		said[i] = factsOf(p)
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
			case said[i].within(said[j]):
				gone[i] = true
				dropped = append(dropped, Dropped{passages[i], "all it says stands in " + passages[j].ChunkID})
			case said[j].within(said[i]):
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

// facts are the things a passage says, in whatever order: stems of words that carry
// meaning. Numbers, identifiers and denials are kept as they stand, in their order: "2 of 3"
// is not "3 of 2".
type facts struct {
	stems map[string]bool
	exact []string
}

func factsOf(p sextant.Passage) facts {
	text := p.Title + "\n" + p.Content
	out := facts{stems: signal.Stems(text)}
	for word := range strings.FieldsSeq(text) {
		word = strings.ToLower(strings.Trim(word, `.,;:!?()[]"'“”‘’`+"`"))
		if strings.ContainsFunc(word, unicode.IsDigit) || denies[word] {
			out.exact = append(out.exact, word)
		}
	}
	return out
}

// denies are words that turn a statement round.
var denies = map[string]bool{"no": true, "not": true, "never": true, "none": true, "nor": true, "without": true, "neither": true, "cannot": true, "except": true, "unless": true}

// within reports whether b says all that f says.
func (f facts) within(b facts) bool {
	if len(f.stems) > len(b.stems) || len(f.exact) > len(b.exact) {
		return false
	}
	for stem := range f.stems {
		if !b.stems[stem] {
			return false
		}
	}
	at := 0
	for _, word := range f.exact {
		next := slices.Index(b.exact[at:], word)
		if next < 0 {
			return false
		}
		at += next + 1
	}
	return true
}
