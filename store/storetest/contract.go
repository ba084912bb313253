package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

func incidents() sextant.Collection {
	return sextant.Collection{Name: "incidents", Title: "Incidents", Unit: "events", Schema: filter.Schema{
		Fields: []filter.Field{
			{Name: "state", Kind: filter.Keyword, Fold: filter.Case},
			{Name: "city", Kind: filter.Keyword},
			{Name: "place", Kind: filter.Keyword, AnyOf: []string{"city"}},
			{Name: "date", Kind: filter.Time},
			{Name: "tags", Kind: filter.Keyword, List: true},
			{Name: "make", Kind: filter.Keyword, Group: "aircraft"},
		},
		Groups: []filter.Group{{Name: "aircraft"}, {Name: "people"}},
	}}
}

// testSpecifications: what may change of a collection, empty and filled.
func testSpecifications(t *testing.T, open Open) {
	changes := []struct {
		name    string
		change  func(*sextant.Collection)
		refused bool // where the collection holds documents
	}{
		{"nothing", func(c *sextant.Collection) {}, false},
		{"title, unit, fill", func(c *sextant.Collection) { c.Title, c.Unit, c.Fill = "T", "u", "f" }, false},
		{"label, facet", func(c *sextant.Collection) { c.Schema.Fields[0].Label, c.Schema.Fields[0].Facet = "L", true }, false},
		{"new field", func(c *sextant.Collection) {
			c.Schema.Fields = append(c.Schema.Fields, filter.Field{Name: "new", Kind: filter.Int})
		}, false},
		{"new group", func(c *sextant.Collection) {
			c.Schema.Groups = append(c.Schema.Groups, filter.Group{Name: "engines"})
			c.Schema.Fields = append(c.Schema.Fields, filter.Field{Name: "power", Kind: filter.Int, Group: "engines"})
		}, false},
		{"value becomes list", func(c *sextant.Collection) { c.Schema.Fields[0].List = true }, false},
		{"view", func(c *sextant.Collection) { c.Schema.Fields[2].AnyOf = []string{"city", "state"} }, false},
		{"view goes", func(c *sextant.Collection) { c.Schema.Fields = slices.Delete(c.Schema.Fields, 2, 3) }, false},
		{"kind", func(c *sextant.Collection) { c.Schema.Fields[3].Kind = filter.Int }, true},
		{"fold", func(c *sextant.Collection) { c.Schema.Fields[0].Fold = filter.Squeeze }, true},
		{"group of a field", func(c *sextant.Collection) { c.Schema.Fields[5].Group = "people" }, true},
		{"list becomes value", func(c *sextant.Collection) { c.Schema.Fields[4].List = false }, true},
		{"field goes", func(c *sextant.Collection) { c.Schema.Fields = c.Schema.Fields[:5] }, true},
		{"group goes", func(c *sextant.Collection) { c.Schema.Groups = c.Schema.Groups[:1] }, true},
		{"field becomes view", func(c *sextant.Collection) { c.Schema.Fields[0].AnyOf = []string{"city"} }, true},
		{"encoder", func(c *sextant.Collection) { c.Encoder = "other" }, true},
		{"analyzer", func(c *sextant.Collection) { c.Analyzer = "plain-v1" }, true},
	}
	for _, tt := range changes {
		for _, filled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/filled=%v", tt.name, filled), func(t *testing.T) {
				dir := t.TempDir()
				s := open(t, dir)
				defer func() { s.Close() }()
				c := ensure(t, s, incidents())
				if filled {
					upsertAlaska(t, c)
				}
				changed := incidents()
				tt.change(&changed)
				_, err := s.Ensure(t.Context(), changed)
				if refused := filled && tt.refused; refused != errors.Is(err, store.ErrSpec) || !refused && err != nil {
					t.Fatalf("ensure: %v", err)
				}
				want := changed
				if err != nil {
					want = incidents()
				}
				checkSpec(t, c, want, filled)
				s.Close()
				s = open(t, dir)
				checkSpec(t, ensure(t, s, want), want, filled)
			})
		}
	}
}

func upsertAlaska(t *testing.T, c store.Collection) {
	t.Helper()
	rec := plain("incidents", "n:1", "text", filter.Meta{
		Fields: filter.Fields{"state": {filter.OfString("AK")}, "city": {filter.OfString("Nome")}, "tags": {filter.OfString("a"), filter.OfString("b")}},
		Groups: map[string][]filter.Fields{"aircraft": {{"make": {filter.OfString("CESSNA")}}}}})
	if err := c.Upsert(context.Background(), []store.Record{rec}); err != nil {
		t.Fatal(err)
	}
}

