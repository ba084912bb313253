package constrain_test

import (
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
)

// A burst of water mains and the newspaper about them: each is dated by its own field.
func TestDatesOfReportsAreTheReports(t *testing.T) {
	bursts := sextant.Collection{Name: "bursts", Role: sextant.RoleEvents, DateField: "day", Schema: filter.Schema{Fields: []filter.Field{{Name: "day", Kind: filter.Time}}}}
	paper := sextant.Collection{Name: "paper", Role: sextant.RoleReports, Unit: "articles", DateField: "printed", Schema: filter.Schema{Fields: []filter.Field{{Name: "printed", Kind: filter.Time}}}}
	p := constrain.NewParser(constrain.NewVocabulary([]sextant.Collection{bursts, paper}, nil), &constrain.Lexicon{Dates: "day", EventNouns: []string{"burst"},
		TextNouns: map[string]constrain.TextNoun{"article": {Role: sextant.RoleReports}, "story": {Role: sextant.RoleReports}}}, nil)
	for question, want := range map[string]string{
		"articles about valves in March 2024":           "printed",
		"articles from March 2024 about bursts":         "printed",
		"2024 articles about the burst":                 "printed",
		"articles about the burst in March 2024":        "day",
		"bursts in March 2024":                          "day",
		"any article on the March 2024 burst?":          "day",
		"in 2024, which story was about valves":         "printed",
		"bursts in March 2024 that an article mentions": "day",
	} {
		r := p.Parse(question, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
		dated := ""
		for _, c := range r.Constraints {
			if c.Field == "day" || c.Field == "printed" {
				dated += c.Field
			}
		}
		if dated != want {
			t.Errorf("%q: dated by %q, want %q", question, dated, want)
		}
	}
}

func TestConstraintsKeepTheirQuotationMarks(t *testing.T) {
	p := constrain.NewParser(constrain.NewVocabulary(nil, nil), &constrain.Lexicon{EventNouns: []string{"burst"}, TextNouns: map[string]constrain.TextNoun{"burst": {}}}, nil)
	for question, want := range map[string]string{
		`bursts that mention "old valve" in Leeds`:    `that mention "old valve"`,
		"bursts that mention “old valve” and no more": "that mention “old valve”",
		`bursts that mention old valve`:               `that mention old valve`,
	} {
		r := p.Parse(question, time.Time{})
		if len(r.Constraints) == 0 || r.Constraints[0].Text != want || question[r.Constraints[0].Start:r.Constraints[0].End] != want {
			t.Errorf("%q: %+v", question, r.Constraints)
		}
	}
}
