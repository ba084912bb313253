package compute

import (
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// firstLast finds the first or last documents in time. All that share the day of the
// first one are named: the data know no order within a day.
func (c *computer) firstLast() (sextant.Computed, error) {
	out, err := c.base(c.asked.Kind)
	if err != nil || c.spec.DateField == "" {
		return out, err
	}
	n := max(c.asked.N, 1)
	docs, next, err := c.page(store.ListQuery{Filter: c.Filter, By: c.spec.DateField, Desc: out.Kind == "last", Limit: min(n, MaxIDs)})
	if err != nil || len(docs) == 0 {
		return out, err
	}
	when := docs[0].Meta.Fields.One(c.spec.DateField)
	if when.IsZero() {
		return out, nil
	}
	out.Date, out.N, out.Next = when.Time().Format(time.DateOnly), n, next
	if n == 1 {
		out.Next = ""
		day := filter.OfTime(when.Time().Truncate(24 * time.Hour))
		out.IDs, _, err = c.ids(c.with(c.on(c.spec.DateField, filter.DayRange(c.spec.DateField, day, day))))
		return out, err
	}
	out.IDs, out.Columns = nil, append([]string{"date", "title", "id"}, c.asked.With...)
	for _, d := range docs {
		out.IDs = append(out.IDs, d.ID.Native())
		row := []any{d.Meta.Fields.One(c.spec.DateField).String(), d.Title, d.ID.Native()}
		for _, part := range c.asked.With {
			row = append(row, partText(&d, part))
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// extreme finds the documents with the most or least of a number. Of one that is asked
// for, all that have the same number are named.
func (c *computer) extreme() (sextant.Computed, error) {
	field, ok := c.spec.Schema.Field(c.asked.Of)
	if !ok || field.Group != "" || field.List {
		return c.base("count")
	}
	c.asked.Unit = store.Documents
	out, err := c.base(c.asked.Kind)
	if err != nil {
		return out, err
	}
	out.ValueOf = field.Name
	s, err := c.Collection.Sum(c.ctx, c.Filter, field.Name)
	if err != nil {
		return out, err
	}
	if out.Unknown = out.Total - s.Known; out.Unknown > 0 {
		c.note(&out, "%s is not recorded for %d of these %s.", c.label(field.Name), out.Unknown, out.UnitLabel)
	}
	if s.Known == 0 {
		return out, nil
	}
	best := s.Max
	if out.Kind == "min" {
		best = s.Min
	}
	out.Value, out.N, out.Next = best.String(), max(c.asked.N, 1), ""
	limit, f := out.N, c.Filter
	if out.N == 1 {
		f, limit = c.with(c.on(field.Name, filter.Eq{Field: field.Name, Value: best})), MaxIDs
	}
	docs, err := c.leading(store.ListQuery{Filter: f, By: field.Name, Desc: out.Kind == "max", Limit: limit})
	if err != nil {
		return out, err
	}
	out.IDs, out.Columns = []string{}, []string{"id", c.label(field.Name), "date", "title"}
	for _, d := range docs {
		v := d.Meta.Fields.One(field.Name)
		if v.IsZero() {
			break // documents without a value come last
		}
		out.IDs = append(out.IDs, d.ID.Native())
		out.Rows = append(out.Rows, []any{d.ID.Native(), number(v), d.Meta.Fields.One(c.spec.DateField).String(), d.Title})
	}
	return out, nil
}

func number(v filter.Value) any {
	if v.Kind() == filter.Int {
		return v.Int()
	}
	return v.Float()
}

// leading returns the documents at the head of a list, in its order.
func (c *computer) leading(q store.ListQuery) ([]sextant.Document, error) {
	docs, _, err := c.page(q)
	return docs, err
}

// page is leading with the cursor to what follows.
func (c *computer) page(q store.ListQuery) (docs []sextant.Document, next string, err error) {
	list, err := c.Collection.List(c.ctx, q)
	if err != nil || len(list.IDs) == 0 {
		return nil, "", err
	}
	docs, err = c.Collection.Get(c.ctx, list.IDs)
	return docs, list.Next, err
}
