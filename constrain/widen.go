package constrain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// Widenings keep every condition and loosen one: a season to its year, one mark of a model
// to its family. They are counted apart from the relaxations, which drop conditions.

// longestWidened bounds what is widened to years: of a longer stretch the years around it
// say nothing new.
const longestWidened = 24 * 366 // hours

// wider returns the next wider reading of a condition, if it has one.
func wider(c Condition) (Condition, bool) {
	if len(c.Values) != 1 {
		return c, false
	}
	switch v := c.Values[0].(type) {
	case Span:
		if c.Op != sextant.OpBetween || !v.closed() || v.isYear() || v.To.Sub(v.From).Hours() > longestWidened {
			return c, false
		}
		return dateCondition(c.Field, yearSpan(v.To.Year())), true // a winter is named after its January
	case string:
		family, ok := familyOf(v)
		if c.Op != sextant.OpContains || !ok {
			return c, false
		}
		return Contains(c.Field, family), true
	}
	return c, false
}

// familyOf returns what a designation belongs to: "PA-28" of "PA-28-181", "172" of "172N".
func familyOf(s string) (string, bool) {
	if at := strings.LastIndexByte(s, '-'); at > 0 && strings.ContainsAny(s[:at], "0123456789") {
		return s[:at], true
	}
	family := strings.TrimRight(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	return family, len(family) >= 2 && len(family) < len(s) && strings.ContainsAny(family, "0123456789")
}

// widen counts, for each condition that can be widened, what there would be then.
func (k *keeper) widen() error {
	var found []sextant.Widening
	for i := range k.compiled {
		c := k.compiled[i].Constraint
		if c.Negated || c.Narrow != nil {
			continue
		}
		condition, ok := wider(c.Condition)
		if !ok {
			continue
		}
		c.Condition = condition
		compiled, _ := Compile(k.collection.Spec(), k.lexicon, []Constraint{c})
		if len(compiled) != 1 {
			continue
		}
		others := slices.Clone(k.compiled)
		others[i] = compiled[0]
		n, err := k.count(Joint(others))
		if err != nil {
			return err
		}
		if n > 0 {
			found = append(found, sextant.Widening{Field: c.Field, At: k.at[i], Op: c.Op, Values: wireValues(condition), Count: n})
		}
	}
	slices.SortStableFunc(found, func(a, b sextant.Widening) int { return cmp.Compare(a.Count, b.Count) })
	k.ledger.Widenings = append(k.ledger.Widenings, found...)
	return nil
}
