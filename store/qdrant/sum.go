package qdrant

import (
	"context"
	"fmt"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Sum implements store.Collection.
func (c *collection) Sum(ctx context.Context, f filter.Filter, field string) (out store.Sum, err error) {
	err = c.asked(ctx, func(ctx context.Context) error {
		out, err = c.sum(ctx, f, field)
		return err
	})
	return out, failure("sum of "+field, err)
}

func (c *collection) sum(ctx context.Context, f filter.Filter, name string) (store.Sum, error) {
	var out store.Sum
	schema := c.Spec().Schema
	field, err := plainField(&schema, name)
	if err != nil {
		return out, err
	}
	if field.Kind == filter.Keyword || field.Kind == filter.Bool {
		return out, fmt.Errorf("%q is %s, which is not added up: %w", name, field.Kind, filter.ErrSchema)
	}
	s, err := c.sample(ctx, f, field, field.Group)
	if err != nil || s.points == nil {
		return out, err
	}
	add := func(v filter.Value, n int64) {
		if out.Known == 0 || v.Compare(out.Min) < 0 {
			out.Min = v
		}
		if out.Known == 0 || v.Compare(out.Max) > 0 {
			out.Max = v
		}
		out.Known += n
		out.Total += v.Float() * float64(n)
	}
	if field.Kind == filter.Float || field.List {
		err = c.read(ctx, s.points, field, func(_ string, values []filter.Value) {
			for _, v := range values {
				add(v, 1)
			}
		})
		return out, err
	}
	hits, err := c.facet(ctx, valueKey(field, ""), s.points)
	for _, h := range hits {
		v, bad := decodeValue(field, h.Value)
		if bad != nil {
			return out, damaged(name, bad)
		}
		add(v, h.Count)
	}
	return out, err
}
