package constrain_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
)

// A repair desk: tickets with one or more devices each, and the desk's terms. Nothing in
// this package knows of it, or of any other domain.

func keyword(name string, group string) filter.Field {
	return filter.Field{Name: name, Kind: filter.Keyword, Fold: filter.Case, Facet: true, Group: group}
}

var tickets = sextant.Collection{
	Name: "tickets", Title: "repair tickets", Role: sextant.RoleEvents, Unit: "tickets", DateField: "opened", Fill: "desk import",
	Schema: filter.Schema{
		Groups: []filter.Group{{Name: "devices", Label: "devices"}},
		Fields: []filter.Field{
			{Name: "opened", Label: "opened", Kind: filter.Time},
			{Name: "opened_month", Label: "month", Kind: filter.Int},
			{Name: "closed_at", Label: "closed", Kind: filter.Time},
			keyword("city", ""), keyword("status", ""), keyword("priority", ""),
			{Name: "visits", Label: "visits", Kind: filter.Int},
			{Name: "cost", Label: "cost", Kind: filter.Float},
			{Name: "warranty", Label: "under warranty", Kind: filter.Bool},
			keyword("vendor", "devices"),
			{Name: "model", Label: "model", Kind: filter.Keyword, Fold: filter.Squeeze, Facet: true, Group: "devices"},
			keyword("fault", "devices"),
		},
	},
}

var terms = sextant.Collection{
	Name: "terms", Title: "terms of repair", Role: sextant.RoleRules, Unit: "clauses", Fill: "desk import terms",
	Schema: filter.Schema{Fields: []filter.Field{keyword("clause", "")}},
}

var values = map[string][]constrain.Value{
	"city":   {{Text: "Leeds", Count: 9}, {Text: "York", Count: 7}, {Text: "New Quay", Count: 2}, {Text: "Hull", Count: 1}},
	"status": {{Text: "open", Count: 8}, {Text: "closed", Count: 9}, {Text: "waiting for parts", Count: 2}},
	"vendor": {{Text: "Acme", Count: 12}, {Text: "Bolt", Count: 6}},
	"model":  {{Text: "X-100", Count: 5}, {Text: "X-200", Count: 4}, {Text: "Mini", Count: 3}},
	"clause": {{Text: "7", Count: 1}, {Text: "12", Count: 1}},
}

const phrases = `
urgent | (top/highest) priority -> priority=urgent
(cracked/broken) screen | screen damage -> fault=screen
water damage | soaked -> fault=water
battery -> fault=battery
battery pack ->
[express] -> priority=urgent
open | unresolved -> status=open
closed | resolved -> status=closed
starter kit -> vendor?=Acme, model~X-100
clause seven -> clause=7
`

func lexicon(t testing.TB) *constrain.Lexicon {
	t.Helper()
	parsed, err := constrain.ParsePhrases(phrases)
	if err != nil {
		t.Fatal(err)
	}
	return &constrain.Lexicon{
		Phrases:    parsed,
		Measures:   []constrain.Measure{{Field: "visits", After: []string{"visits", "visit", "trips"}, Verbs: []string{"visited", "needed"}, Unless: []string{"fee", "skipped"}, Most: 50}},
		Opposites:  map[[2]string]constrain.Condition{{"status", "open"}: constrain.Is("status", "closed")},
		Dates:      "opened",
		Months:     "opened_month",
		DatedBy:    map[string]string{"closed": "closed_at"},
		Kinds:      []string{"fault", "vendor", "model"},
		Units:      map[string]string{"devices": "devices"},
		Groupings:  map[string]constrain.Grouping{"year": {Name: "year", Field: "opened", By: "year"}, "city": {Name: "city", Field: "city"}, "fault": {Name: "fault", Field: "fault"}},
		Grave:      "visits",
		Summed:     map[string]bool{"visits": true},
		TypeOf:     map[string]constrain.Grouping{"devices": {Name: "fault", Field: "fault"}},
		Spoken:     []string{"closed_at"},
		EventNouns: []string{"ticket", "repair"},
		Words:      map[string]bool{"buttery": true},
	}
}

var today = time.Date(2015, 6, 30, 0, 0, 0, 0, time.UTC)

func desk(t testing.TB) *constrain.Parser {
	t.Helper()
	return constrain.NewParser(constrain.NewVocabulary([]sextant.Collection{tickets, terms}, values), lexicon(t), nil)
}

// stated writes the constraints of a reading: "city eq Leeds; visits gte 2".
func stated(cs []constrain.Constraint) string {
	out := make([]string, len(cs))
	for i, c := range cs {
		out[i] = condition(c.Condition)
	}
	return strings.Join(out, "; ")
}

func condition(c constrain.Condition) string {
	words := []string{c.Field, string(c.Op)}
	for _, v := range c.Values {
		if s, ok := v.(constrain.Span); ok {
			from, to := s.Strings()
			words = append(words, from+".."+to)
			continue
		}
		words = append(words, fmt.Sprint(v))
	}
	return strings.Join(words, " ")
}

// reads checks what questions are read as.
func reads(t *testing.T, p *constrain.Parser, questions [][2]string) {
	t.Helper()
	for _, q := range questions {
		if got := stated(p.Parse(q[0], today).Constraints); got != q[1] {
			t.Errorf("%q\n got %s\nwant %s", q[0], got, q[1])
		}
	}
}
