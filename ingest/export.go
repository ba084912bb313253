package ingest

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// line is one line of an export. Exactly one of its members is set.
type line struct {
	Collection *sextant.Collection `json:"collection,omitempty"` // the records of it follow
	Record     *exported           `json:"record,omitempty"`
	Receipt    *sextant.Receipt    `json:"receipt,omitempty"`
	Mark       *store.Mark         `json:"mark,omitempty"`
}

// exported is a record as it is written, hashed and compared: the same bytes for the same
// content, whichever store it came from.
type exported struct {
	Document sextant.Document `json:"document"`
	Chunks   []exportedChunk  `json:"chunks,omitempty"`
}

// exportedChunk is a chunk without what its document says already. Vector is its
// components as little-endian float32, in base64.
type exportedChunk struct {
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Heading string `json:"heading,omitempty"`
	Vector  []byte `json:"vector,omitempty"`
}

func exportedOf(rec store.Record) exported {
	out := exported{Document: rec.Document}
	d := &out.Document
	d.Source.Retrieved, d.Valid.From, d.Valid.To = utc(d.Source.Retrieved), utc(d.Valid.From), utc(d.Valid.To)
	for i, ch := range rec.Chunks {
		x := exportedChunk{Start: ch.Start, End: ch.End, Heading: ch.Heading}
		if i < len(rec.Vectors) {
			for _, f := range rec.Vectors[i] {
				x.Vector = binary.LittleEndian.AppendUint32(x.Vector, math.Float32bits(f))
			}
		}
		out.Chunks = append(out.Chunks, x)
	}
	return out
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC()
}

// recordBytes is a record's line of an export without what is around it.
func recordBytes(rec store.Record) ([]byte, error) {
	return json.Marshal(exportedOf(rec))
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
	return eachPage(ctx, c, 512, func(ids []sextant.DocumentID) error {
		records, err := store.Records(ctx, c, ids)
		if err != nil {
			return err
		}
		for _, rec := range records {
			x := exportedOf(rec)
			if err := e.Encode(line{Record: &x}); err != nil {
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
