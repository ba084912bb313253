package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
)

// rechunkCommand cuts a collection anew.
type rechunkCommand struct {
	jsonFlag
	cutFlags
	Collection string `arg:"" help:"Name of the collection."`
}

// Help implements kong's HelpProvider.
func (rechunkCommand) Help() string {
	return "Texts, parts, fields and counts stay as they are; only the pieces that are searched change, with their vectors. A run that was interrupted goes on where it was when it is started again, without sizes."
}

// Run cuts.
func (c *rechunkCommand) Run(ctx context.Context, s *session) error {
	e, err := s.openEngine(ctx, s.config.Data)
	if err != nil {
		return err
	}
	defer e.close()
	job := ingest.Job{Store: e.store, Collection: sextant.Collection{Name: c.Collection}, Embedder: e.encoder.Embedder, Chunks: reading(c.Collection)}
	out, err := ingest.Rechunk(ctx, job, c.cutting(), s.cuttingMeter(c.Collection))
	var known *sextant.Error
	switch {
	case errors.Is(err, store.ErrNotFound):
		return &sextant.Error{Code: sextant.CodeNotFound, Op: "rechunk", Message: "There is no collection " + c.Collection + ".", Hint: "`sextant collections` lists them."}
	case err != nil && ctx.Err() != nil:
		return &sextant.Error{Code: sextant.CodeInternal, Op: "rechunk", Message: "Interrupted. Some documents are cut as asked, the others as before.", Hint: "To go on: sextant rechunk " + c.Collection}
	case errors.As(err, &known):
		return known
	case err != nil:
		return s.storeError(err)
	}
	return s.print(reply[ingest.Rechunking]{value: out}, func(p *page) {
		p.text("", fmt.Sprintf("%s: chunks of at most %d tokens that overlap by %d; %s of %s documents were cut anew, into %s chunks in all.", out.Collection, out.To.Size, out.To.Overlap,
			humanize.Comma(out.Cut), humanize.Comma(out.Documents), humanize.Comma(out.Chunks)))
	})
}

// cuttingMeter tells every few seconds how far it is.
func (s *session) cuttingMeter(collection string) func(done, of int64) {
	last := time.Now()
	return func(done, of int64) {
		if time.Since(last) >= lineEvery {
			last = time.Now()
			s.terminal.say("%s: %s of %s documents cut", collection, humanize.Comma(done), humanize.Comma(of))
		}
	}
}
