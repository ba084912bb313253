package qdrant_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// What is carried from the embedded store into Qdrant and back is what it was, byte for
// byte: documents, metadata, vectors, receipts and marks.
func TestMigrateThereAndBack(t *testing.T) {
	embedded := func() store.Store {
		s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	from, to, back := embedded(), opener(newFake(t).URL)(t, "migrated"), embedded()
	fill(t, from)
	for _, m := range []ingest.Move{{From: from, To: to, Batch: 7}, {From: to, To: back}} {
		out, err := ingest.Migrate(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if c := out.Collections[0]; !c.Same() || c.Copied != 40 || out.Receipts != 1 || out.Marks != 3 {
			t.Errorf("%+v", out)
		}
	}
	if want, got := exported(t, from), exported(t, back); want != got {
		t.Errorf("exports of %d and %d bytes differ", len(want), len(got))
	}
}

func exported(t *testing.T, s store.Store) string {
	t.Helper()
	var b bytes.Buffer
	if err := ingest.Export(t.Context(), s, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func fill(t *testing.T, s store.Store) {
	t.Helper()
	c, err := s.Ensure(t.Context(), sextant.Collection{Name: "notes", Title: "notes", Unit: "notes", Encoder: "test/4", Schema: filter.Schema{Groups: []filter.Group{{Name: "parts"}}, Fields: []filter.Field{
		{Name: "city", Kind: filter.Keyword, Facet: true}, {Name: "day", Kind: filter.Time}, {Name: "weight", Kind: filter.Float}, {Name: "name", Kind: filter.Keyword, Group: "parts"}}}})
	if err != nil {
		t.Fatal(err)
	}
	var records []store.Record
	for i := range 40 {
		m := filter.Meta{Fields: filter.Fields{}, Groups: map[string][]filter.Fields{}}
		m.Fields.Set("city", filter.OfString([]string{"Bern", "Zürich", "北京"}[i%3]))
		m.Fields.Set("day", filter.OfTime(time.Date(2012, 1, 1+i, 0, 0, 0, 1000*i, time.UTC)))
		m.Fields.Set("weight", filter.OfFloat(float64(i)/7))
		for k := range i % 3 {
			e := filter.Fields{}
			e.Set("name", filter.OfString(fmt.Sprintf("part %d", k)))
			m.Groups["parts"] = append(m.Groups["parts"], e)
		}
		text := fmt.Sprintf("Note %d tells of something.", i)
		d := sextant.Document{ID: sextant.DocumentID(fmt.Sprintf("n:%02d", i)), Collection: "notes", Title: fmt.Sprintf("Note %d", i), Text: text, Meta: m, Parts: []sextant.Part{{Kind: "paragraph", End: len(text)}}}
		if d.Revision, err = d.ComputeRevision(); err != nil {
			t.Fatal(err)
		}
		angle := float64(i)
		v := []float32{float32(math.Sin(angle)), float32(math.Cos(angle)), 0, 0}
		records = append(records, store.Record{Document: d, Chunks: []sextant.Chunk{{ID: sextant.ChunkID(d.ID, 0), DocumentID: d.ID, End: len(text), Content: text}}, Vectors: [][]float32{v}})
	}
	if err := c.Upsert(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	j := s.Journal()
	if err := j.PutReceipt(t.Context(), sextant.Receipt{Run: "r1", Collection: "notes", Source: "n", Started: time.Date(2012, 1, 1, 0, 0, 0, 0, time.UTC)}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"b", "a", "c"} {
		if err := j.PutMark(t.Context(), key, "value of "+key); err != nil {
			t.Fatal(err)
		}
	}
}
