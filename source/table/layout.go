package table

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Layout is a table's mapping in the form people read, edit and keep beside the
// collection.
type Layout struct {
	Collection string         `yaml:"collection" json:"collection"`
	Name       string         `yaml:"name,omitempty" json:"name,omitempty"` // of the collection, for people
	Unit       string         `yaml:"unit" json:"unit"`                     // what a record is, plural: "tickets"
	ID         string         `yaml:"id,omitempty" json:"id,omitempty"`     // column; "" is the hash of the cells
	Title      string         `yaml:"title,omitempty" json:"title,omitempty"`
	Text       []string       `yaml:"text,omitempty" json:"text,omitempty"`
	Date       string         `yaml:"date,omitempty" json:"date,omitempty"` // field that says when a record is about
	Encoding   string         `yaml:"encoding,omitempty" json:"encoding,omitempty"`
	Columns    []LayoutColumn `yaml:"columns" json:"columns"`
	Unknown    []string       `yaml:"unknown,flow" json:"unknown"` // cells that mean unknown in every column
}

// LayoutColumn is one column of a Layout.
type LayoutColumn struct {
	Column  string   `yaml:"column" json:"column"`                             // name in the header
	Field   string   `yaml:"field,omitempty" json:"field,omitempty"`           // name in filters: [A-Za-z][A-Za-z0-9_]*
	Label   string   `yaml:"label,omitempty" json:"label,omitempty"`           // what people call it
	Kind    string   `yaml:"kind,omitempty" json:"kind,omitempty"`             // keyword, int, float, bool, time
	Facet   bool     `yaml:"facet,omitempty" json:"facet,omitempty"`           // its values can be asked for and counted
	List    bool     `yaml:"list,omitempty" json:"list,omitempty"`             // several values a cell
	Split   string   `yaml:"split,omitempty" json:"split,omitempty"`           // what separates them; "json" is a JSON list
	Decimal string   `yaml:"decimal,omitempty" json:"decimal,omitempty"`       // "," where numbers have a decimal comma
	Unit    string   `yaml:"unit,omitempty" json:"unit,omitempty"`             // of its numbers
	Mixed   bool     `yaml:"currencies,omitempty" json:"currencies,omitempty"` // the currency is a field of its own
	Dates   string   `yaml:"dates,omitempty" json:"dates,omitempty"`           // day_first or month_first
	Digits  bool     `yaml:"digits,omitempty" json:"digits,omitempty"`         // dates as 20060102, or since 1970
	Future  bool     `yaml:"future,omitempty" json:"future,omitempty"`         // two-digit years may lie ahead
	UTC     bool     `yaml:"utc,omitempty" json:"utc,omitempty"`
	Blanks  []string `yaml:"unknown,omitempty,flow" json:"unknown,omitempty"` // cells that mean unknown here
	Skip    bool     `yaml:"skip,omitempty" json:"skip,omitempty"`            // take nothing from it
}

// Knows reports whether the layout says something about each of the columns.
func (l *Layout) Knows(columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool { return l.column(name) == nil })
}

func (l *Layout) column(name string) *LayoutColumn {
	for i := range l.Columns {
		if l.Columns[i].Column == name {
			return &l.Columns[i]
		}
	}
	return nil
}

func (l *Layout) fields() (out []string) {
	for _, c := range l.Columns {
		out = append(out, c.Field)
		if c.Mixed {
			out = append(out, c.Field+"_currency")
		}
	}
	return out
}

// Add takes over the columns of another layout that this one does not know, and returns
// their names.
func (l *Layout) Add(found Layout) (added []string) {
	for _, c := range found.Columns {
		if l.column(c.Column) != nil {
			continue
		}
		if slices.Contains(l.fields(), c.Field) {
			c.Field = fieldName(c.Column, len(l.Columns), l.fields())
		}
		if slices.Contains(found.Text, c.Column) {
			l.Text = append(l.Text, c.Column)
		}
		l.Columns, added = append(l.Columns, c), append(added, c.Column)
	}
	return added
}

