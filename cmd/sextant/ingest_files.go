package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/sextant-rag/sextant/extract"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/source/file"
)

// ingestFiles takes files and folders in.
type ingestFiles struct {
	takeFlags
	Collection string   `help:"Collection to fill; made if it is new." placeholder:"NAME" required:""`
	Hidden     bool     `help:"Take files and folders whose names begin with a dot, too."`
	Ignore     []string `help:"Pattern of names, or of paths below the folder, to pass over; may be repeated." placeholder:"PATTERN" sep:"none"`
	Prune      bool     `help:"Delete documents whose files are no longer there."`
	Paths      []string `arg:"" name:"path" help:"Files, and folders with all that is below them." type:"path"`
}

// Help implements kong's HelpProvider.
func (*ingestFiles) Help() string {
	return "What a file is, its content says. Every file has an outcome: taken in, unchanged, skipped (hidden, ignored, a symbolic link) or refused with the reason. A second run looks at the files that are new or changed, and says which are gone; --prune deletes their documents."
}

// Run ingests.
func (c *ingestFiles) Run(ctx context.Context, s *session) error {
	if err := ownCollection(c.Collection); err != nil {
		return err
	}
	for _, path := range c.Paths {
		if err := readable(path); err != nil {
			return err
		}
	}
	o := c.order("files")
	o.Collection, o.Prune = c.Collection, c.Prune
	if handled, err := s.viaServer(ctx, o, c.Paths); handled {
		return err
	}
	x := &extract.Extractor{CacheDir: filepath.Join(s.config.Data, "cache")}
	src, err := file.New(c.Collection, x, file.Options{Hidden: c.Hidden, Ignore: c.Ignore}, c.Paths...)
	switch {
	case errors.Is(err, file.ErrSameName):
		return usage("%s: their documents would have the same ids. Take the folder above them in, or use two collections.", sentence(err.Error()))
	case err != nil:
		return usage("%s", sentence(err.Error()))
	}
	defer func() { _ = x.Close() }()
	spec := file.Collection(c.Collection, "sextant ingest files PATH... --collection "+c.Collection)
	return s.takeIn(ctx, ingest.Job{Collection: spec, Source: src, Prune: c.Prune}, c.takeFlags)
}
