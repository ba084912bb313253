package aviation

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/sextant-rag/sextant/filter"
)

// clean drops what no cell should hold: control characters, no-break blanks (made
// plain ones), and blanks around it.
func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\u00a0' || r == '\t':
			return ' '
		case unicode.IsControl(r), r == '\ufeff', r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s))
}

// cleanText is clean for running text: the line breaks stay, all written as \n.
func cleanText(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = clean(line)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// readSeverity reads Injury.Severity. The word is compared whole, since "Non-Fatal"
// contains the other one; "Minor" and "Serious", which some exports have, are not fatal.
func readSeverity(s string) (string, bool) {
	word, _, _ := strings.Cut(strings.ToLower(s), "(")
	switch strings.TrimSpace(word) {
	case "fatal", "fatl":
		return "fatal", true
	case "non-fatal", "nonfatal", "minor", "serious", "none", "minr", "sers":
		return "nonfatal", true
	case "incident":
		return "incident", true
	case "unavailable", "unk", "unkn", "unknown":
		return "unavailable", true
	}
	return "", false
}

// noAirport and noRegistration are cells that say there is none or nobody knows, and
// for registrations the services that fly without. Compared squeezed.
var (
	noAirport      = set("", "NA", "NONE", "PVT", "PRIV", "PRIVATE", "UNK", "UNKN", "UNKNOWN", "XXX")
	noAirportName  = set("", "NA", "NONE", "UNK", "UNKNOWN")
	noRegistration = set("", "NA", "NONE", "UNK", "UNKNOWN", "USAF", "USN", "USA", "USMC", "USCG", "AFNG", "ARNG", "ANG")
)

func set(words ...string) map[string]bool {
	out := make(map[string]bool, len(words))
	for _, w := range words {
		out[w] = true
	}
	return out
}

// spreadsheetNumber is an airport code such as 1E6 after a spreadsheet took it for a
// number; which code it was cannot be told.
var spreadsheetNumber = regexp.MustCompile(`^\d\.\d+E\+\d+$`)

// readAirportCode returns the code in capitals without the leading K of a four-letter one.
func readAirportCode(s string) (code string, ok bool) {
	s = strings.ToUpper(s)
	if noAirport[filter.Squeeze.Of(s)] {
		return "", true
	}
	if spreadsheetNumber.MatchString(s) {
		return "", false
	}
	if len(s) == 4 && s[0] == 'K' {
		s = s[1:]
	}
	return s, true
}

func readAirportName(s string) string {
	if noAirportName[filter.Squeeze.Of(s)] {
		return ""
	}
	return s
}

func readRegistration(s string) string {
	folded := filter.Squeeze.Of(s)
	if noRegistration[folded] || strings.HasPrefix(folded, "UNREG") {
		return ""
	}
	return strings.ToUpper(s)
}

// readCount reads a number of people or engines: whole, not negative, perhaps written 2.0.
func readCount(s string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, ".0"), 10, 32)
	return n, err == nil && n >= 0
}

