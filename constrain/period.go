package constrain

import (
	"strconv"
	"strings"
	"time"
)

// period is a stretch of time as words name it. Without a year it has months only.
type period struct {
	Span
	months []int    // of a period that names no year: June; June to August; winter
	day    int      // with one month: the day of it, no year
	moving *holiday // the day, where it is another one every year
	to     int      // token after it
	also   []Span   // further periods of a list: the summers of 2008 and 2009
	other  []Span   // other readings, to be shown
	note   string
}

func (p period) yearless() bool { return p.From.IsZero() && p.To.IsZero() }

// periodAt reads a period that starts at token i.
func (q *Query) periodAt(i int) (period, bool) {
	if i < 0 || i >= len(q.Tokens) {
		return period{}, false
	}
	if p, ok := q.wholePeriodAt(i); ok {
		return p, true
	}
	for _, read := range []func(int) (period, bool){q.edgeOf, q.part, q.vague} {
		if p, ok := read(i); ok {
			return p, true
		}
	}
	return period{}, false
}

// wholePeriodAt reads what is not a part of another period.
func (q *Query) wholePeriodAt(i int) (period, bool) {
	if q.Tokens[i].digits > 0 {
		for _, read := range []func(int) (period, bool){q.isoDate, q.numericDate, q.holiday, q.monthYear, q.dayFirst, q.decade, q.yearMonth, q.yearSeason, q.yearPart, q.year, q.fiscalYear, q.centuryOf} {
			if p, ok := read(i); ok {
				return p, true
			}
		}
	}
	for _, read := range []func(int) (period, bool){q.holiday, q.monthFirst, q.season, q.fiscalYear, q.turnOfYear, q.decade, q.centuryOf} {
		if p, ok := read(i); ok {
			return p, true
		}
	}
	return period{}, false
}

// notYears are words after a four-digit number that say what it counts.
var notYears = set(`feet foot ft hours hour hrs hr miles mile pounds lbs rpm knots kts meters metres fpm gallons dollars people psi degrees utc z zulu agl msl nm lb kg mhz khz model vintage series minutes overcast
 broken scattered ceiling flights landings passengers cycles utc local am pm`)

// notYearsBefore are words before a number that make it a name or an amount.
var notYearsBefore = set(`flight number no squawk section part item runway docket about approximately nearly roughly almost highway route hwy`)

func (q *Query) year(i int) (period, bool) {
	y, to, ok := q.yearAt(i)
	if !ok || q.unitFollows(to) || notYearsBefore[q.Word(i-1)] && q.Joined(i) {
		return period{}, false
	}
	if q.Word(i-1) == "of" && cohorts[q.Word(i-2)] {
		return period{}, false // the class of 2010
	}
	if strings.HasSuffix(q.Gap(i), ".") || q.Gap(to) == "." || q.Gap(to) == "-" && makeWords[q.Word(to)] {
		return period{}, false // part of a decimal or a section number; 1968-built
	}
	if p, ok := q.yearsWith(y, to); ok {
		return p, true
	}
	return period{Span: yearSpan(y), to: to}, true
}

// cohorts are named by a year and not dated by it.
var cohorts = set(`class graduates edition vintage act`)

// makeWords follow a year with a hyphen that is one of make.
var makeWords = set(`built era vintage hour model`)

// yearsWith reads the short second year of "2012-13", "1994/95", "'97-98".
func (q *Query) yearsWith(y, to int) (period, bool) {
	end, ok := q.digits(to, 2, 2)
	if !ok || !isDash(q.Gap(to)) {
		return period{}, false
	}
	last := y/100*100 + end
	if last < y {
		last += 100
	}
	if last-y < 1 || last-y >= 30 || !plausible(last) || q.Gap(to+1) == "-" {
		return period{}, false
	}
	p := period{Span: yearsSpan(y, last), to: to + 1}
	if end <= 12 {
		p.other, p.note = []Span{monthsSpan(y, time.Month(end), 1)}, "years; it could be a month"
	}
	return p, true
}

// monthYear reads 05/2009.
func (q *Query) monthYear(i int) (period, bool) {
	m, ok1 := q.digits(i, 1, 2)
	y, ok2 := q.digits(i+1, 4, 4)
	if !ok1 || !ok2 || q.Gap(i+1) != "/" || m < 1 || m > 12 || !plausible(y) || i > 0 && !q.freeStanding(i) {
		return period{}, false
	}
	return period{Span: monthsSpan(y, time.Month(m), 1), to: i + 2}, true
}

