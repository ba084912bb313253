package mlflow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sextant-rag/sextant/trace"
)

// Limits of the server, measured on 3.17: one value above them makes it refuse a whole
// batch.
const (
	maxParams   = 100
	maxMetrics  = 900 // 1,000 together with parameters and tags
	maxParam    = 6000
	maxTag      = 8000
	maxKey      = 250
	maxSession  = 250
	questionTag = "sextant.question_id"
)

// run is what is needed of a run to go on with it.
type run struct {
	ID        string `json:"run_id"`
	Artifacts string `json:"artifact_uri"`
}

// runFor returns the run of a question. The server gives runs their ids, so that a create
// whose answer was lost must not be repeated before looking for the run by our own tag.
func (c *client) runFor(ctx context.Context, experiment, question string, r *trace.Record, look bool) (run, error) {
	if look {
		var found struct {
			Runs []struct {
				Info run `json:"info"`
			} `json:"runs"`
		}
		err := c.call(ctx, http.MethodPost, "/api/2.0/mlflow/runs/search", struct {
			Experiments []string `json:"experiment_ids"`
			Filter      string   `json:"filter"`
			Max         int      `json:"max_results"`
		}{[]string{experiment}, "tags.`" + questionTag + "` = '" + question + "'", 1}, &found)
		if err != nil {
			return run{}, err
		}
		if len(found.Runs) > 0 {
			return found.Runs[0].Info, nil
		}
	}
	tags := []pair{{questionTag, question}, {"answer_type", r.Summary.Status}, {"mlflow.source.type", "LOCAL"}, {"mlflow.source.name", "sextant"}, {"mlflow.user", firstOf(r.Summary.User, "sextant")}}
	var made struct {
		Run struct {
			Info run `json:"info"`
		} `json:"run"`
	}
	err := c.call(ctx, http.MethodPost, "/api/2.0/mlflow/runs/create", struct {
		Experiment string `json:"experiment_id"`
		Name       string `json:"run_name"`
		Start      int64  `json:"start_time"`
		Tags       []pair `json:"tags"`
	}{experiment, clip(firstOf(r.Summary.Question, question), maxKey), r.Began.UnixMilli(), tags}, &made)
	return made.Run.Info, err
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// metric is one measured value of a run.
type metric struct {
	Key       string  `json:"key"`
	Value     float64 `json:"value"`
	Timestamp int64   `json:"timestamp"`
	Step      int64   `json:"step"`
}

// logBatch writes parameters and metrics in as many requests as the limits ask for.
// Equal values may be sent again. Empty lists are left out: a null is answered with an
// HTML page.
func (c *client) logBatch(ctx context.Context, runID string, r *trace.Record) error {
	var params []pair
	for _, key := range slices.Sorted(maps.Keys(r.Summary.Params)) {
		params = append(params, pair{validKey(key), clip(r.Summary.Params[key], maxParam)})
	}
	var metrics []metric
	at := r.Began.Add(r.Duration).UnixMilli()
	for _, key := range slices.Sorted(maps.Keys(r.Summary.Metrics)) {
		metrics = append(metrics, metric{Key: validKey(key), Value: finite(r.Summary.Metrics[key]), Timestamp: max(0, at)})
	}
	for len(params) > 0 || len(metrics) > 0 {
		p, m := params[:min(len(params), maxParams)], metrics[:min(len(metrics), maxMetrics)]
		params, metrics = params[len(p):], metrics[len(m):]
		err := c.call(ctx, http.MethodPost, "/api/2.0/mlflow/runs/log-batch", struct {
			Run     string   `json:"run_id"`
			Params  []pair   `json:"params,omitempty"`
			Metrics []metric `json:"metrics,omitempty"`
		}{runID, p, m}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// finish closes a run. An unknown status would be taken with a 200 and ignored.
func (c *client) finish(ctx context.Context, runID, status string, end time.Time) error {
	return c.call(ctx, http.MethodPost, "/api/2.0/mlflow/runs/update", struct {
		Run    string `json:"run_id"`
		Status string `json:"status"`
		End    int64  `json:"end_time"`
	}{runID, status, end.UnixMilli()}, nil)
}

// errNotProxied: the artifacts of the run lie where only clients with credentials of
// their own can write.
var errNotProxied = errors.New("the server does not take artifacts itself: start it with --serve-artifacts")

// artifact writes one file of a run through the server.
func (c *client) artifact(ctx context.Context, r run, name string, content []byte) error {
	path, ok := artifactPath(r, name)
	if !ok {
		return errNotProxied
	}
	_, err := c.do(ctx, http.MethodPut, path, http.Header{"Content-Type": {"application/json"}}, bytes.NewReader(content))
	return err
}

// assess writes a judgement of a trace. The request is not idempotent.
func (c *client) assess(ctx context.Context, traceID string, f trace.Feedback) error {
	kind := "CODE"
	if f.Human {
		kind = "HUMAN"
	}
	at := f.At.UTC().Format(time.RFC3339Nano)
	type source struct {
		Type string `json:"source_type"`
		ID   string `json:"source_id"`
	}
	type value struct {
		Value any `json:"value"`
	}
	return c.call(ctx, http.MethodPost, "/api/3.0/mlflow/traces/"+traceID+"/assessments", struct {
		Assessment any `json:"assessment"`
	}{struct {
		Name      string            `json:"assessment_name"`
		Trace     string            `json:"trace_id"`
		Source    source            `json:"source"`
		Created   string            `json:"create_time"`
		Updated   string            `json:"last_update_time"`
		Feedback  value             `json:"feedback"`
		Rationale string            `json:"rationale,omitempty"`
		Metadata  map[string]string `json:"metadata"`
	}{validKey(f.Name), traceID, source{kind, firstOf(f.Source, "sextant")}, at, at, value{f.Value}, f.Rationale, map[string]string{feedbackID: f.ID}}}, nil)
}

// feedbackID is the key under which an assessment carries our own id, by which it is
// found again after a lost answer.
const feedbackID = "sextant.feedback_id"

// assessed returns our own ids of the judgements that a trace has already.
func (c *client) assessed(ctx context.Context, traceID string) (map[string]bool, error) {
	var found struct {
		Trace struct {
			Info struct {
				Assessments []struct {
					Metadata map[string]string `json:"metadata"`
				} `json:"assessments"`
			} `json:"trace_info"`
		} `json:"trace"`
	}
	if err := c.call(ctx, http.MethodGet, "/api/3.0/mlflow/traces/"+traceID, nil, &found); err != nil {
		return nil, fmt.Errorf("look for assessments: %w", err)
	}
	out := map[string]bool{}
	for _, a := range found.Trace.Info.Assessments {
		out[a.Metadata[feedbackID]] = true
	}
	return out, nil
}

// validKey replaces what the server does not take in a name.
func validKey(key string) string {
	return clip(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-. /", r) {
			return r
		}
		return '_'
	}, key), maxKey)
}

// clip shortens to n characters, and shows that it did.
func clip(s string, n int) string {
	runes := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	if len(runes) <= n {
		return string(runes)
	}
	return string(runes[:n-1]) + "…"
}

// finite replaces what JSON cannot say.
func finite(v float64) float64 {
	if v != v || v > 1e308 || v < -1e308 {
		return 0
	}
	return v
}
