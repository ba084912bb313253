//go:build integration

package mlflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant/internal/testbed"
	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/mlflow"
)

// reader asks a real server what it has.
type reader struct {
	t          *testing.T
	base       string
	user, pass string
}

func (r reader) get(path string, out any) {
	r.t.Helper()
	r.call(http.MethodGet, path, nil, out)
}

func (r reader) call(method, path string, in, out any) {
	r.t.Helper()
	var body io.Reader
	if in != nil {
		b, _ := json.Marshal(in)
		body = strings.NewReader(string(b))
	}
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.base+path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.user != "" {
		req.SetBasicAuth(r.user, r.pass)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		r.t.Fatalf("%s %s: %d %v %s", method, path, res.StatusCode, err, b)
	}
	if text, ok := out.(*string); ok {
		*text = string(b)
		return
	}
	if err := json.Unmarshal(b, out); err != nil {
		r.t.Fatalf("%s %s: %v %s", method, path, err, b)
	}
}

func (r reader) experiment(name string) string {
	var out struct {
		Experiment struct {
			ID string `json:"experiment_id"`
		} `json:"experiment"`
	}
	r.get("/api/2.0/mlflow/experiments/get-by-name?experiment_name="+url.QueryEscape(name), &out)
	return out.Experiment.ID
}

// traces counts those that satisfy a filter of the server's own.
func (r reader) traces(experiment, filter string) (ids []string) {
	token := ""
	for {
		var out struct {
			Traces []struct {
				ID string `json:"trace_id"`
			} `json:"traces"`
			Next string `json:"next_page_token"`
		}
		r.call(http.MethodPost, "/api/3.0/mlflow/traces/search", map[string]any{"locations": []any{map[string]any{"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": map[string]string{"experiment_id": experiment}}},
			"filter": filter, "max_results": 100, "page_token": token}, &out)
		for _, t := range out.Traces {
			ids = append(ids, t.ID)
		}
		if token = out.Next; token == "" {
			return ids
		}
	}
}

type realRun struct {
	Info struct {
		ID     string `json:"run_id"`
		Status string `json:"status"`
	} `json:"info"`
	Data struct {
		Params  []struct{ Key, Value string } `json:"params"`
		Metrics []struct {
			Key   string  `json:"key"`
			Value float64 `json:"value"`
		} `json:"metrics"`
		Tags []struct{ Key, Value string } `json:"tags"`
	} `json:"data"`
}

func (r reader) runs(experiment string) (all []realRun) {
	token := ""
	for {
		var out struct {
			Runs []realRun `json:"runs"`
			Next string    `json:"next_page_token"`
		}
		r.call(http.MethodPost, "/api/2.0/mlflow/runs/search", map[string]any{"experiment_ids": []string{experiment}, "max_results": 500, "page_token": token}, &out)
		all = append(all, out.Runs...)
		if token = out.Next; token == "" {
			return all
		}
	}
}