// finish settles what depends on all columns: columns of text are no fields, the title's
// values are too many to ask for, and one date is the record's.
func (l *Layout) finish() {
	l.Unit = l.Collection
	if !strings.HasSuffix(l.Unit, "s") {
		l.Unit = "records"
	}
	l.Unit = strings.ReplaceAll(l.Unit, "_", " ")
	l.Name = strings.ReplaceAll(l.Collection, "_", " ")
	if c := l.column(l.ID); c != nil {
		c.List, c.Split = false, ""
	}
	if c := l.column(l.Title); c != nil {
		c.Facet = false
	}
	best := 0
	for i := range l.Columns {
		c := &l.Columns[i]
		if slices.Contains(l.Text, c.Column) {
			*c = LayoutColumn{Column: c.Column}
		}
		if c.Kind != filter.Time.String() {
			continue
		}
		score := 1
		if madeWords.any(c.Column) {
			score = 2
		}
		if c.Future {
			score = 1
		}
		if score > best {
			l.Date, best = c.Field, score
		}
	}
}

// Spec returns the collection that the layout's records go into. fill is the command
// that fills it.
func (l *Layout) Spec(fill string) (sextant.Collection, error) {
	spec := sextant.Collection{Name: l.Collection, Title: l.Name, Role: sextant.RoleEvents, Unit: l.Unit, DateField: l.Date, Fill: fill}
	m, err := l.Mapping(time.Time{})
	if err != nil {
		return spec, err
	}
	for _, c := range m.Fields {
		spec.Schema.Fields = append(spec.Schema.Fields, c.Field)
	}
	if err := spec.Validate(); err != nil {
		return spec, fmt.Errorf("layout: %w", err)
	}
	return spec, nil
}

// Mapping returns what the layout says as it is used. now decides two-digit years.
func (l *Layout) Mapping(now time.Time) (Mapping, error) {
	m := Mapping{Source: l.Collection, Collection: l.Collection, ID: l.ID, Title: l.Title, Text: l.Text, Record: true, Unknown: l.Unknown, Encoding: l.Encoding, Now: now}
	for _, c := range l.Columns {
		if c.Skip || slices.Contains(l.Text, c.Column) {
			continue
		}
		columns, err := c.mapped()
		if err != nil {
			return m, fmt.Errorf("layout: column %q: %w", c.Column, err)
		}
		m.Fields = append(m.Fields, columns...)
	}
	return m, nil
}

func (c *LayoutColumn) mapped() ([]Column, error) {
	f := filter.Field{Name: c.Field, Label: c.Label, List: c.List, Facet: c.Facet, Unit: c.Unit}
	if err := f.Kind.UnmarshalText([]byte(c.Kind)); err != nil || f.Kind == filter.KindNone {
		return nil, fmt.Errorf("kind %q is none of keyword, int, float, bool, time", c.Kind)
	}
	f.Description = "Column " + c.Column + "."
	if c.Unit != "" {
		f.Description = "Column " + c.Column + ", in " + c.Unit + "."
	}
	if f.Kind == filter.Keyword {
		f.Fold = filter.Case
	}
	out := Column{Name: c.Column, Field: f, Split: c.Split, Unit: c.Unit, Digits: c.Digits, Future: c.Future, UTC: c.UTC, Blanks: c.Blanks}
	switch c.Decimal {
	case "", ".":
	case ",":
		out.Mark = Comma
	default:
		return nil, fmt.Errorf("decimal %q is neither . nor ,", c.Decimal)
	}
	switch c.Dates {
	case "":
	case "day_first", "month_first":
		out.Fixed = true
		if c.Dates == "day_first" {
			out.Order = DayFirst
		}
	default:
		return nil, fmt.Errorf("dates %q is neither day_first nor month_first", c.Dates)
	}
	if !c.Mixed {
		return []Column{out}, nil
	}
	currency := filter.Field{Name: c.Field + "_currency", Label: c.Label + " currency", Description: "Currency of column " + c.Column + ".", Kind: filter.Keyword, Facet: true, Fold: filter.Case}
	return []Column{out, {Name: c.Column, Field: currency, Mark: out.Mark, Part: UnitOf, Blanks: c.Blanks}}, nil
}
