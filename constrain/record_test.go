package constrain_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

// recordDesk is the repair desk with words for the state and the parts of a record.
func recordDesk(t *testing.T) *constrain.Parser {
	t.Helper()
	l := lexicon(t)
	l.Asked = map[string][]string{"still open": {"status"}}
	l.Stages = []string{"status"}
	l.Opinions = []string{"finding"}
	l.TextNouns = map[string]constrain.TextNoun{"finding": {Part: "finding"}, "cause": {Part: "cause"}, "report": {}}
	return constrain.NewParser(constrain.NewVocabulary([]sextant.Collection{tickets, terms}, values), l, nil)
}

// What looks like a number and is a model or a range of years names no record, so that the
// state stays a condition.
func TestStateOfManyRecordsIsACondition(t *testing.T) {
	p := recordDesk(t)
	for question, asks := range map[string]bool{
		"is T-1042 still open?":                           true,
		"is ticket WX10425 still open?":                   true,
		"which tickets of 2012-2014 are still open":       false,
		"which X-100 tickets are still open":              false,
		"how many tickets with the K10425 are still open": false,
	} {
		r := p.Parse(question, today)
		if got := len(r.Request.Fields) > 0; got != asks {
			t.Errorf("%s: asks of a record is %v, want %v", question, got, asks)
		}
		if got := strings.Contains(stated(r.Constraints), "status eq open"); got == asks {
			t.Errorf("%s: conditions %q", question, stated(r.Constraints))
		}
	}
}

// A part is left out of the answer only where the words end there, and never of a count.
func TestPartLeftOut(t *testing.T) {
	p := recordDesk(t)
	for question, want := range map[string]bool{
		"what happened in T-1042? leave out the findings":     true,
		"tickets in Leeds, leave out the findings":            true,
		"tickets in Leeds excluding findings of water damage": false,
		"tickets excluding cause reports":                     false,
		"how many tickets in Leeds excluding findings":        false,
	} {
		if got := len(p.Parse(question, today).Request.Without) > 0; got != want {
			t.Errorf("%s: left out is %v, want %v", question, got, want)
		}
	}
}

// "No X is mentioned" denies a mention of X.
func TestMentionDeniedInThePassive(t *testing.T) {
	reads(t, recordDesk(t), [][2]string{
		{"tickets where coffee is mentioned", "text mentions coffee"},
		{"tickets where no coffee is mentioned", "text not_mentions coffee"},
		{"tickets in which none of the coffee was mentioned", "text not_mentions coffee"},
		{"tickets where coffee is not mentioned", "text not_mentions coffee"},
	})
}

// A topic that is denied is told from one that is asked about.
func TestDeniedTopic(t *testing.T) {
	p := recordDesk(t)
	for question, want := range map[string]bool{
		"how many tickets in Leeds did not involve coffee": true,
		"tickets in Leeds without coffee":                  true,
		"how many tickets in Leeds involved coffee":        false,
		"tickets with coffee, not in Leeds":                false,
	} {
		r := p.Parse(question, today)
		if r.Denied != want || !slices.Contains(r.Topic, "coffee") {
			t.Errorf("%s: denied is %v of %q, want %v", question, r.Denied, r.Topic, want)
		}
	}
}

// "Show" asks for something; only a show is the title of a work.
func TestQuotedBehindShow(t *testing.T) {
	reads(t, recordDesk(t), [][2]string{
		{`Show "X-100" tickets in Leeds`, "model eq X-100; city eq Leeds"},
		{`Please show "Leeds" tickets`, "city eq Leeds"},
		{`Was the TV show "Leeds" made for urgent tickets?`, "priority eq urgent"},
	})
}
