package constrain

import (
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// compose turns the chosen claims into constraints: negation is given its scope,
// values of one field are joined, alternatives are kept exact.
func compose(q *Query, claims []Claim) Reading {
	r := Reading{Request: q.request(claims)}
	for _, c := range claims {
		if c.Cannot != nil {
			u := *c.Cannot
			u.Text = q.words(c)
			r.Unenforceable = append(r.Unenforceable, u)
		}
		if c.Unknown != nil {
			r.UnknownValues = append(r.UnknownValues, *c.Unknown)
		}
	}
	stating := slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return len(c.Conditions) == 0 })
	q.negate(stating)
	q.groupedAway(&r, &stating)
	part := q.partOfShare(&r, &stating)
	r.Constraints = q.join(stating)
	r.Part = q.join(part)
	for _, c := range stating {
		if len(c.Others) > 0 && !c.Negated {
			r.Ambiguous = append(r.Ambiguous, Alternative{Text: q.words(c), Taken: c.Conditions[0], Others: c.Others})
		}
	}
	return r
}

func (q *Query) words(c Claim) string { return q.Text[q.Tokens[c.From].Start:q.Tokens[c.To-1].End] }

var (
	negations = wordSet(`not except excepting excluding exclude outside without minus besides neither nor never omit omitting ignoring ignore barring`)
	clear     = wordSet(`in the those these a an any of at near involving involve involved with from counting including include for to on by ones over inside state states that which were are was is
 happening occurring happened occurred flown one all please`)
)

// negate gives each claim its sign. A negation reaches forward over words without
// weight to the next claim, and on over a list of values of the same field.
func (q *Query) negate(claims []Claim) {
	for k := range claims {
		c := &claims[k]
		floor := 0
		if k > 0 {
			floor = claims[k-1].To
		}
		if q.deniedBefore(c.From, floor) || q.deniedAfter(c.To) {
			c.Negated = true
			continue
		}
		if k > 0 && claims[k-1].Negated && sameField(claims[k-1], *c) && q.listed(claims[k-1].To, c.From) && !q.deniedAfter(claims[k-1].To) {
			c.Negated = true
		}
	}
}

func sameField(a, b Claim) bool {
	return slices.ContainsFunc(a.Conditions, func(c Condition) bool {
		return !c.Implied && slices.ContainsFunc(b.Conditions, func(d Condition) bool { return !d.Implied && c.Field == d.Field })
	})
}

// deniedBefore looks left from a claim for a negation that reaches it.
func (q *Query) deniedBefore(i, floor int) bool {
	adjacent := true
	for k := i - 1; k >= floor; k-- {
		if strings.ContainsAny(q.Tokens[k+1].Gap, ",;:.?!(") && strings.TrimSpace(q.Tokens[k+1].Gap) != "." && q.Tokens[k+1].Gap != "(" {
			return false
		}
		w := q.Tokens[k].Lower
		switch {
		case negations[w]:
			return !q.hasWords(k-1, []string{"why", "not"})
		case w == "non" || w == "no":
			return adjacent
		case w == "t" && (q.Tokens[k].Gap == "'" || q.Tokens[k].Gap == "’"):
			return true
		case w == "than" && k > 0 && (q.Tokens[k-1].Lower == "other" || q.Tokens[k-1].Lower == "rather"):
			return true
		case w == "but" && k > 0 && slices.Contains([]string{"anything", "all", "everything", "any", "anywhere", "everywhere"}, q.Tokens[k-1].Lower):
			return true
		case w == "from" && k > 0 && (q.Tokens[k-1].Lower == "apart" || q.Tokens[k-1].Lower == "aside"), w == "for" && k > 0 && q.Tokens[k-1].Lower == "except":
			return true
		case w == "to" && k > 1 && q.hasWords(k-2, []string{"as", "opposed", "to"}), w == "of" && k > 0 && q.Tokens[k-1].Lower == "instead":
			return true
		case clear[w] || q.eventNoun(k):
			adjacent = false
		default:
			return false
		}
	}
	return false
}

func (q *Query) deniedAfter(i int) bool {
	for k := i; k < len(q.Tokens) && k < i+2; k++ {
		switch q.Tokens[k].Lower {
		case "excluded", "excepted", "omitted":
			return !strings.ContainsAny(q.Tokens[k].Gap, ",;.?!")
		case "is", "are":
			continue
		case "not":
			return q.hasWords(k, []string{"not", "included"}) || q.hasWords(k, []string{"not", "counted"})
		}
		return false
	}
	return false
}

// listed reports whether only list words stand between two claims.
func (q *Query) listed(from, to int) bool {
	if to-from > 4 {
		return false
	}
	for i := from; i < to; i++ {
		switch q.Tokens[i].Lower {
		case "and", "or", "nor", "the", "a", "an", "in", "at", "either", "vs", "versus", "against", "those", "with", "than", "to", "s", "also", "of":
		default:
			return false
		}
	}
	if to == from {
		return strings.ContainsAny(q.gap(to), ",/&+")
	}
	return true
}

