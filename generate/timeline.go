package generate

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
)

// clock matches a time of day as reports print it: "14:05", "1042:25", "at about 0814".
var clock = regexp.MustCompile(`(?i)\b(?:([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?: ?(am|pm|a\.m\.|p\.m\.))?|([01]\d|2[0-3])([0-5]\d):[0-5]\d|(at|about|approximately|around|by|until|between|since|before|after|and) ([01]\d|2[0-3])([0-5]\d)\b)`)

var (
	// ratio is what "slope of 1:50" has before its colon, which no time has.
	ratio = regexp.MustCompile(`(?i)\b(?:slope|ratio|scale|gradient|mix|mixture|odds|score) (?:of |was |is )?(?:about |approximately )?$`)
	// amount follows hours that are an amount: "1200 hours of flight experience".
	amount = regexp.MustCompile(`(?i)^ (?:total |flight |flying |pilot )*(?:hours|time) (?:of|in|on|as|total|since|and)\b|^ (?:total|flight|flying|pilot|tach|engine|airframe) `)
	// span is the end of "between 1310 and 1325": what follows it tells what both are.
	span = regexp.MustCompile(`^(?: and|-| to) ?(?:[01]\d|2[0-3])[0-5]\d\b`)
	// metered says before digits that they are hours an instrument or a book has counted.
	metered = regexp.MustCompile(`(?i)\b(?:tach\w*|hobbs|hour meter|logbooks?|flight time|total time|experience)\b[^.]*$`)
	// ended is what may follow bare digits that are a time: the end of a clause, or a word
	// that no unit or counted thing can be.
	ended = regexp.MustCompile(`(?i)^(?:[.,;:)]|$| (?:and|the|a|an|he|she|it|they|when|while|as|on|in|but|to|local|hours|utc|zulu|gmt|[a-z]+ (?:standard|daylight) time|[cemp][sd]t|akst|akdt|hst|adt|edt)\b)`)
)

// Timeline quotes the sentences of documents that state a time of day, in the order of
// these times as printed; at most limit of them, and how many more there are. Records of
// fields, which state the time of an event but tell no course, come in as what they are: one
// statement. A text whose times fall by more than half a day goes over midnight, and is told
// in its own order after what others tell.
func Timeline(documents []sextant.Document, limit int) (findings []sextant.Finding, more int) {
	var out []timed
	for i, d := range documents {
		own := timedSentences(d)
		if overMidnight(own) {
			for k := range own {
				own[k].night, own[k].minute = i+1, k
			}
		}
		out = append(out, own...)
	}
	slices.SortStableFunc(out, func(a, b timed) int { return cmp.Or(a.night-b.night, a.minute-b.minute) })
	for _, t := range out[:min(len(out), limit)] {
		findings = append(findings, t.finding)
	}
	return findings, len(out) - len(findings)
}

// timed is a sentence with the minute of the day it states; night is 0, or the number of a
// text that is told in its own order.
type timed struct {
	night, minute int
	finding       sextant.Finding
}

// timedSentences returns the sentences of a document that state a time, in its order.
func timedSentences(d sextant.Document) (out []timed) {
	seen := map[string]bool{}
	for _, p := range d.Parts {
		if p.Kind == partHeading || p.Kind == partFinding {
			continue
		}
		for _, span := range chunk.Sentences(d.Text[p.Start:p.End]) {
			s := sentence{part: p, start: p.Start + span.Start, end: p.Start + span.End, score: 1}
			text := d.Text[s.start:s.end]
			minute, ok := minuteOf(text)
			if !ok || seen[text] {
				continue
			}
			if f, err := finding(d, s); err == nil {
				seen[text] = true
				out = append(out, timed{minute: minute, finding: f})
			}
		}
	}
	return out
}

// overMidnight reports whether times fall once by more than half a day and stay low. They do
// not where a text begins with the end it then leads to.
func overMidnight(ts []timed) bool {
	earlier := func(a, b timed) int { return a.minute - b.minute }
	for i := 1; i < len(ts); i++ {
		if ts[i-1].minute-ts[i].minute > 12*60 {
			return slices.MinFunc(ts[:i], earlier).minute-slices.MaxFunc(ts[i:], earlier).minute > 6*60
		}
	}
	return false
}

// minuteOf returns the first time of day a sentence states, in minutes from midnight.
func minuteOf(text string) (int, bool) {
	for _, m := range clock.FindAllStringSubmatchIndex(text, -1) {
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		switch {
		case group(1) != "" && !ratio.MatchString(text[:m[0]]):
			return minutes(group(1), group(2), group(3)), true
		case group(4) != "":
			return minutes(group(4), group(5), ""), true
		case group(7) != "" && !metered.MatchString(text[:m[0]]) && timeOfDay(group(6), group(7), text[m[17]:]):
			return minutes(group(7), group(8), ""), true
		}
	}
	return 0, false
}

// timeOfDay tells four bare digits that are a time from a year, an amount and a height:
// "since 2010", "about 1200 hours of experience", "at 1500 feet".
func timeOfDay(before, hour, after string) bool {
	after = after[len(span.FindString(after)):]
	switch strings.ToLower(before) {
	case "since", "before", "after", "until", "by":
		if hour == "19" || hour == "20" {
			return clearly.MatchString(after)
		}
	}
	return ended.MatchString(after) && !amount.MatchString(after)
}

// clearly marks digits as a time whatever they look like.
var clearly = regexp.MustCompile(`(?i)^ (?:hours\b(?: local)?[.,;]|local|utc|[a-z]+ (?:standard|daylight) time|[cemp][sd]t\b)`)

// minutes counts from midnight; half is "", or begins with a or p.
func minutes(hour, minute, half string) int {
	h, _ := strconv.Atoi(hour)
	m, _ := strconv.Atoi(minute)
	if half != "" {
		h %= 12
		if half[0] == 'p' || half[0] == 'P' {
			h += 12
		}
	}
	return 60*h + m
}
