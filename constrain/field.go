package constrain

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Fields that no lexicon speaks for are asked for by their own names: it is how the
// numbers, flags and dates of a foreign table are understood.

// fieldTable finds the fields that are read by name, in the order of the schemas.
func fieldTable(v *Vocabulary, l *Lexicon, spoken map[string]bool) *Table[filter.Field] {
	entries := map[string]filter.Field{}
	for _, spec := range v.Collections {
		for _, f := range spec.Schema.Fields {
			if spoken[f.Name] || f.Name == l.Dates || f.Kind == filter.Keyword && !f.Facet {
				continue
			}
			for _, name := range fieldNames(f) {
				if _, taken := entries[name]; !taken {
					entries[name] = f
				}
			}
		}
	}
	return NewTable(entries)
}

// fieldNames returns what a field is called: its name, its label, and both without a
// last word that only says what kind of value it is ("closed_at": "closed").
func fieldNames(f filter.Field) []string {
	var out []string
	for _, text := range []string{strings.ReplaceAll(f.Name, "_", " "), f.Label} {
		words := Words(text)
		if len(words) == 0 {
			continue
		}
		out = append(out, strings.Join(words, " "))
		_, unit := unitNames.of(words[len(words)-1:])
		if last := len(words) - 1; last > 0 && (unit || slices.Contains([]string{"at", "on", "date", "time", "count", "number"}, words[last])) {
			out = append(out, strings.Join(words[:last], " "))
		}
	}
	return out
}

