package httpapi

import (
	"fmt"

	"github.com/sextant-rag/sextant"
)

// One answer for every way a question can end and every kind of computed value. The
// browser tests show them all; the golden files are their JSON.

func constraint(field string, op sextant.Op, text string, alone, unknown int64, values ...any) sextant.Constraint {
	return sextant.Constraint{Field: field, Op: op, Values: values, Text: text, Origin: sextant.FromRule, Collections: []string{"incidents"}, Alone: alone, Unknown: unknown}
}

func ledger(joint int64, expr string, constraints ...sextant.Constraint) sextant.Ledger {
	return sextant.Ledger{Constraints: constraints, Filter: expr, Joint: joint, JointByCollection: map[string]int64{"incidents": joint},
		Coverage: []sextant.Coverage{{Collection: "incidents", Field: "event_date", From: "1982-01-01", To: "2017-03-20"}}}
}

func answer(question string, status sextant.Status, summary string, change func(*sextant.Answer)) sextant.Answer {
	a := sextant.Answer{Question: question, Status: status, Summary: summary, Intent: "factual", Strategy: "direct", Confidence: "high", AsOf: "2026-03-15",
		Usage: sextant.Usage{DurationMS: 12.5}, TraceID: "4bf92f3577b34da6a3ce929d0e0e4736"}
	if change != nil {
		change(&a)
	}
	return a
}

func card() sextant.Method {
	return sextant.Method{Unit: "events: one for each accident or incident, however many aircraft took part", Scope: "NTSB accidents and incidents, all countries",
		Period: "2008-01-01 to 2012-12-31", Coverage: "1982-01-01 to 2017-03-20", DataDate: "2017-03-20", Files: []string{"AviationData-2017.csv.gz"}}
}

func byYear() sextant.Answer {
	return answer("How many fatal Cessna 172 accidents happened in Alaska between 2008 and 2012, by year?", sextant.Answered, "5 events, in four of the five years.", func(a *sextant.Answer) {
		a.Ledger = ledger(5, `state = AK and severity = fatal and aircraft(make = CESSNA and model contains 172) and event_date between 2008-01-01 and 2012-12-31`,
			constraint("severity", sextant.OpEq, "fatal", 15554, 105, "fatal"),
			constraint("make", sextant.OpEq, "Cessna", 25467, 73, "CESSNA"),
			constraint("model", sextant.OpContains, "172", 9872, 90, "172"),
			constraint("state", sextant.OpEq, "Alaska", 5388, 4285, "AK"),
			constraint("event_date", sextant.OpBetween, "between 2008 and 2012", 9021, 0, "2008-01-01", "2012-12-31"))
		a.Ledger.Constraints[3].Within = 1
		a.Computed = []sextant.Computed{{Kind: "group", Title: "Events by year", Unit: "documents", UnitLabel: "events", Total: 5, GroupBy: "year", Columns: []string{"year", "events"},
			Rows: [][]any{{"2008", 1}, {"2009", 1}, {"2010", 2}, {"2011", 0}, {"2012", 1}},
			IDs:  []string{"20080316X00312", "20090730X90115", "20100701X33001", "20100922X61123", "20120514X33801"}, Filter: a.Ledger.Filter, Method: card()}}
		a.Computed[0].Method.Unknown = []string{"The state is not recorded for 4,285 of 78,405 events; 1 of them satisfies all other conditions."}
		a.Computed[0].Method.AtLeast = true
		a.Computed[0].Method.OtherCounts = []sextant.OtherCount{{Rule: "aircraft instead of events", Count: 6, Why: "Two Cessna 172s met in one of the events."}}
	})
}

