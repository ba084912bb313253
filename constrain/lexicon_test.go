package constrain_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

func TestParsePhrases(t *testing.T) {
	got, err := constrain.ParsePhrases(`
# a comment
(not/un)-fixed | broken -> status=open, visits>=2   # trailing
water | damp -> fault=water|moisture
kit -> vendor?=Acme, model~X-1
[express] -> priority=urgent
leave me alone ->
`)
	if err != nil {
		t.Fatal(err)
	}
	open := []constrain.Condition{constrain.Is("status", "open"), {Field: "visits", Op: sextant.OpGte, Values: []any{2}}}
	wet := []constrain.Condition{{Field: "fault", Op: sextant.OpIn, Values: []any{"water", "moisture"}}}
	implied := constrain.Is("vendor", "Acme")
	implied.Implied = true
	want := []constrain.Phrase{
		{Words: []string{"not", "fixed"}, Conditions: open}, {Words: []string{"un", "fixed"}, Conditions: open}, {Words: []string{"broken"}, Conditions: open},
		{Words: []string{"water"}, Conditions: wet}, {Words: []string{"damp"}, Conditions: wet},
		{Words: []string{"kit"}, Conditions: []constrain.Condition{implied, constrain.Contains("model", "X-1")}},
		{Words: []string{"express"}, Conditions: []constrain.Condition{constrain.Is("priority", "urgent")}, Alone: true},
		{Words: []string{"leave", "me", "alone"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParsePhrasesRefuses(t *testing.T) {
	for _, text := range []string{"no arrow", "| -> a=b", "a -> b", "... -> a=b", "a -> nonsense here", strings.Repeat("(a/b)", 12) + " -> a=b"} {
		if _, err := constrain.ParsePhrases(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func FuzzParsePhrases(f *testing.F) {
	f.Add(phrases)
	f.Add("(a/(b/c)) -> x=1")
	f.Add("a) b( -> x>=y")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		parsed, err := constrain.ParsePhrases(text)
		if err != nil {
			return
		}
		p := constrain.NewParser(constrain.NewVocabulary(nil, nil), &constrain.Lexicon{Phrases: parsed}, nil)
		p.Parse(text, today)
	})
}
