package constrain

import (
	"slices"
	"strconv"
	"strings"
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

// period is a stretch of time as words name it. Without a year it has months only.
type period struct {
	Span
	months []int  // of a period that names no year: June; June to August; winter
	day    int    // with one month: the day of it, no year
	to     int    // token after it
	other  []Span // other readings, to be shown
	note   string
}

func day(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
func yearSpan(y int) Span                      { return Span{day(y, 1, 1), day(y, 12, 31)} }
func monthsSpan(y int, m time.Month, n int) Span {
	return Span{day(y, m, 1), day(y, m+time.Month(n), 0)}
}

var monthNames = map[string]time.Month{"january": 1, "jan": 1, "february": 2, "feb": 2, "march": 3, "mar": 3, "april": 4, "apr": 4, "may": 5, "june": 6, "jun": 6, "july": 7, "jul": 7,
	"august": 8, "aug": 8, "september": 9, "sept": 9, "sep": 9, "october": 10, "oct": 10, "november": 11, "nov": 11, "december": 12, "dec": 12}

// seasons by their first month (meteorological seasons, northern hemisphere; three
// months each).
var seasons = map[string]time.Month{"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}

var ordinals = map[string]int{"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}

// periodAt reads a period that starts at token i.
func (q *Query) periodAt(i int) (period, bool) {
	if i >= len(q.Tokens) {
		return period{}, false
	}
	for _, read := range []func(int) (period, bool){q.isoDate, q.numericDate, q.boundaryDay, q.weekOf, q.part, q.season, q.holiday, q.monthFirst, q.dayFirst, q.turnOfYear, q.decade, q.year} {
		if p, ok := read(i); ok {
			return p, true
		}
	}
	return period{}, false
}

func (q *Query) digits(i, least, most int) (int, bool) {
	if i < 0 || i >= len(q.Tokens) || !q.Tokens[i].Number() || len(q.Tokens[i].Text) < least || len(q.Tokens[i].Text) > most {
		return 0, false
	}
	n, err := strconv.Atoi(q.Tokens[i].Text)
	return n, err == nil
}

func (q *Query) gap(i int) string {
	if i >= len(q.Tokens) {
		return "\x00"
	}
	return q.Tokens[i].Gap
}

func single(t time.Time, to int) (period, bool) { return period{Span: Span{t, t}, to: to}, true }

func validDay(y, m, d int) (time.Time, bool) {
	t := day(y, time.Month(m), d)
	return t, m >= 1 && m <= 12 && d >= 1 && t.Day() == d && plausible(y)
}

func plausible(year int) bool { return year >= 1900 && year < 2100 }

func (q *Query) isoDate(i int) (period, bool) {
	y, ok1 := q.digits(i, 4, 4)
	m, ok2 := q.digits(i+1, 1, 2)
	d, ok3 := q.digits(i+2, 1, 2)
	if !ok1 || !ok2 || !ok3 || q.gap(i+1) != "-" || q.gap(i+2) != "-" {
		return period{}, false
	}
	if t, ok := validDay(y, m, d); ok {
		return single(t, i+3)
	}
	return period{}, false
}

// numericDate reads 3/4/2012 month first, as the data's country writes it; where the
// day could be the month, the other reading is kept.
func (q *Query) numericDate(i int) (period, bool) {
	a, ok1 := q.digits(i, 1, 2)
	b, ok2 := q.digits(i+1, 1, 2)
	y, ok3 := q.digits(i+2, 2, 4)
	sep := q.gap(i + 1)
	if !ok1 || !ok2 || !ok3 || sep != q.gap(i+2) || !strings.Contains("/.-", sep) || sep == "" {
		return period{}, false
	}
	if len(q.Tokens[i+2].Text) == 2 {
		y = q.century(y)
	}
	first, okFirst := validDay(y, a, b)
	second, okSecond := validDay(y, b, a)
	switch {
	case okFirst && okSecond && first != second:
		return period{Span: Span{first, first}, to: i + 3, other: []Span{{second, second}}, note: "month first; day first would be " + second.Format(time.DateOnly)}, true
	case okFirst:
		return single(first, i+3)
	case okSecond:
		return single(second, i+3)
	}
	return period{}, false
}

// century places a two-digit year in the hundred years that end with the reference
// date's year: no question is about an event of the future.
func (q *Query) century(yy int) int {
	y := q.AsOf.Year()/100*100 + yy
	if y > q.AsOf.Year() {
		y -= 100
	}
	return y
}

func (q *Query) yearAt(i int) (y, to int, ok bool) {
	if y, ok = q.digits(i, 4, 4); ok && plausible(y) {
		return y, i + 1, true
	}
	if y, ok = q.digits(i, 2, 2); ok && (strings.HasSuffix(q.gap(i), "'") || strings.HasSuffix(q.gap(i), "’")) {
		return q.century(y), i + 1, true
	}
	return 0, i, false
}

// notYears are words after a four-digit number that say what it counts.
var notYears = map[string]bool{"feet": true, "foot": true, "ft": true, "hours": true, "hour": true, "hrs": true, "hr": true, "miles": true, "mile": true, "pounds": true, "lbs": true,
	"rpm": true, "knots": true, "kts": true, "meters": true, "metres": true, "fpm": true, "gallons": true, "dollars": true, "people": true, "psi": true, "degrees": true, "utc": true, "z": true}

// notYearsBefore are words before a number that make it a name.
var notYearsBefore = map[string]bool{"flight": true, "number": true, "no": true, "squawk": true, "section": true, "part": true, "item": true, "runway": true, "docket": true}

func (q *Query) year(i int) (period, bool) {
	y, to, ok := q.yearAt(i)
	if !ok || to < len(q.Tokens) && notYears[q.Tokens[to].Lower] || i > 0 && notYearsBefore[q.Tokens[i-1].Lower] {
		return period{}, false
	}
	if strings.HasSuffix(q.gap(i), ".") || strings.HasPrefix(q.gap(to), ".") && q.gap(to) == "." {
		return period{}, false // part of a decimal or a section number
	}
	if end, ok := q.digits(to, 2, 2); ok && isDash(q.gap(to)) { // 2012-13
		if last := y/100*100 + end; last > y && last-y < 30 {
			return period{Span: Span{day(y, 1, 1), day(last, 12, 31)}, to: to + 1}, true
		}
	}
	return period{Span: yearSpan(y), to: to}, true
}

func isDash(gap string) bool {
	return slices.Contains([]string{"-", "–", "—", "/", " - ", " – ", " — "}, gap)
}

// monthFirst reads "July 4, 2014", "July 2014", "July 4", "July", "Nov-94".
func (q *Query) monthFirst(i int) (period, bool) {
	m, ok := monthNames[q.Tokens[i].Lower]
	if !ok || !q.monthLike(i) {
		return period{}, false
	}
	if d, at, ok := q.dayOfMonth(i + 1); ok {
		if y, to, ok := q.yearAt(q.skip(at, "of", "in")); ok {
			if t, ok := validDay(y, int(m), d); ok {
				return single(t, to)
			}
		}
		if d >= 1 && d <= 31 && (at >= len(q.Tokens) || !notYears[q.Tokens[at].Lower]) && q.gap(i+1) == " " {
			return period{months: []int{int(m)}, day: d, to: at}, true
		}
	}
	if y, to, ok := q.yearAt(q.skip(i+1, "of", "in")); ok {
		return period{Span: monthsSpan(y, m, 1), to: to}, true
	}
	if yy, ok := q.digits(i+1, 2, 2); ok && q.gap(i+1) == "-" {
		return period{Span: monthsSpan(q.century(yy), m, 1), to: i + 2}, true
	}
	return period{months: []int{int(m)}, to: i + 1}, true
}

func (q *Query) skip(i int, words ...string) int {
	if i < len(q.Tokens) && slices.Contains(words, q.Tokens[i].Lower) {
		return i + 1
	}
	return i
}

// monthLike tells the months May and March, and abbreviations, from the words.
func (q *Query) monthLike(i int) bool {
	t := q.Tokens[i]
	switch t.Lower {
	case "may", "march", "mar", "jan", "dec", "sep", "sept":
	default:
		return true
	}
	if _, ok := q.digits(i+1, 1, 4); ok {
		return true
	}
	before := map[string]bool{"in": true, "of": true, "during": true, "since": true, "before": true, "after": true, "until": true, "through": true, "last": true, "this": true, "to": true, "from": true, "between": true, "and": true, "for": true}
	return i > 0 && before[q.Tokens[i-1].Lower] && (t.Capital() || t.Lower != "may")
}

// dayOfMonth reads "4", "4th" at token i.
func (q *Query) dayOfMonth(i int) (d, to int, ok bool) {
	if i >= len(q.Tokens) || !q.Tokens[i].joins() {
		return 0, i, false
	}
	text := q.Tokens[i].Lower
	for _, suffix := range []string{"st", "nd", "rd", "th"} {
		text = strings.TrimSuffix(text, suffix)
	}
	d, err := strconv.Atoi(text)
	return d, i + 1, err == nil && d >= 1 && d <= 31 && len(text) <= 2
}

// dayFirst reads "4 July 2014", "4th of July 2014", "4 July".
func (q *Query) dayFirst(i int) (period, bool) {
	d, at, ok := q.dayOfMonth(i)
	if !ok && i == 0 {
		d, at, ok = q.leadingDay()
	}
	if !ok {
		return period{}, false
	}
	at = q.skip(at, "of")
	if at >= len(q.Tokens) {
		return period{}, false
	}
	m, isMonth := monthNames[q.Tokens[at].Lower]
	if !isMonth || !q.Tokens[at].joins() {
		return period{}, false
	}
	if y, to, ok := q.yearAt(at + 1); ok {
		if t, ok := validDay(y, int(m), d); ok {
			return single(t, to)
		}
	}
	return period{months: []int{int(m)}, day: d, to: at + 1}, true
}

func (q *Query) leadingDay() (int, int, bool) {
	t := strings.TrimRight(q.Tokens[0].Lower, "stndrh")
	d, err := strconv.Atoi(t)
	return d, 1, err == nil && d >= 1 && d <= 31
}

// season reads "summer 2012", "winter of 2012-13", "winter 2021", "summer". A winter
// is named after the year of its January; the other reading is kept.
func (q *Query) season(i int) (period, bool) {
	m, ok := seasons[q.Tokens[i].Lower]
	if !ok {
		return period{}, false
	}
	at := q.skip(i+1, "of", "in")
	y, to, ok := q.yearAt(at)
	if !ok {
		if q.Tokens[i].Lower == "fall" || q.Tokens[i].Lower == "spring" {
			if i == 0 || !slices.Contains([]string{"in", "during", "the", "each", "every", "last", "this"}, q.Tokens[i-1].Lower) {
				return period{}, false // a fall, a spring
			}
		}
		return period{months: []int{int(m), int(m)%12 + 1, int(m+1)%12 + 1}, to: i + 1}, true
	}
	if m != 12 {
		return period{Span: monthsSpan(y, m, 3), to: to}, true
	}
	if isDash(q.gap(to)) {
		if _, ok := q.digits(to, 2, 4); ok {
			return period{Span: monthsSpan(y, 12, 3), to: to + 1}, true
		}
	}
	ending, starting := monthsSpan(y-1, 12, 3), monthsSpan(y, 12, 3)
	return period{Span: ending, to: to, other: []Span{starting}, note: "December " + strconv.Itoa(y-1) + " to February " + strconv.Itoa(y)}, true
}

// part reads quarters and halves: "Q3 2014", "third quarter of 2014", "first half of
// 2013", "H1 2013".
func (q *Query) part(i int) (period, bool) {
	t := q.Tokens[i].Lower
	n, months, at := 0, 0, i+1
	switch {
	case len(t) == 2 && t[0] == 'q' && t[1] >= '1' && t[1] <= '4':
		n, months = int(t[1]-'0'), 3
	case len(t) == 2 && t[0] == 'h' && (t[1] == '1' || t[1] == '2'):
		n, months = int(t[1]-'0'), 6
	case at < len(q.Tokens) && q.Tokens[at].Lower == "quarter":
		n, months, at = ordinals[t], 3, at+1
	case at < len(q.Tokens) && q.Tokens[at].Lower == "half" && ordinals[t] <= 2:
		n, months, at = ordinals[t], 6, at+1
	}
	if n == 0 {
		return period{}, false
	}
	y, to, ok := q.yearAt(q.skip(at, "of", "in"))
	if !ok {
		return period{}, false
	}
	return period{Span: monthsSpan(y, time.Month((n-1)*months+1), months), to: to}, true
}

// boundaryDay reads "the last day of 2012", "first day of May 2010".
func (q *Query) boundaryDay(i int) (period, bool) {
	first, last := q.hasWords(i, []string{"first", "day", "of"}), q.hasWords(i, []string{"last", "day", "of"})
	if !first && !last {
		return period{}, false
	}
	p, ok := q.periodAt(i + 3)
	if !ok || p.From.IsZero() {
		return period{}, false
	}
	if first {
		return single(p.From, p.to)
	}
	return single(p.To, p.to)
}

// weekOf reads "week of August 12, 2013": seven days from that day.
func (q *Query) weekOf(i int) (period, bool) {
	if !q.hasWords(i, []string{"week", "of"}) {
		return period{}, false
	}
	p, ok := q.periodAt(q.skip(i+2, "the"))
	if !ok || p.From.IsZero() || p.From != p.To {
		return period{}, false
	}
	p.To = p.From.AddDate(0, 0, 6)
	return p, true
}

func (q *Query) turnOfYear(i int) (period, bool) {
	if !q.hasWords(i, []string{"turn", "of", "the", "year"}) {
		return period{}, false
	}
	y, to, ok := q.yearAt(i + 4)
	if !ok {
		return period{}, false
	}
	if _, ok := q.digits(to, 2, 4); ok && isDash(q.gap(to)) {
		return period{Span: Span{day(y, 12, 1), day(y+1, 1, 31)}, to: to + 1}, true
	}
	return period{Span: Span{day(y-1, 12, 1), day(y, 1, 31)}, to: to}, true
}

var decades = map[string]int{"twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70, "eighties": 80, "nineties": 90, "noughties": 100, "aughts": 100}

// decade reads "the 1980s", "the eighties", "'80s".
func (q *Query) decade(i int) (period, bool) {
	t := q.Tokens[i].Lower
	if d, ok := decades[t]; ok {
		return period{Span: Span{day(1900+d, 1, 1), day(1909+d, 12, 31)}, to: i + 1}, true
	}
	s, ok := strings.CutSuffix(t, "s")
	to := i + 1
	if !ok && to < len(q.Tokens) && q.Tokens[to].Lower == "s" && (q.gap(to) == "'" || q.gap(to) == "’") {
		s, ok, to = t, true, to+1 // 1980's
	}
	y, err := strconv.Atoi(s)
	if !ok || err != nil || y%10 != 0 {
		return period{}, false
	}
	switch {
	case len(s) == 4 && plausible(y):
	case len(s) == 2 && y >= 20:
		y += 1900
	default:
		return period{}, false
	}
	return period{Span: Span{day(y, 1, 1), day(y+9, 12, 31)}, to: to}, true
}

var holidays = []struct {
	words []string
	on    func(year int) time.Time
}{
	{[]string{"christmas", "day"}, func(y int) time.Time { return day(y, 12, 25) }},
	{[]string{"christmas", "eve"}, func(y int) time.Time { return day(y, 12, 24) }},
	{[]string{"christmas"}, func(y int) time.Time { return day(y, 12, 25) }},
	{[]string{"new", "year", "s", "day"}, func(y int) time.Time { return day(y, 1, 1) }},
	{[]string{"new", "years", "day"}, func(y int) time.Time { return day(y, 1, 1) }},
	{[]string{"new", "year", "s", "eve"}, func(y int) time.Time { return day(y, 12, 31) }},
	{[]string{"new", "years", "eve"}, func(y int) time.Time { return day(y, 12, 31) }},
	{[]string{"valentine", "s", "day"}, func(y int) time.Time { return day(y, 2, 14) }},
	{[]string{"valentines", "day"}, func(y int) time.Time { return day(y, 2, 14) }},
	{[]string{"independence", "day"}, func(y int) time.Time { return day(y, 7, 4) }},
	{[]string{"fourth", "of", "july"}, func(y int) time.Time { return day(y, 7, 4) }},
	{[]string{"halloween"}, func(y int) time.Time { return day(y, 10, 31) }},
	{[]string{"veterans", "day"}, func(y int) time.Time { return day(y, 11, 11) }},
	{[]string{"thanksgiving", "day"}, func(y int) time.Time { return nth(y, 11, time.Thursday, 4) }},
	{[]string{"thanksgiving"}, func(y int) time.Time { return nth(y, 11, time.Thursday, 4) }},
	{[]string{"labor", "day"}, func(y int) time.Time { return nth(y, 9, time.Monday, 1) }},
	{[]string{"memorial", "day"}, func(y int) time.Time { return nth(y, 6, time.Monday, 1).AddDate(0, 0, -7) }},
}

// nth returns the nth such weekday of a month, or of the days before it counted on:
// Memorial Day is the Monday before the first Monday of June.
func nth(y int, m time.Month, wd time.Weekday, n int) time.Time {
	t := day(y, m, 1)
	return t.AddDate(0, 0, (int(wd)-int(t.Weekday())+7)%7+7*(n-1))
}

func (q *Query) holiday(i int) (period, bool) {
	for _, h := range holidays {
		if !q.hasWords(i, h.words) {
			continue
		}
		at := i + len(h.words)
		if y, to, ok := q.yearAt(q.skip(at, "of", "in")); ok {
			return single(h.on(y), to)
		}
	}
	return period{}, false
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
