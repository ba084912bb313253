package constrain

import (
	"fmt"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// A field that is seldom recorded is mostly so in some years and not in others: which ones
// says what a count by it can tell.

// muchUnknown is the part of a collection without a field from which on its coverage by
// period is shown.
const muchUnknown = 0.2

// recorded adds to a constraint of what periods its field is recorded, where much of it is
// not: runs of years of which a similar share is.
func (k *keeper) recorded(c *sextant.Constraint, unknown Compiled, missing int64) error {
	spec := k.collection.Spec()
	if isMention(c.Op) || spec.DateField == "" || c.Field == spec.DateField || len(k.years) < 2 || float64(missing) <= muchUnknown*float64(k.documents) {
		return nil
	}
	without, err := k.collection.Facet(k.ctx, store.FacetQuery{Field: spec.DateField, By: store.Year, Filter: unknown.alone()})
	if err != nil {
		return fmt.Errorf("coverage of %s: %w", c.Field, err)
	}
	blank := map[string]int64{}
	for _, b := range without.Buckets {
		blank[b.Value.Str()] = b.Count
	}
	last := -1
	for _, year := range k.years {
		label := year.Value.Str()
		n := year.Count - blank[label]
		band := bandOf(n, year.Count)
		if band == last {
			run := &c.Recorded[len(c.Recorded)-1]
			run.To, run.Recorded, run.Of = label, run.Recorded+n, run.Of+year.Count
			continue
		}
		last = band
		c.Recorded = append(c.Recorded, sextant.Recorded{From: label, To: label, Recorded: n, Of: year.Count})
	}
	return nil
}

// bandOf tells shares that mean something else: hardly any, some, most, nearly all.
func bandOf(n, of int64) int {
	share, band := float64(n)/float64(max(of, 1)), 0
	for _, edge := range []float64{.1, .5, .9} {
		if share >= edge {
			band++
		}
	}
	return band
}
