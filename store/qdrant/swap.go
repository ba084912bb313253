package qdrant

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// A swap compares the shadow with the generation in use, closes that for writing, looks
// whether it is still at the sequence it had before it was compared, and replaces the row.
// So writers wait for five small requests, and no clocks are compared. Those of this process
// are kept out as all others are, and not by a lock: one of them may hold that and wait for
// the generation to be opened, which only the swap does.

// SwapVectors implements store.Reencoder.
func (h *handle) SwapVectors(ctx context.Context) error {
	err := h.swap(ctx)
	if err == nil {
		h.keep()
		h.retireLater(ctx)
	}
	return failure("swap vectors", err)
}

// swapAttempts is how often a swap is tried that others' writing keeps from being made, and
// patientSwaps how often it may then be incomplete before they have to wait.
const (
	swapAttempts = 4
	patientSwaps = 2
)

func (c *collection) swap(ctx context.Context) error {
	c.filling.Lock()
	defer c.filling.Unlock()
	for range swapAttempts {
		if err := c.openedOrMine(ctx); err != nil {
			return err
		}
		r, err := c.shadowed(ctx)
		if err != nil {
			return err
		}
		if r, err = c.makeShadow(ctx, r, 0); err != nil {
			return err
		}
		before, err := c.sequenceOf(ctx, r.Physical)
		if err != nil {
			return err
		}
		if err = c.reconcile(ctx, r); err == nil {
			err = c.replace(ctx, r, before)
		}
		if errors.Is(err, store.ErrIncomplete) {
			break
		}
		if !errors.Is(err, errMoved) {
			return err
		}
	}
	return errors.Join(store.ErrIncomplete, c.keepClosed(ctx))
}

// openedOrMine waits until the generation in use is open for writing, unless it was closed
// here. Somebody may have been killed while it was closed.
func (c *collection) openedOrMine(ctx context.Context) error {
	r, err := c.latest(ctx)
	if err != nil || r.Closed == 0 {
		c.closing = 0
		return err
	}
	if r.Closed == c.closing {
		return nil
	}
	c.closing = 0
	_, err = c.opened(ctx)
	return err
}

// keepClosed has writers wait, once a swap was incomplete so often that it may never be
// complete otherwise: until what they wrote is encoded, and in place. Each batch that is
// gives it more time.
func (c *collection) keepClosed(ctx context.Context) error {
	if c.unfinished++; c.unfinished <= patientSwaps {
		return nil
	}
	token := stamp()
	r, err := c.alter(ctx, func(r *row) error {
		if r.Closed == 0 || r.Closed == c.closing {
			r.Closed = token
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.closing = token; r.Closed != token { // it is somebody else's
		c.closing = 0
	}
	return nil
}

// stayClosed gives a generation that was closed here more time.
func (c *collection) stayClosed(ctx context.Context) error {
	if c.closing == 0 {
		return nil
	}
	return c.keepClosed(ctx)
}

// sequenceOf reads how far the changes of a generation have come. Every request that changes
// one moves it on, after it did: what was written before this is read belongs to it or to
// one before, and what was acknowledged after that has another.
func (c *collection) sequenceOf(ctx context.Context, physical string) (uint64, error) {
	if physical == "" {
		return 0, nil
	}
	points, err := c.s.wire.points(ctx, physical, []string{c.stateID()}, want{Fields: []string{"_sequence"}})
	if err != nil || len(points) == 0 {
		return 0, err
	}
	return sequenceIn(points[0])
}

// replace puts a complete shadow in place, if nothing was written since the sequence that
// was when that was found out: errMoved else.
func (c *collection) replace(ctx context.Context, r row, sequence uint64) error {
	began, token := time.Now(), stamp()
	if _, err := c.alter(ctx, func(now *row) error {
		if now.Physical != r.Physical || now.Shadow == nil || *now.Shadow != *r.Shadow || now.Closed != 0 && now.Closed != c.closing {
			return errMoved
		}
		now.Closed = token
		return nil
	}); err != nil {
		return err
	}
	err := c.replaceClosed(ctx, r, sequence, began, token)
	switch {
	case err == nil:
		c.closing, c.unfinished = 0, 0
		return nil
	case c.closing != 0 && errors.Is(err, errMoved):
		c.closing = token
		return err
	}
	c.closing = 0
	c.reopen(ctx, token)
	return err
}

// reopen lets writers go on, if what they wait for is still what this process closed with a
// token. If it fails, others do, after a while.
func (c *collection) reopen(ctx context.Context, token uint64) {
	if c.current().Closed == 0 {
		return // as this process wrote it last
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.s.o.Timeout)
	defer cancel()
	_, _ = c.alter(ctx, func(now *row) error {
		if now.Closed != token {
			return errMoved
		}
		now.Closed = 0
		return nil
	})
}

func (c *collection) replaceClosed(ctx context.Context, r row, sequence uint64, began time.Time, token uint64) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.s.closed/2, errSlow)
	defer cancel()
	now, err := c.sequenceOf(ctx, r.Physical)
	if err != nil {
		return err
	}
	if now != sequence {
		return errMoved
	}
	state, err := c.state(max(stamp(), now+1))
	if err != nil {
		return err
	}
	if err := c.s.wire.update(ctx, r.Shadow.Physical, []operation{{Upsert: []point{state}}}); err != nil {
		return err
	}
	_, err = c.alter(ctx, func(now *row) error {
		if now.Closed != token || time.Since(began) > c.s.closed/2 {
			return errMoved
		}
		if now.Physical != "" {
			now.retire(now.Physical)
		}
		now.Spec.Encoder, now.Physical, now.Dimension = now.Shadow.Encoder, now.Shadow.Physical, now.Shadow.Dimension
		now.Shadow, now.Closed = nil, 0
		return nil
	})
	if err == nil {
		_ = c.refresh(ctx) // the swap is made; whoever asks next reads the sequence again
	}
	return err
}

// retireLater removes what was in use once nobody reads it any more. What is not done of
// it, because the caller goes or the server fails, somebody else does.
func (c *collection) retireLater(ctx context.Context) {
	r, err := c.latest(ctx)
	if err == nil {
		err = c.s.name(ctx, r)
	}
	if err == nil {
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-c.s.life.Done():
			return
		case <-time.After(c.s.grace):
			err = c.tidy(ctx)
		}
	}
	if err != nil {
		c.s.o.Log.Warn("new vectors are in use; the generation before is still there", "collection", r.Spec.Name, "error", err)
	}
}