func causal() sextant.Answer {
	d := talkeetna()
	cause := quote(d, "A loss of engine power due to carburetor ice, and the pilot’s failure to keep flying speed afterwards.")
	heat := quote(d, "The carburetor heat control was found in the OFF position.")
	return answer("What caused the Cessna 172 accident at Talkeetna on 27 June 2010?", sextant.Answered,
		"The NTSB found a loss of engine power due to carburetor ice; the airplane then stalled.", func(a *sextant.Answer) {
			a.Intent, a.Strategy = "causal", "sequential"
			a.Ledger = ledger(1, `aircraft(make = CESSNA and model contains 172) and city = TALKEETNA and event_date = 2010-06-27`,
				constraint("make", sextant.OpEq, "Cessna", 25467, 73, "CESSNA"), constraint("model", sextant.OpContains, "172", 9872, 90, "172"),
				constraint("city", sextant.OpEq, "Talkeetna", 141, 15, "TALKEETNA"), constraint("event_date", sextant.OpEq, "27 June 2010", 9, 0, "2010-06-27"))
			a.Findings = []sextant.Finding{
				{Text: cause.Text, Quotes: []sextant.Quote{cause}, Source: "incidents", Confidence: "high"},
				{Text: "Carburetor heat was off when the wreckage was examined.", Quotes: []sextant.Quote{heat, quote(d, "carburetor heat was not applied")}, Source: "incidents", Confidence: "high"},
				{Text: "The conditions favoured ice.", Quotes: []sextant.Quote{quote(d, "temperature 14 °C, dew point 13 °C")}, Source: "incidents", Confidence: "medium"}}
			a.CausalChain = []sextant.Finding{
				{Text: "The engine ran rough eleven minutes after departure.", Quotes: []sextant.Quote{quote(d, "The pilot reported a rough engine eleven minutes later and turned back.")}, Source: "incidents", Confidence: "high"},
				{Text: "It stopped.", Quotes: []sextant.Quote{quote(d, "heard the engine “cough” twice and stop")}, Source: "incidents", Confidence: "high"},
				{Text: "The airplane stalled at about 200 ft.", Quotes: []sextant.Quote{quote(d, "The airplane stalled at about 200 ft above the trees.")}, Source: "incidents", Confidence: "high"}}
			a.Aspects = []sextant.Aspect{{Name: "cause", Covered: true}}
			a.Caveats = []string{"Probable cause is the Board’s opinion."}
			a.Evidence = []sextant.Passage{passage(d, 2, d.Text[d.Parts[2].Start:d.Parts[2].End], 0.93), passage(d, 1, d.Text[d.Parts[1].Start:d.Parts[1].End], 0.81)}
		})
}

func partial() sextant.Answer {
	d := talkeetna()
	return answer("Why did N733QX lose power, and how many hours did the pilot have?", sextant.Partial, "The engine lost power through carburetor ice. The record does not state the pilot’s hours.", func(a *sextant.Answer) {
		a.Intent, a.Confidence = "causal", "medium"
		a.Ledger = ledger(1, "registration = N733QX", constraint("registration", sextant.OpEq, "N733QX", 1, 912, "N733QX"))
		a.Findings = []sextant.Finding{{Text: "A loss of engine power due to carburetor ice.", Quotes: []sextant.Quote{quote(d, "A loss of engine power due to carburetor ice")}, Source: "incidents", Confidence: "high"}}
		a.Aspects = []sextant.Aspect{{Name: "why the engine lost power", Covered: true}, {Name: "the pilot’s hours", Covered: false}}
		a.Missing = a.Aspects[1:]
		a.Evidence = []sextant.Passage{passage(d, 2, d.Text[d.Parts[2].Start:d.Parts[2].End], 0.93)}
	})
}

func noData() sextant.Answer {
	return answer("How many fatal Cessna 172 accidents happened in Vermont in 2016?", sextant.NoData, "No event satisfies all conditions.", func(a *sextant.Answer) {
		a.Ledger = ledger(0, `severity = fatal and aircraft(make = CESSNA and model contains 172) and state = VT and event_date between 2016-01-01 and 2016-12-31`,
			constraint("severity", sextant.OpEq, "fatal", 15554, 105, "fatal"),
			constraint("make", sextant.OpEq, "Cessna", 25467, 73, "CESSNA"),
			constraint("model", sextant.OpContains, "172", 9872, 90, "172"),
			constraint("state", sextant.OpEq, "Vermont", 262, 4285, "VT"),
			constraint("event_date", sextant.OpBetween, "2016", 1670, 0, "2016-01-01", "2016-12-31"))
		a.Ledger.Relaxations = []sextant.Relaxation{{Drop: []string{"severity"}, DropAt: []int{0}, Count: 1}, {Drop: []string{"event_date"}, DropAt: []int{4}, Count: 6}, {Drop: []string{"state"}, DropAt: []int{3}, Count: 12}}
		a.Ledger.Widenings = []sextant.Widening{{Field: "model", At: 2, Op: sextant.OpContains, Values: []any{"17"}, Count: 2}}
		a.Ledger.Available = []sextant.Available{{Field: "event_date", Values: [][]any{{"1983", 1}, {"1989", 2}, {"1994", 1}, {"2003", 2}}}, {Field: "state", Values: [][]any{{"CA", 3}, {"FL", 3}, {"TX", 2}, {"AZ", 1}, {"OH", 1}, {"PA", 1}, {"WI", 1}}}}
		a.Computed = []sextant.Computed{{Kind: "count", Title: "Events", Unit: "documents", UnitLabel: "events", Filter: a.Ledger.Filter, Method: card()}}
		a.Suggestions = []string{"How many Cessna 172 accidents happened in Vermont in 2016?", "How many fatal Cessna 172 accidents happened in Vermont?"}
	})
}

