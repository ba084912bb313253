package chroma

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

var _ store.Inspector = (*collection)(nil)

// Inspect implements store.Inspector. Every document is read and its checksum compared,
// every vector's dimension, and every chunk's record is looked for.
func (c *collection) Inspect(ctx context.Context) (store.Inspection, error) {
	if err := c.check(ctx); err != nil {
		return store.Inspection{}, fmt.Errorf("inspect: %w", err)
	}
	for range attempts {
		r, err := c.store.row(ctx, c.name)
		if err != nil {
			return store.Inspection{}, fmt.Errorf("inspect: %w", underneath(err))
		}
		found, _, err := c.inspect(atLeisure(ctx), r)
		now, e := c.store.row(ctx, c.name)
		if err = errors.Join(err, underneath(e)); err != nil {
			return store.Inspection{}, fmt.Errorf("inspect: %w", err)
		}
		if now.sequence() == r.sequence() {
			return found, nil
		}
	}
	return store.Inspection{}, fmt.Errorf("inspect: %w, again and again: %w", errMoved, store.ErrUnavailable)
}

// inspect also returns the ids of the records that do not belong to a whole document.
func (c *collection) inspect(ctx context.Context, r *row) (store.Inspection, graveyard, error) {
	out := store.Inspection{Whole: map[sextant.DocumentID]string{}, Damaged: map[sextant.DocumentID]string{}}
	l, chunks, markers, err := c.everything(ctx, r)
	if err != nil {
		return out, graveyard{}, err
	}
	there := map[sextant.DocumentID]int{}
	for _, id := range slices.Concat(chunks, markers) {
		k, ok := parseKey(id)
		if !ok || k.index == gone || !r.counts(k.version) {
			continue
		}
		switch e, live := l.directory[k.document]; {
		case live && e.version == k.version:
			there[k.document]++
		case !live && k.index > 0: // its first record, which stands for it, is lost
			out.Damaged[k.document] = "the record of its first chunk is missing"
		}
	}
	ids := slices.Sorted(maps.Keys(l.directory))
	for _, id := range ids {
		if n := max(1, l.directory[id].chunks); there[id] != n {
			out.Damaged[id] = fmt.Sprintf("%d of its %d records are there", there[id], n)
		}
	}
	for page := range slices.Chunk(ids, bodiesAtOnce) {
		if err := c.inspectPage(ctx, r, l.directory, page, &out); err != nil {
			return out, graveyard{}, err
		}
	}
	out.Lost = max(0, r.Held.Documents-int64(len(out.Whole)+len(out.Damaged)))
	return out, broken(chunks, markers, out.Damaged), nil
}

// everything lists the ids of all records. A collection of records that is gone has none.
func (c *collection) everything(ctx context.Context, r *row) (l listing, chunks, markers []string, err error) {
	if markers, err = c.store.client.ids(ctx, r.catalog, nil); err != nil {
		return l, nil, nil, underneath(err)
	}
	if r.Records != "" {
		chunks, err = c.store.client.ids(ctx, r.Records, nil)
		err = missingIsFine(err)
	}
	return sorted(r, chunks, markers), chunks, markers, err
}

// inspectPage reads documents, together if all are whole, else one by one.
func (c *collection) inspectPage(ctx context.Context, r *row, d directory, ids []sextant.DocumentID, out *store.Inspection) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id sextant.DocumentID) bool { return out.Damaged[id] != "" })
	if len(ids) == 0 {
		return nil
	}
	docs, err := c.bodies(ctx, r, d, ids)
	if err == nil && r.Spec.Encoder != "" {
		var keys []string
		for _, id := range ids {
			chunks, _ := d[id].keys(id)
			keys = append(keys, chunks...)
		}
		_, err = c.embeddings(ctx, r, keys)
	}
	bad := errors.Is(err, store.ErrCorrupt) || errors.Is(err, errMoved)
	switch {
	case err == nil:
		for _, doc := range docs {
			out.Whole[doc.document.ID] = doc.document.Revision
		}
	case bad && len(ids) == 1:
		out.Damaged[ids[0]] = err.Error()
	case bad:
		for _, id := range ids {
			if err := c.inspectPage(ctx, r, d, []sextant.DocumentID{id}, out); err != nil {
				return err
			}
		}
	default:
		return err
	}
	return nil
}

func broken(chunks, markers []string, damaged map[sextant.DocumentID]string) graveyard {
	of := func(ids []string) []string {
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
			k, ok := parseKey(id)
			_, bad := damaged[k.document]
			return !ok || !bad
		})
	}
	return graveyard{of(chunks), of(markers)}
}

// Repair implements store.Inspector. The collection gets a new generation: what was
// derived from it before is of other content.
func (c *collection) Repair(ctx context.Context) (store.Inspection, error) {
	found, err := c.repair(ctx)
	if err != nil {
		return found, fmt.Errorf("repair: %w", err)
	}
	return found, nil
}

func (c *collection) repair(ctx context.Context) (store.Inspection, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	err := c.check(ctx)
	if err == nil {
		err = c.store.writable()
	}
	if err == nil {
		_, _, err = c.lease.acquire(ctx)
	}
	var r *row
	if err == nil {
		r, err = c.store.row(ctx, c.name)
	}
	if err != nil {
		return store.Inspection{}, underneath(err)
	}
	defer c.end()
	ctx = atLeisure(ctx)
	found, bad, err := c.inspect(ctx, r)
	if err != nil || len(found.Damaged) == 0 && found.Lost == 0 {
		return found, err
	}
	next := *r
	if next.Records != "" {
		_, err := c.store.client.get(ctx, next.Records, selection{Limit: 1})
		if errors.Is(err, errMissing) {
			next.Records, next.Dimension, err = "", 0, nil
		}
		if err != nil {
			return found, err
		}
	}
	if err := c.removeAll(ctx, &next, bad); err != nil {
		return found, err
	}
	l, err := c.listAll(ctx, &next)
	if err != nil {
		return found, err
	}
	next.Held = l.sums
	next.Generation++
	if err := c.store.putRow(ctx, &next); err != nil {
		return found, err
	}
	c.loading.Lock()
	defer c.loading.Unlock()
	c.adopt(&next, nil)
	c.unclean = true
	return found, nil
}
