package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// Records are the accounts of what was taken in and deleted, and the way to delete. They are
// the same for a command in its own process and for a server that is asked to.
type Records struct {
	Store store.Store
	// MayDrop reports why a whole collection cannot go; nil lets every one go.
	MayDrop func(collection string) error
	// Dropped removes what is kept for a collection beside the store; may be nil.
	Dropped func(collection string) error
}

// Runs returns receipts, newest first, of one collection or of all (""); limit 0 is all.
func (r *Records) Runs(ctx context.Context, collection string, limit int) ([]sextant.Receipt, error) {
	return r.Store.Journal().Receipts(ctx, collection, limit)
}

// Run returns the one run whose id begins with what is given.
func (r *Records) Run(ctx context.Context, id string) (sextant.Receipt, error) {
	receipts, err := r.Runs(ctx, "", 0)
	if err != nil {
		return sextant.Receipt{}, err
	}
	var found []sextant.Receipt
	for _, receipt := range receipts {
		if strings.HasPrefix(receipt.Run, id) {
			found = append(found, receipt)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return sextant.Receipt{}, &sextant.Error{Code: sextant.CodeNotFound, Op: "runs", Message: fmt.Sprintf("There is no run %s.", sextant.CleanText(id)), Hint: "`sextant runs`, or GET /v1/runs, lists them."}
	}
	return sextant.Receipt{}, &sextant.Error{Code: sextant.CodeBadRequest, Op: "runs", Message: fmt.Sprintf("%d runs begin with %s; give more of the id.", len(found), sextant.CleanText(id))}
}

// Items yields what became of every record of a run; see Items.
func (r *Records) Items(ctx context.Context, receipt sextant.Receipt) iter.Seq2[ItemReceipt, error] {
	return Items(ctx, r.Store, receipt)
}

// Unwanted says what is to be deleted: exactly one of Documents, Source, Run and Whole.
type Unwanted struct {
	Documents  []sextant.DocumentID
	Source     string
	Run        string // or its beginning
	Whole      string // a collection
	Collection string // where to look for documents and sources; "" is everywhere
	DryRun     bool   // say what would go, and delete nothing
}

// Deletions is what became of them, of each collection that had some; where only one could
// have, it is there in any case.
type Deletions struct {
	Deletions []Deleted `json:"deletions"`
}

// Documents is how many documents were deleted, or would be.
func (d *Deletions) Documents() (n int64) {
	for i := range d.Deletions {
		n += max(int64(len(d.Deletions[i].Documents)), d.Deletions[i].Receipt.Documents.Deleted)
	}
	return n
}

// Delete deletes what is unwanted.
func (r *Records) Delete(ctx context.Context, u Unwanted) (out Deletions, err error) {
	out.Deletions = []Deleted{}
	defer func() {
		for i := range out.Deletions { // lists on the wire, also where there is nothing
			d := &out.Deletions[i]
			d.Documents, d.Missing = append([]sextant.DocumentID{}, d.Documents...), append([]sextant.DocumentID{}, d.Missing...)
		}
	}()
	if u.Whole != "" {
		done, err := r.drop(ctx, u)
		if err == nil {
			out.Deletions = append(out.Deletions, done)
		}
		return out, err
	}
	list, err := r.deletions(ctx, u)
	if err != nil {
		return out, err
	}
	for _, d := range list {
		done, err := Delete(ctx, d)
		if err != nil {
			return out, err
		}
		if len(done.Documents) > 0 || len(list) == 1 {
			out.Deletions = append(out.Deletions, done)
		}
	}
	return out, nil
}

// deletions are those of each collection that could have what is unwanted.
func (r *Records) deletions(ctx context.Context, u Unwanted) ([]Deletion, error) {
	if u.Run != "" {
		receipt, err := r.Run(ctx, u.Run)
		return []Deletion{{Store: r.Store, Collection: receipt.Collection, Run: receipt.Run, DryRun: u.DryRun}}, err
	}
	specs, err := r.Store.Collections(ctx)
	if err != nil {
		return nil, err
	}
	var out []Deletion
	for _, spec := range specs {
		if u.Collection == "" || u.Collection == spec.Name {
			out = append(out, Deletion{Store: r.Store, Collection: spec.Name, Documents: u.Documents, Source: u.Source, DryRun: u.DryRun})
		}
	}
	if len(out) == 0 {
		return nil, noCollection(u.Collection)
	}
	return out, nil
}

func noCollection(name string) error {
	return &sextant.Error{Code: sextant.CodeNotFound, Op: "delete", Message: fmt.Sprintf("There is no collection %q.", sextant.CleanText(name)), Hint: "`sextant collections` lists them."}
}

// drop removes a whole collection.
func (r *Records) drop(ctx context.Context, u Unwanted) (Deleted, error) {
	out := Deleted{DryRun: u.DryRun}
	if r.MayDrop != nil {
		if err := r.MayDrop(u.Whole); err != nil {
			return out, err
		}
	}
	c, err := r.Store.Open(ctx, u.Whole)
	if errors.Is(err, store.ErrNotFound) {
		return out, noCollection(u.Whole)
	}
	if err != nil {
		return out, err
	}
	if !u.DryRun {
		if out.Receipt, err = Drop(ctx, r.Store, u.Whole); err == nil && r.Dropped != nil {
			err = r.Dropped(u.Whole)
		}
		return out, err
	}
	size, err := c.Size(ctx)
	out.Receipt.Collection, out.Receipt.Documents.Deleted = u.Whole, size.Documents
	return out, err
}
