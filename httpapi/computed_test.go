package httpapi

import (
	"strings"

	"github.com/sextant-rag/sextant"
)

// Answers that hold one computed value each, one for every kind.

func computedAnswer(question, summary string, l sextant.Ledger, c sextant.Computed) sextant.Answer {
	return answer(question, sextant.Answered, summary, func(a *sextant.Answer) {
		c.Filter, a.Ledger = l.Filter, l
		if c.Method.Unit == "" {
			c.Method = card()
		}
		a.Computed = []sextant.Computed{c}
	})
}

func dated(text, from, to string, alone int64) sextant.Constraint {
	return constraint("event_date", sextant.OpBetween, text, alone, 0, from, to)
}

func listed() sextant.Answer {
	l := ledger(1340, "state = TX and event_date between 2010-01-01 and 2014-12-31", constraint("state", sextant.OpEq, "Texas", 5613, 4285, "TX"), dated("from 2010 to 2014", "2010-01-01", "2014-12-31", 8800))
	c := sextant.Computed{Kind: "list", Title: "Events", Unit: "documents", UnitLabel: "events", Total: 1340,
		Columns: []string{"event", "date", "place", "aircraft", "operator", "registration", "injuries", "damage", "phase", "weather", "report", "part"}, IDs: manyIDs(1000), Next: "b2Zmc2V0OjEwMDA"}
	for i, id := range c.IDs[:50] {
		c.Rows = append(c.Rows, []any{id, "2010-01-0" + string(rune('1'+i%9)), "SAN ANTONIO, TX", "CESSNA 172N", nil, "N733QX", 2, "substantial", "LANDING", "VMC", "Probable Cause", "91"})
	}
	c.Rows[0][4] = "https://operator.example/" + strings.Repeat("a", 400) // UI03: a token no page is wide enough for
	return computedAnswer("List the accidents in Texas from 2010 to 2014.", "1,340 events; the first 50 are shown.", l, c)
}

func compared() sextant.Answer {
	l := ledger(78, "severity = fatal and aircraft(make in (CESSNA, PIPER)) and event_date between 2010-01-01 and 2010-12-31",
		constraint("severity", sextant.OpEq, "fatal", 15554, 105, "fatal"), constraint("make", sextant.OpIn, "Cessna or Piper", 39508, 73, "CESSNA", "PIPER"), dated("in 2010", "2010-01-01", "2010-12-31", 1786))
	return computedAnswer("Were there more fatal accidents with Cessnas or Pipers in 2010?", "Cessna: 46 events; Piper: 33 events. One event has both.", l,
		sextant.Computed{Kind: "compare", Title: "Fatal events in 2010", Unit: "documents", UnitLabel: "events", Total: 78, GroupBy: "make", Keys: []string{"CESSNA", "PIPER"},
			Columns: []string{"make", "events"}, Rows: [][]any{{"CESSNA", 46}, {"PIPER", 33}}, IDs: manyIDs(78)})
}

func topMakes() sextant.Answer {
	l := ledger(131, "state = TX and event_date between 2014-01-01 and 2014-12-31", constraint("state", sextant.OpEq, "Texas", 5613, 4285, "TX"), dated("2014", "2014-01-01", "2014-12-31", 1535))
	m := card()
	m.CountedAs = [][]any{{"CESSNA", 31}, {"Cessna", 12}, {"CESSNA AIRCRAFT", 1}}
	m.OtherCounts = []sextant.OtherCount{{Rule: "accidents only", Count: 127, Why: "4 events are incidents."}, {Rule: "aircraft instead of events", Count: 134, Why: "Three events have two aircraft."}}
	m.OpenCases, m.Notes = 3, []string{"2014 is complete."}
	return computedAnswer("Which five makes had the most accidents in Texas in 2014?", "Cessna leads with 44 of 131 events.", l,
		sextant.Computed{Kind: "top", Title: "Makes with the most events", Unit: "documents", UnitLabel: "events", Total: 131, Unknown: 2, GroupBy: "make", N: 5, Columns: []string{"make", "events"},
			Rows: [][]any{{"CESSNA", 44}, {"PIPER", 19}, {"BEECH", 11}, {"BELL", 6}, {"AIR TRACTOR", 4}}, IDs: manyIDs(131), Method: m})
}

func share() sextant.Answer {
	l := ledger(2, `aircraft_category = Helicopter and event_date between 1995-01-01 and 1995-12-31`,
		constraint("aircraft_category", sextant.OpEq, "helicopter", 1844, 55302, "Helicopter"), dated("in 1995", "1995-01-01", "1995-12-31", 2309))
	l.Constraints[0].Within = 2291
	m := card()
	m.AtLeast = true
	m.Unknown = []string{"The category is not recorded for 2,291 of the 2,309 events of 1995."}
	return computedAnswer("What share of helicopter accidents in 1995 was fatal?", "At least 2 events are known to be of helicopters; the category is not recorded for 99 % of that year.", l,
		sextant.Computed{Kind: "share", Title: "Fatal among helicopter events", Unit: "documents", UnitLabel: "events", Total: 2, ShareOf: "severity = fatal", PartCount: 1,
			Percent: "50.0", Low: "9.5", High: "90.5", IDs: []string{"20001207X03210", "20001207X04477"}, Method: m})
}

func first() sextant.Answer {
	l := ledger(498, "model contains SR22", constraint("model", sextant.OpContains, "SR22", 498, 90, "SR22"))
	return computedAnswer("When was the first SR22 accident?", "On 16 April 2002.", l,
		sextant.Computed{Kind: "first", Title: "Earliest event", Unit: "documents", UnitLabel: "events", Total: 498, Date: "2002-04-16", IDs: []string{"20020501X00581"}})
}

func last() sextant.Answer {
	l := ledger(498, "model contains SR22", constraint("model", sextant.OpContains, "SR22", 498, 90, "SR22"))
	return computedAnswer("When was the last SR22 accident?", "On 2 March 2017.", l,
		sextant.Computed{Kind: "last", Title: "Latest event", Unit: "documents", UnitLabel: "events", Total: 498, Date: "2017-03-02", IDs: []string{"20170302X12345"}})
}

func sum() sextant.Answer {
	l := ledger(1851, "event_date between 2006-01-01 and 2006-12-31", dated("in 2006", "2006-01-01", "2006-12-31", 1851))
	m := card()
	m.OtherCounts = []sextant.OtherCount{{Rule: "United States only", Count: 620, Why: "Deaths abroad stand in notifications, whose figures are unreliable."}}
	return computedAnswer("How many people died in accidents in 2006?", "1,294 people, in 1,851 events.", l,
		sextant.Computed{Kind: "sum", Title: "Deaths", Unit: "documents", UnitLabel: "events", Total: 1851, Sum: 1294, SumOf: "fatal_count", IDs: manyIDs(1000), Next: "b2Zmc2V0OjEwMDA", Method: m})
}
