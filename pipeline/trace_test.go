package pipeline_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/tracetest"
)

func names(r *trace.Record) (out []string) {
	for _, s := range r.View().Spans {
		out = append(out, strings.Repeat(" ", s.Depth)+s.Name)
	}
	return out
}

func last(t *testing.T, sink *tracetest.Sink) *trace.Record {
	t.Helper()
	records := sink.Records()
	if len(records) == 0 {
		t.Fatal("nothing was recorded")
	}
	return records[len(records)-1]
}

func TestATraceShowsTheBlueprintsSpans(t *testing.T) {
	_, s := library(t, nil)
	e, sink := tracedEngine(t, s)
	a := ask(t, e, sextant.Question{Text: "What caused the damage on 4 July 2010?"})
	r := last(t, sink)
	if a.TraceID != r.ID.String() || r.Summary.Status != "answered" || r.Summary.Params["intent"] != "causal" || r.Summary.Metrics["retrieval_1_docs"] == 0 {
		t.Errorf("answer %s, trace %s: %+v", a.TraceID, r.ID, r.Summary)
	}
	for _, want := range []string{"constraint_extraction", "intent_classification", "strategy_selection", "constraint_validation", "retrieval_iteration_1", "reranking", "context_refinement", "answer_generation"} {
		if !slices.Contains(names(r), " "+want) {
			t.Errorf("there is no span %s below the root: %q", want, names(r))
		}
	}
}

func TestNoDataHasItsProofInTheTrace(t *testing.T) {
	_, s := library(t, nil)
	e, sink := tracedEngine(t, s)
	ask(t, e, sextant.Question{Text: "damages in South in 2010"})
	r := last(t, sink)
	want := []string{"agentic_rag_pipeline", " constraint_extraction", " intent_classification", " strategy_selection", " constraint_validation"}
	if d := cmp.Diff(want, names(r)); d != "" || r.Summary.Status != "no_data" {
		t.Errorf("%s %s", r.Summary.Status, d)
	}
}

// However a question ends, its trace is kept, complete, and says how. Completeness is
// checked for every trace by tracedEngine.
func TestEveryEndingLeavesATrace(t *testing.T) {
	_, s := library(t, nil)
	e, sink := tracedEngine(t, s)
	question := sextant.Question{Text: "What caused the damage on 4 July 2010?"}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for status, run := range map[string]func(){
		"answered": func() { ask(t, e, question) },
		"stopped":  func() { stopAfter(e, question, 3) },
		"error":    func() { drain(e, cancelled, question) },
		"no_data":  func() { ask(t, e, sextant.Question{Text: "damages in South in 2010"}) },
		"budget_exhausted": func() {
			drain(e, t.Context(), sextant.Question{Text: question.Text, Limits: sextant.Limits{WallTime: 1}})
		},
	} {
		run()
		if got := last(t, sink).Summary.Status; got != status {
			t.Errorf("the trace ended as %s, want %s", got, status)
		}
	}
	// Who has the answer need not wait for the end of the loop.
	for event := range e.Ask(t.Context(), question) {
		if _, ok := event.(sextant.Final); ok {
			break
		}
	}
	if got := last(t, sink); got.Summary.Status != "answered" || got.View().Spans[0].Status != "ok" {
		t.Errorf("a question whose answer was taken ended as %s", got.Summary.Status)
	}
	// Stopping at any moment.
	for n := range 30 {
		before := len(sink.Records())
		stopAfter(e, question, n)
		if len(sink.Records()) != before+1 {
			t.Errorf("stopped after %d events: %d traces", n, len(sink.Records())-before)
		}
	}
}

func stopAfter(e *pipeline.Engine, q sextant.Question, events int) {
	for range e.Ask(context.Background(), q) {
		if events == 0 {
			return
		}
		events--
	}
}

func drain(e *pipeline.Engine, ctx context.Context, q sextant.Question) (err error) {
	for _, err = range e.Ask(ctx, q) {
	}
	return err
}

// A store that goes away at any moment, or panics, leaves a trace that names the cause.
func TestAFailingStoreLeavesATrace(t *testing.T) {
	_, s := library(t, nil)
	for n := int64(6); n < 60; n++ {
		f := &faulty{Store: s}
		f.left.Store(1 << 40)
		e, sink := tracedEngine(t, f)
		ask(t, e, sextant.Question{Text: "damages by year"}) // fills what is derived from the store
		f.left.Store(n)
		_ = drain(e, t.Context(), sextant.Question{Text: "What caused the damage on 4 July 2010?"})
		r := last(t, sink)
		if f.left.Load() >= 0 {
			break // nothing failed any more
		}
		if r.Summary.Status != "source_unavailable" && r.Summary.Status != "error" {
			t.Errorf("after %d reads: %s", n, r.Summary.Status)
		}
	}
}

