package qdrant

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sextant-rag/sextant/store"
)

// The first batch makes the generation it is written to, for only then it is known how long
// vectors are; and the first vectors make another if documents without chunks came before
// them. Everything slow is done first. Then the row is compared with what it was, and
// replaced: whoever finds that another was faster drops what was made and writes into what
// is in use.

// materialize makes the generation that a batch is written to, unless it is there.
func (c *collection) materialize(ctx context.Context, r row, dimension int, length float64) (row, error) {
	if r.Physical != "" && (dimension == 0 || r.Dimension == dimension) {
		return r, nil
	}
	if r.Dimension != 0 {
		return r, fmt.Errorf("vectors of %d dimensions, the collection's have %d: %w", dimension, r.Dimension, store.ErrRecord)
	}
	next := r
	next.Dimension = dimension
	if next.Pivot == 0 {
		next.Pivot = max(1, length)
	}
	err := c.generate(ctx, &next)
	if err != nil {
		return r, err
	}
	if r.Physical == "" {
		next, err = c.installFirst(ctx, r, next)
	} else {
		next, err = c.installCopy(ctx, r, next)
	}
	if err != nil {
		return r, err
	}
	if err := c.s.name(ctx, next); err != nil {
		return r, err
	}
	if r.Physical != "" {
		// Who still reads there is told that it is gone, and looks at the row again.
		if err := c.tidy(ctx); err != nil {
			c.s.o.Log.Warn("a generation that is no longer in use is still there", "collection", r.Spec.Name, "error", err)
		}
	}
	return next, nil
}

// installFirst puts the first generation in use.
func (c *collection) installFirst(ctx context.Context, r, next row) (row, error) {
	state, err := c.state(max(c.Sequence(), r.unwritten()))
	if err == nil {
		err = c.s.wire.update(ctx, next.Physical, []operation{{Upsert: []point{state}}})
	}
	if err != nil {
		c.discard(ctx, next.Physical)
		return r, err
	}
	return c.install(ctx, next, func(now *row) bool { return now.Closed == 0 && now.sameGeneration(r) })
}

// installCopy puts a generation in the place of one without vectors, and takes along what is
// in that, which is closed for writing meanwhile.
func (c *collection) installCopy(ctx context.Context, r, next row) (row, error) {
	held := closure{c: c}
	err := held.renew(ctx, func(now *row) bool { return now.Closed == 0 && now.sameGeneration(r) })
	if err == nil {
		defer held.end(ctx)
		err = c.copyPoints(ctx, r.Physical, next.Physical, &held)
	}
	if err != nil {
		c.discard(ctx, next.Physical)
		return r, err
	}
	return c.install(ctx, next, func(now *row) bool {
		return now.Closed == held.token && now.sameGeneration(r) && time.Since(held.since) < c.s.closed/2
	})
}

// install replaces the row's generation, if the row allows it: errMoved else.
func (c *collection) install(ctx context.Context, next row, allowed func(now *row) bool) (row, error) {
	out, err := c.alter(ctx, func(now *row) error {
		if !allowed(now) {
			return errMoved
		}
		now.retire(now.Physical)
		now.Physical, now.Generation, now.Dimension, now.Pivot, now.Closed = next.Physical, next.Generation, next.Dimension, next.Pivot, 0
		return nil
	})
	if errors.Is(err, errMoved) { // after any other error the row may have been written
		c.discard(ctx, next.Physical)
	}
	return out, err
}

// sameGeneration reports whether a row has the generation, and the fields with indexes, that
// it had when another was begun to take its place.
func (r *row) sameGeneration(before row) bool {
	return r.Created == before.Created && r.Physical == before.Physical && r.Generation == before.Generation && same(r.Spec, before.Spec)
}

// discard drops a generation that was made and is not wanted, unless the row names it.
// What is not done of that leaves a collection that nobody uses.
func (c *collection) discard(ctx context.Context, physical string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.s.o.Timeout)
	defer cancel()
	r, err := c.latest(ctx)
	if err == nil && !r.names(physical) {
		err = c.s.wire.drop(ctx, physical)
	}
	if err != nil {
		c.s.o.Log.Warn("a generation that was not used is still there", "generation", physical, "error", err)
	}
}

// copyPoints takes points that have no vectors to another generation.
func (c *collection) copyPoints(ctx context.Context, from, to string, held *closure) error {
	for offset := ""; ; {
		p, err := c.s.wire.scroll(ctx, from, scrollQuery{Limit: 100, Offset: offset, Want: want{All: true}})
		if err != nil {
			return err
		}
		if len(p.Points) > 0 {
			if err := c.s.wire.update(ctx, to, []operation{{Upsert: p.Points}}); err != nil {
				return err
			}
		}
		if offset = p.Next; offset == "" {
			return nil
		}
		if err := held.stay(ctx); err != nil {
			return err
		}
	}
}

// closure is a time in which a generation is closed for writing by this process.
type closure struct {
	c     *collection
	token uint64
	since time.Time
}

// renew closes the generation in use for defaultClosed from now, if the row allows it:
// errMoved else.
func (h *closure) renew(ctx context.Context, allowed func(now *row) bool) error {
	since, token := time.Now(), stamp()
	_, err := h.c.alter(ctx, func(now *row) error {
		if !allowed(now) {
			return errMoved
		}
		now.Closed = token
		return nil
	})
	if err == nil {
		h.token, h.since = token, since
	}
	return err
}

// stay renews a closure that gets old, if nobody has opened the generation.
func (h *closure) stay(ctx context.Context) error {
	if time.Since(h.since) < h.c.s.closed/4 {
		return nil
	}
	return h.renew(ctx, func(now *row) bool { return now.Closed == h.token })
}

// end opens the generation again, if it is still closed by this; or others do, after a while.
func (h *closure) end(ctx context.Context) { h.c.reopen(ctx, h.token) }