// reconcile makes a shadow hold what the generation in use does: it removes what is not in
// use any more, and takes documents without chunks over. A document with chunks that lacks
// its new vectors is store.ErrIncomplete.
func (c *collection) reconcile(ctx context.Context, r row) error {
	inUse, stop := iter.Pull2(c.headsOf(ctx, r.Physical))
	defer stop()
	made, stopMade := iter.Pull2(c.headsOf(ctx, r.Shadow.Physical))
	defer stopMade()
	remove := batch{c: c, ctx: ctx, physical: r.Shadow.Physical}
	var bare []sextant.DocumentID
	points := int64(0) // that the shadow has if nothing else is in it
	a, errA, moreA := inUse()
	b, errB, moreB := made()
	for moreA || moreB {
		switch {
		case errA != nil || errB != nil:
			return errors.Join(errA, errB)
		case moreB && (!moreA || b.id < a.id):
			remove.remove = append(remove.remove, c.removed(b.held)...)
			b, errB, moreB = made()
			continue
		case moreB && a.id == b.id && a.Stamp == b.Stamp:
		case a.Chunks > 0:
			return store.ErrIncomplete
		default:
			bare = append(bare, sextant.DocumentID(a.Document))
		}
		points += a.points()
		if moreB && a.id == b.id {
			b, errB, moreB = made()
		}
		a, errA, moreA = inUse()
	}
	if err := remove.flush(); err != nil {
		return err
	}
	if err := c.fillBare(ctx, bare); err != nil {
		return err
	}
	return c.sweep(ctx, r.Shadow.Physical, points)
}

// fillBare takes documents over that have no chunks.
func (c *collection) fillBare(ctx context.Context, ids []sextant.DocumentID) error {
	for some := range slices.Chunk(ids, scanPage) {
		stamps, err := c.stamps(ctx, some)
		if err != nil {
			return err
		}
		docs, err := c.documents(ctx, some)
		if err != nil {
			return err
		}
		open := make([]store.Unencoded, len(docs))
		records := make([]store.Record, len(docs))
		for i, d := range docs {
			open[i] = store.Unencoded{Document: d, Version: stamps[d.ID]}
			records[i] = store.Record{Document: d}
		}
		if err := c.fill(ctx, open, records); err != nil {
			return err
		}
	}
	return nil
}

// headAt is a head, and the id of its point.
type headAt struct {
	held
	id string
}

// headsOf reads what all documents of a generation have, by the ids of their heads.
func (c *collection) headsOf(ctx context.Context, physical string) iter.Seq2[headAt, error] {
	return func(yield func(headAt, error) bool) {
		for offset, more := "", physical != ""; more; more = offset != "" {
			p, err := c.s.wire.scroll(ctx, physical, scrollQuery{Where: heads(), Limit: headPage, Offset: offset, Want: want{Fields: heldFields}})
			if err != nil {
				yield(headAt{}, err)
				return
			}
			for _, x := range p.Points {
				h, err := heldOf(x)
				if !yield(headAt{h, x.ID}, err) {
					return
				}
			}
			offset = p.Next
		}
	}
}

// sweep removes from a shadow what belongs to no document in it: a process that was killed
// left chunks of one that was then replaced or deleted. points is how many there are of
// documents; if there are no others, that is all that is read.
func (c *collection) sweep(ctx context.Context, physical string, points int64) error {
	n, err := c.s.wire.count(ctx, physical, &clause{MustNot: []condition{isKind(kindState)}})
	if err != nil || n == points {
		return err
	}
	known := map[string]bool{}
	for h, err := range c.headsOf(ctx, physical) {
		if err != nil {
			return err
		}
		for _, id := range c.removed(h.held) {
			known[id] = true
		}
	}
	known[c.stateID()] = true
	b := batch{c: c, ctx: ctx, physical: physical}
	for offset := ""; ; {
		p, err := c.s.wire.scroll(ctx, physical, scrollQuery{Limit: idPage, Offset: offset, Want: want{Fields: []string{"_kind"}}})
		if err != nil {
			return err
		}
		for _, x := range p.Points {
			if !known[x.ID] {
				b.remove = append(b.remove, x.ID)
			}
		}
		if offset = p.Next; offset == "" {
			return b.flush()
		}
	}
}
