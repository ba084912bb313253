package constrain

import "github.com/sextant-rag/sextant"

// recognizeUnheld claims a bound on a quantity that no field holds: "accidents with under
// 25 hours in type", "tickets above 30 kg". To leave it out in silence would show whatever
// else the question says as if it were so restricted.
func recognizeUnheld(q *Query) []Claim {
	var out []Claim
	for i := range q.Tokens {
		if c, ok := q.unheldAt(i); ok {
			out = append(out, c)
		}
	}
	return out
}

func (q *Query) unheldAt(i int) (Claim, bool) {
	c, ok := q.comparisonAt(i)
	if !ok || c.Bare || !q.boundsEvents(i) {
		return Claim{}, false
	}
	unit, to, ok := q.unitAt(c.To)
	if !ok || calendarUnits[unit] != "" && !bearing[q.Word(i-1)] || len(q.quantities.having(unit)) > 0 {
		return Claim{}, false
	}
	if _, _, measured := q.measureAfter(c.To); measured {
		return Claim{}, false
	}
	for to < len(q.Tokens) && q.Joined(to) && (of[q.Word(to)] || of[q.Word(to-1)]) && !q.EventNoun(to) && to < c.To+4 {
		to++ // "25 hours in type", "100 hours of experience"
	}
	if of[q.Word(to-1)] {
		to--
	}
	return Claim{From: i, To: to, Weight: -9, Cannot: &sextant.Unenforceable{Field: unit, Reason: "no field that is held says it; texts may, and are not counted by it"}}, true
}

var (
	bearing = set(`with having had has have where whose`)
	of      = set(`in of on`)
)

// boundsEvents reports whether a bound at i restricts the documents a question asks for:
// their name stands before it, at most a few words away, with nothing that asks between.
func (q *Query) boundsEvents(i int) bool {
	joined := false
	for k := i - 1; k >= 0 && k >= i-5 && q.Joined(k+1); k-- {
		joined = joined || bearing[q.Word(k)] || k == i-1 && q.EventNoun(k)
		if q.EventNoun(k) {
			return joined
		}
	}
	return false
}
