package check

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
)

// quantity is a number with what it counts or measures.
type quantity struct {
	value   float64
	written string
	unit    string   // its one name, "" for what is counted and for bare numbers
	nouns   []string // stems of the words after it, of which one is what is counted
	bound   bound
	at, end int  // tokens
	reached bool // what something goes to: it extends to 16,000 feet
	hint    bool // not a number by itself ("a mile", "both"): evidence, never a claim
}

// bound says whether a quantity is a limit.
type bound int8

const (
	exactly bound = iota
	above         // more than, at least
	below         // less than, at most
)

// same compares two numbers as written: rounding is a difference.
func same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a)) }

// readQuantities finds the numbers that are left, with their units and bounds.
func (r *reading) readQuantities() {
	for i := 0; i < len(r.tokens); i++ {
		if r.tokens[i].taken || r.label(i) {
			continue
		}
		n, q := r.number(i)
		if n == 0 {
			continue
		}
		q.at, q.end = i, i+n
		r.measure(&q)
		q.hint = q.hint || r.at(q.end).lower == "cfr" // the title says nothing beside the section
		q.bound, q.reached = r.bound(q), r.at(i-1).lower == "to"
		r.quantities = append(r.quantities, q)
		r.take(i, q.end-i)
		i = q.end - 1
	}
	for k := len(r.quantities) - 2; k >= 0; k-- { // 15 to 20 minutes; 2, 3 and 4 feet
		q, next := &r.quantities[k], r.quantities[k+1]
		if q.unit == "" && len(q.nouns) == 0 && r.listed(q.end, next.at) {
			q.unit, q.nouns = next.unit, next.nouns
		}
	}
}

// label reports whether a number only labels an item of a list: "(5) 8 hours between".
func (r *reading) label(i int) bool {
	return r.bracketed(i) && (i == 1 || r.at(i-2).kind == mark)
}

// bracketed reports whether a short number stands in brackets by itself.
func (r *reading) bracketed(i int) bool {
	return r.at(i).kind == number && len(r.at(i).text) <= 2 && r.at(i-1).text == "(" && r.at(i+1).text == ")"
}

// listed reports whether only words of a list or range stand from one token to another.
func (r *reading) listed(from, to int) bool {
	for i := from; i < to; i++ {
		if !slices.Contains([]string{"-", ",", "/", "to", "and", "or", "through", "x", "by", "versus", "vs", "against"}, r.at(i).lower) {
			return false
		}
	}
	return to-from <= 2
}

// number reads a number in digits or words from token i and how many tokens it takes.
func (r *reading) number(i int) (n int, q quantity) {
	t := r.at(i)
	if t.kind == number {
		n, q.value = r.fraction(i)
		for factor := scales[r.at(i+n).lower]; factor > 0; factor = scales[r.at(i+n).lower] {
			q.value *= factor
			n++
		}
		q.written, q.hint = r.words(i, i+n), r.bracketed(i)
		return n, q
	}
	if t.kind != word {
		return 0, q
	}
	if hint, ok := hints[t.lower]; ok {
		return 1, quantity{value: hint, written: t.text, hint: true}
	}
	if (t.lower == "a" || t.lower == "an") && unitOf(r.at(i+1).lower) != "" && len(r.at(i+1).lower) > 2 {
		return 1, quantity{value: 1, written: t.text, hint: true}
	}
	n, q.value = r.spelled(i)
	q.written = r.words(i, i+n)
	q.hint = n == 1 && t.lower == "one" && r.pronoun(i)
	return n, q
}

// pronoun reports whether "one" at token i stands for a thing, not for a number of them.
func (r *reading) pronoun(i int) bool {
	next := r.at(i + 1)
	if next.text == "-" && next.glued && r.at(i+2).glued {
		return false
	}
	return next.kind != word || functionWords[next.lower] || slices.Contains([]string{"no", "any", "some", "each", "every", "the", "this", "that", "another"}, r.at(i-1).lower)
}

// denominators are those of fractions; "21/48" is 21 of 48.
var denominators = map[float64]bool{2: true, 3: true, 4: true, 5: true, 8: true, 10: true, 16: true, 32: true, 64: true}

// fraction reads digits with a fraction: 1/2, 2 1/2, 2-1/2.
func (r *reading) fraction(i int) (n int, value float64) {
	value, n = r.at(i).value, 1
	over := func(k int) (float64, bool) {
		a, b := r.at(k), r.at(k+2)
		ok := a.kind == number && b.kind == number && r.at(k+1).text == "/" && r.at(k+1).glued && b.glued && b.value > a.value && denominators[b.value] && a.value > 0
		return a.value / max(b.value, 1), ok
	}
	if f, ok := over(i); ok {
		return 3, f
	}
	k := i + 1
	if r.at(k).text == "-" && r.at(k).glued {
		k++
	}
	if f, ok := over(k); ok && (r.at(k-1).text == "-" || !r.at(k).glued) {
		return k + 3 - i, value + f
	}
	return n, value
}