// Everything the exporter claims, read back from a real server through its own API.
func TestIntegrationMLflowHasEverything(t *testing.T) {
	server := testbed.MLflow(t, t.TempDir(), 0)
	r := record(summary)
	e := mlflow.New(mlflow.Settings{URI: server.URL, Experiment: "agentic-rag-aviation", Resource: trace.Resource{Service: "sextant", Version: "v1"}})
	send := func(d *trace.Delivery) {
		t.Helper()
		if err := e.Send(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	send(&trace.Delivery{Record: r})
	send(&trace.Delivery{Record: r, Tried: true}) // an answer was lost: all of it again
	judged := &trace.Delivery{Record: r, Feedback: &trace.Feedback{ID: "f1", TraceID: r.ID.String(), Name: "helpful", Value: json.RawMessage("true"), Human: true, Source: "inspector", At: time.Now()}}
	send(judged)
	judged.Tried = true
	send(judged)

	look := reader{t: t, base: server.URL}
	id := mlflow.TraceID(r)
	var got struct {
		Trace struct {
			Info struct {
				State    string            `json:"state"`
				Request  string            `json:"request_preview"`
				Response string            `json:"response_preview"`
				Metadata map[string]string `json:"trace_metadata"`
				Tags     map[string]string `json:"tags"`
				Judged   []struct {
					Name   string `json:"assessment_name"`
					Source struct {
						Type string `json:"source_type"`
					} `json:"source"`
				} `json:"assessments"`
			} `json:"trace_info"`
		} `json:"trace"`
	}
	look.get("/api/3.0/mlflow/traces/"+id, &got)
	info := got.Trace.Info
	if info.State != "OK" || info.Request != "What caused the crash?" || !strings.HasPrefix(info.Response, "Fuel exhaustion.") || info.Tags["mlflow.traceName"] != "agentic_rag_pipeline" || len(info.Metadata["mlflow.trace.session"]) != 252 {
		t.Errorf("%+v", info)
	}
	if !strings.Contains(info.Metadata["mlflow.trace.tokenUsage"], `"total_tokens": 15`) {
		t.Errorf("tokens: %v", info.Metadata)
	}
	var judgements []string
	for _, a := range info.Judged {
		judgements = append(judgements, a.Name+" "+a.Source.Type)
	}
	if d := cmp.Diff([]string{"confidence CODE", "findings_removed CODE", "helpful HUMAN"}, sorted(judgements)); d != "" {
		t.Error(d)
	}

	experiment := look.experiment("agentic-rag-aviation")
	runs := look.runs(experiment)
	if len(runs) != 1 || runs[0].Info.Status != "FINISHED" {
		t.Fatalf("runs %+v", runs)
	}
	for filter, n := range map[string]int{"trace.name = 'agentic_rag_pipeline'": 1, "span.type = 'RETRIEVER'": 1, "trace.run_id = '" + runs[0].Info.ID + "'": 1, "tag.`status` = 'answered'": 1, "trace.status = 'ERROR'": 0} {
		if ids := look.traces(experiment, filter); len(ids) != n {
			t.Errorf("%s finds %v, want %d", filter, ids, n)
		}
	}
	for _, name := range []string{"trace.json", "answer.json"} {
		var content string
		look.get("/get-artifact?path="+name+"&run_uuid="+runs[0].Info.ID, &content)
		if !json.Valid([]byte(content)) || len(content) < 50 {
			t.Errorf("%s: %s", name, content)
		}
	}
	screenshot(t, server.URL, experiment, id)
}

// screenshot leaves a picture of the trace as MLflow's own page draws it, for people to
// look at; without a browser there is none.
func screenshot(t *testing.T, base, experiment, id string) {
	t.Helper()
	dir := os.Getenv("SEXTANT_REVIEW")
	if dir == "" {
		return
	}
	target := fmt.Sprintf("%s/#/experiments/%s/traces?traceId=%s&selectedTraceId=%s", base, experiment, id, id)
	if err := testbed.Screenshot(t.Context(), target, filepath.Join(dir, "mlflow.png")); err != nil {
		t.Logf("no screenshot: %v", err)
	}
}

func TestIntegrationMLflowWithAPassword(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir) // its user database goes where it is started
	server := testbed.MLflow(t, dir, 0, "--app-name", "basic-auth")
	s := mlflow.Settings{URI: server.URL, Experiment: "x"}
	if err := mlflow.New(s).Send(t.Context(), &trace.Delivery{Record: record(summary)}); err == nil || !strings.Contains(err.Error(), "MLFLOW_TRACKING_USERNAME") {
		t.Errorf("without a password: %v", err)
	}
	s.User, s.Password = testbed.MLflowUser, testbed.MLflowPassword
	r := record(summary)
	if err := mlflow.New(s).Send(t.Context(), &trace.Delivery{Record: r}); err != nil {
		t.Fatal(err)
	}
	look := reader{t, server.URL, s.User, s.Password}
	if ids := look.traces(look.experiment("x"), ""); len(ids) != 1 || ids[0] != mlflow.TraceID(r) {
		t.Errorf("traces %v", ids)
	}
}

// Questions asked while the server is down, killed in between and started again: each is
// there once, with its run.
func TestIntegrationMLflowOutage(t *testing.T) {
	questions := 200
	if n, err := strconv.Atoi(os.Getenv("SEXTANT_OUTAGE_QUESTIONS")); err == nil {
		questions = n
	}
	dir := t.TempDir()
	server := testbed.MLflow(t, dir, 0)
	u, _ := url.Parse(server.URL)
	port, _ := strconv.Atoi(u.Port())
	a, err := trace.Open(t.Context(), trace.Options{Path: filepath.Join(t.TempDir(), "traces.db"), Targets: []string{"mlflow"}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go a.Deliver(ctx, mlflow.New(mlflow.Settings{URI: server.URL, Experiment: "outage"}))
	for i := range questions {
		if i == questions/3 {
			server.Stop()
		}
		ask(a, summary)
		time.Sleep(10 * time.Millisecond)
	}
	testbed.MLflow(t, dir, port)
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Second) {
		s, err := a.Stats()
		if err != nil {
			t.Fatal(err)
		}
		if s.Pending["mlflow"] == 0 {
			if s.Lost["mlflow"] != 0 {
				t.Errorf("lost %v", s.Lost)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d are still owed", s.Pending["mlflow"])
		}
	}
	look := reader{t: t, base: server.URL}
	experiment := look.experiment("outage")
	ids, runs := look.traces(experiment, ""), look.runs(experiment)
	if len(ids) != questions || len(runs) != questions {
		t.Errorf("%d traces and %d runs of %d questions", len(ids), len(runs), questions)
	}
	for _, r := range runs {
		if r.Info.Status != "FINISHED" || len(r.Data.Params) != len(summary.Params) {
			t.Errorf("run %+v", r)
		}
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
