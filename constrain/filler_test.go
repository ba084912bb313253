package constrain_test

import (
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

// Bare words for how far a record has come, for its links and for what changed in it are
// everyday words: they are read so only where nothing else stands in the question.
func TestBareWordsOfARecord(t *testing.T) {
	l := lexicon(t)
	l.Asked = map[string][]string{"still open": {"status"}, "been closed": {"status"}, "link": {"cost"}, "report out": {"status"}, "report link": {"cost"}}
	l.Stages = []string{"status"}
	p := constrain.NewParser(constrain.NewVocabulary([]sextant.Collection{tickets}, values), l, nil)
	for question, want := range map[string]string{
		"Is T-10422 still open?":                                           "status",
		"Can you tell me whether ticket T-10422 is still open?":            "status",
		"Has T-10422 been closed?":                                         "status",
		"link for T-10422":                                                 "cost",
		"Is the report out on T-10422?":                                    "status",
		"Was the lid bent in T-10422, and where is the report link?":       "cost",
		"What changed in T-10422?":                                         "changes",
		"What is the difference between the two versions of T-10422?":      "changes",
		"Lid size in T-10422: what changed between preliminary and final?": "changes",
		"Was the lid of T-10422 still open?":                               "",
		"In T-10422, had the valve been closed by then?":                   "",
		"Was a chain link bent in T-10422?":                                "",
		"Which part of the link failed in T-10422?":                        "",
		"What was the difference between the two voltages in T-10422?":     "",
		"Why was the voltage changed from 12 in T-10422?":                  "",
		"What changed in the sound of the fan before T-10422?":             "",
		"Did the fan's speed change between the two runs of T-10422?":      "",
	} {
		r := p.Parse(question, today).Request
		got := ""
		switch {
		case r.Changes:
			got = "changes"
		case len(r.Fields) > 0:
			got = r.Fields[0]
		}
		if got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}
