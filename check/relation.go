package check

import (
	"strings"

	"github.com/sextant-rag/sextant"
)

// relationWords say where or when something is, seen from the thing named behind them.
// Those of one line exclude those on the other side of it.
var relationWords = []struct{ first, second string }{
	{"in front of|ahead of", "behind|in back of"},
	{"above|over", "beneath|below|under|underneath"},
	{"inside|within|in", "outside|outside of"},
	{"beyond|past", "short of"},
	{"into", "out of"},
	{"toward|towards", "away from"},
	{"close to|near|adjacent to|next to", "far from"},
	{"before|prior to|until|at the time of|at", "after|since|following"},
	{"after|since|following|at the time of|at", "before|prior to"},
}

// relation is a place or time seen from a thing.
type relation struct {
	words  string
	anchor *token
}

// relations reads where and when things are: the words and the first word of meaning, number
// or year behind them.
func (r *reading) relations() []relation {
	var out []relation
	for i := range r.tokens {
		if r.tokens[i].kind != word || !relationBegins[r.tokens[i].lower] {
			continue
		}
		for n := 4; n >= 1; n-- {
			if words := r.lowered(i, i+n); isRelation[words] {
				if k := r.anchor(i + n); k >= 0 {
					out = append(out, relation{words, &r.tokens[k]})
				}
				break
			}
		}
	}
	for i := range r.tokens {
		t := &r.tokens[i] // a post accident check; the preflight inspection
		if (t.lower == "post" || t.lower == "pre") && t.kind == word {
			if k := r.skip(i+1, "-"); r.at(k).kind == word {
				out = append(out, relation{map[string]string{"post": "after", "pre": "before"}[t.lower], r.at(k)})
			}
		}
	}
	return out
}

// anchor returns the last of the words of meaning that begin at token i, or a number there.
func (r *reading) anchor(i int) int {
	last := -1
	for k := i; k < min(i+6, len(r.tokens)); k++ {
		t := &r.tokens[k]
		switch {
		case t.kind == number && last < 0 && !isYear(t) && !t.taken: // a measure: above 3,000 feet
			return -1
		case k == i && strings.HasSuffix(t.lower, "ing"):
			return k
		case t.kind == number || t.kind == word && !functionWords[t.lower] && !r.verb(k):
			last = k
		case last >= 0 || t.kind == mark && t.text != "-" || t.kind == word && !nounBefore[t.lower]:
			return last
		}
	}
	return last
}

var isRelation, relationBegins = func() (all, begins map[string]bool) {
	all, begins = map[string]bool{}, map[string]bool{}
	for _, line := range relationWords {
		for _, words := range strings.Split(line.first+"|"+line.second, "|") {
			first, _, _ := strings.Cut(words, " ")
			all[words], begins[first] = true, true
		}
	}
	return all, begins
}()

// relationFault finds that something is said to be behind what the evidence has it in front
// of, or after what it has it before.
func relationFault(said, have *reading) *fault {
	mine := said.relations()
	if len(mine) == 0 {
		return nil
	}
	theirs := have.relations()
	for _, m := range mine {
		own, other := false, ""
		for _, t := range theirs {
			if !alikeWords(m.anchor, t.anchor) && m.anchor.text != t.anchor.text {
				continue
			}
			if excludes(m.words, t.words) {
				other = t.words
			} else {
				own = true
			}
		}
		if other != "" && !own {
			return faulty(sextant.FaultComparison, "it says %q of %q, its quotes %q", m.words, m.anchor.text, other)
		}
	}
	return nil
}

func excludes(a, b string) bool {
	for _, line := range relationWords {
		first, second := "|"+line.first+"|", "|"+line.second+"|"
		if strings.Contains(first, "|"+a+"|") && strings.Contains(second, "|"+b+"|") || strings.Contains(second, "|"+a+"|") && strings.Contains(first, "|"+b+"|") {
			return true
		}
	}
	return false
}
