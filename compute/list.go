package compute

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// listed is how many documents a list shows the asked fields of.
const listed = 100

// NotHeld stands in a table where a record says nothing.
const NotHeld = "none held"

// list lists what satisfies the conditions; with the values of fields, or the parts, that
// are asked for, in a row each.
func (c *computer) list() (sextant.Computed, error) {
	out, err := c.base("list")
	if err != nil || len(c.asked.Fields)+len(c.asked.With) == 0 || out.Total == 0 {
		return out, err
	}
	docs, next, err := c.page(store.ListQuery{Filter: c.Filter, By: c.spec.DateField, Limit: listed})
	if err != nil {
		return out, err
	}
	out.Next, out.IDs, out.Columns = next, []string{}, []string{"id", "title"}
	for _, name := range c.asked.Fields {
		out.Columns = append(out.Columns, c.label(name))
	}
	out.Columns = append(out.Columns, c.asked.With...)
	for _, d := range docs {
		row := []any{c.called(&d), d.Title}
		for _, name := range c.asked.Fields {
			row = append(row, fieldText(c.spec, &d, name))
		}
		for _, part := range c.asked.With {
			row = append(row, partText(&d, part))
		}
		out.IDs, out.Rows = append(out.IDs, d.ID.Native()), append(out.Rows, row)
	}
	return out, nil
}

// called names a document by the identifier it was asked for by, else by its own id.
func (c *computer) called(d *sextant.Document) string {
	for _, p := range c.Parts {
		f, ok := c.spec.Schema.Field(p.Field)
		if !ok || f.Kind != filter.Keyword || f.Facet {
			continue
		}
		for _, v := range valuesOf(c.spec, d, f.Name) {
			if slices.ContainsFunc(p.Values, func(asked any) bool { return f.Fold.Of(valueText(asked)) == f.Fold.Of(v) }) {
				return v
			}
		}
	}
	return d.ID.Native()
}

// fieldText is what a record says of a field, each value once.
func fieldText(spec sextant.Collection, d *sextant.Document, name string) string {
	if values := valuesOf(spec, d, name); len(values) > 0 {
		return strings.Join(values, "; ")
	}
	return NotHeld
}

func valuesOf(spec sextant.Collection, d *sextant.Document, name string) (out []string) {
	f, ok := spec.Schema.Field(name)
	if !ok {
		return nil
	}
	elements := []filter.Fields{d.Meta.Fields}
	if f.Group != "" {
		elements = d.Meta.Groups[f.Group]
	}
	for _, e := range elements {
		for _, v := range e[f.Name] {
			if s := v.String(); !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// partText is the text of a document's first part of a kind, on one line.
func partText(d *sextant.Document, kind string) string {
	for _, p := range d.Parts {
		if p.Kind == kind {
			return strings.Join(strings.Fields(d.Text[p.Start:p.End]), " ")
		}
	}
	return NotHeld
}
