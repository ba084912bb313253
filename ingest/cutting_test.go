package ingest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
)

// long is a file of documents that do not fit one small chunk.
func long(n int) *wordFile {
	var lines []string
	for _, line := range manyLines(3*n, "a") {
		lines = append(lines, line, strings.Fields(line)[0]+" "+strings.Repeat("word ", 120)+".")
	}
	return file("long", lines...)
}

func chunksHeld(t *testing.T, st store.Store) (all []sextant.Chunk) {
	t.Helper()
	c, err := st.Open(t.Context(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	for doc, err := range c.Scan(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		chunks, err := c.Chunks(t.Context(), doc.ID)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, chunks...)
	}
	return all
}

func textsHeld(t *testing.T, st store.Store) (all []sextant.Document) {
	t.Helper()
	c, err := st.Open(t.Context(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	for doc, err := range c.Scan(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, doc)
	}
	return all
}

func cutAs(t *testing.T, st store.Store, asked, settings ingest.Cutting) (ingest.Job, error) {
	t.Helper()
	job := ingest.Job{Store: st, Collection: notes(), Source: &words{files: []*wordFile{long(20)}}}
	err := asked.Apply(t.Context(), &job, settings)
	if err == nil {
		_, err = ingest.Run(t.Context(), job)
	}
	return job, err
}

// A collection is cut as its first run says, and keeps to it.
func TestCuttingIsRecorded(t *testing.T) {
	none, some := 0, 10
	for name, c := range map[string]struct {
		asked, settings ingest.Cutting
		want            sextant.Chunking
	}{
		"nothing":  {ingest.Cutting{}, ingest.Cutting{}, chunk.Options{}.Chunking()},
		"asked":    {ingest.Cutting{Size: 64, Overlap: &some}, ingest.Cutting{Size: 100}, sextant.Chunking{Size: 64, Overlap: 10}},
		"settings": {ingest.Cutting{}, ingest.Cutting{Size: 100, Overlap: &none}, sextant.Chunking{Size: 100}},
		"both":     {ingest.Cutting{Size: 64}, ingest.Cutting{Overlap: &none}, sextant.Chunking{Size: 64}},
		"bounded":  {ingest.Cutting{Size: 60}, ingest.Cutting{}, sextant.Chunking{Size: 60, Overlap: 20}},
	} {
		t.Run(name, func(t *testing.T) {
			st := openStore(t, t.TempDir())
			if _, err := cutAs(t, st, c.asked, c.settings); err != nil {
				t.Fatal(err)
			}
			col, err := st.Open(t.Context(), "notes")
			if err != nil || col.Spec().Chunking != c.want {
				t.Fatalf("%+v, %v", col.Spec().Chunking, err)
			}
			for _, piece := range chunksHeld(t, st) {
				if n := chunk.Estimate(piece.Content); n > c.want.Size {
					t.Errorf("a chunk of %d tokens", n)
				}
			}
			if _, err := cutAs(t, st, ingest.Cutting{}, ingest.Cutting{Size: 500}); err != nil { // settings are of new collections
				t.Error(err)
			}
			if _, err := cutAs(t, st, ingest.Cutting{Size: 500}, ingest.Cutting{}); sextant.ErrorCode(err) != sextant.CodeConflict {
				t.Errorf("cut two ways: %v", err)
			}
		})
	}
}

func TestCuttingOutOfBounds(t *testing.T) {
	less, much := -1, 200
	for _, c := range []ingest.Cutting{{Size: 3}, {Size: 1 << 20}, {Size: -5}, {Overlap: &less}, {Size: 300, Overlap: &much}} {
		if _, err := cutAs(t, openStore(t, t.TempDir()), c, ingest.Cutting{}); sextant.ErrorCode(err) != sextant.CodeBadRequest {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Cutting anew gives what taking in with those sizes would have given, and nothing else
// changes; a second time there is nothing to do.
func TestRechunk(t *testing.T) {
	st, want := openStore(t, t.TempDir()), openStore(t, t.TempDir())
	if _, err := cutAs(t, st, ingest.Cutting{}, ingest.Cutting{}); err != nil {
		t.Fatal(err)
	}
	none := 0
	small := ingest.Cutting{Size: 40, Overlap: &none}
	if _, err := cutAs(t, want, small, ingest.Cutting{}); err != nil {
		t.Fatal(err)
	}
	before := textsHeld(t, st)
	out, err := ingest.Rechunk(t.Context(), ingest.Job{Store: st, Collection: notes()}, small, nil)
	if err != nil || out.Cut != 20 || out.Documents != 20 || out.To != (sextant.Chunking{Size: 40}) {
		t.Fatalf("%+v, %v", out, err)
	}
	if diff := cmp.Diff(chunksHeld(t, want), chunksHeld(t, st)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, textsHeld(t, st), cmpopts.EquateComparable(filter.Value{})); diff != "" {
		t.Error(diff)
	}
	if out, err = ingest.Rechunk(t.Context(), ingest.Job{Store: st, Collection: notes()}, ingest.Cutting{}, nil); err != nil || out.Cut != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if v, err := ingest.Verify(t.Context(), st, "notes"); err != nil || len(v.Missing)+len(v.Changed)+len(v.Extra) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := cutAs(t, st, ingest.Cutting{}, ingest.Cutting{}); err != nil { // goes on as it is now
		t.Error(err)
	}
}
