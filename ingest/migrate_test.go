package ingest_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed/embedtest"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
)

func exportOf(t *testing.T, st store.Store) string {
	t.Helper()
	var b bytes.Buffer
	if err := ingest.Export(t.Context(), st, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What was carried into another store and back is what it was, byte for byte, journal
// and vectors included; and a run over unchanged files has nothing to do there.
func TestMigrateThereAndBack(t *testing.T) {
	lines := make([]string, 300)
	for i := range lines {
		lines[i] = fmt.Sprintf("%d text of number %d", i, i)
	}
	from := filled(t, t.TempDir(), embedtest.Fake{}, lines...)
	to, back := openStore(t, t.TempDir()), openStore(t, t.TempDir())
	for _, m := range []ingest.Move{{From: from, To: to, Batch: 70}, {From: to, To: back}} {
		out, err := ingest.Migrate(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if c := out.Collections[0]; !c.Same() || c.Copied != c.Documents || c.Documents == 0 || out.Receipts != 1 || out.Marks == 0 {
			t.Errorf("%+v", out)
		}
	}
	want := exportOf(t, from)
	if got := exportOf(t, back); got != want {
		t.Errorf("exports of %d and %d bytes differ", len(want), len(got))
	}
	job := ingest.Job{Store: back, Collection: notes(), Source: &words{files: []*wordFile{file("one", lines...)}}}
	if _, err := (ingest.Encoding{Embedder: embedtest.Fake{}}).Apply(t.Context(), &job); err != nil {
		t.Fatal(err)
	}
	receipt, err := ingest.Run(t.Context(), job)
	if err != nil || receipt.Documents.Added+receipt.Documents.Changed > 0 {
		t.Errorf("the next run wrote: %+v, %v", receipt.Documents, err)
	}
}

// A run that goes on writes only what is missing or differs; what only the other store
// holds is named, and goes on demand.
func TestMigrateGoesOn(t *testing.T) {
	from := filled(t, t.TempDir(), embedtest.Fake{}, "1 a", "2 b", "3 c")
	to := openStore(t, t.TempDir())
	if _, err := ingest.Migrate(t.Context(), ingest.Move{From: from, To: to}); err != nil {
		t.Fatal(err)
	}
	ids := func(st store.Store) []sextant.DocumentID {
		l, err := collection(t, st).List(t.Context(), store.ListQuery{})
		if err != nil {
			t.Fatal(err)
		}
		return l.IDs
	}(to)
	recs, err := store.Records(t.Context(), collection(t, to), ids[:1])
	if err != nil {
		t.Fatal(err)
	}
	recs[0].Document.Source.URI = "elsewhere" // the revision does not say so
	if err := collection(t, to).Upsert(t.Context(), recs); err != nil {
		t.Fatal(err)
	}
	if _, err := collection(t, to).Delete(t.Context(), ids[1:2]); err != nil {
		t.Fatal(err)
	}
	out, err := ingest.Migrate(t.Context(), ingest.Move{From: from, To: to})
	if err != nil || out.Collections[0].Copied != 2 || exportOf(t, from) != exportOf(t, to) {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := collection(t, from).Delete(t.Context(), ids[:1]); err != nil {
		t.Fatal(err)
	}
	out, err = ingest.Migrate(t.Context(), ingest.Move{From: from, To: to})
	if !errors.Is(err, ingest.ErrDiffers) || len(out.Collections[0].Others) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	out, err = ingest.Migrate(t.Context(), ingest.Move{From: from, To: to, Prune: true})
	if err != nil || !out.Collections[0].Same() {
		t.Errorf("%+v, %v", out, err)
	}
}