// bomb panics when documents are read.
type bomb struct{ store.Store }

func (b bomb) Open(ctx context.Context, name string) (store.Collection, error) {
	c, err := b.Store.Open(ctx, name)
	return bombCollection{c}, err
}

type bombCollection struct{ store.Collection }

func (bombCollection) Get(context.Context, []sextant.DocumentID) ([]sextant.Document, error) {
	panic("out of bounds")
}

func TestAPanicIsRecordedAndGoesOn(t *testing.T) {
	_, s := library(t, nil)
	e, sink := tracedEngine(t, bomb{s})
	func() {
		defer func() {
			if p := recover(); p != "out of bounds" {
				t.Errorf("recovered %v", p)
			}
		}()
		_ = drain(e, t.Context(), sextant.Question{Text: "What caused the damage on 4 July 2010?"})
	}()
	r := last(t, sink)
	if r.Summary.Status != "error" || r.View().Spans[0].ErrorType != "panic" {
		t.Errorf("%s %+v", r.Summary.Status, r.View().Spans[0])
	}
}

func TestAQuestionCanBeAskedAgainFromItsTrace(t *testing.T) {
	_, s := library(t, nil)
	e, sink := tracedEngine(t, s)
	first := ask(t, e, sextant.Question{Text: "damages in the last two years", TopK: 3})
	q, err := pipeline.AskedAgain(last(t, sink))
	if err != nil {
		t.Fatal(err)
	}
	second := ask(t, e, q)
	for _, a := range []*sextant.Answer{&first, &second} {
		a.TraceID, a.Usage.DurationMS, a.Rounds[0].DurationMS, a.Refinement.DurationMS = "", 0, 0, 0
	}
	want, _ := json.Marshal(first)
	got, _ := json.Marshal(second)
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Error(d)
	}
	if _, err := pipeline.AskedAgain(&trace.Record{}); sextant.ErrorCode(err) != sextant.CodeConflict {
		t.Errorf("a trace without content: %v", err)
	}
}

func replay(t *testing.T, e *pipeline.Engine, r *trace.Record) pipeline.Replay {
	t.Helper()
	out, err := e.Replay(t.Context(), r.View())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Two hundred questions answered again, on the engine that answered them and on another
// over the same documents: the same bytes.
func TestReplayIsByteIdentical(t *testing.T) {
	_, s := library(t, nil)
	e, sink := tracedEngine(t, s)
	for _, question := range []string{"How many damages in North?", "damages by branch", "damages in the last two years", "What caused the damage on 4 July 2010?", "damages in South in 2010",
		"Why did mould appear on the map of Norway?", "Is there water on Europa?", "North versus South: damages", "the latest damage", "a/b @c #d"} {
		for k := 1; k <= 20; k++ {
			ask(t, e, sextant.Question{Text: question, TopK: k})
		}
	}
	_, other := library(t, nil)
	elsewhere, _ := tracedEngine(t, other)
	for _, r := range sink.Records() {
		for _, again := range []pipeline.Replay{replay(t, e, r), replay(t, elsewhere, r)} {
			if !again.Identical || again.Differences != nil {
				t.Fatalf("%q: %+v", r.Summary.Question, again.Differences)
			}
		}
	}
	if n := len(sink.Records()); n != 200 {
		t.Errorf("a replay was recorded: %d traces", n)
	}
}

func TestReplayNamesTheDocumentThatChanged(t *testing.T) {
	_, s := library(t, nil)
	e, sink := tracedEngine(t, s)
	a := ask(t, e, sextant.Question{Text: "What caused the damage on 4 July 2010?"})
	id := a.Findings[0].Quotes[0].DocumentID
	c, err := s.Open(t.Context(), "damages")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := c.Get(t.Context(), []sextant.DocumentID{id})
	if err != nil {
		t.Fatal(err)
	}
	changed := docs[0]
	changed.Text = strings.Replace(changed.Text, "caretaker", "care-taker", 1)
	changed.Parts[len(changed.Parts)-1].End = len(changed.Text)
	if err := c.Upsert(t.Context(), []store.Record{whole(t, changed)}); err != nil {
		t.Fatal(err)
	}
	r := replay(t, e, last(t, sink))
	if r.Identical || len(r.Sequences) != 1 || r.Differences[0].What != "document "+string(id)+" changed" || r.Differences[0].Stage != "retrieval_iteration_1" {
		t.Errorf("%+v", r)
	}
}
