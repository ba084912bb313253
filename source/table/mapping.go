package table

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Mapping says how the records of a table become documents, one each. Columns are
// named as in the header, or as the keys of JSON objects.
type Mapping struct {
	Source     string // prefix of the documents' ids: "tickets"
	Collection string // where they go
	// ID is the column of the record's own id; a record without one is refused. Where an
	// id stands on several records of a file that say different things, each keeps a
	// document of its own, "<id>~<hash>". With "" a record's id is the hash of its cells.
	ID       string
	Title    string   // column of the title; "" or a blank cell is the id
	Text     []string // columns of text, in order; with none the text is made of the fields
	Fields   []Column // columns of metadata
	Record   bool     // let a list of the fields, as their cells stand there, follow the text
	Unknown  []string // cells that mean nothing is known, besides blank ones: "N/A"
	Encoding string   // WHATWG name; "" is told by the bytes
	Now      time.Time
	Dates    Order // for columns of dates whose order nothing tells
}

// Column maps a column to a field of the collection's schema.
type Column struct {
	Name  string
	Field filter.Field // List fields split at Split
	Split string       // separator within a cell; "json" is a JSON list; "" for a single value

	Mark   Mark   // decimal mark of numbers; 0 is Point
	Unit   string // of numbers: those in another unit of its family are converted; "" takes any
	Part   Part   // what of the cell the field holds
	Order  Order  // of dates, if Fixed; otherwise the column's dates tell
	Fixed  bool
	Digits bool     // dates are written 20060102, or as seconds or milliseconds since 1970
	Future bool     // two-digit years lie up to 20 years ahead: due dates
	UTC    bool     // moments have several zones and are kept in UTC, not as the clock showed them
	Blanks []string // cells of this column that mean unknown, besides those of the Mapping
}

// Part is what of a cell a field holds.
type Part string

// The parts.
const (
	Whole  Part = ""     // its value
	UnitOf Part = "unit" // the unit of its number, where a column mixes those that cannot be converted
)

// columns returns the names a table must have.
func (m *Mapping) columns() []string {
	var names []string
	for _, name := range append([]string{m.ID, m.Title}, m.Text...) {
		if name != "" {
			names = append(names, name)
		}
	}
	for _, c := range m.Fields {
		names = append(names, c.Name)
	}
	return names
}

// record is one row by column name; nil is no such cell.
type record func(column string) []string

// first returns a cell's text, blanks and placeholders as "".
func (m *Mapping) first(r record, column string) string {
	for _, v := range m.values(r, Column{Name: column}) {
		return v
	}
	return ""
}

