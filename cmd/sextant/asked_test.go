package main

import (
	"slices"
	"testing"

	"github.com/sextant-rag/sextant"
)

// Words that name a way of asking are everyday words too: a question with one in it is not
// refused, and not answered as another, for that word.

// missing checks which parts of a question are listed as not answered.
func missing(names ...string) func(*testing.T, sextant.Answer) {
	return func(t *testing.T, a sextant.Answer) {
		var got []string
		for _, m := range a.Missing {
			got = append(got, m.Name)
		}
		if !slices.Equal(got, names) {
			t.Errorf("%s: missing %q, want %q", a.Question, got, names)
		}
	}
}

func TestWaysOfAskingAreEverydayWords(t *testing.T) {
	d := made(t)
	for _, f := range []form{
		{"an opinion beside a count", "How many accidents were there in 2012 and which do you recommend?", sextant.Partial, `\d+ events \(in 2012\)`, "", missing("do you recommend")},
		{"a forecast beside a count", "How many accidents were there in 2012? Who will win next year?", sextant.Partial, `\d+ events \(in 2012`, "", missing("will")},
		{"an opinion beside a cause", "Why did CEN16LA901 crash and do you think it was bad?", sextant.Partial, `CEN16LA901`, "", missing("do you think")},
		{"a cause by way of an opinion", "What do you think caused CEN16LA901?", sextant.Answered, `flare`, "could not be enforced", missing()},
		{"a date to come", "When will the final report of CEN16LA901 be published?", sextant.Answered, `5 January 2017`, "could not be enforced", nil},
		{"only a forecast", "How many people will be killed next time?", sextant.InsufficientEvidence, `“will” could not be enforced`, `\d+ people`, nil},
		{"only an opinion", "Which aircraft is the best of 2012?", sextant.InsufficientEvidence, `could not be enforced`, "", nil},
		{"a link beside a cause", "What was the probable cause of CEN16LA901 and what is the docket link?", sextant.Answered, `flare.*link to the docket: none held`, "", nil},
		{"a link after a cause", "Why did CEN16LA901 crash? Also give me the docket link.", sextant.Answered, `flare.*link to the docket: none held`, "", nil},
		{"a door that is open", "In CEN16LA901, was the cabin door still open?", sextant.InsufficientEvidence, ``, "status of the report", nil},
		{"a valve that is closed", "Had the fuel valve been closed in CEN16LA901?", sextant.InsufficientEvidence, ``, "status of the report", nil},
		{"a link of a chain", "Was a control link broken in CEN16LA901?", sextant.InsufficientEvidence, ``, "docket", nil},
		{"asked kindly", "Can you tell me whether CEN16LA901 is still open?", sextant.Answered, `^CEN16LA901: status of the report: Probable Cause`, "", nil},
		{"a difference between things", "What was the difference between the two airplanes' speeds in CEN16LA901?", sextant.InsufficientEvidence, ``, "revision", nil},
		{"a setting that was changed", "Why was the frequency changed from 121.5 in CEN16LA901?", sextant.Answered, ``, "revision", nil},
		{"revisions in other words", "How did the record of CEN12FA100 change between preliminary and final?", sextant.Answered, `differs on \d+ facts?`, "", nil},
		{"one fact of two revisions", "What changed in the injuries between the preliminary and the final report of CEN12FA100?", sextant.Answered, `differs on \d+ facts?`, "", nil},
	} {
		t.Run(f.name, func(t *testing.T) { d.form(t, f) })
	}
}
