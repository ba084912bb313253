package constrain

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant/filter"
)

// Numbers that name their field by a unit ("waited more than 240 minutes"), by what a
// price or an age is asked with ("tents under 200", "65 or older"), or by a form of the
// field's name ("weighs less than 900 g"). Only fields no lexicon speaks for are read so.

// unitNames maps the words for a unit to one of them.
var unitNames = tableOf(
	phrases("min", "min, mins, minute, minutes"), phrases("h", "h, hr, hrs, hour, hours"), phrases("s", "sec, secs, second, seconds"), phrases("day", "day, days"),
	phrases("week", "week, weeks"), phrases("month", "month, months"), phrases("year", "year, years, yr, yrs, year old, years old, years of age"),
	phrases("g", "g, gram, grams, gramme, grammes"), phrases("kg", "kg, kgs, kilo, kilos, kilogram, kilograms"), phrases("lb", "lb, lbs, pound, pounds"), phrases("t", "tonne, tonnes, ton, tons"),
	phrases("mm", "mm, millimetre, millimetres, millimeter, millimeters"), phrases("cm", "cm, centimetre, centimetres, centimeter, centimeters"), phrases("m", "m, metre, metres, meter, meters"), phrases("km", "km, kilometre, kilometres, kilometer, kilometers"),
	phrases("ft", "ft, foot, feet"), phrases("mile", "mi, mile, miles"), phrases("l", "l, litre, litres, liter, liters"), phrases("w", "w, watt, watts"), phrases("v", "volt, volts"),
	phrases("m2", "m2, sqm, sq m, square metre, square metres, square meter, square meters"), phrases("ft2", "ft2, sqft, sq ft, square foot, square feet"), phrases("km2", "km2, sq km, square kilometre, square kilometres, square kilometer, square kilometers"),
	phrases("ha", "ha, hectare, hectares"), phrases("acre", "acre, acres"),
	phrases("eur", "eur, euro, euros"), phrases("usd", "usd, dollar, dollars, bucks"), phrases("gbp", "gbp, quid"), phrases("%", "percent, pct"),
)

var (
	money = set(`price cost costs amount bill total fee salary fare charge rent income budget`)
	ages  = set(`age`)
	// persons may stand before a bare bound that is an age: "patients over 80".
	persons = set(`patients patient people persons men women children adults kids boys girls students employees customers members users those anyone everyone residents guests drivers passengers aged`)
)

// quantities are the numeric fields that are read by unit, by stem or by default.
type quantities struct {
	byUnit map[string][]filter.Field
	stems  []stemmed
	price  *filter.Field // the one field of money
	age    *filter.Field
}

// stemmed is a word of a field's name that forms of it may stand for.
type stemmed struct {
	word  string
	field filter.Field
}

// newQuantities collects the numeric fields that are not spoken for.
func newQuantities(v *Vocabulary, spoken map[string]bool) *quantities {
	x := &quantities{byUnit: map[string][]filter.Field{}}
	prices, olds := 0, 0
	for _, spec := range v.Collections {
		for _, f := range spec.Schema.Fields {
			if spoken[f.Name] || f.Kind != filter.Int && f.Kind != filter.Float {
				continue
			}
			words, unit := unitOfField(f)
			if unit != "" {
				x.byUnit[unit] = append(x.byUnit[unit], f)
			}
			if len(words) == 1 && len(words[0]) >= minStem {
				x.stems = append(x.stems, stemmed{words[0], f})
			}
			if slices.ContainsFunc(words, func(w string) bool { return money[w] }) {
				x.price, prices = &f, prices+1
			}
			if slices.ContainsFunc(words, func(w string) bool { return ages[w] }) {
				x.age, olds = &f, olds+1
			}
		}
	}
	if prices > 1 {
		x.price = nil
	}
	if olds > 1 {
		x.age = nil
	}
	return x
}

// unitOfField returns the words of a field's name without its unit, and the unit.
func unitOfField(f filter.Field) (words []string, unit string) {
	words = Words(strings.ReplaceAll(f.Name, "_", " "))
	if u, ok := unitNames.of(Words(f.Unit)); ok {
		return words, u
	}
	if last := len(words) - 1; last > 0 {
		if u, ok := unitNames.of(words[last:]); ok {
			return words[:last], u
		}
		if u, ok := unitNames.of(words[:1]); ok && len(words[0]) > 2 { // hours_to_close
			return words[1:], u
		}
	}
	return words, ""
}

// minStem is how long a word must be for its forms to be recognized.
const minStem = 4

// formOf reports whether a word is a form of another: waited of waiting, weigh of weight.
func formOf(word, of string) bool {
	n := 0
	for n < len(word) && n < len(of) && word[n] == of[n] {
		n++
	}
	return n >= minStem && endings[word[n:]] && endings[of[n:]]
}

var endings = map[string]bool{"": true, "s": true, "es": true, "d": true, "ed": true, "ing": true, "t": true, "ts": true, "er": true, "e": true, "al": true, "als": true}

// recognizeQuantities claims numbers whose field is told by what stands around them.
func recognizeQuantities(q *Query) []Claim {
	x := q.quantities
	if len(x.byUnit) == 0 && x.price == nil && x.age == nil && len(x.stems) == 0 {
		return nil
	}
	var out []Claim
	for i := range q.Tokens {
		if c, ok := x.united(q, i); ok {
			out = append(out, c)
		}
		if c, ok := x.stem(q, i); ok {
			out = append(out, c)
		}
		if c, ok := x.bare(q, i); ok {
			out = append(out, c)
		}
	}
	return out
}

