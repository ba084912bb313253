package constrain

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
)

// Dates that name a day or a run of days of one month.

func (q *Query) digits(i, least, most int) (int, bool) {
	if i < 0 || i >= len(q.Tokens) || !q.Tokens[i].Number() || len(q.Tokens[i].Text) < least || len(q.Tokens[i].Text) > most {
		return 0, false
	}
	n, err := strconv.Atoi(q.Tokens[i].Text)
	return n, err == nil
}

func isDash(gap string) bool {
	return slices.Contains([]string{"-", "–", "—", "/", " - ", " – ", " — ", "--"}, gap)
}

// isoDate reads 2012-08-15, 2012/08/15 and 2012.08.15: the year first.
func (q *Query) isoDate(i int) (period, bool) {
	y, ok1 := q.digits(i, 4, 4)
	m, ok2 := q.digits(i+1, 1, 2)
	d, ok3 := q.digits(i+2, 1, 2)
	sep := q.Gap(i + 1)
	if !ok1 || !ok2 || !ok3 || sep != q.Gap(i+2) || sep != "-" && sep != "/" && sep != "." {
		return period{}, false
	}
	t, ok := validDay(y, m, d)
	return period{Span: daySpan(t), to: i + 3}, ok
}

// numericDate reads 3/4/2012 month first, as the data's country writes it; where the
// day could be the month, the other reading is kept. With dots, as in 29.2.2012, the
// day comes first wherever that is written.
func (q *Query) numericDate(i int) (period, bool) {
	a, ok1 := q.digits(i, 1, 2)
	b, ok2 := q.digits(i+1, 1, 2)
	y, ok3 := q.digits(i+2, 2, 4)
	sep := q.Gap(i + 1)
	if !ok1 || !ok2 || !ok3 || sep != q.Gap(i+2) || sep != "/" && sep != "." && sep != "-" || i > 0 && !q.freeStanding(i) {
		return period{}, false
	}
	if len(q.Tokens[i+2].Text) == 2 {
		y = q.century(y)
	}
	first, okFirst := validDay(y, a, b)
	second, okSecond := validDay(y, b, a)
	note := "month first"
	if sep == "." {
		first, okFirst, second, okSecond, note = second, okSecond, first, okFirst, "day first"
	}
	switch {
	case okFirst && okSecond && first != second:
		return period{Span: daySpan(first), to: i + 3, other: []Span{daySpan(second)}, note: note + "; the other way it would be " + second.Format(time.DateOnly)}, true
	case okFirst:
		return period{Span: daySpan(first), to: i + 3}, true
	}
	return period{Span: daySpan(second), to: i + 3}, okSecond
}

// noSuchDay reads a full date that no calendar has: 2/30/2010, June 31, 2005.
func (q *Query) noSuchDay(i int) (Claim, bool) {
	d, m, y, to := q.fullDate(i)
	_, real := validDay(y, m, d)
	_, otherWay := validDay(y, d, m)
	if to == i || real || otherWay && monthNames[q.Word(i)] == 0 && monthNames[q.Word(i+1)] == 0 && monthNames[q.Word(i+2)] == 0 {
		return Claim{}, false
	}
	return Claim{From: i, To: to, Weight: 6, Cannot: &sextant.Unenforceable{Field: q.Lexicon.Dates, Reason: noDay}}, true
}

// fullDate reads day, month and year at token i whether or not there is such a day; to is i
// where no full date stands there.
func (q *Query) fullDate(i int) (d, m, y, to int) {
	if a, ok := q.digits(i, 1, 2); ok && q.freeStanding(i) || ok && i == 0 {
		b, ok1 := q.digits(i+1, 1, 2)
		year, ok2 := q.digits(i+2, 4, 4)
		if ok1 && ok2 && q.Gap(i+1) == "/" && q.Gap(i+2) == "/" && a <= 31 && b <= 31 && plausible(year) {
			return b, a, year, i + 3
		}
	}
	if day, at, ok := q.dayOfMonth(i); ok { // 31 June 2005
		at = q.Skip(at, "of")
		month := monthNames[q.Word(at)]
		if year, end, ok := q.yearAt(at + 1); ok && month > 0 && q.Joined(at) {
			return day, int(month), year, end
		}
	}
	if month := monthNames[q.Word(i)]; month > 0 { // June 31, 2005
		day, at, ok := q.dayOfMonth(i + 1)
		if year, end, dated := q.yearAt(at); ok && dated && q.Gap(i+1) == " " {
			return day, int(month), year, end
		}
	}
	return 0, 0, 0, i
}

