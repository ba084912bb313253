package constrain

import (
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
)

// recognizeDates claims everything that says when: periods with their prepositions,
// ranges, and dates relative to the reference date.
func recognizeDates(q *Query) []Claim {
	if q.Lexicon.Dates == "" {
		return nil
	}
	var out []Claim
	for i := range q.Tokens {
		if c, ok := q.dateClaim(i); ok {
			out = append(out, c)
		}
		if c, ok := q.relative(i); ok {
			out = append(out, c)
		}
		if c, ok := q.asAt(i); ok {
			out = append(out, c)
		}
	}
	return out
}

// asAt reads "as at 31 December 2009", which says from when to look and not what to
// look for.
func (q *Query) asAt(i int) (Claim, bool) {
	if !q.hasWords(i, []string{"as", "at"}) && !q.hasWords(i, []string{"as", "of"}) {
		return Claim{}, false
	}
	p, ok := q.periodAt(i + 2)
	return Claim{From: i, To: p.to, Drop: true}, ok
}

type side uint8

const (
	within side = iota
	since
	after
	before
	until
	between
	from
)

// prepositions, longest first among those that begin alike.
var prepositions = []struct {
	words string
	side  side
}{
	{"up to and including", until}, {"up through", until}, {"up until", until}, {"up to", until}, {"prior to", before}, {"earlier than", before}, {"later than", after}, {"starting in", since}, {"starting from", since},
	{"beginning in", since}, {"ever since", since}, {"since", since}, {"after", after}, {"before", before}, {"until", until}, {"till", until}, {"through", until}, {"between", between}, {"from", from},
	{"in", within}, {"during", within}, {"on", within}, {"for", within}, {"of", within}, {"within", within}, {"throughout", within}, {"the", within}, {"year", within}, {"night of", within}, {"in the", within}, {"of the", within},
}

// preposition reads what stands before a period: the side it takes and where the
// period starts. The innermost article is stepped over.
func (q *Query) preposition(i int) (side, int) {
	for _, p := range prepositions {
		if w := strings.Fields(p.words); q.hasWords(i, w) {
			at := i + len(w)
			if at >= len(q.Tokens) || !q.Tokens[at].joins() {
				continue // "by year, 2005 through 2010"
			}
			for _, extra := range []string{"the", "year", "night", "of", "early", "late", "mid", "month", "calendar"} {
				at = q.skip(at, extra)
			}
			return p.side, at
		}
	}
	return within, i
}

func (q *Query) dateClaim(i int) (Claim, bool) {
	side, at := q.preposition(i)
	p, ok := q.periodAt(at)
	if !ok || q.manufactured(i, at, p.to) {
		return Claim{}, false
	}
	if ranged, ok := q.rangeTo(side, p); ok {
		return q.dated(i, ranged, within), true
	}
	if side == between {
		return Claim{}, false
	}
	if side == from {
		side = q.fromSide(i)
	}
	if s, to, ok := q.suffix(p.to, side == since); ok {
		side, p.to = s, to
	}
	if q.hasWords(p.to, []string{"inclusive"}) {
		p.to++
	}
	return q.dated(i, p, side), true
}

// fromSide: "reports from 2016" are of that year, "fatal crashes, from 2005" begin then.
func (q *Query) fromSide(i int) side {
	if i > 0 && q.Tokens[i].joins() {
		word := q.Tokens[i-1].Lower
		if slices.Contains(q.Lexicon.EventNouns, word) || slices.ContainsFunc(singulars(word), func(s string) bool { return slices.Contains(q.Lexicon.EventNouns, s) }) {
			return within
		}
	}
	return since
}

// manufactured recognises "the 1999 Cessna lost power": a year between an article
// and a thing is its year of make.
func (q *Query) manufactured(i, at, to int) bool {
	if to != at+1 || len(q.Tokens[at].Text) != 4 || at == 0 || to >= len(q.Tokens) || !q.Tokens[to].joins() {
		return false
	}
	article := q.Tokens[at-1].Lower
	if article != "the" && article != "a" && article != "an" || i < at-1 {
		return false
	}
	return q.Made != nil && q.Made(q, to)
}

// rangeTo reads the second end of a range after its first.
func (q *Query) rangeTo(side side, p period) (period, bool) {
	at := p.to
	switch {
	case at >= len(q.Tokens):
		return p, false
	case isDash(q.Tokens[at].Gap):
	case slices.Contains([]string{"to", "through", "thru", "until", "till"}, q.Tokens[at].Lower), side == between && q.Tokens[at].Lower == "and":
		at++
		if q.hasWords(at, []string{"date"}) || q.hasWords(at, []string{"present"}) || q.hasWords(at, []string{"now"}) || q.hasWords(at, []string{"today"}) {
			return period{Span: Span{p.From, q.AsOf}, to: at + 1}, !p.From.IsZero()
		}
	default:
		return p, false
	}
	_, after := q.preposition(at)
	end, ok := q.periodAt(after)
	if !ok {
		return p, false
	}
	return q.span(p, end)
}

