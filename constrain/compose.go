package constrain

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// compose turns the chosen claims into constraints: negation is given its scope,
// values of one field are joined, alternatives are kept exact.
func compose(q *Query, claims []Claim) Reading {
	r := Reading{Request: q.request(claims), Beside: q.besides(claims)}
	for _, c := range claims {
		if c.Cannot != nil {
			u := *c.Cannot
			u.Text = q.words(c)
			r.Unenforceable = append(r.Unenforceable, u)
		}
		if c.Unknown != nil {
			u := *c.Unknown
			if u.Nearest == nil {
				u.Nearest = q.Vocabulary.Near(u.Field, u.Text, maxNearest)
			}
			r.UnknownValues = append(r.UnknownValues, u)
		}
	}
	stating := slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return len(c.Conditions) == 0 })
	q.dateReports(stating)
	q.negate(stating)
	q.groupedAway(&r, &stating)
	q.revisionsAway(&r, &stating)
	part := q.partOfShare(&r, &stating)
	r.Constraints = q.join(stating)
	if q.sides(&r, stating); r.Request.Compared {
		r.Constraints = withoutOpposites(r.Constraints)
	}
	r.Part = q.join(part)
	q.partApart(&r)
	if g := r.Request.Groups; len(g) > mostGroups {
		names := make([]string, 0, len(g)-mostGroups)
		for _, more := range g[mostGroups:] {
			names = append(names, more.Name)
		}
		r.Request.Groups = g[:mostGroups]
		r.Notes = append(r.Notes, "rows are made by two fields at most; ask for them by "+strings.Join(names, " and ")+" apart")
	}
	for _, c := range stating {
		if len(c.Others) > 0 && !c.Negated {
			r.Ambiguous = append(r.Ambiguous, Alternative{Text: q.words(c), Taken: c.Conditions[0], Others: c.Others})
		}
	}
	return r
}

// mostGroups is how many fields rows are made by at most.
const mostGroups = 2

// maxNearest values are shown for one that is unknown.
const maxNearest = 3

func (q *Query) words(c Claim) string {
	start, end := q.extent(c)
	return q.Text[start:end]
}

// extent returns the bytes of a claim's words, with the quotation mark that closes one
// among them: “that mention "carburetor ice"”.
func (q *Query) extent(c Claim) (start, end int) {
	start, end = q.Tokens[c.From].Start, q.Tokens[c.To-1].End
	rest := q.Text[end:]
	rest = rest[len(rest)-len(strings.TrimLeft(rest, ".,*")):]
	for _, marks := range [][2]string{{`"`, `"`}, {"“", "”"}, {"«", "»"}, {"„", "“"}} {
		opened := strings.Count(q.Text[start:end], marks[0])
		if marks[0] == marks[1] && opened%2 == 0 || opened <= strings.Count(q.Text[start:end], marks[1]) && marks[0] != marks[1] {
			continue
		}
		if strings.HasPrefix(rest, marks[1]) {
			return start, len(q.Text) - len(rest) + len(marks[1])
		}
	}
	return start, end
}

var listWords = set(`and or nor the a an in at either vs versus against those with than to s also of any`)

// listed reports whether only list words stand between two claims.
func (q *Query) listed(from, to int) bool {
	if to-from > 4 {
		return false
	}
	for i := from; i < to; i++ {
		if !listWords[q.Tokens[i].Lower] {
			return false
		}
	}
	return to > from || strings.ContainsAny(q.Gap(to), ",/&+")
}

// join makes constraints of claims: one constraint a field and sign.
func (q *Query) join(claims []Claim) []Constraint {
	var out []Constraint
	for _, c := range claims {
		if c.Negated && excluded(c, claims) {
			continue
		}
		for _, cond := range c.Conditions {
			start, end := q.extent(c)
			next := Constraint{Condition: cond, Text: q.Text[start:end], Start: start, End: end, Origin: sextant.FromRule, Negated: c.Negated}
			if c.Negated {
				opposite, meant := q.opposite(next, c)
				if !meant {
					continue
				}
				next = opposite
			}
			out = q.merge(out, next)
		}
	}
	return q.settleDates(narrowAlternatives(claims, out))
}

// excluded reports whether a negated claim denies what other claims leave out anyway:
// "Virginia but not West Virginia", "Kansas City KS, not Kansas City MO".
func excluded(negated Claim, claims []Claim) bool {
	for _, cond := range negated.Conditions {
		stated, same := false, false
		for _, c := range claims {
			for _, d := range c.Conditions {
				if !c.Negated && d.Field == cond.Field && apart(d, cond) {
					return true // "2011 instead of 2010"
				}
				if !c.Negated && d.Field == cond.Field && d.Op == sextant.OpEq && cond.Op == sextant.OpEq && !isSpan(d.Values[0]) {
					stated, same = true, same || d.Values[0] == cond.Values[0]
				}
			}
		}
		if stated && !same {
			return true
		}
	}
	return false
}