func notHeld() sextant.Answer {
	return answer("What does 14 CFR 91.103 require before a flight?", sextant.InsufficientEvidence, "This needs the regulations, which are not ingested.", func(a *sextant.Answer) {
		a.Intent, a.Confidence = "regulatory", "low"
		a.Ledger = sextant.Ledger{Unenforceable: []sextant.Unenforceable{{Text: "91.103", Field: "cfr_section", Reason: "No collection that holds documents has this field."}}}
		a.NotHeld = []sextant.NotHeld{{Collection: "regulations", Reason: "The collection holds nothing yet.", Command: "sextant ingest ecfr --parts 1,61,91,121,135"}}
		a.Missing = []sextant.Aspect{{Name: "what 91.103 requires"}}
		a.Aspects = a.Missing
	})
}

func outOfScope() sextant.Answer {
	return answer("Who won the 1998 World Cup?", sextant.OutOfScope, "These collections are about aviation accidents, rules and news.", func(a *sextant.Answer) {
		a.Intent, a.Strategy, a.Confidence = "out_of_scope", "", "high"
	})
}

func ambiguous() sextant.Answer {
	state, district := int64(71), int64(2)
	return answer("How many accidents happened in Washington in 2011?", sextant.NeedsClarification, "“Washington” can be the state or the District of Columbia, and the count differs.", func(a *sextant.Answer) {
		a.Ledger = ledger(71, "state = WA and event_date between 2011-01-01 and 2011-12-31",
			constraint("state", sextant.OpEq, "Washington", 2210, 4285, "WA"), constraint("event_date", sextant.OpBetween, "in 2011", 1850, 0, "2011-01-01", "2011-12-31"))
		a.Ledger.Ambiguous = []sextant.Ambiguity{{Text: "Washington", Readings: []sextant.Reading{
			{Field: "state", Op: sextant.OpEq, Values: []any{"WA"}, Note: "the state of Washington", Count: &state},
			{Field: "state", Op: sextant.OpEq, Values: []any{"DC"}, Note: "Washington, D.C.", Count: &district}}}}
		a.Suggestions = []string{"How many accidents happened in WA in 2011?", "How many accidents happened in DC in 2011?"}
	})
}

func exhausted() sextant.Answer {
	return answer("What do fatal stalls on base to final since 1982 have in common?", sextant.BudgetExhausted, "The limit of 3 rounds was reached; this is what is proven so far.", func(a *sextant.Answer) {
		d := talkeetna()
		a.Intent, a.Strategy, a.Confidence = "comparative", "iterative", "low"
		a.Ledger = ledger(15554, "severity = fatal", constraint("severity", sextant.OpEq, "fatal", 15554, 105, "fatal"))
		a.Findings = []sextant.Finding{{Text: "The airplane stalled at about 200 ft above the trees.", Quotes: []sextant.Quote{quote(d, "The airplane stalled at about 200 ft above the trees.")}, Source: "incidents", Confidence: "medium"}}
		a.Degraded = []sextant.Degradation{{Stage: "assess", Reason: "The limit of 3 rounds was reached."}}
		a.Usage = sextant.Usage{ModelCalls: 9, InputTokens: 48210, OutputTokens: 2114, DurationMS: 21740}
	})
}

func unavailable() sextant.Answer {
	return answer("What does the news say about icing?", sextant.SourceUnavailable, "The store of the news cannot be reached.", func(a *sextant.Answer) {
		a.Confidence = "low"
		a.Degraded = []sextant.Degradation{{Stage: "retrieve", Reason: "The store of the news cannot be reached."}}
	})
}

