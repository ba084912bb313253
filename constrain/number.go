package constrain

import "strconv"

var units = map[string]int{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
	"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "single": 1, "couple": 2, "dozen": 12, "hundred": 100, "thousand": 1000}

// numberAt reads a number in digits ("8,000") or words ("twenty-five", "a dozen",
// "two hundred") at token i and returns the token after it.
func (q *Query) numberAt(i int) (n, to int, ok bool) {
	if i >= len(q.Tokens) {
		return 0, i, false
	}
	t := q.Tokens[i]
	if t.Number() && len(t.Text) <= 9 {
		if i > 0 && t.Gap == "-" || t.Gap == "." {
			return 0, i, false // part of a name or of a decimal
		}
		return q.digitsAt(i)
	}
	if (t.Lower == "a" || t.Lower == "an") && i+1 < len(q.Tokens) {
		switch w := q.Tokens[i+1].Lower; w {
		case "dozen", "hundred", "thousand", "couple", "single":
			return units[w], i + 2, true
		}
		return 0, i, false
	}
	n, ok = units[t.Lower]
	if !ok {
		return 0, i, false
	}
	to = i + 1
	for to < len(q.Tokens) && q.Tokens[to].joins() {
		m, known := units[q.Tokens[to].Lower]
		switch {
		case known && m >= 100 && n > 0:
			n *= m
		case known && n >= 20 && n < 100 && n%10 == 0 && m > 0 && m < 10:
			n += m
		default:
			return n, to, true
		}
		to++
	}
	return n, to, true
}

func (q *Query) digitsAt(i int) (n, to int, ok bool) {
	digits := q.Tokens[i].Text
	to = i + 1
	for to < len(q.Tokens) && q.Tokens[to].Gap == "," && q.Tokens[to].Number() && len(q.Tokens[to].Text) == 3 && len(digits) <= 6 {
		digits += q.Tokens[to].Text
		to++
	}
	n, err := strconv.Atoi(digits)
	return n, to, err == nil
}

// comparison is a number with its comparator: Lo and Hi inclusive, -1 for open.
type comparison struct {
	Lo, Hi   int
	Set      []int // "two, three or four"
	From, To int   // tokens
	Bare     bool  // no comparator
}

var comparators = []struct {
	words  []string
	lo, hi int // what to add to the number at that end; open = noBound
}{
	{[]string{"at", "least"}, 0, noBound}, {[]string{"no", "fewer", "than"}, 0, noBound}, {[]string{"no", "less", "than"}, 0, noBound},
	{[]string{"not", "less", "than"}, 0, noBound}, {[]string{"not", "fewer", "than"}, 0, noBound}, {[]string{"minimum", "of"}, 0, noBound}, {[]string{"a", "minimum", "of"}, 0, noBound},
	{[]string{"more", "than"}, 1, noBound}, {[]string{"greater", "than"}, 1, noBound}, {[]string{"over"}, 1, noBound}, {[]string{"above"}, 1, noBound},
	{[]string{"in", "excess", "of"}, 1, noBound}, {[]string{"exceeding"}, 1, noBound},
	{[]string{"at", "most"}, noBound, 0}, {[]string{"up", "to"}, noBound, 0}, {[]string{"no", "more", "than"}, noBound, 0}, {[]string{"not", "more", "than"}, noBound, 0},
	{[]string{"a", "maximum", "of"}, noBound, 0}, {[]string{"maximum", "of"}, noBound, 0},
	{[]string{"fewer", "than"}, noBound, -1}, {[]string{"less", "than"}, noBound, -1}, {[]string{"under"}, noBound, -1}, {[]string{"below"}, noBound, -1},
	{[]string{"exactly"}, 0, 0}, {[]string{"precisely"}, 0, 0}, {[]string{"just"}, 0, 0}, {[]string{"only"}, 0, 0},
}

const noBound = 1 << 30

var trailers = []struct {
	words  []string
	lo, hi int
}{
	{[]string{"or", "more"}, 0, noBound}, {[]string{"and", "more"}, 0, noBound}, {[]string{"or", "above"}, 0, noBound}, {[]string{"and", "up"}, 0, noBound}, {[]string{"plus"}, 0, noBound},
	{[]string{"or", "greater"}, 0, noBound}, {[]string{"or", "fewer"}, noBound, 0}, {[]string{"or", "less"}, noBound, 0}, {[]string{"or", "under"}, noBound, 0},
}

// comparisonAt reads a comparison at token i.
func (q *Query) comparisonAt(i int) (comparison, bool) {
	for _, c := range comparators {
		if !q.hasWords(i, c.words) {
			continue
		}
		n, to, ok := q.numberAt(i + len(c.words))
		if !ok {
			continue
		}
		return bounds(n, c.lo, c.hi, i, to), true
	}
	if q.hasWords(i, []string{"between"}) {
		return q.rangeAt(i, i+1, "and")
	}
	n, to, ok := q.numberAt(i)
	if !ok {
		return comparison{}, false
	}
	for _, c := range trailers {
		if q.hasWords(to, c.words) {
			return bounds(n, c.lo, c.hi, i, to+len(c.words)), true
		}
	}
	if r, ok := q.rangeAt(i, i, "to"); ok {
		return r, true
	}
	if s, ok := q.setAt(i, n, to); ok {
		return s, true
	}
	return comparison{Lo: n, Hi: n, From: i, To: to, Bare: true}, true
}

func bounds(n, lo, hi, from, to int) comparison {
	c := comparison{Lo: -1, Hi: -1, From: from, To: to}
	if lo != noBound {
		c.Lo = n + lo
	}
	if hi != noBound {
		c.Hi = n + hi
	}
	return c
}

func (q *Query) rangeAt(from, i int, word string) (comparison, bool) {
	lo, to, ok := q.numberAt(i)
	if !ok || !q.hasWords(to, []string{word}) {
		return comparison{}, false
	}
	hi, to, ok := q.numberAt(to + 1)
	if !ok || hi < lo || plausible(lo) && plausible(hi) { // from year to year
		return comparison{}, false
	}
	return comparison{Lo: lo, Hi: hi, From: from, To: to}, true
}

// setAt reads "two, three or four" after its first number.
func (q *Query) setAt(from, first, to int) (comparison, bool) {
	set := []int{first}
	for !plausible(first) {
		next := to
		if q.hasWords(next, []string{"or"}) {
			next++
		} else if next >= len(q.Tokens) || q.Tokens[next].Gap != ", " {
			break
		}
		n, after, ok := q.numberAt(next)
		if !ok {
			break
		}
		set, to = append(set, n), after
	}
	if len(set) < 2 {
		return comparison{}, false
	}
	c := comparison{Set: set, Lo: set[0], Hi: set[len(set)-1], From: from, To: to}
	if c.Hi-c.Lo == len(set)-1 {
		c.Set = nil // consecutive: a plain range
	}
	return c, true
}

// hasWords reports whether the tokens from i are these words.
func (q *Query) hasWords(i int, words []string) bool {
	if i < 0 || i+len(words) > len(q.Tokens) {
		return false
	}
	for k, w := range words {
		if q.Tokens[i+k].Lower != w || k > 0 && !q.Tokens[i+k].joins() {
			return false
		}
	}
	return true
}