// readClock reads a time of day in digits ("1545", "1545.0", "15:45") as "15:45".
func readClock(s string) (string, bool) {
	s = strings.TrimSuffix(strings.ReplaceAll(s, ":", ""), ".0")
	if len(s) < 3 { // minutes past midnight lose their zeros in the tables
		s = strings.Repeat("0", 3-len(s)) + s
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n/100 > 24 || n%100 > 59 || len(s) > 4 {
		return "", false
	}
	return fmt.Sprintf("%02d:%02d", n/100, n%100), true
}

// readLevel reads the worst injury in CAROL's words or the tables' codes. "None" is a
// level like any other.
func readLevel(s string) string {
	switch s = strings.ToLower(s); s {
	case "fatl":
		return "fatal"
	case "sers":
		return "serious"
	case "minr":
		return "minor"
	case "unk", "unkn":
		return "unknown"
	}
	return s
}

// readLink keeps a web address and nothing else.
func readLink(s string) string {
	if u, err := url.Parse(s); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil {
		return s
	}
	return ""
}

var sexagesimal = regexp.MustCompile(`^(\d{2,3})(\d{2})(\d{2})([NSEWnsew])$`)

// readDegrees reads degrees as a decimal number, or in degrees, minutes and seconds as the
// tables write them: 0701128W.
func readDegrees(s string, limit float64) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if m := sexagesimal.FindStringSubmatch(s); m != nil {
		d, _ := strconv.Atoi(m[1])
		minutes, _ := strconv.Atoi(m[2])
		seconds, _ := strconv.Atoi(m[3])
		if f, err = float64(d)+float64(minutes)/60+float64(seconds)/3600, nil; strings.ContainsAny(m[4], "SWsw") {
			f = -f
		}
		if minutes > 59 || seconds > 59 {
			return 0, false
		}
	}
	return f, err == nil && f >= -limit && f <= limit
}

var farPart = regexp.MustCompile(`^(?:Part )?0*(\d+)(?: Subpart )?([A-Z]?)(?:$|[^A-Za-z0-9])`)

// farParts reads the parts of 14 CFR out of the recorded operating rule: "Part 91
// Subpart K: Fractional" is 91 and 91K, since what is under 91K is under 91.
func farParts(description string) []string {
	m := farPart.FindStringSubmatch(description)
	switch {
	case m == nil:
		return nil
	case m[2] == "":
		return []string{m[1]}
	}
	return []string{m[1], m[1] + m[2]}
}

// place cuts a location at its last comma. City is in capitals, state two letters of
// the United States; whatever is not there is "".
func place(location, country string) (city, state string) {
	head, tail := "", location
	if i := strings.LastIndexByte(location, ','); i >= 0 {
		head, tail = location[:i], location[i+1:]
	}
	if head == "" {
		head = location
	}
	city = strings.ToUpper(strings.TrimSpace(head))
	tail = strings.ToUpper(strings.TrimSpace(tail))
	if len(tail) == 2 && isLetter(tail[0]) && isLetter(tail[1]) && strings.EqualFold(country, "United States") {
		state = tail
	}
	return city, state
}

func isLetter(b byte) bool { return b >= 'A' && b <= 'Z' }

// deriveOwn sets the event's fields that follow from others.
func deriveOwn(f filter.Fields) {
	city, state := place(f.One("location").Str(), f.One("country").Str())
	setKeyword(f, "city", city)
	setKeyword(f, "state", state)
	if date := f.One("event_date"); !date.IsZero() && f.One("event_date_precision").Str() != "year" {
		f.Set("event_month", filter.OfInt(int64(date.Time().Month())))
	}
	setKeyword(f, "injuries", injuries(f))
}

// injuries sums the counts up: "any" if somebody was hurt, "none" if the record says so or
// people are recorded and nobody was, "" if it does not tell: a blank is no "none".
func injuries(f filter.Fields) string {
	hurt := f.One("fatal_count").Int() + f.One("serious_count").Int() + f.One("minor_count").Int()
	severity := f.One("severity").Str()
	switch level := f.One("highest_injury").Str(); {
	case hurt > 0 || severity == "fatal" || level == "serious" || level == "minor":
		return "any"
	case level == "none":
		return "none"
	case (severity == "nonfatal" || severity == "incident") && f.One("uninjured_count").Int() > 0:
		return "none"
	}
	return ""
}

// deriveElement sets the aircraft's fields that follow from others.
func deriveElement(f filter.Fields) {
	setKeyword(f, "make", Maker(f.One("make_recorded").Str()))
	setKeywords(f, "far_part", farParts(f.One("far_description").Str()))
}

// setKeyword sets a keyword, "" removing it.
func setKeyword(f filter.Fields, name, text string) {
	if text == "" {
		delete(f, name)
		return
	}
	f[name] = []filter.Value{filter.OfString(text)}
}
