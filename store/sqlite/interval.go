package sqlite

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/sextant-rag/sextant/store"
)

// interval puts the days or the hours of instants into numbered buckets that sort in
// order of time.
type interval struct {
	ofDay func(t time.Time) int64 // nil: by the hour of the day
	label func(b int64) string
}

const (
	microsPerHour = int64(time.Hour / time.Microsecond)
	microsPerDay  = 24 * microsPerHour
)

var intervals = map[store.Interval]interval{
	store.Year:    {func(t time.Time) int64 { return int64(t.Year()) }, func(b int64) string { return fmt.Sprintf("%04d", b) }},
	store.Quarter: {func(t time.Time) int64 { return int64(4*t.Year() + int(t.Month()-1)/3) }, func(b int64) string { return fmt.Sprintf("%04d-Q%d", floorDiv(b, 4), b-4*floorDiv(b, 4)+1) }},
	store.Month:   {func(t time.Time) int64 { return int64(12*t.Year() + int(t.Month()) - 1) }, func(b int64) string { return fmt.Sprintf("%04d-%02d", floorDiv(b, 12), b-12*floorDiv(b, 12)+1) }},
	store.Day:     {func(t time.Time) int64 { return floorDiv(t.Unix(), 86400) }, func(b int64) string { return dayOf(b).Format(time.DateOnly) }},

	store.MonthOfYear: {func(t time.Time) int64 { return int64(t.Month()) }, func(b int64) string { return strconv.FormatInt(b, 10) }},
	store.Weekday:     {func(t time.Time) int64 { return int64(t.Weekday()+6) % 7 }, func(b int64) string { return time.Weekday((b + 1) % 7).String() }},
	store.Hour:        {nil, func(b int64) string { return strconv.FormatInt(b, 10) }},
}

// dayOf returns the beginning of a day, counted from 1970.
func dayOf(day int64) time.Time { return time.Unix(day*86400, 0).UTC() }

// calendar puts instants into the buckets of an interval. The calendar is asked once a
// day that occurs: a facet over years would else spend all its time on it.
type calendar struct {
	interval
	days window[int64] // the bucket of each day asked for
}

func (c *calendar) bucketOf(micros int64) int64 {
	day := floorDiv(micros, microsPerDay)
	if c.ofDay == nil {
		return (micros - day*microsPerDay) / microsPerHour
	}
	// Buckets may be negative or zero: zero in the window means not asked yet, so that
	// these are asked for again and again, which costs only time.
	b := c.days.at(day)
	if *b == 0 {
		*b = c.ofDay(dayOf(day))
	}
	return *b
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// window is numbered items of which most are near each other: a list that grows to both
// sides. The days from ten thousand years before 1970 to ten thousand after are
// 7 million, which is as bad as it gets; items beyond are kept apart.
type window[T any] struct {
	first int64
	list  []T
	far   map[int64]*T
}

const windowReach = 3_650_000

// at returns an item, valid until the next call.
func (w *window[T]) at(n int64) *T {
	i := n - w.first
	switch {
	case n < -windowReach || n > windowReach:
		return w.beyond(n)
	case len(w.list) == 0:
		w.first = n
		w.list = make([]T, 1, 64)
	case i < 0:
		more := max(-i, int64(len(w.list)))
		grown := make([]T, more+int64(len(w.list)))
		copy(grown[more:], w.list)
		w.first, w.list = w.first-more, grown
	case i >= int64(len(w.list)):
		w.list = append(w.list, make([]T, i+1-int64(len(w.list)))...)
	}
	return &w.list[n-w.first]
}

func (w *window[T]) beyond(n int64) *T {
	if w.far == nil {
		w.far = map[int64]*T{}
	}
	if w.far[n] == nil {
		w.far[n] = new(T)
	}
	return w.far[n]
}

// all yields the items in the order of their numbers, empty ones included.
func (w *window[T]) all() iter.Seq2[int64, *T] {
	return func(yield func(int64, *T) bool) {
		far := slices.Sorted(maps.Keys(w.far))
		later, _ := slices.BinarySearch(far, 0)
		for _, n := range far[:later] {
			if !yield(n, w.far[n]) {
				return
			}
		}
		for i := range w.list {
			if !yield(w.first+int64(i), &w.list[i]) {
				return
			}
		}
		for _, n := range far[later:] {
			if !yield(n, w.far[n]) {
				return
			}
		}
	}
}
