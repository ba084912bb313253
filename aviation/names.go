package aviation

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant/constrain"
)

//go:embed vocabulary/designations.tsv
var designationTable string

//go:embed vocabulary/makers.txt
var makerTable string

// nickname is what people call a type: its maker ("" is none) and the parts of the
// model that the records know it by.
type nickname struct {
	make   string
	models []string
}

// names finds makers and nicknames in a question.
type names struct {
	makers    *constrain.Table[string] // canonical makers
	nicknames *constrain.Table[nickname]
	spelled   *constrain.Candidates // makers and nicknames of one word, for misspellings
	makerOf   map[string]string
	nickOf    map[string]nickname
}

var loadNames = sync.OnceValue(func() *names {
	n := &names{makerOf: map[string]string{}, nickOf: map[string]nickname{}}
	for canonical := range makeGroups() {
		n.makerOf[canonical] = canonical
	}
	for line := range lines(makerTable) {
		if words, canonical, ok := strings.Cut(line, "="); ok {
			n.makerOf[words] = strings.TrimSpace(canonical)
		}
	}
	n.makerOf = byWords(n.makerOf)
	for line := range lines(designationTable) {
		cells := strings.Split(line, "\t")
		if len(cells) != 3 {
			panic("aviation: designations: " + line)
		}
		nick := nickname{models: strings.Split(cells[2], "|")}
		if cells[1] != "-" {
			nick.make = cells[1]
		}
		for words := range strings.SplitSeq(cells[0], "|") {
			n.nickOf[words] = nick
		}
	}
	n.makers, n.nicknames = constrain.NewTable(n.makerOf), constrain.NewTable(n.nickOf)
	n.spelled = constrain.NewCandidates(n.wellKnown())
	return n
})

// byWords keys entries by their words joined by blanks.
func byWords[V any](in map[string]V) map[string]V {
	out := make(map[string]V, len(in))
	for text, v := range in {
		out[strings.Join(constrain.Words(text), " ")] = v
	}
	return out
}

// wellKnown returns the names that a misspelt word may stand for: those of one word
// that are no other word, and nicknames only where they are long. A rare name is a
// rarer mistake than an unknown word is a word.
func (n *names) wellKnown() []string {
	var out []string
	for words, canonical := range n.makerOf {
		if _, grouped := makeGroups()[canonical]; grouped && !strings.Contains(words, " ") && likeness(words) == likeNothing {
			out = append(out, words)
		}
	}
	for words := range n.nickOf {
		if len(words) >= 7 && !strings.Contains(words, " ") && likeness(words) == likeNothing {
			out = append(out, words)
		}
	}
	slices.Sort(out)
	return out
}

func (n *names) makerAt(q *constrain.Query, i int) (string, int, bool) {
	return n.makers.PluralAt(q, i)
}

func (n *names) nicknameAt(q *constrain.Query, i int) (nickname, int, bool) {
	return n.nicknames.PluralAt(q, i)
}

// endsHere reports whether a maker's or a type's name ends right before token i.
func (n *names) endsHere(q *constrain.Query, i int) bool {
	for k := max(0, i-3); k < i; k++ {
		if _, to, ok := n.makerAt(q, k); ok && to == i {
			return true
		}
		if _, to, ok := n.nicknameAt(q, k); ok && to == i {
			return true
		}
	}
	return false
}

// misspelt reads one word as the maker or nickname it must be meant for.
func (n *names) misspelt(q *constrain.Query, i int) (near, assumed string, ok bool) {
	near, ok = q.Nearest(i, n.spelled)
	if !ok {
		return "", "", false
	}
	return near, constrain.Assumption(q.Tokens[i].Text, near), true
}

// Made reports whether the tokens from i name an aircraft that lost power and not
// the accidents of one: after "the 1999" it is its year of manufacture.
func Made(q *constrain.Query, i int) bool {
	n := loadNames()
	_, to, ok := n.makerAt(q, i)
	if !ok {
		if _, to, ok = n.nicknameAt(q, i); !ok {
			return false
		}
	}
	for ; to < len(q.Tokens) && to < i+5; to++ {
		if q.EventNoun(to) {
			return q.Word(to-1) == "that" || q.Word(to-1) == "which" // "the 1946 Ercoupe that crashed"
		}
	}
	return true
}
