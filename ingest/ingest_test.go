package ingest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed/embedtest"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
)

func run(t *testing.T, st store.Store, s *words) sextant.Receipt {
	t.Helper()
	r, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: notes(), Source: s, Batch: 4})
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, n := range r.Records {
		sum += n
	}
	if sum != r.Read {
		t.Errorf("%d records read, their outcomes add up to %d", r.Read, sum)
	}
	return r
}

func outcomes(stored, merged, unchanged, skipped, refused int64) map[sextant.Outcome]int64 {
	out := map[sextant.Outcome]int64{}
	for o, n := range map[sextant.Outcome]int64{
		sextant.Stored: stored, sextant.Merged: merged, sextant.Unchanged: unchanged, sextant.Skipped: skipped, sextant.Refused: refused,
	} {
		if n > 0 {
			out[o] = n
		}
	}
	return out
}

func TestEveryRecordHasOneOutcome(t *testing.T) {
	st := openStore(t, t.TempDir())
	r := run(t, st, &words{files: []*wordFile{
		file("one", "a x", "b y", "a x", "", "c", "a BAD", "d ODD", "b z"),
		file("two", "b z", "e x", "a y"),
	}})
	if diff := cmp.Diff(outcomes(3, 2, 2, 1, 3), r.Records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(outcomes(2, 1, 1, 1, 3), r.Files[0].Records); diff != "" {
		t.Errorf("records of the first file (-want +got):\n%s", diff)
	}
	if r.Documents != (sextant.DocumentTally{Added: 3}) {
		t.Errorf("documents %+v: those added by this run were not changed by it too", r.Documents)
	}
	want := []sextant.Refusal{
		{Line: 5, Offset: 13, Reason: "no word"}, {Line: 6, Offset: 15, Record: "w:a", Reason: "a bad word"},
		{Line: 7, Offset: 21, Record: "w:d", Reason: r.Files[0].Refused[2].Reason},
	}
	if diff := cmp.Diff(want, r.Files[0].Refused); diff != "" || !strings.Contains(want[2].Reason, "words") {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"w:a": "x y", "w:b": "y z", "w:e": "x"}, held(t, st)); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	kept, err := st.Journal().Receipts(t.Context(), "notes", 0)
	if err != nil || len(kept) != 1 {
		t.Fatalf("%d receipts, %v", len(kept), err)
	}
	if diff := cmp.Diff(r, kept[0]); diff != "" {
		t.Errorf("the receipt kept differs (-returned +kept):\n%s", diff)
	}
}

func TestUnchangedFilesAreNotRead(t *testing.T) {
	st := openStore(t, t.TempDir())
	s := &words{files: []*wordFile{file("one", manyLines(50, "a")...), file("two", manyLines(20, "b")...)}}
	first := run(t, st, s)
	again := run(t, st, &words{files: []*wordFile{s.files[0], s.files[1]}})
	if n := s.files[0].reads.Load(); n != 1 {
		t.Errorf("read %d times", n)
	}
	if diff := cmp.Diff(outcomes(0, 0, 70, 0, 0), again.Records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if again.Read != first.Read || again.Documents != (sextant.DocumentTally{Unchanged: 17}) {
		t.Errorf("read %d, documents %+v", again.Read, again.Documents)
	}
	renamed := &wordFile{name: "renamed", text: s.files[1].text}
	if r := run(t, st, &words{files: []*wordFile{renamed}}); renamed.reads.Load() != 0 || r.Files[0].Name != "renamed" {
		t.Error("a file is known by its content, not its name")
	}
	run(t, st, &words{version: "2", files: s.files})
	if n := s.files[0].reads.Load(); n != 2 {
		t.Errorf("another way of reading must read again; read %d times", n)
	}
}

func TestRereadReads(t *testing.T) {
	st := openStore(t, t.TempDir())
	s := &words{files: []*wordFile{file("one", "a x", "b y")}}
	run(t, st, s)
	r, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: notes(), Source: s, Reread: true})
	if err != nil || s.files[0].reads.Load() != 2 {
		t.Errorf("read %d times, %v", s.files[0].reads.Load(), err)
	}
	if diff := cmp.Diff(outcomes(0, 0, 2, 0, 0), r.Records); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What somebody deleted or changed in the store comes back, and only that is merged.
