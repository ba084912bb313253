package main

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/aviation"
	"github.com/sextant-rag/sextant/aviation/sample"
	"github.com/sextant-rag/sextant/httpapi"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// demoCommand shows what this is on real records, in a data folder of its own.
type demoCommand struct {
	NoServe bool   `help:"End after the answers, without the page."`
	Host    string `help:"Address to serve the page on; 127.0.0.1 otherwise (API_HOST)." placeholder:"ADDR"`
	Port    *int   `help:"Port to serve the page on; 8000 otherwise, or a free one (API_PORT)." placeholder:"N"`
}

// demoQuestions are one for each thing an answer can prove: an exact table, statements
// with the words they rest on, and that there is nothing.
var demoQuestions = []string{
	"How many fatal Cessna 172 accidents happened in Florida between 2008 and 2012, by year?",
	"What happened to N106US?",
	"How many fatal Cessna 172 accidents happened in Alaska between 2008 and 2012, by year?",
}

// Run shows.
func (c *demoCommand) Run(ctx context.Context, s *session) error {
	s.config.Data = filepath.Join(s.config.Data, "demo")
	s.config.Store.URL = "" // what it shows needs no server, and fills none
	if h, held := sqlite.Holder(s.config.Data); held && h.Address != "" {
		if err := s.answers(ctx, newRemote(h.Address, s.config.Serve.key())); err != nil {
			return err
		}
		s.terminal.say("The page is at %s, served by a demo that is still running.", h.Address)
		return nil
	}
	e, err := s.openTraced(ctx, s.config.Data)
	if err != nil {
		return err
	}
	defer e.close()
	if err := s.takeSampleIn(ctx, e); err != nil {
		return err
	}
	if err := s.answers(ctx, local{e}); err != nil {
		return err
	}
	if c.NoServe {
		s.terminal.say("Ask your own: sextant ask --data %s QUESTION", s.config.Data)
		return nil
	}
	return c.serve(ctx, s, e)
}

func (s *session) takeSampleIn(ctx context.Context, e *engine) error {
	began := time.Now()
	job := ingest.Job{Store: e.store, Collection: aviation.Incidents(), Source: sample.Open()}
	if err := s.encode(ctx, e, &job, false); err != nil {
		return err
	}
	if job.Embedder != nil {
		vectors, err := sample.Vectors()
		if err != nil {
			return err
		}
		job.Embedder = vectors.Over(job.Embedder)
	}
	receipt, err := s.ingest(ctx, job)
	if err != nil {
		return err
	}
	s.terminal.say("%s real NTSB records of %s events, %d to %d, taken in in %s. No key, no network.\n",
		humanize.Comma(receipt.Read), humanize.Comma(sample.Events), sample.FirstYear, sample.LastYear, time.Since(began).Round(10*time.Millisecond))
	return nil
}

// answers asks the questions and shows each answer under a rule.
func (s *session) answers(ctx context.Context, r reader) error {
	for _, question := range demoQuestions {
		answer, err := r.Ask(ctx, sextant.Question{Text: question})
		if err != nil {
			return err
		}
		p := s.terminal.page()
		p.note("", strings.Repeat("─", p.width))
		writeAnswer(p, &answer.value)
		p.blank()
		if err := s.terminal.show(p); err != nil {
			return err
		}
	}
	return nil
}

// serve serves the page. Where no port was asked for and the usual one is taken, any
// will do: this is for looking at.
func (c *demoCommand) serve(ctx context.Context, s *session, e *engine) error {
	options := (&serveFlags{Host: c.Host, Port: c.Port}).over(s.config.Serve)
	options.Log = s.log(defaultLog)
	if options.Port == nil && !free(ctx, options.Host, httpapi.DefaultPort) {
		options.Port = new(int)
	}
	return s.serve(ctx, e, options)
}
