package constrain

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// negations reach forward to the next condition; the multi-word ones end a negation.
var (
	negations     = set(`not except excepting excluding exclude excludes outside without minus besides neither nor never omit omitting ignoring ignore barring sans cannot dont isnt wasnt arent werent didnt doesnt aint unlike nobody noone none`)
	negationEnds  = negationTable("other than, rather than, anything but, all but, everything but, any but, anywhere but, everywhere but, anyone but, nothing but, none but, apart from, aside from, except for, no one, as opposed to, instead of, with the exception of, exception of, save for, leaving out, leave out, leaves out, ruling out, rule out, skip, skipping, but no, minus the, less the, far from, never mind, forget, forget about")
	adjacentOnly  = set(`non no anti`)
	notNegations  = NewTable(map[string]bool{"why not": true, "if not": true, "or not": true, "whether or not": true, "not only": true, "not just": true, "none but": true, "not one": true, "not a single": true, "not even one": true, "nothing but": true})
	deniedPhrases = NewTable(map[string]bool{"excluded": true, "excepted": true, "omitted": true, "excluding": false, "is excluded": true, "are excluded": true, "not included": true, "is not included": true,
		"are not included": true, "not counted": true, "are not counted": true, "is not counted": true, "aside": true, "apart": true, "left out": true})
)

// universal words, a noun and "but" exclude what follows.
var universal = set(`any every all`)

// light words may stand between a negation and what it denies.
var light = set(`want need care include about in the those these a an any of at near involving involve involved with from counting including include for to on by ones over inside state states that which were are was is
 happening occurring happened occurred flown one all please being been has have had having do did in during under either those built made while when`)

// negationTable indexes phrases by their last word, to be found from behind.
func negationTable(text string) map[string][][]string {
	out := map[string][][]string{}
	for p := range strings.SplitSeq(text, ",") {
		w := Words(p)
		last := w[len(w)-1]
		out[last] = append(out[last], w)
	}
	return out
}

// negate gives each claim its sign. A negation reaches forward over words without
// weight to the next claim, and on over a list of values of the same field.
func (q *Query) negate(claims []Claim) {
	for k := range claims {
		c := &claims[k]
		floor := 0
		if k > 0 {
			floor = claims[k-1].To
		}
		if q.deniedBefore(c.From, floor) || q.deniedAfter(c.To) {
			c.Negated = true
			continue
		}
		if k > 0 && claims[k-1].Negated && q.alike(claims[k-1], *c) && q.listed(claims[k-1].To, c.From) && !q.deniedAfter(claims[k-1].To) {
			c.Negated = true
		}
	}
}

// alike reports whether two claims can stand in one list: they are of one field, or both
// say where.
func (q *Query) alike(a, b Claim) bool {
	where := func(c Condition) bool { return slices.Contains(q.Lexicon.Where, c.Field) }
	return sameField(a, b) || slices.ContainsFunc(a.Conditions, where) && slices.ContainsFunc(b.Conditions, where)
}

func sameField(a, b Claim) bool {
	return slices.ContainsFunc(a.Conditions, func(c Condition) bool {
		return !c.Implied && slices.ContainsFunc(b.Conditions, func(d Condition) bool { return !d.Implied && c.Field == d.Field })
	})
}

// deniedBefore looks left from a claim for a negation that reaches it.
func (q *Query) deniedBefore(i, floor int) bool {
	if len(negationEnds[q.Word(i)]) > 0 && !adjacentOnly[q.Word(i)] && q.negationAt(i) { // but "no deaths" denies itself
		return true // "instead of 2010", where "of 2010" is the date
	}
	adjacent := true
	for k := i - 1; k >= floor; k-- {
		if gap := q.Tokens[k+1].Gap; strings.ContainsAny(gap, ",;:.?!(") && strings.TrimSpace(gap) != "." && gap != "(" && gap != " (" {
			return false
		}
		switch w := q.Tokens[k].Lower; {
		case q.negationAt(k):
			return true
		case adjacentOnly[w]:
			return adjacent && !(w == "no" && q.Gap(k+1) == ". ") // "reg. no. N7WV"
		case light[w] || q.EventNoun(k):
			adjacent = false
		default:
			return false
		}
	}
	return false
}

