package sqlite

import (
	"context"
	"fmt"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// look has f evaluated on the present index. It is how everything is read that needs
// no database.
func (c *collection) look(ctx context.Context, f func(x *index) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return errClosed
	}
	return c.reading(func() error { return f(c.index) })
}

// Count implements store.Collection.
func (c *collection) Count(ctx context.Context, f filter.Filter, unit string) (int64, error) {
	var n int64
	err := c.look(ctx, func(x *index) error {
		m, err := x.units(f, unit)
		n = m.count()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	return n, nil
}

// units returns what is counted under a filter: live documents, or live elements of
// the group that unit names.
func (x *index) units(f filter.Filter, unit string) (mask, error) {
	f, err := x.resolve(f)
	switch {
	case err != nil:
		return nil, err
	case unit == "" || unit == store.Documents:
		return x.matching(f), nil
	case x.groups[unit] == nil || !x.schema.HasGroup(unit):
		return nil, fmt.Errorf("%q is neither %q nor a group: %w", unit, store.Documents, filter.ErrSchema)
	}
	return x.matchingElements(f, unit), nil
}

// plainField returns a field that holds values itself.
func (x *index) plainField(name string) (filter.Field, error) {
	f, ok := x.schema.Field(name)
	switch {
	case !ok:
		return f, fmt.Errorf("no field %q: %w", name, filter.ErrSchema)
	case len(f.AnyOf) > 0:
		return f, fmt.Errorf("field %q is a view of others: %w", name, filter.ErrSchema)
	}
	return f, nil
}

// Sum implements store.Collection.
func (c *collection) Sum(ctx context.Context, f filter.Filter, field string) (store.Sum, error) {
	var s store.Sum
	err := c.look(ctx, func(x *index) error {
		def, err := x.plainField(field)
		if err != nil {
			return err
		}
		column, ok := x.tableOf(def).columns[field].(*numbers)
		if !ok || def.Kind == filter.Bool {
			return fmt.Errorf("field %q is %s and cannot be added up: %w", field, def.Kind, filter.ErrSchema)
		}
		m, err := x.units(f, def.Group)
		if err == nil {
			s = column.sum(m)
		}
		return err
	})
	if err != nil {
		return s, fmt.Errorf("sum: %w", err)
	}
	return s, nil
}

// sum adds up the values of the slots in m, in their order and with the compensation
// of Neumaier (1974), so that the order of writing hardly shows in the total. Ints
// beyond 2^53 lose what a float64 cannot hold.
func (c *numbers) sum(m mask) store.Sum {
	var s store.Sum
	var lost float64
	var lo, hi int64
	for slot := range m.all() {
		for _, key := range c.cells.at(slot) {
			if s.Known == 0 {
				lo, hi = key, key
			}
			lo, hi = min(lo, key), max(hi, key)
			s.Known++
			v := c.value(key).Float() // 0 for times
			t := s.Total + v
			if abs(s.Total) >= abs(v) {
				lost += s.Total - t + v
			} else {
				lost += v - t + s.Total
			}
			s.Total = t
		}
	}
	if lost == lost { // sums with infinities have no remainder
		s.Total += lost
	}
	if s.Known > 0 {
		s.Min, s.Max = c.value(lo), c.value(hi)
	}
	return s
}

func abs(x float64) float64 {
	if x < 0 {
		return -x
	}
	return x
}
