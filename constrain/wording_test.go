package constrain_test

import (
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

// The owner of the desk's tickets says how people speak of them, without any Go.
func TestWording(t *testing.T) {
	w := constrain.Wording{
		Called:  []string{"job"},
		Phrases: "up north -> city=Leeds|York\nlong job | slow one -> visits>=4\nguaranteed -> warranty=yes\nLeeds pals ->",
		Counted: map[string]constrain.Counted{"visits": {After: []string{"trips"}, Before: []string{"took"}}},
		// A pattern claims what looks like a model, also one that no ticket has.
		Patterns: map[string]string{"model": `Z-?\d{3}`},
	}
	l, err := w.Extend(&constrain.Lexicon{Dates: "opened"}, tickets.Schema)
	if err != nil {
		t.Fatal(err)
	}
	p := constrain.NewParser(constrain.NewVocabulary([]sextant.Collection{tickets}, values), l, nil)
	reads(t, p, [][2]string{
		{"jobs up north", "city in Leeds York"},
		{"not up north", "city not_in Leeds York"},
		{"a long job in Hull", "visits gte 4; city eq Hull"},
		{"guaranteed slow ones", "warranty eq true; visits gte 4"},
		{"more than two trips", "visits gte 3"},
		{"took 5 trips", "visits eq 5"},
		{"z200 tickets since 2012", "model eq z200; opened gte 2012-01-01.."},
		{"Leeds pals", ""},
	})
	if got := strings.Join(w.Lines(), "\n"); !strings.Contains(got, "up north -> city=Leeds|York") || !strings.Contains(got, "trips | took -> counts visits") || !strings.Contains(got, "-> model") {
		t.Error(got)
	}
}

// A mistake is named, and nothing of the wording is used.
func TestWordingMistakes(t *testing.T) {
	for want, w := range map[string]constrain.Wording{
		`no field "town"`:           {Phrases: "up north -> town=Leeds"},
		"has no arrow":              {Phrases: "up north city=Leeds"},
		"yes or no":                 {Phrases: "guaranteed -> warranty=often"},
		"is a number":               {Phrases: "long -> visits=many"},
		"is a date":                 {Phrases: "lately -> opened=2012"},
		"no field of whole numbers": {Counted: map[string]constrain.Counted{"city": {After: []string{"trips"}}}},
		"no field of words":         {Patterns: map[string]string{"visits": "x"}},
		"pattern of model":          {Patterns: map[string]string{"model": "("}},
		"longer than":               {Patterns: map[string]string{"model": strings.Repeat("x", 300)}},
	} {
		if l, err := w.Extend(&constrain.Lexicon{}, tickets.Schema); err == nil || l != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