// yearMonth reads 2014-05 where the second number can be no year after the first.
func (q *Query) yearMonth(i int) (period, bool) {
	y, ok1 := q.digits(i, 4, 4)
	m, ok2 := q.digits(i+1, 2, 2)
	if !ok1 || !ok2 || q.Gap(i+1) != "-" || m < 1 || m > 12 || y%100 < m || !plausible(y) || q.Gap(i+2) == "-" {
		return period{}, false
	}
	return period{Span: monthsSpan(y, time.Month(m), 1), to: i + 2}, true
}

// season reads "summer 2012", "winter of 2012-13", "winter of 97-98", "winter 2021",
// "summer". A winter is named after the year of its January; the other reading is kept.
func (q *Query) season(i int) (period, bool) {
	m, ok := seasons[q.Tokens[i].Lower]
	if !ok {
		return period{}, false
	}
	at := q.Skip(i+1, "of", "in")
	at = q.Skip(at, "the")
	y, to, ok := q.yearAt(at)
	if yy, two := q.digits(at, 2, 2); !ok && two && isDash(q.Gap(at+1)) { // 97-98
		y, to, ok = q.century(yy), at+1, true
	}
	if !ok {
		return q.seasonAlone(i, m)
	}
	if m != 12 {
		p := period{Span: monthsSpan(y, m, 3), to: to}
		for {
			next, after, ok := q.yearAt(q.Skip(p.to, "and", "or"))
			if !ok || q.Gap(p.to) != ", " && q.Skip(p.to, "and", "or") == p.to {
				return p, true
			}
			p.also, p.to = append(p.also, monthsSpan(next, m, 3)), after
		}
	}
	if _, ok := q.digits(to, 2, 4); ok && isDash(q.Gap(to)) {
		return period{Span: monthsSpan(y, 12, 3), to: to + 1}, true
	}
	ending, starting := monthsSpan(y-1, 12, 3), monthsSpan(y, 12, 3)
	return period{Span: ending, to: to, other: []Span{starting}, note: "December " + strconv.Itoa(y-1) + " to February " + strconv.Itoa(y)}, true
}

var seasonBefore = set(`in during the each every last this early late mid`)

// yearSeason reads "2012 summer" and "the 2002-2003 winter".
func (q *Query) yearSeason(i int) (period, bool) {
	y, at, ok := q.yearAt(i)
	if !ok {
		return period{}, false
	}
	crosses := false
	if _, two := q.digits(at, 2, 4); two && isDash(q.Gap(at)) {
		at, crosses = at+1, true
	}
	m, ok := seasons[q.Word(at)]
	if !ok || !q.Joined(at) || crosses && m != 12 {
		return period{}, false
	}
	switch {
	case crosses:
		return period{Span: monthsSpan(y, 12, 3), to: at + 1}, true
	case m == 12:
		return period{Span: monthsSpan(y-1, 12, 3), to: at + 1, other: []Span{monthsSpan(y, 12, 3)}, note: "December " + strconv.Itoa(y-1) + " to February " + strconv.Itoa(y)}, true
	}
	return period{Span: monthsSpan(y, m, 3), to: at + 1}, true
}

// seasonAlone reads a season without a year; a fall and a spring are other things too.
func (q *Query) seasonAlone(i int, m time.Month) (period, bool) {
	w := q.Tokens[i].Lower
	if q.HasWords(i+1, "before", "last") {
		last, _ := q.lastSeason(m, i+3)
		last.Span = monthsSpan(last.From.Year()-1, m, 3)
		return last, true
	}
	_, listed := seasons[q.Word(i-2)]
	if !seasonBefore[q.Word(i-1)] && !listed && (strings.HasPrefix(w, "fall") || strings.HasPrefix(w, "spring") || !q.Alone(i, i+1) && !q.besideEvents(i)) {
		return period{}, false
	}
	return period{months: []int{int(m), int(m)%12 + 1, int(m+1)%12 + 1}, to: i + 1}, true
}