func TestDeletedAndChangedDocumentsComeBack(t *testing.T) {
	st := openStore(t, t.TempDir())
	s := &words{files: []*wordFile{file("one", manyLines(60, "a")...), file("two", manyLines(30, "b")...), file("three", "z z")}}
	run(t, st, s)
	want := held(t, st)
	c, err := st.Open(t.Context(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Delete(t.Context(), []sextant.DocumentID{"w:d0003", "w:d0015"}); err != nil {
		t.Fatal(err)
	}
	foreign, _, err := (&wordLine{s.files[0], "d0007", "other"}).Merge(nil)
	if err != nil {
		t.Fatal(err)
	}
	foreign.Revision = strings.Repeat("0", 32)
	if err := c.Upsert(t.Context(), []store.Record{{Document: foreign}}); err != nil {
		t.Fatal(err)
	}
	v, err := ingest.Verify(t.Context(), st, "notes")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ingest.Verification{
		Collection: "notes", Sources: []string{"w"}, Documents: 19, Intact: 18,
		Missing: []sextant.DocumentID{"w:d0003", "w:d0015"}, Changed: []sextant.DocumentID{"w:d0007"},
	}, v); diff != "" {
		t.Errorf("verification (-want +got):\n%s", diff)
	}
	for _, f := range s.files {
		f.merges.Store(0)
	}
	r := run(t, st, s)
	if s.files[0].merges.Load() != 9 || s.files[1].merges.Load() != 6 || s.files[2].reads.Load() != 1 {
		t.Errorf("%d and %d records merged, the third file read %d times", s.files[0].merges.Load(), s.files[1].merges.Load(), s.files[2].reads.Load())
	}
	if r.Read != 91 || r.Documents.Added != 2 || r.Documents.Changed != 1 {
		t.Errorf("receipt %+v", r)
	}
	want["w:d0007"] = "a0 a1 a2 b0 b1 b2 other" // the words of a document are a set; nothing takes one away
	if diff := cmp.Diff(want, held(t, st)); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if v, err = ingest.Verify(t.Context(), st, "notes"); err != nil || v.Intact != 21 || len(v.Extra)+len(v.Missing)+len(v.Changed) > 0 {
		t.Errorf("after the run: %+v, %v", v, err)
	}
}

func TestVerifyNamesWhatNoFileAccountsFor(t *testing.T) {
	st := openStore(t, t.TempDir())
	run(t, st, &words{files: []*wordFile{file("one", "a x")}})
	c, err := st.Open(t.Context(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	stranger, _, _ := (&wordLine{&wordFile{}, "stranger", "x"}).Merge(nil)
	if err := c.Upsert(t.Context(), []store.Record{{Document: stranger}}); err != nil {
		t.Fatal(err)
	}
	v, err := ingest.Verify(t.Context(), st, "notes")
	if err != nil || !slices.Equal(v.Extra, []sextant.DocumentID{"w:stranger"}) || v.Intact != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := ingest.Verify(t.Context(), st, "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such collection: %v", err)
	}
}

// A change by somebody else in the middle of a run is noticed by the next one.
func TestChangesDuringARunAreNoticed(t *testing.T) {
	st := openStore(t, t.TempDir())
	s := &words{files: []*wordFile{file("one", manyLines(60, "a")...)}}
	s.files[0].hook = func(record int64) {
		if record == 55 {
			c, err := st.Open(context.Background(), "notes")
			if err == nil {
				_, err = c.Delete(context.Background(), []sextant.DocumentID{"w:d0000"})
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	// In batches of two: the first documents are stored by then.
	if _, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: notes(), Source: s, Batch: 2}); err != nil {
		t.Fatal(err)
	}
	if _, there := held(t, st)["w:d0000"]; there {
		t.Skip("the deletion came before the document")
	}
	s.files[0].hook = nil
	run(t, st, s)
	if _, there := held(t, st)["w:d0000"]; !there {
		t.Error("the document deleted meanwhile did not come back")
	}
}

func TestInputProblems(t *testing.T) {
	st := openStore(t, t.TempDir())
	unknown := errors.New("no layout of ours")
	if _, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: notes(), Source: &words{unknown: unknown}}); !errors.Is(err, unknown) {
		t.Errorf("%v", err)
	}
	if _, err := st.Open(t.Context(), "notes"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("something was written before the inputs were known to be good: %v", err)
	}
	s := &words{files: []*wordFile{file("broken", "a x", "b y", "! ", "c z"), file("good", "d x")}}
	r, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: notes(), Source: s})
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("%v", err)
	}
	if len(r.Files) != 2 || r.Files[0].Read != 2 || r.Files[1].Read != 1 || !strings.Contains(strings.Join(r.Files[0].Warnings, " "), "Reading stopped after record 2") {
		t.Errorf("%+v", r.Files)
	}
	if got := held(t, st); len(got) != 3 {
		t.Errorf("%v", got)
	}
	if _, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: notes(), Source: s}); !errors.Is(err, errBroken) {
		t.Errorf("a file that was not read to its end must be read again: %v", err)
	}
}

func TestOneRunAtATime(t *testing.T) {
	st := openStore(t, t.TempDir())
	f := file("one", "a x")
	f.hook = func(int64) {
		_, err := ingest.Run(context.Background(), ingest.Job{Store: st, Collection: notes(), Source: &words{}})
		if sextant.ErrorCode(err) != sextant.CodeConflict {
			t.Errorf("a second run: %v", err)
		}
	}
	run(t, st, &words{files: []*wordFile{f}})
	run(t, st, &words{})
}

