package qdrant

import (
	"context"

	"github.com/sextant-rag/sextant/filter"
)

// Count implements store.Collection.
func (c *collection) Count(ctx context.Context, f filter.Filter, unit string) (n int64, err error) {
	err = c.asked(ctx, func(ctx context.Context) error {
		n, err = c.countUnits(ctx, f, unit)
		return err
	})
	return n, failure("count", err)
}

func (c *collection) countUnits(ctx context.Context, f filter.Filter, unit string) (int64, error) {
	schema := c.Spec().Schema
	kind, group, err := unitKind(&schema, unit)
	if err != nil {
		return 0, err
	}
	if f, err = c.resolved(ctx, f); err != nil {
		return 0, err
	}
	where, err := c.under(f, kind, group)
	if err != nil || where == nil {
		return 0, err
	}
	return c.count(ctx, where)
}