// values returns what a cell holds, without blanks and placeholders.
func (m *Mapping) values(r record, c Column) []string {
	var out []string
	for _, cell := range r(c.Name) {
		for _, p := range parts(cell, c.Split) {
			if p = strings.TrimSpace(p); p != "" && !holds(m.Unknown, p) && !holds(c.Blanks, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// parts cuts a cell of a list into its values.
func parts(cell, split string) []string {
	switch split {
	case "":
		return []string{cell}
	case "json":
		if raw := strings.TrimSpace(cell); strings.HasPrefix(raw, "[") && json.Valid([]byte(raw)) {
			return jsonCells(json.RawMessage(raw))
		}
		return []string{cell}
	}
	return strings.Split(cell, split)
}

// holds reports whether a list has a cell, case aside.
func holds(list []string, cell string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return len(s) == len(cell) && strings.EqualFold(s, cell) })
}

// Errors about records.
var (
	ErrNoID  = errors.New("the record has no id")
	ErrShort = errors.New("the record has fewer cells than the header, and they do not fit its columns")
)

// document makes the document of a record. Cells that are not of their field's kind
// are left unknown and named in odd.
func (m *Mapping) document(r record, s *study) (doc sextant.Document, odd []string, err error) {
	id, err := m.id(r, s)
	if err != nil {
		return doc, nil, err
	}
	doc = sextant.Document{
		ID: sextant.DocumentID(m.Source + ":" + id), Collection: m.Collection,
		Source: sextant.Source{Name: m.Source, Kind: "table"},
		Title:  id, Meta: filter.Meta{Fields: filter.Fields{}},
	}
	if m.Title != "" {
		if title := m.first(r, m.Title); title != "" {
			doc.Title = strings.Join(strings.Fields(title), " ")
		}
	}
	for _, c := range m.Fields {
		odd = append(odd, m.setField(&doc, c, r, s)...)
	}
	m.setText(&doc, r)
	return doc, odd, nil
}

// id is the record's own, made unique by its content where several records bear it.
func (m *Mapping) id(r record, s *study) (string, error) {
	if m.ID == "" {
		return m.hash(r), nil
	}
	id := strings.Join(strings.Fields(m.first(r, m.ID)), " ")
	if id == "" {
		return "", fmt.Errorf("%w (column %s)", ErrNoID, m.ID)
	}
	if s.repeated(id) {
		return id + "~" + m.hash(r)[:8], nil
	}
	return id, nil
}

// hash identifies a record by what its cells say, blanks around them aside.
func (m *Mapping) hash(r record) string {
	h := sha256.New()
	for _, name := range m.columns() {
		for _, cell := range r(name) {
			cell = strings.TrimSpace(cell)
			fmt.Fprintf(h, "%d:%s", len(cell), cell)
		}
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (m *Mapping) setField(doc *sextant.Document, c Column, r record, s *study) (odd []string) {
	var values []filter.Value
	for _, text := range m.values(r, c) {
		v, ok := m.parse(c, text, s)
		if !ok {
			odd = append(odd, fmt.Sprintf("%s %q", c.Name, shorten(text)))
			continue
		}
		if !v.IsZero() && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	if len(values) > 1 && !c.Field.List {
		odd = append(odd, fmt.Sprintf("%s: %d values, the first was taken", c.Name, len(values)))
		values = values[:1]
	}
	doc.Meta.Fields.Set(c.Field.Name, values...)
	return odd
}

// shorten keeps a cell that is shown in a message within a line.
func shorten(text string) string {
	if len(text) <= 60 {
		return text
	}
	return strings.ToValidUTF8(text[:60], "") + " …"
}

// parse reads a cell as its column's kind.
func (m *Mapping) parse(c Column, text string, s *study) (filter.Value, bool) {
	switch c.Field.Kind {
	case filter.Time:
		return m.parseTime(c, text, s)
	case filter.Int, filter.Float:
		return c.parseNumber(text)
	case filter.Bool:
		b, ok := parseBool(text)
		return filter.OfBool(b), ok
	}
	if c.Part == UnitOf {
		q, ok := ParseQuantity(text, c.mark())
		if !ok || q.Unit == "" {
			return filter.Value{}, true
		}
		return filter.OfString(q.Unit), true
	}
	return filter.OfString(text), true
}

func (c *Column) mark() Mark {
	if c.Mark == 0 {
		return Point
	}
	return c.Mark
}

// parseNumber reads a number in the column's unit.
func (c *Column) parseNumber(text string) (filter.Value, bool) {
	q, ok := ParseQuantity(text, c.mark())
	if !ok {
		return filter.Value{}, false
	}
	if c.Unit != "" && !sameUnit(q.Unit, c.Unit) {
		if q.Value, ok = convert(q.Value, q.Unit, c.Unit); !ok {
			return filter.Value{}, false
		}
		q.Whole = false
	}
	if c.Field.Kind == filter.Float {
		return filter.OfFloat(q.Value), true
	}
	return filter.OfInt(int64(q.Value)), q.Whole
}

// ahead is how far a due date written with two digits of its year may lie ahead.
const ahead = 20

func (m *Mapping) parseTime(c Column, text string, s *study) (filter.Value, bool) {
	order, latest := s.order(c), m.Now
	if c.Future {
		latest = latest.AddDate(ahead, 0, 0)
	}
	moment, ok := ParseMoment(text, order, latest)
	if !ok && c.Digits {
		if moment, ok = compactDate(text); !ok {
			moment, ok = epoch(text)
		}
	}
	if c.UTC {
		return filter.OfTime(moment.UTC()), ok
	}
	return filter.OfTime(moment.Local()), ok
}

// booleans are the words for yes and no, in the languages of the tables at hand.
var booleans = map[string]bool{"true": true, "t": true, "yes": true, "y": true, "1": true, "on": true, "x": true, "✓": true, "✔": true, "ja": true, "j": true, "oui": true, "o": true, "si": true, "sí": true, "sim": true, "wahr": true, "vrai": true,
	"false": false, "f": false, "no": false, "n": false, "0": false, "off": false, "nein": false, "non": false, "não": false, "falsch": false, "faux": false}

func parseBool(text string) (value, ok bool) {
	value, ok = booleans[strings.ToLower(text)]
	return value, ok
}

// setText writes the text columns one under the other, each a part under its name, and
// the list of fields after them or, where there are none, in their place.
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
	switch lines := m.lines(doc, r); {
	case lines == "" || len(m.Text) > 0 && !m.Record:
	default:
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		add("record", "Record", lines)
	}
	doc.Text = b.String()
}

// lines are the fields of a record one under the other: as their cells stand there with
// Record, as they were understood without.
func (m *Mapping) lines(doc *sextant.Document, r record) string {
	var lines []string
	for _, c := range m.Fields {
		label := c.Field.Label
		if label == "" {
			label = c.Name
		}
		switch {
		case c.Part == UnitOf:
		case m.Record:
			if cells := m.values(r, Column{Name: c.Name, Blanks: c.Blanks}); len(cells) > 0 {
				lines = append(lines, c.Name+": "+strings.Join(cells, ", "))
			}
		default:
			for _, v := range doc.Meta.Fields[c.Field.Name] {
				lines = append(lines, label+": "+v.String())
			}
		}
	}
	return strings.Join(lines, "\n")
}

// jsonCells returns a scalar as text, a list of scalars as several values, null as none.
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
