package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
)

// Source reads tables through one Mapping. Where an id stands on several records, the
// last one read is kept.
type Source struct {
	mapping Mapping
	blobs   []source.Blob
}

// NewSource returns the source of some tables, CSV or JSON lines each.
func NewSource(m Mapping, blobs ...source.Blob) *Source { return &Source{m, blobs} }

// Name implements source.Source.
func (s *Source) Name() string { return s.mapping.Source }

// Version implements source.Source: the reading and the mapping.
func (s *Source) Version() string {
	m := s.mapping
	return fmt.Sprintf("table/1 %s %s %q %+v %q", m.ID, m.Title, m.Text, m.Fields, m.Unknown)
}

// ErrColumns says that a table lacks columns its mapping names.
var ErrColumns = errors.New("columns are missing")

// Inputs implements source.Source. A delimited file without the mapping's columns is
// ErrColumns, before anything is read.
func (s *Source) Inputs(context.Context) ([]source.Input, error) {
	var out []source.Input
	for _, b := range s.blobs {
		first, err := FirstLine(b)
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(first, []byte("{")) {
			out = append(out, &jsonInput{Lines: &Lines{Blob: b}, mapping: &s.mapping})
			continue
		}
		f, err := Open(b)
		if err != nil {
			return nil, err
		}
		if missing := f.lacks(s.mapping.columns()); len(missing) > 0 {
			return nil, fmt.Errorf("%s: %w: %s; there are: %s", b.Name, ErrColumns, strings.Join(missing, ", "), strings.Join(f.Header, ", "))
		}
		out = append(out, &csvInput{File: f, mapping: &s.mapping})
	}
	return out, nil
}

func (f *File) lacks(columns []string) []string {
	return slices.DeleteFunc(columns, func(c string) bool { return slices.Contains(f.Header, c) })
}

// csvInput is one delimited file.
type csvInput struct {
	*File
	mapping *Mapping
	odd     oddities
	dates   map[string]Order
	doubts  []string
}

// Name implements source.Input.
func (in *csvInput) Name() string { return in.Blob.Name }

// Kind implements source.Input.
func (in *csvInput) Kind() string { return "csv" }

// Size implements source.Input.
func (in *csvInput) Size() int64 { return in.Blob.Size }

// Digest implements source.Input.
func (in *csvInput) Digest(ctx context.Context) (string, error) { return in.Blob.Digest(ctx) }

// Items implements source.Input. Columns of dates are read through once before, for
// the order of their numbers.
func (in *csvInput) Items(ctx context.Context, after source.Position) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		in.odd = oddities{}
		if err := in.vote(ctx); err != nil {
			yield(source.Item{}, err)
			return
		}
		for row, err := range in.Rows(ctx, after) {
			if err != nil {
				yield(source.Item{}, err)
				return
			}
			if !yield(in.item(row), nil) {
				return
			}
		}
	}
}

// vote decides the order of each column of dates.
func (in *csvInput) vote(ctx context.Context) error {
	names := in.mapping.dateColumns()
	orders, doubts, err := in.DateOrders(ctx, names, in.mapping.Dates)
	in.dates, in.doubts = orders, doubts
	return err
}

func (in *csvInput) item(row Row) source.Item {
	switch {
	case row.Problem != "":
		return source.Refuse(row.At, row.Next, row.Problem)
	case row.Blank != "":
		return source.Skip(row.At, row.Next, row.Blank)
	}
	cell := func(column string) []string {
		if i := slices.Index(in.Header, column); i >= 0 {
			return row.Cells[i : i+1]
		}
		return nil
	}
	return in.mapping.item(row.At, row.Next, cell, in.dates, &in.odd)
}

// Notes implements source.Input.
func (in *csvInput) Notes() source.Notes {
	n := in.File.Notes()
	if repeated := in.Repeated(); len(repeated) > 0 {
		n.Warnings = append(n.Warnings, "Columns stand more than once, the first counts: "+strings.Join(repeated, ", ")+".")
	}
	n.Warnings = append(append(n.Warnings, in.doubts...), in.odd.warnings()...)
	return n
}

