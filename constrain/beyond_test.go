package constrain_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant/constrain"
)

// beyondFields are the kinds of what no record tells that a question was read to ask for.
func beyondFields(r constrain.Reading) string {
	var out []string
	for _, u := range r.Unenforceable {
		if constrain.Unanswerable(u) {
			out = append(out, u.Field)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// "will" and "best" also ask for what rules, books and records tell.
func TestOnlyForecastsAndOpinionsAreBeyond(t *testing.T) {
	for question, want := range map[string]string{
		"Who will win the next election?":                              "future",
		"How many people will be killed next year?":                    "future",
		"How many routers will still crash in 2030?":                   "future",
		"What will happen to Acme?":                                    "future",
		"Will there be more tickets in 2030?":                          "future",
		"Predict the tickets of 2030":                                  "future",
		"What is going to happen next year?":                           "future",
		"Which vendor is the best?":                                    "opinion",
		"In your opinion, is the Mini good?":                           "opinion",
		"Which vendors are the best in Leeds?":                         "opinion",
		"What do you think of Acme?":                                   "opinion",
		"How long will a warranty be valid for a customer under 40?":   "",
		"What will happen if a customer breaks the seal?":              "",
		"What will happen to a customer under 7.3?":                    "",
		"How will an X-100 stall?":                                     "",
		"When will the report on X-100 be published?":                  "",
		"How many days will a repair take?":                            "",
		"Which clause will apply to a soaked Mini?":                    "",
		"Who will sign for the router?":                                "",
		"Will there be a fee under clause 7 if the seal is broken?":    "",
		"Did the customer know what was going to happen?":              "",
		"Did the technician predict the fault?":                        "",
		"What was done to prevent this in the future?":                 "",
		"When the battery will die, what does clause 12 require?":      "",
		"What is the best charging voltage of an X-100?":               "",
		"What is the best known fault of the X-100?":                   "",
		"What are the best practices of clause 7?":                     "",
		"What is the best way to open a Mini?":                         "",
		"Why do you think T-1042 failed?":                              "",
		"What do you think caused the failure of T-1042?":              "",
		"Which ticket has the best described fault?":                   "",
		"What certificate will be lost by a shop that breaks clause 7": "",
	} {
		if got := beyondFields(desk(t).Parse(question, today)); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

// What can be answered is answered beside what cannot; what is one question is not.
func TestAskedBeside(t *testing.T) {
	for question, want := range map[string][]string{
		"How many X-100 tickets were there in 2012 and which vendor do you recommend?": {"do you recommend"},
		"How many tickets in Leeds? Who will win next year?":                           {"will"},
		"Why did T-1042 fail, and in your opinion was it bad?":                         nil, // no new part begins
		"Why did T-1042 fail and do you think it was bad?":                             {"do you think"},
		"How many people will die next year?":                                          nil,
		"Who will win and who will lose?":                                              nil,
		"Will there be more tickets in Leeds and York than in Hull?":                   nil,
		"How many tickets were there in Leeds and York?":                               nil,
	} {
		if got := desk(t).Parse(question, today).Beside; !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

// What is quoted after a word for a work is its title; after "show" it is a condition.
func TestTitlesAndQuotedConditions(t *testing.T) {
	reads(t, desk(t), [][2]string{
		{`Show "X-100" tickets in Leeds`, "model eq X-100; city eq Leeds"},
		{`Please show “X-100” tickets`, "model eq X-100"},
		{`show "X-100" in Leeds`, "model eq X-100; city eq Leeds"},
		{`Can you play "X-100" tickets`, "model eq X-100"},
		{`tickets like in the film "Leeds"`, ""},
		{`tickets like in the TV show "Leeds"`, ""},
		{`tickets as in a play "Leeds"`, ""},
		{`tickets as in a book titled "Leeds" in York`, "city eq York"},
	})
}
