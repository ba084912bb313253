package constrain

import (
	"time"

	"github.com/sextant-rag/sextant"
)

// Span is a run of whole days, both ends included; a zero end is open.
type Span struct{ From, To time.Time }

// Strings writes the ends as ISO dates, "" for an open one.
func (s Span) Strings() (from, to string) {
	if !s.From.IsZero() {
		from = s.From.Format(time.DateOnly)
	}
	if !s.To.IsZero() {
		to = s.To.Format(time.DateOnly)
	}
	return from, to
}

// isYear reports whether the span is one calendar year.
func (s Span) isYear() bool { return !s.From.IsZero() && s == yearSpan(s.From.Year()) }

// closed reports whether both ends are known.
func (s Span) closed() bool { return !s.From.IsZero() && !s.To.IsZero() }

func day(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

func yearSpan(y int) Span { return Span{day(y, 1, 1), day(y, 12, 31)} }

func yearsSpan(from, to int) Span { return Span{day(from, 1, 1), day(to, 12, 31)} }

func monthsSpan(y int, m time.Month, n int) Span {
	return Span{day(y, m, 1), day(y, m+time.Month(n), 0)}
}

func daySpan(t time.Time) Span { return Span{t, t} }

// plausible reports whether a number can be the year of a date.
func plausible(year int) bool { return year >= 1900 && year < 2100 }

// validDay returns a day that exists in a plausible year.
func validDay(y, m, d int) (time.Time, bool) {
	t := day(y, time.Month(m), d)
	return t, m >= 1 && m <= 12 && d >= 1 && t.Day() == d && plausible(y)
}

// intersect returns what two spans share; false if nothing.
func intersect(a, b Span) (Span, bool) {
	out := a
	if out.From.IsZero() || !b.From.IsZero() && b.From.After(out.From) {
		out.From = b.From
	}
	if out.To.IsZero() || !b.To.IsZero() && b.To.Before(out.To) {
		out.To = b.To
	}
	empty := out.closed() && out.To.Before(out.From)
	return out, !empty
}

// dateCondition builds the condition for a span.
func dateCondition(field string, s Span) Condition {
	switch {
	case s.To.IsZero():
		return Condition{Field: field, Op: sextant.OpGte, Values: []any{s}}
	case s.From.IsZero():
		return Condition{Field: field, Op: sextant.OpLte, Values: []any{s}}
	}
	return Condition{Field: field, Op: sextant.OpBetween, Values: []any{s}}
}

// back returns the day n units before t.
func back(t time.Time, n int, unit string) time.Time {
	switch unit {
	case "day":
		return t.AddDate(0, 0, -n)
	case "week":
		return t.AddDate(0, 0, -7*n)
	case "fortnight":
		return t.AddDate(0, 0, -14*n)
	case "month":
		return t.AddDate(0, -n, 0)
	case "quarter":
		return t.AddDate(0, -3*n, 0)
	case "decade":
		return t.AddDate(-10*n, 0, 0)
	case "century":
		return t.AddDate(-100*n, 0, 0)
	}
	return t.AddDate(-n, 0, 0)
}

// calendarBefore returns the calendar unit n before the one that holds t. Weeks begin
// on Monday, centuries in a year that ends in 01.
func calendarBefore(t time.Time, n int, unit string) Span {
	switch unit {
	case "day":
		return daySpan(t.AddDate(0, 0, -n))
	case "week":
		monday := t.AddDate(0, 0, -(int(t.Weekday())+6)%7-7*n)
		return Span{monday, monday.AddDate(0, 0, 6)}
	case "month":
		return monthsSpan(t.Year(), t.Month()-time.Month(n), 1)
	case "quarter":
		return monthsSpan(t.Year(), (t.Month()-1)/3*3+1-time.Month(3*n), 3)
	case "decade":
		y := t.Year()/10*10 - 10*n
		return yearsSpan(y, y+9)
	case "century":
		y := (t.Year()-1)/100*100 + 1 - 100*n
		return yearsSpan(y, y+99)
	}
	return yearSpan(t.Year() - n)
}
