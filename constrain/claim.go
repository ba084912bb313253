package constrain

import (
	"cmp"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Condition is what a claim states about one field.
type Condition struct {
	Field   string
	Op      sextant.Op
	Values  []any // strings, ints, floats, bools, or Span for dates
	Implied bool  // brought along by a name and not said: an SR22 is a Cirrus
	Assumed string
	Note    string        // what to say of it: "month first", "the country"
	Role    sextant.Role  // of a condition on texts: the collections it is about; "" is any
	Narrow  filter.Filter // where the condition is narrower than its operator can say; see join
}

// Is builds the condition that a field has one of values.
func Is(field string, values ...any) Condition {
	if len(values) == 1 {
		return Condition{Field: field, Op: sextant.OpEq, Values: values}
	}
	return Condition{Field: field, Op: sextant.OpIn, Values: values}
}

// Contains builds the condition that a field contains one of the values.
func Contains(field string, values ...any) Condition {
	return Condition{Field: field, Op: sextant.OpContains, Values: values}
}

// Claim says what a run of tokens means. A claim without conditions and without a
// request keeps words that look like a condition from being read as one.
type Claim struct {
	From, To   int // tokens, half open
	Conditions []Condition
	Weight     int                    // among claims of equal length the heavier wins
	Request    *Request               // what the words ask to be computed
	Drop       bool                   // the words belong to no content query either ("how many")
	Others     []Condition            // other readings of the same words, to be counted and shown
	Unknown    *sextant.UnknownValue  // the words stand where a value should and match none; the nearest are found later
	Cannot     *sextant.Unenforceable // the words are a condition no field holds
	Apart      bool                   // counts only where nothing but other conditions stands beside it
	Weak       Weakness               // whether the words need company to be a condition
	Negated    bool                   // set by composition, or by a recognizer that read the negation itself
}

// Weakness says how far words are from being a condition by themselves. Weak claims count
// only where something else ties the question to the records.
type Weakness uint8

// The degrees of weakness.
const (
	Firm     Weakness = iota
	WeakNoun          // plain words; what no further noun follows is what the question is about: "landing", "jet"
	WeakName          // a name or year of anything, wherever it stands: "Georgia", "the 2015 manual"
)

func (c Claim) length() int { return c.To - c.From }

// choose keeps a set of claims that do not overlap: longest first, then heaviest,
// then leftmost. The result is in the order of the question. A claim outside the
// question's n tokens is no claim.
func choose(claims []Claim, n int) []Claim {
	slices.SortStableFunc(claims, func(a, b Claim) int {
		return cmp.Or(cmp.Compare(b.length(), a.length()), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.From, b.From))
	})
	var kept []Claim
	taken := make([]bool, n)
	for _, c := range claims {
		if c.From < 0 || c.To > n || c.From >= c.To || slices.Contains(taken[c.From:c.To], true) {
			continue
		}
		for i := c.From; i < c.To; i++ {
			taken[i] = true
		}
		kept = append(kept, c)
	}
	slices.SortFunc(kept, func(a, b Claim) int { return cmp.Compare(a.From, b.From) })
	return kept
}
