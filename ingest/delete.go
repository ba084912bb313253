package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Deletion says what is to be deleted of a collection: exactly one of Documents, Source
// and Run.
type Deletion struct {
	Store      store.Store
	Collection string
	Documents  []sextant.DocumentID
	Source     string // everything whose id begins with it
	Run        string // what this run added and no later one has touched
	DryRun     bool
	Now        func() time.Time // nil is time.Now
}

// Deleted is what became of a Deletion.
type Deleted struct {
	Receipt   sextant.Receipt      `json:"receipt"`
	Documents []sextant.DocumentID `json:"documents"` // in order
	Kept      int64                `json:"kept"`      // touched by the run, but there before it or changed since
	Missing   []sextant.DocumentID `json:"missing"`   // asked for and not there
	DryRun    bool                 `json:"dry_run"`
}

// ErrNoRun says that there is no receipt of a run.
var ErrNoRun = errors.New("there is no such run")

// Delete deletes documents and leaves a receipt of it. What was deleted comes back when
// what it was made of is taken in again.
//
// The journal learns of it first: a deletion that is cut short shows as documents that
// should not be there, and can be started again.
func Delete(ctx context.Context, d Deletion) (Deleted, error) {
	out := Deleted{DryRun: d.DryRun}
	if d.Now == nil {
		d.Now = time.Now
	}
	leave, err := enter(Job{Store: d.Store, Collection: sextant.Collection{Name: d.Collection}})
	if err != nil {
		return out, err
	}
	defer leave()
	c, err := d.Store.Open(ctx, d.Collection)
	if err != nil {
		return out, fmt.Errorf("delete from %s: %w", d.Collection, err)
	}
	if err := d.find(ctx, c, &out); err != nil {
		return out, fmt.Errorf("delete from %s: %w", d.Collection, err)
	}
	started := d.Now().UTC()
	out.Receipt = sextant.Receipt{Run: runID(started), Action: sextant.ActionDelete, Source: d.sourceName(), Collection: d.Collection, Started: started, Records: map[sextant.Outcome]int64{}}
	if d.DryRun || len(out.Documents) == 0 {
		return out, nil
	}
	if err := d.note(ctx, out.Documents); err != nil {
		return out, fmt.Errorf("delete from %s: %w", d.Collection, err)
	}
	n, err := deleteAll(ctx, c, out.Documents)
	out.Receipt.Read, out.Receipt.Records[sextant.Deleted], out.Receipt.Documents.Deleted = int64(n), int64(n), int64(n)
	if err != nil {
		return out, fmt.Errorf("delete from %s: %w", d.Collection, err)
	}
	out.Receipt.Finished = d.Now().UTC()
	if err := d.Store.Journal().PutReceipt(ctx, out.Receipt); err != nil {
		return out, fmt.Errorf("delete from %s: %w", d.Collection, err)
	}
	return out, nil
}

func (d *Deletion) sourceName() string {
	if d.Source != "" {
		return d.Source
	}
	if len(d.Documents) > 0 {
		name, _, _ := strings.Cut(string(d.Documents[0]), ":")
		return name
	}
	return ""
}

// deletedTogether is how many documents go in one step.
const deletedTogether = 1000

