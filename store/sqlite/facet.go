package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Facet implements store.Collection.
func (c *collection) Facet(ctx context.Context, q store.FacetQuery) (store.Facet, error) {
	var out store.Facet
	err := c.look(ctx, func(x *index) error {
		var err error
		out, err = x.facet(q)
		return err
	})
	if err != nil {
		return store.Facet{}, fmt.Errorf("facet of %q: %w", q.Field, err)
	}
	return out, nil
}

// sample is what a facet is counted over: pairs of a unit, which counts once in each
// bucket, and a slot of the field's column, whose values fall into buckets. Units rise.
type sample struct {
	slots  mask     // or units, where unitOf is nil
	unitOf []uint32 // by slot; nil: the unit itself
	slotOf []uint32 // by unit; nil: the slot itself
	total  int64
}

func (s sample) each(f func(unit, slot uint32)) {
	for i := range s.slots.all() {
		switch {
		case s.unitOf != nil:
			f(s.unitOf[i], i)
		case s.slotOf != nil:
			f(i, s.slotOf[i])
		default:
			f(i, i)
		}
	}
}

// sample finds the units of a facet and where their values stand.
func (x *index) sample(f filter.Filter, field filter.Field, unit string) (sample, error) {
	units, err := x.units(f, unit)
	if err != nil {
		return sample{}, err
	}
	s := sample{slots: units, total: units.count()}
	byDocument := unit == "" || unit == store.Documents
	switch {
	case byDocument && field.Group == "", field.Group == unit:
	case field.Group == "":
		s.slotOf = x.groups[unit].parent
	case byDocument:
		g := x.groups[field.Group]
		resolved, err := x.resolve(f)
		if err != nil {
			return s, err
		}
		s.slots = x.matchingElements(resolved, field.Group)
		s.slots.and(g.down(units))
		s.unitOf = g.parent
	default:
		return s, fmt.Errorf("a field of each %s says nothing of one %s: %w", field.Group, unit, filter.ErrSchema)
	}
	return s, nil
}

func (x *index) facet(q store.FacetQuery) (store.Facet, error) {
	field, err := x.plainField(q.Field)
	if err != nil {
		return store.Facet{}, err
	}
	if err := q.CheckBuckets(field.Kind); err != nil {
		return store.Facet{}, err
	}
	s, err := x.sample(q.Filter, field, q.Unit)
	if err != nil {
		return store.Facet{}, err
	}
	out := store.Facet{Total: s.total}
	var known int64
	switch c := x.tableOf(field).columns[q.Field].(type) {
	case *keywords:
		out.Buckets, known = c.facet(s)
	case *numbers:
		switch {
		case q.Ranges != nil:
			out.Buckets, known = c.facetRanges(s, q.Ranges)
		case q.By != "":
			out.Buckets, known = c.facetIntervals(s, intervals[q.By])
		default:
			out.Buckets, known = c.facet(s)
		}
	}
	out.Unknown = s.total - known
	if q.Limit > 0 && q.Ranges == nil && len(out.Buckets) > q.Limit {
		out.Buckets = out.Buckets[:q.Limit]
	}
	return out, nil
}

// tally counts units, each once.
type tally struct {
	count int64
	last  uint32 // unit counted last, +1
}

// see counts a unit and reports whether it is a new one.
func (t *tally) see(unit uint32) {
	if t.last != unit+1 {
		t.count++
		t.last = unit + 1
	}
}

// facet counts by class; a class is shown in the spelling most units have.
func (k *keywords) facet(s sample) ([]store.Bucket, int64) {
	var known tally
	spellings := make([]tally, k.spellings.Len())
	classes := spellings
	if k.classOf != nil {
		classes = make([]tally, k.classes.Len())
	}
	s.each(func(unit, slot uint32) {
		for _, spelling := range k.cells.at(slot) {
			known.see(unit)
			spellings[spelling].see(unit)
			if k.classOf != nil {
				classes[k.classOf[spelling]].see(unit)
			}
		}
	})
	return k.buckets(spellings, classes), known.count
}

// buckets sorts the classes by falling count, then by the spelling shown. Count and
// rank make one number to sort by: a field has thousands of values, most of them rare,
// and comparing their strings took longer than counting.
func (k *keywords) buckets(spellings, classes []tally) []store.Bucket {
	order := k.sorted()
	shown := make([]uint32, len(classes)) // by class: the rank of the spelling, +1
	for rank, spelling := range order.spellings {
		if n := spellings[spelling].count; n > 0 {
			best := &shown[k.class(spelling)]
			if *best == 0 || n > spellings[order.spellings[*best-1]].count {
				*best = uint32(rank) + 1
			}
		}
	}
	var keys []uint64
	for class, t := range classes {
		if t.count > 0 {
			keys = append(keys, uint64(math.MaxUint32-t.count)<<32|uint64(shown[class]-1))
		}
	}
	slices.Sort(keys)
	out := make([]store.Bucket, len(keys))
	for i, key := range keys {
		out[i] = store.Bucket{
			Value: filter.OfString(k.spellings.Str(order.spellings[uint32(key)])),
			Count: math.MaxUint32 - int64(key>>32),
		}
	}
	return out
}

func sortByCount(buckets []store.Bucket) {
	slices.SortFunc(buckets, func(a, b store.Bucket) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.Value.Compare(b.Value))
	})
}

func (c *numbers) facet(s sample) ([]store.Bucket, int64) {
	var known tally
	tallies := map[int64]*tally{}
	s.each(func(unit, slot uint32) {
		for _, key := range c.cells.at(slot) {
			known.see(unit)
			t := tallies[key]
			if t == nil {
				t = &tally{}
				tallies[key] = t
			}
			t.see(unit)
		}
	})
	var out []store.Bucket
	for key, t := range tallies {
		out = append(out, store.Bucket{Value: c.value(key), Count: t.count})
	}
	sortByCount(out)
	return out, known.count
}

// facetIntervals counts by interval, in the order of time.
func (c *numbers) facetIntervals(s sample, by interval) ([]store.Bucket, int64) {
	var known tally
	var buckets window[tally]
	dates := calendar{interval: by}
	s.each(func(unit, slot uint32) {
		for _, key := range c.cells.at(slot) {
			known.see(unit)
			buckets.at(dates.bucketOf(key)).see(unit)
		}
	})
	var out []store.Bucket
	for n, t := range buckets.all() {
		if t.count > 0 {
			out = append(out, store.Bucket{Value: filter.OfString(by.label(n)), Count: t.count})
		}
	}
	return out, known.count
}

func (c *numbers) facetRanges(s sample, ranges []filter.Range) ([]store.Bucket, int64) {
	var known tally
	tallies := make([]tally, len(ranges))
	s.each(func(unit, slot uint32) {
		for _, key := range c.cells.at(slot) {
			known.see(unit)
			for i, r := range ranges {
				if sp, ok := rangeSpan(r); ok && sp.lo <= key && key <= sp.hi {
					tallies[i].see(unit)
				}
			}
		}
	})
	out := make([]store.Bucket, len(ranges))
	for i := range tallies {
		out[i].Count = tallies[i].count
	}
	return out, known.count
}