// besideEvents reports whether a word stands before an event noun or is set against
// another one: "winter accidents", "winter vs summer".
func (q *Query) besideEvents(i int) bool {
	for k := i + 1; k < i+5 && q.Joined(k); k++ {
		if q.EventNoun(k) {
			return true
		}
	}
	return false
}

// fiscalYear reads "FY2012", "FY 2012", "fiscal year 2012": of the United States, from
// October of the year before.
func (q *Query) fiscalYear(i int) (period, bool) {
	text, digits := strings.CutPrefix(q.Tokens[i].Lower, "fy")
	y, to, ok := 0, i+1, false
	switch {
	case digits && text != "":
		n, err := strconv.Atoi(text)
		if y, ok = n, err == nil && len(text) == 4; err == nil && len(text) == 2 {
			y, ok = q.century(n), true
		}
	case digits:
		y, to, ok = q.yearAt(i + 1)
	case q.HasWords(i, "fiscal"):
		y, to, ok = q.yearAt(q.Skip(i+1, "year"))
	}
	if !ok || !plausible(y) {
		return period{}, false
	}
	return period{Span: Span{day(y-1, 10, 1), day(y, 9, 30)}, to: to, other: []Span{yearSpan(y)}, note: "fiscal year, from October"}, true
}

// turnOfYear reads "the turn of the year 2010/2011", and "the turn of the century", which
// is the year 2000 to nearly everyone.
func (q *Query) turnOfYear(i int) (period, bool) {
	if q.HasWords(i, "turn", "of", "the", "century") || q.HasWords(i, "turn", "of", "the", "millennium") {
		return period{Span: yearSpan(2000), to: i + 4}, true
	}
	if !q.HasWords(i, "turn", "of", "the", "year") {
		return period{}, false
	}
	y, to, ok := q.yearAt(i + 4)
	if !ok {
		return period{}, false
	}
	if _, ok := q.digits(to, 2, 4); ok && isDash(q.Gap(to)) {
		return period{Span: Span{day(y, 12, 1), day(y+1, 1, 31)}, to: to + 1}, true
	}
	return period{Span: Span{day(y-1, 12, 1), day(y, 1, 31)}, to: to}, true
}

// decade reads "the 1980s", "the eighties", "'80s", "1980's".
func (q *Query) decade(i int) (period, bool) {
	t := q.Tokens[i].Lower
	if y, ok := decades[t]; ok {
		return period{Span: yearsSpan(y, y+9), to: i + 1}, true
	}
	if q.Tokens[i].digits == 0 {
		return period{}, false
	}
	s, ok := strings.CutSuffix(t, "s")
	to := i + 1
	if !ok && q.Word(to) == "s" && (q.Gap(to) == "'" || q.Gap(to) == "’") {
		s, ok, to = t, true, to+1
	}
	y, err := strconv.Atoi(s)
	if !ok || err != nil || y%10 != 0 {
		return period{}, false
	}
	switch {
	case len(s) == 4 && plausible(y):
	case len(s) == 2 && (y >= 20 || strings.HasSuffix(q.Gap(i), "'")):
		y = q.century(y)
	default:
		return period{}, false
	}
	return period{Span: yearsSpan(y, y+9), to: to}, true
}

// centuryOf reads "the 20th century": 1901 to 2000.
func (q *Query) centuryOf(i int) (period, bool) {
	if q.Word(i+1) != "century" {
		return period{}, false
	}
	switch q.Tokens[i].Lower {
	case "20th", "twentieth":
		return period{Span: yearsSpan(1901, 2000), to: i + 2}, true
	case "21st":
		return period{Span: yearsSpan(2001, 2100), to: i + 2}, true
	}
	return period{}, false
}

// holiday reads "Christmas Day 2011", "Labor Day weekend 2008", "Thanksgiving of 2013".
func (q *Query) holiday(i int) (period, bool) {
	h, at, ok := holidays.At(q, i)
	if !ok {
		return period{}, false
	}
	weekend := q.Word(at) == "weekend"
	if weekend {
		at++
	}
	y, to, ok := q.yearAt(q.Skip(at, "of", "in"))
	if !ok {
		t := h.on(q.AsOf.Year())
		return period{months: []int{int(t.Month())}, day: t.Day(), moving: &h, to: at}, !weekend
	}
	return period{Span: h.days(y, weekend), to: to}, true
}