// freeStanding reports whether token i begins after a blank or bracket, so that it is
// no part of a number before it.
func (q *Query) freeStanding(i int) bool {
	gap := q.Gap(i)
	return gap != "" && strings.ContainsAny(gap[len(gap)-1:], " (\"'\n\t:,")
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

// yearAt reads a year of four digits, or of two with an apostrophe: 2012, '12.
func (q *Query) yearAt(i int) (y, to int, ok bool) {
	if y, ok = q.digits(i, 4, 4); ok && plausible(y) {
		return y, i + 1, true
	}
	if y, ok = q.digits(i, 2, 2); ok && (strings.HasSuffix(q.Gap(i), "'") || strings.HasSuffix(q.Gap(i), "’")) {
		return q.century(y), i + 1, true
	}
	return 0, i, false
}

// dayOfMonth reads "4" or "4th" at token i.
func (q *Query) dayOfMonth(i int) (d, to int, ok bool) {
	if i < 0 || i >= len(q.Tokens) || q.Tokens[i].digits == 0 {
		return 0, i, false
	}
	text := q.Tokens[i].Lower
	for _, suffix := range []string{"st", "nd", "rd", "th"} {
		text = strings.TrimSuffix(text, suffix)
	}
	if len(text) > 2 {
		return 0, i, false
	}
	d, err := strconv.Atoi(text)
	return d, i + 1, err == nil && d >= 1 && d <= 31
}

// days is a run of days of a month that is named before or after it.
type days struct{ first, last int }

// daysAt reads a day or a run of days: "4", "4th", "4-7", "12 to 14", "5th through 9th",
// "4 and 5".
func (q *Query) daysAt(i int) (d days, to int, ok bool) {
	first, to, ok := q.dayOfMonth(i)
	if !ok {
		return days{}, i, false
	}
	d = days{first, first}
	at := to
	switch w := q.Word(to); {
	case w == "to" || w == "through" || w == "thru" || w == "until" || w == "and" || w == "or":
		at++
		at = q.Skip(at, "the")
	case !isDash(q.Gap(to)) || q.Gap(to) == "/":
		return d, to, true
	}
	last, end, ok := q.dayOfMonth(at)
	listed := q.Word(to) == "and" && q.Word(i-1) != "between" || q.Word(to) == "or"
	if !ok || last <= first || listed && last != first+1 {
		return d, to, true
	}
	return days{first, last}, end, true
}

func (d days) in(y int, m time.Month) (Span, bool) {
	from, ok1 := validDay(y, int(m), d.first)
	to, ok2 := validDay(y, int(m), d.last)
	return Span{from, to}, ok1 && ok2
}

// monthFirst reads "July 4, 2014", "July 4-7, 2014", "July 2014", "July 4", "July",
// "Nov-94".
func (q *Query) monthFirst(i int) (period, bool) {
	m, ok := monthNames[q.Tokens[i].Lower]
	if !ok || !q.monthLike(i) {
		return period{}, false
	}
	if p, ok := q.monthsTo(i+1, m); ok {
		return p, true
	}
	if p, ok := q.daysAfterMonth(i+1, m); ok {
		return p, true
	}
	if y, to, ok := q.yearAt(q.Skip(i+1, "of", "in")); ok && !q.unitFollows(to) {
		return period{Span: monthsSpan(y, m, 1), to: to}, true
	}
	if yy, ok := q.digits(i+1, 2, 2); ok && q.Gap(i+1) == "-" {
		return period{Span: monthsSpan(q.century(yy), m, 1), to: i + 2}, true
	}
	return period{months: []int{int(m)}, to: i + 1}, true
}

// monthsTo reads the rest of "Jan-Mar 2009" and "Nov-Feb 2010": a run that crosses the end of
// a year belongs to the year that is written, which is its end's.
func (q *Query) monthsTo(i int, first time.Month) (period, bool) {
	last, ok := monthNames[q.Word(i)]
	if !ok || !isDash(q.Gap(i)) || q.Gap(i) == "/" {
		return period{}, false
	}
	n := (int(last)-int(first)+12)%12 + 1
	y, to, ok := q.yearAt(q.Skip(i+1, "of", "in"))
	if !ok || q.unitFollows(to) {
		p := period{to: i + 1}
		for k := range n {
			p.months = append(p.months, (int(first)+k-1)%12+1)
		}
		return p, true
	}
	if last < first {
		y--
	}
	return period{Span: monthsSpan(y, first, n), to: to}, true
}

func (q *Query) daysAfterMonth(i int, m time.Month) (period, bool) {
	i = q.Skip(i, "the")
	if q.Gap(i) == "-" {
		return period{}, false // Nov-94
	}
	d, at, ok := q.daysAt(i)
	if !ok || q.unitFollows(at) {
		return period{}, false
	}
	if y, to, ok := q.yearAt(q.Skip(at, "of", "in")); ok {
		if s, ok := d.in(y, m); ok {
			return period{Span: s, to: to}, true
		}
	}
	if s := strings.TrimSpace(q.Gap(i)); s != "" && s != "." || d.first != d.last {
		return period{}, false
	}
	return period{months: []int{int(m)}, day: d.first, to: at}, true
}

// unitFollows reports whether the word at token i says that the number before it
// counts something: "in March 2000 hours had been flown".
func (q *Query) unitFollows(i int) bool {
	if q.Joined(i+1) && notYears[q.Word(i+1)] && unitAdjectives[q.Word(i)] {
		i++ // "2014 flight hours"
	}
	return q.Joined(i) && notYears[q.Word(i)]
}

var unitAdjectives = set(`flight total logged flying airframe engine pilot square`)

// monthLike tells the months May and March, and abbreviations, from the words.
func (q *Query) monthLike(i int) bool {
	t := &q.Tokens[i]
	switch t.Lower {
	case "may", "march", "mar", "jan", "dec", "sep", "sept", "jun", "oct":
	default:
		return true
	}
	if next := i + 1; next < len(q.Tokens) && q.Tokens[next].digits > 0 {
		if _, _, ok := q.dayOfMonth(next); ok {
			return true
		}
		if _, _, ok := q.yearAt(next); ok {
			return true
		}
	}
	if monthNames[q.Word(i+1)] > 0 && q.Gap(i+1) != " " && isDash(q.Gap(i+1)) {
		return true // Jan-Mar
	}
	if monthBefore[q.Word(i-1)] || monthNames[q.Word(i-2)] > 0 && monthLinks[q.Word(i-1)] {
		return t.capital || t.Lower != "may" && (t.Lower != "march" || q.lower)
	}
	if t.capital && q.Joined(i+1) && q.EventNoun(i+1) {
		return true // "May accidents"
	}
	_, of := monthNames[q.Word(i+2)]
	return t.capital && of && monthLinks[q.Word(i+1)]
}

var (
	monthBefore = set(`in of during since before after until through last this to from between and for every each early late mid`)
	monthLinks  = set(`and or to through thru until`)
)

// dayFirst reads "4 July 2014", "4-7 July 2014", "4th of July, 2014", "4 July".
func (q *Query) dayFirst(i int) (period, bool) {
	if q.Tokens[i].digits == 0 || i > 0 && !q.freeStanding(i) {
		return period{}, false
	}
	d, at, ok := q.daysAt(i)
	if !ok {
		return period{}, false
	}
	at = q.Skip(at, "of", "day")
	at = q.Skip(at, "of")
	m, isMonth := monthNames[q.Word(at)]
	if !isMonth || !q.Joined(at) {
		return period{}, false
	}
	if y, to, ok := q.yearAt(q.Skip(at+1, "of", "in")); ok {
		if s, ok := d.in(y, m); ok {
			return period{Span: s, to: to}, true
		}
	}
	if yy, ok := q.digits(at+1, 2, 2); ok && q.Gap(at+1) == "-" { // 14-Mar-49
		if s, ok := d.in(q.century(yy), m); ok {
			return period{Span: s, to: at + 2}, true
		}
	}
	if d.first != d.last {
		return period{}, false
	}
	return period{months: []int{int(m)}, day: d.first, to: at + 1}, true
}
