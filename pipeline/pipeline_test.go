package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store/sqlite"
)

func TestAsk(t *testing.T) {
	e, _ := library(t, nil)
	for _, tt := range []struct {
		question string
		status   sextant.Status
		total    int64
		rows     [][]any
		says     string // in summary, findings, caveats
	}{
		{question: "How many damages in North?", status: sextant.Answered, total: 3, says: "3 damages (North)"},
		{question: "How many books were damaged in North?", status: sextant.Answered, total: 4, says: "4 books"},
		{question: "damages in North in 2010", status: sextant.Answered, total: 2},
		{question: "damages by year", status: sextant.Answered, total: 6, rows: [][]any{{"2010", int64(2)}, {"2011", int64(2)}, {"2012", int64(2)}}},
		{question: "damages by branch", status: sextant.Answered, total: 6, rows: [][]any{{"North", int64(3)}, {"South", int64(2)}}},
		{question: "What share of the damages in North were in 2010?", status: sextant.Answered, total: 3, says: "66.7 %"},
		{question: "North versus South: damages", status: sextant.Answered, total: 5, rows: [][]any{{"North", int64(3)}, {"South", int64(2)}}},
		{question: "the first damage in South", status: sextant.Answered, total: 2, says: "2011-05-05"},
		{question: "the latest damage", status: sextant.Answered, total: 6, says: "2012-02-03"},
		{question: "damages in South in 2010", status: sextant.NoData, says: "each by itself: “South” 2, “in 2010” 2. Without"},
		{question: "damages in 2020", status: sextant.NoData, says: "Nothing held for 2020"},
		{question: "damages not in North", status: sextant.Answered, total: 2},
		{question: "What caused the damage on 4 July 2010?", status: sextant.Answered, total: 1, says: "The caretaker forgot the window."},
		{question: "What caused the damage on 5 May 2011?", status: sextant.InsufficientEvidence, total: 1, says: "no text that is held states a cause"},
		{question: "Why did mould appear on the map of Norway?", status: sextant.Answered, says: "The cellar was damp."},
		{question: "What does house rule four say?", status: sextant.InsufficientEvidence, says: "library import rules"},
		{question: "damages on 4 July", status: sextant.InsufficientEvidence, says: "“on 4 July” could not be enforced: no year is named"},
		{question: "damages in North on 4 July", status: sextant.Answered, total: 3, says: "“on 4 July” could not be enforced"},
		{question: "List all damages", status: sextant.Answered, total: 6},
		{question: "a/b @c #d", status: sextant.InsufficientEvidence},
		{question: "Is there water on Europa?", status: sextant.OutOfScope, says: "not in the indexed sources"},
	} {
		a := ask(t, e, sextant.Question{Text: tt.question})
		if a.Status != tt.status {
			t.Errorf("%s: status %s, want %s (%s)", tt.question, a.Status, tt.status, a.Summary)
			continue
		}
		if tt.total > 0 && (len(a.Computed) == 0 || a.Computed[0].Total != tt.total) {
			t.Errorf("%s: computed %+v, want %d", tt.question, a.Computed, tt.total)
		}
		if tt.rows != nil && (len(a.Computed) == 0 || cmp.Diff(tt.rows, a.Computed[0].Rows) != "") {
			t.Errorf("%s: rows %s", tt.question, cmp.Diff(tt.rows, a.Computed[0].Rows))
		}
		if all := fmt.Sprint(a.Summary, a.Findings, a.CausalChain, a.Caveats); !strings.Contains(all, tt.says) {
			t.Errorf("%s: nothing says %q: %s", tt.question, tt.says, all)
		}
	}
}

// A condition on a group holds for one element: no damage has the atlas on the
// fiction shelf, though one has both books.
func TestConditionsOnAGroupHoldForTheSameElement(t *testing.T) {
	e, _ := library(t, nil)
	a := ask(t, e, sextant.Question{Text: "damages of the atlas, fiction"})
	if a.Status != sextant.NoData {
		t.Fatalf("status %s: %s", a.Status, a.Summary)
	}
	var drops []string
	for _, r := range a.Ledger.Relaxations {
		drops = append(drops, fmt.Sprint(r.Drop, r.Count))
	}
	if want := []string{"[title] 3", "[shelf] 3"}; !slices.Equal(drops, want) {
		t.Errorf("relaxations %v, want %v", drops, want)
	}
}

func TestEveryQuoteStandsInItsDocument(t *testing.T) {
	e, _ := library(t, nil)
	for _, q := range []string{"mould found on the map", "What caused the damage on 4 July 2010?", "What happened on 3 February 2012?", "tea in the reading room"} {
		a := ask(t, e, sextant.Question{Text: q})
		if len(a.Findings) == 0 {
			t.Errorf("%s: no findings", q)
		}
		for _, f := range slices.Concat(a.Findings, a.CausalChain) {
			for _, quote := range f.Quotes {
				d, err := e.Document(context.Background(), quote.DocumentID)
				if err != nil || d.Text[quote.Start:quote.End] != quote.Text {
					t.Errorf("%s: %q does not stand in %s", q, quote.Text, quote.DocumentID)
				}
			}
		}
	}
}

