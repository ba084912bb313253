package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/sextant-rag/sextant"
)

func layAnswer(a sextant.Answer, width int) string {
	p := newPage(width, false)
	writeAnswer(p, &a)
	return p.String()
}

var state = sextant.Constraint{Field: "state", Op: sextant.OpEq, Values: []any{"AK"}, Text: "Alaska", Origin: sextant.FromRule, Alone: 5123, Unknown: 57}

var years = sextant.Constraint{Field: "event_date", Op: sextant.OpBetween, Values: []any{"2008-01-01", "2012-12-31"}, Text: "between 2008 and 2012", Origin: sextant.FromRule, Alone: 9120}

func TestAnswerWithComputedTable(t *testing.T) {
	golden(t, "answer_computed", layAnswer(sextant.Answer{
		Question: "How many fatal Cessna 172 accidents happened in Alaska between 2008 and 2012, by year?",
		Status:   sextant.Answered, Confidence: "high", Intent: "factual", Strategy: "direct", AsOf: "2026-03-15",
		Summary: "4 events match: 1 in 2008, 2 in 2010 and 1 in 2012.",
		Ledger: sextant.Ledger{Joint: 4, Constraints: []sextant.Constraint{
			state, years,
			{Field: "model", Op: sextant.OpContains, Values: []any{"172"}, Text: "Cessna 172", Origin: sextant.FromRule, Alone: 12345, Unknown: 3},
			{Field: "make", Op: sextant.OpEq, Values: []any{"CESSNA"}, Assumed: "Cesna read as Cessna", Text: "Cesna", Origin: sextant.FromRule, Alone: 27000},
		}},
		Computed: []sextant.Computed{{
			Kind: "group", Title: "Events by year", UnitLabel: "events", Total: 4, Unknown: 1, GroupBy: "year",
			Columns: []string{"year", "events"}, Rows: [][]any{{"2008", int64(1)}, {"2009", 0}, {"2010", json.Number("2")}, {"2012", 1.0}},
			IDs: []string{"20080302X00257", "20100617X12345", "20100701X00001", "20120202X00003"},
			Method: sextant.Method{
				Scope: "events with at least one aircraft that fits", Period: "2008-01-01 to 2012-12-31", DataDate: "2017-03-20", Files: []string{"AviationData-2017.csv.gz"}, OpenCases: 2,
				Unknown:     []string{"The state is not recorded for 57 events."},
				OtherCounts: []sextant.OtherCount{{Rule: "aircraft instead of events", Count: 5, Why: "one event had two aircraft"}},
			},
		}},
		NotHeld: []sextant.NotHeld{{Collection: "regulations", Reason: "Nothing has been taken in.", Command: "sextant ingest ecfr"}},
	}, 80))
}

func TestAnswerWithFindings(t *testing.T) {
	quote := func(id, locator, text string) sextant.Quote {
		return sextant.Quote{DocumentID: sextant.DocumentID(id), Title: "Cessna 172M, Talkeetna, AK, 2010-06-17", Locator: locator, Text: text}
	}
	cause := quote("ntsb:20100617X12345", "Probable cause", "The pilot's failure to maintain\nadequate airspeed.")
	golden(t, "answer_findings", layAnswer(sextant.Answer{
		Question: "What caused it?", Status: sextant.Partial, Confidence: "medium", Summary: "The investigators found a stall.",
		Ledger: sextant.Ledger{Joint: 1, Constraints: []sextant.Constraint{state}},
		Findings: []sextant.Finding{
			{Text: cause.Text, Quotes: []sextant.Quote{cause}, Confidence: "high"},
			{Text: "The aircraft was destroyed in both events.", Confidence: "low", Quotes: []sextant.Quote{
				quote("ntsb:20100701X00001", "Record, aircraft 1", "Damage: destroyed."), quote("ntsb:20100617X12345", "Record, aircraft 1", "Damage: destroyed."),
			}},
		},
		Missing: []sextant.Aspect{{Name: "whether it was legal"}},
		Caveats: []string{"Causes are those of the final reports."},
		Removed: []sextant.Removed{{Text: "The pilot was tired.", Reason: "No quote says so."}},
	}, 80))
}

