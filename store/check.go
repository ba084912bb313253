package store

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/sextant-rag/sextant"
)

// Limits of one record, in every store.
const (
	maxText   = 256 << 20 // bytes; SQLite's own limit of a row is 1e9
	maxChunk  = 16 << 20  // bytes
	maxChunks = 1 << 20
)

// CheckRecord reports why a record cannot be stored, in any store. Metadata that do not
// fit are filter.ErrSchema, everything else is ErrRecord.
func CheckRecord(rec Record, spec *sextant.Collection) error {
	d := &rec.Document
	bad := func(format string, args ...any) error {
		return fmt.Errorf("document %q: %s: %w", d.ID, fmt.Sprintf(format, args...), ErrRecord)
	}
	switch {
	case d.ID == "":
		return bad("it has no id")
	case d.Collection != spec.Name:
		return bad("it says it belongs to %q, not to %q", d.Collection, spec.Name)
	case !validText(string(d.ID), d.Revision, d.Title, d.Text, d.Source.Name, d.Source.Kind, d.Source.URI):
		return bad("its id, revision, title, text or source is no UTF-8")
	case len(d.Text) > maxText:
		return bad("its text has %d bytes, at most %d are stored", len(d.Text), maxText)
	case len(rec.Chunks) >= maxChunks:
		return bad("it has %d chunks, at most %d are stored", len(rec.Chunks), maxChunks-1)
	}
	for _, p := range d.Parts {
		if !validText(p.Kind, p.Locator) {
			return bad("a part of it is named in no UTF-8")
		}
		if p.Start < 0 || p.Start > p.End || p.End > len(d.Text) {
			return bad("part %q is bytes %d to %d of a text of %d", p.Locator, p.Start, p.End, len(d.Text))
		}
	}
	if err := spec.Schema.Check(d.Meta); err != nil {
		return fmt.Errorf("document %q: %w", d.ID, err)
	}
	for i, c := range rec.Chunks {
		switch {
		case c.Index != i || c.DocumentID != d.ID || c.ID != sextant.ChunkID(d.ID, i):
			return bad("chunk %d says it is %q of %q", i, c.ID, c.DocumentID)
		case c.Start < 0 || c.Start > c.End || c.End > len(d.Text) || c.Content != d.Text[c.Start:c.End]:
			return bad("chunk %d is not bytes %d to %d of the text", i, c.Start, c.End)
		case !validText(c.Heading):
			return bad("the heading of chunk %d is no UTF-8", i)
		case len(c.Content)+len(c.Heading) > maxChunk:
			return bad("chunk %d has %d bytes, at most %d are stored", i, len(c.Content)+len(c.Heading), maxChunk)
		}
	}
	return checkVectors(rec, spec, bad)
}

// validText reports whether all are UTF-8: no answer in JSON could show anything else.
func validText(texts ...string) bool {
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return false
		}
	}
	return true
}

func checkVectors(rec Record, spec *sextant.Collection, bad func(string, ...any) error) error {
	if spec.Encoder == "" {
		if len(rec.Vectors) > 0 {
			return bad("it has vectors, the collection has no encoder")
		}
		return nil
	}
	if len(rec.Vectors) != len(rec.Chunks) {
		return bad("it has %d chunks and %d vectors", len(rec.Chunks), len(rec.Vectors))
	}
	for i, v := range rec.Vectors {
		if err := CheckUnit(v); err != nil {
			return bad("vector %d: %v", i, err)
		}
	}
	return nil
}

// CheckUnit reports why v is not of unit length, to within what float32 arithmetic on
// some thousand dimensions loses.
func CheckUnit(v []float32) error {
	if len(v) == 0 {
		return fmt.Errorf("it is empty")
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.Abs(sum-1) > 1e-3 {
		return fmt.Errorf("its length is %g, not 1", math.Sqrt(sum))
	}
	return nil
}
