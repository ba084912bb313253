package mlflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/mlflow"
	"github.com/sextant-rag/sextant/trace/tracetest"
)

var summary = trace.Summary{
	Question: "What caused the crash?", Status: "answered", Session: strings.Repeat("s", 300),
	Params:      map[string]string{"question": "What caused the crash?", "intent": "causal"},
	Metrics:     map[string]float64{"retrieval_1_docs": 3},
	Assessments: []trace.Assessment{{Name: "confidence", Value: "high"}, {Name: "findings_removed", Value: 0}},
}

type passage struct {
	ChunkID    string  `json:"chunk_id"`
	DocumentID string  `json:"document_id"`
	Source     string  `json:"source"`
	Content    string  `json:"content"`
	Score      float64 `json:"score"`
}

// ask records a question with a retriever and a model below it.
func ask(sink trace.Sink, s trace.Summary) trace.ID {
	ctx, root := (&trace.Recorder{Sink: sink}).Open(context.Background(), "agentic_rag_pipeline", trace.Chain, map[string]any{"question": s.Question, "top_k": 10})
	_, _ = trace.Stage(ctx, "retrieval_iteration_1", trace.Retriever, "fuel", func(context.Context) ([]passage, error) {
		return []passage{{"c1", "d1", "incidents", "The engine lost power.", .9}}, nil
	})
	_, span := trace.Begin(ctx, "answer_generation", trace.LLM, nil)
	span.Use(trace.Usage{Model: "m", Provider: "p", InputTokens: 10, OutputTokens: 5})
	span.End("a", nil)
	root.Close(map[string]any{"status": s.Status, "summary": "Fuel exhaustion.", "findings": []any{map[string]any{"text": "It ran dry.", "quotes": []any{map[string]string{"document_id": "d1", "locator": "p. 2"}}}}}, nil, s)
	return root.TraceID()
}

func record(s trace.Summary) *trace.Record {
	sink := &tracetest.Sink{}
	ask(sink, s)
	return sink.Records()[0]
}

func serve(t *testing.T, f *fake) mlflow.Settings {
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return mlflow.Settings{URI: server.URL, Experiment: "agentic-rag-aviation", Resource: trace.Resource{Service: "sextant", Version: "v1"}}
}

