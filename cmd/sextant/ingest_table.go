package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/aviation"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/source"
	tables "github.com/sextant-rag/sextant/source/table"
	"github.com/sextant-rag/sextant/store"
)

// ingestTable takes a table in.
type ingestTable struct {
	takeFlags
	Collection string   `help:"Collection to fill; made if it is new. Default: the name of the file." placeholder:"NAME"`
	ID         string   `name:"id" help:"Column that names each record. Default: found out, else what the record says." placeholder:"COLUMN"`
	Title      string   `help:"Column of titles." placeholder:"COLUMN"`
	Text       []string `help:"Column of text; may be repeated." placeholder:"COLUMN" sep:"none"`
	Schema     string   `help:"YAML file that says what the columns hold; every import keeps one in the data folder, under schemas." placeholder:"FILE" type:"path"`
	Encoding   string   `help:"Encoding of the text; told by the bytes otherwise." placeholder:"NAME"`
	Sheet      string   `help:"Sheet of a workbook; the first with records otherwise." placeholder:"NAME"`
	DryRun     bool     `help:"Show what the columns hold and write nothing."`
	Replace    bool     `help:"Make the collection anew: what it holds is deleted first."`
	Prune      bool     `help:"Delete documents whose records are no longer in the file."`
	Files      []string `arg:"" name:"file" help:"CSV, TSV, JSON, JSON lines or XLSX; gzip is fine. Several are parts of one table." type:"path"`
}

// Help implements kong's HelpProvider.
func (*ingestTable) Help() string {
	return "Every record is looked at to find out what each column holds: numbers, dates, yes and no, words that can be counted, text, lists, ids. Nothing has to be declared; what was found is kept as YAML in the data folder, under schemas/, and can be edited."
}

// Run ingests.
func (c *ingestTable) Run(ctx context.Context, s *session) error {
	r, done, err := c.request(ctx, s)
	if err != nil {
		return err
	}
	defer done()
	if !c.DryRun {
		o := c.order("table")
		o.Collection, o.ID, o.Title, o.Text, o.Encoding, o.Sheet, o.Schema, o.Replace, o.Prune = c.Collection, c.ID, c.Title, c.Text, c.Encoding, c.Sheet, string(r.schema), c.Replace, c.Prune
		if handled, err := s.viaServer(ctx, o, c.Files); handled {
			return err
		}
	}
	plan, err := r.plan(ctx)
	if err != nil {
		return err
	}
	if c.DryRun {
		return s.print(reply[tableReport]{value: plan.report()}, func(p *page) { writePlan(p, &plan) })
	}
	for _, note := range plan.notes() {
		s.terminal.say("%s", note)
	}
	return s.takeTableIn(ctx, c, r, &plan)
}

// request opens the files.
func (c *ingestTable) request(ctx context.Context, s *session) (r *tableRequest, done func(), err error) {
	if c.Collection == "" {
		c.Collection = collectionOf(c.Files[0])
	}
	r = &tableRequest{collection: c.Collection, data: s.config.Data, anew: c.Replace, wish: tables.Wish{Collection: c.Collection, ID: c.ID, Title: c.Title, Text: c.Text, Encoding: c.Encoding}}
	if err := ownCollection(c.Collection); err != nil {
		return nil, nil, err
	}
	if c.Schema != "" {
		if r.schema, err = os.ReadFile(c.Schema); err != nil {
			return nil, nil, fileError("read the schema", c.Schema, err)
		}
	}
	r.blobs, done, err = openTables(ctx, c.Files, c.Sheet)
	return r, done, err
}

// openTables opens files of tables. done removes what was made of workbooks.
func openTables(ctx context.Context, paths []string, sheet string) (blobs []source.Blob, done func(), err error) {
	var undo []func()
	done = func() {
		for _, f := range undo {
			f()
		}
	}
	for _, path := range paths {
		if err := readable(path); err != nil {
			done()
			return nil, nil, err
		}
		var b source.Blob
		if tables.Workbook(path) {
			var remove func()
			b, remove, err = tables.OpenSheet(ctx, path, sheet, "")
			if remove != nil {
				undo = append(undo, remove)
			}
			err = tableError(err)
		} else if b, err = source.File(path); err != nil {
			err = fileError("read", path, err)
		}
		if err != nil {
			done()
			return nil, nil, err
		}
		blobs = append(blobs, b)
	}
	return blobs, done, nil
}