// spelled reads a number in words: "two", "twenty-five", "three hundred and ten", "two and
// a half", "half". No word of a number gives n 0.
func (r *reading) spelled(i int) (n int, value float64) {
	total, group, k := 0.0, 0.0, i
	for {
		t := r.at(k)
		small, isSmall := numberWords[t.lower]
		factor := scales[t.lower]
		switch {
		case t.kind == word && isSmall && (n == 0 || joinsNumber(group, small)):
			group += small
		case t.kind == word && factor > 0 && (n > 0 || factor == 12):
			group = max(group, 1) * factor
			if factor >= 1000 {
				total, group = total+group, 0
			}
		case n > 0 && t.text == "-" && r.at(k+1).kind == word && numberWords[r.at(k+1).lower] > 0 && joinsNumber(group, numberWords[r.at(k+1).lower]):
			k++
			continue
		case n > 0 && t.lower == "and" && (group >= 100 || total > 0) && numberWords[r.at(k+1).lower] > 0:
			k++
			continue
		case n > 0 && t.lower == "and" && r.at(k+1).lower == "a" && r.at(k+2).lower == "half":
			return k + 3 - i, total + group + 0.5
		case n == 0 && t.lower == "half" && t.kind == word:
			return 1, 0.5
		default:
			return n, total + group
		}
		k++
		n = k - i
	}
}

// joinsNumber reports whether a small number can follow what was read: twenty five, three
// hundred ten, but not "two three".
func joinsNumber(group, small float64) bool {
	whole := int(group)
	return small > 0 && (whole%100 == 0 && whole > 0 && small < 100 || whole%10 == 0 && whole%100 >= 20 && small < 10)
}

func (r *reading) words(from, to int) string {
	var b strings.Builder
	for k := from; k < min(to, len(r.tokens)); k++ {
		if k > from && !r.tokens[k].glued {
			b.WriteByte(' ')
		}
		b.WriteString(r.tokens[k].text)
	}
	return b.String()
}

// measure reads the unit behind a number, or the words of which one is what it counts.
func (r *reading) measure(q *quantity) {
	if before := r.at(q.at - 1); currencies[before.text] != "" {
		q.unit = currencies[before.text]
		return
	}
	i := r.skip(q.end, "-", "of", "a", "an")
	for modifiers[r.at(i).lower] || r.at(i).text == "-" {
		i++
	}
	if unit, n := r.unit(i); n > 0 {
		q.unit, q.end = unit, i+n
		return
	}
	if t := r.at(i); t.kind == word && !functionWords[t.lower] && numberWords[t.lower] == 0 { // 16 calendar months, 17 flight-hours
		k := r.skip(i+1, "-")
		if unit, n := r.unit(k); n > 0 && len(r.at(k).lower) > 2 {
			q.unit, q.end = unit, k+n
			return
		}
	}
	for k := i; k < i+4 && len(q.nouns) < 3; k++ {
		t := r.at(k)
		if t.text == "-" {
			continue
		}
		if t.kind != word || functionWords[t.lower] || numberWords[t.lower] > 0 || t.taken {
			break
		}
		q.nouns = append(q.nouns, t.stem)
	}
}

// unit reads a unit from token i: "feet", "nautical miles", "degrees C", "feet per minute",
// "square feet". n is how many tokens it takes, 0 for none.
func (r *reading) unit(i int) (unit string, n int) {
	t := r.at(i)
	if kindOf, ok := compounds[t.lower+" "+r.at(i+1).lower]; ok {
		unit, n = kindOf, 2
	} else if unit = unitOf(t.lower); unit != "" && (t.kind == word || t.text == "%" || t.text == "'" || t.text == "°") {
		n = 1
	} else {
		return "", 0
	}
	if r.at(i+n).text == "." && len(t.lower) <= 4 && t.kind == word && r.at(i+n).glued && r.at(i+n+1).kind == word && !r.at(i+n+1).upper {
		n++ // lbs. of fuel
	}
	if unit == "degree" {
		k := r.skip(i+n, "-")
		if scale := temperatures[r.at(k).lower]; scale != "" {
			return scale, k + 1 - i
		}
	}
	if per := r.at(i + n); per.text == "/" || per.lower == "per" || per.lower == "a" || per.lower == "an" || per.lower == "each" {
		if over := unitOf(r.at(i + n + 1).lower); over != "" && r.at(i+n+1).kind == word && len(r.at(i+n+1).lower) > 1 {
			return unit + "/" + over, n + 2
		}
	}
	return unit, n
}

