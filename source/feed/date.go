package feed

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	isoDate = regexp.MustCompile(`^(\d{4})(?:-?(\d{2})(?:-?(\d{2}))?)?(?:[Tt ]+(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,]\d+)?)?)?\s*(.*)$`)
	clock   = regexp.MustCompile(`^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?$`)
	offset  = regexp.MustCompile(`^(?:GMT|UTC|UT|Z)?([+-])(\d{1,2}):?(\d{2})?$`)
)

// zones are the names of RFC 822, and those of Europe that feeds use, in seconds east.
// One-letter zones are left out: RFC 822 has their signs wrong, RFC 2822 calls them void.
var zones = map[string]int{
	"": 0, "Z": 0, "UT": 0, "UTC": 0, "GMT": 0, "WET": 0,
	"EST": -5 * 3600, "EDT": -4 * 3600, "ET": -5 * 3600, "CST": -6 * 3600, "CDT": -5 * 3600, "CT": -6 * 3600,
	"MST": -7 * 3600, "MDT": -6 * 3600, "MT": -7 * 3600, "PST": -8 * 3600, "PDT": -7 * 3600, "PT": -8 * 3600,
	"AKST": -9 * 3600, "AKDT": -8 * 3600, "HST": -10 * 3600,
	"BST": 3600, "WEST": 3600, "CET": 3600, "CEST": 2 * 3600, "MEZ": 3600, "MESZ": 2 * 3600, "EET": 2 * 3600, "EEST": 3 * 3600,
	"MSK": 3 * 3600, "JST": 9 * 3600, "KST": 9 * 3600, "AEST": 10 * 3600, "AEDT": 11 * 3600, "NZST": 12 * 3600, "NZDT": 13 * 3600,
}

// ParseDate reads a feed's date in the forms of RFC 822, RFC 3339 and asctime and in the
// wrong ones seen in feeds: day and month exchanged, commas anywhere, capitals, offsets
// with a colon, no zone or an unknown one (taken as UTC). ok is false for what is no date,
// for years before 1990 (no feed is older) and for the null dates 1970-01-01 and
// 0001-01-01: such an entry is undated. The result is in UTC.
func ParseDate(text string) (t time.Time, ok bool) {
	text = strings.Join(strings.Fields(text), " ")
	if m := isoDate.FindStringSubmatch(text); m != nil && len(text) <= 64 {
		if east, known := zone(m[7]); known || m[4] != "" {
			return build(number(m[1]), max(1, number(m[2])), max(1, number(m[3])), number(m[4]), number(m[5]), number(m[6]), east)
		}
	}
	return parseWords(text)
}

// parseWords takes a date apart by what its words look like, not by where they stand.
func parseWords(text string) (time.Time, bool) {
	if len(text) > 64 {
		return time.Time{}, false
	}
	var year, month, day, hour, minute, second, east int
	for i, word := range strings.FieldsFunc(strings.ToUpper(text), func(r rune) bool { return r == ',' || r == ' ' || r == '/' }) {
		for _, w := range dashed(word) {
			if m := clock.FindStringSubmatch(w); m != nil {
				hour, minute, second = number(m[1]), number(m[2]), number(m[3])
				continue
			}
			n, err := strconv.Atoi(w)
			signed := strings.HasPrefix(w, "+") || strings.HasPrefix(w, "-")
			switch named := monthNamed(w); {
			case named > 0 && month == 0:
				month = named
			case err == nil && !signed && len(w) <= 2 && day == 0:
				day = n
			case err == nil && !signed && year == 0:
				year = fullYear(n, len(w))
			case i > 0 && (signed || hour+minute > 0 || year > 0):
				if seconds, known := zone(w); known {
					east = seconds
				}
			}
		}
	}
	return build(year, month, day, hour, minute, second, east)
}

// dashed splits "06-FEB-2026" but not the sign of an offset.
func dashed(word string) []string {
	if parts := strings.Split(word, "-"); len(parts) == 3 && monthNamed(parts[1]) > 0 {
		return parts
	}
	return []string{word}
}

func fullYear(n, digits int) int {
	switch {
	case digits > 2:
		return n
	case n >= 90:
		return 1900 + n
	}
	return 2000 + n
}

func monthNamed(word string) int {
	if len(word) < 3 {
		return 0
	}
	for m := time.January; m <= time.December; m++ {
		if name := strings.ToUpper(m.String()); strings.HasPrefix(name, strings.TrimSuffix(word, ".")) || word == "SEPT" && m == time.September {
			return int(m)
		}
	}
	return 0
}

// zone returns the seconds east of UTC.
func zone(word string) (int, bool) {
	word = strings.ToUpper(strings.TrimSpace(word))
	if m := offset.FindStringSubmatch(word); m != nil {
		seconds := number(m[2])*3600 + number(m[3])*60
		if m[1] == "-" {
			seconds = -seconds
		}
		return seconds, seconds >= -15*3600 && seconds <= 15*3600
	}
	seconds, known := zones[word]
	return seconds, known
}

func build(year, month, day, hour, minute, second, east int) (time.Time, bool) {
	if second == 60 { // a leap second
		second = 59
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.FixedZone("", east))
	if t.Day() != day || int(t.Month()) != month || hour > 24 || minute > 59 || second > 59 || year < 1990 || year > 9000 {
		return time.Time{}, false
	}
	return t.UTC(), true
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the patterns let nothing else through; "" is 0
	return n
}
