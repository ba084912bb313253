package constrain

import (
	"strings"

	"github.com/sextant-rag/sextant"
)

// measureIndex finds the words of a lexicon's measures.
type measureIndex struct {
	after, verbs *Table[*Measure]
	unless       map[string]*Table[bool] // by field
}

func newMeasureIndex(measures []Measure) *measureIndex {
	after, verbs := map[string]*Measure{}, map[string]*Measure{}
	x := &measureIndex{unless: map[string]*Table[bool]{}}
	for i := range measures {
		m := &measures[i]
		for _, phrase := range m.After {
			after[phrase] = m
		}
		for _, phrase := range m.Verbs {
			verbs[phrase] = m
		}
		void := map[string]bool{}
		for _, phrase := range m.Unless {
			void[phrase] = true
		}
		x.unless[m.Field] = NewTable(void)
	}
	x.after, x.verbs = NewTable(after), NewTable(verbs)
	return x
}

// recognizeMeasures claims numbers of a lexicon's measures: "two or more killed",
// "killed more than five people", "three of the four aboard died".
func recognizeMeasures(q *Query) []Claim {
	var out []Claim
	for i := range q.Tokens {
		c, ok := q.comparisonAt(i)
		if !ok || c.Bare && plausible(c.Lo) && q.Tokens[i].Number() { // "in 2015 with fatalities"
			continue
		}
		m, to, ok := q.measureAfter(c.To)
		if !ok {
			if m, ok := q.measureAround(c.To); ok {
				out = append(out, measured(m, c, c.From, c.To))
			}
			continue
		}
		if q.voided(m, i, to) {
			continue
		}
		if b, after, ok := trailers.At(q, to); ok && c.Bare && q.Joined(to) { // "four fatalities or fewer"
			c, to = b.of(c.Lo, c.From, c.To), after
		}
		c, to = q.secondBound(c, to)
		out = append(out, measured(m, c, c.From, to))
	}
	for i := range q.Tokens {
		if c, ok := q.measureForm(i); ok {
			out = append(out, c)
		}
		m, at, ok := q.measures.verbs.At(q, i)
		if !ok {
			continue
		}
		for at < len(q.Tokens) && verbObjects[q.Tokens[at].Lower] && q.Joined(at) {
			at++
		}
		if c, ok := q.comparisonAt(at); ok && q.Joined(at) && (!c.Bare || !q.counted(c)) {
			to := q.skipPeople(c.To)
			if same, end, ok := q.measures.after.At(q, to); ok && same == m && q.Joined(to) {
				to = end // "needed more than two visits"
			}
			out = append(out, measured(m, c, i, to))
		}
	}
	return out
}

// signs are comparators written as such.
var signs = map[string]bounds{":": {0, 0}, "=": {0, 0}, ">": {1, noBound}, ">=": {0, noBound}, "≥": {0, noBound}, "=>": {0, noBound}, "<": {noBound, -1}, "<=": {noBound, 0}, "≤": {noBound, 0}}

// measureForm reads what stands in a form: "killed: 3", "deaths >= 2".
func (q *Query) measureForm(i int) (Claim, bool) {
	m, at, ok := q.measures.after.At(q, i)
	if !ok {
		m, at, ok = q.measures.verbs.At(q, i)
	}
	b, signed := signs[strings.TrimSpace(q.Gap(at))]
	if !ok || !signed {
		return Claim{}, false
	}
	n, to, ok := q.numberAt(at)
	if !ok || q.voided(m, at, to) {
		return Claim{}, false
	}
	return measured(m, b.of(n, i, to), i, to), true
}

// secondBound reads the bound that comes after the words that say what is counted: "no
// more than 3 fatalities, at least 1".
func (q *Query) secondBound(c comparison, to int) (comparison, int) {
	at := q.Skip(to, "but", "and", "yet", "though")
	b, number, ok := comparators.At(q, at)
	if !ok || c.Bare || c.Set != nil || at == to && !strings.HasPrefix(q.Gap(to), ",") {
		return c, to
	}
	n, end, ok := q.numberAt(number)
	if _, _, other := q.measureAfter(end); !ok || other || q.Joined(end) && !people[q.Word(end)] && !countEnds[q.Word(end)] {
		return c, to
	}
	switch second := b.of(n, c.From, c.To); {
	case c.Lo < 0 && second.Hi < 0:
		c.Lo = second.Lo
	case c.Hi < 0 && second.Lo < 0:
		c.Hi = second.Hi
	default:
		return c, to
	}
	return c, end
}

