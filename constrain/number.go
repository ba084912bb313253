package constrain

import (
	"strconv"
	"strings"
)

var numberWords = map[string]int{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
	"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "single": 1, "lone": 1, "sole": 1, "couple": 2, "dozen": 12, "hundred": 100, "thousand": 1000, "million": 1_000_000}

var articled = NewTable(map[string]int{"a dozen": 12, "a hundred": 100, "a thousand": 1000, "a million": 1_000_000, "half a million": 500_000, "a couple": 2, "a couple of": 2, "couple of": 2, "a single": 1, "a pair of": 2, "half a dozen": 6})

// numberAt reads a number in digits ("8,000") or words ("twenty-five", "a dozen",
// "two hundred") at token i and returns the token after it.
func (q *Query) numberAt(i int) (n, to int, ok bool) {
	if i < 0 || i >= len(q.Tokens) {
		return 0, i, false
	}
	t := &q.Tokens[i]
	if t.digits > 0 {
		if !t.Number() || len(t.Text) > 9 || i > 0 && t.Gap == "-" || t.Gap == "." {
			return 0, i, false // a part of a name or of a decimal
		}
		return q.digitsAt(i)
	}
	if n, to, ok := articled.At(q, i); ok {
		return n, to, true
	}
	if n, ok = numberWords[t.Lower]; !ok {
		return 0, i, false
	}
	n, to = q.numberOn(n, i+1)
	return n, to, true
}

// numberOn reads the further words of a number: "twenty-five", "two hundred".
func (q *Query) numberOn(n, to int) (int, int) {
	for ; q.Joined(to); to++ {
		m, known := numberWords[q.Tokens[to].Lower]
		switch {
		case known && m >= 100 && n > 0:
			n *= m
		case known && n >= 20 && n < 100 && n%10 == 0 && m > 0 && m < 10:
			n += m
		default:
			return n, to
		}
	}
	return n, to
}

func (q *Query) digitsAt(i int) (n, to int, ok bool) {
	digits := q.Tokens[i].Text
	to = i + 1
	for to < len(q.Tokens) && q.Tokens[to].Gap == "," && q.Tokens[to].Number() && len(q.Tokens[to].Text) == 3 && len(digits) <= 6 {
		digits += q.Tokens[to].Text
		to++
	}
	n, err := strconv.Atoi(digits)
	if times, ok := magnitudes[q.Word(to)]; ok && err == nil && q.Joined(to) && n < 1000 { // "2 million"
		n, to = n*times, to+1
	}
	return n, to, err == nil
}

var magnitudes = map[string]int{"thousand": 1000, "million": 1_000_000}

// comparison is a number with its comparator: Lo and Hi inclusive, -1 for open.
type comparison struct {
	Lo, Hi   int
	Set      []int // "two, three or six"
	From, To int   // tokens
	Bare     bool  // no comparator
}

// bounds says what to add to a number at either end; open there is noBound.
type bounds struct{ lo, hi int }

const noBound = 1 << 30

func (b bounds) of(n, from, to int) comparison {
	c := comparison{Lo: -1, Hi: -1, From: from, To: to}
	if b.lo != noBound {
		c.Lo = n + b.lo
	}
	if b.hi != noBound {
		c.Hi = n + b.hi
	}
	return c
}

// comparators stand before a number, trailers after it.
var (
	comparators = tableOf(
		phrases(bounds{0, noBound}, "at least, no fewer than, no less than, not less than, not fewer than, minimum of, a minimum of, upwards of, min, not below, not under, never below"),
		phrases(bounds{1, noBound}, "more than, greater than, over, above, in excess of, exceeding, exceeds, larger than, higher than, beyond, older than"),
		phrases(bounds{noBound, 0}, "at most, up to, no more than, not more than, a maximum of, maximum of, not exceeding, as many as, no greater than, max, not above, not over, never above"),
		phrases(bounds{noBound, -1}, "fewer than, less than, under, below, lower than, smaller than, younger than, cheaper than"),
		phrases(bounds{0, 0}, "exactly, precisely, just, only, equal to, equals"),
	)
	trailers = tableOf(
		phrases(bounds{0, noBound}, "or more, and more, or above, and up, and above, plus, or greater, or higher, or over, or older, and older, and over, at least, minimum, at minimum"),
		phrases(bounds{noBound, 0}, "or fewer, or less, or under, or below, or younger, and younger, and under, at most, maximum, at maximum, tops"),
	)
	ranks = tableOf(
		map[string]comparison{"double digit": {Lo: 10, Hi: 99}, "double digits": {Lo: 10, Hi: 99}, "two digit": {Lo: 10, Hi: 99}},
		map[string]comparison{"triple digit": {Lo: 100, Hi: 999}, "triple digits": {Lo: 100, Hi: 999}, "three digit": {Lo: 100, Hi: 999}},
	)
)

// comparisonAt reads a comparison at token i.
func (q *Query) comparisonAt(i int) (comparison, bool) {
	if b, at, ok := comparators.At(q, i); ok {
		if n, to, ok := q.numberAt(at); ok {
			return q.bothBounds(b.of(n, i, to)), true
		}
	}
	if r, to, ok := ranks.At(q, i); ok {
		r.From, r.To = i, to
		return r, true
	}
	if q.HasWords(i, "between") {
		return q.rangeAt(i, i+1, "and")
	}
	n, to, ok := q.numberAt(i)
	if !ok {
		return comparison{}, false
	}
	if b, after, ok := trailers.At(q, to); ok {
		return b.of(n, i, after), true
	}
	if q.plusAfter(to) {
		return bounds{0, noBound}.of(n, i, to), true
	}
	if r, ok := q.rangeAt(i, i, "to"); ok {
		return r, true
	}
	if s, ok := q.setAt(i, n, to); ok {
		return s, true
	}
	return comparison{Lo: n, Hi: n, From: i, To: to, Bare: true}, true
}

// bothBounds reads the second bound of "more than two but fewer than six".
func (q *Query) bothBounds(c comparison) comparison {
	if w := q.Word(c.To); w != "but" && w != "and" && w != "yet" {
		return c
	}
	b, at, ok := comparators.At(q, c.To+1)
	if !ok {
		return c
	}
	n, to, ok := q.numberAt(at)
	second := b.of(n, c.From, to)
	switch {
	case !ok:
	case c.Hi < 0 && second.Lo < 0:
		second.Lo = c.Lo
		return second
	case c.Lo < 0 && second.Hi < 0:
		second.Hi = c.Hi
		return second
	}
	return c
}

// plusAfter reports whether a plus sign follows the token before to: "100+".
func (q *Query) plusAfter(to int) bool {
	return strings.HasPrefix(q.Text[q.Tokens[to-1].End:], "+")
}

// rangeAt reads "3 to 5", "3-5", "between 3 and 5".
func (q *Query) rangeAt(from, i int, word string) (comparison, bool) {
	lo, to, ok := q.numberAt(i)
	if !ok {
		return comparison{}, false
	}
	var hi int
	switch {
	case q.HasWords(to, word):
		hi, to, ok = q.numberAt(to + 1)
	case isDash(q.Gap(to)) && q.Gap(to) != "/" && q.Tokens[to].Number() && len(q.Tokens[to].Text) <= 4:
		hi, to, ok = q.digitsAt(to)
	default:
		return comparison{}, false
	}
	if !ok || hi < lo || plausible(lo) && plausible(hi) { // from year to year
		return comparison{}, false
	}
	return comparison{Lo: lo, Hi: hi, From: from, To: to}, true
}

// setAt reads "two, three or six" after its first number.
func (q *Query) setAt(from, first, to int) (comparison, bool) {
	numbers := []int{first}
	for !plausible(first) {
		next := q.Skip(to, "or")
		if next == to && q.Gap(next) != ", " {
			break
		}
		n, after, ok := q.numberAt(next)
		if !ok {
			break
		}
		numbers, to = append(numbers, n), after
	}
	if len(numbers) < 2 {
		return comparison{}, false
	}
	c := comparison{Set: numbers, Lo: numbers[0], Hi: numbers[len(numbers)-1], From: from, To: to}
	if c.Hi-c.Lo == len(numbers)-1 {
		c.Set = nil // consecutive: a plain range
	}
	return c, true
}
