package qdrant

import (
	"fmt"
	"strconv"
	"time"

	"github.com/sextant-rag/sextant/store"
)

// intervalOf returns the bucket of an instant, and what buckets are ordered by.
func intervalOf(t time.Time, by store.Interval) (order int64, label string) {
	year, month := int64(t.Year()), int64(t.Month())
	switch by {
	case store.Year:
		return year, fmt.Sprintf("%04d", year)
	case store.Quarter:
		q := (month + 2) / 3
		return 4*year + q, fmt.Sprintf("%04d-Q%d", year, q)
	case store.Month:
		return 12*year + month, fmt.Sprintf("%04d-%02d", year, month)
	case store.Day:
		return 372*year + 31*month + int64(t.Day()), t.Format(time.DateOnly)
	case store.MonthOfYear:
		return month, strconv.FormatInt(month, 10)
	case store.Weekday:
		return int64(t.Weekday()+6) % 7, t.Weekday().String()
	}
	return int64(t.Hour()), strconv.Itoa(t.Hour())
}
