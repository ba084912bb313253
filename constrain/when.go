package constrain

import (
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
		for _, read := range []func(int) (Claim, bool){q.dateClaim, q.relative, q.asAt, q.noSuchDay} {
			if c, ok := read(i); ok && !q.rowsNamed(i) {
				out = append(out, c)
			}
		}
	}
	return out
}

// rowsNamed reports whether token i is the "year" of "by year 2005 to 2010", which names
// the rows and not the period.
func (q *Query) rowsNamed(i int) bool {
	before := q.Word(i - 1)
	return q.Word(i) == "year" && (before == "by" || before == "per" || before == "each" || before == "every")
}

// asAt reads "as at 31 December 2009", which says from when to look and not what to
// look for.
func (q *Query) asAt(i int) (Claim, bool) {
	if !q.HasWords(i, "as", "at") && !q.HasWords(i, "as", "of") {
		return Claim{}, false
	}
	p, ok := q.periodAt(i + 2)
	return Claim{From: i, To: p.to, Drop: true, Weight: 3}, ok
}

// side says which days are meant by a period with a preposition before it.
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

var prepositions = tableOf(
	phrases(until, "up to and including, up through, up until, up till, up to, until, till, til, through, thru, no later than, not later than, not after, on or before, on and before, by the end of, ending in, in or before, during or before"),
	phrases(before, "prior to, before, earlier than, pre, ahead of, preceding"),
	phrases(since, "since, ever since, starting in, starting from, starting with, starting on, starting, beginning in, beginning with, beginning on, beginning, commencing, on or after, on and after, no earlier than, not earlier than, not before, going back to, dating back to, in or after, during or after"),
	phrases(after, "after, later than, post, following, subsequent to, newer than, more recent than"),
	phrases(between, "between, in between"),
	phrases(from, "from, dating from"),
	phrases(within, "in, during, on, for, of, within, throughout, over, across, the, year, back in, dated, circa, around, all through, all of, at"),
)

// fillers may stand between a preposition and its period.
var fillers = set(`the year years of night month months calendar all date dates period days`)

// opening reads what stands before a period: the side that is meant and where the
// period starts.
func (q *Query) opening(i int) (side, int) {
	if i >= 0 && i < len(q.Tokens) && q.Tokens[i].upper && !q.upper && len(q.Tokens[i].Text) == 2 {
		return within, i // the IN of "accidents in IN between 2003 and 2005" is a code
	}
	s, at, ok := prepositions.At(q, i)
	if !ok || !q.Joined(at) {
		return within, i // "by year, 2005 through 2010"
	}
	for fillers[q.Word(at)] && q.Joined(at+1) {
		at++
	}
	if s != within { // "since the start of 2005", "until the end of May"
		for _, edge := range []string{"beginning", "start", "end", "close"} {
			if q.HasWords(at, edge, "of") {
				at = q.Skip(at+2, "the")
			}
		}
	}
	return s, at
}

