package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Migration is what Migrate did, and what was found when both sides were compared.
type Migration struct {
	Collections []MigratedCollection `json:"collections"`
	Receipts    int64                `json:"receipts"`
	Marks       int64                `json:"marks"`
	Took        time.Duration        `json:"-"`
}

// MigratedCollection is the account of one collection. From and To are hashes over all
// of its records; equal ones mean equal documents, chunks, metadata and vectors.
type MigratedCollection struct {
	Name      string               `json:"name"`
	Documents int64                `json:"documents"`
	Chunks    int64                `json:"chunks"`
	Copied    int64                `json:"copied"` // documents by this run; the others were there
	From      string               `json:"from"`
	To        string               `json:"to"`
	Others    []sextant.DocumentID `json:"others,omitempty"` // documents the other store holds besides
}

// Same reports whether both sides hold the same.
func (c MigratedCollection) Same() bool { return c.From == c.To && len(c.Others) == 0 }

// Move says what Migrate carries where.
type Move struct {
	From, To    store.Store
	Collections []string // nil is all
	Prune       bool     // take away what the other store holds besides
	Progress    func(collection string, done, of int64)
	Batch       int // documents at a time; 0 is 256
}

// ErrDiffers is that after a migration both stores do not hold the same.
var ErrDiffers = errors.New("the stores do not hold the same")

// Migrate carries collections with their vectors, all receipts and all marks from one
// store into another, and compares them afterwards. Nothing is encoded. Documents that
// the other store holds already, byte for byte, are not written again, so that a run
// that was interrupted is gone on with by starting it again. What changes in the source
// meanwhile is found by the comparison, which ends in ErrDiffers.
func Migrate(ctx context.Context, m Move) (Migration, error) {
	began := time.Now()
	var out Migration
	if m.Batch <= 0 {
		m.Batch = 256
	}
	specs, err := m.specs(ctx)
	if err != nil {
		return out, fmt.Errorf("migrate: %w", err)
	}
	for _, spec := range specs {
		c, err := m.collection(ctx, spec)
		if err != nil {
			return out, fmt.Errorf("migrate %s: %w", spec.Name, err)
		}
		out.Collections = append(out.Collections, c)
	}
	if out.Receipts, out.Marks, err = m.journal(ctx); err != nil {
		return out, fmt.Errorf("migrate: %w", err)
	}
	out.Took = time.Since(began)
	for _, c := range out.Collections {
		if !c.Same() {
			err = errors.Join(err, fmt.Errorf("migrate %s: %w", c.Name, ErrDiffers))
		}
	}
	return out, err
}