// join makes constraints of claims: one constraint a field and sign.
func (q *Query) join(claims []Claim) []Constraint {
	var out []Constraint
	for _, c := range claims {
		for _, cond := range c.Conditions {
			next := Constraint{Condition: cond, Text: q.words(c), Start: q.Tokens[c.From].Start, End: q.Tokens[c.To-1].End, Origin: sextant.FromRule, Negated: c.Negated}
			if c.Negated {
				if next = q.opposite(next, c); next.Field == "" {
					continue
				}
			}
			out = merge(out, next)
		}
	}
	out = narrowAlternatives(claims, out)
	return q.settleDates(out)
}

// opposite negates one condition. What a name only implied falls away: "minus the
// SR20" says nothing against Cirrus.
func (q *Query) opposite(c Constraint, claim Claim) Constraint {
	if len(c.Values) == 1 {
		key := [2]string{c.Field, strings.ToLower(toText(c.Values[0]))}
		if o, ok := q.Lexicon.Opposites[key]; ok {
			c.Condition = o
			c.Negated = false
			return c
		}
	}
	if len(claim.Conditions) > 1 && c.Field != claim.Conditions[len(claim.Conditions)-1].Field {
		return Constraint{} // the last condition of a name is its most specific
	}
	if len(claim.Conditions) > 1 {
		c.Narrow = negationOfAll(claim.Conditions)
	}
	switch c.Op {
	case sextant.OpEq, sextant.OpIn:
		c.Op = sextant.OpNotIn
	case sextant.OpContains:
		c.Op = sextant.OpNotContains
	case sextant.OpBetween:
		if _, isSpan := c.Values[0].(Span); isSpan {
			c.Op = sextant.OpNotIn
			return c
		}
		return Constraint{}
	case sextant.OpGte:
		if s, isSpan := c.Values[0].(Span); isSpan {
			c.Condition = dateCondition(c.Field, Span{To: s.From.AddDate(0, 0, -1)})
			c.Op = sextant.OpLte
		} else {
			c.Op, c.Values = sextant.OpLte, []any{c.Values[0].(int) - 1}
		}
		c.Negated = false
	case sextant.OpLte:
		if s, isSpan := c.Values[0].(Span); isSpan {
			c.Condition = dateCondition(c.Field, Span{From: s.To.AddDate(0, 0, 1)})
		} else {
			c.Op, c.Values = sextant.OpGte, []any{c.Values[0].(int) + 1}
		}
		c.Negated = false
	}
	return c
}

// negationOfAll is the exact meaning of "not a Cessna 172": known, and not both.
func negationOfAll(conditions []Condition) filter.Filter {
	all := filter.And{}
	known := filter.And{}
	for _, c := range conditions {
		all = append(all, plain(c))
		known = append(known, filter.Exists{Field: c.Field})
	}
	return append(known, filter.Not{Filter: all})
}

func toText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return ""
}

// merge adds a constraint to those of the same field and sign.
func merge(to []Constraint, c Constraint) []Constraint {
	for i := range to {
		have := &to[i]
		if have.Field != c.Field || (have.Op == sextant.OpNotIn || have.Op == sextant.OpNotContains) != (c.Op == sextant.OpNotIn || c.Op == sextant.OpNotContains) {
			continue
		}
		if mergeValues(have, c) {
			return to
		}
	}
	return append(to, c)
}

