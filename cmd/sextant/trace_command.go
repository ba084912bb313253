package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/httpapi"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/trace"
)

// traceCommand looks at the traces of questions.
type traceCommand struct {
	List   traceListCommand   `cmd:"" help:"List traces, newest first."`
	Show   traceShowCommand   `cmd:"" help:"Show what happened for a question, step by step."`
	Export traceExportCommand `cmd:"" help:"Write a trace to a file that can be replayed elsewhere."`
	Replay traceReplayCommand `cmd:"" help:"Answer the question of a trace again and say what differs."`
}

// traceReader returns what has the traces of the data folder.
func (s *session) traceReader(ctx context.Context) (traceReader, func(), error) {
	if h, held := s.holder(); held && h.Address != "" {
		return remoteTraces{newRemote(h.Address, s.config.Serve.key())}, func() {}, nil
	}
	e, err := s.openTraced(ctx, s.config.Data)
	if err != nil {
		return nil, nil, err
	}
	if e.traces == nil {
		e.close()
		return nil, nil, &sextant.Error{Code: sextant.CodeNotFound, Op: "traces", Message: "No traces are kept here.", Hint: "They are switched off: see SEXTANT_TRACES and traces.off in the configuration."}
	}
	return e.traces, e.close, nil
}

// remoteTraces reads from the server that holds the data folder.
type remoteTraces struct{ *remote }

func (r remoteTraces) List(ctx context.Context, s trace.Search) ([]trace.Listed, error) {
	q := url.Values{}
	for name, value := range map[string]string{"status": s.Status, "text": s.Text, "collection": s.Collection} {
		if value != "" {
			q.Set(name, value)
		}
	}
	q.Set("limit", strconv.Itoa(s.Limit))
	if !s.From.IsZero() {
		q.Set("from", s.From.Format(time.RFC3339))
	}
	if s.MinCost > 0 {
		q.Set("min_cost", strconv.FormatFloat(s.MinCost, 'g', -1, 64))
	}
	var out struct {
		Traces []trace.Listed `json:"traces"`
	}
	_, err := r.do(ctx, "GET", "/v1/traces?"+q.Encode(), nil, &out)
	return out.Traces, err
}

func (r remoteTraces) View(ctx context.Context, id string) (v trace.View, err error) {
	_, err = r.do(ctx, "GET", "/v1/traces/"+id, nil, &v)
	return v, err
}

func (r remoteTraces) Replay(ctx context.Context, v trace.View) (out pipeline.Replay, err error) {
	var raw struct {
		pipeline.Replay
		Answer answerReply `json:"answer"`
	}
	_, err = r.do(ctx, "POST", "/v1/replay", v, &raw)
	out = raw.Replay
	out.Answer = raw.Answer.Answer
	return out, err
}

// traceListCommand lists traces.
type traceListCommand struct {
	jsonFlag
	Status     string        `help:"Only those that ended so: answered, no_data, error and so on." placeholder:"STATUS"`
	Text       string        `help:"Only those whose question has these words." placeholder:"WORDS"`
	Collection string        `help:"Only those that used this collection." placeholder:"NAME"`
	MinCost    float64       `help:"Only those that cost at least so many US dollars." placeholder:"USD"`
	Since      time.Duration `help:"Only those of this last span of time, such as 24h." placeholder:"SPAN"`
	Limit      int           `help:"How many." default:"20" placeholder:"N"`
}

// Run lists.
func (c *traceListCommand) Run(ctx context.Context, s *session) error {
	r, done, err := s.traceReader(ctx)
	if err != nil {
		return err
	}
	defer done()
	search := trace.Search{Status: c.Status, Text: c.Text, Collection: c.Collection, MinCost: c.MinCost, Limit: c.Limit}
	if c.Since > 0 {
		search.From = time.Now().Add(-c.Since)
	}
	list, err := r.List(ctx, search)
	if err != nil {
		return err
	}
	return s.print(reply[[]trace.Listed]{value: list}, func(p *page) {
		if len(list) == 0 {
			p.text("", "No traces.")
			return
		}
		for _, l := range list { // no table: it would cut the ids, which are there to be copied
			p.text("", l.TraceID+"  "+l.Question)
			p.note("    ", fmt.Sprintf("%s, %s, %s", humanize.Time(l.Began), took(l.DurationMS), l.Status))
		}
	})
}

func took(ms float64) string {
	return time.Duration(ms * float64(time.Millisecond)).Round(10 * time.Microsecond).String()
}

// traceShowCommand shows one trace.
type traceShowCommand struct {
	jsonFlag
	ID string `arg:"" help:"Id of the trace, or a file that export wrote."`
}

