package constrain

import (
	"maps"
	"slices"
	"time"

	"github.com/sextant-rag/sextant"
)

// settleDates puts the dates of a question together: months go into the one year that
// is named, open ends meet, several periods are alternatives.
func (q *Query) settleDates(cs []Constraint) []Constraint {
	if q.Lexicon.Dates == "" {
		return cs
	}
	cs = q.settleField(q.monthsIntoYear(cs), q.Lexicon.Dates)
	for _, field := range slices.Compact(slices.Sorted(maps.Values(q.datedNouns))) {
		cs = q.settleField(cs, field)
	}
	return cs
}

// settleField puts together the dates of one field.
func (q *Query) settleField(cs []Constraint, field string) []Constraint {
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
	return slices.Insert(rest, at, q.joinSpans(dates))
}

// monthsIntoYear reads "in 2012 but not in June" and "summer, 2012": months and one
// year named apart are days of that year.
func (q *Query) monthsIntoYear(cs []Constraint) []Constraint {
	year := slices.IndexFunc(cs, func(c Constraint) bool {
		return c.Field == q.Lexicon.Dates && c.Op == sextant.OpBetween && c.Values[0].(Span).isYear()
	})
	month := slices.IndexFunc(cs, func(c Constraint) bool { return c.Field == q.Lexicon.Months && q.Lexicon.Months != "" })
	if year < 0 || month < 0 {
		return cs
	}
	s, ok := monthsOf(cs[year].Values[0].(Span).From.Year(), cs[month].Values)
	if !ok {
		return cs
	}
	cs[month].Field, cs[month].Values = q.Lexicon.Dates, []any{s}
	if cs[month].Negated {
		cs[month].Op = sextant.OpNotIn
		return cs
	}
	cs[month].Op = sextant.OpBetween
	q.cover(&cs[month], cs[year])
	return slices.Delete(cs, year, year+1)
}

// monthsOf returns a run of months as days of a year; a winter belongs to the year of
// its January.
func monthsOf(year int, months []any) (Span, bool) {
	first := months[0].(int)
	for k, m := range months {
		if m.(int) != (first+k-1)%12+1 {
			return Span{}, false
		}
	}
	if first+len(months) > 13 {
		year--
	}
	return monthsSpan(year, time.Month(first), len(months)), true
}

func (q *Query) joinSpans(dates []Constraint) Constraint {
	out := dates[0]
	var spans []Span
	for i, d := range dates {
		if i > 0 {
			q.cover(&out, d)
		}
		for _, v := range d.Values {
			spans = append(spans, v.(Span))
		}
	}
	spans = meet(spans)
	if len(spans) == 1 {
		c := dateCondition(out.Field, spans[0])
		out.Op, out.Values = c.Op, c.Values
		return out
	}
	values := make([]any, len(spans))
	for i, s := range spans {
		values[i] = s
	}
	out.Op, out.Values = sextant.OpIn, values
	return out
}

// meet joins "since 2005" with "until 2010", and drops a period that holds another
// one: "in 2012, on 4 July 2012" is the day.
func meet(spans []Span) []Span {
	var out []Span
	for _, s := range spans {
		met := false
		for i := range out {
			if both, ok := intersect(out[i], s); ok {
				out[i], met = both, true
				break
			}
		}
		if !met {
			out = append(out, s)
		}
	}
	return out
}