// checkSpec: the specification is in force, and what was stored can be asked for.
func checkSpec(t *testing.T, c store.Collection, want sextant.Collection, filled bool) {
	t.Helper()
	if diff := cmp.Diff(want, c.Spec()); diff != "" {
		t.Errorf("spec: %s", diff)
	}
	for _, f := range want.Schema.Fields {
		if f.Group == "" {
			if _, err := c.Count(t.Context(), filter.Exists{Field: f.Name}, ""); err != nil {
				t.Errorf("count of %s: %v", f.Name, err)
			}
		}
	}
	n, err := c.Count(t.Context(), filter.Eq{Field: "state", Value: filter.OfString("ak")}, "")
	if filled && (n != 1 || err != nil) {
		t.Errorf("count: %d, %v", n, err)
	}
}

// testCollections: names, dropping, and that a collection made again is not taken for
// the one that was.
func testCollections(t *testing.T, open Open) {
	s := opened(t, open)
	ctx := t.Context()
	if _, err := s.Open(ctx, "incidents"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("open of a missing one: %v", err)
	}
	if err := s.Drop(ctx, "incidents"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("drop of a missing one: %v", err)
	}
	c := ensure(t, s, incidents())
	other := sextant.Collection{Name: "a_first"}
	ensure(t, s, other)
	specs, err := s.Collections(ctx)
	if diff := cmp.Diff([]sextant.Collection{other, incidents()}, specs, same); diff != "" || err != nil {
		t.Errorf("collections: %v %s", err, diff)
	}
	upsertAlaska(t, c)
	sequence := c.Sequence()
	if err := s.Drop(ctx, "incidents"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Count(ctx, filter.All, ""); err == nil {
		t.Error("a dropped collection still counts")
	}
	c = ensure(t, s, incidents())
	if n, err := c.Count(ctx, filter.All, ""); n != 0 || err != nil {
		t.Errorf("made again: %d documents, %v", n, err)
	}
	if c.Sequence() == sequence {
		t.Error("made again with the sequence of other content")
	}
	if _, err := s.Ensure(ctx, sextant.Collection{Name: "Not a name"}); err == nil {
		t.Error("a malformed name is accepted")
	}
	if err := s.Ping(ctx); err != nil {
		t.Errorf("ping: %v", err)
	}
}

// testRefused: what does not fit is refused with an error to decide on, and leaves
// nothing behind.
func testRefused(t *testing.T, open Open) {
	s := opened(t, open)
	c := ensure(t, s, incidents())
	upsertAlaska(t, c)
	good := plain("incidents", "n:2", "some text", filter.Meta{})
	for _, tt := range []struct {
		name   string
		change func(*store.Record)
		want   error
	}{
		{"no id", func(r *store.Record) { r.Document.ID = "" }, store.ErrRecord},
		{"another collection", func(r *store.Record) { r.Document.Collection = "news" }, store.ErrRecord},
		{"invalid text", func(r *store.Record) { r.Document.Text = "\xff" }, store.ErrRecord},
		{"part outside", func(r *store.Record) { r.Document.Parts = []sextant.Part{{Start: 3, End: 99}} }, store.ErrRecord},
		{"chunk outside", func(r *store.Record) { r.Chunks[0].End = 99 }, store.ErrRecord},
		{"chunk of other text", func(r *store.Record) { r.Chunks[0].Content = "another" }, store.ErrRecord},
		{"chunk of another document", func(r *store.Record) { r.Chunks[0].DocumentID = "n:1" }, store.ErrRecord},
		{"chunk out of order", func(r *store.Record) { r.Chunks[0].Index = 1 }, store.ErrRecord},
		{"vectors without an encoder", func(r *store.Record) { r.Vectors = [][]float32{{1}} }, store.ErrRecord},
		{"unknown field", func(r *store.Record) { r.Document.Meta.Fields = filter.Fields{"x": {filter.OfInt(1)}} }, filter.ErrSchema},
		{"wrong kind", func(r *store.Record) { r.Document.Meta.Fields = filter.Fields{"state": {filter.OfInt(1)}} }, filter.ErrSchema},
		{"view", func(r *store.Record) { r.Document.Meta.Fields = filter.Fields{"place": {filter.OfString("x")}} }, filter.ErrSchema},
		{"field outside its group", func(r *store.Record) { r.Document.Meta.Fields = filter.Fields{"make": {filter.OfString("x")}} }, filter.ErrSchema},
		{"two values", func(r *store.Record) {
			r.Document.Meta.Fields = filter.Fields{"city": {filter.OfString("x"), filter.OfString("y")}}
		}, filter.ErrSchema},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := plain("incidents", "n:3", "some text", filter.Meta{})
			tt.change(&bad)
			if err := c.Upsert(t.Context(), []store.Record{good, bad}); !errors.Is(err, tt.want) {
				t.Errorf("upsert: %v", err)
			}
			if n, err := c.Count(t.Context(), filter.All, ""); n != 1 || err != nil {
				t.Errorf("%d documents, %v: part of a refused batch was stored", n, err)
			}
		})
	}
	testRefusedQuestions(t, c)
}

