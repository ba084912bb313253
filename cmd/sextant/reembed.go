package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
)

// reembedCommand makes the vectors of a collection anew with the encoder that is set.
type reembedCommand struct {
	jsonFlag
	Remove     bool   `help:"Take all vectors away instead: the collection is found by words only then."`
	Collection string `arg:"" help:"Name of the collection."`
}

// Help implements kong's HelpProvider.
func (reembedCommand) Help() string {
	return "New vectors are made beside those in use and put in place in one step at the end. A run that was interrupted goes on where it was when it is started again. The encoder is that of EMBEDDER and EMBEDDING_MODEL."
}

// Run encodes.
func (c *reembedCommand) Run(ctx context.Context, s *session) error {
	e, err := s.openEngine(ctx, s.config.Data)
	if err != nil {
		return err
	}
	defer e.close()
	encoder := embed.Embedder(nil)
	if !c.Remove {
		if encoder = e.encoder.Embedder; encoder == nil {
			return &sextant.Error{Code: sextant.CodeBadRequest, Op: "reembed", Message: "There is no encoder to make vectors with. " + e.encoder.missing,
				Hint: "Set one with EMBEDDER and EMBEDDING_MODEL, or take the vectors away with --remove."}
		}
	}
	out, err := ingest.Reembed(ctx, e.store, c.Collection, encoder, s.encodingMeter(c.Collection))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return &sextant.Error{Code: sextant.CodeNotFound, Op: "reembed", Message: "There is no collection " + c.Collection + ".", Hint: "`sextant collections` lists them."}
	case err != nil && ctx.Err() != nil:
		return &sextant.Error{Code: sextant.CodeInternal, Op: "reembed", Message: "Interrupted. What was encoded so far is kept, and nothing has changed for questions.", Hint: "Run the same command again to go on."}
	case err != nil:
		return s.storeError(err)
	}
	return s.print(reply[ingest.Reembedding]{value: out}, func(p *page) { writeReembedding(p, out) })
}

func writeReembedding(p *page, r ingest.Reembedding) {
	name := func(encoder string) string {
		if f, err := embed.ParseFingerprint(encoder); err == nil {
			return f.Model
		}
		return "no vectors"
	}
	if r.From == r.To {
		p.text("", fmt.Sprintf("%s: its vectors are of %s already.", r.Collection, name(r.To)))
		return
	}
	p.text("", fmt.Sprintf("%s: from %s to %s, %s documents, %s chunks, %s of them encoded now, in %s.", r.Collection, name(r.From), name(r.To),
		humanize.Comma(r.Documents), humanize.Comma(r.Chunks), humanize.Comma(r.Encoded), r.Took.Round(10*time.Millisecond)))
}
