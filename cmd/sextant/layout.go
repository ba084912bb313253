package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
	tables "github.com/sextant-rag/sextant/source/table"
)

// tableRequest is what `sextant ingest table` is told.
type tableRequest struct {
	collection string
	wish       tables.Wish
	anew       bool   // nothing that is kept counts
	schema     []byte // a layout, instead of finding one out
	data       string // data folder, where layouts are kept
	blobs      []source.Blob
}

// tablePlan is a layout and what is known about how it was come by.
type tablePlan struct {
	layout   tables.Layout
	found    *tables.Inference // nil where a layout was given or kept
	from     string            // where the layout comes from, for people
	added    []string          // columns the kept layout did not know
	filename string            // where it is kept
}

// plan decides how the tables are read: by the layout that is given, by the one that the
// collection was made with, or by one that is found out from all records. Columns that a
// kept layout does not know are found out and added to it.
func (r *tableRequest) plan(ctx context.Context) (tablePlan, error) {
	p := tablePlan{filename: filepath.Join(r.data, "schemas", r.collection+".yaml")}
	given, from := r.schema, "the schema given"
	if given == nil && !r.anew {
		kept, err := os.ReadFile(p.filename)
		switch {
		case err == nil:
			given, from = kept, "schemas/"+filepath.Base(p.filename)+" of the data folder"
		case !errors.Is(err, os.ErrNotExist):
			return p, fileError("read the schema", p.filename, err)
		}
	}
	if given == nil {
		found, err := tables.Infer(ctx, r.wish, r.blobs...)
		if err != nil {
			return p, tableError(err)
		}
		p.layout, p.found, p.from = found.Layout, &found, "what all records say"
		return p, nil
	}
	var err error
	if p.layout, err = readLayout(given, from); err != nil {
		return p, err
	}
	p.from = from
	switch {
	case p.layout.Collection != r.collection:
		return p, usage("The schema is of collection %q, not of %q.", p.layout.Collection, r.collection)
	case r.wish.ID != "" && r.wish.ID != p.layout.ID:
		return p, usage("The collection %s has the id column %q already: leave --id out, or begin anew with --replace.", r.collection, p.layout.ID)
	}
	return p, r.extend(ctx, &p)
}

// extend finds out about columns that a layout does not know, if there are any.
func (r *tableRequest) extend(ctx context.Context, p *tablePlan) error {
	known := true
	for _, b := range r.blobs {
		columns, err := tables.Columns(ctx, b, p.layout.Encoding)
		if err != nil {
			return tableError(err)
		}
		known = known && p.layout.Knows(columns)
	}
	if known {
		return nil
	}
	found, err := tables.Infer(ctx, tables.Wish{Collection: r.collection, Encoding: p.layout.Encoding}, r.blobs...)
	if err != nil {
		return tableError(err)
	}
	p.added = p.layout.Add(found.Layout)
	return nil
}

// readLayout reads a layout that was kept or written by hand.
func readLayout(data []byte, from string) (tables.Layout, error) {
	var l tables.Layout
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&l); err != nil && !errors.Is(err, io.EOF) {
		return l, usage("The schema (%s) cannot be read: %s.", from, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if _, err := l.Spec(""); err != nil {
		return l, usage("The schema (%s) cannot be used: %s.", from, strings.TrimPrefix(err.Error(), "layout: "))
	}
	return l, nil
}

const layoutNote = `# How the columns of a table became fields of the collection. Written by sextant ingest
# table; edit it and take the table in again. A field that changes its kind, or goes, needs
# --replace, which makes the collection anew. docs/ingestion.md says what each name means.
`

// writeLayout keeps a layout beside the collection, whole or not at all.
func writeLayout(filename string, l *tables.Layout) error {
	data, err := yaml.Marshal(l)
	if err != nil {
		return fmt.Errorf("write schema: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(filename), 0o700); err != nil {
		return fmt.Errorf("write schema: %w", err)
	}
	data = append([]byte(layoutNote), data...)
	if old, err := os.ReadFile(filename); err == nil && bytes.Equal(old, data) {
		return nil
	}
	temporary := filename + ".tmp"
	if err := os.WriteFile(temporary, data, 0o600); err != nil {
		return fmt.Errorf("write schema: %w", err)
	}
	return os.Rename(temporary, filename)
}

// removeLayout removes what is kept about a collection that is gone.
func removeLayout(data, collection string) error {
	err := os.Remove(filepath.Join(data, "schemas", collection+".yaml"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove schema: %w", err)
	}
	return nil
}

// changedFields says which fields of a collection differ from those it was made with in
// what cannot be changed: their kind, fold, or number of values.
func changedFields(old, now filter.Schema) (out []string) {
	for _, f := range old.Fields {
		switch g, ok := now.Field(f.Name); {
		case !ok:
			out = append(out, f.Name+" is gone")
		case f.Kind != g.Kind:
			out = append(out, fmt.Sprintf("%s was %s, now %s", f.Name, f.Kind, g.Kind))
		case f.List != g.List:
			out = append(out, f.Name+" has another number of values")
		case f.Fold != g.Fold:
			out = append(out, f.Name+" is compared in another way")
		}
	}
	slices.Sort(out)
	return out
}

// tableError explains what is wrong with a table as a whole.
func tableError(err error) error {
	if err == nil {
		return nil
	}
	e := &sextant.Error{Code: sextant.CodeBadRequest, Op: "ingest table", Message: sentence(strings.TrimPrefix(err.Error(), "read ")), Err: err}
	switch {
	case errors.Is(err, tables.ErrColumns):
		e.Hint = "Columns are named as in the header; `--dry-run` shows them."
	case errors.Is(err, tables.ErrEncoding):
		e.Hint = "Name it with --encoding, for example --encoding shift_jis."
	case errors.Is(err, tables.ErrFormat):
		e.Hint = "Tables are CSV, TSV, JSON, JSON lines or XLSX. For documents there is `sextant ingest files`."
	case errors.Is(err, tables.ErrEmpty):
		e.Message = "There is nothing in the file, not even a header."
	default:
		return err
	}
	return e
}

// tableSource is the source of a planned table.
func (p *tablePlan) source(blobs []source.Blob, now time.Time) (*tables.Source, error) {
	m, err := p.layout.Mapping(now)
	if err != nil {
		return nil, err
	}
	return tables.NewSource(m, blobs...), nil
}
