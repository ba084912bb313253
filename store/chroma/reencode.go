package chroma

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// freshSuffix is behind the name of a collection that is filled with new vectors.
const freshSuffix = "--next"

var _ store.Reencoder = (*collection)(nil)

// BeginVectors implements store.Reencoder. New vectors are records of a collection of
// their own, which takes the place of the old one with one replacement of the row.
func (c *collection) BeginVectors(ctx context.Context, encoder string) error {
	err := c.changing(ctx, func(next *row) error {
		if next.Fresh != nil && next.Fresh.Encoder == encoder {
			return nil
		}
		name := next.Name + freshSuffix
		if err := c.store.client.drop(ctx, name); err != nil {
			return err
		}
		r, err := c.store.client.create(ctx, name, ownedBy(next))
		if err != nil {
			return err
		}
		next.Fresh = &fresh{Encoder: encoder, Records: r.ID}
		return nil
	})
	if err != nil {
		return fmt.Errorf("begin vectors: %w", err)
	}
	return nil
}

// changing has f change a copy of the row, which then takes its place. Nothing else may
// be written meanwhile.
func (c *collection) changing(ctx context.Context, f func(next *row) error) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.begin(ctx); err != nil {
		return err
	}
	defer c.end()
	now, _ := c.now()
	next := *now
	if err := f(&next); err != nil {
		return err
	}
	if err := c.store.putRow(ctx, &next); err != nil {
		return err
	}
	c.loading.Lock()
	defer c.loading.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.view != nil {
		c.view.spec = next.Spec
	}
	c.row = &next
	return nil
}

// WithoutVectors implements store.Reencoder. The order is that of versions, then ids; a
// cursor is the last of these.
func (c *collection) WithoutVectors(ctx context.Context, after string, limit int) ([]store.Unencoded, string, error) {
	docs, next, err := c.withoutVectors(ctx, after, limit)
	if err != nil {
		return nil, "", fmt.Errorf("documents without vectors: %w", err)
	}
	return docs, next, nil
}

func (c *collection) withoutVectors(ctx context.Context, after string, limit int) ([]store.Unencoded, string, error) {
	var from key
	if after != "" {
		var ok bool
		if from, ok = parseKey(after); !ok {
			return nil, "", store.ErrCursor
		}
	}
	var r *row
	entries := directory{}
	if err := c.look(ctx, listed, func() error {
		r = c.row
		for id, e := range c.directory {
			entries[id] = e
		}
		return nil
	}); err != nil {
		return nil, "", err
	}
	if r.Fresh == nil {
		return nil, "", fmt.Errorf("none were begun: %w", store.ErrUnsupported)
	}
	done, err := c.encoded(ctx, r)
	if err != nil {
		return nil, "", err
	}
	var open []key
	for id, e := range entries {
		if k := e.key(id, 0); e.chunks > 0 && !done[k.String()] && (after == "" || byVersion(from, k) < 0) {
			open = append(open, k)
		}
	}
	slices.SortFunc(open, byVersion)
	next := ""
	if len(open) > limit {
		open = open[:limit]
		next = open[limit-1].String()
	}
	ids := make([]sextant.DocumentID, len(open))
	for i, k := range open {
		ids[i] = k.document
	}
	docs, err := c.bodies(atLeisure(ctx), r, entries, ids)
	if errors.Is(err, errMoved) { // one was replaced meanwhile: it comes again, as the last
		return c.withoutVectors(ctx, after, limit)
	}
	if err != nil {
		return nil, "", err
	}
	out := make([]store.Unencoded, len(docs))
	for i, d := range docs {
		out[i] = store.Unencoded{Document: d.document, Chunks: d.chunks, Version: int64(d.entry.version)}
	}
	return out, next, nil
}

func byVersion(a, b key) int {
	if a.version != b.version {
		if a.version < b.version {
			return -1
		}
		return 1
	}
	return strings.Compare(string(a.document), string(b.document))
}

// encoded returns the keys of the documents all of whose chunks have new vectors.
func (c *collection) encoded(ctx context.Context, r *row) (map[string]bool, error) {
	ids, err := c.store.client.ids(atLeisure(ctx), r.Fresh.Records, nil)
	if err != nil {
		return nil, underneath(err)
	}
	chunks := map[string]int{}
	for _, id := range ids {
		if k, ok := parseKey(id); ok {
			k.index = 0
			chunks[k.String()]++
		}
	}
	done := make(map[string]bool, len(chunks))
	for id, n := range chunks {
		k, _ := parseKey(id)
		done[id] = n == k.chunks
	}
	return done, nil
}

// PutVectors implements store.Reencoder.
func (c *collection) PutVectors(ctx context.Context, docs []store.Unencoded, vectors [][][]float32) error {
	if err := c.putVectors(ctx, docs, vectors); err != nil {
		return fmt.Errorf("put vectors: %w", err)
	}
	return nil
}

