// Package mlflow shows every question in MLflow: a trace that its page draws as it draws
// its own clients', and a run with parameters, metrics, the two artifacts trace.json and
// answer.json, and assessments. It speaks to the server directly: spans as OTLP, the rest
// over REST. Facts about the server were measured on MLflow 3.17.
package mlflow

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/sextant-rag/sextant/trace"
)

// Exporter sends to one tracking server. It is an exporter of trace.Archive, whose spool
// it relies on; it must not be used by more than one goroutine at a time.
type Exporter struct {
	client     *client
	experiment string
	checked    time.Time // when the experiment was last seen alive
}

// New makes an exporter. It does not talk to the server: that may start later.
func New(s Settings) *Exporter { return &Exporter{client: newClient(s)} }

// Target is "mlflow".
func (e *Exporter) Target() string { return "mlflow" }

// progress is how far a trace has come. The order of the steps is fixed, so that a server
// that fails two requests of five still gets them all in the end.
type progress struct {
	Step int `json:"step"`
	Run  run `json:"run"`
}

// recheck is how often the experiment is looked at: one that somebody deletes takes
// everything with a 200.
const recheck = 10 * time.Minute

// settle is how long to wait after a request that got no answer: the server may be about
// to do what it was asked, for as long as its database lets it wait.
const settle = 21 * time.Second

// Send delivers a trace with its run, or feedback on one.
func (e *Exporter) Send(ctx context.Context, d *trace.Delivery) error {
	err := e.send(ctx, d)
	var r *refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &r):
		return r.sendError()
	case errors.As(err, new(*trace.SendError)):
		return err
	}
	return &trace.SendError{Err: err, After: afterSilence(err)}
}

// afterSilence waits longer when a request timed out than when nobody was there.
func afterSilence(err error) time.Duration {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return settle
	}
	return 0
}

func (e *Exporter) send(ctx context.Context, d *trace.Delivery) error {
	if time.Since(e.checked) > recheck {
		id, err := e.client.experiment(ctx)
		if err != nil {
			return fmt.Errorf("experiment: %w", err)
		}
		e.experiment, e.checked = id, time.Now()
	}
	if d.Feedback != nil {
		return e.feedback(ctx, d)
	}
	return e.question(ctx, d)
}

func (e *Exporter) feedback(ctx context.Context, d *trace.Delivery) error {
	id := TraceID(d.Record)
	if d.Tried {
		done, err := e.client.assessed(ctx, id)
		if err != nil || done[d.Feedback.ID] {
			return err
		}
	}
	return e.client.assess(ctx, id, *d.Feedback)
}

// question takes a trace through its steps from where it is, and leaves in d how far it
// came.
func (e *Exporter) question(ctx context.Context, d *trace.Delivery) error {
	var p progress
	if d.Progress != nil {
		if err := json.Unmarshal(d.Progress, &p); err != nil {
			p = progress{} // written by another version: start again, under the same ids
		}
	}
	steps := []func(context.Context, *trace.Delivery, *progress) error{e.openRun, e.numbers, e.artifacts, e.spans, e.assessments, e.closeRun}
	for p.Step < len(steps) {
		if err := steps[p.Step](ctx, d, &p); err != nil {
			return err
		}
		p.Step++
		d.Progress, _ = json.Marshal(p)
	}
	return nil
}

func (e *Exporter) openRun(ctx context.Context, d *trace.Delivery, p *progress) (err error) {
	p.Run, err = e.client.runFor(ctx, e.experiment, TraceID(d.Record), d.Record, d.Tried)
	return err
}

// numbers may be refused without taking the trace with them.
func (e *Exporter) numbers(ctx context.Context, d *trace.Delivery, p *progress) error {
	return unlessRefused(e.client.logBatch(ctx, p.Run.ID, d.Record))
}

func unlessRefused(err error) error {
	var r *refusal
	if errors.As(err, &r) && r.sendError().Refused {
		return nil
	}
	return err
}

func (e *Exporter) artifacts(ctx context.Context, d *trace.Delivery, p *progress) error {
	view := d.Record.View()
	whole, err := json.MarshalIndent(view, "", " ")
	if err != nil {
		return &trace.SendError{Err: fmt.Errorf("encode the trace: %w", err), Refused: true}
	}
	answer := view.Spans[0].Outputs
	if answer == nil {
		answer = json.RawMessage("null")
	}
	for name, content := range map[string][]byte{"trace.json": whole, "answer.json": answer} {
		if err := e.client.artifact(ctx, p.Run, name, content); errors.Is(err, errNotProxied) {
			return nil // spans and numbers are worth having without
		} else if err != nil {
			return unlessRefused(err)
		}
	}
	return nil
}

func (e *Exporter) spans(ctx context.Context, d *trace.Delivery, p *progress) error {
	body, err := encode(spans(d.Record, e.client.settings.Resource))
	if err != nil {
		return &trace.SendError{Err: fmt.Errorf("encode spans: %w", err), Refused: true}
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	_, err = e.client.do(ctx, http.MethodPost, "/v1/traces", http.Header{"Content-Type": {"application/x-protobuf"}, "Content-Encoding": {"gzip"},
		"X-Mlflow-Experiment-Id": {e.experiment}, "X-Mlflow-Run-Id": {p.Run.ID}}, &packed)
	return err
}

func (e *Exporter) assessments(ctx context.Context, d *trace.Delivery, _ *progress) error {
	id := TraceID(d.Record)
	done := map[string]bool{}
	if d.Tried && len(d.Record.Summary.Assessments) > 0 {
		var err error
		if done, err = e.client.assessed(ctx, id); err != nil {
			return err
		}
	}
	for _, a := range d.Record.Summary.Assessments {
		f := trace.Feedback{ID: id + "/" + a.Name, Name: a.Name, Rationale: a.Rationale, At: d.Record.Began.Add(d.Record.Duration)}
		f.Value, _ = json.Marshal(a.Value)
		if done[f.ID] {
			continue
		}
		if err := unlessRefused(e.client.assess(ctx, id, f)); err != nil {
			return err
		}
	}
	return nil
}

func (e *Exporter) closeRun(ctx context.Context, d *trace.Delivery, p *progress) error {
	status := "FINISHED"
	if d.Record.Summary.Status == "error" {
		status = "FAILED"
	}
	return e.client.finish(ctx, p.Run.ID, status, d.Record.Began.Add(d.Record.Duration))
}
