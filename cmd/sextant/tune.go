package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed/adapt"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/tune"
)

// tuneCommand learns how the questions of a collection lie to its documents.
type tuneCommand struct {
	jsonFlag
	Pairs      string  `help:"Questions with the documents that answer them, JSON lines of query and document_id or text. Default: the collection's own causes, headings or titles." placeholder:"FILE" type:"path"`
	Off        bool    `help:"Learn nothing; go back to queries as the encoder makes them."`
	Use        string  `help:"Learn nothing; put a version learnt before in use." placeholder:"VERSION"`
	Strength   float32 `help:"How far to go, from 0 to 1. Default: 1, and 0.5 where the pairs only stand in for questions." placeholder:"SHARE"`
	Collection string  `arg:"" help:"Name of the collection."`
}

// Help implements kong's HelpProvider.
func (tuneCommand) Help() string {
	return "What is learnt from half of the pairs is tested on the other half, and kept only if it gains there for certain. Stored vectors stay as they are; every version can be switched off and on."
}

// Run learns.
func (c *tuneCommand) Run(ctx context.Context, s *session) error {
	e, err := s.openEngine(ctx, s.config.Data)
	if err != nil {
		return err
	}
	defer e.close()
	held, err := e.store.Open(ctx, c.Collection)
	if errors.Is(err, store.ErrNotFound) {
		return &sextant.Error{Code: sextant.CodeNotFound, Op: "tune", Message: "There is no collection " + c.Collection + ".", Hint: "`sextant collections` lists them."}
	}
	if err != nil {
		return s.storeError(err)
	}
	if c.Off || c.Use != "" {
		return c.switchTo(ctx, s, e)
	}
	if e.encoder.Embedder == nil {
		return &sextant.Error{Code: sextant.CodeBadRequest, Op: "tune", Message: "There is no encoder to tune. " + e.encoder.missing, Hint: "Set one with EMBEDDER and EMBEDDING_MODEL."}
	}
	pairs, err := c.pairs(ctx, held)
	if err != nil {
		return err
	}
	report, err := tune.Learn(ctx, held, e.encoder.Embedder, pairs, s.tuneProgress())
	if err != nil {
		return tuneError(c.Collection, err)
	}
	if report.Kept {
		if err := tune.Keep(ctx, e.store.Journal(), &report, held.Spec().Encoder, time.Now()); err != nil {
			return s.storeError(err)
		}
	}
	return s.print(reply[tune.Report]{value: report}, func(p *page) { writeTuning(p, &report) })
}

func (c *tuneCommand) switchTo(ctx context.Context, s *session, e *engine) error {
	if err := tune.Use(ctx, e.store.Journal(), c.Collection, c.Use); err != nil {
		if errors.Is(err, tune.ErrVersion) {
			return &sextant.Error{Code: sextant.CodeNotFound, Op: "tune", Message: fmt.Sprintf("There is no version %q of %s.", c.Use, c.Collection), Hint: "Versions are numbered from 1 in the order they were learnt."}
		}
		return s.storeError(err)
	}
	versions, err := tune.List(ctx, e.store.Journal(), c.Collection)
	if err != nil {
		return s.storeError(err)
	}
	return s.print(reply[tune.Versions]{value: versions}, func(p *page) {
		if versions.InUse == "" {
			p.text("", c.Collection+": tuning is off.")
			return
		}
		p.text("", c.Collection+": version "+versions.InUse+" is in use.")
	})
}

func (c *tuneCommand) pairs(ctx context.Context, held store.Collection) (tune.Pairs, error) {
	var pairs tune.Pairs
	if c.Pairs == "" {
		var err error
		if pairs, err = tune.Own(ctx, held); err != nil {
			return pairs, err
		}
	} else {
		f, err := os.Open(c.Pairs)
		if err != nil {
			return pairs, fileError("read the pairs", c.Pairs, err)
		}
		defer f.Close()
		if pairs, err = tune.ReadPairs(f); err != nil {
			return pairs, &sextant.Error{Code: sextant.CodeBadRequest, Op: "tune", Message: "The pairs cannot be read: " + err.Error() + ".", Hint: `One JSON object a line: {"query": "...", "document_id": "..."}, or with "text" instead of the id.`}
		}
	}
	if c.Strength != 0 {
		pairs.Strength = c.Strength
	}
	return pairs, nil
}

func tuneError(collection string, err error) error {
	switch {
	case errors.Is(err, adapt.ErrFew):
		return &sextant.Error{Code: sextant.CodeBadRequest, Op: "tune", Message: fmt.Sprintf("%s has too few pairs to learn from (%v).", collection, err), Hint: "Give questions with their documents with --pairs FILE."}
	case errors.Is(err, tune.ErrNoVectors):
		return &sextant.Error{Code: sextant.CodeConflict, Op: "tune", Message: collection + " has no vectors of the encoder that is set.", Hint: "Make them with: sextant reembed " + collection}
	}
	return err
}

// tuneProgress tells on the terminal what is being done, every few seconds.
func (s *session) tuneProgress() tune.Progress {
	last := time.Now()
	return func(what string, done, of int) {
		if time.Since(last) > 5*time.Second {
			last = time.Now()
			s.terminal.say("%s: %d of %d", what, done, of)
		}
	}
}

// barWidth is that of the plot.
const barWidth = 40

func writeTuning(p *page, r *tune.Report) {
	p.text("", fmt.Sprintf("%s pairs (%s), strength %.1f: of those held out, the right document's mean reciprocal rank by meaning alone goes from %.3f to %.3f (gain %+.3f, 95 %% between %+.3f and %+.3f), in %s.",
		humanize.Comma(int64(r.Pairs)), r.Kind, r.Strength, r.Before, r.After, r.After-r.Before, r.Low, r.High, r.Took.Round(10*time.Millisecond)))
	top := 1e-9
	for _, c := range r.Curve {
		top = max(top, c.Gain)
	}
	for _, c := range r.Curve {
		bar := strings.Repeat("█", int(max(0, c.Gain)/top*barWidth))
		p.text("  ", fmt.Sprintf("%6s pairs %+.3f %s", humanize.Comma(int64(c.Pairs)), c.Gain, bar))
	}
	switch {
	case r.Kept && r.Version != "":
		p.text("", "Kept as version "+r.Version+" and in use. To switch it off: sextant tune --off "+r.Collection)
	case !r.Kept:
		p.text("", "Not kept: it does not gain for certain.")
	}
}
