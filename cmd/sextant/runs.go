package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
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
	st, err := s.openStore(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	limit := c.Limit
	if c.RunID != "" {
		limit = 0
	}
	receipts, err := st.Journal().Receipts(ctx, c.Collection, limit)
	if err != nil {
		return s.storeError(err)
	}
	if c.RunID == "" {
		return s.print(reply[runList]{value: runList{receipts}}, func(p *page) { writeRuns(p, receipts) })
	}
	receipt, err := oneRun(receipts, c.RunID)
	if err != nil {
		return err
	}
	if c.Items {
		return s.writeItems(ctx, st, receipt, sextant.Outcome(c.Outcome))
	}
	return s.print(reply[sextant.Receipt]{value: receipt}, func(p *page) { writeReceipt(p, &receipt) })
}

// runList is what runs prints as JSON.
type runList struct {
	Runs []sextant.Receipt `json:"runs"`
}

// oneRun finds the run whose id begins with what was typed.
func oneRun(receipts []sextant.Receipt, id string) (sextant.Receipt, error) {
	var found []sextant.Receipt
	for _, r := range receipts {
		if strings.HasPrefix(r.Run, id) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return sextant.Receipt{}, &sextant.Error{Code: sextant.CodeNotFound, Op: "runs", Message: fmt.Sprintf("There is no run %s.", id), Hint: "`sextant runs` lists them."}
	}
	return sextant.Receipt{}, usage("%d runs begin with %s; give more of the id.", len(found), id)
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
func (s *session) writeItems(ctx context.Context, st store.Store, receipt sextant.Receipt, only sextant.Outcome) error {
	for item, err := range ingest.Items(ctx, st, receipt) {
		switch {
		case err != nil:
			return s.storeError(err)
		case only != "" && item.Outcome != only:
			continue
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

// deletions is what delete prints as JSON.
type deletions struct {
	Deletions []ingest.Deleted `json:"deletions"`
}

// Run deletes.
func (c *deleteCommand) Run(ctx context.Context, s *session) error {
	if len(c.Document) == 0 && c.Source == "" && c.RunID == "" && c.Whole == "" {
		return usage("Say what to delete: --document ID, --source NAME, --run RUN or --whole COLLECTION.")
	}
	st, err := s.openStore(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	if c.Whole != "" {
		return c.dropWhole(ctx, s, st)
	}
	list, err := c.deletions(ctx, st)
	if err != nil {
		return err
	}
	var out deletions
	for _, d := range list {
		done, err := ingest.Delete(ctx, d)
		if err != nil {
			return s.storeError(err)
		}
		if len(done.Documents) > 0 || len(list) == 1 {
			out.Deletions = append(out.Deletions, done)
		}
	}
	if err := s.print(reply[deletions]{value: out}, func(p *page) { writeDeletions(p, out.Deletions) }); err != nil {
		return err
	}
	if !slices.ContainsFunc(out.Deletions, func(d ingest.Deleted) bool { return len(d.Documents) > 0 }) {
		return exit(exitFailure)
	}
	return nil
}

// deletions are those of each collection that could have what is named.
func (c *deleteCommand) deletions(ctx context.Context, st store.Store) ([]ingest.Deletion, error) {
	if c.RunID != "" {
		receipts, err := st.Journal().Receipts(ctx, c.Collection, 0)
		if err != nil {
			return nil, err
		}
		r, err := oneRun(receipts, c.RunID)
		return []ingest.Deletion{{Store: st, Collection: r.Collection, Run: r.Run, DryRun: c.DryRun}}, err
	}
	specs, err := st.Collections(ctx)
	if err != nil {
		return nil, err
	}
	var ids []sextant.DocumentID
	for _, id := range c.Document {
		ids = append(ids, sextant.DocumentID(id))
	}
	var out []ingest.Deletion
	for _, spec := range specs {
		if c.Collection == "" || c.Collection == spec.Name {
			out = append(out, ingest.Deletion{Store: st, Collection: spec.Name, Documents: ids, Source: c.Source, DryRun: c.DryRun})
		}
	}
	if len(out) == 0 {
		return nil, &sextant.Error{Code: sextant.CodeNotFound, Op: "delete", Message: fmt.Sprintf("There is no collection %q.", c.Collection), Hint: "`sextant collections` lists them."}
	}
	return out, nil
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

// dropWhole removes a collection of the user's own and the schema that is kept for it.
func (c *deleteCommand) dropWhole(ctx context.Context, s *session, st store.Store) error {
	if err := ownCollection(c.Whole); err != nil {
		return err
	}
	col, err := st.Open(ctx, c.Whole)
	if err != nil {
		return &sextant.Error{Code: sextant.CodeNotFound, Op: "delete", Message: fmt.Sprintf("There is no collection %q.", c.Whole), Hint: "`sextant collections` lists them."}
	}
	size, err := col.Size(ctx)
	if err != nil {
		return s.storeError(err)
	}
	done := ingest.Deleted{DryRun: c.DryRun}
	if !c.DryRun {
		if done.Receipt, err = ingest.Drop(ctx, st, c.Whole); err != nil {
			return s.storeError(err)
		}
		if err := removeLayout(s.config.Data, c.Whole); err != nil {
			return err
		}
	}
	done.Receipt.Collection = c.Whole
	return s.print(reply[deletions]{value: deletions{[]ingest.Deleted{done}}}, func(p *page) {
		if c.DryRun {
			p.text("", fmt.Sprintf("The collection %s with %s documents would be deleted.", c.Whole, humanize.Comma(size.Documents)))
			return
		}
		p.text("", fmt.Sprintf("The collection %s with %s documents was deleted.", c.Whole, humanize.Comma(size.Documents)))
	})
}
