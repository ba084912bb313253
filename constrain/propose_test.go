package constrain_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
)

func on(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

func proposer(t testing.TB) *constrain.Parser {
	t.Helper()
	spec := sextant.Collection{Name: "tickets", Role: sextant.RoleEvents, DateField: "opened", Schema: filter.Schema{Fields: []filter.Field{
		{Name: "opened", Kind: filter.Time}, {Name: "team", Kind: filter.Keyword, Fold: filter.Case, Facet: true}, {Name: "retries", Kind: filter.Int}, {Name: "cost", Kind: filter.Float}, {Name: "escalated", Kind: filter.Bool}}}}
	v := constrain.NewVocabulary([]sextant.Collection{spec}, map[string][]constrain.Value{"team": {{Text: "Night Shift", Count: 4}, {Text: "Billing", Count: 9}}})
	return constrain.NewParser(v, &constrain.Lexicon{Dates: "opened"}, nil)
}

func TestJoin(t *testing.T) {
	p := proposer(t)
	const question = "What went wrong for the people who work after dark, tried again three times, around the heatwave?"
	for name, tt := range map[string]struct {
		proposal constrain.Proposal
		want     []any // values; nil: refused
		inferred bool
	}{
		"an inferred value":          {constrain.Proposal{Field: "team", Op: sextant.OpEq, Values: []string{"night shift"}, Words: "people who work after dark"}, []any{"Night Shift"}, true},
		"a number as a word":         {constrain.Proposal{Field: "retries", Op: sextant.OpGte, Values: []string{"3"}, Words: "tried again three times"}, []any{3}, false},
		"a number that is not said":  {constrain.Proposal{Field: "retries", Op: sextant.OpGte, Values: []string{"4"}, Words: "tried again three times"}, nil, false},
		"a period":                   {constrain.Proposal{Field: "opened", Op: sextant.OpBetween, Values: []string{"2012-07", "2012-08-04"}, Words: "around the heatwave"}, []any{constrain.Span{From: on(2012, 7, 1), To: on(2012, 8, 4)}}, true},
		"a flag":                     {constrain.Proposal{Field: "escalated", Op: sextant.OpEq, Values: []string{"true"}, Words: "went wrong"}, []any{true}, true},
		"no value of the field":      {constrain.Proposal{Field: "team", Op: sextant.OpEq, Values: []string{"Day Shift"}, Words: "people"}, nil, false},
		"words of nobody":            {constrain.Proposal{Field: "team", Op: sextant.OpEq, Values: []string{"Billing"}, Words: "people in billing"}, nil, false},
		"words that say nothing":     {constrain.Proposal{Field: "team", Op: sextant.OpEq, Values: []string{"Billing"}, Words: "for the"}, nil, false},
		"no words":                   {constrain.Proposal{Field: "team", Op: sextant.OpEq, Values: []string{"Billing"}}, nil, false},
		"no field":                   {constrain.Proposal{Field: "mood", Op: sextant.OpEq, Values: []string{"bad"}, Words: "went wrong"}, nil, false},
		"no order of words":          {constrain.Proposal{Field: "team", Op: sextant.OpGte, Values: []string{"Billing"}, Words: "people"}, nil, false},
		"mentions are the grammar's": {constrain.Proposal{Field: "team", Op: sextant.OpMentions, Values: []string{"x"}, Words: "people"}, nil, false},
		"too few values":             {constrain.Proposal{Field: "opened", Op: sextant.OpBetween, Values: []string{"2012"}, Words: "heatwave"}, nil, false},
		"not a number":               {constrain.Proposal{Field: "cost", Op: sextant.OpGte, Values: []string{"NaN"}, Words: "went wrong"}, nil, false},
	} {
		before := p.Parse(question, on(2013, 1, 15))
		after, refused := p.Join(question, before, []constrain.Proposal{tt.proposal})
		if tt.want == nil {
			if len(refused) != 1 || refused[0].Reason == "" || len(after.Constraints) != len(before.Constraints) {
				t.Errorf("%s: taken: %+v", name, after.Constraints)
			}
			continue
		}
		if len(refused) != 0 || len(after.Constraints) != len(before.Constraints)+1 {
			t.Errorf("%s: refused: %+v", name, refused)
			continue
		}
		c := after.Constraints[len(after.Constraints)-1]
		if d := cmp.Diff(tt.want, c.Values); d != "" || c.Inferred != tt.inferred || c.Origin != sextant.FromModel || c.Text != question[c.Start:c.End] {
			t.Errorf("%s: %+v %s", name, c, d)
		}
	}
}

// Whatever is proposed, what the rules read stays as it was, and what is added compiles.
func FuzzJoin(f *testing.F) {
	p := proposer(f)
	f.Add("tickets of Billing in 2012", "Billing", "team", "eq", "Billing", "of")
	f.Add("three retries", "three", "retries", "between", "3", "4")
	f.Add("\xff\u202e tickets", "\u202e", "opened", "in", "2012-13", "")
	f.Fuzz(func(t *testing.T, question, words, field, op, value, second string) {
		before := p.Parse(question, on(2013, 1, 15))
		kept := slices.Clone(before.Constraints)
		after, refused := p.Join(question, before, []constrain.Proposal{{Field: field, Op: sextant.Op(op), Values: []string{value}, Words: words}, {Field: field, Op: sextant.Op(op), Values: []string{value, second}, Words: words}})
		if len(after.Constraints)+len(refused) != len(before.Constraints)+2 {
			t.Fatalf("%d added and %d refused of 2", len(after.Constraints)-len(before.Constraints), len(refused))
		}
		if d := cmp.Diff(kept, after.Constraints[:len(kept)]); d != "" {
			t.Fatal(d)
		}
		for _, c := range p.Vocabulary().Collections {
			compiled, _ := constrain.Compile(c, p.Lexicon(), after.Constraints)
			if _, err := c.Schema.Resolve(constrain.Joint(compiled)); err != nil {
				t.Fatalf("%+v does not resolve: %v", after.Constraints, err)
			}
		}
	})
}
