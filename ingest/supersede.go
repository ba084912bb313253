package ingest

import (
	"context"
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/source"
)

// supersede looks for what an earlier state of the inputs said and their present state
// does not, where the source's inputs say all there is under their names. It is deleted
// with Prune, and said otherwise.
func (r *run) supersede(ctx context.Context) error {
	covering, ok := r.Source.(source.Covering)
	if !ok || len(r.failed) > 0 {
		return nil
	}
	gone := r.ledger.supersede(func(digest string, f *settledFile) bool {
		return !slices.Contains(r.digests, digest) && covering.Covers(f.Receipt.Name)
	})
	if len(gone) == 0 {
		return nil
	}
	if !r.Prune {
		r.receipt.Warnings = append(r.receipt.Warnings, fmt.Sprintf("%d documents are of records or files that are no longer there (%s is one); --prune deletes them.", len(gone), gone[0]))
		return nil
	}
	r.ledger.forget(gone)
	if err := r.journal.save(ctx, r.ledger); err != nil { // before they go, so that they are not missed
		return err
	}
	n, err := deleteAll(ctx, r.collection, gone)
	r.receipt.Documents.Deleted += int64(n)
	return err
}

// supersede marks settled files that a newer state has replaced. They keep only those
// documents that are in no other settled file; these are returned, in order.
func (l *ledger) supersede(replaced func(digest string, f *settledFile) bool) []sextant.DocumentID {
	var old []*settledFile
	current := map[sextant.DocumentID]bool{}
	for digest, f := range l.files {
		if f.Superseded || replaced(digest, f) {
			f.Superseded = true
			old = append(old, f)
			continue
		}
		for _, id := range f.documents {
			current[id] = true
		}
	}
	var gone []sextant.DocumentID
	for _, f := range old {
		f.documents = slices.DeleteFunc(f.documents, func(id sextant.DocumentID) bool { return current[id] || l.deleted[id] })
		gone = append(gone, f.documents...)
	}
	l.sweep()
	slices.Sort(gone)
	return slices.Compact(gone)
}

// sweep drops replaced files of which nothing is left.
func (l *ledger) sweep() {
	for digest, f := range l.files {
		if f.Superseded && len(f.documents) == 0 {
			delete(l.files, digest)
		}
	}
}

// forget takes documents out of the replaced files, as they are about to be deleted.
func (l *ledger) forget(ids []sextant.DocumentID) {
	drop := map[sextant.DocumentID]bool{}
	for _, id := range ids {
		drop[id] = true
	}
	for _, f := range l.files {
		if f.Superseded {
			f.documents = slices.DeleteFunc(f.documents, func(id sextant.DocumentID) bool { return drop[id] })
		}
	}
	l.sweep()
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range drop {
		l.accounts.forget(id)
	}
}