// bound reads whether a quantity is a limit from the words around it.
func (r *reading) bound(q quantity) bound {
	if over := r.at(q.at - 1).lower; (over == "over" || over == "under") && (units[q.unit].of == "time" || r.at(q.end).lower == "cfr") {
		return exactly // a span of time
	}
	for length := 4; length >= 1; length-- {
		if from := q.at - length; from >= 0 {
			if b, ok := boundsBefore[r.lowered(from, q.at)]; ok {
				return b
			}
		}
	}
	for length := 3; length >= 2; length-- {
		if b, ok := boundsAfter[r.lowered(q.end, q.end+length)]; ok {
			return b
		}
		if b, ok := boundsAfter[r.lowered(q.end+1, q.end+1+length)]; ok && len(q.nouns) == 1 && r.at(q.end).stem == q.nouns[0] { // ten seats or more
			return b
		}
	}
	return exactly
}

func (r *reading) lowered(from, to int) string {
	var b strings.Builder
	for k := max(from, 0); k < to && k < len(r.tokens); k++ {
		if k > from {
			b.WriteByte(' ')
		}
		b.WriteString(r.tokens[k].lower)
	}
	return b.String()
}

// quantityFault names the first number of a statement that its evidence does not say, or
// says of something else.
func quantityFault(said, have *reading) *fault {
	for _, q := range said.quantities {
		if q.hint || q.value == 1 && q.unit == "" && have.singles(q) {
			continue
		}
		if f := have.lacks(q); f != nil {
			return f
		}
		if f := said.exchanged(have, q); f != nil {
			return f
		}
	}
	return nil
}

// exchanged finds a number that its evidence has, but for something else: in the place of
// this one, among the same words, another stands.
func (r *reading) exchanged(have *reading, q quantity) *fault {
	own, other := 0, 0
	var instead quantity
	for _, x := range have.quantities {
		likeness := have.likeness(x.at, r, q.at)
		switch {
		case x.hint || x.unit != q.unit:
		case same(x.value, q.value):
			own = max(own, likeness)
		case likeness > other:
			other, instead = likeness, x
		}
	}
	if own > 0 && r.describes(have, q) && !r.keepsWords(have, q) {
		return faulty(sextant.FaultNumber, "where it says %q its quotes say %q", r.said(q), have.said(instead))
	}
	return nil
}

// describes reports whether the word right behind a number, or right before it, stands at
// another number of the evidence and not at this one: 1,400 feet long for 4,700 feet long.
func (r *reading) describes(have *reading, q quantity) bool {
	for _, side := range []int{1, -1} {
		beside := r.beside(q, side)
		own, other := beside == "", false
		for _, x := range have.quantities {
			if x.hint || x.unit != q.unit || have.beside(x, side) != beside {
				continue
			}
			own = own || same(x.value, q.value)
			other = true
		}
		if other && !own {
			return true
		}
	}
	return false
}

// beside returns the stem of the word next to a quantity on one side, past a hyphen; "" if
// that is no word of meaning.
func (r *reading) beside(q quantity, side int) string {
	i := q.end
	if side < 0 {
		i = q.at - 1
	}
	if r.at(i).text == "-" {
		i += side
	}
	if t := r.at(i); t.kind == word && !functionWords[t.lower] && !t.taken {
		return t.stem
	}
	return ""
}

// singles reports whether a text has what is counted behind "a" or "an".
func (r *reading) singles(q quantity) bool {
	for i := range r.tokens {
		if t := &r.tokens[i]; t.kind == word && slices.Contains(q.nouns, t.stem) {
			for k := max(0, i-3); k < i; k++ {
				if r.tokens[k].lower == "a" || r.tokens[k].lower == "an" {
					return true
				}
			}
		}
	}
	return false
}

func (r *reading) lacks(q quantity) *fault {
	var equal []quantity
	for _, have := range r.quantities {
		if same(have.value, q.value) {
			equal = append(equal, have)
		}
	}
	if len(equal) == 0 {
		if r.numbered(q) || q.unit == "" && r.shares(q.value) {
			return nil
		}
		return r.otherNumber(q)
	}
	measured := slices.DeleteFunc(slices.Clone(equal), func(have quantity) bool { return !have.measures(q) })
	if len(measured) == 0 {
		return r.otherUnit(q, equal[0])
	}
	if q.unit == "" && len(q.nouns) > 0 {
		if f := r.countsOther(q, measured); f != nil {
			return f
		}
	}
	return q.boundFault(measured)
}

