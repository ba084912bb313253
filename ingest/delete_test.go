package ingest_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
)

// covering is a source whose files say all there is under their names.
type covering struct{ *words }

func (c covering) Covers(name string) bool {
	return slices.ContainsFunc(c.files, func(f *wordFile) bool { return f.name == name })
}

func coverJob(st store.Store, s covering) ingest.Job {
	return ingest.Job{Store: st, Collection: notes(), Source: s, Batch: 4}
}

func mustRun(t *testing.T, job ingest.Job) sextant.Receipt {
	t.Helper()
	r, err := ingest.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sound checks that the store holds so many documents and that the receipts account for
// every one of them.
func sound(t *testing.T, st store.Store, documents int64) {
	t.Helper()
	v, err := ingest.Verify(t.Context(), st, notes().Name)
	if err != nil || v.Documents != documents || v.Intact != documents || len(v.Missing)+len(v.Changed)+len(v.Extra) > 0 {
		t.Errorf("want %d documents: %+v %v", documents, v, err)
	}
}

func TestRecordsOfARunAreKept(t *testing.T) {
	st := openStore(t, t.TempDir())
	r := run(t, st, &words{files: []*wordFile{file("a", "1 x", "2", "", "1 y")}})
	type line struct {
		Record  int64
		ID      sextant.DocumentID
		Outcome sextant.Outcome
		Added   bool
	}
	var got []line
	for item, err := range ingest.Items(t.Context(), st, r) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line{item.Record, item.ID, item.Outcome, item.Added})
	}
	want := []line{{1, "w:1", sextant.Stored, true}, {2, "", sextant.Refused, false}, {3, "", sextant.Skipped, false}, {4, "w:1", sextant.Merged, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func deleted(t *testing.T, d ingest.Deletion) ingest.Deleted {
	t.Helper()
	out, err := ingest.Delete(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDeleting(t *testing.T) {
	st := openStore(t, t.TempDir())
	first := run(t, st, &words{files: []*wordFile{file("a", "1 x", "2 x", "3 x")}})
	second := run(t, st, &words{files: []*wordFile{file("b", "3 y", "4 y", "5 y")}})
	d := ingest.Deletion{Store: st, Collection: notes().Name}

	dry := d
	dry.Run, dry.DryRun = first.Run, true
	if got := deleted(t, dry); !slices.Equal(got.Documents, []sextant.DocumentID{"w:1", "w:2"}) || got.Kept != 1 {
		t.Errorf("a run that another wrote after: %+v", got)
	}
	sound(t, st, 5)

	one := d
	one.Documents = []sextant.DocumentID{"w:1", "w:nine"}
	got := deleted(t, one)
	if !slices.Equal(got.Documents, []sextant.DocumentID{"w:1"}) || !slices.Equal(got.Missing, []sextant.DocumentID{"w:nine"}) || got.Receipt.Documents.Deleted != 1 {
		t.Errorf("%+v", got)
	}
	sound(t, st, 4)

	later := d
	later.Run = second.Run
	if got := deleted(t, later); !slices.Equal(got.Documents, []sextant.DocumentID{"w:4", "w:5"}) || got.Kept != 1 {
		t.Errorf("%+v", got)
	}
	sound(t, st, 2)

	// What was deleted comes back with the file it was made of, and only that.
	r := run(t, st, &words{files: []*wordFile{file("a", "1 x", "2 x", "3 x")}})
	if r.Documents.Added != 1 {
		t.Errorf("%+v", r.Documents)
	}
	sound(t, st, 3)

	all := d
	all.Source = "w"
	if got := deleted(t, all); len(got.Documents) != 3 {
		t.Errorf("%+v", got)
	}
	sound(t, st, 0)
	receipts, err := st.Journal().Receipts(t.Context(), notes().Name, 0)
	if err != nil || receipts[0].Action != sextant.ActionDelete || receipts[0].Records[sextant.Deleted] != 3 || receipts[0].Finished.IsZero() {
		t.Errorf("%+v %v", receipts[0], err)
	}
	none := d
	none.Run = "nosuch"
	if _, err := ingest.Delete(t.Context(), none); !errors.Is(err, ingest.ErrNoRun) {
		t.Errorf("%v", err)
	}
}

// Files that a run does not read keep their account, whatever was deleted.
func TestDeletingDoesNotConcernOtherFiles(t *testing.T) {
	st := openStore(t, t.TempDir())
	run(t, st, &words{files: []*wordFile{file("a", "1 x", "2 x")}})
	deleted(t, ingest.Deletion{Store: st, Collection: notes().Name, Documents: []sextant.DocumentID{"w:1"}})
	run(t, st, &words{files: []*wordFile{file("b", "3 y")}})
	sound(t, st, 2)
}

func TestDropping(t *testing.T) {
	st := openStore(t, t.TempDir())
	f := file("a", "1 x", "2 x")
	run(t, st, &words{files: []*wordFile{f}})
	r, err := ingest.Drop(t.Context(), st, notes().Name)
	if err != nil || r.Documents.Deleted != 2 {
		t.Fatalf("%+v %v", r, err)
	}
	if r := run(t, st, &words{files: []*wordFile{f}}); r.Documents.Added != 2 {
		t.Errorf("after a drop: %+v", r.Documents)
	}
	sound(t, st, 2)
}

func TestWhatAFileNoLongerSays(t *testing.T) {
	st := openStore(t, t.TempDir())
	old, now := file("a", "1 x", "2 x", "3 x"), file("a", "2 x", "4 x")
	mustRun(t, coverJob(st, covering{&words{files: []*wordFile{old, file("b", "3 y")}}}))
	kept := mustRun(t, coverJob(st, covering{&words{files: []*wordFile{now}}}))
	if len(kept.Warnings) != 1 || kept.Documents.Deleted != 0 {
		t.Errorf("%q %+v", kept.Warnings, kept.Documents)
	}
	sound(t, st, 4)
	prune := coverJob(st, covering{&words{files: []*wordFile{now}}})
	prune.Prune = true
	if r := mustRun(t, prune); r.Documents.Deleted != 1 || len(r.Warnings) != 0 { // 1; 3 is in b
		t.Errorf("%q %+v", r.Warnings, r.Documents)
	}
	sound(t, st, 3)
	// Sources whose files add to each other's documents lose nothing.
	other := openStore(t, t.TempDir())
	run(t, other, &words{files: []*wordFile{old}})
	if r := run(t, other, &words{files: []*wordFile{now}}); len(r.Warnings) != 0 {
		t.Errorf("%q", r.Warnings)
	}
	// The old state again is read again.
	if r := mustRun(t, coverJob(st, covering{&words{files: []*wordFile{old}}})); r.Documents.Added != 1 {
		t.Errorf("%+v", r.Documents)
	}
}
