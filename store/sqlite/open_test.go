package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// fleet is a collection of events with aircraft.
func fleet() sextant.Collection {
	return sextant.Collection{
		Name: "events", Title: "Events", Role: sextant.RoleEvents, Unit: "events", DateField: "date",
		Schema: filter.Schema{
			Fields: []filter.Field{
				{Name: "state", Kind: filter.Keyword, Facet: true},
				{Name: "date", Kind: filter.Time},
				{Name: "dead", Kind: filter.Int},
				{Name: "make", Kind: filter.Keyword, Fold: filter.Case, Group: "aircraft"},
				{Name: "model", Kind: filter.Keyword, Fold: filter.Squeeze, Group: "aircraft"},
			},
			Groups: []filter.Group{{Name: "aircraft", Label: "aircraft"}},
		},
	}
}

func aircraft(maker, model string) filter.Fields {
	return filter.Fields{"make": {filter.OfString(maker)}, "model": {filter.OfString(model)}}
}

// event makes a record of one chunk.
func event(id, text string, m filter.Meta) store.Record {
	d := sextant.Document{ID: sextant.DocumentID(id), Collection: "events", Title: "Event " + id, Text: text, Meta: m, Revision: "r1",
		Source: sextant.Source{Name: "test", Retrieved: time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)},
		Parts:  []sextant.Part{{Kind: "narrative", Locator: "Narrative", Start: 0, End: len(text)}}}
	return store.Record{Document: d, Chunks: []sextant.Chunk{{ID: sextant.ChunkID(d.ID, 0), DocumentID: d.ID, End: len(text), Content: text}}}
}

func openStore(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// The life of a collection: fill, ask, close, open again, ask the same.
func TestReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c#d%") // nothing in a path may be read as part of a URI
	s := openStore(t, dir)
	c, err := s.Ensure(t.Context(), fleet())
	if err != nil {
		t.Fatal(err)
	}
	records := []store.Record{
		event("t:1", "The engine lost power over the lake.", filter.Meta{
			Fields: filter.Fields{"state": {filter.OfString("AK")}, "date": {filter.Date(2010, 7, 4)}, "dead": {filter.OfInt(2)}},
			Groups: map[string][]filter.Fields{"aircraft": {aircraft("Cessna", "150"), aircraft("PIPER", "PA-28-172")}}}),
		event("t:2", "The pilot landed on a lake.", filter.Meta{
			Fields: filter.Fields{"state": {filter.OfString("AK")}, "date": {filter.Date(2011, 7, 4)}},
			Groups: map[string][]filter.Fields{"aircraft": {aircraft("CESSNA", "172")}}}),
		event("t:3", "A wire was struck.", filter.Meta{Fields: filter.Fields{"state": {filter.OfString("TX")}}}),
	}
	if err := c.Upsert(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	ask(t, c)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if logs, _ := filepath.Glob(filepath.Join(dir, "c", "*", "main.db-*")); len(logs) > 0 {
		t.Errorf("closing left %q behind", logs)
	}
	if _, err := c.Count(t.Context(), filter.All, ""); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("count after close: %v", err)
	}
	c, err = openStore(t, dir).Open(t.Context(), "events")
	if err != nil {
		t.Fatal(err)
	}
	ask(t, c)
	docs, err := c.Get(t.Context(), []sextant.DocumentID{"t:3", "t:none", "t:1"})
	if diff := cmp.Diff([]sextant.Document{records[2].Document, records[0].Document}, docs, cmp.AllowUnexported(filter.Value{})); diff != "" || err != nil {
		t.Errorf("get: %v %s", err, diff)
	}
}

// ask checks what the three events must give.
func ask(t *testing.T, c store.Collection) {
	t.Helper()
	cessna172 := filter.Each{Group: "aircraft", Filter: filter.And{
		filter.Eq{Field: "make", Value: filter.OfString("cessna")}, filter.Contains{Field: "model", Sub: "172"}}}
	for _, tt := range []struct {
		f    filter.Filter
		unit string
		want int64
	}{
		{filter.All, "", 3},
		{filter.All, "aircraft", 3},
		{filter.Eq{Field: "state", Value: filter.OfString("AK")}, "", 2},
		{filter.Eq{Field: "state", Value: filter.OfString("AK")}, "aircraft", 3},
		{cessna172, "", 1}, // not t:1, where the 172 is the Piper's
		{filter.Not{Filter: cessna172}, "", 2},
		{filter.Range{Field: "date", Lo: filter.Date(2011, 1, 1)}, "", 1},
	} {
		if n, err := c.Count(context.Background(), tt.f, tt.unit); n != tt.want || err != nil {
			t.Errorf("count of %v in %q: %d, %v; want %d", tt.f, tt.unit, n, err, tt.want)
		}
	}
	hits, err := c.SearchLexical(context.Background(), store.LexicalQuery{Text: "landing on the lake", Filter: filter.Eq{Field: "state", Value: filter.OfString("AK")}, Limit: 5})
	if err != nil || len(hits) != 2 || hits[0].Chunk.ID != "t:2#0" || hits[0].Locator != "Narrative" {
		t.Errorf("search: %v %+v", err, hits)
	}
}

// A second process, or a second Open, is told who has the folder.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	if _, held := Holder(dir); held {
		t.Error("an unused folder has a holder")
	}
	s := openStore(t, dir)
	if err := s.Announce("127.0.0.1:7070"); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Dir: dir})
	if !errors.Is(err, store.ErrLocked) {
		t.Fatalf("second open: %v", err)
	}
	if p, held := Holder(dir); !held || p.PID != os.Getpid() || p.Address != "127.0.0.1:7070" {
		t.Errorf("holder: %+v %v", p, held)
	}
	s.Close()
	if _, held := Holder(dir); held {
		t.Error("a closed folder has a holder")
	}
	openStore(t, dir)
}