func TestAnswerWithProofOfAbsence(t *testing.T) {
	two := int64(2)
	golden(t, "answer_no_data", layAnswer(sextant.Answer{
		Question: "Fatal glider accidents in Alaska in 2012?", Status: sextant.NoData, Summary: "No event matches all conditions.",
		Ledger: sextant.Ledger{
			Constraints:     []sextant.Constraint{state, {Field: "severity", Op: sextant.OpEq, Values: []any{"fatal"}, Origin: sextant.FromUser, Text: "severity = fatal", Alone: 15876}},
			Relaxations:     []sextant.Relaxation{{Drop: []string{"state"}, DropAt: []int{0}, Count: 2}, {Drop: []string{"severity"}, Count: 40}},
			Available:       []sextant.Available{{Field: "event_date", Values: [][]any{{"2009", int64(2)}, {"2011", json.Number("1200")}}}},
			OutsideCoverage: []string{"Nothing is held for 2021: the data end on 2017-03-20."},
			Unenforceable:   []sextant.Unenforceable{{Text: "above 8,000 ft", Field: "altitude", Reason: "no collection records it"}},
			UnknownValues:   []sextant.UnknownValue{{Text: "Zesnaxx", Field: "make", Nearest: []string{"CESSNA"}}},
			Ambiguous:       []sextant.Ambiguity{{Text: "Washington", Readings: []sextant.Reading{{Field: "state", Op: sextant.OpEq, Values: []any{"WA"}, Count: &two}, {Note: "the city of Washington, DC"}}}},
		},
		Suggestions: []string{"How many glider accidents happened in 2012?"},
	}, 80))
}

// TestAnswersOfTheAPI lays out every answer the HTTP API has a golden file for, as it
// comes over the wire.
func TestAnswersOfTheAPI(t *testing.T) {
	files, err := filepath.Glob("../../httpapi/testdata/answer_*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden answers: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var into answerReply
		if err := decodeReply(data, &into); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		text := layAnswer(into.Answer, 80)
		for _, must := range []string{into.Summary, into.Question} {
			if !strings.Contains(words(text), words(sextant.CleanText(must))) {
				t.Errorf("%s: %q is not on the page:\n%s", file, must, text)
			}
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Errorf("%s: control characters reach the page: %q", file, text)
		}
		if strings.HasSuffix(file, "answer_everything.json") || strings.HasSuffix(file, "answer_hostile.json") {
			golden(t, "api_"+strings.TrimSuffix(filepath.Base(file), ".json"), text)
		}
	}
}

// words is text without its line breaks and indentation.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestEveryStatusHasWords(t *testing.T) {
	for _, s := range []sextant.Status{
		sextant.Answered, sextant.Partial, sextant.NoData, sextant.InsufficientEvidence,
		sextant.OutOfScope, sextant.NeedsClarification, sextant.BudgetExhausted, sextant.SourceUnavailable,
	} {
		if words, code := statusWords(s); words == string(s) || code == "" {
			t.Errorf("%s is shown as %q", s, words)
		}
	}
}

func TestLongResultsAreCutAndSayso(t *testing.T) {
	c := sextant.Computed{Title: "Events by model", UnitLabel: "events", Total: 5000, Columns: []string{"model", "events"}}
	for range maxRows + 7 {
		c.Rows = append(c.Rows, []any{"172", 1})
	}
	for range 1000 {
		c.IDs = append(c.IDs, "20080302X00257")
	}
	p := newPage(80, false)
	writeComputed(p, &c)
	for _, want := range []string{"and 7 more rows", "and 4,970 more: --json has them"} {
		if !strings.Contains(strings.Join(strings.Fields(p.String()), " "), want) {
			t.Errorf("%q is missing in:\n%s", want, p.String())
		}
	}
}
