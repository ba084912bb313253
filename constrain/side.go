package constrain

import (
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Side is one of the things that a question sets against each other, as it is called there.
type Side struct {
	Label       string
	Constraints []Constraint
}

// sides finds what a question sets side by side and no single condition could tell apart:
// a value and its opposite ("in Leeds and elsewhere"), which nothing satisfies at once;
// the two values of a flag; and names that stand for conditions on two fields. Values of
// one field are told apart by themselves.
func (q *Query) sides(r *Reading, claims []Claim) {
	if q.opposites(r, claims) {
		return
	}
	if a, b, ok := q.excluding(r.Constraints); ok && (r.Request.Compared || q.paired(a, b)) {
		r.Sides = []Side{sideOf(a), sideOf(b)}
		r.Request.Compared = true
		return
	}
	if !r.Request.Compared {
		return
	}
	var named []Claim
	specificOnes := 0
	for _, c := range claims {
		if c.Negated && !isFlag(c.Conditions[0]) || len(named) > 0 && !sharesField(named[0], c) {
			continue
		}
		if specific(c) {
			specificOnes++
		} else if len(c.Conditions) != 1 || c.Conditions[0].Op != sextant.OpEq || !(isFlag(c.Conditions[0]) || slices.ContainsFunc(claims, func(d Claim) bool { return specific(d) && sharesField(c, d) })) {
			continue
		}
		named = append(named, c)
	}
	if len(named) < 2 || specificOnes == 0 && !isFlag(named[0].Conditions[0]) || oneName(named) {
		q.acrossFields(r, claims)
		return
	}
	for _, c := range named {
		r.Sides = append(r.Sides, Side{denied(q.words(c), c.Negated), q.join([]Claim{c})})
	}
}

// opposites sets two claims side by side of which each says what the other denies. What
// else is said of their field ("excluding York") holds for both sides.
func (q *Query) opposites(r *Reading, claims []Claim) bool {
	said := make([]Constraint, 0, len(claims))
	var from []int
	for i, c := range claims {
		if one := q.join([]Claim{c}); len(one) == 1 && valued(one[0].Op) && !isSpans(one[0]) {
			said, from = append(said, one[0]), append(from, i)
		}
	}
	for i, a := range said {
		for _, b := range said[i+1:] {
			if !opposed(a, b) || !r.Request.Compared && !q.paired(a, b) {
				continue
			}
			var rest []Claim
			for k, c := range claims {
				if at := slices.Index(from, k); at < 0 || said[at].Field != a.Field || !slices.Equal(said[at].Values, a.Values) {
					rest = append(rest, c)
				}
			}
			r.Sides, r.Request.Compared, r.Constraints = []Side{sideOf(a), sideOf(b)}, true, q.join(rest)
			return true
		}
	}
	return false
}

// acrossFields sets the conditions around a comparing word side by side that are on different
// fields: "Acme tickets against urgent ones". Joined they would be one group, which nobody
// compares with anything.
func (q *Query) acrossFields(r *Reading, claims []Claim) {
	for i := range q.Tokens {
		_, to, ok := versusWords.At(q, i)
		if !ok {
			continue
		}
		left, right := -1, -1
		for k, c := range claims {
			if c.Conditions[0].Field == q.Lexicon.Dates || c.Negated {
				continue
			}
			switch {
			case c.To <= i:
				left = k
			case c.From >= to && right < 0:
				right = k
			}
		}
		if left < 0 || right < 0 || claims[left].From > 0 && i-claims[left].To > nearSide || q.alongside(claims, i) {
			continue
		}
		a, b := claims[left], claims[right]
		rest := q.join(slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return c.From == a.From || c.From == b.From }))
		if !r.Request.Sided() {
			together := "are not told apart here: the figure is over both together"
			if either, ok := q.either(a, b); ok {
				rest = append(rest, either)
			} else {
				together = "are not told apart here, nor is the figure restricted to them"
			}
			r.Constraints = rest
			r.Notes = append(r.Notes, fmt.Sprintf("“%s” and “%s” %s; ask for each by itself", q.words(a), q.words(b), together))
			return
		}
		r.Sides, r.Constraints = []Side{{q.words(a), q.join([]Claim{a})}, {q.words(b), q.join([]Claim{b})}}, rest
		return
	}
}

