package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Mapping says how the records of a table become documents, one each. Columns are
// named as in the header, or as the keys of JSON objects.
type Mapping struct {
	Source     string   // prefix of the documents' ids: "tickets"
	Collection string   // where they go
	ID         string   // column of the record's own id; a record without one is refused
	Title      string   // column of the title; "" or a blank cell is the id
	Text       []string // columns of text, in order; with none the text is made of the fields
	Fields     []Column // columns of metadata
	Unknown    []string // cells that mean nothing is known, besides blank ones: "N/A"
	Now        time.Time
	Dates      Order // for columns of dates whose order nothing tells
}

// Column maps a column to a field of the collection's schema.
type Column struct {
	Name  string
	Field filter.Field // List fields split at Split
	Split string       // separator within a cell; "" for a single value
}

// columns returns the names a table must have.
func (m *Mapping) columns() []string {
	names := []string{m.ID}
	if m.Title != "" {
		names = append(names, m.Title)
	}
	names = append(names, m.Text...)
	for _, c := range m.Fields {
		names = append(names, c.Name)
	}
	return names
}

// record is one row by column name; nil is no such cell.
type record func(column string) []string

// first returns a cell's text, blanks and placeholders as "".
func (m *Mapping) first(r record, column string) string {
	for _, v := range m.values(r, column, "") {
		return v
	}
	return ""
}

// values returns what a cell holds, without blanks and placeholders.
func (m *Mapping) values(r record, column, split string) []string {
	var out []string
	for _, cell := range r(column) {
		parts := []string{cell}
		if split != "" {
			parts = strings.Split(cell, split)
		}
		for _, p := range parts {
			if p = strings.TrimSpace(p); p != "" && !m.unknown(p) {
				out = append(out, p)
			}
		}
	}
	return out
}

func (m *Mapping) unknown(cell string) bool {
	for _, u := range m.Unknown {
		if strings.EqualFold(u, cell) {
			return true
		}
	}
	return false
}

// ErrNoID refuses a record that cannot be told from others.
var ErrNoID = errors.New("the record has no id")

// document makes the document of a record. Cells that are not of their field's kind
// are left unknown and named in odd.
func (m *Mapping) document(r record, dates map[string]Order) (doc sextant.Document, odd []string, err error) {
	id := m.first(r, m.ID)
	if id == "" {
		return doc, nil, fmt.Errorf("%w (column %s)", ErrNoID, m.ID)
	}
	doc = sextant.Document{
		ID: sextant.DocumentID(m.Source + ":" + id), Collection: m.Collection,
		Source: sextant.Source{Name: m.Source, Kind: "table"},
		Title:  id, Meta: filter.Meta{Fields: filter.Fields{}},
	}
	if title := m.first(r, m.Title); m.Title != "" && title != "" {
		doc.Title = title
	}
	for _, c := range m.Fields {
		odd = append(odd, m.setField(&doc, c, r, dates)...)
	}
	m.setText(&doc, r)
	return doc, odd, nil
}

func (m *Mapping) setField(doc *sextant.Document, c Column, r record, dates map[string]Order) (odd []string) {
	var values []filter.Value
	for _, text := range m.values(r, c.Name, c.Split) {
		v, ok := m.parse(c, text, dates)
		if !ok {
			odd = append(odd, fmt.Sprintf("%s %q", c.Name, text))
			continue
		}
		values = append(values, v)
	}
	if len(values) > 1 && !c.Field.List {
		odd = append(odd, fmt.Sprintf("%s: %d values, the first was taken", c.Name, len(values)))
		values = values[:1]
	}
	doc.Meta.Fields.Set(c.Field.Name, values...)
	return odd
}

func (m *Mapping) parse(c Column, text string, dates map[string]Order) (filter.Value, bool) {
	if c.Field.Kind == filter.Time {
		if v, err := filter.Parse(filter.Time, text); err == nil {
			return v, true
		}
		d, ok := ParseDate(text, dates[c.Name], m.Now)
		return filter.OfTime(d.Time()), ok
	}
	v, err := filter.Parse(c.Field.Kind, text)
	return v, err == nil
}

// setText writes the text columns one under the other, each a part under its name,
// or, where there are none, the fields as lines.
func (m *Mapping) setText(doc *sextant.Document, r record) {
	var b strings.Builder
	add := func(kind, locator, text string) {
		doc.Parts = append(doc.Parts, sextant.Part{Kind: kind, Locator: locator, Start: b.Len(), End: b.Len() + len(text)})
		b.WriteString(text)
	}
	for _, name := range m.Text {
		text := m.first(r, name)
		if text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		if len(m.Text) > 1 {
			add("heading", "", name)
			b.WriteString("\n")
		}
		add("column", name, text)
	}
	if len(m.Text) == 0 {
		add("record", "Record", fieldLines(doc, m.Fields))
	}
	doc.Text = b.String()
}

func fieldLines(doc *sextant.Document, columns []Column) string {
	var lines []string
	for _, c := range columns {
		label := c.Field.Label
		if label == "" {
			label = c.Name
		}
		for _, v := range doc.Meta.Fields[c.Field.Name] {
			lines = append(lines, label+": "+v.String())
		}
	}
	return strings.Join(lines, "\n")
}

// jsonRecord reads a JSON object as a row: scalars as text, lists of scalars as
// several values, null and nested objects as nothing.
func jsonRecord(data []byte) (record, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("no JSON object: %w", err)
	}
	return func(column string) []string { return jsonCells(object[column]) }, nil
}

func jsonCells(raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '[':
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return nil
		}
		var out []string
		for _, item := range items {
			if len(item) > 0 && item[0] != '[' {
				out = append(out, jsonCells(item)...)
			}
		}
		return out
	case '"':
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return nil
		}
		return []string{s}
	case '{', 'n':
		return nil
	}
	return []string{string(raw)}
}