// shares reports whether a part in words, such as half, stands in a text as a percentage.
func (r *reading) shares(value float64) bool {
	return value > 0 && value < 1 && slices.ContainsFunc(r.quantities, func(q quantity) bool { return q.unit == "percent" && same(q.value, 100*value) })
}

// numbered reports whether a bare number is one that something else was read as: the year
// of a date, the number of a code or a section, an hour.
func (r *reading) numbered(q quantity) bool {
	text := strconv.FormatFloat(q.value, 'f', -1, 64)
	for _, d := range r.dates {
		if q.unit == "" && (float64(d.year) == q.value || float64(d.day) == q.value && len(q.nouns) == 0) {
			return true
		}
	}
	return q.unit == "" && slices.ContainsFunc(r.codes, func(c code) bool {
		return c.name == text || !c.section && len(text) > 1 && strings.Contains(c.name, text)
	})
}

// measures reports whether a quantity of the evidence can be the one that is said: of the
// same unit, or bare where the evidence or the statement names none.
func (q quantity) measures(said quantity) bool {
	switch {
	case q.unit == said.unit:
		return true
	case q.unit == "":
		return len(q.nouns) == 0
	case said.unit == "":
		return len(said.nouns) == 0
	}
	return looser(q.unit) == said.unit || looser(said.unit) == q.unit
}

// countsOther finds that what a number counts is counted otherwise in the evidence: "3
// passengers" where the evidence has 2 passengers and 3 crew.
func (r *reading) countsOther(q quantity, measured []quantity) *fault {
	for _, have := range measured {
		if len(have.nouns) == 0 || have.counts(q.nouns) {
			return nil
		}
	}
	for _, have := range r.quantities {
		if have.unit == "" && !have.hint && !same(have.value, q.value) && len(have.nouns) > 0 && have.nouns[0] == q.nouns[0] {
			return faulty(sextant.FaultNumber, "%q stands in its quotes for something else; they say %q", r.said(q), r.said(have))
		}
	}
	return nil
}

func (q quantity) counts(nouns []string) bool {
	return slices.ContainsFunc(q.nouns, func(n string) bool { return slices.Contains(nouns, n) })
}

// boundFault finds that a limit was turned round, or made of what is none.
func (q quantity) boundFault(measured []quantity) *fault {
	if q.bound == exactly {
		return nil
	}
	opposite := false
	for _, have := range measured {
		if have.bound == q.bound || have.bound == exactly && (have.hint || have.reached && q.bound == below) {
			return nil
		}
		opposite = opposite || have.bound != exactly
	}
	if !opposite && q.bound == above {
		return faulty(sextant.FaultComparison, "its quotes do not say that %s is the least", q.written)
	}
	if !opposite {
		return faulty(sextant.FaultComparison, "its quotes do not say that %s is the most", q.written)
	}
	return faulty(sextant.FaultComparison, "its quotes have %s as the opposite limit", q.written)
}

// otherNumber says what number stands where a statement has another.
func (r *reading) otherNumber(q quantity) *fault {
	if year := lex(q.written); q.unit == "" && len(q.nouns) == 0 && len(year) == 1 && isYear(&year[0]) {
		return r.otherDate(date{year: int(q.value)})
	}
	for _, have := range r.quantities {
		if !have.hint && (have.unit != "" && have.unit == q.unit || q.unit == "" && have.counts(q.nouns)) {
			return faulty(sextant.FaultNumber, "%q stands in none of its quotes, which say %q", r.said(q), r.said(have))
		}
	}
	return faulty(sextant.FaultNumber, "%q stands in none of its quotes", r.said(q))
}

// otherUnit says that a number is right and its unit is not, with what it would be in the
// unit of the statement.
func (r *reading) otherUnit(q, have quantity) *fault {
	if have.unit == "" {
		return faulty(sextant.FaultUnit, "its quotes say %s without the unit %s", have.written, q.unit)
	}
	if x, ok := convert(have.value, have.unit, q.unit); ok {
		return faulty(sextant.FaultUnit, "its quotes say %s, which is %.4g %s", r.said(have), x, q.unit)
	}
	return faulty(sextant.FaultUnit, "its quotes say %s", r.said(have))
}

// said writes a quantity with its unit.
func (r *reading) said(q quantity) string {
	if q.unit == "" {
		return q.written
	}
	return q.written + " " + q.unit
}