func deleteAll(ctx context.Context, c store.Collection, ids []sextant.DocumentID) (int, error) {
	total := 0
	for some := range slices.Chunk(ids, deletedTogether) {
		n, err := c.Delete(ctx, some)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// find decides which documents are meant.
func (d *Deletion) find(ctx context.Context, c store.Collection, out *Deleted) error {
	switch {
	case d.Run != "":
		return d.ofRun(ctx, c, out)
	case d.Source != "":
		return d.each(ctx, c, func(id sextant.DocumentID) {
			if strings.HasPrefix(string(id), d.Source+":") {
				out.Documents = append(out.Documents, id)
			}
		})
	}
	return d.present(ctx, c, d.Documents, out)
}

// present keeps those of the ids that exist.
func (d *Deletion) present(ctx context.Context, c store.Collection, ids []sextant.DocumentID, out *Deleted) error {
	for some := range slices.Chunk(slices.Sorted(slices.Values(ids)), 4096) {
		now, err := c.Revisions(ctx, some)
		if err != nil {
			return err
		}
		for _, id := range some {
			if _, ok := now[id]; ok {
				out.Documents = append(out.Documents, id)
			} else {
				out.Missing = append(out.Missing, id)
			}
		}
	}
	return nil
}

func (d *Deletion) each(ctx context.Context, c store.Collection, do func(sextant.DocumentID)) error {
	for q := (store.ListQuery{Filter: filter.All, Limit: 4096}); ; {
		page, err := c.List(ctx, q)
		if err != nil {
			return err
		}
		for _, id := range page.IDs {
			do(id)
		}
		if q.After = page.Next; q.After == "" {
			return nil
		}
	}
}

// ofRun finds the documents that a run added and that no later run wrote to.
func (d *Deletion) ofRun(ctx context.Context, c store.Collection, out *Deleted) error {
	receipts, err := d.Store.Journal().Receipts(ctx, d.Collection, 0)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(receipts, func(r sextant.Receipt) bool { return r.Run == d.Run })
	if at < 0 {
		return fmt.Errorf("%w: %s", ErrNoRun, d.Run)
	}
	d.Source = receipts[at].Source
	added, touched := map[sextant.DocumentID]bool{}, map[sextant.DocumentID]bool{}
	for i := at; i >= 0; i-- { // newest first
		for item, err := range Items(ctx, d.Store, receipts[i]) {
			switch {
			case err != nil:
				return err
			case item.Outcome != sextant.Stored && item.Outcome != sextant.Merged:
			case i == at && item.Added:
				added[item.ID] = true
			default:
				touched[item.ID] = true
			}
		}
	}
	kept := int64(0)
	for id := range touched {
		delete(added, id)
	}
	var missing Deleted
	if err := d.present(ctx, c, slices.Collect(maps.Keys(added)), &missing); err != nil {
		return err
	}
	for item, err := range Items(ctx, d.Store, receipts[at]) {
		if err != nil {
			return err
		}
		if touched[item.ID] && (item.Outcome == sextant.Stored || item.Outcome == sextant.Merged) {
			kept++
			delete(touched, item.ID)
		}
	}
	out.Documents, out.Kept = missing.Documents, kept
	return nil
}

// note lets the ledgers of all sources know that documents are meant to be gone.
func (d *Deletion) note(ctx context.Context, ids []sextant.DocumentID) error {
	receipts, err := d.Store.Journal().Receipts(ctx, d.Collection, 0)
	if err != nil {
		return err
	}
	var seen []string
	for _, r := range receipts {
		if slices.Contains(seen, r.Source) {
			continue
		}
		seen = append(seen, r.Source)
		j := journal{Journal: d.Store.Journal(), prefix: prefixOf(d.Collection, r.Source), anyVersion: true}
		l, err := j.load(ctx)
		if err != nil {
			return err
		}
		if l == nil {
			continue
		}
		for _, id := range ids {
			if _, known := l.accounts.revision(id); known {
				l.deleted[id] = true
			}
		}
		j.version = l.version
		if err := j.save(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// Drop removes a collection with everything that is remembered of how it was filled,
// but the receipts, to which one of the removal is added.
func Drop(ctx context.Context, st store.Store, collection string) (sextant.Receipt, error) {
	started := time.Now().UTC()
	r := sextant.Receipt{Run: runID(started), Action: sextant.ActionDelete, Collection: collection, Started: started, Records: map[sextant.Outcome]int64{}}
	leave, err := enter(Job{Store: st, Collection: sextant.Collection{Name: collection}})
	if err != nil {
		return r, err
	}
	defer leave()
	c, err := st.Open(ctx, collection)
	if err != nil {
		return r, fmt.Errorf("drop %s: %w", collection, err)
	}
	size, err := c.Size(ctx)
	if err != nil {
		return r, fmt.Errorf("drop %s: %w", collection, err)
	}
	receipts, err := st.Journal().Receipts(ctx, collection, 0)
	if err != nil {
		return r, fmt.Errorf("drop %s: %w", collection, err)
	}
	for _, old := range receipts { // before the documents go: what is missing would be read again
		j := journal{Journal: st.Journal(), prefix: prefixOf(collection, old.Source)}
		if err := errors.Join(j.PutMark(ctx, j.prefix+"settled", ""), j.dropItems(ctx, old.Run)); err != nil {
			return r, fmt.Errorf("drop %s: %w", collection, err)
		}
		for _, f := range old.Files {
			if err := j.dropMark(ctx, f.SHA256); err != nil {
				return r, fmt.Errorf("drop %s: %w", collection, err)
			}
		}
	}
	if err := st.Drop(ctx, collection); err != nil {
		return r, fmt.Errorf("drop %s: %w", collection, err)
	}
	if err := st.Journal().PutMark(ctx, openingsKey(collection), ""); err != nil {
		return r, fmt.Errorf("drop %s: %w", collection, err)
	}
	r.Read, r.Records[sextant.Deleted], r.Documents.Deleted = size.Documents, size.Documents, size.Documents
	r.Finished = time.Now().UTC()
	return r, st.Journal().PutReceipt(ctx, r)
}
