package table

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Moment is a date with, if it is written, the time of day and its zone.
type Moment struct {
	Date
	Clock   time.Duration // since midnight
	Clocked bool
	Zone    string        // as written: "Z", "+02:00", "EST"; "" says none
	Offset  time.Duration // of the zone, east of UTC
}

// Local returns the clock's reading as if it were UTC: what people who wrote the table
// call that moment, and what dates in questions are compared with.
func (m Moment) Local() time.Time { return m.Time().Add(m.Clock) }

// UTC returns the moment itself, for columns that mix zones.
func (m Moment) UTC() time.Time { return m.Local().Add(-m.Offset) }

// timeOfDay is a time of day at the end of a text, after a blank, a T or a comma.
var timeOfDay = regexp.MustCompile(`(?i)(?:[T ,]\s*|^)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(?:([ap])\.?m\.?)?\s*(Z|[A-Z]{3,4}|(?:UTC|GMT)?[+-]\d{2}:?\d{2}|[+-]\d{2})?$`)

var (
	weekday = regexp.MustCompile(`(?i)^(mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun|(mon|tues|wednes|thurs|fri|satur|sun)day)[.,]*\s+`)
	ordinal = regexp.MustCompile(`(?i)\b(\d{1,2})(st|nd|rd|th)\b( of\b)?`)
)

// zones are the abbreviations that RFC 5322 knows, and Central Europe's.
var zones = map[string]int{"Z": 0, "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "CET": 1, "CEST": 2}

// maxMoment is the longest text that is tried as a date.
const maxMoment = 64

// ParseMoment reads a date as ParseDate does, with a weekday before it, ordinals
// ("January 3rd, 2024") and a time of day in 12 or 24 hours after it, with or without a
// zone. latest decides two-digit years: they are the last that is not after it.
func ParseMoment(text string, order Order, latest time.Time) (Moment, bool) {
	if len(text) > maxMoment || len(text) < 4 {
		return Moment{}, false
	}
	if m, ok := isoDay(text); ok {
		return m, true
	}
	var m Moment
	text = weekday.ReplaceAllString(strings.TrimSpace(text), "")
	if strings.IndexByte(text, ':') > 0 {
		at := timeOfDay.FindStringSubmatchIndex(text)
		if at == nil || !m.setClock(text, at) {
			return Moment{}, false
		}
		text = strings.TrimRight(text[:at[0]], " ,")
	}
	if strings.ContainsAny(text, "tTdDhH") {
		text = ordinal.ReplaceAllString(text, "$1")
	}
	d, ok := ParseDate(text, order, latest)
	m.Date = d
	return m, ok && (m.Month != 0 || !m.Clocked)
}

// isoDay reads 2006-01-02 alone, the commonest form.
func isoDay(text string) (Moment, bool) {
	if len(text) != len(time.DateOnly) || text[4] != '-' || text[7] != '-' {
		return Moment{}, false
	}
	d, ok := parseISO(text)
	return Moment{Date: d}, ok && valid(d)
}

func (m *Moment) setClock(text string, at []int) bool {
	part := func(i int) string {
		if at[2*i] < 0 {
			return ""
		}
		return text[at[2*i]:at[2*i+1]]
	}
	hour, _ := strconv.Atoi(part(1)) // digits, as all of these
	minute, _ := strconv.Atoi(part(2))
	second, _ := strconv.Atoi(part(3))
	nanos, _ := strconv.Atoi((part(4) + "000000000")[:9])
	if half := strings.ToLower(part(5)); half != "" {
		if hour < 1 || hour > 12 {
			return false
		}
		hour %= 12
		if half == "p" {
			hour += 12
		}
	}
	if hour > 24 || minute > 59 || second > 60 || hour == 24 && minute+second > 0 {
		return false
	}
	m.Clock = time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second + time.Duration(nanos)
	m.Clocked = true
	return m.setZone(part(6))
}

func (m *Moment) setZone(zone string) bool {
	if zone == "" {
		return true
	}
	m.Zone = zone
	if hours, ok := zones[strings.ToUpper(zone)]; ok {
		m.Offset = time.Duration(hours) * time.Hour
		return true
	}
	digits := strings.NewReplacer("UTC", "", "GMT", "", ":", "").Replace(strings.ToUpper(zone))
	if len(digits) != 3 && len(digits) != 5 || digits[0] != '+' && digits[0] != '-' {
		return false
	}
	n, err := strconv.Atoi((digits[1:] + "00")[:4])
	if err != nil || n%100 > 59 || n > 1400 {
		return false
	}
	m.Offset = time.Duration(n/100)*time.Hour + time.Duration(n%100)*time.Minute
	if digits[0] == '-' {
		m.Offset = -m.Offset
	}
	return true
}

// compactDate reads 20060102. Digits alone are a date only where their column says so.
func compactDate(text string) (Moment, bool) {
	if len(text) != 8 {
		return Moment{}, false
	}
	t, err := time.Parse("20060102", text)
	if err != nil || t.Year() < 1800 || t.Year() > 2200 {
		return Moment{}, false
	}
	return Moment{Date: Date{t.Year(), t.Month(), t.Day()}}, true
}

// epoch reads seconds or milliseconds since 1970, of the years 1990 to 2100.
func epoch(text string) (Moment, bool) {
	n, ok := plainInt(text)
	switch {
	case !ok:
		return Moment{}, false
	case len(text) == 13:
		n *= 1000
	case len(text) == 9 || len(text) == 10:
		n *= 1_000_000
	default:
		return Moment{}, false
	}
	t := time.UnixMicro(n).UTC()
	if t.Year() < 1990 || t.Year() > 2100 {
		return Moment{}, false
	}
	midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	return Moment{Date: Date{t.Year(), t.Month(), t.Day()}, Clock: t.Sub(midnight), Clocked: true, Zone: "Z"}, true
}
