package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/httpapi"
)

// blueprint maps the words of the blueprint's routes to the fields of the aviation
// pack: what its front end calls a location is a state, a city or a country here.
func blueprint() httpapi.Blueprint {
	return httpapi.Blueprint{
		Constraints: map[string]string{
			"state": "location", "city": "location", "country": "location", "airport": "location", "event_date": "date", "event_month": "date",
			"make": "aircraft", "model": "aircraft", "aircraft_category": "aircraft", "registration": "registration",
			"event_id": "event_id", "accident_number": "event_id", "cfr_part": "regulation", "cfr_section": "regulation", "far_part": "regulation",
		},
		Headers: map[string]map[string]func(string) (string, error){
			"incidents":   {"event_id": equals("event_id"), "location": containing("location"), "injury_severity": severity, "weather_condition": equals("weather")},
			"regulations": {"part": equals("cfr_part"), "subpart": equals("subpart"), "section": equals("cfr_section")},
			"news":        {"news_source": equals("news_source"), "related_incident_id": unrelated},
		},
	}
}

func equals(field string) func(string) (string, error) {
	return func(value string) (string, error) { return written(field, "=", value) }
}

func containing(field string) func(string) (string, error) {
	return func(value string) (string, error) { return written(field, "contains", value) }
}

// written writes one condition of EXPR with the value quoted.
func written(field, operator, value string) (string, error) {
	value = sextant.CleanText(value)
	if value == "" {
		return "", &sextant.Error{Code: sextant.CodeBadRequest, Op: "header filter", Message: "A header filter has no value."}
	}
	return field + " " + operator + ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`, nil
}

var fatalCount = regexp.MustCompile(`^(?i:fatal)\((\d{1,4})\)$`)

// severity reads the NTSB's own spelling: Fatal, Fatal(2), Non-Fatal, Incident,
// Unavailable.
func severity(value string) (string, error) {
	if m := fatalCount.FindStringSubmatch(strings.TrimSpace(value)); m != nil {
		return fmt.Sprintf("severity = fatal and fatal_count = %s", m[1]), nil
	}
	switch name := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(value), "-", "")); name {
	case "fatal", "nonfatal", "incident", "unavailable":
		return "severity = " + name, nil
	}
	return "", &sextant.Error{Code: sextant.CodeBadRequest, Op: "header filter", Message: "The injury severity " + sextant.CleanText(value) + " is not known.", Hint: "Use Fatal, Fatal(2), Non-Fatal, Incident or Unavailable."}
}

func unrelated(string) (string, error) {
	return "", &sextant.Error{Code: sextant.CodeBadRequest, Op: "header filter", Message: "Which incident an article is about is not recorded."}
}