// span joins two periods; the first may borrow the year of the second.
func (q *Query) span(p, end period) (period, bool) {
	switch {
	case !p.From.IsZero() && !end.To.IsZero() && !end.To.Before(p.From):
		return period{Span: Span{p.From, end.To}, to: end.to}, true
	case len(p.months) == 1 && !end.To.IsZero():
		start := day(end.To.Year(), time.Month(p.months[0]), max(p.day, 1))
		if start.After(end.To) {
			start = start.AddDate(-1, 0, 0)
		}
		return period{Span: Span{start, end.To}, to: end.to}, true
	case len(p.months) == 1 && len(end.months) == 1 && p.day == 0 && end.day == 0:
		var months []int
		for m := p.months[0]; ; m = m%12 + 1 {
			months = append(months, m)
			if m == end.months[0] {
				break
			}
		}
		return period{months: months, to: end.to}, true
	}
	return p, false
}

// suffix reads "onwards", "or later", "and earlier", "to date" after a period.
func (q *Query) suffix(i int, opened bool) (side, int, bool) {
	for _, s := range []struct {
		words string
		side  side
	}{
		{"onwards", since}, {"onward", since}, {"forward", since}, {"and later", since}, {"or later", since}, {"and after", since}, {"and onwards", since}, {"and on", since}, {"to date", since},
		{"to present", since}, {"to the present", since}, {"until now", since}, {"or earlier", until}, {"and earlier", until}, {"or before", until}, {"and before", until},
	} {
		if w := strings.Fields(s.words); q.hasWords(i, w) {
			return s.side, i + len(w), true
		}
	}
	if opened && q.hasWords(i, []string{"on"}) && (i+1 >= len(q.Tokens) || !q.Tokens[i+1].joins() || q.Tokens[i+1].Lower != "the") {
		return since, i + 1, true
	}
	return within, i, false
}

// dated builds the claim for a period and the side of it that is meant.
func (q *Query) dated(i int, p period, side side) Claim {
	c := Claim{From: i, To: p.to, Weight: 2, Drop: true}
	if p.From.IsZero() && p.To.IsZero() {
		return q.monthly(c, p, side)
	}
	s := p.Span
	switch side {
	case since:
		s.To = time.Time{}
	case after:
		s = Span{From: p.To.AddDate(0, 0, 1)}
	case before:
		s = Span{To: p.From.AddDate(0, 0, -1)}
	case until:
		s.From = time.Time{}
	}
	c.Conditions = []Condition{dateCondition(q.Lexicon.Dates, s)}
	if side == within {
		c.Conditions[0].Note = p.note
		for _, other := range p.other {
			c.Others = append(c.Others, dateCondition(q.Lexicon.Dates, other))
		}
	}
	return c
}

// monthly builds the claim for a period that names no year: the month of any year.
// Composition moves it into the year when the question names one elsewhere.
func (q *Query) monthly(c Claim, p period, side side) Claim {
	if q.Lexicon.Months == "" || side != within || p.day > 0 {
		c.Cannot = &sextant.Unenforceable{Field: q.Lexicon.Dates, Reason: "no year is named"}
		return c
	}
	values := make([]any, len(p.months))
	for k, m := range p.months {
		values[k] = m
	}
	c.Conditions = []Condition{Is(q.Lexicon.Months, values...)}
	return c
}

var spans = map[string]bool{"day": true, "week": true, "month": true, "quarter": true, "year": true, "decade": true, "fortnight": true}

func spanWord(w string) (string, bool) {
	w = strings.TrimSuffix(w, "s")
	return w, spans[w]
}

// relative reads dates that count from the reference date: "the last five years",
// "last year", "two years ago", "yesterday", "this year so far".
func (q *Query) relative(i int) (Claim, bool) {
	start := i
	for i < len(q.Tokens) && slices.Contains([]string{"in", "over", "during", "within", "for", "from", "the"}, q.Tokens[i].Lower) {
		i++
	}
	if i >= len(q.Tokens) {
		return Claim{}, false
	}
	p, ok := q.relativePeriod(i)
	if !ok {
		return Claim{}, false
	}
	if q.hasWords(p.to, []string{"s"}) && (q.gap(p.to) == "'" || q.gap(p.to) == "’") {
		p.to++ // last year's
	}
	c := q.dated(start, p, within)
	c.Weight = 3
	return c, true
}

