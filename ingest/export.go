package ingest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// line is one line of an export. Exactly one of its members is set.
type line struct {
	Collection *sextant.Collection `json:"collection,omitempty"` // the records of it follow
	Record     json.RawMessage     `json:"record,omitempty"`     // see store.EncodeRecord
	Receipt    *sextant.Receipt    `json:"receipt,omitempty"`
	Mark       *store.Mark         `json:"mark,omitempty"`
}

// Export writes all that a store holds as JSON lines: collections by name, each followed
// by its records by id, then receipts, the oldest first, then marks by key. Stores that
// hold the same give the same bytes.
func Export(ctx context.Context, st store.Store, w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<20)
	e := json.NewEncoder(out)
	specs, err := st.Collections(ctx)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	for _, spec := range specs {
		if err := exportCollection(ctx, st, spec, e); err != nil {
			return fmt.Errorf("export %s: %w", spec.Name, err)
		}
	}
	if err := exportJournal(ctx, st.Journal(), e); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

func exportCollection(ctx context.Context, st store.Store, spec sextant.Collection, e *json.Encoder) error {
	c, err := st.Open(ctx, spec.Name)
	if err != nil {
		return err
	}
	if err := e.Encode(line{Collection: &spec}); err != nil {
		return err
	}
	return eachRecord(ctx, c, func(_ store.Record, encoded []byte) error { return e.Encode(line{Record: encoded}) })
}

// eachRecord reads all records of a collection in the order of their ids, each with its
// encoded form.
func eachRecord(ctx context.Context, c store.Collection, f func(rec store.Record, encoded []byte) error) error {
	return eachPage(ctx, c, 512, func(ids []sextant.DocumentID) error {
		records, err := store.Records(ctx, c, ids)
		if err != nil {
			return err
		}
		for _, rec := range records {
			b, err := store.EncodeRecord(rec)
			if err != nil {
				return err
			}
			if err := f(rec, b); err != nil {
				return err
			}
		}
		return nil
	})
}

func exportJournal(ctx context.Context, j store.Journal, e *json.Encoder) error {
	receipts, err := j.Receipts(ctx, "", 0)
	if err != nil {
		return err
	}
	slices.SortFunc(receipts, func(a, b sextant.Receipt) int { return strings.Compare(a.Run, b.Run) })
	for i := range receipts {
		if err := e.Encode(line{Receipt: &receipts[i]}); err != nil {
			return err
		}
	}
	reader, ok := j.(store.MarkReader)
	if !ok {
		return fmt.Errorf("reading marks: %w", store.ErrUnsupported)
	}
	return eachMark(ctx, reader, func(m store.Mark) error {
		return e.Encode(line{Mark: &m})
	})
}
