package generate

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
)

// clock matches a time of day as reports print it: "14:05", "1042:25", "at about 0814".
var clock = regexp.MustCompile(`(?i)\b(?:([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?: ?(am|pm|a\.m\.|p\.m\.))?|([01]\d|2[0-3])([0-5]\d):[0-5]\d|(?:at|about|approximately|around|by|until|between|since|before|after|and) ([01]\d|2[0-3])([0-5]\d)(?: (?:and|hours|local|[a-z]+ (?:standard|daylight) time|[a-z]{3}\b)|[,. ]))`)

// Timeline quotes the sentences of documents that state a time of day, in the order of
// these times as printed; at most limit of them. Records of fields, which state the time of
// an event but tell no course, come in as what they are: one statement. A text that goes
// over midnight is told in its own order.
func Timeline(documents []sextant.Document, limit int) []sextant.Finding {
	type timed struct {
		minute  int
		finding sextant.Finding
	}
	var out []timed
	for _, d := range documents {
		seen := map[string]bool{}
		for _, p := range d.Parts {
			if p.Kind == partHeading || p.Kind == partFinding {
				continue
			}
			for _, span := range chunk.Sentences(d.Text[p.Start:p.End]) {
				s := sentence{part: p, start: p.Start + span.Start, end: p.Start + span.End, score: 1}
				text := d.Text[s.start:s.end]
				minute, ok := minuteOf(text)
				if f, err := finding(d, s); ok && err == nil && !seen[text] {
					seen[text] = true
					out = append(out, timed{minute, f})
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b timed) int { return a.minute - b.minute })
	var findings []sextant.Finding
	for _, t := range out[:min(len(out), limit)] {
		findings = append(findings, t.finding)
	}
	return findings
}

// minuteOf returns the first time of day a sentence states, in minutes from midnight.
func minuteOf(text string) (int, bool) {
	m := clock.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	for i := 1; i < len(m); i++ {
		if i == 3 || m[i] == "" || i == 2 || i == 5 || i == 7 {
			continue
		}
		hour, _ := strconv.Atoi(m[i])
		minute, _ := strconv.Atoi(m[i+1])
		if i == 1 && m[3] != "" {
			hour %= 12
			if m[3][0] == 'p' || m[3][0] == 'P' {
				hour += 12
			}
		}
		return 60*hour + minute, true
	}
	return 0, false
}
