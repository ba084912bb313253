package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/llmtest"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/tracetest"
)

// recordedEngine is an engine with models that now and then fail, answer in prose, or refuse.
func recordedEngine(t *testing.T, s store.Store) (*pipeline.Engine, *tracetest.Sink) {
	t.Helper()
	script := assistant{"understand": plain, "sufficiency": enoughFound, "filter": `{"grade":8}`, "synthesize": `{"texts":[{"number":1,"text":"The cellar was damp."}]}`, "generate": mould, "baseline": "It was damp.", "confirm": `{"grade":8}`,
		"repair": `{"findings":[{"number":1,"statement":"The cellar was damp.","quotes":[{"evidence":{{Mould}},"text":"The cellar was damp."}],"confidence":"high"}]}`}
	var made atomic.Int64 // by several goroutines at once
	moody := func(label string) *llmtest.Script {
		inner := script.script(label)
		return &llmtest.Script{Label: label, Answer: func(call int, r llm.Request) (llm.Response, error) {
			calls := made.Add(1)
			switch {
			case calls%11 == 0:
				return llm.Response{}, &llm.Error{Kind: llm.Overloaded, Provider: "script", After: 5 * time.Millisecond}
			case calls%17 == 0:
				return llmtest.Text("Sure, I would be glad to help!"), nil
			case calls%23 == 0:
				return llm.Response{Text: "No.", Done: llm.Done{Finish: llm.Refused, Usage: llm.Usage{Input: 3, Output: 1, Known: true}}}, nil
			case r.Purpose == "generate" && calls%5 == 0:
				return llmtest.Text(strings.ReplaceAll(tooMuch, "{{Mould}}", fmt.Sprint(numberOf(r.Messages[0].Text, "Mould")))), nil
			case r.Purpose == "generate" && calls%7 == 0:
				return llmtest.Text(silence), nil
			}
			return inner.Answer(call, r)
		}}
	}
	sink := &tracetest.Sink{}
	policy := llm.Policy{Attempts: 2, First: time.Nanosecond, Price: llm.Price{Input: 1, Output: 5}}
	e, err := pipeline.New(t.Context(), pipeline.Config{Store: s, Domain: domain, Now: func() time.Time { return now }, Traces: &trace.Recorder{Sink: sink},
		Models: pipeline.Models{Small: llm.NewCaller(moody("small-1"), policy), Large: llm.NewCaller(moody("large-1"), policy)}})
	if err != nil {
		t.Fatal(err)
	}
	return e, sink
}

// Two hundred questions that models helped with, failed at, or were not allowed to, answered
// again from the traces: the same bytes, and no model is asked.
func TestReplayWithModelsIsByteIdentical(t *testing.T) {
	_, s := library(t, nil)
	e, sink := recordedEngine(t, s)
	modes := []string{sextant.RefineNone, sextant.RefineDedup, sextant.RefineFilter, sextant.RefineSynthesize}
	for i := range 200 {
		q := sextant.Question{Text: []string{mouldQuestion, "How many damages in North?", "How does the mould on the map of Norway differ from the tea on the table?", "damages in South in 2010", "What caused the damage on 4 July 2010?"}[i%5], Refine: modes[i%4], TopK: 1 + i%9}
		switch i % 7 {
		case 3:
			q.Limits.ModelCalls = 1 + i%3
		case 5:
			q.Limits.Tokens = 700 + 10*i
		case 6:
			q.Mode = sextant.Traditional
		}
		ask(t, e, q)
	}
	exchanges := 0
	for i, r := range sink.Records() {
		exchanges += len(r.View().Exchanges)
		if again := replay(t, e, r); !again.Identical {
			for _, d := range again.Differences {
				t.Logf("%s %s: %s / %s", d.Stage, d.What, d.Before, d.After)
			}
			t.Fatalf("question %d, %q is not answered alike", i, r.Summary.Question)
		}
	}
	if n := len(sink.Records()); n != 200 || exchanges < 200 {
		t.Errorf("%d traces with %d exchanges", n, exchanges)
	}
	// On another machine that has no model at all.
	_, other := library(t, nil)
	without, _ := tracedEngine(t, other)
	identical := 0
	for _, r := range sink.Records() {
		if again := replay(t, without, r); again.Identical {
			identical++
		}
	}
	t.Logf("%d questions with %d calls; without models of its own another engine gives %d of them alike (prices are a setting)", len(sink.Records()), exchanges, identical)
}

// Where a prompt is another one now, or a document, the difference names the stage and the
// thing.
func TestReplayNamesThePromptThatChanged(t *testing.T) {
	_, s := library(t, nil)
	e, sink, _, _ := helpedOver(t, s, assistant{"understand": plain}, assistant{"generate": mould})
	ask(t, e, sextant.Question{Text: mouldQuestion})
	v := last(t, sink).View()
	if again, err := e.Replay(t.Context(), v); err != nil || !again.Identical {
		t.Fatalf("%v %+v", err, again.Differences)
	}
	for i := range v.Exchanges { // as if the prompt of then had other words
		v.Exchanges[i].Request = json.RawMessage(strings.Replace(strings.Replace(string(v.Exchanges[i].Request), "You explain what caused", "You told what caused", 1), "generate_causal@", "generate_causal@0", 1))
	}
	again, err := e.Replay(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	named := slices.ContainsFunc(again.Differences, func(d pipeline.TraceDifference) bool {
		return d.What == "prompt" && strings.Contains(d.Before, "generate_causal@0") && strings.Contains(d.After, "generate_causal@") && d.Before != d.After
	})
	if again.Identical || !named {
		t.Errorf("the prompt is not named: %+v", again.Differences)
	}
}

func helpedOver(t *testing.T, s store.Store, small, large assistant) (*pipeline.Engine, *tracetest.Sink, *llmtest.Script, *llmtest.Script) {
	t.Helper()
	sink := &tracetest.Sink{}
	small1, large1 := small.script("small-1"), large.script("large-1")
	policy := llm.Policy{First: time.Nanosecond}
	e, err := pipeline.New(context.Background(), pipeline.Config{Store: s, Domain: domain, Now: func() time.Time { return now }, Traces: &trace.Recorder{Sink: sink}, Models: pipeline.Models{Small: llm.NewCaller(small1, policy), Large: llm.NewCaller(large1, policy)}})
	if err != nil {
		t.Fatal(err)
	}
	return e, sink, small1, large1
}
