package check

import (
	"fmt"
	"strings"

	"github.com/sextant-rag/sextant"
)

// date is a day, or what is said of one: a year or month alone. Zero parts are not said.
type date struct {
	year, month, day int
	either           bool // written as two numbers that could change places
}

func (d date) String() string {
	switch {
	case d.year == 0 && d.day == 0:
		return months[d.month-1]
	case d.month == 0:
		return fmt.Sprint(d.year)
	case d.year == 0:
		return fmt.Sprintf("%d %s", d.day, months[d.month-1])
	case d.day == 0:
		return fmt.Sprintf("%s %d", months[d.month-1], d.year)
	}
	return fmt.Sprintf("%d %s %d", d.day, months[d.month-1], d.year)
}

var months = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}

var monthOf = func() map[string]int {
	out := map[string]int{"sept": 9}
	for i, m := range months {
		out[strings.ToLower(m)], out[strings.ToLower(m[:3])] = i+1, i+1
	}
	return out
}()

// Years that a bare number of four digits may be.
const firstYear, lastYear = 1800, 2199

func isYear(t *token) bool {
	return t.kind == number && len(t.text) == 4 && t.value >= firstYear && t.value <= lastYear
}

func isDay(t *token) bool {
	return t.kind == number && len(t.text) <= 2 && t.value >= 1 && t.value <= 31
}

// readDates finds the dates and times of day and takes their tokens.
func (r *reading) readDates() {
	for i := range r.tokens {
		if r.tokens[i].taken {
			continue
		}
		if n, d := r.namedDate(i); n > 0 {
			r.dates = append(r.dates, d)
			r.take(i, n)
		} else if n, d := r.numericDate(i); n > 0 {
			r.dates = append(r.dates, d)
			r.take(i, n)
		} else if n, minute := r.clock(i); n > 0 {
			r.times = append(r.times, minute)
			r.take(i, n)
		}
	}
}

// namedDate reads a date whose month is a word, from token i: how many tokens it takes.
func (r *reading) namedDate(i int) (n int, d date) {
	at := i
	if isDay(r.at(at)) { // 8 May, 8th of May
		d.day = int(r.at(at).value)
		at = r.skip(at+1, "st", "nd", "rd", "th", "of", "-", "day")
	}
	m := monthOf[r.at(at).lower]
	if m == 0 || r.at(at).kind != word || ambiguousMonth(r.at(at)) && d.day == 0 && !isDay(r.at(at+1)) && !isYear(r.at(at+1)) {
		return 0, d
	}
	d.month = m
	at = r.skip(at+1, ".")
	if d.day == 0 && isDay(r.at(at)) { // May 8
		d.day = int(r.at(at).value)
		at = r.skip(at+1, "st", "nd", "rd", "th")
	}
	if next := r.skip(at, ",", "of", "-"); isYear(r.at(next)) {
		d.year = int(r.at(next).value)
		return next + 1 - i, d
	}
	return at - i, d
}

// ambiguousMonth reports words that name a month only beside a number.
func ambiguousMonth(t *token) bool {
	switch t.lower {
	case "may", "march", "mar", "dec", "sep", "jan":
		return t.lower != "march" || !t.upper
	}
	return false
}

// numericDate reads 1996-05-08, 5/8/1996 and 8/5/96. Where day and month could change
// places, the American order is taken and the other one noted.
func (r *reading) numericDate(i int) (n int, d date) {
	sep := r.at(i + 1).text
	a, b, c := r.at(i), r.at(i+2), r.at(i+4)
	switch {
	case sep != "-" && sep != "/", r.at(i+3).text != sep, !r.at(i + 1).glued, !c.glued, a.kind != number, b.kind != number, c.kind != number:
		return 0, d
	case isYear(a):
		d = date{year: int(a.value), month: int(b.value), day: int(c.value)}
	case isYear(c) || len(c.text) == 2 && sep == "/":
		d = date{year: fullYear(c), month: int(a.value), day: int(b.value)}
		if d.month > 12 {
			d.month, d.day = d.day, d.month
		}
		d.either = d.month <= 12 && d.day <= 12
	}
	if d.month < 1 || d.month > 12 || d.day < 1 || d.day > 31 {
		return 0, date{}
	}
	return 5, d
}

// fullYear reads a year of two digits as one of the century to 2029.
func fullYear(t *token) int {
	switch y := int(t.value); {
	case len(t.text) != 2:
		return y
	case y < 30:
		return 2000 + y
	default:
		return 1900 + y
	}
}

// clock reads 16:45, 4:45 p.m. and 4 pm as minutes of the day.
func (r *reading) clock(i int) (n, minute int) {
	h := r.at(i)
	if h.kind != number || h.value > 24 || h.value != float64(int(h.value)) {
		return 0, 0
	}
	n, minute = 1, 60*int(h.value)
	if r.at(i+1).text == ":" && r.at(i+1).glued && r.at(i+2).kind == number && len(r.at(i+2).text) == 2 && r.at(i+2).value < 60 {
		n, minute = 3, minute+int(r.at(i+2).value)
	}
	half, m := r.halfDay(i + n)
	switch {
	case m == 0 && n == 1:
		return 0, 0
	case half == 'p' && h.value < 12:
		minute += 12 * 60
	case half == 'a' && h.value == 12:
		minute -= 12 * 60
	}
	return n + m, minute
}

// halfDay reads am, a.m., PM and the like: its first letter and its tokens.
func (r *reading) halfDay(i int) (half byte, n int) {
	switch r.at(i).lower {
	case "am", "pm":
		return r.at(i).lower[0], 1
	case "a", "p":
		if r.at(i+1).text == "." && r.at(i+2).lower == "m" {
			n = 3
			if r.at(i+3).text == "." && r.at(i+3).glued {
				n++
			}
			return r.at(i).lower[0], n
		}
	}
	return 0, 0
}

// dateFault names the first date or time of a statement that its evidence does not say.
func dateFault(said, have *reading) *fault {
	for _, d := range said.dates {
		if !have.dated(d) {
			return have.otherDate(d)
		}
	}
	for _, minute := range said.times {
		if !have.timed(minute) {
			return faulty(sextant.FaultDate, "the time %d:%02d stands in none of its quotes", minute/60, minute%60)
		}
	}
	return nil
}

// dated reports whether a text says a date: one of its dates has all parts, or all but the
// year while the year stands apart.
func (r *reading) dated(d date) bool {
	year := d.year == 0 || r.says(float64(d.year))
	for _, have := range r.dates {
		year = year || have.year == d.year
	}
	if d.month == 0 {
		return year
	}
	for _, have := range r.dates {
		same := d.month == have.month && (d.day == 0 || d.day == have.day)
		if have.either || d.either {
			same = same || d.month == have.day && d.day == have.month
		}
		if same && (d.year == have.year || (d.year == 0 || have.year == 0) && year) {
			return true
		}
	}
	return false
}

// otherDate says which date stands where a statement has another.
func (r *reading) otherDate(d date) *fault {
	for _, have := range r.dates {
		if have.month != 0 || d.month == 0 {
			return faulty(sextant.FaultDate, "%s stands in none of its quotes, which say %s", d, have)
		}
	}
	return faulty(sextant.FaultDate, "%s stands in none of its quotes", d)
}

// timed reports whether a text says a time of day, also as 1645.
func (r *reading) timed(minute int) bool {
	for _, have := range r.times {
		if have == minute {
			return true
		}
	}
	return r.says(float64(minute/60*100 + minute%60))
}