// united reads a number with a unit that one field has.
func (x *quantities) united(q *Query, i int) (Claim, bool) {
	if q.Word(i) == "within" { // "closed within 12 hours"
		return x.within(q, i)
	}
	c, ok := q.comparisonAt(i)
	if !ok {
		return Claim{}, false
	}
	unit, to, ok := q.unitAt(c.To)
	if !ok || c.Bare && q.numeric(i-1) {
		return Claim{}, false
	}
	f, ok := x.meant(q, i, x.having(unit))
	if !ok {
		return Claim{}, false
	}
	condition, end, ok := q.numberCondition(f, i)
	if !ok || end > to {
		return Claim{}, false
	}
	return Claim{From: i, To: to, Conditions: []Condition{condition}, Weight: 2}, true
}

// within reads a number with a unit that is the most there may be.
func (x *quantities) within(q *Query, i int) (Claim, bool) {
	n, at, ok := q.numberAt(i + 1)
	if !ok {
		return Claim{}, false
	}
	unit, to, ok := q.unitAt(at)
	if !ok {
		return Claim{}, false
	}
	f, ok := x.meant(q, i, x.having(unit))
	if !ok {
		return Claim{}, false
	}
	return Claim{From: i, To: to, Conditions: []Condition{bounded(f.Name, comparison{Lo: -1, Hi: n})}, Weight: 2}, true
}

var currencies = set(`eur usd gbp`)

// having returns the fields of a unit; years are an age's and money a price's, also where
// their fields do not say so.
func (x *quantities) having(unit string) []filter.Field {
	fields := x.byUnit[unit]
	switch {
	case len(fields) > 0:
	case unit == "year" && x.age != nil:
		return []filter.Field{*x.age}
	case currencies[unit] && x.price != nil:
		return []filter.Field{*x.price}
	}
	return fields
}

// meant chooses among fields of one unit the one whose name stands before the number, or
// the only one.
func (x *quantities) meant(q *Query, i int, fields []filter.Field) (filter.Field, bool) {
	for _, f := range fields {
		words, _ := unitOfField(f)
		for k := max(0, i-4); k < i; k++ {
			if slices.ContainsFunc(words, func(w string) bool { return w == q.Word(k) || formOf(q.Word(k), w) }) {
				return f, true
			}
		}
	}
	if len(fields) != 1 {
		return filter.Field{}, false
	}
	return fields[0], true
}

// unitAt reads a unit's word or sign at token i.
func (q *Query) unitAt(i int) (unit string, to int, ok bool) {
	if q.Gap(i) != "\x00" && !q.Joined(i) || i >= len(q.Tokens) {
		return "", i, false
	}
	return unitNames.At(q, i)
}

func (q *Query) numeric(i int) bool { return i >= 0 && i < len(q.Tokens) && q.Tokens[i].Number() }

// stem reads "weighs less than 900": a form of a field's name and a number after it.
func (x *quantities) stem(q *Query, i int) (Claim, bool) {
	word := q.Word(i)
	for _, s := range x.stems {
		if word == s.word || !formOf(word, s.word) {
			continue
		}
		if c, to, ok := q.timesOf(s.field, i+1); ok {
			return Claim{From: i, To: to, Conditions: []Condition{c}, Weight: 1}, true
		}
		if c, to, ok := q.numberCondition(s.field, q.linked(i+1)); ok && to > i+2 {
			if _, end, ok := q.unitAt(to); ok {
				to = end
			}
			return Claim{From: i, To: to, Conditions: []Condition{c}, Weight: 1}, true
		}
	}
	return Claim{}, false
}

// timesOf reads "at least once", "twice" and "more than two times" after what was done so
// often: "renewed at least once".
func (q *Query) timesOf(f filter.Field, i int) (Condition, int, bool) {
	b, at, compared := comparators.At(q, i)
	if !compared {
		at = i
	}
	n, ok := map[string]int{"once": 1, "twice": 2, "thrice": 3}[q.Word(at)]
	to := at + 1
	if !ok {
		n, to, ok = q.numberAt(at)
		if ok = ok && q.Word(to) == "times" && q.Joined(to); ok {
			to++
		}
	}
	if !ok || !q.Joined(i) || !q.Joined(at) {
		return Condition{}, i, false
	}
	return bounded(f.Name, b.of(n, i, to)), to, true
}

// linked steps over the words between a field's name and its number.
func (q *Query) linked(i int) int {
	for i < len(q.Tokens) && linkWords[q.Tokens[i].Lower] {
		i++
	}
	return i
}

var linkWords = set(`is of was are were has equals time times`)

// bare reads a bound that only a price or an age can be meant by.
func (x *quantities) bare(q *Query, i int) (Claim, bool) {
	c, ok := q.comparisonAt(i)
	if !ok || q.Joined(c.To) && q.counts(c.To) {
		return Claim{}, false
	}
	aged := q.Word(i-1) == "aged" || persons[q.Word(i-1)] || oldness[q.Word(c.To-1)] || oldness[q.Word(i)]
	f := x.price
	switch {
	case x.age != nil && aged && (!c.Bare || q.Word(i-1) == "aged"):
		f = x.age
	case f == nil || c.Bare || aged || plausible(max(c.Lo, c.Hi)) && q.Gap(c.To-1) != " $":
		return Claim{}, false
	}
	condition, to, ok := q.numberCondition(*f, i)
	if !ok {
		return Claim{}, false
	}
	return Claim{From: i, To: to, Conditions: []Condition{condition}}, true
}

var oldness = set(`older younger`)

// counts reports whether the word at token i is what the number before it counts.
func (q *Query) counts(i int) bool {
	w := q.Word(i)
	return !stopWords[w] && !persons[w] && w != "please"
}
