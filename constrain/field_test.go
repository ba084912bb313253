package constrain_test

import (
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
)

// A table that no lexicon speaks for: its fields are asked for by name, its values as
// they stand.
func TestForeignTable(t *testing.T) {
	p := constrain.NewParser(constrain.NewVocabulary([]sextant.Collection{tickets}, values), &constrain.Lexicon{Dates: "opened"}, nil)
	reads(t, p, [][2]string{
		{"open tickets in Leeds", "status eq open; city eq Leeds"},
		{"tickets waiting for parts", "status eq waiting for parts"},
		{"Acme x100 tickets", "vendor eq Acme"},
		{"Acme X-100", "vendor eq Acme; model eq X-100"},
		{"visits above 3", "visits gte 4"},
		{"at least 5 visits", "visits gte 5"},
		{"visits is 2", "visits eq 2"},
		{"cost above 4.5", "cost gte 4.5"},
		{"cost of at most 12.25", "cost lte 12.25"},
		{"under warranty", "warranty eq true"},
		{"not under warranty", "warranty eq false"},
		{"closed before June 2012", "closed_at lte ..2012-05-31"},
		{"closed in 2012, opened in 2011", "closed_at between 2012-01-01..2012-12-31; opened between 2011-01-01..2011-12-31"},
		{"since 2014, not in York", "opened gte 2014-01-01..; city not_in York"},
		{"Leeds or Hull", "city in Leeds Hull"},
		{"how are you", ""},
	})
}

// More than 4.5 is not 4.5, which the operator cannot say and the filter does.
func TestStrictBoundsOfDecimals(t *testing.T) {
	p := constrain.NewParser(constrain.NewVocabulary([]sextant.Collection{tickets}, values), &constrain.Lexicon{}, nil)
	for question, want := range map[string][2]bool{"cost above 4.5": {false, true}, "cost at least 4.5": {true, true}, "cost below 4.5": {false, false}, "cost not above 4.5": {true, false}} {
		compiled, _ := constrain.Compile(tickets, p.Lexicon(), p.Parse(question, today).Constraints)
		for k, x := range []float64{4.5, 4.6} {
			m := filter.Meta{Fields: filter.Fields{"cost": {filter.OfFloat(x)}}}
			if got := tickets.Schema.Match(constrain.Joint(compiled), m); got != want[k] {
				t.Errorf("%q of %v: %v", question, x, got)
			}
		}
	}
}

func TestEmptyLexiconAndVocabulary(t *testing.T) {
	p := constrain.NewParser(constrain.NewVocabulary(nil, nil), &constrain.Lexicon{}, nil)
	if r := p.Parse("anything since 2012 in Leeds?", today); len(r.Constraints) != 0 || r.Content == "" {
		t.Errorf("%+v", r)
	}
}