func TestProgressIsTold(t *testing.T) {
	st := openStore(t, t.TempDir())
	clock := time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)
	var mu sync.Mutex // stages ask for the time at once
	var told []ingest.Progress
	job := ingest.Job{
		Store: st, Collection: notes(), Batch: 4, Progress: func(p ingest.Progress) { told = append(told, p) },
		Source: &words{files: []*wordFile{file("one", manyLines(40, "a")...), file("two", manyLines(9, "b")...)}},
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			clock = clock.Add(200 * time.Millisecond)
			return clock
		},
	}
	if _, err := ingest.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if len(told) < 10 {
		t.Fatalf("%d reports", len(told))
	}
	for i, p := range told[1:] {
		before := told[i]
		if p.Number == before.Number && (p.Records < before.Records || p.Elapsed < before.Elapsed) || p.Number < before.Number {
			t.Errorf("%+v after %+v", p, before)
		}
		if p.Rate <= 0 || p.Files != 2 || p.Left < 0 {
			t.Errorf("%+v", p)
		}
	}
	last := told[len(told)-1]
	if !last.Done || last.File != "two" || last.Records != 9 || last.Left != 0 || last.Outcomes[sextant.Merged] != 9 {
		t.Errorf("the last: %+v", last)
	}
	told = nil
	if _, err := ingest.Run(t.Context(), job); err != nil || len(told) != 2 || !told[1].Done || told[1].Records != 9 {
		t.Errorf("of files left unread: %+v, %v", told, err)
	}
}

func TestChunksGetVectors(t *testing.T) {
	st := openStore(t, t.TempDir())
	fake := embedtest.Fake{}
	c := notes()
	c.Encoder = fake.Fingerprint().String()
	job := ingest.Job{Store: st, Collection: c, Source: &words{files: []*wordFile{file("one", manyLines(30, "a")...)}}, Embedder: fake, Batch: 7}
	if _, err := ingest.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	open, err := st.Open(t.Context(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	size, err := open.Size(t.Context())
	if err != nil || size.Vectors != 10 || size.Chunks != 10 {
		t.Errorf("%+v, %v", size, err)
	}
	doc := sextant.Document{Title: "d0004"}
	v, err := fake.Embed(t.Context(), []string{ingest.RetrievalText(&doc, sextant.Chunk{Content: "a0 a1 a2"})})
	if err != nil {
		t.Fatal(err)
	}
	hits, err := open.SearchDense(t.Context(), store.DenseQuery{Vector: v[0], Filter: filter.All, Limit: 1})
	if err != nil || len(hits) != 1 || hits[0].Chunk.DocumentID != "w:d0004" {
		t.Errorf("%+v, %v", hits, err)
	}
	job.Embedder = nil
	if _, err := ingest.Run(t.Context(), job); err == nil {
		t.Error("an encoder is named and none is given")
	}
}

func TestCHK05DocumentsWithoutContentAreSaid(t *testing.T) {
	st := openStore(t, t.TempDir())
	fake := embedtest.Fake{Err: errors.New("nothing to embed")}
	c := notes()
	c.Encoder = fake.Fingerprint().String()
	s := &words{files: []*wordFile{file("one", "a BLANK", "b BLANK")}}
	r, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: c, Source: s, Embedder: fake})
	if err != nil {
		t.Fatal(err)
	}
	if want := "2 documents have no content: nothing of them can be found by text."; !slices.Contains(r.Files[0].Warnings, want) {
		t.Errorf("warnings %q", r.Files[0].Warnings)
	}
}

func TestRetrievalText(t *testing.T) {
	doc := sextant.Document{Title: "Cessna 172, Boise, ID"}
	for _, x := range []struct {
		chunk sextant.Chunk
		want  string
	}{
		{sextant.Chunk{Content: "It fell."}, "Cessna 172, Boise, ID\nIt fell."},
		{sextant.Chunk{Heading: "Narrative", Content: "Narrative\nIt fell."}, "Cessna 172, Boise, ID\nNarrative\nIt fell."},
		{sextant.Chunk{Heading: "Narrative", Content: "It fell."}, "Cessna 172, Boise, ID\nNarrative\nIt fell."},
		{sextant.Chunk{Content: "As always. THE ACFT FELL.", Rewrites: []sextant.Rewrite{{Start: 0, End: 10}, {Start: 15, End: 19, Text: "aircraft"}}}, "Cessna 172, Boise, ID\nTHE aircraft FELL."},
	} {
		if got := ingest.RetrievalText(&doc, x.chunk); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

// What is skipped by name has no document that could be missing.
func TestSkippedIsNotMissing(t *testing.T) {
	st := openStore(t, t.TempDir())
	f := file("one", "d1 a", "link SKIP", "d2 b")
	r := run(t, st, &words{files: []*wordFile{f}})
	if r.Records[sextant.Skipped] != 1 || r.Records[sextant.Stored] != 2 {
		t.Fatalf("%+v", r.Records)
	}
	if v, err := ingest.Verify(t.Context(), st, "notes"); err != nil || v.Intact != 2 || len(v.Missing)+len(v.Changed)+len(v.Extra) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if r = run(t, st, &words{files: []*wordFile{f}}); f.reads.Load() != 1 || r.Records[sextant.Unchanged] != 2 || r.Records[sextant.Skipped] != 1 {
		t.Errorf("read %d times: %+v", f.reads.Load(), r.Records)
	}
}
