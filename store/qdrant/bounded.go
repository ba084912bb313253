package qdrant

import (
	"context"
	"time"
)

// bounded gives each request to a server the time it may take. A server that stalls is so
// noticed at the first of a question's requests, and one that only has much to do may
// answer many.
type bounded struct {
	transport
	read, write time.Duration
}

func within[T any](ctx context.Context, limit time.Duration, ask func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	return ask(ctx)
}

func only(ask func(context.Context) error) func(context.Context) (struct{}, error) {
	return func(ctx context.Context) (struct{}, error) { return struct{}{}, ask(ctx) }
}

func (b bounded) ping(ctx context.Context) error {
	_, err := within(ctx, b.read, only(b.transport.ping))
	return err
}

func (b bounded) create(ctx context.Context, collection string, p parameters) error {
	_, err := within(ctx, b.write, only(func(ctx context.Context) error { return b.transport.create(ctx, collection, p) }))
	return err
}

func (b bounded) drop(ctx context.Context, collection string) error {
	_, err := within(ctx, b.write, only(func(ctx context.Context) error { return b.transport.drop(ctx, collection) }))
	return err
}

func (b bounded) exists(ctx context.Context, collection string) (bool, error) {
	return within(ctx, b.read, func(ctx context.Context) (bool, error) { return b.transport.exists(ctx, collection) })
}

func (b bounded) index(ctx context.Context, collection, field string, kind indexKind) error {
	_, err := within(ctx, b.write, only(func(ctx context.Context) error { return b.transport.index(ctx, collection, field, kind) }))
	return err
}

func (b bounded) update(ctx context.Context, collection string, ops []operation) error {
	_, err := within(ctx, b.write, only(func(ctx context.Context) error { return b.transport.update(ctx, collection, ops) }))
	return err
}

func (b bounded) count(ctx context.Context, collection string, where *clause) (int64, error) {
	return within(ctx, b.read, func(ctx context.Context) (int64, error) { return b.transport.count(ctx, collection, where) })
}

func (b bounded) scroll(ctx context.Context, collection string, q scrollQuery) (page, error) {
	return within(ctx, b.read, func(ctx context.Context) (page, error) { return b.transport.scroll(ctx, collection, q) })
}

func (b bounded) points(ctx context.Context, collection string, ids []string, w want) ([]point, error) {
	return within(ctx, b.read, func(ctx context.Context) ([]point, error) { return b.transport.points(ctx, collection, ids, w) })
}

func (b bounded) nearest(ctx context.Context, collection string, q nearestQuery) ([]point, error) {
	return within(ctx, b.read, func(ctx context.Context) ([]point, error) { return b.transport.nearest(ctx, collection, q) })
}

func (b bounded) facet(ctx context.Context, collection string, q facetQuery) ([]facetHit, error) {
	return within(ctx, b.read, func(ctx context.Context) ([]facetHit, error) { return b.transport.facet(ctx, collection, q) })
}

func (b bounded) aliases(ctx context.Context) (map[string]string, error) {
	return within(ctx, b.read, b.transport.aliases)
}

func (b bounded) alias(ctx context.Context, name, collection string, replaces bool) error {
	_, err := within(ctx, b.write, only(func(ctx context.Context) error { return b.transport.alias(ctx, name, collection, replaces) }))
	return err
}
