package constrain

import (
	"slices"
	"time"
)

// Parts of a named period: quarters and halves, its first or last days, weeks and
// months, and the vague ones.

// part reads "Q3 2014", "third quarter of 2014", "first half of 2013", "H1
// 2013", "second half of the 1990s", "Q2 and Q3 of 2007".
func (q *Query) part(i int) (period, bool) {
	numbers, unit, at := q.partList(i)
	if len(numbers) == 0 {
		return period{}, false
	}
	p, ok := q.ofPeriod(at)
	if !ok || !p.closed() || unit == "quarter" && !p.isYear() {
		return period{}, false
	}
	out := period{Span: partOf(p.Span, numbers[0], unit), to: p.to}
	for _, n := range numbers[1:] {
		next := partOf(p.Span, n, unit)
		if len(out.also) == 0 && next.From.Equal(out.To.AddDate(0, 0, 1)) {
			out.To = next.To
			continue
		}
		out.also = append(out.also, next)
	}
	return out, true
}

// partList reads the parts of one period that are named together: "Q1, Q2 and Q4".
func (q *Query) partList(i int) (numbers []int, unit string, to int) {
	n, unit, to := q.partName(i)
	for n > 0 {
		numbers = append(numbers, n)
		next := q.Skip(to, "and", "or")
		if next == to && q.Gap(to) != ", " && q.Gap(to) != "/" {
			break
		}
		further, same, end := q.partName(next)
		if same != unit {
			break
		}
		n, to = further, end
	}
	return numbers, unit, to
}

// yearPart reads "2014 Q3".
func (q *Query) yearPart(i int) (period, bool) {
	y, at, ok := q.yearAt(i)
	if !ok || !q.Joined(at) {
		return period{}, false
	}
	n, unit, to := q.partName(at)
	if n == 0 || to != at+1 {
		return period{}, false
	}
	return period{Span: partOf(yearSpan(y), n, unit), to: to}, true
}

func (q *Query) partName(i int) (n int, unit string, to int) {
	t := q.Word(i)
	switch {
	case len(t) == 2 && t[0] == 'q' && t[1] >= '1' && t[1] <= '4':
		return int(t[1] - '0'), "quarter", i + 1
	case len(t) == 2 && t[0] == 'h' && (t[1] == '1' || t[1] == '2'):
		return int(t[1] - '0'), "half", i + 1
	}
	n, next := ordinals[t], q.Word(i+1)
	last := t == "last" || t == "final"
	switch {
	case next == "quarter" && last:
		return 4, next, i + 2
	case next == "quarter" && n > 0:
		return n, next, i + 2
	case next == "half" && (last || t == "latter"):
		return 2, next, i + 2
	case next == "half" && n > 0 && n <= 2:
		return n, next, i + 2
	}
	return 0, "", i
}

// ofPeriod reads a whole period after "of" or "in" and an article.
func (q *Query) ofPeriod(i int) (period, bool) {
	i = q.Skip(i, "of", "in")
	for _, w := range []string{"the", "fiscal", "calendar", "year", "month"} {
		if next := q.Skip(i, w); next > i && q.Joined(next) {
			i = next
		}
	}
	if i >= len(q.Tokens) {
		return period{}, false
	}
	return q.wholePeriodAt(i)
}

func partOf(s Span, n int, unit string) Span {
	months := (s.To.Year()-s.From.Year())*12 + int(s.To.Month()-s.From.Month()) + 1
	size := months / 2
	if unit == "quarter" {
		size = months / 4
	}
	return monthsSpan(s.From.Year(), s.From.Month()+time.Month((n-1)*size), size)
}

// edgeOf reads "the last day of 2012", "first week of March 1995", "first two months of
// 2014", "week of August 12, 2013", "the weekend of 3 July 2010".
func (q *Query) edgeOf(i int) (period, bool) {
	switch {
	case q.HasWords(i, "week", "of"):
		return q.weekOf(i+2, func(t time.Time) Span { return Span{t, t.AddDate(0, 0, 6)} })
	case q.HasWords(i, "weekend", "of"):
		return q.weekOf(i+2, weekendAt)
	}
	if p, ok := q.besidePeriod(i); ok {
		return p, true
	}
	first := q.Tokens[i].Lower == "first"
	if !first && q.Tokens[i].Lower != "last" && q.Tokens[i].Lower != "final" {
		return period{}, false
	}
	n, at, ok := q.numberAt(i + 1)
	if !ok {
		n, at = 1, i+1
	}
	unit := calendarUnits[q.Word(at)]
	if unit == "" || q.Word(at+1) != "of" {
		return period{}, false
	}
	p, ok := q.ofPeriod(at + 1)
	if !ok && at+2 < len(q.Tokens) {
		p, ok = q.relativePeriod(at + 2) // "the first decade of this century"
	}
	if !ok || !p.closed() {
		return period{}, false
	}
	if first {
		p.To = minTime(p.To, back(p.From, -n, unit).AddDate(0, 0, -1))
	} else {
		p.From = maxTime(p.From, back(p.To.AddDate(0, 0, 1), n, unit))
	}
	return period{Span: p.Span, to: p.to}, true
}