func (q *Query) relativePeriod(i int) (period, bool) {
	switch w := q.Tokens[i].Lower; w {
	case "today":
		return single(q.AsOf, i+1)
	case "yesterday":
		return single(q.AsOf.AddDate(0, 0, -1), i+1)
	case "last", "past", "previous", "preceding", "latest":
		return q.lastPeriod(i, w)
	case "this", "current":
		return q.thisPeriod(i)
	case "that":
		return q.thatYear(i)
	case "year":
		if q.hasWords(i, []string{"year", "to", "date"}) {
			return period{Span: Span{day(q.AsOf.Year(), 1, 1), q.AsOf}, to: i + 3}, true
		}
	}
	return q.ago(i)
}

// lastPeriod: with a number the days from so long ago to the reference date, both
// included; alone the calendar unit before.
func (q *Query) lastPeriod(i int, word string) (period, bool) {
	if word == "latest" {
		return period{}, false
	}
	if n, at, ok := q.numberAt(i + 1); ok && at < len(q.Tokens) {
		if unit, ok := spanWord(q.Tokens[at].Lower); ok {
			p := period{Span: Span{back(q.AsOf, n, unit), q.AsOf}, to: at + 1}
			if unit == "year" {
				p.other = []Span{{day(q.AsOf.Year()-n, 1, 1), day(q.AsOf.Year()-1, 12, 31)}}
			}
			return p, true
		}
		return period{}, false
	}
	if i+1 >= len(q.Tokens) {
		return period{}, false
	}
	if m, ok := seasons[q.Tokens[i+1].Lower]; ok {
		return q.lastSeason(m, i+2)
	}
	unit, ok := spanWord(q.Tokens[i+1].Lower)
	if !ok || strings.HasSuffix(q.Tokens[i+1].Lower, "s") {
		return period{}, false
	}
	if unit == "day" || unit == "decade" || word == "past" {
		return period{Span: Span{back(q.AsOf, 1, unit), q.AsOf}, to: i + 2}, true
	}
	p := period{Span: calendarBefore(q.AsOf, 1, unit), to: i + 2}
	p.other = []Span{{back(q.AsOf, 1, unit), q.AsOf}}
	return p, true
}

func (q *Query) lastSeason(m time.Month, to int) (period, bool) {
	s := monthsSpan(q.AsOf.Year(), m, 3)
	for s.To.After(q.AsOf) {
		s = monthsSpan(s.From.Year()-1, m, 3)
	}
	return period{Span: s, to: to}, true
}

func (q *Query) thisPeriod(i int) (period, bool) {
	if i+1 >= len(q.Tokens) || !q.Tokens[i+1].joins() {
		return period{}, false
	}
	unit, ok := spanWord(q.Tokens[i+1].Lower)
	if !ok {
		return period{}, false
	}
	p := period{Span: Span{calendarBefore(q.AsOf, 0, unit).From, q.AsOf}, to: i + 2}
	if q.hasWords(p.to, []string{"so", "far"}) {
		p.to += 2
	}
	return p, true
}

// thatYear reads "as at 31 December 2009, what happened that year".
func (q *Query) thatYear(i int) (period, bool) {
	if !q.hasWords(i, []string{"that", "year"}) {
		return period{}, false
	}
	for k := range i {
		if p, ok := q.periodAt(k); ok && !p.From.IsZero() {
			return period{Span: yearSpan(p.From.Year()), to: i + 2}, true
		}
	}
	return period{}, false
}

// ago reads "two years ago": that calendar year; "a month ago", "10 days ago".
func (q *Query) ago(i int) (period, bool) {
	n, at, ok := q.numberAt(i)
	if !ok && (q.Tokens[i].Lower == "a" || q.Tokens[i].Lower == "an") {
		n, at, ok = 1, i+1, true
	}
	if !ok || at+1 >= len(q.Tokens) || q.Tokens[at+1].Lower != "ago" {
		return period{}, false
	}
	unit, ok := spanWord(q.Tokens[at].Lower)
	if !ok {
		return period{}, false
	}
	if unit == "day" || unit == "week" || unit == "fortnight" {
		return single(back(q.AsOf, n, unit), at+2)
	}
	return period{Span: calendarBefore(q.AsOf, n, unit), to: at + 2}, true
}

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
	}
	return t.AddDate(-n, 0, 0)
}

// calendarBefore returns the calendar unit n before the one that holds t.
func calendarBefore(t time.Time, n int, unit string) Span {
	switch unit {
	case "day":
		d := t.AddDate(0, 0, -n)
		return Span{d, d}
	case "week":
		monday := t.AddDate(0, 0, -(int(t.Weekday())+6)%7-7*n)
		return Span{monday, monday.AddDate(0, 0, 6)}
	case "month":
		return monthsSpan(t.Year(), t.Month()-time.Month(n), 1)
	case "quarter":
		return monthsSpan(t.Year(), (t.Month()-1)/3*3+1-time.Month(3*n), 3)
	case "decade":
		y := t.Year()/10*10 - 10*n
		return Span{day(y, 1, 1), day(y+9, 12, 31)}
	}
	return yearSpan(t.Year() - n)
}
