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
		"tickets in Leeds and outside Leeds in 2012":                 "Leeds: city eq Leeds | not Leeds: city not_in Leeds",
		"tickets both in Leeds and not in Leeds":                     "Leeds: city eq Leeds | not Leeds: city not_in Leeds",
		"tickets under warranty against those not under warranty":    "under warranty: warranty eq true | not under warranty: warranty eq false",
		"compare tickets in Leeds and outside Leeds, excluding York": "Leeds: city eq Leeds | not Leeds: city not_in Leeds",
		"tickets in Leeds and York":                                  "",
		"tickets in Leeds but not in York":                           "",
		"tickets not in Leeds in 2012":                               "",
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

// What else is said of the field of two sides holds for both.
func TestThirdConditionOnTheFieldOfSides(t *testing.T) {
	reads(t, desk(t), [][2]string{
		{"compare tickets in Leeds and outside Leeds, excluding York", "city not_in York"},
		{"compare tickets in Leeds and outside Leeds in 2012", "opened between 2012-01-01..2012-12-31"},
	})
}

// Rows and sums have no place for sides on different fields: they are of both together,
// never of everything, and a reader is told.
func TestSidesOfRowsAndSums(t *testing.T) {
	p := desk(t)
	for question, restricted := range map[string]bool{
		"compare Acme tickets against cracked screens by year":         true, // both are of a device
		"how many visits did Acme tickets versus cracked screens need": true,
		"compare Acme tickets against urgent tickets by year":          false, // a device and a ticket
		"how many visits did Acme tickets versus urgent tickets take":  false,
	} {
		r := p.Parse(question, today)
		if len(r.Sides) > 0 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "not told apart") {
			t.Errorf("%s: %s, sides %q, notes %q", question, asked(r.Request), sidesOf(r), r.Notes)
		}
		if got := len(r.Constraints) == 1 && r.Constraints[0].Narrow != nil; got != restricted {
			t.Errorf("%s: restricted to either side is %v, want %v: %s", question, got, restricted, stated(r.Constraints))
		}
	}
	if r := p.Parse("compare Acme tickets against urgent tickets in 2012", today); len(r.Sides) != 2 {
		t.Errorf("a count is not compared: %q", sidesOf(r))
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
