package chroma

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Count implements store.Collection. Documents without a condition are counted by the
// ids on the server.
func (c *collection) Count(ctx context.Context, f filter.Filter, unit string) (int64, error) {
	var n int64
	need := viewed
	if isDocuments(unit) && filter.IsAll(f) {
		need = listed
	}
	err := c.look(ctx, need, func() error {
		if need == listed {
			n = int64(len(c.directory))
			return nil
		}
		f, err := c.view.resolve(f)
		if err == nil {
			err = c.view.checkUnit(unit)
		}
		switch {
		case err != nil:
		case isDocuments(unit):
			n = c.view.matching(f).count()
		default:
			n = int64(len(c.view.elements(f, unit)))
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	return n, nil
}

// Facet implements store.Collection.
func (c *collection) Facet(ctx context.Context, q store.FacetQuery) (store.Facet, error) {
	var out store.Facet
	err := c.look(ctx, viewed, func() (err error) {
		out, err = c.view.facet(q)
		return err
	})
	if err != nil {
		return store.Facet{}, fmt.Errorf("facet of %q: %w", q.Field, err)
	}
	return out, nil
}

func (v *view) facet(q store.FacetQuery) (store.Facet, error) {
	field, err := v.field(q.Field)
	if err == nil {
		err = q.CheckBuckets(field.Kind)
	}
	if err == nil {
		err = v.checkUnit(q.Unit)
	}
	var f filter.Filter
	if err == nil {
		f, err = v.resolve(q.Filter)
	}
	var units [][]filter.Value
	if err == nil {
		units, err = v.values(f, field, q.Unit)
	}
	if err != nil {
		return store.Facet{}, err
	}
	out := store.Facet{Total: int64(len(units))}
	for _, values := range units {
		if len(values) == 0 {
			out.Unknown++
		}
	}
	switch {
	case q.Ranges != nil:
		out.Buckets = rangeBuckets(units, q.Ranges)
		return out, nil
	case q.By != "":
		out.Buckets = intervalBuckets(units, q.By)
	case field.Kind == filter.Keyword:
		out.Buckets = keywordBuckets(units, field)
	default:
		out.Buckets = valueBuckets(units)
	}
	if q.Limit > 0 && len(out.Buckets) > q.Limit {
		out.Buckets = out.Buckets[:q.Limit]
	}
	return out, nil
}

func rangeBuckets(units [][]filter.Value, ranges []filter.Range) []store.Bucket {
	out := make([]store.Bucket, len(ranges))
	for _, values := range units {
		for i, r := range ranges {
			if slices.ContainsFunc(values, r.Includes) {
				out[i].Count++
			}
		}
	}
	return out
}

// tally counts in how many units each key occurs.
func tally[K comparable](units [][]filter.Value, keyOf func(filter.Value) K) map[K]int64 {
	counts, last := map[K]int64{}, map[K]int{}
	for i, values := range units {
		for _, v := range values {
			if k := keyOf(v); last[k] != i+1 {
				counts[k]++
				last[k] = i + 1
			}
		}
	}
	return counts
}

func itself(v filter.Value) filter.Value { return v }

func valueBuckets(units [][]filter.Value) []store.Bucket {
	var out []store.Bucket
	for v, n := range tally(units, itself) {
		out = append(out, store.Bucket{Value: v, Count: n})
	}
	sortByCount(out)
	return out
}

// keywordBuckets counts keywords by what their fold makes of them, and shows the
// spelling that most units have.
func keywordBuckets(units [][]filter.Value, field filter.Field) []store.Bucket {
	classes := tally(units, func(v filter.Value) string { return field.Fold.Of(v.Str()) })
	type spelling struct {
		value filter.Value
		count int64
	}
	shown := map[string]spelling{}
	for v, n := range tally(units, itself) {
		class := field.Fold.Of(v.Str())
		if s, ok := shown[class]; !ok || n > s.count || n == s.count && v.Compare(s.value) < 0 {
			shown[class] = spelling{v, n}
		}
	}
	out := make([]store.Bucket, 0, len(classes))
	for class, n := range classes {
		out = append(out, store.Bucket{Value: shown[class].value, Count: n})
	}
	sortByCount(out)
	return out
}

func sortByCount(buckets []store.Bucket) {
	slices.SortFunc(buckets, func(a, b store.Bucket) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.Value.Compare(b.Value))
	})
}

// bucket is an interval: where it stands among the others, and its label.
type bucket struct {
	order int64
	label string
}

var intervals = map[store.Interval]func(t time.Time) bucket{
	store.Year: func(t time.Time) bucket { return bucket{int64(t.Year()), fmt.Sprintf("%04d", t.Year())} },
	store.Quarter: func(t time.Time) bucket {
		q := int(t.Month()-1) / 3
		return bucket{int64(4*t.Year() + q), fmt.Sprintf("%04d-Q%d", t.Year(), q+1)}
	},
	store.Month: func(t time.Time) bucket {
		return bucket{int64(12*t.Year() + int(t.Month())), fmt.Sprintf("%04d-%02d", t.Year(), int(t.Month()))}
	},
	store.Day: func(t time.Time) bucket {
		return bucket{t.Truncate(24 * time.Hour).Unix(), t.Format(time.DateOnly)}
	},
	store.MonthOfYear: func(t time.Time) bucket { return bucket{int64(t.Month()), strconv.Itoa(int(t.Month()))} },
	store.Weekday:     func(t time.Time) bucket { return bucket{int64(t.Weekday()+6) % 7, t.Weekday().String()} },
	store.Hour:        func(t time.Time) bucket { return bucket{int64(t.Hour()), strconv.Itoa(t.Hour())} },
}

func intervalBuckets(units [][]filter.Value, by store.Interval) []store.Bucket {
	counts := tally(units, func(v filter.Value) bucket { return intervals[by](v.Time()) })
	var out []store.Bucket
	for _, b := range slices.SortedFunc(maps.Keys(counts), func(a, b bucket) int { return cmp.Compare(a.order, b.order) }) {
		out = append(out, store.Bucket{Value: filter.OfString(b.label), Count: counts[b]})
	}
	return out
}

// Sum implements store.Collection.
func (c *collection) Sum(ctx context.Context, f filter.Filter, field string) (store.Sum, error) {
	var s store.Sum
	err := c.look(ctx, viewed, func() (err error) {
		s, err = c.view.sum(f, field)
		return err
	})
	if err != nil {
		return store.Sum{}, fmt.Errorf("sum: %w", err)
	}
	return s, nil
}

func (v *view) sum(f filter.Filter, name string) (store.Sum, error) {
	field, err := v.field(name)
	if err != nil {
		return store.Sum{}, err
	}
	if field.Kind == filter.Keyword || field.Kind == filter.Bool {
		return store.Sum{}, fmt.Errorf("field %q is %s and cannot be added up: %w", name, field.Kind, filter.ErrSchema)
	}
	if f, err = v.resolve(f); err != nil {
		return store.Sum{}, err
	}
	units, err := v.values(f, field, field.Group)
	if err != nil {
		return store.Sum{}, err
	}
	return added(units), nil
}

// added adds up with the compensation of Neumaier (1974), so that the order of values
// hardly shows in the total.
func added(units [][]filter.Value) store.Sum {
	var s store.Sum
	lost := 0.0
	for _, values := range units {
		for _, v := range values {
			if s.Known == 0 {
				s.Min, s.Max = v, v
			}
			if v.Compare(s.Min) < 0 {
				s.Min = v
			}
			if v.Compare(s.Max) > 0 {
				s.Max = v
			}
			s.Known++
			x := v.Float()
			t := s.Total + x
			if max(s.Total, -s.Total) >= max(x, -x) {
				lost += s.Total - t + x
			} else {
				lost += x - t + s.Total
			}
			s.Total = t
		}
	}
	if lost == lost { // sums with infinities have no remainder
		s.Total += lost
	}
	return s
}