func testRefusedQuestions(t *testing.T, c store.Collection) {
	ctx := t.Context()
	text := filter.OfString("x")
	for _, f := range []filter.Filter{
		filter.Exists{Field: "nope"}, filter.Exists{Field: "make"}, filter.Eq{Field: "date", Value: text}, filter.Range{Field: "state", Lo: text},
		filter.Each{Group: "nope"}, filter.Each{Group: "aircraft", Filter: filter.Exists{Field: "state"}}, filter.Contains{Field: "date", Sub: "1"},
	} {
		if _, err := c.Count(ctx, f, ""); !errors.Is(err, filter.ErrSchema) {
			t.Errorf("count of %#v: %v", f, err)
		}
		if _, err := c.List(ctx, store.ListQuery{Filter: f}); !errors.Is(err, filter.ErrSchema) {
			t.Errorf("list of %#v: %v", f, err)
		}
		for _, err := range c.Scan(ctx, f) {
			if !errors.Is(err, filter.ErrSchema) {
				t.Errorf("scan of %#v: %v", f, err)
			}
		}
	}
	if _, err := c.Count(ctx, filter.All, "engines"); !errors.Is(err, filter.ErrSchema) {
		t.Errorf("unknown unit: %v", err)
	}
	for _, q := range []store.FacetQuery{
		{Field: "nope"}, {Field: "place"}, {Field: "state", By: store.Year}, {Field: "date", By: "decade"}, {Field: "make", Unit: "people"},
		{Field: "state", Ranges: []filter.Range{{Lo: text}}}, {Field: "date", Ranges: []filter.Range{{Lo: filter.OfInt(1)}}},
	} {
		if _, err := c.Facet(ctx, q); !errors.Is(err, filter.ErrSchema) {
			t.Errorf("facet %+v: %v", q, err)
		}
	}
	for _, by := range []string{"nope", "make", "tags", "place"} {
		if _, err := c.List(ctx, store.ListQuery{By: by}); !errors.Is(err, filter.ErrSchema) {
			t.Errorf("list by %s: %v", by, err)
		}
	}
	for _, cursor := range []string{"?", "AAAA", "0"} {
		if _, err := c.List(ctx, store.ListQuery{After: cursor}); !errors.Is(err, store.ErrCursor) {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	}
}

// testJournal: receipts and marks, before and after opening again.
func testJournal(t *testing.T, open Open) {
	dir := t.TempDir()
	s := open(t, dir)
	defer func() { s.Close() }()
	ctx := t.Context()
	old := sextant.Receipt{Run: "2024-01-01T00:00:00Z-1", Collection: "incidents", Records: map[sextant.Outcome]int64{sextant.Stored: 3}, Read: 3,
		Started: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	news := sextant.Receipt{Run: "2024-01-02T00:00:00Z-1", Collection: "news"}
	put := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put(s.Journal().PutReceipt(ctx, sextant.Receipt{Run: old.Run, Collection: "incidents"}))
	put(s.Journal().PutReceipt(ctx, news))
	put(s.Journal().PutReceipt(ctx, old)) // replaces
	put(s.Journal().PutMark(ctx, "file:a.csv", "1000"))
	put(s.Journal().PutMark(ctx, "file:a.csv", "2000"))
	put(s.Journal().PutMark(ctx, "file:b.csv", "x"))
	put(s.Journal().PutMark(ctx, "file:b.csv", ""))
	if err := s.Journal().PutReceipt(ctx, sextant.Receipt{}); !errors.Is(err, store.ErrRecord) {
		t.Errorf("receipt of no run: %v", err)
	}
	for range 2 {
		for _, tt := range []struct {
			collection string
			limit      int
			want       []sextant.Receipt
		}{{"", 0, []sextant.Receipt{news, old}}, {"", 1, []sextant.Receipt{news}}, {"incidents", 5, []sextant.Receipt{old}}, {"none", 5, nil}} {
			got, err := s.Journal().Receipts(ctx, tt.collection, tt.limit)
			if diff := cmp.Diff(tt.want, got, same); diff != "" || err != nil {
				t.Errorf("receipts of %q: %v %s", tt.collection, err, diff)
			}
		}
		for key, want := range map[string]string{"file:a.csv": "2000", "file:b.csv": "", "other": ""} {
			if got, err := s.Journal().Mark(ctx, key); got != want || err != nil {
				t.Errorf("mark %s: %q, %v; want %q", key, got, err, want)
			}
		}
		put(s.Close())
		s = open(t, dir)
	}
}

// everyMethod calls all methods of a collection that can fail.
func everyMethod(ctx context.Context, c store.Collection) map[string]error {
	errs := map[string]error{}
	errs["Upsert"] = c.Upsert(ctx, []store.Record{plain("incidents", "n:9", "text", filter.Meta{})})
	_, errs["Delete"] = c.Delete(ctx, []sextant.DocumentID{"n:9"})
	_, errs["Revisions"] = c.Revisions(ctx, []sextant.DocumentID{"n:1"})
	_, errs["Get"] = c.Get(ctx, []sextant.DocumentID{"n:1"})
	_, errs["Chunks"] = c.Chunks(ctx, "n:1")
	_, errs["Count"] = c.Count(ctx, filter.All, "")
	_, errs["Facet"] = c.Facet(ctx, store.FacetQuery{Field: "state"})
	_, errs["Sum"] = c.Sum(ctx, filter.All, "date")
	_, errs["List"] = c.List(ctx, store.ListQuery{})
	_, errs["SearchLexical"] = c.SearchLexical(ctx, store.LexicalQuery{Text: "text"})
	_, errs["Size"] = c.Size(ctx)
	for _, err := range c.Scan(ctx, filter.All) {
		errs["Scan"] = err
	}
	return errs
}

// testCancelled: who gives up before asking gets the context's error and changes nothing.
func testCancelled(t *testing.T, open Open) {
	c := ensure(t, opened(t, open), incidents())
	upsertAlaska(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for method, err := range everyMethod(ctx, c) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", method, err)
		}
	}
	if n, err := c.Count(t.Context(), filter.All, ""); n != 1 || err != nil {
		t.Errorf("count: %d, %v", n, err)
	}
	testCancelledScan(t, c)
}

func testCancelledScan(t *testing.T, c store.Collection) {
	var records []store.Record
	for i := range 50 {
		records = append(records, plain("incidents", fmt.Sprintf("n:%d", i), "text", filter.Meta{}))
	}
	if err := c.Upsert(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, last := 0, error(nil)
	for _, err := range c.Scan(ctx, filter.All) {
		n++
		last = err
		if n == 5 {
			cancel()
		}
	}
	if n != 6 || !errors.Is(last, context.Canceled) {
		t.Errorf("scan cancelled after 5 gave %d, %v", n, last)
	}
	for range c.Scan(t.Context(), filter.All) {
		break // leaves nothing open that would keep the store from closing
	}
}

// testClosed: after Close everything is unavailable, never empty.
func testClosed(t *testing.T, open Open) {
	s := opened(t, open)
	c := ensure(t, s, incidents())
	upsertAlaska(t, c)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	errs := everyMethod(t.Context(), c)
	_, errs["Store.Open"] = s.Open(t.Context(), "incidents")
	_, errs["Store.Ensure"] = s.Ensure(t.Context(), incidents())
	_, errs["Store.Collections"] = s.Collections(t.Context())
	errs["Store.Drop"] = s.Drop(t.Context(), "incidents")
	errs["Store.Ping"] = s.Ping(t.Context())
	_, errs["Journal.Mark"] = s.Journal().Mark(t.Context(), "x")
	errs["Journal.PutMark"] = s.Journal().PutMark(t.Context(), "x", "y")
	for method, err := range errs {
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: %v", method, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}
