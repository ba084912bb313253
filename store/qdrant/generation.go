package qdrant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/store"
)

// A generation is a collection of the server that holds, or held, a collection's points.
// Which one is in use says the catalogue's row, and nothing else: readers look at the row
// again when it is older than rowAge, or when the generation they knew is gone; whoever
// writes looks at it before and after. Qdrant has no transactions, and these two looks are
// what stands for one: a change is acknowledged only if the generation it went into was
// in use and open for writing after it was made. Who puts another in its place first
// closes it, so what it does not see then was not acknowledged, and is done again by its
// writer in the new one.

// rowAge is how old may be what is known of the catalogue when a question is asked.
const rowAge = time.Second

// defaultGrace is for how long a generation is kept that is no longer in use: readers may
// know no better for rowAge, and then be in the middle of a request.
const defaultGrace = rowAge + defaultTimeout

// defaultClosed is how long a generation stays closed at most, by the clock of whoever
// waits: one that stays so longer was closed by a process that is dead. Who closes gives up
// after half of it.
const defaultClosed = 30 * time.Second

// errMoved ends a change that has to be made again in another generation.
var errMoved = errors.New("another generation is in use")

// lookup is a look at the catalogue that several wait for.
type lookup struct {
	done chan struct{}
	err  error
}

// fresh is the catalogue's row, at most rowAge old. Many that need it at once look once.
func (c *collection) fresh(ctx context.Context) (row, error) {
	for {
		c.mu.Lock()
		if c.row.Physical != "" && time.Since(c.looked) < rowAge {
			r := c.row
			c.mu.Unlock()
			return r, nil
		}
		l := c.looking
		mine := l == nil
		if mine {
			l = &lookup{done: make(chan struct{})}
			c.looking = l
		}
		c.mu.Unlock()
		if mine {
			var r row
			began := time.Now()
			if r, l.err = c.latest(ctx); l.err == nil {
				l.err = c.standing(ctx, r)
			}
			c.mu.Lock()
			c.looking = nil
			if l.err == nil {
				c.looked = began
			}
			c.mu.Unlock()
			close(l.done)
			return r, l.err
		}
		select {
		case <-ctx.Done():
			return row{}, ctx.Err()
		case <-l.done:
		}
		if gaveUp := errors.Is(l.err, context.Canceled) || errors.Is(l.err, context.DeadlineExceeded); !gaveUp {
			return c.current(), l.err
		}
	}
}

// latest is the catalogue's row as it is now.
func (c *collection) latest(ctx context.Context) (row, error) {
	r, err := c.s.row(ctx, c.current().Spec.Name)
	if errors.Is(err, store.ErrNotFound) {
		return r, c.dropped()
	}
	if err != nil {
		return r, err
	}
	return r, c.adopt(r)
}

// standing reports a generation that somebody made anew under the one that is in use: it
// lacks the point that every generation has before its name is in the catalogue. Its
// emptiness must not pass for nothing found.
func (c *collection) standing(ctx context.Context, r row) error {
	if r.Physical == "" {
		return nil
	}
	points, err := c.s.wire.points(ctx, r.Physical, []string{c.stateID()}, want{Fields: []string{"_kind"}})
	switch {
	case errors.Is(err, errMissing): // what asks it says so
		return nil
	case err == nil && len(points) == 0:
		return fmt.Errorf("collection %s was emptied on the server: %w", r.Spec.Name, store.ErrUnavailable)
	}
	return err
}

func (c *collection) dropped() error {
	return fmt.Errorf("collection %s was dropped on the server: %w", c.current().Spec.Name, store.ErrUnavailable)
}

// reached runs a read against the generation in use. One that has been replaced meanwhile
// is gone: then the catalogue says which took its place. Before anything is written there
// is none, and nothing is found.
func (c *collection) reached(ctx context.Context, read func(physical string) error) error {
	return c.reachedBy(ctx, nil, read)
}

// reachedBy is reached for reads of vectors: those of another encoder are store.ErrEncoder.
func (c *collection) reachedBy(ctx context.Context, encoder *string, read func(physical string) error) error {
	if err := c.reachable(ctx); err != nil {
		return err
	}
	for before := ""; ; {
		r, err := c.fresh(ctx)
		if err != nil || r.Physical == "" {
			return err
		}
		if encoder != nil && r.Spec.Encoder != *encoder {
			return otherEncoder(*encoder, r)
		}
		if err := read(r.Physical); !errors.Is(err, errMissing) {
			return err
		}
		now, err := c.latest(ctx)
		if err != nil {
			return err
		}
		if now.Physical == r.Physical || before != "" {
			return c.dropped()
		}
		before = r.Physical
	}
}

func otherEncoder(encoder string, r row) error {
	return fmt.Errorf("%w: these are of %q, the collection's of %q", store.ErrEncoder, encoder, r.Spec.Encoder)
}

// reachable reports why nothing can be asked.
func (c *collection) reachable(ctx context.Context) error {
	switch {
	case c.s.life.Err() != nil:
		return fmt.Errorf("the store is closed: %w", store.ErrUnavailable)
	case ctx.Err() != nil:
		return ctx.Err()
	case c.isGone():
		return fmt.Errorf("collection %s was dropped: %w", c.current().Spec.Name, store.ErrUnavailable)
	}
	return nil
}

