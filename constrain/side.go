package constrain

import (
	"slices"

	"github.com/sextant-rag/sextant"
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
		r.Sides = []Side{{q.words(a), q.join([]Claim{a})}, {q.words(b), q.join([]Claim{b})}}
		r.Constraints = q.join(slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return c.From == a.From || c.From == b.From }))
		return
	}
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
