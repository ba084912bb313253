package table

import (
	"strconv"
	"strings"
	"time"
)

// Date is a calendar day, or a month or a year where the text says no more.
type Date struct {
	Year  int
	Month time.Month // 0: only the year is known
	Day   int        // 0: only the month is known
}

// Time returns midnight UTC of the day, or of the first day of the month or year. A
// date written without a zone is a local date and compares as one.
func (d Date) Time() time.Time {
	return time.Date(d.Year, max(d.Month, 1), max(d.Day, 1), 0, 0, 0, 0, time.UTC)
}

// Precision returns "day", "month" or "year".
func (d Date) Precision() string {
	switch {
	case d.Month == 0:
		return "year"
	case d.Day == 0:
		return "month"
	}
	return "day"
}

// Order is how the numbers of a date such as 03/08/1948 are to be read.
type Order uint8

// The orders.
const (
	MonthFirst Order = iota
	DayFirst
)

// String names the order as people say it.
func (o Order) String() string {
	if o == DayFirst {
		return "day first"
	}
	return "month first"
}

// ParseDate reads a date as tables write it: 2006-01-02 (also with a time after it,
// which is left out: the date is the local one as printed, and no zone is applied),
// 1/2/2006 and 1-2-06 in the given order, 2-Jan-2006, January 2, 2006, Jan-06, 2006.
// Two-digit years are taken as the latest that is not after now: accidents and reports
// lie in the past.
func ParseDate(text string, order Order, now time.Time) (Date, bool) {
	text = strings.TrimSpace(text)
	if d, ok := parseISO(text); ok {
		return d, valid(d)
	}
	words := dateWords(text)
	var d Date
	var ok bool
	switch len(words) {
	case 1:
		d, ok = yearAlone(words[0])
	case 2:
		d, ok = monthYear(words, now)
	case 3:
		d, ok = threeWords(words, order, now)
	}
	return d, ok && valid(d)
}

// parseISO reads 2006-01-02, alone or followed by T or a blank and a time.
func parseISO(text string) (Date, bool) {
	if len(text) < len(time.DateOnly) || len(text) > len(time.DateOnly) && text[10] != 'T' && text[10] != ' ' {
		return Date{}, false
	}
	t, err := time.Parse(time.DateOnly, text[:10])
	if err != nil {
		return Date{}, false
	}
	return Date{t.Year(), t.Month(), t.Day()}, true
}

// dateWords cuts a date at its separators; a time after it is left out.
func dateWords(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/-., \t", r) })
	if len(words) > 3 && strings.Contains(words[3], ":") {
		words = words[:3]
	}
	return words
}

func yearAlone(word string) (Date, bool) {
	y, err := strconv.Atoi(word)
	return Date{Year: y}, err == nil && len(word) == 4
}

func monthYear(words []string, now time.Time) (Date, bool) {
	if len(words[0]) == 4 { // 2006-01
		words = []string{words[1], words[0]}
	}
	month, ok := monthName(words[0])
	if n, err := strconv.Atoi(words[0]); err == nil && len(words[0]) <= 2 && len(words[1]) == 4 && n >= 1 && n <= 12 { // 01/2006
		month, ok = time.Month(n), true
	}
	if !ok {
		return Date{}, false
	}
	d, ok := withYear(Date{Month: month}, words[1], now)
	return d, ok
}

func threeWords(words []string, order Order, now time.Time) (Date, bool) {
	if month, ok := monthName(words[0]); ok { // January 2, 2006
		return dayOfMonth(words[1], month, words[2], now)
	}
	if month, ok := monthName(words[1]); ok { // 2-Jan-2006
		return dayOfMonth(words[0], month, words[2], now)
	}
	if len(words[0]) == 4 { // 2006/1/2
		words = []string{words[1], words[2], words[0]}
	} else if order == DayFirst {
		words = []string{words[1], words[0], words[2]}
	}
	month, err := strconv.Atoi(words[0])
	if err != nil || month < 1 || month > 12 {
		return Date{}, false
	}
	return dayOfMonth(words[1], time.Month(month), words[2], now)
}

