package qdrant

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// derived is what was found out about a collection at one sequence. It is given up as a
// whole when that changes.
type derived struct {
	sequence uint64

	mu         sync.Mutex
	vocabulary map[string][]string // by key: the values that are compared
	mentioned  map[string][]sextant.DocumentID
	stems      map[string]int                // chunks that have a word of the stem
	lengths    map[string]lengths            // one, under ""
	prefixes   map[string][]string           // words by the prefix that was asked for
	lists      map[[sha256.Size]byte][]place // in order, by listKey
}

// maxDerived bounds what is kept of one kind; then it is forgotten and begun again.
const maxDerived = 4096

// known returns what is derived from the collection as it is now.
func (c *collection) known(ctx context.Context) (*derived, error) {
	if err := c.refresh(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.derived == nil || c.derived.sequence != c.sequence {
		c.derived = &derived{sequence: c.sequence, vocabulary: map[string][]string{}, mentioned: map[string][]sextant.DocumentID{}, stems: map[string]int{}, lengths: map[string]lengths{}, prefixes: map[string][]string{}, lists: map[[sha256.Size]byte][]place{}}
	}
	return c.derived, nil
}

// once returns what is in a map of a derived, or makes it. Two that need it at once may
// both make it: holding the lock meanwhile would have one slow question stop all.
func once[V any](d *derived, m map[string]V, key string, find func() (V, error)) (V, error) {
	d.mu.Lock()
	v, ok := m[key]
	d.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := find()
	if err != nil {
		return v, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(m) >= maxDerived {
		clear(m)
	}
	m[key] = v
	return v, nil
}

// vocabulary returns the values of a keyword field as they are compared.
func (c *collection) vocabulary(ctx context.Context, field filter.Field) ([]string, error) {
	d, err := c.known(ctx)
	if err != nil {
		return nil, err
	}
	key := foldedKey(field, "")
	return once(d, d.vocabulary, key, func() ([]string, error) { return c.values(ctx, key, heads()) })
}

// values lists the distinct strings under a key.
func (c *collection) values(ctx context.Context, key string, where *clause) ([]string, error) {
	hits, err := c.facet(ctx, key, where)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(hits))
	for i, h := range hits {
		if err := json.Unmarshal(h.Value, &out[i]); err != nil {
			return nil, fmt.Errorf("value of %s: %w: %w", key, store.ErrUnavailable, err)
		}
	}
	return out, nil
}