// Run shows.
func (c *traceShowCommand) Run(ctx context.Context, s *session) error {
	v, done, err := s.view(ctx, c.ID)
	if err != nil {
		return err
	}
	defer done()
	return s.print(reply[trace.View]{value: v}, func(p *page) { writeTrace(p, v) })
}

// view finds a trace by id, or reads an exported one.
func (s *session) view(ctx context.Context, id string) (trace.View, func(), error) {
	if strings.HasSuffix(id, ".json") {
		v, err := readTraceFile(id)
		return v, func() {}, err
	}
	r, done, err := s.traceReader(ctx)
	if err != nil {
		return trace.View{}, nil, err
	}
	v, err := r.View(ctx, id)
	if err != nil {
		done()
		return trace.View{}, nil, err
	}
	return v, done, nil
}

// gist is how much of a span's values people are shown; --json has them all.
const gist = 160

func writeTrace(p *page, v trace.View) {
	p.heading(v.Summary.Question)
	line := fmt.Sprintf("%s, %s, %s", v.Summary.Status, v.Began.Format(time.RFC3339), took(v.DurationMS))
	if v.Tokens > 0 {
		line += fmt.Sprintf(", %s tokens, $%.4f", humanize.Comma(v.Tokens), v.CostUSD)
	}
	p.note("", line)
	for _, span := range v.Spans {
		indent := strings.Repeat("  ", span.Depth)
		p.text(indent+"- ", fmt.Sprintf("%s (%s) %s", span.Name, span.Kind, took(span.DurationMS)))
		switch {
		case span.Error != "":
			p.text(indent+"  ", span.ErrorType+": "+span.Error)
		case span.Depth > 0 && span.Outputs != nil:
			p.note(indent+"  ", shortJSON(span.Outputs))
		}
	}
}

func shortJSON(raw json.RawMessage) string {
	runes := []rune(sextant.CleanText(string(raw)))
	if len(runes) > gist {
		return string(runes[:gist]) + "…"
	}
	return string(runes)
}

// traceExportCommand writes a trace to a file.
type traceExportCommand struct {
	ID   string `arg:"" help:"Id of the trace."`
	File string `arg:"" optional:"" help:"File to write; ID.json otherwise, - for standard output." type:"path"`
}

// Run exports.
func (c *traceExportCommand) Run(ctx context.Context, s *session) error {
	v, done, err := s.view(ctx, c.ID)
	if err != nil {
		return err
	}
	defer done()
	data, err := httpapi.JSON(v)
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if strings.HasSuffix(c.File, "-") {
		_, err := s.terminal.out.Write(data)
		return err
	}
	path := c.File
	if path == "" {
		path = c.ID + ".json"
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("export trace: %w", err)
	}
	s.terminal.say("Wrote %s. It holds the question, everything that was found for it, and the answer.", path)
	return nil
}

// traceReplayCommand answers again.
type traceReplayCommand struct {
	jsonFlag
	ID string `arg:"" help:"Id of the trace, or a file that export wrote."`
}

// Help implements kong's HelpProvider.
func (traceReplayCommand) Help() string {
	return "Exit codes: 0 the same answer, byte for byte; 9 another one. The trace's id and times are left out of the comparison."
}

// exitDiffers is the exit code of a replay that brought another answer.
const exitDiffers = 9

// Run replays.
func (c *traceReplayCommand) Run(ctx context.Context, s *session) error {
	r, done, err := s.traceReader(ctx)
	if err != nil {
		return err
	}
	defer done()
	var v trace.View
	if strings.HasSuffix(c.ID, ".json") {
		v, err = readTraceFile(c.ID)
	} else {
		v, err = r.View(ctx, c.ID)
	}
	if err != nil {
		return err
	}
	out, err := r.Replay(ctx, v)
	if err != nil {
		return err
	}
	if err := s.print(reply[pipeline.Replay]{value: out}, func(p *page) { writeReplay(p, out) }); err != nil {
		return err
	}
	if !out.Identical {
		return exit(exitDiffers)
	}
	return nil
}

func writeReplay(p *page, r pipeline.Replay) {
	if r.Identical {
		p.text("", "The answer is the same, byte for byte.")
	} else {
		p.text("", "The answer is another one.")
	}
	for _, m := range r.Sequences {
		p.text("- ", fmt.Sprintf("%s was written to since: sequence %d then, %d now", m.Collection, m.Before, m.Now))
	}
	if r.Config {
		p.text("- ", "the configuration is not the one of the trace")
	}
	for _, d := range r.Differences {
		p.text("- ", d.Stage+": "+d.What)
		if d.Before != "" || d.After != "" {
			p.note("  then ", sextant.CleanText(d.Before))
			p.note("  now  ", sextant.CleanText(d.After))
		}
	}
}
