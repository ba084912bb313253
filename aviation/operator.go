package aviation

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant/constrain"
)

//go:embed vocabulary/operators.tsv
var operatorTable string

// spokenCarrier is a carrier that people name without "airlines".
type spokenCarrier struct {
	names []any
	alone bool // only where nothing else stands beside it
}

var carriers = sync.OnceValue(func() *constrain.Table[spokenCarrier] {
	entries := map[string]spokenCarrier{}
	for line := range lines(operatorTable) {
		words, names, _ := strings.Cut(line, "\t")
		for w := range strings.SplitSeq(words, "|") {
			entries[w] = spokenCarrier{anys(strings.Split(names, "|")), strings.HasPrefix(w, "[")}
		}
	}
	return constrain.NewTable(entries)
})

// suffixes of a carrier's name, which its records spell in many ways.
var (
	carrierWords = constrain.NewTable(map[string]bool{"air lines": true, "airlines": true, "airline": true, "airways": true, "air line": true, "aviation": false, "express": false, "air": false})
	flownBy      = constrain.NewTable(map[string]bool{"flown by": true, "operated by": true, "belonging to": true, "owned by": true, "run by": true, "of the operator": true})
)

// operators claims carriers: "flown by Southwest", "Delta Air Lines accidents", "FedEx".
func operators(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		for _, read := range []func(*constrain.Query, int) (constrain.Claim, bool){carrier, airNamed, airline, flown} {
			if c, ok := read(q, i); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

func operatedBy(from, to int, names ...any) constrain.Claim {
	return constrain.Claim{From: from, To: to, Conditions: []constrain.Condition{constrain.Contains("operator", names...)}, Weight: 8}
}

func carrier(q *constrain.Query, i int) (constrain.Claim, bool) {
	c, to, ok := carriers().At(q, i)
	return operatedBy(i, to, c.names...), ok && (q.Tokens[i].Capital() || q.AllLower()) && (!c.alone || q.Alone(i, to) || besideCarrier(q, i, to))
}

// besideCarrier reports whether another carrier stands against the one at tokens [i, to):
// "Is Delta safer than United?"
func besideCarrier(q *constrain.Query, i, to int) bool {
	for k := range q.Tokens {
		if k < i-4 || k >= i && k < to || k > to+3 {
			continue
		}
		if _, end, ok := carriers().At(q, k); ok && q.Tokens[k].Capital() && setAgainst(q, min(end, to), max(i, k)) {
			return true
		}
	}
	return false
}

// setAgainst reports whether a word between two names compares them.
func setAgainst(q *constrain.Query, from, to int) bool {
	for k := from; k < to; k++ {
		switch q.Word(k) {
		case "than", "vs", "versus", "or", "against":
			return true
		}
	}
	return false
}

// airNamed reads "Air Florida": a carrier that the records have by that name.
func airNamed(q *constrain.Query, i int) (constrain.Claim, bool) {
	if q.Word(i) != "air" || !q.Tokens[i].Capital() || q.AllUpper() || !q.Joined(i+1) || !q.Tokens[i+1].Capital() || !named(q, i+1) || q.Joined(i) && q.Tokens[i-1].Capital() {
		return constrain.Claim{}, false
	}
	name := strings.ToUpper(q.Written(i, i+2))
	_, _, maker := loadNames().makerAt(q, i)
	return operatedBy(i, i+2, name), !maker && q.Vocabulary.Contains("operator", name, 1)
}

// airline reads a name before "airlines": "Turkish Airlines", "united airlines". An
// airline that the records do not hold is a condition nothing satisfies.
func airline(q *constrain.Query, i int) (constrain.Claim, bool) {
	if !named(q, i) {
		return constrain.Claim{}, false
	}
	for to := i + 1; to < len(q.Tokens) && to <= i+3 && q.Joined(to); to++ {
		if sure, end, ok := carrierWords.At(q, to); ok && (q.Tokens[to].Capital() || q.AllLower()) {
			name := strings.ToUpper(q.Written(i, to))
			if !sure { // Era Aviation, but not King Air
				whole := strings.ToUpper(q.Written(i, end))
				_, _, nick := loadNames().nicknameAt(q, i)
				return operatedBy(i, end, whole), !nick && q.Vocabulary.Contains("operator", whole, 1)
			}
			known := q.Vocabulary.Contains("operator", name, 1)
			return operatedBy(i, end, name), known || q.Tokens[i].Capital() && !q.AllUpper() && to == i+1
		}
		if !named(q, to) {
			break
		}
	}
	return constrain.Claim{}, false
}

// named reports whether token i can be a part of a carrier's name.
func named(q *constrain.Query, i int) bool {
	t := q.Tokens[i]
	return (t.Capital() || q.AllLower()) && !stopBefore[t.Lower] && !q.EventNoun(i) && !t.HasDigit() && !notNames[t.Lower]
}

var notNames = wordSet(`general regional commuter scheduled foreign major us domestic international charter passenger cargo commercial national flag other most many all no part which fatal air how what`)

// flown reads the capitalised name after "flown by".
func flown(q *constrain.Query, i int) (constrain.Claim, bool) {
	_, start, ok := flownBy.At(q, i)
	if !ok {
		return constrain.Claim{}, false
	}
	start = q.Skip(start, "the", "a")
	to, end := start, start
	for end < len(q.Tokens) && end < start+5 && q.Tokens[end].Capital() && q.Joined(end) {
		if _, _, isSuffix := carrierWords.At(q, end); !isSuffix || end == start {
			to = end + 1
		}
		end++
	}
	if to == start {
		return constrain.Claim{}, false
	}
	name := strings.ToUpper(q.Written(start, to))
	return operatedBy(i, end, name), q.Vocabulary.Contains("operator", name, 1)
}