// negationAt reports whether a negation ends with token k.
func (q *Query) negationAt(k int) bool {
	w := q.Tokens[k].Lower
	for _, phrase := range negationEnds[w] {
		if q.HasWords(k+1-len(phrase), phrase...) {
			return true
		}
	}
	if w == "t" && (q.Tokens[k].Gap == "'" || q.Tokens[k].Gap == "’") {
		return true // isn't, didn't
	}
	if w == "but" && universal[q.Word(k-2)] && !negations[q.Word(k-3)] {
		return true // "any country but Canada"
	}
	if !negations[w] {
		return false
	}
	for back := range 3 { // "why not", "not only"
		if _, to, ok := notNegations.At(q, k-back); ok && to > k {
			return false
		}
	}
	return true
}

// deniedAfter reads "Alaska excluded", "helicopters are not included".
func (q *Query) deniedAfter(i int) bool {
	denied, _, ok := deniedPhrases.At(q, i)
	return ok && denied && !strings.ContainsAny(q.Gap(i), ",;.?!")
}

// opposite negates one condition. What a name only implied falls away: "minus the
// SR20" says nothing against Cirrus.
func (q *Query) opposite(c Constraint, claim Claim) (Constraint, bool) {
	if o, ok := q.opposed(c.Condition); ok {
		c.Condition, c.Negated = o, false
		return c, true
	}
	if last := len(claim.Conditions) - 1; last > 0 && c.Op != sextant.OpMentions {
		if c.Field != claim.Conditions[last].Field {
			return c, false // the last condition of a name is its most specific
		}
		c.Narrow = negationOfAll(claim.Conditions)
	}
	switch c.Op {
	case sextant.OpMentions:
		c.Op = sextant.OpNotMentions
	case sextant.OpEq, sextant.OpIn:
		c.Op = sextant.OpNotIn
	case sextant.OpContains:
		c.Op = sextant.OpNotContains
	case sextant.OpBetween:
		_, isSpan := c.Values[0].(Span)
		c.Op = sextant.OpNotIn
		return c, isSpan
	case sextant.OpGte, sextant.OpLte:
		c.Condition, c.Negated = otherSide(c.Condition), false
		if c.Op == sextant.OpLte && c.Values[0] == 0 && q.measures.unless[c.Field] != nil {
			c.Op = sextant.OpEq // of what is counted there is none below zero
		}
	}
	return c, true
}

// opposed is what a negated value means instead: of a flag the other value, of other
// fields what the lexicon says.
func (q *Query) opposed(c Condition) (Condition, bool) {
	if len(c.Values) != 1 {
		return Condition{}, false
	}
	switch v := c.Values[0].(type) {
	case bool:
		return Is(c.Field, !v), true
	case string:
		o, ok := q.Lexicon.Opposites[[2]string{c.Field, strings.ToLower(v)}]
		return o, ok
	}
	return Condition{}, false
}

// otherSide turns "at least" into "less than" and the reverse.
func otherSide(c Condition) Condition {
	switch v := c.Values[0].(type) {
	case Span:
		if c.Op == sextant.OpGte {
			return dateCondition(c.Field, Span{To: v.From.AddDate(0, 0, -1)})
		}
		return dateCondition(c.Field, Span{From: v.To.AddDate(0, 0, 1)})
	case int:
		if c.Op == sextant.OpGte {
			c.Op, c.Values = sextant.OpLte, []any{v - 1}
		} else {
			c.Op, c.Values = sextant.OpGte, []any{v + 1}
		}
	case float64:
		r, _ := c.Narrow.(filter.Range)
		if c.Op == sextant.OpGte {
			c.Op, c.Narrow = sextant.OpLte, filter.Range{Field: c.Field, Hi: r.Lo, HiExcl: !r.LoExcl}
		} else {
			c.Op, c.Narrow = sextant.OpGte, filter.Range{Field: c.Field, Lo: r.Hi, LoExcl: !r.HiExcl}
		}
	}
	return c
}

// negationOfAll is the exact meaning of "not a Cessna 172": known, and not both.
func negationOfAll(conditions []Condition) filter.Filter {
	all := filter.And{}
	known := filter.And{}
	for _, c := range conditions {
		all = append(all, plain(c))
		known = append(known, filter.Exists{Field: c.Field})
	}
	return append(known, filter.Not{Filter: all})
}