// collectionOf makes the name of a collection of a file's.
func collectionOf(path string) string {
	base, _, _ := strings.Cut(filepath.Base(path), ".")
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_':
			return r
		case r == '-' || r == ' ':
			return '_'
		}
		return -1
	}, strings.ToLower(base))
	name = strings.TrimLeft(name, "0123456789_")
	return name[:min(len(name), 63)]
}

// ownCollection refuses names that cannot be, or that the domain's collections have.
func ownCollection(name string) error {
	c := sextant.Collection{Name: name}
	if err := c.Validate(); err != nil {
		return usage("%q cannot be the name of a collection: it has small letters, digits and underscores, and begins with a letter. Choose one with --collection.", name)
	}
	if slices.ContainsFunc(aviation.Collections(), func(c sextant.Collection) bool { return c.Name == name }) {
		return usage("The collection %s is filled by a command of its own. Choose another name with --collection.", name)
	}
	return nil
}

// takeTableIn runs the import a plan describes.
func (s *session) takeTableIn(ctx context.Context, c *ingestTable, r *tableRequest, plan *tablePlan) error {
	e, err := s.openEngine(ctx, s.config.Data)
	if err != nil {
		return err
	}
	defer e.close()
	job, err := s.tableJob(ctx, e, r, plan, c.NoEncode, c.cutting())
	if err != nil {
		return err
	}
	if err := s.encode(ctx, e, &job, c.NoEncode); err != nil {
		return err
	}
	job.Reread, job.Prune = c.Reread, c.Prune
	return s.takeInto(ctx, job)
}

// tableJob makes the collection fit the plan, keeps the layout beside it and returns the
// job.
func (s *session) tableJob(ctx context.Context, e *engine, r *tableRequest, plan *tablePlan, noEncode bool, cut ingest.Cutting) (ingest.Job, error) {
	spec, err := plan.layout.Spec("sextant ingest table FILE --collection " + plan.layout.Collection)
	if err != nil {
		return ingest.Job{}, err
	}
	src, err := plan.source(r.blobs, time.Now())
	if err != nil {
		return ingest.Job{}, err
	}
	if r.anew {
		if _, err := ingest.Drop(ctx, e.store, spec.Name); err != nil && !errors.Is(err, store.ErrNotFound) {
			return ingest.Job{}, s.storeError(err)
		}
	}
	job := ingest.Job{Store: e.store, Collection: spec, Source: src}
	if _, err := s.encoding(ctx, e, &job, noEncode); err != nil { // the collection is made with its encoder
		return ingest.Job{}, err
	}
	if err := cut.Apply(ctx, &job, s.config.Chunks.of(spec.Name)); err != nil {
		return ingest.Job{}, err
	}
	if _, err := e.store.Ensure(ctx, job.Collection); err != nil {
		return ingest.Job{}, specError(ctx, e.store, spec, err)
	}
	return job, writeLayout(plan.filename, &plan.layout)
}

// specError says which fields are in the way of a changed schema, and what to do.
func specError(ctx context.Context, st store.Store, spec sextant.Collection, err error) error {
	old, oldErr := st.Open(ctx, spec.Name)
	if !errors.Is(err, store.ErrSpec) || oldErr != nil {
		return err
	}
	e := &sextant.Error{Code: sextant.CodeConflict, Op: "ingest table", Err: err,
		Message: fmt.Sprintf("The collection %s holds documents of another schema: %s.", spec.Name, strings.Join(changedFields(old.Spec().Schema, spec.Schema), "; ")),
		Hint:    "Give the column its old kind in the schema, or make the collection anew with --replace."}
	e.Err = nil
	return e
}

