package constrain_test

import (
	"testing"

	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
)

// Conditions on one group hold for the same device, and a negated one means known and
// different.
func TestCompile(t *testing.T) {
	p := desk(t)
	acmeScreen := meta(filterFields{"city": "Leeds"}, filterFields{"vendor": "Acme", "fault": "screen"}, filterFields{"vendor": "Bolt", "fault": "water"})
	for question, want := range map[string]bool{
		"Acme with a broken screen":   true,
		"Acme with water damage":      false, // that was the Bolt
		"Bolt with water damage":      true,
		"non-Acme":                    true, // one of the devices is
		"non-Acme with broken screen": false,
		"not in Leeds":                false,
		"not in York":                 true,
		"not urgent":                  false, // not known is not different
		"in Leeds since 2010":         false,
	} {
		compiled, at := constrain.Compile(tickets, p.Lexicon(), p.Parse(question, today).Constraints)
		if len(compiled) != len(at) {
			t.Fatal(len(compiled), at)
		}
		if got := tickets.Schema.Match(constrain.Joint(compiled), acmeScreen); got != want {
			t.Errorf("%q: %v (%s)", question, got, filter.String(constrain.Joint(compiled)))
		}
	}
}

// A field can be compared in a way of its own.
func TestCompileOverride(t *testing.T) {
	l := lexicon(t)
	l.Compile = map[string]constrain.CompileFunc{"city": func(c constrain.Condition) filter.Filter {
		return filter.Contains{Field: "city", Sub: c.Values[0].(string)}
	}}
	c := constrain.Constraint{Condition: constrain.Is("city", "Quay")}
	compiled, _ := constrain.Compile(tickets, l, []constrain.Constraint{c})
	if !tickets.Schema.Match(constrain.Joint(compiled), meta(filterFields{"city": "New Quay"})) {
		t.Error("the override is not used")
	}
}

// A constraint goes only to the collections that have its field.
func TestCompileSkipsForeignFields(t *testing.T) {
	p := desk(t)
	r := p.Parse("tickets in Leeds under clause seven", today)
	for _, c := range []struct {
		n    int
		spec string
	}{{1, "tickets"}, {1, "terms"}} {
		spec := tickets
		if c.spec == "terms" {
			spec = terms
		}
		if compiled, _ := constrain.Compile(spec, p.Lexicon(), r.Constraints); len(compiled) != c.n {
			t.Errorf("%s: %d", c.spec, len(compiled))
		}
	}
}