// verbObjects may stand between a verb and its number: "killed all four aboard".
var verbObjects = set(`all the its a total of of some`)

// counted reports whether a bare number after a verb counts something else or is a
// year: "killed 2010", "killed 3 miles from".
func (q *Query) counted(c comparison) bool {
	if c.To < len(q.Tokens) && people[q.Tokens[c.To].Lower] && q.Tokens[c.To].joins && c.Lo < 1000 {
		return false // "killed 230 people"
	}
	return plausible(c.Lo) || c.To < len(q.Tokens) && (notYears[q.Tokens[c.To].Lower] || calendarUnits[q.Tokens[c.To].Lower] != "") && q.Tokens[c.To].joins
}

func measured(m *Measure, c comparison, from, to int) Claim {
	return Claim{From: from, To: to, Conditions: []Condition{bounded(m.Field, c)}, Weight: 3}
}

// bounded is the condition that a field lies within a comparison.
func bounded(field string, c comparison) Condition {
	switch {
	case c.Set != nil:
		values := make([]any, len(c.Set))
		for i, n := range c.Set {
			values[i] = n
		}
		return Condition{Field: field, Op: sextant.OpIn, Values: values}
	case c.Lo == c.Hi:
		return Condition{Field: field, Op: sextant.OpEq, Values: []any{c.Lo}}
	case c.Hi < 0:
		return Condition{Field: field, Op: sextant.OpGte, Values: []any{c.Lo}}
	case c.Lo < 0:
		return Condition{Field: field, Op: sextant.OpLte, Values: []any{c.Hi}}
	}
	return Condition{Field: field, Op: sextant.OpBetween, Values: []any{c.Lo, c.Hi}}
}

// people are words for who was counted, and for how they stand in the sentence.
var people = set(`people persons person occupants occupant passengers passenger crew crewmembers crewmember pilots souls of the were was are is being or more on board aboard who got had have suffered
 sustained with men victims those lives`)

// skipPeople steps over who was counted: "two people on board were [killed]", "two of
// the four aboard [died]".
func (q *Query) skipPeople(i int) int {
	for q.Joined(i) {
		switch {
		case people[q.Tokens[i].Lower]:
			i++
		case q.Word(i-1) == "of" || q.Word(i-1) == "the" && q.Word(i-2) == "of":
			_, to, ok := q.numberAt(i)
			if !ok {
				return i
			}
			i = to
		default:
			return i
		}
	}
	return i
}

func (q *Query) measureAfter(i int) (*Measure, int, bool) {
	if i >= len(q.Tokens) || !q.Joined(i) && !q.plusAfter(i) {
		return nil, i, false
	}
	if m, to, ok := q.measures.after.At(q, i); ok {
		return m, to, true
	}
	if at := q.skipPeople(i); at > i {
		return q.measures.after.At(q, at)
	}
	return nil, i, false
}

// measureAround finds the measure that ends or follows the phrase at token i: "one piston
// engine", "two turboprop engines". The phrase keeps its own meaning.
func (q *Query) measureAround(i int) (*Measure, bool) {
	conditions, to, ok := q.PhraseAt(i)
	if !ok || len(conditions) == 0 || !q.Joined(i) {
		return nil, false
	}
	if m, end, ok := q.measures.after.At(q, to); ok && q.Joined(to) {
		return m, !q.voided(m, i, end)
	}
	m, end, ok := q.measures.after.At(q, to-1)
	return m, ok && to-1 > i && end == to && !q.voided(m, i, end)
}

// voided reports whether the words around a number and its measure say that it counts
// something else: "two engine failures", "lost two engines".
func (q *Query) voided(m *Measure, from, to int) bool {
	if n, _, ok := q.numberAt(from); ok && m.Most > 0 && n > m.Most || q.HasWords(from-2, "all", "but") {
		return true
	}
	void := q.measures.unless[m.Field]
	if _, _, ok := void.PluralAt(q, to); ok && q.Joined(to) {
		return true
	}
	_, end, ok := void.At(q, from-1)
	return ok && end == from && q.Joined(from)
}