func (q *Query) dateClaim(i int) (Claim, bool) {
	if q.HasWords(i, "before", "and", "after") { // both sides are no condition
		p, ok := q.periodAt(q.Skip(i+3, "the"))
		return Claim{From: i, To: p.to, Weight: 3}, ok
	}
	side, at := q.opening(i)
	p, ok := q.periodAt(at)
	if !ok || q.manufactured(i, at, p.to) {
		return Claim{}, false
	}
	if side == between && differing[q.Word(i-1)] { // "the difference between 1996 and 2006"
		return q.datedClaim(i, p, within), true
	}
	if c, ok := q.anotherDate(i, p); ok {
		return c, true
	}
	p = q.wholeList(side, p)
	if ranged, ok := q.rangeTo(side, p); ok {
		return q.datedClaim(i, ranged, within), true
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
	p.to = q.Skip(p.to, "inclusive")
	c := q.datedClaim(i, p, side)
	if p.isYear() && q.Joined(p.to) && (q.Word(at-1) == "the" || (at == 0 || q.Word(at-1) == "a" || q.Word(at-1) == "an") && q.thingAhead(p.to)) {
		c.Weak = WeakName // "the 2015 manual", "a 2010 overhaul"
	}
	return c, true
}

// thingAhead reports whether a plain word in small letters follows that names no event and is
// no condition: "2020 vision".
func (q *Query) thingAhead(i int) bool {
	t := q.Tokens[i]
	_, _, phrase := q.PhraseAt(i)
	_, _, preposition := prepositions.At(q, i)
	return t.digits == 0 && !preposition && !t.capital && !stopWords[t.Lower] && !q.EventNoun(i) && !q.Lexicon.Ties[t.Lower] && !phrase && len(t.Text) > 3
}

// differing are words after which "between" names two things and no range.
var differing = set(`difference differences differ comparison contrast distinguish compare`)

// fromSide: "reports from 2016" are of that year, "fatal crashes, from 2005" begin then.
func (q *Query) fromSide(i int) side {
	if q.Joined(i) && (q.EventNoun(i-1) || q.datedNouns[q.Word(i-1)] != "") {
		return within
	}
	return since
}

// manufactured recognises "the 1999 Cessna lost power": a year between an article
// and a thing that is made is its year of make.
func (q *Query) manufactured(i, at, to int) bool {
	if to != at+1 || len(q.Tokens[at].Text) != 4 || !q.Joined(to) || q.Made == nil {
		return false
	}
	article := q.Word(at - 1)
	return (article == "the" || article == "a" || article == "an") && i >= at-1 && q.Made(q, to)
}

// history are words for what happened at another time than what is asked for: "a plane
// built in 1968 crashed".
var history = set(`built manufactured made produced born certificated certified licensed overhauled purchased bought acquired sold restored rebuilt installed inspected overhaul purchase restoration refurbishment manufacture issued adopted amended enacted founded
 established hired retired signed revised designed introduced delivered registered released model`)

// anotherDate reads a period that dates something else, as the verb before it says: it
// is a condition on the field the lexicon names for the verb, or none.
func (q *Query) anotherDate(i int, p period) (Claim, bool) {
	k := i - 1
	for n := 0; n < 4 && k > 0 && q.Joined(k) && (passed[q.Word(k)] || q.Tokens[k].capital); n++ {
		k--
	}
	if k < 0 || i == 0 || !q.Joined(i) {
		return Claim{}, false
	}
	field, named := q.Lexicon.DatedBy[q.Word(k)]
	if !named && !history[q.Word(k)] {
		return Claim{}, false
	}
	if field == "" || p.yearless() {
		return Claim{From: i, To: p.to, Weight: 4}, true
	}
	side, at := q.opening(i)
	p, _ = q.periodAt(at)
	c := q.datedClaim(i, p, side)
	c.From = k
	for n := range c.Conditions {
		c.Conditions[n].Field = field
	}
	return c, true
}

// passed are words between such a verb and its date: "built by Cessna in 1968".
var passed = set(`by in at on the it them him her this back`)

var suffixes = tableOf(
	phrases(since, "onwards, onward, forward, and later, or later, and after, or after, and onwards, and onward, and on, and beyond, and newer, or newer, to date, to present, to the present, until now, up to now, to now, to today, till now"),
	phrases(until, "or earlier, and earlier, or before, and before, or older, and older, and prior, and back"),
)

// suffix reads "onwards", "or later", "and earlier", "to date" and "+" after a period.
func (q *Query) suffix(i int, opened bool) (side, int, bool) {
	if s, to, ok := suffixes.At(q, i); ok && (q.Joined(i) || q.Gap(i) == ", ") {
		if _, dated := q.periodAt(to); dated && q.Joined(to) { // "since 2020 and before 2023"
			return within, i, false
		}
		return s, to, true
	}
	if q.plusAfter(i) {
		return since, i, true
	}
	if q.HasWords(i, "on") && i+1 == len(q.Tokens) && i > 1 && q.Joined(i) { // "Canada, 2005 on"
		return since, i + 1, true
	}
	if opened && q.HasWords(i, "on") && !(q.Joined(i+1) && q.Word(i+1) == "the") {
		return since, i + 1, true
	}
	return within, i, false
}

// datedClaim builds the claim for a period and the side of it that is meant.
func (q *Query) datedClaim(i int, p period, side side) Claim {
	c := Claim{From: i, To: p.to, Weight: 2, Drop: true}
	if p.yearless() {
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
	if len(p.also) > 0 && side == within {
		c.Conditions[0].Op = sextant.OpIn
		for _, further := range p.also {
			c.Conditions[0].Values = append(c.Conditions[0].Values, further)
		}
	}
	if side == within || side == between || side == from {
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
	if y, ok := q.loneYear(); ok && side == within && p.day > 0 && p.moving == nil && len(p.months) == 1 {
		if t, real := validDay(y, p.months[0], p.day); real {
			c.Conditions = []Condition{dateCondition(q.Lexicon.Dates, daySpan(t))}
			return c
		}
	}
	if q.Lexicon.Months == "" || side != within || p.day > 0 {
		c.Cannot = &sextant.Unenforceable{Field: q.Lexicon.Dates, Reason: "no year is named"}
		return c
	}
	values := make([]any, len(p.months))
	for k, m := range p.months {
		values[k] = m
	}
	c.Conditions = []Condition{Is(q.Lexicon.Months, values...)}
	if monthNames[q.Word(c.From)] > 0 {
		c.Weak = WeakName // "December's child"
		if q.Joined(p.to) && q.thingAhead(p.to) && !q.besideEvents(p.to) {
			c.Conditions = nil // "April showers"
		}
	}
	return c
}

// loneYear returns the one year that a question names by itself: a day that is named apart is
// one of it ("'94 in Denver, Nov 3rd").
func (q *Query) loneYear() (int, bool) {
	found, n := 0, 0
	for i := range q.Tokens {
		if p, ok := q.year(i); ok && p.isYear() && monthNames[q.Word(i-1)] == 0 {
			found = p.From.Year()
			n++
		}
	}
	return found, n == 1
}

// relative reads dates that count from the reference date: "the last five years",
// "last year", "two years ago", "yesterday", "this year so far", "since last June".
func (q *Query) relative(i int) (Claim, bool) {
	side, at := within, i
	if s, next, ok := prepositions.At(q, i); ok && s != between && q.Joined(next) && q.Word(i) != "year" {
		side, at = s, next
	}
	at = q.Skip(q.Skip(at, "the"), "most")
	if at >= len(q.Tokens) {
		return Claim{}, false
	}
	p, ok := q.relativePeriod(at)
	if !ok {
		return Claim{}, false
	}
	if q.HasWords(p.to, "s") && strings.ContainsAny(q.Gap(p.to), "'’") {
		p.to++ // last year's
	}
	if side == from {
		side = q.fromSide(i)
	}
	c := q.datedClaim(i, p, side)
	c.Weight = 3
	return c, true
}
