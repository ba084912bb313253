package constrain

import (
	"strings"
	"time"
)

// Periods that count from the reference date.

func (q *Query) relativePeriod(i int) (period, bool) {
	switch w := q.Tokens[i].Lower; w {
	case "today":
		return period{Span: daySpan(q.AsOf), to: i + 1}, true
	case "yesterday":
		return period{Span: daySpan(q.AsOf.AddDate(0, 0, -1)), to: i + 1}, true
	case "last", "past", "previous", "preceding", "recent", "latest", "prior", "trailing":
		return q.lastPeriod(i, w)
	case "this", "current":
		return q.thisPeriod(i)
	case "earlier", "later":
		if q.Word(i+1) == "this" {
			return q.thisPeriod(i + 1)
		}
	case "so":
		if q.HasWords(i, "so", "far", "this") {
			return q.thisPeriod(i + 2)
		}
	case "that":
		return q.thatYear(i)
	case "year", "ytd":
		if q.HasWords(i, "year", "before", "last") {
			return period{Span: yearSpan(q.AsOf.Year() - 2), to: i + 3}, true
		}
		if q.HasWords(i, "year", "to", "date") || w == "ytd" {
			to := i + 1
			if w == "year" {
				to = i + 3
			}
			return period{Span: Span{day(q.AsOf.Year(), 1, 1), q.AsOf}, to: to}, true
		}
	}
	return q.ago(i)
}

// lastPeriod: with a number the days from so long ago to the reference date, both
// included; alone the calendar unit before.
func (q *Query) lastPeriod(i int, word string) (period, bool) {
	if n, at, ok := q.numberAt(i + 1); ok {
		return q.lastUnits(n, at)
	}
	if n, at, ok := articled.At(q, i+1); ok { // "the last couple of years"
		return q.lastUnits(n, at)
	}
	if word == "recent" || word == "latest" || word == "prior" {
		return period{}, false
	}
	next := q.Word(i + 1)
	if m, ok := seasons[next]; ok && word != "preceding" {
		return q.lastSeason(m, i+2)
	}
	if m, ok := monthNames[next]; ok && q.Joined(i+1) {
		return q.lastMonth(m, i+2)
	}
	if p, ok := q.lastHoliday(i + 1); ok {
		return p, true
	}
	unit, ok := calendarUnits[next]
	if !ok || strings.HasSuffix(next, "s") || q.partOfPeriod(i+2) {
		return period{}, false
	}
	if unit == "day" || word == "past" || word == "trailing" || unit == "decade" && word == "last" {
		return period{Span: Span{back(q.AsOf, 1, unit), q.AsOf}, to: i + 2}, true
	}
	p := period{Span: calendarBefore(q.AsOf, 1, unit), to: i + 2, note: "the calendar " + unit + " before"}
	p.other = []Span{{back(q.AsOf, 1, unit), q.AsOf}}
	return p, true
}

func (q *Query) lastUnits(n, at int) (period, bool) {
	at = q.Skip(at, "calendar", "full", "or")
	unit, ok := calendarUnits[q.Word(at)]
	if !ok || q.partOfPeriod(at+1) {
		return period{}, false
	}
	p := period{Span: Span{back(q.AsOf, n, unit), q.AsOf}, to: at + 1}
	if unit == "year" {
		p.note, p.other = "to the day", []Span{yearsSpan(q.AsOf.Year()-n, q.AsOf.Year()-1)}
	}
	return p, true
}

// partOfPeriod reports whether "of" and a period follow: "the last three months of 1999"
// do not count from today.
func (q *Query) partOfPeriod(i int) bool {
	if q.Word(i) != "of" {
		return false
	}
	_, ok := q.ofPeriod(i)
	return ok
}

func (q *Query) lastSeason(m time.Month, to int) (period, bool) {
	s := monthsSpan(q.AsOf.Year(), m, 3)
	for s.To.After(q.AsOf) {
		s = monthsSpan(s.From.Year()-1, m, 3)
	}
	return period{Span: s, to: to}, true
}

// lastMonth is the latest such month that is over: "last June".
func (q *Query) lastMonth(m time.Month, to int) (period, bool) {
	s := monthsSpan(q.AsOf.Year(), m, 1)
	if !s.To.Before(q.AsOf) {
		s = monthsSpan(q.AsOf.Year()-1, m, 1)
	}
	return period{Span: s, to: to}, true
}

// lastHoliday is the latest such day before the reference date: "last Thanksgiving".
func (q *Query) lastHoliday(i int) (period, bool) {
	h, at, ok := holidays.At(q, i)
	if !ok {
		return period{}, false
	}
	weekend := q.Word(at) == "weekend"
	if weekend {
		at++
	}
	s := h.days(q.AsOf.Year(), weekend)
	if !s.To.Before(q.AsOf) {
		s = h.days(q.AsOf.Year()-1, weekend)
	}
	return period{Span: s, to: at}, true
}

func (q *Query) thisPeriod(i int) (period, bool) {
	if !q.Joined(i + 1) {
		return period{}, false
	}
	next := q.Word(i + 1)
	unit, ok := calendarUnits[next]
	p := period{to: i + 2}
	switch {
	case ok && !strings.HasSuffix(next, "s"):
		p.Span = Span{calendarBefore(q.AsOf, 0, unit).From, q.AsOf}
	case seasons[next] > 0:
		p.Span = monthsSpan(q.AsOf.Year(), seasons[next], 3)
	case monthNames[next] > 0:
		p.Span = monthsSpan(q.AsOf.Year(), monthNames[next], 1)
	default:
		return period{}, false
	}
	if q.HasWords(p.to, "so", "far") {
		p.to += 2
	}
	return p, true
}

// thatYear reads "as at 31 December 2009, what happened that year".
func (q *Query) thatYear(i int) (period, bool) {
	if !q.HasWords(i, "that", "year") {
		return period{}, false
	}
	for k := range i {
		if p, ok := q.periodAt(k); ok && !p.From.IsZero() {
			return period{Span: yearSpan(p.From.Year()), to: i + 2}, true
		}
	}
	return period{}, false
}

// ago reads "two years ago": that calendar year; "a month ago"; "10 days ago"; "three
// years ago today": the day.
func (q *Query) ago(i int) (period, bool) {
	n, at, ok := q.numberAt(i)
	if !ok && (q.Tokens[i].Lower == "a" || q.Tokens[i].Lower == "an") {
		n, at, ok = 1, i+1, true
	}
	if !ok || q.Word(at+1) != "ago" && q.Word(at+1) != "back" {
		return period{}, false
	}
	unit, ok := calendarUnits[q.Word(at)]
	if !ok {
		return period{}, false
	}
	that := daySpan(back(q.AsOf, n, unit))
	switch {
	case q.Word(at+2) == "today":
		return period{Span: that, to: at + 3}, true
	case q.Word(at+2) == "this" && calendarUnits[q.Word(at+3)] != "":
		return period{Span: calendarBefore(that.From, 0, calendarUnits[q.Word(at+3)]), to: at + 4}, true
	case unit == "day" || unit == "week" || unit == "fortnight":
		return period{Span: that, to: at + 2}, true
	}
	return period{Span: calendarBefore(q.AsOf, n, unit), to: at + 2, other: []Span{that}, note: "that calendar " + unit}, true
}
