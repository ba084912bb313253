package constrain_test

import (
	"strings"
	"testing"

	"github.com/sextant-rag/sextant/constrain"
)

// sidesOf writes what a question sets side by side: "label: conditions | ...".
func sidesOf(r constrain.Reading) string {
	out := make([]string, len(r.Sides))
	for i, s := range r.Sides {
		out[i] = s.Label + ": " + stated(s.Constraints)
	}
	return strings.Join(out, " | ")
}

// Two conditions that exclude each other are two groups and never one that is empty.
func TestSidesThatExcludeEachOther(t *testing.T) {
	p := desk(t)
	for question, want := range map[string]string{
		"tickets in Leeds and outside Leeds in 2012":              "Leeds: city eq Leeds | not Leeds: city not_in Leeds",
		"tickets both in Leeds and not in Leeds":                  "Leeds: city eq Leeds | not Leeds: city not_in Leeds",
		"tickets under warranty against those not under warranty": "under warranty: warranty eq true | not under warranty: warranty eq false",
		"tickets in Leeds and York":                               "",
		"tickets in Leeds but not in York":                        "",
		"tickets not in Leeds in 2012":                            "",
	} {
		r := p.Parse(question, today)
		if got := sidesOf(r); got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
		if want != "" && !r.Request.Compared {
			t.Errorf("%s: the sides are not compared", question)
		}
	}
}

// A share whose part is also said of the whole is taken of the whole without it, which is said.
func TestPartIsNoConditionOfTheWhole(t *testing.T) {
	r := desk(t).Parse("Urgent tickets in Leeds, what share was urgent?", today)
	if got := stated(r.Constraints); got != "city eq Leeds" {
		t.Errorf("the whole is %q, want the city alone", got)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "Urgent") {
		t.Errorf("notes are %q, want one on the condition that was left out", r.Notes)
	}
}

func TestRatesAndCountedFirsts(t *testing.T) {
	p := desk(t)
	for question, want := range map[string]string{
		"urgent tickets a year since 2010":  "group year",
		"how many visits a year":            "group year of visits",
		"tickets by the year":               "group year",
		"tickets opened a year ago":         "",
		"the 100 latest tickets in Leeds":   "last 100",
		"the twelve oldest tickets of York": "first 12",
		"ten most recent tickets":           "last 10",
		"tickets in York a month later":     "",
	} {
		if got := asked(p.Parse(question, today).Request); got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}
