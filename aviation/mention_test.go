package aviation_test

import (
	"testing"

	"github.com/sextant-rag/sextant/aviation"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
)

func TestWhatATextMentionsIsACondition(t *testing.T) {
	reads(t, sampleReader(t).Parser, [][2]string{
		{"accidents whose report mentions mast bumping", "text mentions mast bumping"},
		{"How many accidents mention carburetor icing?", "text mentions carburetor icing"},
		{"reports mentioning a bird strike in Texas since 2010", "text mentions bird strike; state eq TX; event_date gte 2010-01-01.."},
		{`Cessna 172 accidents whose narrative contains the phrase "ran out of fuel"`, "make eq CESSNA; model contains 172; narrative mentions ran out of fuel"},
		{`every report that says "recently purchased"`, "text mentions recently purchased"},
		{"accidents whose probable cause mentions fuel exhaustion or fuel starvation", "cause mentions fuel exhaustion fuel starvation"},
		{"reports mentioning mast bump* in the probable cause", "cause mentions mast bump*"},
		{"helicopter accidents in Alaska that mention whiteout", "aircraft_category eq Helicopter; state eq AK; text mentions whiteout"},
		{"fatal accidents whose report does not mention weather", "severity eq fatal; text not_mentions weather"},
		{"accidents in Oregon with no mention of ice", "state eq OR; text not_mentions ice"},
		{`accidents that mention "loss of control" and "spin"`, "text mentions loss of control; text mentions spin"},
		{"reports that mention fuel near contamination", "text mentions fuel"},
		{"reports that mention fuel within 3 words of selector", "text mentions fuel"},
		{"which reports mention geese per year", "text mentions geese"},
		{"articles that mention Boeing", "text mentions Boeing"},
	})
}

// Words that only look like it stay words.
func TestWhatOnlyAsksWhatATextSays(t *testing.T) {
	reads(t, sampleReader(t).Parser, [][2]string{
		{"Does 91.17 mention blood alcohol?", "cfr_section eq 91.17"},
		{"What does the report on N106US say?", "registration eq N106US"},
		{"What does 14 CFR 91.155 say about cloud clearance?", "cfr_section eq 91.155"},
		{"accidents mentioned in the news", ""},
		{"what does the report mention about the engine?", ""},
		{"Did the pilot mention icing?", ""},
		{"tanks that contain fuel", ""},
	})
}

// Where a condition on the text looks, and how far apart words may stand.
func TestMentionsAreExact(t *testing.T) {
	p := sampleReader(t).Parser
	for question, want := range map[string]string{
		"reports that mention fuel near contamination":               `mentions "fuel" near "contamination" within 5`,
		"reports that mention fuel within 3 words of selector":       `mentions "fuel" near "selector" within 3`,
		`accidents whose cause mentions ("ice" or "icing")`:          `mentions in cause ("ice", "icing")`,
		"accidents whose narrative does not mention the flight plan": `mentions in narrative any and not mentions in narrative "flight plan"`,
		"reports mentioning mast bump*":                              `mentions "mast bump*"`,
		"articles that mention Boeing":                               `none`, // not a condition on accidents
	} {
		parts, _ := constrain.Compile(aviation.Incidents(), aviation.Lexicon(), p.Parse(question, clock).Constraints)
		got := "none"
		if len(parts) > 0 {
			got = filter.String(constrain.Joint(parts))
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", question, got, want)
		}
	}
}
