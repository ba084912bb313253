package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/mlflow"
)

// configCommand shows and restores configurations.
type configCommand struct {
	Show    configShowCommand    `cmd:"" help:"Show what is in force, and where each value was said."`
	Restore configRestoreCommand `cmd:"" help:"Write the configuration that a trace was made with."`
}

// configShowCommand shows.
type configShowCommand struct {
	jsonFlag
}

// Run shows.
func (c *configShowCommand) Run(s *session) error {
	list := s.settings()
	return s.print(reply[[]setting]{value: list}, func(p *page) {
		t := table{head: []string{"setting", "value", "from"}, right: []bool{false, false, false}}
		for _, set := range list {
			t.rows = append(t.rows, []string{set.Name, set.Value, set.From})
		}
		p.table(t)
	})
}

// configRestoreCommand restores.
type configRestoreCommand struct {
	From string `required:"" help:"Id of a trace, a file that trace export wrote, or the id of a run of MLflow." placeholder:"TRACE|RUN"`
	File string `arg:"" help:"File to write." type:"path"`
}

// Run restores. A file that is there is not overwritten: it may be the only copy of what
// is in force.
func (c *configRestoreCommand) Run(ctx context.Context, s *session) error {
	v, done, err := s.view(ctx, c.From)
	if sextant.ErrorCode(err) == sextant.CodeNotFound {
		if run, ok := s.traceOfRun(ctx, c.From); ok {
			v, done, err = run, func() {}, nil
		}
	}
	if err != nil {
		return err
	}
	defer done()
	data, err := yamlOfSettings(v.Config)
	if err != nil {
		return &sextant.Error{Code: sextant.CodeConflict, Op: "restore configuration", Message: "The trace does not hold its configuration.", Err: err}
	}
	f, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &sextant.Error{Code: sextant.CodeConflict, Op: "restore configuration", Message: c.File + " exists already.", Hint: "Name another file, or move that one away."}
	}
	if err != nil {
		return fmt.Errorf("restore configuration: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("restore configuration: %w", err)
	}
	s.terminal.say("Wrote %s. Use it with --config %s.", c.File, c.File)
	return nil
}

// traceOfRun reads the trace that a run of the tracking server keeps as trace.json. Ids of
// runs look like those of traces, so that a run is only looked for where there is no trace.
func (s *session) traceOfRun(ctx context.Context, id string) (v trace.View, ok bool) {
	settings, ok, err := s.trackingServer()
	if err != nil || !ok {
		return v, false
	}
	content, err := mlflow.Artifact(ctx, settings, id, "trace.json")
	if err != nil {
		s.terminal.say("The tracking server has no such run either: %v.", err)
		return v, false
	}
	return v, json.Unmarshal(content, &v) == nil
}