// apart reports whether two conditions name periods that have no day in common.
func apart(a, b Condition) bool {
	if len(a.Values) != 1 || len(b.Values) != 1 || !isSpan(a.Values[0]) || !isSpan(b.Values[0]) {
		return false
	}
	_, meet := intersect(a.Values[0].(Span), b.Values[0].(Span))
	return !meet
}

// withoutOpposites drops "in the United States" where "abroad" is compared with it: each
// says what the other does not, and together they say nothing.
func withoutOpposites(cs []Constraint) []Constraint {
	opposite := func(c Constraint) bool {
		return slices.ContainsFunc(cs, func(d Constraint) bool { return opposed(c, d) })
	}
	return slices.DeleteFunc(slices.Clone(cs), opposite)
}

// merge adds a constraint to those of the same field and sign.
func (q *Query) merge(to []Constraint, c Constraint) []Constraint {
	for i := range to {
		if have := &to[i]; have.Field == c.Field && denies(have.Op) == denies(c.Op) && q.mergeValues(have, c) {
			return to
		}
	}
	return append(to, c)
}

func denies(op sextant.Op) bool { return op == sextant.OpNotIn || op == sextant.OpNotContains }

// valued reports whether an operator takes any number of values as alternatives.
func valued(op sextant.Op) bool {
	return op == sextant.OpEq || op == sextant.OpIn || op == sextant.OpContains || denies(op)
}

// mergeValues joins two conditions on one field: values are alternatives, equal
// conditions are one.
func (q *Query) mergeValues(have *Constraint, c Constraint) bool {
	if isSpans(*have) || isSpans(c) {
		return false // dates are settled together, later
	}
	if !valued(have.Op) || !valued(c.Op) {
		return have.Op == c.Op && slices.Equal(have.Values, c.Values)
	}
	if have.Op != c.Op && (have.Op == sextant.OpContains || c.Op == sextant.OpContains) {
		return false
	}
	added := false
	for _, v := range c.Values {
		if !slices.Contains(have.Values, v) {
			have.Values, added = append(slices.Clone(have.Values), v), true
		}
	}
	switch {
	case added:
		q.cover(have, c)
	case len(c.Text) > len(have.Text):
		have.Text, have.Start, have.End = c.Text, c.Start, c.End
	}
	have.Implied = have.Implied && c.Implied
	if have.Op == sextant.OpEq && len(have.Values) > 1 {
		have.Op = sextant.OpIn
	}
	return true
}

// cover makes the words of a constraint reach over those of another.
func (q *Query) cover(have *Constraint, c Constraint) {
	have.Start, have.End = min(have.Start, c.Start), max(have.End, c.End)
	have.Text = q.Text[have.Start:have.End]
}

func isSpans(c Constraint) bool { return len(c.Values) > 0 && isSpan(c.Values[0]) }

func isSpan(v any) bool {
	_, ok := v.(Span)
	return ok
}

// narrowAlternatives keeps "a Mooney or a Bonanza" exact. Joined field by field it
// would read (Mooney or Beech) and (33 or 35 or 36), which no Mooney satisfies; so
// the model constraint goes, and the make constraint holds for Beech only together
// with the model.
func narrowAlternatives(claims []Claim, cs []Constraint) []Constraint {
	name, part, ok := specificName(claims)
	if !ok {
		return cs
	}
	var alternatives filter.Or
	bare := false
	for _, c := range claims {
		switch {
		case c.Negated || c.Conditions[0].Field != name:
		case specific(c):
			alternatives = append(alternatives, filter.And{plain(c.Conditions[0]), plain(c.Conditions[1])})
		case len(c.Conditions) == 1 && c.Conditions[0].Op == sextant.OpEq:
			bare = true
			alternatives = append(alternatives, plain(c.Conditions[0]))
		}
	}
	at := slices.IndexFunc(cs, func(c Constraint) bool { return c.Field == name && c.Op == sextant.OpIn })
	if !bare || at < 0 {
		return cs
	}
	cs[at].Narrow = alternatives
	return slices.DeleteFunc(cs, func(c Constraint) bool { return c.Field == part && c.Op == sextant.OpContains })
}

// specific reports whether a claim names something by two fields: a maker and a part
// of the model.
func specific(c Claim) bool {
	return len(c.Conditions) == 2 && c.Conditions[1].Op == sextant.OpContains
}

func specificName(claims []Claim) (name, part string, ok bool) {
	for _, c := range claims {
		if specific(c) && !c.Negated {
			return c.Conditions[0].Field, c.Conditions[1].Field, true
		}
	}
	return "", "", false
}