// jsonInput is one file of JSON lines.
type jsonInput struct {
	*Lines
	mapping *Mapping
	odd     oddities
}

// Name implements source.Input.
func (in *jsonInput) Name() string { return in.Blob.Name }

// Kind implements source.Input.
func (in *jsonInput) Kind() string { return "jsonl" }

// Size implements source.Input.
func (in *jsonInput) Size() int64 { return in.Blob.Size }

// Digest implements source.Input.
func (in *jsonInput) Digest(ctx context.Context) (string, error) { return in.Blob.Digest(ctx) }

// Items implements source.Input.
func (in *jsonInput) Items(ctx context.Context, after source.Position) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		in.odd = oddities{}
		for line, err := range in.All(ctx, after) {
			if err != nil {
				yield(source.Item{}, err)
				return
			}
			if !yield(in.item(line), nil) {
				return
			}
		}
	}
}

func (in *jsonInput) item(line Line) source.Item {
	switch {
	case line.Problem != "":
		return source.Refuse(line.At, line.Next, line.Problem)
	case line.Blank != "":
		return source.Skip(line.At, line.Next, line.Blank)
	}
	r, err := jsonRecord(line.Data)
	if err != nil {
		return source.Refuse(line.At, line.Next, err.Error())
	}
	orders := map[string]Order{}
	for _, name := range in.mapping.dateColumns() {
		orders[name] = in.mapping.Dates
	}
	return in.mapping.item(line.At, line.Next, r, orders, &in.odd)
}

// Notes implements source.Input.
func (in *jsonInput) Notes() source.Notes {
	n := in.Lines.Notes()
	n.Warnings = append(n.Warnings, in.odd.warnings()...)
	return n
}

func (m *Mapping) item(at, next source.Position, r record, dates map[string]Order, odd *oddities) source.Item {
	doc, strange, err := m.document(r, dates)
	if err != nil {
		return source.Refuse(at, next, err.Error())
	}
	odd.add(at.Line+1, strange)
	return source.Item{At: at, Next: next, ID: doc.ID, Contribution: whole{doc}}
}

func (m *Mapping) dateColumns() []string {
	var out []string
	for _, c := range m.Fields {
		if c.Field.Kind == filter.Time {
			out = append(out, c.Name)
		}
	}
	return out
}

// whole is a record that is a document by itself.
type whole struct{ doc sextant.Document }

// Merge implements source.Contribution: the record replaces what was there.
func (w whole) Merge(*sextant.Document) (sextant.Document, bool, error) { return w.doc, false, nil }

// DateOrders reads the file through and decides for each of the columns how its dates
// are written (see OrderVote). doubts are full sentences about what could not be told.
func (f *File) DateOrders(ctx context.Context, columns []string, fallback Order) (orders map[string]Order, doubts []string, err error) {
	orders = map[string]Order{}
	if len(columns) == 0 {
		return orders, nil, nil
	}
	votes := make([]OrderVote, len(columns))
	for row, err := range f.Rows(ctx, source.Position{}) {
		if err != nil {
			return nil, nil, err
		}
		for i, name := range columns {
			if c := slices.Index(f.Header, name); c >= 0 && c < len(row.Cells) {
				votes[i].Add(row.Cells[c])
			}
		}
	}
	for i, name := range columns {
		order, doubt := votes[i].Order(name, fallback)
		orders[name] = order
		if doubt != "" {
			doubts = append(doubts, doubt)
		}
	}
	return orders, doubts, nil
}

// oddities are cells left unknown because they are not of their field's kind.
type oddities struct {
	count int64
	first []string
}

func (o *oddities) add(line int64, strange []string) {
	for _, s := range strange {
		o.count++
		if len(o.first) < 5 {
			o.first = append(o.first, fmt.Sprintf("line %d: %s", line, s))
		}
	}
}

func (o *oddities) warnings() []string {
	if o.count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d cells could not be read as what their column holds and were left unknown (%s).", o.count, strings.Join(o.first, "; "))}
}