func attribute(s *tracepb.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

func TestAQuestionBecomesATraceAndARun(t *testing.T) {
	f := newFake()
	r := record(summary)
	if err := mlflow.New(serve(t, f)).Send(t.Context(), &trace.Delivery{Record: r}); err != nil {
		t.Fatal(err)
	}
	id := mlflow.TraceID(r)
	run := f.runs[f.linked[id]]
	if run == nil || run.status != "FINISHED" || run.tags["answer_type"] != "answered" || run.params["intent"] != "causal" || run.metrics["retrieval_1_docs"] != 3 {
		t.Fatalf("run %+v", run)
	}
	if d := cmp.Diff([]string{"confidence", "findings_removed"}, f.names(id)); d != "" {
		t.Error(d)
	}
	var spans []*tracepb.Span
	for _, s := range r.Spans {
		spans = append(spans, f.traces[id][fmt.Sprintf("%x", s.SpanId)])
	}
	root, retriever, model := spans[0], spans[1], spans[2]
	for what, pair := range map[string][2]string{
		"type is plain":             {attribute(retriever, "mlflow.spanType"), "RETRIEVER"},
		"name of the trace":         {attribute(root, "mlflow.traceTag.mlflow.traceName"), "agentic_rag_pipeline"},
		"question as a message":     {attribute(root, "mlflow.spanInputs"), `{"messages":[{"role":"user","content":"What caused the crash?"}],"settings":{"top_k":10}}`},
		"answer as a message":       {attribute(root, "mlflow.spanOutputs"), `{"messages":[{"role":"assistant","content":"Fuel exhaustion.\n\n- It ran dry. [d1 p. 2]"}],"status":"answered","confidence":""}`},
		"documents":                 {attribute(retriever, "mlflow.spanOutputs"), `[{"id":"c1","page_content":"The engine lost power.","metadata":{"doc_uri":"incidents/d1","score":0.9,"chunk_id":"c1","source":"incidents"}}]`},
		"tokens on the leaf":        {attribute(model, "mlflow.chat.tokenUsage"), `{"input_tokens":10,"output_tokens":5,"total_tokens":15}`},
		"cost is always sent":       {attribute(model, "mlflow.llm.cost"), `{"input_cost":0,"output_cost":0,"total_cost":0}`},
		"a long session is cut":     {fmt.Sprint(len([]rune(attribute(root, "session.id")))), "250"},
		"own names are not doubled": {attribute(root, trace.KeyInput), ""},
	} {
		if d := cmp.Diff(pair[1], pair[0]); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	var view trace.View
	if err := json.Unmarshal([]byte(f.artifacts["7/"+f.linked[id]+"/artifacts/trace.json"]), &view); err != nil || len(view.Spans) != 3 {
		t.Errorf("trace.json: %v, %d spans", err, len(view.Spans))
	}
	if got := f.artifacts["7/"+f.linked[id]+"/artifacts/answer.json"]; !strings.Contains(got, "It ran dry") {
		t.Errorf("answer.json: %s", got)
	}
}

func TestATraceIsCutToWhatThePageCanDraw(t *testing.T) {
	f, sink := newFake(), &tracetest.Sink{}
	ctx, root := (&trace.Recorder{Sink: sink}).Open(context.Background(), "agentic_rag_pipeline", trace.Chain, nil)
	for range 1500 {
		_, s := trace.Begin(ctx, "step", trace.Tool, strings.Repeat("x", 10))
		s.End(nil, nil)
	}
	_, s := trace.Begin(ctx, "large", trace.Tool, strings.Repeat("x", 1<<20))
	s.End(nil, nil)
	root.Close(nil, nil, trace.Summary{Status: "answered"})
	r := sink.Records()[0]
	if err := mlflow.New(serve(t, f)).Send(t.Context(), &trace.Delivery{Record: r}); err != nil {
		t.Fatal(err)
	}
	id := mlflow.TraceID(r)
	first := f.traces[id][fmt.Sprintf("%x", r.Spans[0].SpanId)]
	if n := len(f.traces[id]); n != 400 || attribute(first, "mlflow.traceTag.spans_left_out") != "1102" {
		t.Errorf("%d spans, %q left out", n, attribute(first, "mlflow.traceTag.spans_left_out"))
	}
	if n := len(f.artifacts["7/"+f.linked[id]+"/artifacts/trace.json"]); n < 1<<20 {
		t.Errorf("the artifact has %d bytes: it must be whole", n)
	}
}

// Questions within one trace of a caller are traces of their own on the server, which
// keeps the first root of a trace for ever.
func TestQuestionsOfOneCallerAreApart(t *testing.T) {
	f, sink := newFake(), &tracetest.Sink{}
	p, _ := trace.ParseParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	for range 2 {
		_, root := (&trace.Recorder{Sink: sink}).Open(trace.WithParent(context.Background(), p), "agentic_rag_pipeline", trace.Chain, nil)
		root.Close(nil, nil, trace.Summary{Status: "answered"})
	}
	e := mlflow.New(serve(t, f))
	for _, r := range sink.Records() {
		if err := e.Send(t.Context(), &trace.Delivery{Record: r}); err != nil {
			t.Fatal(err)
		}
		if f.linked[mlflow.TraceID(r)] == "" {
			t.Error("the root kept a parent that the server never sees")
		}
	}
	if len(f.traces) != 2 || len(f.runs) != 2 {
		t.Errorf("%d traces, %d runs", len(f.traces), len(f.runs))
	}
}

// A server that fails in every way that was seen, before and after it did the work: each
// question arrives, with one run, one trace, and each judgement once.
func TestEverythingArrivesOnceThroughABadServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traces.db")
	synctest.Test(t, func(t *testing.T) {
		const questions = 60
		f := newFake()
		random := rand.New(rand.NewPCG(1, 2))
		f.fault = func(int, *http.Request) string {
			if random.IntN(3) > 0 {
				return ""
			}
			return faults[random.IntN(len(faults))]
		}
		a, err := trace.Open(t.Context(), trace.Options{Path: path, Targets: []string{"mlflow"}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		e := mlflow.New(mlflow.Settings{URI: "http://mlflow.example", Experiment: "x"})
		e.Through(roundTripper{f})
		go func() { a.Deliver(ctx, e); close(ended) }()
		for range questions {
			id := ask(a, summary)
			if err := a.Judge(ctx, trace.Feedback{TraceID: id.String(), Name: "helpful", Value: json.RawMessage("true"), Human: true}); err != nil {
				t.Fatal(err)
			}
		}
		for s := (trace.Stats{Pending: map[string]int64{"mlflow": 1}}); s.Pending["mlflow"] > 0; time.Sleep(10 * time.Minute) {
			if s, err = a.Stats(); err != nil {
				t.Fatal(err)
			}
		}
		stop()
		<-ended
		s, err := a.Stats()
		if err != nil || s.Pending["mlflow"] != 0 || s.Lost["mlflow"] != 0 {
			t.Errorf("%+v, %v", s, err)
		}
		if len(f.traces) != questions || len(f.runs) != questions {
			t.Errorf("%d traces and %d runs of %d questions", len(f.traces), len(f.runs), questions)
		}
		for id, run := range f.linked {
			if d := cmp.Diff([]string{"confidence", "findings_removed", "helpful"}, f.names(id)); d != "" || f.runs[run].status != "FINISHED" {
				t.Fatalf("%s of %s: %s %s", id, run, f.runs[run].status, d)
			}
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
}

// roundTripper calls a handler in memory: real sockets would stop the fake clock.
type roundTripper struct{ handler http.Handler }

func (rt roundTripper) RoundTrip(r *http.Request) (res *http.Response, err error) {
	w := httptest.NewRecorder()
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, errors.New("connection reset")
		}
	}()
	rt.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestRefusedNumbersDoNotLoseTheTrace(t *testing.T) {
	f := newFake()
	f.fault = func(_ int, r *http.Request) string {
		if strings.HasSuffix(r.URL.Path, "/log-batch") || strings.HasPrefix(r.URL.Path, "/api/2.0/mlflow-artifacts") {
			return "invalid"
		}
		return ""
	}
	r := record(summary)
	if err := mlflow.New(serve(t, f)).Send(t.Context(), &trace.Delivery{Record: r}); err != nil || f.traces[mlflow.TraceID(r)] == nil {
		t.Errorf("%v", err)
	}
}

func TestWhatIsTheConfigurationsFaultIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fake)
		says   string
	}{
		"no password":        {func(f *fake) { f.user = "u" }, "MLFLOW_TRACKING_USERNAME"},
		"deleted experiment": {func(f *fake) { f.experiments["agentic-rag-aviation"], f.deleted = "7", true }, "restore it"},
	} {
		f := newFake()
		c.change(f)
		err := mlflow.New(serve(t, f)).Send(t.Context(), &trace.Delivery{Record: record(summary)})
		var send *trace.SendError
		if !errors.As(err, &send) || send.Refused || send.Doubtful || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Invalid Host header", http.StatusForbidden)
	}))
	defer host.Close()
	err := mlflow.New(mlflow.Settings{URI: host.URL}).Send(t.Context(), &trace.Delivery{Record: record(summary)})
	if err == nil || !strings.Contains(err.Error(), "--allowed-hosts") {
		t.Errorf("host check: %v", err)
	}
}