// changed makes a change of documents in the generation in use, and again if another took
// its place meanwhile. It is given the row, and returns what it wrote to.
func (c *collection) changed(ctx context.Context, change func(r row) (physical string, err error)) error {
	for {
		r, err := c.opened(ctx)
		if err == nil {
			err = c.standing(ctx, r)
		}
		if err != nil {
			return err
		}
		physical, err := change(r)
		if errors.Is(err, errMoved) {
			continue
		}
		missing := errors.Is(err, errMissing)
		if err != nil && !missing {
			return err
		}
		now, err := c.latest(ctx)
		switch {
		case err != nil:
			return err
		case now.Physical == physical && missing:
			return c.dropped()
		case now.Physical == physical && now.Closed == 0:
			return nil
		}
	}
}

// opened is the row as it is now, once the generation in use is open for writing.
func (c *collection) opened(ctx context.Context) (row, error) {
	var since time.Time
	for closed := uint64(0); ; {
		r, err := c.latest(ctx)
		if err != nil || r.Closed == 0 {
			return r, err
		}
		if r.Closed != closed {
			closed, since = r.Closed, time.Now()
		}
		if time.Since(since) > c.s.closed {
			return c.alter(ctx, func(r *row) error {
				if r.Closed == closed {
					r.Closed = 0
				}
				return nil
			})
		}
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-c.s.life.Done():
			return r, c.reachable(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// alterAttempts is how often a change of the row is tried that others' changes come between.
const alterAttempts = 10

// alter changes the row as it is now. It is read again right before it is written, and if
// somebody else changed it meanwhile the change is made anew, however long it took to make.
// What is left is the time from that read to the write: the server knows no condition that
// would close it.
func (c *collection) alter(ctx context.Context, change func(r *row) error) (row, error) {
	c.altering.Lock()
	defer c.altering.Unlock()
	for range alterAttempts {
		r, err := c.latest(ctx)
		if err != nil {
			return r, err
		}
		version := r.Version
		if err := change(&r); err != nil {
			return r, err
		}
		now, err := c.latest(ctx)
		if err != nil {
			return r, err
		}
		if now.Version != version {
			continue
		}
		if err := c.s.putRow(ctx, &r); err != nil {
			return r, err
		}
		return r, c.adopt(r)
	}
	return c.current(), fmt.Errorf("others keep changing the catalogue's row of %s: %w", c.current().Spec.Name, store.ErrUnavailable)
}

// generate makes the Qdrant collection of a new generation, with its indexes: made later,
// they would not be used by the graph.
func (c *collection) generate(ctx context.Context, r *row) error {
	for {
		r.Generation++
		r.Physical = c.s.generation(r)
		err := c.s.wire.create(ctx, r.Physical, c.s.parameters(r.Dimension))
		if err == nil {
			break
		}
		if !errors.Is(err, errExists) {
			return err
		}
	}
	err := c.s.makeIndexes(ctx, r.Physical, r.Spec.Schema, nil)
	if err != nil {
		c.discard(ctx, r.Physical)
	}
	return err
}

// generation is what the newest generation of a row is called on the server.
func (s *Store) generation(r *row) string {
	return s.external(r.Spec.Name) + "_g" + strconv.Itoa(r.Generation)
}

func (s *Store) parameters(dimension int) parameters {
	return parameters{Dense: dimension, Words: true, OnDisk: s.o.OnDisk, Shards: s.o.Shards, Replicas: s.o.Replicas, Consistency: s.o.Consistency}
}

// name gives other clients the generation in use under the collection's own name.
func (s *Store) name(ctx context.Context, r row) error {
	name := s.external(r.Spec.Name)
	known, err := s.wire.aliases(ctx)
	if err != nil {
		return err
	}
	target, taken := known[name]
	if taken && target != r.Physical && !strings.HasPrefix(target, name+"_g") {
		s.o.Log.Warn("the server has an alias of this name that is not Sextant's; other clients find something else there", "alias", name, "collection", target)
		return nil
	}
	if target == r.Physical {
		return nil
	}
	err = s.wire.alias(ctx, name, r.Physical, taken)
	if errors.Is(err, errExists) {
		s.o.Log.Warn("the server has a collection of this name that is not Sextant's; other clients find that there", "collection", name, "documents are in", r.Physical)
		return nil
	}
	return err
}

// tidy removes generations that were in use before, once nobody reads them any more, and
// gives the one that is in use its name: all that is left to do after one was replaced,
// also by a process that was killed in between.
func (c *collection) tidy(ctx context.Context) error {
	r, err := c.latest(ctx)
	if err != nil || len(r.Retired) == 0 {
		return err
	}
	if r.Physical != "" {
		if err := c.s.name(ctx, r); err != nil {
			return err
		}
	}
	for _, physical := range r.Retired {
		if err := c.s.wire.drop(ctx, physical); err != nil {
			return err
		}
	}
	_, err = c.alter(ctx, func(now *row) error {
		now.Retired = slices.DeleteFunc(now.Retired, func(physical string) bool { return slices.Contains(r.Retired, physical) })
		return nil
	})
	return err
}

// tidyLater is tidy for whoever comes by, a good while after a generation was replaced:
// the process that did it removes the old one itself, unless it was killed. It changes the
// row, so it keeps away from one that is about to be replaced.
func (c *collection) tidyLater(ctx context.Context, r row) {
	busy := r.Shadow != nil || r.Closed != 0 // and whoever is at it removes them himself
	if len(r.Retired) == 0 || busy || time.Since(time.Unix(0, r.RetiredAt)) < 10*defaultGrace {
		return
	}
	if err := c.tidy(ctx); err != nil {
		c.s.o.Log.Warn("a generation that is no longer in use is still there", "collection", r.Spec.Name, "error", err)
	}
}
