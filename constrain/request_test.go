package constrain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant/constrain"
)

func asked(r constrain.Request) string {
	var groups []string
	for _, g := range r.Groups {
		groups = append(groups, g.Name)
	}
	out := fmt.Sprint(r.Kind, " ", strings.Join(groups, "+"))
	if r.N > 0 {
		out += fmt.Sprint(" ", r.N)
	}
	if r.Least {
		out += " least"
	}
	if r.Of != "" {
		out += " of " + r.Of
	}
	if r.Risk {
		out += " risk"
	}
	if r.Unit != "" {
		out += " " + r.Unit
	}
	if r.Compared {
		out += " compared"
	}
	return strings.Join(strings.Fields(out), " ")
}

func TestRequests(t *testing.T) {
	p := desk(t)
	for question, want := range map[string]string{
		"How many tickets in Leeds?":                        "count",
		"number of tickets per year":                        "group year",
		"how many devices were soaked":                      "count devices",
		"how many visits in 2012":                           "sum of visits",
		"list all tickets in York":                          "list",
		"Which tickets are open?":                           "list",
		"tickets by city and year":                          "group city+year",
		"break down tickets by fault":                       "group fault",
		"how did faults vary":                               "group fault",
		"yearly tickets":                                    "group year",
		"top 3 cities":                                      "top city 3",
		"which five cities have the most tickets":           "top city 5",
		"the five most common faults":                       "top fault 5",
		"deadliest year":                                    "top year 1 of visits",
		"rank cities by tickets":                            "top city 10",
		"a city breakdown of tickets":                       "group city",
		"how did faults of tickets split":                   "group fault",
		"how frequently were batteries swollen":             "count",
		"which city has the fewest tickets?":                "top city 1 least",
		"what share of tickets were urgent":                 "share",
		"the first ticket in Hull":                          "first 1",
		"the three most recent tickets":                     "last 3",
		"Leeds versus York":                                 "compared",
		"are there more tickets in Leeds than in York":      "",
		"which had more water damage, Acme or Bolt tickets": "compared",
		"how many different faults are there":               "distinct fault",
		"number of distinct cities with open tickets":       "distinct city",
		"the ticket with the most visits":                   "max 1 of visits",
		"which ticket needed the fewest visits":             "min 1 of visits",
		"worst ticket of 2014":                              "max 1 of visits",
		"the five worst tickets":                            "max 5 of visits",
		"average number of visits for Acme tickets":         "mean of visits",
		"visits by city":                                    "group city of visits",
		"how many visits per year":                          "group year of visits",
		"which city had the most visits":                    "top city 1 of visits",
		"worst city":                                        "top city 1 of visits",
		"share of urgent tickets by city":                   "share city",
		"share of urgent tickets, Acme against Bolt":        "share compared",
		"are repairs getting safer":                         "group year risk compared",
		"trend in water damage tickets":                     "group year",
		"which city is the most dangerous":                  "top city 10 risk",
		"which devices are the most dangerous":              "top fault 10 risk",
		"is Acme safer than Bolt":                           "risk compared",
		"hello":                                             "",
	} {
		if got := asked(p.Parse(question, today).Request); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

// The conditions after the verb of a share are its part, not the whole it is of.
func TestShareHasAPart(t *testing.T) {
	r := desk(t).Parse("what share of Acme tickets in Leeds were urgent", today)
	if got := stated(r.Constraints); got != "vendor eq Acme; city eq Leeds" {
		t.Errorf("whole: %s", got)
	}
	if got := stated(r.Part); got != "priority eq urgent" {
		t.Errorf("part: %s", got)
	}
}

// Without a verb, what stands before the noun is the part.
func TestShareWithoutAVerb(t *testing.T) {
	r := desk(t).Parse("share of urgent tickets in Leeds", today)
	if got := stated(r.Constraints) + " / " + stated(r.Part); got != "city eq Leeds / priority eq urgent" {
		t.Error(got)
	}
}

// A breakdown's own rows are no conditions.
func TestNamedRowsAreNoConditions(t *testing.T) {
	r := desk(t).Parse("tickets by fault: broken screen, water damage or battery", today)
	if len(r.Constraints) != 0 {
		t.Errorf("%s", stated(r.Constraints))
	}
}
