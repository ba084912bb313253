package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/trace"
)

// archive is a real store of traces whose replays are as they are told.
type archive struct {
	*trace.Archive
	replayed trace.View
}

func (a *archive) Replay(_ context.Context, v trace.View) (pipeline.Replay, error) {
	a.replayed = v
	if v.Summary.Request == nil {
		return pipeline.Replay{}, &sextant.Error{Code: sextant.CodeConflict, Op: "replay", Message: "The trace does not hold its question."}
	}
	return pipeline.Replay{Differences: []pipeline.TraceDifference{{Stage: "retrieval_iteration_1", What: "document ntsb:1 changed", Before: "a", After: "b"}},
		Sequences: []pipeline.MovedOn{{Collection: "incidents", Before: 7, Now: 8}}, Answer: byYear()}, nil
}

// kept opens an archive that holds one trace, always the same.
func kept(t *testing.T) (*archive, string) {
	t.Helper()
	a, err := trace.Open(t.Context(), trace.Options{Path: filepath.Join(t.TempDir(), "traces.db"), Targets: []string{"mlflow"}, Now: func() time.Time { return began }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	p, _ := trace.ParseParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	r := &trace.Recorder{Sink: a, Now: func() time.Time { return began }, Config: json.RawMessage(`{"version":"1.2.3"}`)}
	_, root := r.Open(trace.WithParent(context.Background(), p), "agentic_rag_pipeline", trace.Chain, map[string]string{"question": "What caused it?"})
	root.Close(map[string]string{"status": "answered"}, nil, trace.Summary{Question: "What caused it?", Status: "answered", Intent: "causal", Collections: []string{"incidents"}, Request: json.RawMessage(`{"question":"What caused it?"}`)})
	if err := a.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &archive{Archive: a}, p.Trace.String()
}

var began = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func TestTraces(t *testing.T) {
	a, id := kept(t)
	c := quiet()
	c.Traces = a
	s := newServer(t, newFake(), c)

	list := do(s.Handler(), request("GET", "/v1/traces?status=answered&text=caused&collection=incidents&from=2026-03-04&limit=10", ""))
	expect(t, list, http.StatusOK)
	var got traceList
	if err := json.Unmarshal(list.Body.Bytes(), &got); err != nil || len(got.Traces) != 1 || got.Traces[0].TraceID != id {
		t.Errorf("%v %s", err, list.Body)
	}
	one := do(s.Handler(), request("GET", "/v1/traces/"+id, ""))
	expect(t, one, http.StatusOK)
	var v trace.View
	if err := json.Unmarshal(one.Body.Bytes(), &v); err != nil || len(v.Spans) != 1 || v.Spans[0].Name != "agentic_rag_pipeline" {
		t.Errorf("%v %s", err, one.Body)
	}
	again := do(s.Handler(), request("POST", "/v1/traces/"+id+"/replay", ""))
	expect(t, again, http.StatusOK)
	golden(t, "replay.json", again.Body.Bytes())
	exported := do(s.Handler(), request("POST", "/v1/replay", one.Body.String()))
	expect(t, exported, http.StatusOK)
	if a.replayed.TraceID != id {
		t.Errorf("replayed %q", a.replayed.TraceID)
	}
	expect(t, do(s.Handler(), request("POST", "/v1/replay", "{}")), http.StatusConflict)

	for range 2 {
		judged := do(s.Handler(), request("POST", "/v1/traces/"+id+"/feedback", `{"id": "f1", "value": true, "rationale": "right"}`))
		expect(t, judged, http.StatusOK)
		golden(t, "feedback.json", judged.Body.Bytes())
	}
	stats, err := a.Stats()
	if err != nil || stats.Pending["mlflow"] != 2 {
		t.Errorf("%+v %v: the trace and one judgement should be owed", stats, err)
	}
}

func TestTracesThatCannotBeHad(t *testing.T) {
	a, id := kept(t)
	c := quiet()
	c.Traces = a
	with, without := newServer(t, newFake(), c), newServer(t, newFake(), quiet())
	missing := trace.NewID().String()
	for _, tt := range []struct {
		server *Server
		r      *http.Request
		status int
	}{
		{with, request("GET", "/v1/traces/"+missing, ""), http.StatusNotFound},
		{with, request("GET", "/v1/traces/nonsense", ""), http.StatusBadRequest},
		{with, request("GET", "/v1/traces?statsu=answered", ""), http.StatusBadRequest},
		{with, request("GET", "/v1/traces?limit=0", ""), http.StatusBadRequest},
		{with, request("GET", "/v1/traces?from=yesterday", ""), http.StatusBadRequest},
		{with, request("POST", "/v1/traces/"+missing+"/feedback", `{"value": true}`), http.StatusNotFound},
		{with, request("POST", "/v1/traces/"+id+"/feedback", `{}`), http.StatusBadRequest},
		{with, request("POST", "/v1/traces/"+id+"/feedback", `{"value": {"a": 1}}`), http.StatusBadRequest},
		{with, request("POST", "/v1/replay", `[`), http.StatusBadRequest},
		{without, request("GET", "/v1/traces", ""), http.StatusNotFound},
		{without, request("GET", "/v1/traces/"+id, ""), http.StatusNotFound},
		{without, request("POST", "/v1/traces/"+id+"/feedback", `{"value": true}`), http.StatusNotFound},
	} {
		if got := do(tt.server.Handler(), tt.r); got.Code != tt.status {
			t.Errorf("%s %s: %d, want %d: %s", tt.r.Method, tt.r.URL, got.Code, tt.status, got.Body)
		}
	}
}

func TestMetricsCountQuestionsByTheirEnding(t *testing.T) {
	a, _ := kept(t)
	c := quiet()
	c.Traces = a
	s := newServer(t, newFake(), c)
	for _, q := range []string{byYear().Question, noData().Question, noData().Question} {
		body, _ := json.Marshal(map[string]string{"question": q})
		do(s.Handler(), request("POST", "/v1/ask", string(body)))
	}
	do(s.Handler(), request("POST", "/v1/ask", `{"question": "x y z", "filter": "nonsense"}`))
	do(s.Handler(), request("POST", "/v1/search", `{"query": "carburetor ice"}`))
	got := do(s.Handler(), request("GET", "/metrics", ""))
	expect(t, got, http.StatusOK)
	for _, line := range []string{`sextant_questions_total{intent="factual",status="no_data"} 2`, `sextant_questions_total{intent="",status="error"} 1`, `sextant_ledger_total{outcome="none"} 2`,
		`sextant_traces_pending{target="mlflow"} 1`, `sextant_traces_kept 1`, `sextant_search_coverage_count{recommendation="proceed"} 1`, `sextant_question_duration_seconds_count{status="no_data"} 2`} {
		if !strings.Contains(got.Body.String(), line) {
			t.Errorf("there is no line %s in:\n%s", line, got.Body)
		}
	}
}

func TestACallersTraceReachesTheEngine(t *testing.T) {
	f := newFake()
	var seen trace.Parent
	f.during = func(ctx context.Context, _ string) error {
		ctx, root := (&trace.Recorder{Sink: ignore{}}).Open(ctx, "q", trace.Chain, nil)
		defer root.Close(nil, nil, trace.Summary{})
		seen.Trace, _ = trace.ContextID(ctx)
		return nil
	}
	r := request("POST", "/v1/ask", `{"question": "What caused it?", "session": "s1", "user": "u1"}`)
	r.Header.Set("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	expect(t, do(newServer(t, f, quiet()).Handler(), r), http.StatusOK)
	if q := f.last.Load(); seen.Trace.String() != "4bf92f3577b34da6a3ce929d0e0e4736" || q.Session != "s1" || q.User != "u1" {
		t.Errorf("trace %s, question %+v", seen.Trace, q)
	}
}

type ignore struct{}

func (ignore) Keep(*trace.Finished) {}

func expect(t *testing.T, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
}
