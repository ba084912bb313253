package constrain_test

import (
	"fmt"
	"regexp"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
)

// A new field in four steps: the schema has it, a phrase names a value, a recognizer reads
// the form of it, and lists and negation work without another line.
func Example_addingAField() {
	spec := sextant.Collection{Name: "tickets", Role: sextant.RoleEvents, Schema: filter.Schema{Fields: []filter.Field{
		{Name: "bay", Kind: filter.Keyword},
	}}}
	phrases, err := constrain.ParsePhrases("the (front/street) bay -> bay=1\nbay window ->\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	lexicon := &constrain.Lexicon{Phrases: phrases, Spoken: []string{"bay"}, Recognizers: []constrain.Recognizer{bays}}
	p := constrain.NewParser(constrain.NewVocabulary([]sextant.Collection{spec}, nil), lexicon, nil)
	for _, question := range []string{"tickets in bay 7", "bay 3 and B4", "not in the street bay", "the bay window leaks", "VITAMIN B7"} {
		fmt.Printf("%s:", question)
		for _, c := range p.Parse(question, time.Time{}).Constraints {
			fmt.Printf(" %s %s %v", c.Field, c.Op, c.Values)
		}
		fmt.Println()
	}
	// Output:
	// tickets in bay 7: bay eq [7]
	// bay 3 and B4: bay in [3 4]
	// not in the street bay: bay not_in [1]
	// the bay window leaks:
	// VITAMIN B7:
}

var bayForm = regexp.MustCompile(`^B\d+$`)

// bays reads "bay 7" and "B7".
func bays(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i, t := range q.Tokens {
		switch {
		case t.Lower == "bay" && q.Joined(i+1) && q.Tokens[i+1].Number():
			out = append(out, constrain.Claim{From: i, To: i + 2, Weight: 5, Conditions: []constrain.Condition{constrain.Is("bay", q.Tokens[i+1].Text)}})
		case bayForm.MatchString(t.Text) && !q.AllUpper():
			out = append(out, constrain.Claim{From: i, To: i + 1, Conditions: []constrain.Condition{constrain.Is("bay", t.Text[1:])}})
		}
	}
	return out
}