func TestAnEmptyStoreSaysHowToFillIt(t *testing.T) {
	s, err := sqlite.Open(context.Background(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := ask(t, engine(t, s, nil), sextant.Question{Text: "How many damages in North?"})
	if a.Status != sextant.InsufficientEvidence || len(a.NotHeld) != 3 || !strings.Contains(a.Summary, "Nothing is indexed yet") || !strings.Contains(a.Summary, "library import damages") {
		t.Errorf("%s: %s %+v", a.Status, a.Summary, a.NotHeld)
	}
}

func TestTheCallersFilterJoinsTheWords(t *testing.T) {
	e, _ := library(t, nil)
	a := ask(t, e, sextant.Question{Text: "damages in North", FilterText: "fee >= 9"})
	if a.Computed[0].Total != 2 || len(a.Ledger.Constraints) != 2 || a.Ledger.Constraints[1].Origin != sextant.FromUser {
		t.Errorf("%d, %+v", a.Computed[0].Total, a.Ledger.Constraints)
	}
	for _, err := range e.Ask(context.Background(), sextant.Question{Text: "damages", FilterText: "colour = red"}) {
		if err != nil && sextant.ErrorCode(err) != sextant.CodeBadRequest {
			t.Error(err)
		}
	}
}

func TestRelativeDatesCountFromAsOf(t *testing.T) {
	e, _ := library(t, nil)
	for asOf, want := range map[string]int64{"2012-06-30": 2, "2013-01-15": 2} {
		day, _ := time.Parse(time.DateOnly, asOf)
		a := ask(t, e, sextant.Question{Text: "How many damages last year?", AsOf: day})
		if a.AsOf != asOf || a.Computed[0].Total != want {
			t.Errorf("as of %s: %d", asOf, a.Computed[0].Total)
		}
	}
}

func TestHostileQuestions(t *testing.T) {
	e, _ := library(t, nil)
	for _, q := range []string{"", " ", "?", "\u200b\u200d", "✈️"} {
		for _, err := range e.Ask(context.Background(), sextant.Question{Text: q}) {
			if sextant.ErrorCode(err) != sextant.CodeBadRequest {
				t.Errorf("%q: %v", q, err)
			}
		}
	}
	for _, q := range []string{"the of and", "x", strings.Repeat("damage in North ", 600), "'; DROP TABLE rec;--", "<script>alert(1)</script>", "{{7*7}} $(reboot)", "a\x00b\xff\xfe damages", "AND OR NOT",
		"unbalanced \"quote", "*", "title:x", "a/b @c #d", "Wie viele Schäden gab es in North?", "損害はいくつありますか 2010", strings.Repeat("9", 5000), strings.Repeat("not ", 2000) + "North", "1/2/3/4/5/6", "between between and and to to 2010 2010"} {
		if strings.Trim(q, "*") == "" {
			continue
		}
		a := ask(t, e, sextant.Question{Text: q})
		if a.Status == "" || a.Summary == "" {
			t.Errorf("%.40q: status %q, summary %q", q, a.Status, a.Summary)
		}
	}
}

func TestEventsTellTheStory(t *testing.T) {
	e, _ := library(t, nil)
	var names []string
	for event, err := range e.Ask(context.Background(), sextant.Question{Text: "damages in North in 2010"}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, event.Name())
	}
	if got := slices.Compact(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "stage_started" || n == "stage_done" })); !slices.Equal(got, []string{"ledger", "passages", "delta", "final"}) {
		t.Errorf("events %v", names)
	}
	if started, done := count(names, "stage_started"), count(names, "stage_done"); started != 7 || done != 7 {
		t.Errorf("%d stages started, %d done", started, done)
	}
}

func count(names []string, name string) (n int) {
	for _, x := range names {
		if x == name {
			n++
		}
	}
	return n
}

// Whoever stops listening stops the work: no further event, no goroutine left.
func TestBreakingOutAtEveryEvent(t *testing.T) {
	e, _ := library(t, nil)
	before := runtime.NumGoroutine()
	for stop := 1; ; stop++ {
		n := 0
		for _, err := range e.Ask(context.Background(), sextant.Question{Text: "Why did mould appear in North?"}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == stop {
				break
			}
		}
		if n < stop {
			break
		}
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

func TestAnUnknownCollectionIsAMistake(t *testing.T) {
	e, _ := library(t, nil)
	for _, err := range e.Ask(context.Background(), sextant.Question{Text: "damages", Collections: []string{"unicorns"}}) {
		if err != nil && sextant.ErrorCode(err) != sextant.CodeNotFound {
			t.Error(err)
		}
		if err != nil {
			return
		}
	}
	t.Error("a collection that does not exist was searched")
}

func TestALimitOfTimeGivesWhatIsProven(t *testing.T) {
	e, _ := library(t, nil)
	a := ask(t, e, sextant.Question{Text: "Why did mould appear on the map of Norway?", Limits: sextant.Limits{WallTime: time.Nanosecond}})
	if a.Status != sextant.BudgetExhausted || len(a.Findings) > 0 || !strings.Contains(a.Summary, "1ns") {
		t.Errorf("%s: %s %v", a.Status, a.Summary, a.Findings)
	}
	if a := ask(t, e, sextant.Question{Text: "How many damages in North?", Limits: sextant.Limits{WallTime: time.Minute}}); a.Status != sextant.Answered {
		t.Errorf("%s: %s", a.Status, a.Summary)
	}
}

func TestCancelledWorkIsAnError(t *testing.T) {
	e, _ := library(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	var last error
	for event, err := range e.Ask(ctx, sextant.Question{Text: "damages in North"}) {
		if _, ok := event.(sextant.LedgerReady); ok {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("got %v", last)
	}
	cancel()
}
