package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Verification compares what a collection holds with what ingestion left in it. Lists
// of ids are in order.
type Verification struct {
	Collection string               `json:"collection"`
	Sources    []string             `json:"sources"`   // whose files were read to their end
	Documents  int64                `json:"documents"` // in the collection
	Intact     int64                `json:"intact"`    // as they were left
	Missing    []sextant.DocumentID `json:"missing"`   // were stored and are not there
	Changed    []sextant.DocumentID `json:"changed"`   // differ from how they were left
	Extra      []sextant.DocumentID `json:"extra"`     // no file that was read to its end accounts for them
	// Damaged says what is wrong with documents that are there and not whole; they are among
	// Missing too. Lost is how many are gone so far that the store has not even their names.
	Damaged map[sextant.DocumentID]string `json:"damaged,omitempty"`
	Lost    int64                         `json:"lost,omitempty"`
}

// Verify reconciles a collection with the journal. It reads ids and revisions only;
// that their contents are sound is the store's own check, which is made where it has one
// (store.Inspector). Missing and changed documents
// come back with the next run over the files they came from.
func Verify(ctx context.Context, st store.Store, collection string) (Verification, error) {
	v := Verification{Collection: collection}
	c, err := st.Open(ctx, collection)
	if err != nil {
		return v, fmt.Errorf("verify %s: %w", collection, err)
	}
	expected, err := v.expected(ctx, st.Journal())
	if err != nil {
		return v, fmt.Errorf("verify %s: %w", collection, err)
	}
	if i, ok := c.(store.Inspector); ok {
		found, err := i.Inspect(ctx)
		if err == nil {
			v.inspected(found, expected)
			return v, nil
		}
		if !errors.Is(err, store.ErrUnsupported) {
			return v, fmt.Errorf("verify %s: %w", collection, err)
		}
	}
	if err := v.compare(ctx, c, expected); err != nil {
		return v, fmt.Errorf("verify %s: %w", collection, err)
	}
	return v, nil
}

// expected collects the ledgers of all sources that have receipts.
func (v *Verification) expected(ctx context.Context, j store.Journal) (map[sextant.DocumentID]revision, error) {
	receipts, err := j.Receipts(ctx, v.Collection, 0)
	if err != nil {
		return nil, err
	}
	out := map[sextant.DocumentID]revision{}
	for _, r := range receipts {
		if slices.Contains(v.Sources, r.Source) {
			continue
		}
		l, err := journal{Journal: j, prefix: prefixOf(v.Collection, r.Source), anyVersion: true}.load(ctx)
		if err != nil {
			return nil, err
		}
		if l == nil {
			continue
		}
		v.Sources = append(v.Sources, r.Source)
		for id, rev := range l.accounts.left() {
			if !l.deleted[id] {
				out[id] = rev
			}
		}
	}
	slices.Sort(v.Sources)
	return out, nil
}

// compare walks through the collection's documents and strikes them off.
func (v *Verification) compare(ctx context.Context, c store.Collection, expected map[sextant.DocumentID]revision) error {
	for q := (store.ListQuery{Filter: filter.All, Limit: 4096}); ; {
		page, err := c.List(ctx, q)
		if err != nil {
			return err
		}
		now, err := c.Revisions(ctx, page.IDs)
		if err != nil {
			return err
		}
		for _, id := range page.IDs {
			v.strike(id, now[id], expected)
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	v.missing(expected)
	return nil
}

// strike enters a document that is there.
func (v *Verification) strike(id sextant.DocumentID, now string, expected map[sextant.DocumentID]revision) {
	v.Documents++
	switch rev, known := expected[id]; {
	case !known:
		v.Extra = append(v.Extra, id)
	case packRevision(now) != rev:
		v.Changed = append(v.Changed, id)
	default:
		v.Intact++
	}
	delete(expected, id)
}

func (v *Verification) missing(expected map[sextant.DocumentID]revision) {
	for id := range expected {
		v.Missing = append(v.Missing, id)
	}
	slices.Sort(v.Missing)
}

// inspected strikes off what a store found whole.
func (v *Verification) inspected(found store.Inspection, expected map[sextant.DocumentID]revision) {
	for _, id := range slices.Sorted(maps.Keys(found.Whole)) {
		v.strike(id, found.Whole[id], expected)
	}
	v.Damaged, v.Lost = found.Damaged, found.Lost
	v.missing(expected)
}
