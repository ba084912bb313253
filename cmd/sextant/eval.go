package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/eval"
	"github.com/sextant-rag/sextant/httpapi"
	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/mlflow"
)

// evalCommand measures the engine on a data set of questions with right answers.
type evalCommand struct {
	jsonFlag
	retrievalFlags
	Set    string  `arg:"" help:"Kind of data set: constraints, counts, intents, answers, retrieval or refusal; or check, which plants faults in what is held."`
	File   string  `arg:"" optional:"" help:"The data set: JSON lines, or for retrieval and refusal a folder in the layout of BEIR, SciFact or NTSB narratives." type:"path"`
	Floor  float64 `help:"Fail (exit 1) if the share of right answers is below this." placeholder:"SHARE"`
	MLflow bool    `name:"mlflow" help:"Log figures, misses and configuration as a run of MLflow (MLFLOW_TRACKING_URI)."`
	Max    int     `help:"Misses to print; all with 0." default:"20" placeholder:"N"`
}

// Run asks every question of the set.
func (c *evalCommand) Run(ctx context.Context, s *session) error {
	switch {
	case c.Set == "check":
		return c.check(ctx, s)
	case c.File == "":
		return usage("Say which data set: a file of JSON lines, or for retrieval a folder.")
	case c.Set == "retrieval":
		return c.retrieval(ctx, s)
	case c.Set == "refusal":
		return c.refusal(ctx, s)
	}
	items, err := readSet(c.File)
	if err != nil {
		return err
	}
	e, err := s.openEngine(ctx, s.config.Data)
	if err != nil {
		return err
	}
	defer e.close()
	report, err := eval.Run(ctx, e, c.Set, items)
	if err != nil {
		return err
	}
	if c.MLflow {
		if err := s.logEvaluation(ctx, c.Set, c.File, report); err != nil {
			return err
		}
	}
	if err := s.print(reply[eval.Report]{value: report}, func(p *page) { writeReport(p, report, c.Max) }); err != nil {
		return err
	}
	if report.Accuracy() < c.Floor {
		return exit(exitFailure)
	}
	return nil
}

func readSet(file string) ([]eval.Item, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &sextant.Error{Code: sextant.CodeNotFound, Op: "eval", Message: "There is no file " + file + "."}
	}
	if err != nil {
		return nil, &sextant.Error{Code: sextant.CodeForbidden, Op: "eval", Message: "The file " + file + " cannot be read.", Err: err}
	}
	defer f.Close()
	items, err := eval.Read(f)
	if err != nil {
		return nil, &sextant.Error{Code: sextant.CodeBadRequest, Op: "eval", Message: "The file " + file + " is no data set: " + err.Error() + ".", Hint: "One JSON object a line, with id, question and what is right about it."}
	}
	return items, nil
}

func writeTallies(p *page, head string, tallies map[string]eval.Tally) {
	if len(tallies) == 0 {
		return
	}
	t := table{head: []string{head, "right", "wrong", "missed", "precision", "recall"}, right: []bool{false, true, true, true, true, true}}
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		x := tallies[name]
		t.rows = append(t.rows, []string{name, fmt.Sprint(x.Right), fmt.Sprint(x.Wrong), fmt.Sprint(x.Missed), fmt.Sprintf("%.3f", x.Precision()), fmt.Sprintf("%.3f", x.Recall())})
	}
	p.table(t)
}

func writeReport(p *page, r eval.Report, most int) {
	p.text("", fmt.Sprintf("%s: %d of %d right (%.3f)", r.Set, r.Right, r.Questions, r.Accuracy()))
	for _, name := range slices.Sorted(maps.Keys(r.Figures)) {
		p.text("", fmt.Sprintf("%s: %g (%.1f %%)", name, r.Figures[name], 100*r.Figures[name]/float64(max(r.Questions, 1))))
	}
	p.text("", fmt.Sprintf("a question: %s median, %s for the slowest hundredth", r.P50.Round(10*time.Microsecond), r.P99.Round(10*time.Microsecond)))
	writeTallies(p, "field", r.ByField)
	writeTallies(p, "operator", r.ByOp)
	for _, name := range slices.Sorted(maps.Keys(r.Confused)) {
		p.text("", fmt.Sprintf("%s: %d", name, r.Confused[name]))
	}
	for i, m := range r.Misses {
		if most > 0 && i == most {
			p.text("", fmt.Sprintf("... and %d more", len(r.Misses)-most))
			break
		}
		p.blank()
		p.text("", m.ID+"  "+m.Question)
		p.text("    ", "got   "+m.Got)
		p.text("    ", "want  "+m.Want)
	}
}

// logEvaluation writes a report as a run of the tracking server.
func (s *session) logEvaluation(ctx context.Context, set, file string, r eval.Report) error {
	settings, ok, err := s.trackingServer()
	if err != nil {
		return err
	}
	if !ok {
		return usage("There is no tracking server to log to: set MLFLOW_TRACKING_URI.")
	}
	report, err := httpapi.JSON(r)
	if err != nil {
		return err
	}
	config, err := s.effective()
	if err != nil {
		return err
	}
	metrics := map[string]float64{"accuracy": r.Accuracy(), "right": float64(r.Right), "questions": float64(r.Questions), "p50_ms": float64(r.P50.Microseconds()) / 1000, "p99_ms": float64(r.P99.Microseconds()) / 1000}
	maps.Copy(metrics, r.Figures)
	id, err := mlflow.Log(ctx, settings, mlflow.Evaluation{Name: "eval " + set, Metrics: metrics, Files: map[string][]byte{"report.json": report, "config.json": config}, Began: time.Now(),
		Params: map[string]string{"set": set, "file": filepath.Base(file), "version": currentRelease().Version, "config": trace.Hash(config)}})
	if err != nil {
		return &sextant.Error{Code: sextant.CodeUnavailable, Op: "log evaluation", Message: "The evaluation could not be logged to " + settings.URI + ".", Err: err}
	}
	s.terminal.say("Logged as run %s of %s.", id, settings.Experiment)
	return nil
}