// besidePeriod reads "the week before Christmas 2012", "two months after 9/11/2001".
func (q *Query) besidePeriod(i int) (period, bool) {
	n, at, ok := q.numberAt(i)
	if !ok {
		n, at = 1, i
	}
	unit := calendarUnits[q.Word(at)]
	if !ok && q.Word(at) != unit {
		return period{}, false // "MO after 2004" is Missouri
	}
	if w := q.Word(at + 1); unit != "" && (w == "ending" || w == "ended") { // "the 12 months ending June 2005"
		p, ok := q.ofPeriod(q.Skip(at+2, "in", "on"))
		return period{Span: Span{back(p.To.AddDate(0, 0, 1), n, unit), p.To}, to: p.to}, ok && p.closed()
	}
	earlier := q.Word(at+1) == "before" || q.Word(at+1) == "preceding"
	if unit == "" || !earlier && q.Word(at+1) != "after" && q.Word(at+1) != "following" {
		return period{}, false
	}
	p, ok := q.ofPeriod(q.Skip(at+2, "the"))
	if !ok || !p.closed() {
		return period{}, false
	}
	if earlier {
		return period{Span: Span{back(p.From, n, unit), p.From.AddDate(0, 0, -1)}, to: p.to}, true
	}
	return period{Span: Span{p.To.AddDate(0, 0, 1), back(p.To, -n, unit)}, to: p.to}, true
}

func (q *Query) weekOf(i int, week func(time.Time) Span) (period, bool) {
	p, ok := q.ofPeriod(i)
	if !ok || p.From.IsZero() || p.To.Sub(p.From) > 48*time.Hour {
		return period{}, false
	}
	p.Span = week(p.From)
	return p, true
}

// weekendAt returns the Saturday and Sunday of the week of t, or those that t begins.
func weekendAt(t time.Time) Span {
	switch t.Weekday() {
	case time.Sunday:
		return Span{t.AddDate(0, 0, -1), t}
	default:
		saturday := t.AddDate(0, 0, 6-int(t.Weekday()))
		return Span{saturday, saturday.AddDate(0, 0, 1)}
	}
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

var vagueWords = []string{"early", "mid", "late", "middle", "beginning", "start", "end"}

// vague reads "early 1990s", "mid-2010", "late in 2004", "the end of May 2010". Nobody
// agrees where early ends, so the whole period is the condition, which excludes nothing
// that is meant; the third that the word points at is shown beside it.
func (q *Query) vague(i int) (period, bool) {
	w := q.Tokens[i].Lower
	k := slices.Index(vagueWords, w)
	if k < 0 || k > 2 && q.Word(i+1) != "of" || !q.Joined(i+1) {
		return period{}, false
	}
	at := i + 1
	if next := q.Skip(at, "to"); next > at { // "mid to late 1990s"
		if at = q.Skip(next, "late", "mid"); at == next {
			return period{}, false
		}
		w = "mid to late"
	}
	p, ok := q.ofPeriod(at)
	if !ok || !p.closed() {
		return p, ok
	}
	p.note = w + " is no exact limit: the whole period is taken"
	p.other = []Span{third(p.Span, w)}
	return p, true
}

// third returns the first, middle or last third of a span, in whole days.
func third(s Span, w string) Span {
	n := int(s.To.Sub(s.From).Hours()/24) + 1
	switch w {
	case "early", "beginning", "start":
		return Span{s.From, s.From.AddDate(0, 0, n/3)}
	case "mid", "middle":
		return Span{s.From.AddDate(0, 0, n/3), s.To.AddDate(0, 0, -n/3)}
	case "mid to late":
		return Span{s.From.AddDate(0, 0, n/3), s.To}
	}
	return Span{s.To.AddDate(0, 0, -n/3), s.To}
}
