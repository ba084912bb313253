package mlflow_test

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// fake is a tracking server as MLflow 3.17 was seen to be: runs get their ids from it,
// spans are kept once however often they come, assessments are not. A fault may swallow a
// request before or after its work is done.
type fake struct {
	mu          sync.Mutex
	fault       func(n int, r *http.Request) string // by request, from 1: one of faults, or "invalid"
	n           int
	experiments map[string]string // name to id
	deleted     bool
	runs        map[string]*fakeRun
	traces      map[string]map[string]*tracepb.Span // by trace and span
	linked      map[string]string
	judged      map[string][]fakeAssessment
	artifacts   map[string]string
	user, pass  string
}

type fakeRun struct {
	tags    map[string]string
	params  map[string]string
	metrics map[string]float64
	status  string
}

type fakeAssessment struct {
	Name     string            `json:"assessment_name"`
	Source   map[string]string `json:"source"`
	Feedback struct {
		Value any `json:"value"`
	} `json:"feedback"`
	Metadata map[string]string `json:"metadata"`
}

// faults that pass: dead before or after the work, busy, broken, without an answer, half
// an answer.
var faults = []string{"before", "after", "refuse", "broken", "too many", "silent", "half"}

func newFake() *fake {
	return &fake{experiments: map[string]string{}, runs: map[string]*fakeRun{}, traces: map[string]map[string]*tracepb.Span{}, linked: map[string]string{}, judged: map[string][]fakeAssessment{}, artifacts: map[string]string{}}
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	if user, pass, _ := r.BasicAuth(); user != f.user || pass != f.pass {
		http.Error(w, "You are not authenticated.", http.StatusUnauthorized)
		return
	}
	fault := ""
	if f.fault != nil {
		fault = f.fault(f.n, r)
	}
	switch fault {
	case "before":
		panic(http.ErrAbortHandler)
	case "broken":
		http.Error(w, "<html>Internal Server Error</html>", http.StatusInternalServerError)
		return
	case "too many":
		w.Header().Set("Retry-After", "2")
		http.Error(w, "{}", http.StatusTooManyRequests)
		return
	case "silent":
		select {
		case <-r.Context().Done():
		case <-time.After(time.Hour):
		}
		panic(http.ErrAbortHandler)
	case "refuse":
		w.Header().Set("Retry-After", "3")
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	case "invalid":
		refuse(w, http.StatusBadRequest, "INVALID_PARAMETER_VALUE")
		return
	}
	rest := r.URL.Path
	out := any(struct{}{})
	switch {
	case strings.HasSuffix(rest, "/experiments/get-by-name"):
		out = f.experiment(w, r.URL.Query().Get("experiment_name"))
	case strings.HasSuffix(rest, "/experiments/create"):
		f.experiments[read(r)["name"].(string)] = "7"
		out = map[string]string{"experiment_id": "7"}
	case strings.HasSuffix(rest, "/runs/search"):
		out = f.search(read(r)["filter"].(string))
	case strings.HasSuffix(rest, "/runs/create"):
		out = map[string]any{"run": map[string]any{"info": f.create(read(r))}}
	case strings.HasSuffix(rest, "/runs/log-batch"):
		f.log(read(r))
	case strings.HasSuffix(rest, "/runs/update"):
		b := read(r)
		f.runs[b["run_id"].(string)].status = b["status"].(string)
	case strings.HasSuffix(rest, "/runs/get"):
		out = map[string]any{"run": map[string]any{"info": f.info(r.URL.Query().Get("run_id"))}}
	case strings.HasPrefix(rest, "/api/2.0/mlflow-artifacts/artifacts/") && r.Method == http.MethodGet:
		_, _ = io.WriteString(w, f.artifacts[strings.TrimPrefix(rest, "/api/2.0/mlflow-artifacts/artifacts/")])
		out = nil
	case strings.HasPrefix(rest, "/api/2.0/mlflow-artifacts/artifacts/"):
		b, _ := io.ReadAll(r.Body)
		f.artifacts[strings.TrimPrefix(rest, "/api/2.0/mlflow-artifacts/artifacts/")] = string(b)
	case rest == "/v1/traces":
		f.spans(r)
	case strings.HasSuffix(rest, "/assessments"):
		f.assess(w, r)
	case strings.HasPrefix(rest, "/api/3.0/mlflow/traces/"):
		out = map[string]any{"trace": map[string]any{"trace_info": map[string]any{"assessments": f.judged[strings.TrimPrefix(rest, "/api/3.0/mlflow/traces/")]}}}
	default:
		http.NotFound(w, r)
		return
	}
	if fault == "after" {
		panic(http.ErrAbortHandler)
	}
	if fault == "half" {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"experi`)
		return
	}
	if out != nil {
		_ = json.NewEncoder(w).Encode(out)
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error_code": %q, "message": "no"}`, code)
}

func read(r *http.Request) (out map[string]any) {
	_ = json.NewDecoder(r.Body).Decode(&out)
	return out
}

func (f *fake) experiment(w http.ResponseWriter, name string) any {
	id, ok := f.experiments[name]
	if !ok {
		refuse(w, http.StatusNotFound, "RESOURCE_DOES_NOT_EXIST")
		return nil
	}
	stage := "active"
	if f.deleted {
		stage = "deleted"
	}
	return map[string]any{"experiment": map[string]string{"experiment_id": id, "lifecycle_stage": stage}}
}

func (f *fake) info(id string) map[string]string {
	return map[string]string{"run_id": id, "artifact_uri": "mlflow-artifacts:/7/" + id + "/artifacts"}
}

func (f *fake) search(filter string) any {
	_, value, _ := strings.Cut(filter, " = ")
	var found []any
	for id, r := range f.runs {
		if r.tags["sextant.question_id"] == strings.Trim(value, "'") {
			found = append(found, map[string]any{"info": f.info(id)})
		}
	}
	return map[string]any{"runs": found}
}

func (f *fake) create(body map[string]any) any {
	id := fmt.Sprintf("run%d", len(f.runs))
	r := &fakeRun{tags: map[string]string{}, params: map[string]string{}, metrics: map[string]float64{}, status: "RUNNING"}
	for _, t := range body["tags"].([]any) {
		t := t.(map[string]any)
		r.tags[t["key"].(string)] = t["value"].(string)
	}
	r.tags["name"] = body["run_name"].(string)
	f.runs[id] = r
	return f.info(id)
}

func (f *fake) log(body map[string]any) {
	r := f.runs[body["run_id"].(string)]
	for _, list := range []string{"params", "metrics"} {
		items, _ := body[list].([]any)
		for _, item := range items {
			item := item.(map[string]any)
			switch v := item["value"].(type) {
			case string:
				r.params[item["key"].(string)] = v
			case float64:
				r.metrics[item["key"].(string)] = v
			}
		}
	}
}

func (f *fake) spans(r *http.Request) {
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		return
	}
	body, _ := io.ReadAll(z)
	var data tracepb.TracesData
	if proto.Unmarshal(body, &data) != nil {
		return
	}
	for _, s := range data.ResourceSpans[0].ScopeSpans[0].Spans {
		id := "tr-" + hex.EncodeToString(s.TraceId)
		if f.traces[id] == nil {
			f.traces[id] = map[string]*tracepb.Span{}
		}
		f.traces[id][hex.EncodeToString(s.SpanId)] = s
		if s.ParentSpanId == nil {
			f.linked[id] = r.Header.Get("X-Mlflow-Run-Id")
		}
	}
}

func (f *fake) assess(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/api/3.0/mlflow/traces/"), "/assessments")
	if f.traces[id] == nil {
		refuse(w, http.StatusNotFound, "RESOURCE_DOES_NOT_EXIST")
		return
	}
	var body struct {
		Assessment fakeAssessment `json:"assessment"`
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	f.judged[id] = append(f.judged[id], body.Assessment)
}

// names lists the assessments of a trace.
func (f *fake) names(trace string) (out []string) {
	for _, a := range f.judged[trace] {
		out = append(out, a.Name)
	}
	slices.Sort(out)
	return out
}
