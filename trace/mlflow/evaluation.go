package mlflow

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/trace"
)

// Evaluation is one measurement of the engine on a data set.
type Evaluation struct {
	Name    string
	Params  map[string]string
	Metrics map[string]float64
	Files   map[string][]byte // JSON, by file name
	Began   time.Time
	Took    time.Duration
}

// Log writes an evaluation as a run of its own, so that MLflow's page compares it with
// others, and returns the run's id. Unlike traces it is sent at once or not at all: who
// measures is there to see it fail.
func Log(ctx context.Context, s Settings, e Evaluation) (string, error) {
	c := newClient(s)
	experiment, err := c.experiment(ctx)
	if err != nil {
		return "", fmt.Errorf("log evaluation: %w", err)
	}
	r := &trace.Record{Began: e.Began, Duration: e.Took, Summary: trace.Summary{Question: e.Name, Status: "evaluation", Params: e.Params, Metrics: e.Metrics}}
	run, err := c.runFor(ctx, experiment, "evaluation-"+trace.NewID().String(), r, false)
	if err != nil {
		return "", fmt.Errorf("log evaluation: %w", err)
	}
	err = c.logBatch(ctx, run.ID, r)
	for name, content := range e.Files {
		if err == nil {
			err = c.artifact(ctx, run, name, content)
		}
	}
	status := "FINISHED"
	if err != nil {
		status = "FAILED"
	}
	if err = errors.Join(err, c.finish(ctx, run.ID, status, e.Began.Add(e.Took))); err != nil {
		return run.ID, fmt.Errorf("log evaluation: %w", err)
	}
	return run.ID, nil
}

// Artifact reads one file of a run: trace.json, whose trace holds the configuration that
// answered the question, or answer.json.
func Artifact(ctx context.Context, s Settings, runID, name string) ([]byte, error) {
	c := newClient(s)
	var found struct {
		Run struct {
			Info run `json:"info"`
		} `json:"run"`
	}
	if err := c.call(ctx, http.MethodGet, "/api/2.0/mlflow/runs/get?run_id="+url.QueryEscape(runID), nil, &found); err != nil {
		return nil, fmt.Errorf("read run %s: %w", runID, err)
	}
	path, ok := artifactPath(found.Run.Info, name)
	if !ok {
		return nil, fmt.Errorf("read run %s: %w", runID, errNotProxied)
	}
	content, err := c.do(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("read %s of run %s: %w", name, runID, err)
	}
	return content, nil
}

// artifactPath is the address of a run's file; ok is false when the server does not serve
// its files itself.
func artifactPath(r run, name string) (path string, ok bool) {
	at, ok := strings.CutPrefix(r.Artifacts, "mlflow-artifacts:/")
	var escaped []string
	for part := range strings.SplitSeq(strings.Trim(at, "/")+"/"+name, "/") {
		escaped = append(escaped, url.PathEscape(part))
	}
	return "/api/2.0/mlflow-artifacts/artifacts/" + strings.Join(escaped, "/"), ok
}