func dayOfMonth(day string, month time.Month, year string, now time.Time) (Date, bool) {
	n, err := strconv.Atoi(day)
	if err != nil || len(day) > 2 || n < 1 {
		return Date{}, false
	}
	return withYear(Date{Month: month, Day: n}, year, now)
}

func withYear(d Date, year string, now time.Time) (Date, bool) {
	y, err := strconv.Atoi(year)
	if err != nil || y < 0 || len(year) != 2 && len(year) != 4 {
		return Date{}, false
	}
	d.Year = y
	if len(year) == 2 {
		d.Year += now.Year() - now.Year()%100
		if d.Time().After(now) {
			d.Year -= 100
		}
	}
	return d, true
}

func monthName(word string) (time.Month, bool) {
	word = strings.ToLower(word)
	for m := time.January; m <= time.December; m++ {
		full := strings.ToLower(m.String())
		if word == full || word == full[:3] || word == "sept" && m == time.September {
			return m, true
		}
	}
	m, ok := foreignMonths[word]
	return m, ok
}

// foreignMonths are the months of the larger European languages, as far as they differ
// from English and from each other.
var foreignMonths = func() map[string]time.Month {
	out := map[string]time.Month{}
	for m, words := range []string{"januar jan janvier janv enero ene gennaio januari janeiro", "februar février févr fevrier fevr febrero febbraio februari fevereiro fev",
		"märz mär maerz mrz mars marzo maart mrt março", "avril avr abril abr aprile", "mai mayo maggio mei maio", "juni juin junio giugno giu junho", "juli juil juillet julio luglio lug julho",
		"août aout agosto ago augustus", "septembre septiembre settembre set setembro", "oktober okt octobre octubre ottobre ott outubro out", "novembre noviembre nov novembro",
		"dezember dez décembre déc diciembre dic dicembre dezembro"} {
		for word := range strings.FieldsSeq(words) {
			out[word] = time.Month(m + 1)
		}
	}
	return out
}()

func valid(d Date) bool {
	if d.Year < 1 || d.Year > 9999 {
		return false
	}
	t := d.Time()
	return t.Year() == d.Year && (d.Month == 0 || t.Month() == d.Month) && (d.Day == 0 || t.Day() == d.Day)
}

// OrderVote looks at the numeric dates of a whole column to tell which number is the
// day: a single 24/10/1948 decides for every 03/08/1948. A column has one order.
type OrderVote struct {
	dayFirst, monthFirst, either int64
}

// Add counts one cell of the column.
func (v *OrderVote) Add(text string) {
	text = strings.TrimSpace(text)
	if _, ok := parseISO(text); ok || text == "" {
		return
	}
	words := dateWords(text)
	if len(words) != 3 || len(words[0]) > 2 {
		return
	}
	a, errA := strconv.Atoi(words[0])
	b, errB := strconv.Atoi(words[1])
	switch {
	case errA != nil || errB != nil || a < 1 || b < 1 || a > 31 || b > 31 || a > 12 && b > 12:
	case a > 12:
		v.dayFirst++
	case b > 12:
		v.monthFirst++
	case a != b:
		v.either++
	}
}

// Order returns the column's order, standing in for which is fallback where no date
// decides. The warning is "" unless the dates leave a doubt.
func (v *OrderVote) Order(column string, fallback Order) (Order, string) {
	switch {
	case v.dayFirst > 0 && v.monthFirst > 0:
		order := MonthFirst
		if v.dayFirst > v.monthFirst {
			order = DayFirst
		}
		return order, "Column " + column + " mixes orders of day and month; read " + order.String() + ", dates impossible that way are left unknown."
	case v.dayFirst > 0:
		return DayFirst, ""
	case v.monthFirst > 0:
		return MonthFirst, ""
	case v.either > 0:
		return fallback, "Column " + column + " has an ambiguous date order; read " + fallback.String() + "."
	}
	return fallback, ""
}
