package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
)

const alike = "Investigators may not have traveled in support of this investigation and used data of others."

func openingAlike(n int) *wordFile {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("o%03d TEXT %s THE ACFT NUMBER %d WAS FOUND DRY AT THE STATION BY ITS OWNER.", i, alike, i))
	}
	return file("alike", lines...)
}

// What opens many documents is learned on the way; those that came before are cut again.
// Text, revisions, mentions and what is said by abbreviations as they stand do not change.
func TestDocumentsThatOpenAlike(t *testing.T) {
	st := openStore(t, t.TempDir())
	job := ingest.Job{Store: st, Collection: notes(), Source: &words{files: []*wordFile{openingAlike(100)}}, Batch: 7,
		Chunks: chunk.Options{Glossary: chunk.Glossary{"ACFT": "aircraft"}}}
	r, err := ingest.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(r.Warnings, " "); !strings.Contains(w, "Many documents open with") {
		t.Errorf("nothing is said of it: %q", w)
	}
	for _, c := range chunksHeld(t, st) {
		if ranked := c.Ranked(); !strings.HasPrefix(c.Content, alike) || !strings.HasPrefix(ranked, "THE aircraft NUMBER") {
			t.Fatalf("%q is read as %q", c.Content, ranked)
		}
	}
	col, err := st.Open(t.Context(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	for phrase, want := range map[string]int64{"may not have traveled": 100, "acft": 100, "aircraft": 0} {
		if n, err := col.Count(t.Context(), filter.Mentions{Phrases: []string{phrase}}, store.Documents); err != nil || n != want {
			t.Errorf("%d mention %q, want %d (%v)", n, phrase, want, err)
		}
	}
	if hits, err := col.SearchLexical(t.Context(), store.LexicalQuery{Text: "aircraft 42", Filter: filter.All, Limit: 1}); err != nil || len(hits) != 1 || !strings.Contains(hits[0].Chunk.Content, "ACFT NUMBER 42 ") {
		t.Errorf("%+v, %v", hits, err)
	}
	if v, err := ingest.Verify(t.Context(), st, "notes"); err != nil || len(v.Missing)+len(v.Changed)+len(v.Extra) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if again, err := ingest.Run(t.Context(), job); err != nil || again.Records[sextant.Unchanged] != 100 {
		t.Errorf("%+v, %v", again.Records, err)
	}
}

// A run that is interrupted before its end leaves nothing learned; the next ends as one that
// was not.
func TestOpeningsAfterAnInterruption(t *testing.T) {
	st := openStore(t, t.TempDir())
	f := openingAlike(150)
	ctx, cancel := context.WithCancel(t.Context())
	f.hook = func(record int64) {
		if record == 50 {
			cancel()
		}
	}
	job := ingest.Job{Store: st, Collection: notes(), Source: &words{files: []*wordFile{f}}, Batch: 5}
	if _, err := ingest.Run(ctx, job); err == nil {
		t.Fatal("it was not interrupted")
	}
	f.hook = nil
	if _, err := ingest.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	for _, c := range chunksHeld(t, st) {
		if !strings.HasPrefix(c.Ranked(), "THE ACFT NUMBER") {
			t.Fatalf("%q is read as %q", c.Content, c.Ranked())
		}
	}
}

// A collection that is older than the learning learns when it is cut anew.
func TestRechunkLearns(t *testing.T) {
	st := openStore(t, t.TempDir())
	job := ingest.Job{Store: st, Collection: notes(), Source: &words{files: []*wordFile{openingAlike(100)}}}
	if _, err := ingest.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := st.Journal().PutMark(t.Context(), "ingest/notes/openings", ""); err != nil {
		t.Fatal(err)
	}
	if out, err := ingest.Rechunk(t.Context(), ingest.Job{Store: st, Collection: notes()}, ingest.Cutting{}, nil); err != nil || out.Cut != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := ingest.Rechunk(t.Context(), ingest.Job{Store: st, Collection: notes(), Chunks: chunk.Options{Glossary: chunk.Glossary{"ACFT": "aircraft"}}}, ingest.Cutting{}, nil); err != nil || out.Cut != 100 {
		t.Errorf("%+v, %v", out, err)
	}
}
