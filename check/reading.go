package check

import (
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant"
)

// reading is what a text says that can be compared: its words, and the facts among them
// in a form in which two spellings of one fact are equal.
type reading struct {
	text       string
	tokens     []token
	begin      int // where the statement begins, behind words that only name its source
	dates      []date
	times      []int // minutes of the day
	codes      []code
	quantities []quantity
	content    []int           // indexes of the words that carry meaning
	stems      map[string]bool // of all words
	shouted    bool            // capitals only: they tell nothing
	documents  []string        // of evidence: all that its documents say
	body       int             // words of content before the titles

	// Found when first asked for: one evidence is compared with many statements.
	linked  []link
	parts   []clause
	hasRead struct{ links, clauses bool }
}

func read(text string) *reading {
	tokens := lex(text)
	r := &reading{text: text, tokens: tokens, stems: make(map[string]bool, len(tokens))}
	r.attribute()
	r.shouted = shouted(r.tokens)
	r.readDates()
	r.readCodes()
	r.readQuantities()
	for i := range r.tokens {
		t := &r.tokens[i]
		if t.kind != word {
			continue
		}
		r.stems[t.stem] = true
		if !t.taken && !functionWords[t.lower] && len(t.lower) > 1 && !(t.lower == "course" && r.lowered(i-2, i+2) == "in the course of") {
			r.content = append(r.content, i)
		}
	}
	r.body = len(r.content)
	for i := range r.tokens {
		if r.tokens[i].text == titles {
			r.body, _ = slices.BinarySearch(r.content, i)
			break
		}
	}
	return r
}

// attribute takes the words at the beginning that only name the source: "The report says
// that", "According to the rule,".
func (r *reading) attribute() {
	i := r.skip(0, "according", "to", "the", "this", "accident")
	if i == 0 || !publications[r.at(i).lower] {
		return
	}
	i++
	switch {
	case r.at(0).lower == "according" && r.at(i).text == ",":
	case reporting[r.at(i).lower] && r.at(i+1).lower == "that":
		i++
	default:
		return
	}
	r.begin = i + 1
	r.take(0, r.begin)
}

var publications = setOf("report", "document", "record", "records", "source", "narrative", "regulation", "rule", "section", "text", "article", "study", "investigation", "board")

var reporting = setOf("says", "said", "states", "stated", "notes", "noted", "shows", "showed", "reports", "found", "determined", "concluded", "requires", "provides", "specifies")

// shouted reports whether a text is written in capitals.
func shouted(tokens []token) bool {
	upper, lower := 0, 0
	for _, t := range tokens {
		if t.kind != word || len(t.text) < 2 {
			continue
		}
		if t.text == t.lower || t.text[1:] == t.lower[1:min(len(t.text), len(t.lower))] {
			lower++
		} else {
			upper++
		}
	}
	return upper > 3*lower
}

// nothing is what stands beyond the ends of a text.
var nothing = token{kind: mark}

// at returns token i, or one that is nothing beyond the ends. It is only to be read.
func (r *reading) at(i int) *token {
	if i < 0 || i >= len(r.tokens) {
		return &nothing
	}
	return &r.tokens[i]
}

// skip returns the first index from i on whose token is none of those, looking at no more
// than one for each.
func (r *reading) skip(i int, lower ...string) int {
	for range lower {
		if !slices.Contains(lower, r.at(i).lower) || i >= len(r.tokens) {
			break
		}
		i++
	}
	return i
}

func (r *reading) take(i, n int) {
	for k := i; k < min(i+n, len(r.tokens)); k++ {
		r.tokens[k].taken = true
	}
}

// says reports whether a number stands in a text, whatever it counts.
func (r *reading) says(value float64) bool {
	return slices.ContainsFunc(r.quantities, func(q quantity) bool { return same(q.value, value) })
}

// fault is what a statement got wrong.
type fault struct {
	kind   sextant.Fault
	reason string
}

func faulty(kind sextant.Fault, format string, args ...any) *fault {
	return &fault{kind, fmt.Sprintf(format, args...)}
}
