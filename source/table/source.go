package table

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/source"
)

// Source reads tables through one Mapping.
type Source struct {
	mapping Mapping
	blobs   []source.Blob
}

// NewSource returns the source of some tables: CSV, TSV, JSON or JSON lines each.
func NewSource(m Mapping, blobs ...source.Blob) *Source { return &Source{m, blobs} }

// Name implements source.Source.
func (s *Source) Name() string { return s.mapping.Source }

// Version implements source.Source: the reading and the mapping.
func (s *Source) Version() string {
	m := s.mapping
	return fmt.Sprintf("table/2 %s %s %q %+v %t %q %q", m.ID, m.Title, m.Text, m.Fields, m.Record, m.Unknown, m.Encoding)
}

// Covers implements source.Covering: a file read again says all there is under its name.
func (s *Source) Covers(name string) bool {
	return slices.ContainsFunc(s.blobs, func(b source.Blob) bool { return b.Name == name })
}

// ErrColumns says that a table lacks columns its mapping names.
var ErrColumns = errors.New("columns are missing")

// Inputs implements source.Source. A delimited file without the mapping's columns is
// ErrColumns, before anything is read.
func (s *Source) Inputs(context.Context) ([]source.Input, error) {
	var out []source.Input
	for _, b := range s.blobs {
		r, err := openReading(b, s.mapping.Encoding)
		if err != nil {
			return nil, err
		}
		if names := r.columns(); names != nil {
			missing := slices.DeleteFunc(s.mapping.columns(), func(c string) bool { return slices.Contains(names, c) })
			if len(missing) > 0 {
				return nil, fmt.Errorf("%s: %w: %s; there are: %s", b.Name, ErrColumns, strings.Join(missing, ", "), strings.Join(names, ", "))
			}
		}
		out = append(out, &input{reading: r, blob: b, mapping: &s.mapping, index: indexOf(r.columns())})
	}
	return out, nil
}

// input is one table.
type input struct {
	reading
	blob    source.Blob
	mapping *Mapping
	index   map[string]int
	study   *study
	odd     oddities
	left    int64 // nested lists that no column holds
}

// Name implements source.Input.
func (in *input) Name() string { return in.blob.Name }

// Size implements source.Input.
func (in *input) Size() int64 { return in.blob.Size }

// Digest implements source.Input.
func (in *input) Digest(ctx context.Context) (string, error) { return in.blob.Digest(ctx) }

// Items implements source.Input. The file is read through once before, for what only all
// of its records tell.
func (in *input) Items(ctx context.Context, after source.Position) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		in.odd, in.left = oddities{}, 0
		var err error
		if in.study, err = newStudy(ctx, in.reading, in.mapping); err != nil {
			yield(source.Item{}, err)
			return
		}
		for e, err := range in.entries(ctx, after) {
			if err != nil {
				yield(source.Item{}, err)
				return
			}
			if !yield(in.item(e), nil) {
				return
			}
		}
	}
}

func (in *input) item(e entry) source.Item {
	switch {
	case e.problem != "":
		return source.Refuse(e.at, e.next, e.problem)
	case e.blank != "":
		return source.Skip(e.at, e.next, e.blank)
	case e.empty():
		return source.Skip(e.at, e.next, "no cell has anything in it")
	}
	doc, strange, err := in.mapping.document(e.record(in.index), in.study)
	if err == nil && e.short && len(strange) > 0 {
		err = ErrShort
	}
	if err != nil {
		return source.Refuse(e.at, e.next, err.Error())
	}
	doc.Source.URI = in.blob.Name
	in.odd.add(e.at.Line+1, strange)
	in.left += int64(e.left)
	return source.Item{At: e.at, Next: e.next, ID: doc.ID, Contribution: whole{doc}}
}

// empty reports whether an entry is a row of blank cells.
func (e *entry) empty() bool {
	return e.object == nil && !slices.ContainsFunc(e.row, func(cell string) bool { return strings.TrimSpace(cell) != "" })
}

// Notes implements source.Input.
func (in *input) Notes() source.Notes {
	n := in.reading.Notes()
	if r, ok := in.reading.(*rowReading); ok {
		if repeated := r.Repeated(); len(repeated) > 0 {
			n.Warnings = append(n.Warnings, "Columns stand more than once, the later ones have a number: "+strings.Join(repeated, ", ")+".")
		}
	}
	if in.left > 0 {
		n.Warnings = append(n.Warnings, fmt.Sprintf("%d lists of objects within records were left out: a table has no place for them.", in.left))
	}
	if in.study != nil {
		n.Warnings = append(n.Warnings, in.study.doubts...)
	}
	n.Warnings = append(n.Warnings, in.odd.warnings()...)
	return n
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