func (c *collection) putVectors(ctx context.Context, docs []store.Unencoded, vectors [][][]float32) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.begin(ctx); err != nil {
		return err
	}
	defer c.end()
	r, present := c.now()
	if r.Fresh == nil {
		return fmt.Errorf("none were begun: %w", store.ErrUnsupported)
	}
	spec := r.Spec
	spec.Encoder = r.Fresh.Encoder
	var batch, markers records
	next := *r
	made := *r.Fresh
	for i, d := range docs {
		e, ok := present[d.Document.ID]
		if !ok || int64(e.version) != d.Version {
			continue
		}
		recs, err := prepared([]store.Record{{Document: d.Document, Chunks: d.Chunks, Vectors: vectors[i]}}, &spec)
		if err != nil {
			return err
		}
		for _, v := range recs[0].Vectors {
			if made.Dimension == 0 {
				made.Dimension = len(v)
			}
			if len(v) != made.Dimension {
				return fmt.Errorf("document %q: vector of %d dimensions among others of %d: %w", d.Document.ID, len(v), made.Dimension, store.ErrRecord)
			}
		}
		if _, err := appendRecords(&batch, &markers, &spec, recs[0], e); err != nil {
			return err
		}
	}
	if made.Dimension != r.Fresh.Dimension {
		next.Fresh = &made
		if err := c.store.putRow(ctx, &next); err != nil {
			return err
		}
		c.mu.Lock()
		c.row = &next
		c.mu.Unlock()
	}
	return underneath(c.store.client.add(ctx, made.Records, batch))
}

// SwapVectors implements store.Reencoder.
func (c *collection) SwapVectors(ctx context.Context) error {
	if err := c.swap(ctx, func(r *row, present directory) error {
		if r.Fresh == nil {
			return fmt.Errorf("none were begun: %w", store.ErrUnsupported)
		}
		done, err := c.encoded(ctx, r)
		if err != nil {
			return err
		}
		for id, e := range present {
			if e.chunks > 0 && !done[e.key(id, 0).String()] {
				return store.ErrIncomplete
			}
		}
		return nil
	}); err != nil {
		return fmt.Errorf("swap vectors: %w", err)
	}
	return nil
}

// DropVectors implements store.Reencoder: records without vectors take the place of
// those with some.
func (c *collection) DropVectors(ctx context.Context) error {
	if c.Spec().Encoder == "" {
		return nil
	}
	err := c.BeginVectors(ctx, "")
	for err == nil {
		err = c.copyWithout(ctx)
		if err == nil {
			err = c.SwapVectors(ctx)
		}
		if !errors.Is(err, store.ErrIncomplete) {
			break
		}
		err = nil
	}
	if err != nil {
		return fmt.Errorf("drop vectors: %w", err)
	}
	return nil
}

func (c *collection) copyWithout(ctx context.Context) error {
	for after, more := "", true; more; more = after != "" {
		docs, next, err := c.withoutVectors(ctx, after, bodiesAtOnce)
		if err != nil {
			return err
		}
		if err := c.putVectors(ctx, docs, make([][][]float32, len(docs))); err != nil {
			return err
		}
		after = next
	}
	return nil
}

// swap puts the new records in place of the old ones, if check finds nothing missing.
func (c *collection) swap(ctx context.Context, check func(r *row, present directory) error) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.begin(ctx); err != nil {
		return err
	}
	defer c.end()
	now, present := c.now()
	if err := check(now, present); err != nil {
		return err
	}
	if err := c.weed(ctx, now.Fresh.Records, present); err != nil {
		return err
	}
	next := *now
	next.Spec.Encoder, next.Records, next.Dimension, next.Fresh = next.Fresh.Encoder, next.Fresh.Records, next.Fresh.Dimension, nil
	next.advance(max(c.attempted, next.Version) + 1)
	c.attempted = next.Version
	c.unclean = true // what the old records leave behind goes with the next change
	if err := c.store.putRow(ctx, &next); err != nil {
		return err
	}
	c.loading.Lock()
	c.mu.Lock()
	if c.view != nil {
		c.view.spec = next.Spec
	}
	c.row, c.graveyard = &next, graveyard{}
	c.mu.Unlock()
	c.loading.Unlock()
	return c.settle(ctx, &next)
}

// weed removes new records of documents that were replaced or deleted since they were
// made: nothing would say that they do not count.
func (c *collection) weed(ctx context.Context, records string, present directory) error {
	ids, err := c.store.client.ids(atLeisure(ctx), records, nil)
	if err != nil {
		return underneath(err)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool {
		k, ok := parseKey(id)
		return !ok || present[k.document] == entry{k.version, k.chunks}
	})
	return underneath(c.store.client.remove(ctx, records, ids))
}

// settle gives the records in use the name that people know, and removes those under
// it: all that a swap still has to do once the row says so. Readers that have chosen
// old records find them gone, and choose again.
func (c *collection) settle(ctx context.Context, r *row) error {
	if r.Records == "" {
		return nil
	}
	named, err := c.store.client.collection(ctx, r.Name)
	switch {
	case err == nil && named.ID == r.Records:
		return nil
	case err == nil:
		if err := notOurs(named, r); err != nil {
			return err
		}
		err = c.store.client.drop(ctx, r.Name)
	default:
		err = missingIsFine(err)
	}
	if err != nil {
		return err
	}
	return underneath(c.store.client.rename(ctx, r.Records, r.Name))
}
