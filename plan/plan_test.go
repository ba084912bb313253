package plan_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/plan"
)

// A workshop keeps faults of machines, safety rules and a works newspaper.
var collections = []sextant.Collection{
	{Name: "faults", Role: sextant.RoleEvents, DateField: "day", Schema: filter.Schema{Fields: []filter.Field{{Name: "day", Kind: filter.Time}, {Name: "machine", Kind: filter.Keyword}, {Name: "hall", Kind: filter.Keyword}}}},
	{Name: "rules", Role: sextant.RoleRules, Schema: filter.Schema{Fields: []filter.Field{{Name: "rule", Kind: filter.Keyword}}}},
	{Name: "paper", Role: sextant.RoleReports},
}

func parser(t *testing.T) *constrain.Parser {
	t.Helper()
	phrases, err := constrain.ParsePhrases("lathe -> machine=lathe\npress -> machine=press\nhall two -> hall=2\nrule seven -> rule=7\n")
	if err != nil {
		t.Fatal(err)
	}
	l := &constrain.Lexicon{Phrases: phrases, Dates: "day", EventNouns: []string{"fault"}}
	return constrain.NewParser(&constrain.Vocabulary{Collections: collections}, l, nil)
}

var words = plan.Words{
	Subject: map[string]bool{"machine": true, "worker": true, "oil": true, "guard": true},
	Sources: map[sextant.Role][]string{sextant.RoleEvents: {"fault"}, sextant.RoleRules: {"rule", "regulation"}, sextant.RoleReports: {"newspaper", "article"}},
	Kinds:   map[string]bool{"machine": true}, Places: map[string]bool{"day": true, "hall": true},
}

func TestMake(t *testing.T) {
	p := parser(t)
	for question, want := range map[string]plan.Intent{
		"Why did the lathe stop on 3 May 2012?":                        plan.Causal,
		"What caused the fault in hall two?":                           plan.Causal,
		"Was the worker allowed to open the guard?":                    plan.Compliance,
		"Did the worker violate rule seven?":                           plan.Compliance,
		"How many faults in 2012?":                                     plan.Factual,
		"What happened to the press in hall two?":                      plan.Factual,
		"Lathe versus press: faults":                                   plan.Comparative,
		"Is the lathe safer than the press?":                           plan.Comparative,
		"What does rule seven say?":                                    plan.Regulatory,
		"What oil must a machine have?":                                plan.Regulatory,
		"Faults of the press, the rules about it and newspaper pieces": plan.MultiSource,
		"How do I bake bread?":                                         plan.OutOfScope,
		"best pizza in hall two":                                       plan.OutOfScope,
		"hall two, 2012":                                               plan.Factual,
	} {
		r := p.Parse(question, time.Date(2013, 1, 1, 0, 0, 0, 0, time.UTC))
		if got := plan.Make(r, p, words); got.Intent != want {
			t.Errorf("%s: %s, want %s (constraints %v)", question, got.Intent, want, r.Constraints)
		}
	}
}

func TestStrategiesDiffer(t *testing.T) {
	p := parser(t)
	for question, want := range map[string]struct {
		strategy plan.Strategy
		first    sextant.Role
		needed   int
	}{
		"What does rule seven say?":                     {plan.Direct, sextant.RoleRules, 1},
		"Why did the lathe stop?":                       {plan.Sequential, sextant.RoleEvents, 1},
		"Did the worker violate rule seven?":            {plan.Sequential, sextant.RoleRules, 2},
		"How many faults in 2012?":                      {plan.Parallel, sextant.RoleEvents, 1},
		"Lathe versus press: faults":                    {plan.Iterative, sextant.RoleEvents, 1},
		"Faults, rules and newspaper, all sources":      {plan.Parallel, sextant.RoleEvents, 3},
		"What did the newspaper write about the guard?": {plan.Parallel, sextant.RoleEvents, 1},
	} {
		got := plan.Make(p.Parse(question, time.Now()), p, words)
		if got.Strategy != want.strategy || got.Roles[0] != want.first || len(got.Needed) != want.needed {
			t.Errorf("%s: %+v", question, got)
		}
	}
}

// Strategies name roles, not collections: a water board with a log of bursts, by-laws, a
// press file and a handbook is planned for like any other domain.
func TestRolesOfAForeignDomain(t *testing.T) {
	board := []sextant.Collection{
		{Name: "bursts", Role: sextant.RoleEvents, DateField: "day", Schema: filter.Schema{Fields: []filter.Field{{Name: "day", Kind: filter.Time}, {Name: "pipe", Kind: filter.Keyword}, {Name: "ward", Kind: filter.Keyword}}}},
		{Name: "bylaws", Role: sextant.RoleRules, Schema: filter.Schema{Fields: []filter.Field{{Name: "bylaw", Kind: filter.Keyword}}}},
		{Name: "cuttings", Role: sextant.RoleReports},
		{Name: "handbook", Role: sextant.RoleReference},
	}
	phrases, err := constrain.ParsePhrases("lead pipe -> pipe=lead\neast ward -> ward=east\nbylaw nine -> bylaw=9\n")
	if err != nil {
		t.Fatal(err)
	}
	p := constrain.NewParser(&constrain.Vocabulary{Collections: board}, &constrain.Lexicon{Phrases: phrases, Dates: "day", EventNouns: []string{"burst"}}, nil)
	w := plan.Words{Subject: map[string]bool{"pipe": true, "water": true, "valve": true}, Kinds: map[string]bool{"pipe": true}, Places: map[string]bool{"day": true, "ward": true},
		Sources: map[sextant.Role][]string{sextant.RoleEvents: {"burst"}, sextant.RoleRules: {"bylaw", "rule"}, sextant.RoleReports: {"cutting", "newspaper"}}}
	for question, want := range map[string]struct {
		intent plan.Intent
		needed []sextant.Role
	}{
		"How many bursts in the east ward in 2011?":                {plan.Factual, []sextant.Role{sextant.RoleEvents}},
		"Why did the lead pipe burst in the east ward?":            {plan.Causal, []sextant.Role{sextant.RoleEvents}},
		"Was the crew allowed to open the valve under bylaw nine?": {plan.Compliance, []sextant.Role{sextant.RoleRules, sextant.RoleEvents}},
		"What does bylaw nine require?":                            {plan.Regulatory, []sextant.Role{sextant.RoleRules}},
		"Did lead pipe bursts go up between 2001 and 2011?":        {plan.Comparative, []sextant.Role{sextant.RoleEvents}},
		"Bursts, bylaws and newspaper cuttings about valves":       {plan.MultiSource, []sextant.Role{sextant.RoleEvents, sextant.RoleRules, sextant.RoleReports}},
		"newspaper cuttings about bylaw nine":                      {plan.Factual, []sextant.Role{sextant.RoleReports}},
	} {
		got := plan.Make(p.Parse(question, time.Date(2013, 1, 1, 0, 0, 0, 0, time.UTC)), p, w)
		if got.Intent != want.intent || !slices.Equal(got.Needed, want.needed) {
			t.Errorf("%s: %s needs %v, want %s needs %v", question, got.Intent, got.Needed, want.intent, want.needed)
		}
	}
}
