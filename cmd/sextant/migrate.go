package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
)

// migrateCommand carries everything held from one store into another.
type migrateCommand struct {
	jsonFlag
	From       string   `help:"Store to read. Default: the one in use." placeholder:"URL"`
	To         string   `required:"" help:"Store to write: a data folder (a path or file://), chroma+http://HOST:PORT, http://HOST:6333 of a Qdrant server." placeholder:"URL"`
	Prune      bool     `help:"Take away what the other store holds besides."`
	Collection []string `arg:"" optional:"" help:"Names of collections. Default: all, with all receipts and marks."`
}

// Help implements kong's HelpProvider.
func (*migrateCommand) Help() string {
	return "Documents, chunks, vectors, metadata, receipts and marks are carried as they are; nothing is encoded anew. Afterwards both stores are read and compared. A run that was interrupted goes on where it was when it is started again."
}

// Run migrates.
func (c *migrateCommand) Run(ctx context.Context, s *session) error {
	from, to, err := s.openBoth(ctx, c.From, c.To)
	if err != nil {
		return err
	}
	defer from.Close()
	defer to.Close()
	out, err := ingest.Migrate(ctx, ingest.Move{From: from, To: to, Collections: c.Collection, Prune: c.Prune, Progress: s.migrationMeter()})
	switch {
	case errors.Is(err, ingest.ErrDiffers):
		if e := s.print(reply[ingest.Migration]{value: out}, func(p *page) { writeMigration(p, out) }); e != nil {
			return e
		}
		return &sextant.Error{Code: sextant.CodeConflict, Op: "migrate", Message: "The stores do not hold the same.", Hint: "Was something taken in meanwhile? Run the same command again. What the other store holds besides goes with --prune.", Err: err}
	case err != nil && ctx.Err() != nil:
		return &sextant.Error{Code: sextant.CodeInternal, Op: "migrate", Message: "Interrupted. What was carried so far is kept.", Hint: "Run the same command again to go on."}
	case err != nil:
		return migrationError(err)
	}
	return s.print(reply[ingest.Migration]{value: out}, func(p *page) { writeMigration(p, out) })
}

// openBoth opens two stores by their addresses; no address is the store in use.
func (s *session) openBoth(ctx context.Context, a, b string) (from, to store.Store, err error) {
	if strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") {
		return nil, nil, usage("Both stores are %s.", withoutUser(b))
	}
	if from, err = s.openGiven(ctx, a); err != nil {
		return nil, nil, err
	}
	if to, err = s.openGiven(ctx, b); err != nil {
		_ = from.Close()
		return nil, nil, err
	}
	return from, to, nil
}

func (s *session) openGiven(ctx context.Context, address string) (store.Store, error) {
	if address == "" {
		return s.openStore(ctx)
	}
	return s.openAddress(ctx, address)
}

// migrationError says which kind of trouble a store that is not the session's has.
func migrationError(err error) error {
	e := &sextant.Error{Code: sextant.CodeInternal, Op: "migrate", Message: "Nothing more can be carried: " + err.Error() + ".", Hint: "What was carried so far is kept; the same command goes on.", Err: err}
	switch {
	case errors.Is(err, store.ErrUnavailable):
		e.Code = sextant.CodeUnavailable
	case errors.Is(err, store.ErrNotFound):
		e.Code = sextant.CodeNotFound
	case errors.Is(err, store.ErrSpec), errors.Is(err, store.ErrUnsupported), errors.Is(err, store.ErrLocked):
		e.Code = sextant.CodeConflict
	}
	return e
}

func (s *session) migrationMeter() func(collection string, done, of int64) {
	last := time.Now()
	return func(collection string, done, of int64) {
		if time.Since(last) < lineEvery {
			return
		}
		last = time.Now()
		s.terminal.say("%s: %s of %s documents", collection, humanize.Comma(done), humanize.Comma(of))
	}
}

func writeMigration(p *page, m ingest.Migration) {
	for _, c := range m.Collections {
		verdict := "both sides hold the same (" + c.From[:16] + ")"
		if !c.Same() {
			verdict = fmt.Sprintf("THE SIDES DIFFER (%s, %s; %s documents on one side only)", c.From[:16], c.To[:16], humanize.Comma(int64(len(c.Others))))
		}
		p.text("", fmt.Sprintf("%s: %s documents, %s chunks, %s documents written now; %s.", c.Name, humanize.Comma(c.Documents), humanize.Comma(c.Chunks), humanize.Comma(c.Copied), verdict))
	}
	p.text("", fmt.Sprintf("%s receipts, %s marks, in %s.", humanize.Comma(m.Receipts), humanize.Comma(m.Marks), m.Took.Round(10*time.Millisecond)))
}

// exportCommand writes everything held to one file that any program can read.
type exportCommand struct {
	From string `help:"Store to read. Default: the one in use." placeholder:"URL"`
	File string `arg:"" help:"File to write, JSON lines." type:"path"`
}

// Help implements kong's HelpProvider.
func (*exportCommand) Help() string {
	return "Collections, documents with their chunks and vectors, receipts and marks, in one order: stores that hold the same give the same bytes. The file is there whole or not at all."
}

// Run exports.
func (c *exportCommand) Run(ctx context.Context, s *session) error {
	st, err := s.openGiven(ctx, c.From)
	if err != nil {
		return err
	}
	defer st.Close()
	err = toFile(c.File, func(w io.Writer) error { return ingest.Export(ctx, st, w) })
	if err != nil {
		return s.storeError(err)
	}
	return nil
}