// recognizeFields claims conditions on named fields: "priority above 3", "at least 5
// retries", "escalated", "closed before June 2012".
func recognizeFields(q *Query) []Claim {
	var out []Claim
	for i := range q.Tokens {
		if c, ok := q.yearOf(i); ok {
			out = append(out, c)
		}
		f, to, ok := q.named.PluralAt(q, i)
		if !ok {
			if c, ok := q.deniedFlag(i); ok {
				out = append(out, c)
			}
			continue
		}
		switch f.Kind {
		case filter.Int, filter.Float:
			out = append(out, q.numbersOf(f, i, to)...)
		case filter.Bool:
			out = append(out, Claim{From: i, To: to, Conditions: []Condition{Is(f.Name, true)}})
		case filter.Time:
			if c, ok := q.dateOf(f, i, to); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

// yearOf reads the period after a word that with "year" names a field: "built before 1950"
// of year_built.
func (q *Query) yearOf(i int) (Claim, bool) {
	if !q.Joined(i+1) || q.Word(i-1) == "year" {
		return Claim{}, false
	}
	f, ok := q.named.of([]string{"year", q.Word(i)})
	if !ok {
		f, ok = q.named.of([]string{q.Word(i), "year"})
	}
	if !ok || f.Kind != filter.Int {
		return Claim{}, false
	}
	side, at := q.opening(i + 1)
	p, ok := q.periodAt(at)
	if !ok || p.yearless() {
		return Claim{}, false
	}
	if ranged, ok := q.rangeTo(side, p); ok {
		p, side = ranged, within
	}
	c := comparison{Lo: p.From.Year(), Hi: p.To.Year()}
	switch side {
	case since, from:
		c.Hi = -1
	case after:
		c.Lo, c.Hi = p.To.Year()+1, -1
	case before:
		c.Lo, c.Hi = -1, p.From.Year()-1
	case until:
		c.Lo = -1
	}
	return Claim{From: i, To: p.to, Conditions: []Condition{bounded(f.Name, c)}, Weight: 4}, true
}

// deniedFlag reads a flag that its own word denies: "uninsured", "non-smoking", "out of
// stock".
func (q *Query) deniedFlag(i int) (Claim, bool) {
	w := q.Tokens[i].Lower
	deny := func(f filter.Field, to int) (Claim, bool) {
		return Claim{From: i, To: to, Conditions: []Condition{Is(f.Name, false)}, Weight: 1}, f.Kind == filter.Bool
	}
	if q.HasWords(i, "out", "of") {
		f, ok := q.named.of([]string{"in", q.Word(i + 2)})
		if !ok {
			f, ok = q.named.of([]string{"under", q.Word(i + 2)})
		}
		c, flag := deny(f, i+3)
		return c, ok && flag
	}
	for _, prefix := range []string{"un", "non", "not"} {
		if rest, ok := strings.CutPrefix(w, prefix); ok && rest != "" {
			f, ok := q.named.of([]string{rest})
			c, flag := deny(f, i+1)
			return c, ok && flag
		}
	}
	return Claim{}, false
}

// dateOf reads the period after the name of a time field.
func (q *Query) dateOf(f filter.Field, i, to int) (Claim, bool) {
	side, at := q.opening(to)
	p, ok := q.periodAt(at)
	if !ok || p.yearless() || !q.Joined(to) {
		return Claim{}, false
	}
	if ranged, ok := q.rangeTo(side, p); ok {
		p, side = ranged, within
	}
	c := q.datedClaim(i, p, side)
	for k := range c.Conditions {
		c.Conditions[k].Field = f.Name
	}
	c.Drop = false
	return c, true
}

// numbersOf reads the comparison after or before the name of a numeric field.
func (q *Query) numbersOf(f filter.Field, i, to int) []Claim {
	var out []Claim
	if c, end, ok := q.numberCondition(f, q.linked(to)); ok {
		if _, after, ok := q.unitAt(end); ok {
			end = after
		}
		out = append(out, Claim{From: i, To: end, Conditions: []Condition{c}, Weight: 1})
	}
	for k := max(0, i-5); k < i; k++ { // "at least 5 retries"
		if c, end, ok := q.numberCondition(f, k); ok && end == i && q.Joined(i) {
			out = append(out, Claim{From: k, To: to, Conditions: []Condition{c}, Weight: 1})
			break
		}
	}
	return out
}

// numberCondition reads a comparison with a number of the field's kind.
func (q *Query) numberCondition(f filter.Field, i int) (Condition, int, bool) {
	if f.Kind == filter.Float {
		if c, to, ok := q.decimalCondition(f, i); ok {
			return c, to, true
		}
	}
	c, ok := q.comparisonAt(i)
	return bounded(f.Name, c), c.To, ok
}

// decimalCondition reads "above 4.5". More than 4.5 is not 4.5, which the operators of
// a constraint cannot say and its filter can.
func (q *Query) decimalCondition(f filter.Field, i int) (Condition, int, bool) {
	b, at, compared := comparators.At(q, i)
	if !compared {
		at = i
	}
	x, to, ok := q.decimalAt(at)
	if !ok {
		return Condition{}, i, false
	}
	if !compared {
		if b, at, compared = trailers.At(q, to); compared {
			to = at
		}
	}
	c := Condition{Field: f.Name, Op: sextant.OpEq, Values: []any{x}}
	switch v := filter.OfFloat(x); {
	case !compared || b == bounds{}:
	case b.hi == noBound:
		c.Op, c.Narrow = sextant.OpGte, filter.Range{Field: f.Name, Lo: v, LoExcl: b.lo > 0}
	default:
		c.Op, c.Narrow = sextant.OpLte, filter.Range{Field: f.Name, Hi: v, HiExcl: b.hi < 0}
	}
	return c, to, true
}

func (q *Query) decimalAt(i int) (float64, int, bool) {
	if n, to, ok := q.numberAt(i); ok && (to >= len(q.Tokens) || q.Tokens[to].Gap != ".") {
		return float64(n), to, true // more than 1,000 is 1,000.50, too
	}
	if i+1 >= len(q.Tokens) || !q.Tokens[i].Number() || !q.Tokens[i+1].Number() || q.Tokens[i+1].Gap != "." {
		return 0, i, false
	}
	x, err := strconv.ParseFloat(q.Tokens[i].Text+"."+q.Tokens[i+1].Text, 64)
	return x, i + 2, err == nil
}
