package table

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark is what separates a number's fraction: 1,234.5 or 1.234,5.
type Mark byte

// The decimal marks.
const (
	Point Mark = '.'
	Comma Mark = ','
)

// Quantity is a number as tables write it, with what it is a number of.
type Quantity struct {
	Value float64
	Whole bool   // written without a fraction, and small enough to be exact (2^53)
	Unit  string // as written: "$", "USD", "%", "kg"; "" has none
}

// maxNumber is the longest text that is tried as a number.
const maxNumber = 48

// ParseQuantity reads a number with its separators of thousands, sign, currency, unit or
// percent sign: "1,234.50", "1 234,50" under Comma, "$1,200", "(350.00)" for minus 350,
// "12 kg", "45%", "1e6". Groups must have three digits (or, as in India, two before the
// last three), so that a date, a version or an address is no number. A percentage is the
// number before its sign.
func ParseQuantity(text string, mark Mark) (Quantity, bool) {
	if len(text) == 0 || len(text) > maxNumber {
		return Quantity{}, false
	}
	if n, ok := plainInt(text); ok {
		return Quantity{Value: float64(n), Whole: true}, true
	}
	q := Quantity{}
	text, negative := strings.TrimSpace(blanks.Replace(text)), false
	if inner, ok := strings.CutPrefix(text, "("); ok && strings.HasSuffix(inner, ")") {
		text, negative = inner[:len(inner)-1], true
	}
	before, core, after := splitNumber(text)
	before, sign := cutSign(before)
	if core == "" || sign && negative || !q.setUnit(before, after) {
		return Quantity{}, false
	}
	digits, ok := plainDigits(core, mark)
	if !ok {
		return Quantity{}, false
	}
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(value, 0) {
		return Quantity{}, false
	}
	if strings.HasPrefix(before, "-") || sign || negative {
		value = 0 - value
	}
	q.Value, q.Whole = value, !strings.ContainsAny(digits, ".eE") && math.Abs(value) <= 1<<53
	return q, true
}

// plainInt reads up to 15 bare digits, which most numbers are.
func plainInt(text string) (int64, bool) {
	if len(text) > 15 {
		return 0, false
	}
	var n int64
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(text[i]-'0')
	}
	return n, true
}

// blanks makes one of what different programs write for a blank, a minus and an apostrophe.
var blanks = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u2212", "-", "\u2013", "-", "\u2019", "'")

// splitNumber cuts a text at its first and last digit or mark.
func splitNumber(text string) (before, core, after string) {
	from := strings.IndexFunc(text, func(r rune) bool { return r >= '0' && r <= '9' })
	if from < 0 {
		return text, "", ""
	}
	if from > 0 && (text[from-1] == '.' || text[from-1] == ',') { // .5
		from--
	}
	to := from
	for to < len(text) && strings.IndexByte("0123456789.,' _", text[to]) >= 0 {
		to++
	}
	if rest := text[to:]; len(rest) > 1 && (rest[0] == 'e' || rest[0] == 'E') {
		end := 1
		if rest[1] == '+' || rest[1] == '-' {
			end++
		}
		digits := end
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		if end > digits && end == len(rest) {
			to += end
		}
	}
	core = strings.TrimRight(text[from:to], " ")
	return strings.TrimSpace(text[:from]), core, strings.TrimSpace(text[to:])
}

// cutSign takes a sign off what stands before a number, on either side of a currency.
func cutSign(before string) (rest string, minus bool) {
	for _, sign := range []string{"-", "+"} {
		if r, ok := strings.CutPrefix(before, sign); ok {
			return strings.TrimSpace(r), sign == "-"
		}
		if r, ok := strings.CutSuffix(before, sign); ok {
			return strings.TrimSpace(r), sign == "-"
		}
	}
	return before, false
}

// setUnit takes what stands around a number for its unit, and reports whether it can be
// one: a currency before, or a currency, unit or percent sign after it.
func (q *Quantity) setUnit(before, after string) bool {
	switch {
	case before == "" && after == "":
		return true
	case after == "" && currency(before):
		q.Unit = before
		return true
	case before == "" && unitWord(after):
		q.Unit = after
		return true
	}
	return false
}

