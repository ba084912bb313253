package compute

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// tally is a distribution: how many of what is counted, or how much of what is added
// up, falls into each bucket.
type tally struct {
	buckets []bucket // by falling count and name; in order of time where that is grouped by
	total   int64    // units
	unknown int64    // units in no bucket
	repeats bool     // a unit stands in several buckets
}

type bucket struct {
	key    string
	value  filter.Value   // of a field grouped by its values; zero otherwise
	values []filter.Value // that fall into it, where somebody asked; see valued
	count  int64
}

func (t tally) counts() map[string]int64 {
	out := make(map[string]int64, len(t.buckets))
	for _, b := range t.buckets {
		out[b.key] = b.count
	}
	return out
}

// Intervals that this package makes of others, beside those of the store.
const decade = "decade"

// inTime reports whether a grouping's rows follow each other in time.
func inTime(g constrain.Grouping) bool {
	switch g.By {
	case string(store.Year), string(store.Quarter), string(store.Month), string(store.Day), decade:
		return true
	}
	return false
}

// tally counts units by a grouping.
func (c *computer) tally(g constrain.Grouping, f filter.Filter, unit string) (tally, error) {
	if g.By == decade || g.By == string(store.Hour) {
		return c.folded(g, f, unit)
	}
	facet, err := c.Collection.Facet(c.ctx, store.FacetQuery{Field: g.Field, Filter: f, Unit: unit, By: store.Interval(g.By)})
	if err != nil {
		return tally{}, err
	}
	t := tally{total: facet.Total, unknown: facet.Unknown}
	sum := int64(0)
	for _, b := range facet.Buckets {
		next := bucket{key: b.Value.String(), count: b.Count}
		switch g.By {
		case "":
			next.value = b.Value
		case string(store.MonthOfYear):
			next.key = twoDigits(next.key)
		}
		t.buckets = append(t.buckets, next)
		sum += b.Count
	}
	t.repeats = sum > t.total-t.unknown
	if g.By == "" {
		sortByCount(t.buckets)
	}
	return t, nil
}

func sortByCount(buckets []bucket) {
	slices.SortStableFunc(buckets, func(a, b bucket) int {
		return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.key, b.key))
	})
}

func twoDigits(s string) string {
	if len(s) == 1 {
		return "0" + s
	}
	return s
}

// folded counts by an interval that the store does not know, from the single times. A
// time of exactly midnight is a date without a time of day: it has no hour. Where a
// keyword holds the time of day as a clock shows it ("23:50"), that is read.
func (c *computer) folded(g constrain.Grouping, f filter.Filter, unit string) (tally, error) {
	times, err := c.Collection.Facet(c.ctx, store.FacetQuery{Field: g.Field, Filter: f, Unit: unit})
	if err != nil {
		return tally{}, err
	}
	t := tally{total: times.Total, unknown: times.Unknown}
	counts := map[string]int64{}
	for _, b := range times.Buckets {
		label, ok := bucketLabel(g.By, b.Value)
		if !ok {
			t.unknown += b.Count
			continue
		}
		counts[label] += b.Count
	}
	for key, n := range counts {
		t.buckets = append(t.buckets, bucket{key: key, count: n})
	}
	slices.SortFunc(t.buckets, func(a, b bucket) int { return compareLabels(g.By, a.key, b.key) })
	return t, nil
}

// bucketLabel names the bucket of a value, a time or the time of day as a keyword.
func bucketLabel(by string, v filter.Value) (string, bool) {
	if v.Kind() != filter.Keyword {
		return intervalLabel(by, v.Time())
	}
	t, err := time.Parse("15:04", v.Str())
	return t.Format("15"), err == nil && by == string(store.Hour)
}

// intervalLabel names the bucket of a time, as the store does; false for a time of day
// that is not known.
func intervalLabel(by string, t time.Time) (string, bool) {
	switch by {
	case string(store.Year):
		return strconv.Itoa(t.Year()), true
	case string(store.Quarter):
		return fmt.Sprintf("%d-Q%d", t.Year(), (int(t.Month())+2)/3), true
	case string(store.Month):
		return t.Format("2006-01"), true
	case string(store.Day):
		return t.Format(time.DateOnly), true
	case string(store.MonthOfYear):
		return t.Format("01"), true
	case string(store.Weekday):
		return t.Weekday().String(), true
	case string(store.Hour):
		return t.Format("15"), t.Truncate(24*time.Hour) != t
	case decade:
		return fmt.Sprintf("%ds", t.Year()/10*10), true
	}
	return "", false
}

var weekdays = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// compareLabels puts the labels of an interval in order of time.
func compareLabels(by, a, b string) int {
	if by == string(store.Weekday) {
		return cmp.Compare(slices.Index(weekdays, a), slices.Index(weekdays, b))
	}
	return strings.Compare(a, b)
}

// maxAddends bounds the different values that are added up one by one.
const maxAddends = 5000

// addUp is tally for rows that add up a number of the documents: for each value the
// number has, how many documents of each bucket have it. That is exact, and reads no
// more than the number has different values.
func (c *computer) addUp(g constrain.Grouping, f filter.Filter, of string) (tally, error) {
	values, err := c.Collection.Facet(c.ctx, store.FacetQuery{Field: of, Filter: f})
	if err != nil {
		return tally{}, err
	}
	if len(values.Buckets) > maxAddends {
		return tally{}, fmt.Errorf("%s has %d different values; at most %d are added up by rows: %w", of, len(values.Buckets), maxAddends, store.ErrUnsupported)
	}
	all, err := c.tally(g, f, store.Documents)
	if err != nil {
		return tally{}, err
	}
	sums := map[string]int64{}
	for _, v := range values.Buckets {
		n := int64(v.Value.Float())
		if n == 0 {
			continue
		}
		part, err := c.tally(g, filter.Simplify(filter.And{f, filter.Eq{Field: of, Value: v.Value}}), store.Documents)
		if err != nil {
			return tally{}, err
		}
		for _, b := range part.buckets {
			sums[b.key] += n * b.count
		}
	}
	for i, b := range all.buckets {
		all.buckets[i].count = sums[b.key]
	}
	if g.By == "" {
		sortByCount(all.buckets)
	}
	return all, nil
}
