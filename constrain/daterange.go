package constrain

import (
	"slices"
	"time"
)

// Ranges and lists of dates: a second end, further months.

// wholeList reads further months that share the year of the last: "June and July
// 2012", "June, July or August 2012". What is no run of months stays as it is.
func (q *Query) wholeList(side side, p period) period {
	if side == between || len(p.months) == 0 || p.day > 0 {
		return p
	}
	months, at := p.months, p.to
	for at < len(q.Tokens) {
		next := q.Skip(at, "and", "or")
		if next == at && q.Gap(at) != ", " && q.Gap(at) != "/" {
			break
		}
		next = q.Skip(next, "in") // "in March or in April of 2010"
		m, ok := monthNames[q.Word(next)]
		if !ok {
			break
		}
		months, at = append(slices.Clone(months), int(m)), next+1
	}
	if len(months) == len(p.months) {
		return p
	}
	y, to, ok := q.yearAt(q.Skip(at, "of", "in"))
	if !ok {
		return period{months: months, to: at}
	}
	if run := months[len(months)-1] - months[0]; run == len(months)-1 {
		return period{Span: monthsSpan(y, time.Month(months[0]), len(months)), to: to}
	}
	return p
}

// rangeTo reads the second end of a range after its first.
func (q *Query) rangeTo(side side, p period) (period, bool) {
	at := p.to
	switch {
	case at >= len(q.Tokens):
		return p, false
	case isDash(q.Gap(at)):
	case slices.Contains([]string{"to", "through", "thru", "until", "till", "til"}, q.Tokens[at].Lower), side == between && (q.Tokens[at].Lower == "and" || q.Gap(at) == "&"):
		at++
	default:
		return p, false
	}
	if q.Word(at) == "the" && q.Word(at+1) == "present" {
		at++
	}
	switch q.Word(at) {
	case "date", "present", "now", "today":
		return period{Span: Span{p.From, q.AsOf}, to: at + 1}, !p.From.IsZero()
	}
	_, start := q.opening(at)
	end, ok := q.periodAt(start)
	if !ok {
		return p, false
	}
	return span(p, end)
}

// span joins two periods; the first may borrow the year of the second.
func span(p, end period) (period, bool) {
	switch {
	case !p.From.IsZero() && !end.To.IsZero() && !end.To.Before(p.From):
		return period{Span: Span{p.From, end.To}, to: end.to}, true
	case !p.From.IsZero() && len(end.months) == 1: // "from June 2010 to August"
		last := monthsSpan(p.From.Year(), time.Month(end.months[0]), 1)
		if end.day > 0 {
			last = daySpan(end.startIn(p.From.Year()))
		}
		return period{Span: Span{p.From, last.To}, to: end.to}, last.To.After(p.From)
	case len(p.months) == 1 && !end.To.IsZero():
		start := p.startIn(end.To.Year())
		if start.After(end.To) {
			start = p.startIn(end.To.Year() - 1)
		}
		return period{Span: Span{start, end.To}, to: end.to}, true
	case len(p.months) == 1 && len(end.months) == 1 && p.day == 0 && end.day == 0:
		return period{months: monthRun(p.months[0], end.months[0]), to: end.to}, true
	}
	return p, false
}

// startIn returns the first day of a month, day or holiday in a year.
func (p period) startIn(year int) time.Time {
	if p.moving != nil {
		return p.moving.on(year)
	}
	return day(year, time.Month(p.months[0]), max(p.day, 1))
}

// monthRun lists the months from one to another, over the turn of the year if need be.
func monthRun(from, to int) []int {
	out := []int{from}
	for m := from; m != to; {
		m = m%12 + 1
		out = append(out, m)
	}
	return out
}