// tableReport is what --dry-run prints as JSON.
type tableReport struct {
	Schema  tables.Layout    `json:"schema"`
	From    string           `json:"schema_from"`
	Records int64            `json:"records"`
	Refused int64            `json:"refused"`
	Notes   []string         `json:"notes"`
	Columns []tables.Finding `json:"columns"`
}

func (p *tablePlan) report() tableReport {
	r := tableReport{Schema: p.layout, From: p.from}
	if p.found != nil {
		r.Records, r.Refused, r.Notes, r.Columns = p.found.Records, p.found.Refused, p.found.Notes, p.found.Columns
	}
	return r
}

// notes says in a few lines what is about to be done.
func (p *tablePlan) notes() []string {
	switch {
	case p.found == nil && len(p.added) > 0:
		return []string{fmt.Sprintf("Schema: %s; new columns: %s", p.from, strings.Join(p.added, ", "))}
	case p.found == nil:
		return []string{"Schema: " + p.from}
	}
	out := []string{fmt.Sprintf("Schema found in %s records; it is kept in schemas/%s of the data folder", humanize.Comma(p.found.Records), filepath.Base(p.filename))}
	for _, f := range p.found.Columns {
		for _, note := range f.Notes {
			out = append(out, "  "+f.Name+": "+note)
		}
	}
	for _, note := range p.found.Notes {
		out = append(out, "  "+note)
	}
	return out
}

// writePlan shows what the columns hold.
func writePlan(p *page, plan *tablePlan) {
	l := &plan.layout
	p.heading(fmt.Sprintf("%s: schema from %s", l.Collection, plan.from))
	t := tableOfColumns(plan)
	p.table(t)
	role := func(name, what string) {
		if name != "" {
			p.text("  ", what+": "+name)
		}
	}
	role(l.ID, "id")
	if l.ID == "" {
		p.text("  ", "id: none; a record is known by what it says")
	}
	role(l.Title, "title")
	role(strings.Join(l.Text, ", "), "text")
	role(l.Date, "date")
	if plan.found != nil {
		p.text("  ", fmt.Sprintf("%s records, %s refused", humanize.Comma(plan.found.Records), humanize.Comma(plan.found.Refused)))
		for _, n := range plan.found.Notes {
			p.text("  ! ", n)
		}
		for _, f := range plan.found.Columns {
			for _, n := range f.Notes {
				p.text("  ! ", f.Name+": "+n)
			}
		}
	}
	p.text("", "Nothing was written. Run it again without --dry-run to take the records in.")
}

func tableOfColumns(plan *tablePlan) table {
	t := table{head: []string{"column", "field", "holds", "known", "blank", "different", "for example"}, right: []bool{false, false, false, true, true, true, false}}
	for i, c := range plan.layout.Columns {
		row := []string{c.Column, c.Field, holding(&plan.layout, c), "", "", "", ""}
		if plan.found != nil {
			f := plan.found.Columns[i]
			distinct := "many"
			if f.Distinct > 0 {
				distinct = humanize.Comma(int64(f.Distinct))
			}
			row = append(row[:3], humanize.Comma(f.Known), humanize.Comma(f.Blank), distinct, shortList(f.Examples))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// holding says what a column is taken for.
func holding(l *tables.Layout, c tables.LayoutColumn) string {
	switch {
	case c.Skip:
		return "nothing"
	case slices.Contains(l.Text, c.Column):
		return "text"
	case c.Column == l.ID:
		return "id"
	}
	out := c.Kind
	if c.Unit != "" {
		out += " in " + c.Unit
	}
	if c.List {
		out += ", several"
	}
	if c.Facet {
		out += ", countable"
	}
	return out
}

func shortList(values []string) string {
	var out []string
	for _, v := range values {
		v = strings.Join(strings.Fields(v), " ")
		if len(v) > 18 {
			v = strings.ToValidUTF8(v[:16], "") + "…"
		}
		out = append(out, v)
	}
	return strings.Join(out, ", ")
}