func (m Move) specs(ctx context.Context) ([]sextant.Collection, error) {
	specs, err := m.From.Collections(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range m.Collections {
		if !slices.ContainsFunc(specs, func(c sextant.Collection) bool { return c.Name == name }) {
			return nil, fmt.Errorf("collection %q: %w", name, store.ErrNotFound)
		}
	}
	if m.Collections != nil {
		specs = slices.DeleteFunc(specs, func(c sextant.Collection) bool { return !slices.Contains(m.Collections, c.Name) })
	}
	return specs, nil
}

// collection carries one collection and compares.
func (m Move) collection(ctx context.Context, spec sextant.Collection) (MigratedCollection, error) {
	out := MigratedCollection{Name: spec.Name}
	from, err := m.From.Open(ctx, spec.Name)
	if err != nil {
		return out, err
	}
	to, err := m.To.Ensure(ctx, spec)
	if err != nil {
		return out, err
	}
	size, err := from.Size(ctx)
	if err != nil {
		return out, err
	}
	done := int64(0)
	err = eachPage(ctx, from, m.Batch, func(ids []sextant.DocumentID) error {
		n, err := m.copy(ctx, from, to, ids)
		out.Copied += n
		if done += int64(len(ids)); err == nil && m.Progress != nil {
			m.Progress(spec.Name, done, size.Documents)
		}
		return err
	})
	if err != nil {
		return out, err
	}
	if out.Others, err = others(ctx, from, to); err != nil {
		return out, err
	}
	if m.Prune && len(out.Others) > 0 {
		if _, err := to.Delete(ctx, out.Others); err != nil {
			return out, err
		}
		out.Others = nil
	}
	return out, out.compare(ctx, from, to)
}

// copy writes those of some documents that the other store does not hold as they are.
func (m Move) copy(ctx context.Context, from, to store.Collection, ids []sextant.DocumentID) (int64, error) {
	records, err := store.Records(ctx, from, ids)
	if err != nil {
		return 0, err
	}
	there, err := to.Revisions(ctx, ids)
	if err != nil {
		return 0, err
	}
	var known []sextant.DocumentID
	for _, rec := range records {
		if there[rec.Document.ID] == rec.Document.Revision && rec.Document.Revision != "" {
			known = append(known, rec.Document.ID)
		}
	}
	held := map[sextant.DocumentID][]byte{}
	if len(known) > 0 {
		theirs, err := store.Records(ctx, to, known)
		if err != nil {
			return 0, err
		}
		for _, rec := range theirs {
			if held[rec.Document.ID], err = store.EncodeRecord(rec); err != nil {
				return 0, err
			}
		}
	}
	var missing []store.Record
	for _, rec := range records {
		b, err := store.EncodeRecord(rec)
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(b, held[rec.Document.ID]) {
			missing = append(missing, rec)
		}
	}
	if len(missing) == 0 {
		return 0, nil
	}
	return int64(len(missing)), to.Upsert(ctx, missing)
}

// eachPage calls f with the ids of all documents, in their order.
func eachPage(ctx context.Context, c store.Collection, n int, f func(ids []sextant.DocumentID) error) error {
	for q := (store.ListQuery{Filter: filter.All, Limit: n}); ; {
		page, err := c.List(ctx, q)
		if err != nil {
			return err
		}
		if len(page.IDs) > 0 {
			if err := f(page.IDs); err != nil {
				return err
			}
		}
		if q.After = page.Next; q.After == "" {
			return nil
		}
	}
}

// others returns the documents that only the second collection holds.
func others(ctx context.Context, from, to store.Collection) ([]sextant.DocumentID, error) {
	var out []sextant.DocumentID
	err := eachPage(ctx, to, 4096, func(ids []sextant.DocumentID) error {
		known, err := from.Revisions(ctx, ids)
		for _, id := range ids {
			if _, ok := known[id]; !ok {
				out = append(out, id)
			}
		}
		return err
	})
	return out, err
}

// compare hashes both sides.
func (c *MigratedCollection) compare(ctx context.Context, from, to store.Collection) error {
	var err error
	if c.From, c.Documents, c.Chunks, err = Fingerprint(ctx, from); err != nil {
		return err
	}
	c.To, _, _, err = Fingerprint(ctx, to)
	return err
}

// Fingerprint returns the SHA-256, in hexadecimal, of a collection's specification and
// of all its records in the order of their ids, each as store.EncodeRecord writes it; and
// how many documents and chunks those are.
func Fingerprint(ctx context.Context, c store.Collection) (sum string, documents, chunks int64, err error) {
	h := sha256.New()
	spec, err := json.Marshal(c.Spec())
	if err != nil {
		return "", 0, 0, err
	}
	h.Write(append(spec, '\n'))
	err = eachRecord(ctx, c, func(rec store.Record, encoded []byte) error {
		h.Write(append(encoded, '\n'))
		documents, chunks = documents+1, chunks+int64(len(rec.Chunks))
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), documents, chunks, err
}

// journal carries receipts and marks.
func (m Move) journal(ctx context.Context) (receipts, marks int64, err error) {
	from, to := m.From.Journal(), m.To.Journal()
	list, err := from.Receipts(ctx, "", 0)
	if err != nil {
		return 0, 0, err
	}
	there, err := to.Receipts(ctx, "", 0)
	if err != nil {
		return 0, 0, err
	}
	known := map[string][]byte{}
	for _, r := range there {
		if known[r.Run], err = json.Marshal(r); err != nil {
			return 0, 0, err
		}
	}
	for _, r := range list {
		if m.Collections != nil && !slices.Contains(m.Collections, r.Collection) {
			continue
		}
		b, err := json.Marshal(r)
		if err != nil {
			return 0, 0, err
		}
		if receipts++; !bytes.Equal(b, known[r.Run]) {
			if err := to.PutReceipt(ctx, r); err != nil {
				return 0, 0, err
			}
		}
	}
	reader, ok := from.(store.MarkReader)
	if !ok {
		return receipts, 0, fmt.Errorf("reading marks: %w", store.ErrUnsupported)
	}
	err = eachMark(ctx, reader, func(k store.Mark) error {
		if !m.carries(k.Key) {
			return nil
		}
		marks++
		if now, err := to.Mark(ctx, k.Key); err != nil || now == k.Value {
			return err
		}
		return to.PutMark(ctx, k.Key, k.Value)
	})
	return receipts, marks, err
}

// carries reports whether a mark belongs to what is carried.
func (m Move) carries(key string) bool {
	return m.Collections == nil || slices.ContainsFunc(m.Collections, func(name string) bool { return strings.HasPrefix(key, "ingest/"+name+"/") })
}

func eachMark(ctx context.Context, r store.MarkReader, f func(store.Mark) error) error {
	for after := ""; ; {
		marks, err := r.Marks(ctx, after, 500)
		if err != nil || len(marks) == 0 {
			return err
		}
		for _, k := range marks {
			if err := f(k); err != nil {
				return err
			}
		}
		after = marks[len(marks)-1].Key
	}
}
