package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
)

// runsCommand lists runs of ingestion, or shows one with what became of each record.
type runsCommand struct {
	jsonFlag
	Collection string `help:"Only runs into this collection." placeholder:"NAME"`
	Limit      int    `help:"At most so many, newest first." default:"20"`
	Items      bool   `help:"With RUN: every record it read, one line each (with --json, one JSON value a line)."`
	Outcome    string `help:"With --items: only those of this outcome (stored, merged, unchanged, skipped, refused)." placeholder:"OUTCOME" enum:",stored,merged,unchanged,skipped,refused" default:""`
	RunID      string `arg:"" optional:"" name:"run" help:"Id of a run, or its beginning."`
}

// Run lists.
func (c *runsCommand) Run(ctx context.Context, s *session) error {
	k, done, err := s.keeper(ctx)
	if err != nil {
		return err
	}
	defer done()
	if c.RunID == "" {
		list, err := k.Runs(ctx, c.Collection, c.Limit)
		if err != nil {
			return err
		}
		return s.print(list, func(p *page) { writeRuns(p, list.value.Runs) })
	}
	receipt, err := k.Run(ctx, c.RunID)
	if err != nil {
		return err
	}
	if c.Items {
		return s.writeItems(k.Items(ctx, receipt.value, sextant.Outcome(c.Outcome)))
	}
	return s.print(receipt, func(p *page) { writeReceipt(p, &receipt.value) })
}

// runList is what runs prints as JSON.
type runList struct {
	Runs []sextant.Receipt `json:"runs"`
}

func writeRuns(p *page, receipts []sextant.Receipt) {
	if len(receipts) == 0 {
		p.text("", "Nothing was taken in yet.")
		return
	}
	t := table{head: []string{"run", "of", "records", "added", "changed", "deleted", "refused", ""}, right: []bool{false, false, true, true, true, true, true, false}}
	for i := range receipts {
		r := &receipts[i]
		of, state := r.Collection, r.Action
		if r.Source != "" && r.Source != r.Collection {
			of += " (" + r.Source + ")"
		}
		if r.Finished.IsZero() {
			state = "interrupted"
		}
		row := []string{r.Run, of}
		for _, n := range []int64{r.Read, r.Documents.Added, r.Documents.Changed, r.Documents.Deleted, r.Records[sextant.Refused]} {
			row = append(row, humanize.Comma(n))
		}
		t.rows = append(t.rows, append(row, state))
	}
	p.table(t)
}

// writeItems writes records as they come: a run can have millions.
func (s *session) writeItems(items iter.Seq2[ingest.ItemReceipt, error]) error {
	for item, err := range items {
		if err != nil {
			return err
		}
		line := itemLine(&item)
		if s.json {
			data, err := json.Marshal(item)
			if err != nil {
				return fmt.Errorf("runs: %w", err)
			}
			line = string(data)
		}
		if _, err := fmt.Fprintln(s.terminal.out, line); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
	}
	return nil
}

func itemLine(item *ingest.ItemReceipt) string {
	line := fmt.Sprintf("%-9s %s, record %d", item.Outcome, item.File, item.Record)
	if item.Line > 0 {
		line += fmt.Sprintf(" (line %d, byte %d)", item.Line, item.Offset)
	}
	if item.ID != "" {
		line += " " + string(item.ID)
	}
	if item.Reason != "" {
		line += ": " + item.Reason
	}
	return sextant.CleanText(line)
}

// deleteCommand deletes documents, all of a source, what a run added, or a collection.
type deleteCommand struct {
	jsonFlag
	Document   []string `help:"Id of a document; may be repeated." placeholder:"ID" sep:"none" xor:"what"`
	Source     string   `help:"Everything that came from this source." placeholder:"NAME" xor:"what"`
	RunID      string   `name:"run" help:"What this run added and no later one has written to." placeholder:"RUN" xor:"what"`
	Whole      string   `name:"whole" help:"A whole collection of your own, with its schema." placeholder:"COLLECTION" xor:"what"`
	Collection string   `help:"Where to look; needed if it is not the only collection that has it." placeholder:"NAME"`
	DryRun     bool     `help:"Say what would be deleted and delete nothing."`
}

// Help implements kong's HelpProvider.
func (*deleteCommand) Help() string {
	return "What was deleted comes back when the file it was made of is taken in again."
}

// Run deletes.
func (c *deleteCommand) Run(ctx context.Context, s *session) error {
	if len(c.Document) == 0 && c.Source == "" && c.RunID == "" && c.Whole == "" {
		return usage("Say what to delete: --document ID, --source NAME, --run RUN or --whole COLLECTION.")
	}
	k, done, err := s.keeper(ctx)
	if err != nil {
		return err
	}
	defer done()
	u := ingest.Unwanted{Source: c.Source, Run: c.RunID, Whole: c.Whole, Collection: c.Collection, DryRun: c.DryRun}
	for _, id := range c.Document {
		u.Documents = append(u.Documents, sextant.DocumentID(id))
	}
	out, err := k.Delete(ctx, u)
	if err != nil {
		return err
	}
	if err := s.print(out, func(p *page) { c.write(p, out.value) }); err != nil {
		return err
	}
	if c.Whole == "" && out.value.Documents() == 0 {
		return exit(exitFailure)
	}
	return nil
}

func (c *deleteCommand) write(p *page, out ingest.Deletions) {
	switch held := humanize.Comma(out.Documents()); {
	case c.Whole == "":
		writeDeletions(p, out.Deletions)
	case c.DryRun:
		p.text("", fmt.Sprintf("The collection %s with %s documents would be deleted.", c.Whole, held))
	default:
		p.text("", fmt.Sprintf("The collection %s with %s documents was deleted.", c.Whole, held))
	}
}

func writeDeletions(p *page, list []ingest.Deleted) {
	total := 0
	for i := range list {
		d := &list[i]
		total += len(d.Documents)
		verb := "deleted from"
		if d.DryRun {
			verb = "would be deleted from"
		}
		p.text("", fmt.Sprintf("%s documents %s %s.", humanize.Comma(int64(len(d.Documents))), verb, d.Receipt.Collection))
		if d.Kept > 0 {
			p.text("  ", fmt.Sprintf("%s others that the run wrote to were there before it or were changed since, and are kept.", humanize.Comma(d.Kept)))
		}
		for _, id := range d.Documents[:min(len(d.Documents), maxRefused)] {
			p.text("  - ", string(id))
		}
		if more := len(d.Documents) - maxRefused; more > 0 {
			p.note("  ", fmt.Sprintf("and %s more: --json names them", humanize.Comma(int64(more))))
		}
	}
	if total == 0 {
		p.text("", "There is nothing like that.")
	}
}