// mergeValues joins two conditions on one field: values are alternatives, bounds of
// dates meet, equal conditions are one.
func mergeValues(have *Constraint, c Constraint) bool {
	if isSpans(*have) || isSpans(c) {
		return false // dates are settled together, later
	}
	valued := func(op sextant.Op) bool {
		return slices.Contains([]sextant.Op{sextant.OpEq, sextant.OpIn, sextant.OpNotIn, sextant.OpContains, sextant.OpNotContains}, op)
	}
	if !valued(have.Op) || !valued(c.Op) {
		if have.Op == c.Op && slices.Equal(have.Values, c.Values) {
			return true
		}
		return false
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
	if added {
		have.Text += " … " + c.Text
	} else if len(c.Text) > len(have.Text) {
		have.Text, have.Start, have.End = c.Text, c.Start, c.End
	}
	have.Implied = have.Implied && c.Implied
	if have.Op == sextant.OpEq && len(have.Values) > 1 {
		have.Op = sextant.OpIn
	}
	return true
}

func isSpans(c Constraint) bool {
	if len(c.Values) == 0 {
		return false
	}
	_, ok := c.Values[0].(Span)
	return ok
}

// narrowAlternatives keeps "a Mooney or a Bonanza" exact. Joined field by field it
// would read (Mooney or Beech) and (33 or 35 or 36), which no Mooney satisfies; so
// the model constraint goes, and the make constraint holds for Beech only together
// with the model.
func narrowAlternatives(claims []Claim, cs []Constraint) []Constraint {
	var fields [2]string
	bare, full := false, false
	var alternatives filter.Or
	for _, c := range claims {
		if c.Negated {
			continue
		}
		switch {
		case len(c.Conditions) == 2 && c.Conditions[1].Op == sextant.OpContains:
			fields = [2]string{c.Conditions[0].Field, c.Conditions[1].Field}
			full = true
			alternatives = append(alternatives, filter.And{plain(c.Conditions[0]), plain(c.Conditions[1])})
		case len(c.Conditions) == 1 && c.Conditions[0].Op == sextant.OpEq:
			alternatives = append(alternatives, plain(c.Conditions[0]))
		}
	}
	alternatives = slices.DeleteFunc(alternatives, func(f filter.Filter) bool {
		return filter.FieldOf(f) != "" && filter.FieldOf(f) != fields[0]
	})
	for _, f := range alternatives {
		bare = bare || filter.FieldOf(f) != ""
	}
	if !full || !bare {
		return cs
	}
	at := slices.IndexFunc(cs, func(c Constraint) bool { return c.Field == fields[0] && c.Op == sextant.OpIn })
	if at < 0 {
		return cs
	}
	cs[at].Narrow = alternatives
	return slices.DeleteFunc(cs, func(c Constraint) bool { return c.Field == fields[1] && c.Op == sextant.OpContains })
}

// settleDates puts the dates of a question together: a month goes into the one year
// that is named, open ends meet, several periods are alternatives.
func (q *Query) settleDates(cs []Constraint) []Constraint {
	field, months := q.Lexicon.Dates, q.Lexicon.Months
	if field == "" {
		return cs
	}
	cs = monthIntoYear(cs, field, months)
	var dates, rest []Constraint
	at := -1
	for _, c := range cs {
		if c.Field == field && c.Op != sextant.OpNotIn && isSpans(c) {
			if at < 0 {
				at = len(rest)
			}
			dates = append(dates, c)
			continue
		}
		rest = append(rest, c)
	}
	if len(dates) == 0 {
		return rest
	}
	return slices.Insert(rest, at, joinSpans(dates))
}

func monthIntoYear(cs []Constraint, field, months string) []Constraint {
	year := slices.IndexFunc(cs, func(c Constraint) bool {
		return c.Field == field && c.Op == sextant.OpBetween && isYear(c.Values[0].(Span))
	})
	month := slices.IndexFunc(cs, func(c Constraint) bool { return c.Field == months && months != "" })
	if year < 0 || month < 0 || len(cs[month].Values) != 1 {
		return cs
	}
	y := cs[year].Values[0].(Span).From.Year()
	s := monthsSpan(y, time.Month(cs[month].Values[0].(int)), 1)
	cs[month].Field, cs[month].Values = field, []any{s}
	if cs[month].Negated {
		cs[month].Op = sextant.OpNotIn
		return cs
	}
	cs[month].Op = sextant.OpBetween
	return slices.Delete(cs, year, year+1)
}

func isYear(s Span) bool { return s == yearSpan(s.From.Year()) }

func joinSpans(dates []Constraint) Constraint {
	out := dates[0]
	var spans []Span
	for i, d := range dates {
		if i > 0 {
			out.Text += " … " + d.Text
		}
		for _, v := range d.Values {
			spans = append(spans, v.(Span))
		}
	}
	spans = meetOpenEnds(spans)
	values := make([]any, len(spans))
	for i, s := range spans {
		values[i] = s
	}
	if len(spans) == 1 {
		c := dateCondition(out.Field, spans[0])
		out.Op, out.Values = c.Op, c.Values
		return out
	}
	out.Op, out.Values = sextant.OpIn, values
	return out
}

// meetOpenEnds joins "since 2005" with "until 2010", and drops a period that holds
// another one: "in 2012, on 4 July 2012" is the day.
func meetOpenEnds(spans []Span) []Span {
	var out []Span
	for _, s := range spans {
		met := false
		for i := range out {
			if meet, ok := intersect(out[i], s); ok {
				out[i], met = meet, true
				break
			}
		}
		if !met && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func intersect(a, b Span) (Span, bool) {
	out := a
	if out.From.IsZero() || !b.From.IsZero() && b.From.After(out.From) {
		out.From = b.From
	}
	if out.To.IsZero() || !b.To.IsZero() && b.To.Before(out.To) {
		out.To = b.To
	}
	empty := !out.From.IsZero() && !out.To.IsZero() && out.To.Before(out.From)
	return out, !empty
}