// Sided reports whether a request can be answered for each of several sides: what counts
// or lists can, rows and sums have no place for them.
func (r Request) Sided() bool {
	return r.Kind == "" || r.Kind == "count" || r.Kind == "list" || r.Kind == "share"
}

// EitherNote begins the note of a condition that something else satisfies as well, in the
// words of the question: "or helicopter".
const EitherNote = "or "

// either joins two claims on different fields into a condition that each satisfies, for
// requests that no side can be told apart in. Fields of different groups of a document have
// no such condition.
func (q *Query) either(a, b Claim) (Constraint, bool) {
	group, held := q.groupOf(a.Conditions[0].Field)
	for _, k := range append(slices.Clone(a.Conditions), b.Conditions...) {
		if g, ok := q.groupOf(k.Field); !ok || !held || g != group || isMention(k.Op) {
			return Constraint{}, false
		}
	}
	out := q.join([]Claim{a})[0]
	out.Note = EitherNote + q.words(b)
	out.Narrow = filter.Or{q.allOf(a), q.allOf(b)}
	q.cover(&out, q.join([]Claim{b})[0])
	return out, true
}

// allOf is the filter of all that a claim says.
func (q *Query) allOf(c Claim) filter.Filter {
	var out filter.And
	for _, k := range q.join([]Claim{c}) {
		out = append(out, compileOne(q.Lexicon, k))
	}
	return out
}

// groupOf returns the group of a field of events.
func (q *Query) groupOf(field string) (string, bool) {
	for _, spec := range q.Vocabulary.Collections {
		if f, ok := spec.Schema.Field(field); ok {
			return f.Group, true
		}
	}
	return "", false
}

// nearSide is how many words may stand between a side and the word that compares.
const nearSide = 2

// alongside reports whether a claim before token i is on a field of one behind it: then
// values of one field are compared.
func (q *Query) alongside(claims []Claim, i int) bool {
	for _, a := range claims {
		for _, b := range claims {
			if a.To <= i && b.From > i && sharesField(a, b) && a.Conditions[0].Field != q.Lexicon.Dates {
				return true
			}
		}
	}
	return false
}

func sideOf(c Constraint) Side { return Side{denied(c.Text, c.Negated), []Constraint{c}} }

// denied is what a side is called whose words are denied by others before them.
func denied(words string, negated bool) string {
	if negated {
		return "not " + words
	}
	return words
}

// excluding returns two constraints of which each says what the other denies.
func (q *Query) excluding(cs []Constraint) (a, b Constraint, ok bool) {
	for i, c := range cs {
		for _, d := range cs[i+1:] {
			if opposed(c, d) {
				return c, d, true
			}
		}
	}
	return a, b, false
}

func opposed(c, d Constraint) bool {
	return c.Field == d.Field && valued(c.Op) && valued(d.Op) && denies(c.Op) != denies(d.Op) && slices.Equal(c.Values, d.Values) && !isSpans(c)
}

// paired reports whether two constraints stand in one list: "here and abroad", "both in
// Leeds and outside it". A condition and its denial apart from each other are none.
func (q *Query) paired(a, b Constraint) bool {
	if a.Start > b.Start {
		a, b = b, a
	}
	joined := false
	for _, t := range q.Tokens {
		if t.Start < a.End || t.Start >= b.Start {
			continue
		}
		joined = joined || pairing[t.Lower]
		if !listWords[t.Lower] && !pairing[t.Lower] && !light[t.Lower] && !negations[t.Lower] && !adjacentOnly[t.Lower] {
			return false
		}
	}
	return joined
}

var pairing = set(`and or as well against versus vs compared`)

// isFlag reports whether a condition is one value of a field that has two.
func isFlag(c Condition) bool {
	if len(c.Values) != 1 {
		return false
	}
	switch v := c.Values[0].(type) {
	case bool:
		return true
	case string:
		return v == "yes" || v == "no"
	}
	return false
}

// oneName reports whether claims differ in one field only, whose values tell them apart.
func oneName(claims []Claim) bool {
	for _, c := range claims {
		if len(c.Conditions) != len(claims[0].Conditions) || len(c.Conditions) == 2 && !slices.Equal(c.Conditions[0].Values, claims[0].Conditions[0].Values) {
			return false
		}
	}
	return !isFlag(claims[0].Conditions[0])
}

func sharesField(a, b Claim) bool {
	return len(b.Conditions) > 0 && a.Conditions[0].Field == b.Conditions[0].Field
}