func TestSettings(t *testing.T) {
	get := func(pairs map[string]string) func(string) string { return func(n string) string { return pairs[n] } }
	for name, c := range map[string]struct {
		pairs map[string]string
		ok    bool
		fails bool
	}{
		"nothing set":  {nil, false, false},
		"a server":     {map[string]string{"MLFLOW_TRACKING_URI": "http://h:5000/"}, true, false},
		"turned off":   {map[string]string{"MLFLOW_TRACKING_URI": "http://h:5000", "MLFLOW_ENABLED": "False"}, false, false},
		"no word":      {map[string]string{"MLFLOW_TRACKING_URI": "http://h:5000", "MLFLOW_ENABLED": "maybe"}, false, true},
		"a file store": {map[string]string{"MLFLOW_TRACKING_URI": "file:///tmp/mlruns"}, false, true},
	} {
		s, ok, err := mlflow.FromEnvironment(get(c.pairs), "agentic-rag-aviation", trace.Resource{})
		if ok != c.ok || (err != nil) != c.fails || ok && (s.URI != "http://h:5000" || s.Experiment != "agentic-rag-aviation") {
			t.Errorf("%s: %+v %v %v", name, s, ok, err)
		}
	}
}

func TestAnEvaluationIsARun(t *testing.T) {
	f := newFake()
	s := serve(t, f)
	id, err := mlflow.Log(t.Context(), s, mlflow.Evaluation{Name: "counts", Params: map[string]string{"set": "counts"}, Metrics: map[string]float64{"accuracy": .975}, Files: map[string][]byte{"report.json": []byte(`{"right": 117}`)}, Began: time.Now(), Took: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if r := f.runs[id]; r.status != "FINISHED" || r.metrics["accuracy"] != .975 || r.params["set"] != "counts" {
		t.Errorf("%+v", r)
	}
	content, err := mlflow.Artifact(t.Context(), s, id, "report.json")
	if err != nil || string(content) != `{"right": 117}` {
		t.Errorf("%s, %v", content, err)
	}
	f.fault = func(int, *http.Request) string { return "invalid" }
	if _, err := mlflow.Log(t.Context(), s, mlflow.Evaluation{}); err == nil {
		t.Error("a server that refuses was not noticed")
	}
}