// currency reports whether a text is a currency sign, alone or after a country ("US$"),
// or the three letters of a code.
func currency(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(s)
	if unicode.Is(unicode.Sc, last) {
		return len(s) <= 6
	}
	return len(s) == 3 && strings.ToUpper(s) == s && letters(s) || s == "Rs" || s == "Rs." || s == "kr" || s == "Fr."
}

func letters(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// unitWord reports whether a text can be the unit of a number: it has no digits but
// powers, and is short.
func unitWord(s string) bool {
	if len(s) > 16 || s == "" {
		return false
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && !strings.ContainsRune("%‰°/²³µ.\"' ", r) && !unicode.Is(unicode.Sc, r) {
			return false
		}
	}
	return s != "." && strings.Count(s, " ") <= 1
}

// plainDigits writes the digits of a number as strconv reads them. Marks that cannot
// stand where they stand make it no number.
func plainDigits(core string, mark Mark) (string, bool) {
	whole, fraction, fractional := strings.Cut(core, string(rune(mark)))
	if fractional && strings.IndexFunc(fraction, func(r rune) bool { return (r < '0' || r > '9') && r != 'e' && r != 'E' && r != '+' && r != '-' }) >= 0 {
		return "", false
	}
	joined, ok := joinGroups(whole)
	switch {
	case !ok:
		return "", false
	case !fractional:
		return joined, joined != ""
	case fraction == "" && joined == "":
		return "", false
	}
	if joined == "" {
		joined = "0"
	}
	return joined + "." + fraction + zeroIf(fraction == ""), true
}

func zeroIf(empty bool) string {
	if empty {
		return "0"
	}
	return ""
}

// joinGroups takes separators of thousands out of a whole number.
func joinGroups(whole string) (string, bool) {
	at := strings.IndexAny(whole, ".,' _")
	if at < 0 {
		return whole, true
	}
	separator := whole[at : at+1]
	groups := strings.Split(whole, separator)
	for i, g := range groups {
		if strings.IndexFunc(g, func(r rune) bool { return r < '0' || r > '9' }) >= 0 {
			return "", false
		}
		last := i == len(groups)-1
		indian := !last && len(g) == 2 && separator == ","
		if len(g) == 0 || len(g) > 3 || i > 0 && len(g) != 3 && !indian {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

// markVote counts what the numbers of a column say about its decimal mark.
type markVote struct{ point, comma, either int64 }

// add looks at one cell, n times over.
func (v *markVote) add(text string, n int64) {
	_, core, _ := splitNumber(blanks.Replace(text))
	dot, comma := strings.LastIndexByte(core, '.'), strings.LastIndexByte(core, ',')
	switch {
	case dot < 0 && comma < 0:
	case dot >= 0 && comma >= 0 && dot > comma:
		v.point += n
	case dot >= 0 && comma >= 0:
		v.comma += n
	case dot >= 0:
		v.single(core, dot, '.', &v.point, &v.comma, n)
	default:
		v.single(core, comma, ',', &v.comma, &v.point, n)
	}
}

// single judges a number with one kind of mark: several of it are thousands, one with
// other than three digits after it is the decimal mark.
func (v *markVote) single(core string, last int, mark byte, decimal, thousands *int64, n int64) {
	switch {
	case strings.Count(core, string(rune(mark))) > 1:
		*thousands += n
	case len(core)-last-1 != 3 || last > 3 || last == 0 || core[0] == '0':
		*decimal += n
	default:
		v.either += n
	}
}

func (v *markVote) join(w markVote) {
	v.point, v.comma, v.either = v.point+w.point, v.comma+w.comma, v.either+w.either
}

// mark returns the decimal mark, that of fallback where nothing tells.
func (v *markVote) mark(fallback Mark) Mark {
	switch {
	case v.comma > v.point:
		return Comma
	case v.point > v.comma:
		return Point
	}
	return fallback
}