func everything() sextant.Answer {
	d, m := talkeetna(), merrill()
	return answer("Was the flight at Talkeetna legal, and do the sources agree?", sextant.Answered, "Nothing in the record says that a rule was broken.", func(a *sextant.Answer) {
		a.Intent, a.Strategy, a.Confidence = "compliance", "sequential", "medium"
		a.Ledger = ledger(1, "city = TALKEETNA", constraint("city", sextant.OpEq, "Talkeetna", 141, 15, "TALKEETNA"))
		a.Findings = []sextant.Finding{{Text: "The selector stood on both tanks, and the fuel was clean.", Quotes: []sextant.Quote{quote(d, "Examination found the fuel selector on both tanks, 22 gallons of clean fuel")}, Source: "incidents", Confidence: "high"}}
		a.Regulatory = []sextant.Regulatory{{Regulation: "14 CFR 91.103", Relevance: "It names what a pilot must find out before a flight.", ComplianceStatus: "unclear", Version: "2025-01-01", Quotes: []sextant.Quote{quote(d, "temperature 14 °C, dew point 13 °C")}}}
		a.Conflicts = []sextant.Conflict{{Subject: "the number of aircraft", Sides: []sextant.Finding{
			{Text: "One aircraft.", Quotes: []sextant.Quote{quote(d, "Cessna 172N, N733QX, destroyed.")}, Source: "incidents", Confidence: "high"},
			{Text: "Two aircraft.", Quotes: []sextant.Quote{quote(m, "Two aircraft:")}, Source: "news", Confidence: "low"}}}}
		a.Caveats = []string{"Our text of the rule is of 2025; it was last amended in 1989, so it read the same in 2010."}
		a.Degraded = []sextant.Degradation{{Stage: "rerank", Reason: "The cross-encoder could not be loaded; the order is that of retrieval."}}
		a.NotHeld = []sextant.NotHeld{{Collection: "news", Reason: "The collection holds nothing yet.", Command: "sextant ingest news"}}
		a.Removed = []sextant.Removed{{Text: "The pilot had 31 hours.", Reason: "The number 31 stands in none of its quotes."}}
		a.Evidence = []sextant.Passage{passage(d, 1, d.Text[d.Parts[1].Start:d.Parts[1].End], 0.7), passage(m, 0, m.Text[m.Parts[0].Start:m.Parts[0].End], 0.4)}
		a.Usage = sextant.Usage{ModelCalls: 2, InputTokens: 3120, OutputTokens: 402, DurationMS: 1840}
	})
}

func misread() sextant.Answer {
	return answer("Cesna SR22 accidents in Alasca near Zesnaxx with two toilets", sextant.Answered, "3 events.", func(a *sextant.Answer) {
		a.Ledger = ledger(3, `aircraft(make = CIRRUS and model contains SR22) and state = AK and weather = IMC`,
			constraint("make", sextant.OpEq, "SR22", 512, 73, "CIRRUS"), constraint("model", sextant.OpContains, "SR22", 498, 90, "SR22"),
			constraint("state", sextant.OpEq, "Alasca", 5388, 4285, "AK"), constraint("weather", sextant.OpNotIn, "", 5904, 2201, "VMC", "UNK"))
		cs := a.Ledger.Constraints
		cs[0].Implied, cs[2].Assumed, cs[3].Origin = true, "“Alasca” read as Alaska", sextant.FromUser
		a.Ledger.UnknownValues = []sextant.UnknownValue{{Text: "Zesnaxx", Field: "city", Nearest: []string{"ZENIA", "ZANESVILLE"}}}
		a.Ledger.Unenforceable = []sextant.Unenforceable{{Text: "two toilets", Reason: "No field of any collection holds it."}}
		a.Ledger.OutsideCoverage = []string{"2021 lies after the data of incidents, which end on 2017-03-20."}
		a.Computed = []sextant.Computed{{Kind: "count", Title: "Events", Unit: "documents", UnitLabel: "events", Total: 3, IDs: []string{"20100701X33001", "20100815X44002", "19960612X00099"}, Filter: a.Ledger.Filter, Method: card()}}
	})
}

func manyIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("20%02d0315X%05d", i%17, i*37%100000)
	}
	return ids
}
