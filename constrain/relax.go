package constrain

import (
	"cmp"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// maxTried bounds the sets that are counted in search of a relaxation. Ten constraints
// have fewer; of more, sets so large are not a near miss any more.
const maxTried = 1023

// relax finds every smallest set of constraints whose removal gives something, and
// what values the dropped field then has.
func (k *keeper) relax() error {
	n := len(k.compiled)
	sets, tried := 1, 0
	for size := 1; size < n; size++ { // dropping all is no relaxation but another question
		sets = sets * (n - size + 1) / size
		if tried += sets; tried > maxTried {
			return nil
		}
		found, err := k.relaxBy(size)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			slices.SortStableFunc(found, func(a, b sextant.Relaxation) int { return cmp.Compare(a.Count, b.Count) })
			k.ledger.Relaxations = append(k.ledger.Relaxations, found...)
			return k.available(found)
		}
	}
	return nil
}

func (k *keeper) relaxBy(size int) ([]sextant.Relaxation, error) {
	var out []sextant.Relaxation
	for drop := range subsets(len(k.compiled), size) {
		var kept []Compiled
		r := sextant.Relaxation{}
		for i, c := range k.compiled {
			if slices.Contains(drop, i) {
				r.Drop, r.DropAt = append(r.Drop, c.Field), append(r.DropAt, k.at[i])
				continue
			}
			kept = append(kept, c)
		}
		var err error
		if r.Count, err = k.count(Joint(kept)); err != nil {
			return nil, err
		}
		if r.Count > 0 {
			out = append(out, r)
		}
	}
	return out, nil
}

// subsets yields the index sets of the given size in lexical order.
func subsets(n, size int) func(func([]int) bool) {
	return func(yield func([]int) bool) {
		set := make([]int, size)
		var place func(at, from int) bool
		place = func(at, from int) bool {
			if at == size {
				return yield(set)
			}
			for i := from; i < n; i++ {
				set[at] = i
				if !place(at+1, i+1) {
					return false
				}
			}
			return true
		}
		place(0, 0)
	}
}

const maxAvailable = 12

// available lists, for each single constraint whose removal helps, the values its
// field has under the others.
func (k *keeper) available(found []sextant.Relaxation) error {
	spec := k.collection.Spec()
	for _, r := range found {
		if len(r.Drop) != 1 {
			continue
		}
		field, ok := spec.Schema.Field(r.Drop[0])
		if !ok || len(field.AnyOf) > 0 {
			continue
		}
		var kept []Compiled
		for i, c := range k.compiled {
			if k.at[i] != r.DropAt[0] {
				kept = append(kept, c)
			}
		}
		q := store.FacetQuery{Field: field.Name, Filter: Joint(kept)}
		if field.Kind == filter.Time {
			q.By = store.Year
		} else {
			q.Limit = maxAvailable
		}
		facet, err := k.collection.Facet(k.ctx, q)
		if err != nil {
			return err
		}
		k.ledger.Available = append(k.ledger.Available, sextant.Available{Field: field.Name, Values: pairs(facet.Buckets)})
	}
	return nil
}

func pairs(buckets []store.Bucket) [][]any {
	out := make([][]any, len(buckets))
	for i, b := range buckets {
		out[i] = []any{b.Value, b.Count}
	}
	return out
}
