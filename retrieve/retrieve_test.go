package retrieve_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/embed/embedtest"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/retrieve"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

var notes = sextant.Collection{Name: "notes", Role: sextant.RoleReference, DateField: "day", Schema: filter.Schema{Fields: []filter.Field{{Name: "state", Kind: filter.Keyword}, {Name: "day", Kind: filter.Time}}}}

// note is a document of one chunk a text.
type note struct {
	state string
	day   int
	texts []string
}

func open(t *testing.T, all ...note) store.Collection { return openWith(t, nil, all...) }

// openWith stores the notes with the vectors of an encoder, if there is one.
func openWith(t *testing.T, e embed.Embedder, all ...note) store.Collection {
	t.Helper()
	notes := notes
	if e != nil {
		notes.Encoder = e.Fingerprint().String()
	}
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c, err := s.Ensure(t.Context(), notes)
	if err != nil {
		t.Fatal(err)
	}
	var records []store.Record
	for i, n := range all {
		d := sextant.Document{ID: sextant.DocumentID(fmt.Sprintf("n:%03d", i)), Collection: "notes", Title: fmt.Sprintf("Note %d", i), Meta: filter.Meta{Fields: filter.Fields{}}}
		d.Meta.Fields.Set("state", filter.OfString(n.state))
		d.Meta.Fields.Set("day", filter.Date(2010, time.January, n.day))
		var chunks []sextant.Chunk
		for k, text := range n.texts {
			d.Parts = append(d.Parts, sextant.Part{Kind: "page", Locator: fmt.Sprintf("p. %d", k+1), Start: len(d.Text), End: len(d.Text) + len(text)})
			chunks = append(chunks, sextant.Chunk{ID: sextant.ChunkID(d.ID, k), DocumentID: d.ID, Index: k, Start: len(d.Text), End: len(d.Text) + len(text), Content: text})
			d.Text += text
		}
		if d.Revision, err = d.ComputeRevision(); err != nil {
			t.Fatal(err)
		}
		rec := store.Record{Document: d, Chunks: chunks}
		if e != nil {
			rec.Vectors = embedtest.Embed(t, e, n.texts...)
		}
		records = append(records, rec)
	}
	if err := c.Upsert(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	return c
}

func search(t *testing.T, c store.Collection, q retrieve.Query) []sextant.Passage {
	t.Helper()
	out, err := retrieve.New(retrieve.Options{}).Search(t.Context(), c, q)
	if err != nil {
		t.Fatal(err)
	}
	return out.Passages
}

func chunks(ps []sextant.Passage) (out []string) {
	for _, p := range ps {
		out = append(out, p.ChunkID)
	}
	return out
}

// Five hundred notes say the words better; the one that satisfies the filter is found
// all the same.
func TestVEC01TheFilterComesBeforeTheRanking(t *testing.T) {
	var all []note
	for range 500 {
		all = append(all, note{"TX", 1, []string{"engine fire engine fire engine fire"}})
	}
	c := open(t, append(all, note{"VT", 2, []string{"smoke was seen after an engine had stopped over the lake"}})...)
	vermont := filter.Eq{Field: "state", Value: filter.OfString("VT")}
	if got := chunks(search(t, c, retrieve.Query{Text: "engine fire", Filter: vermont, Limit: 1})); !slices.Equal(got, []string{"n:500#0"}) {
		t.Errorf("got %v", got)
	}
	if got := chunks(search(t, c, retrieve.Query{Text: "propeller", Filter: vermont, Limit: 3, Fill: true})); !slices.Equal(got, []string{"n:500#0"}) {
		t.Errorf("without a word in common: %v", got)
	}
}

func TestPassagesSayWhyAndWhere(t *testing.T) {
	c := open(t, note{"AK", 1, []string{"The door was open. ", "Ice had formed on the wings."}})
	p := search(t, c, retrieve.Query{Text: "ice on wings", Filter: filter.All, Limit: 5})[0]
	if p.Locator != "p. 2" || p.Source != "notes" || p.ChunkIndex != 1 || p.Metadata.Fields.One("state").Str() != "AK" {
		t.Errorf("%+v", p)
	}
	if r := p.Reasons[0]; r.Kind != "lexical" || r.Rank != 1 || len(r.Terms) == 0 || r.Score != p.Score {
		t.Errorf("reasons %+v", p.Reasons)
	}
}

func TestOneDocumentDoesNotCrowdOutOthers(t *testing.T) {
	c := open(t, note{"AK", 1, []string{"ice ice ice. ", "ice ice. ", "ice here. ", "more ice. "}}, note{"AK", 2, []string{"There was some ice on a very long runway that day."}})
	got := search(t, c, retrieve.Query{Text: "ice", Filter: filter.All, Limit: 3, PerDocument: 2})
	if len(got) != 3 || got[2].DocumentID != "n:001" {
		t.Errorf("got %v", chunks(got))
	}
}

func TestFillIsNewestFirst(t *testing.T) {
	c := open(t, note{"AK", 1, []string{"one"}}, note{"AK", 3, []string{"three"}}, note{"AK", 2, []string{"two"}}, note{"WA", 4, []string{"four"}})
	alaska := filter.Eq{Field: "state", Value: filter.OfString("AK")}
	got := search(t, c, retrieve.Query{Text: "two", Filter: alaska, Limit: 9, Fill: true})
	if want := []string{"n:002#0", "n:001#0", "n:000#0"}; !slices.Equal(chunks(got), want) {
		t.Errorf("got %v, want %v", chunks(got), want)
	}
	if got[1].Reasons[0].Kind != "filter" {
		t.Errorf("reasons %+v", got[1].Reasons)
	}
}

func TestACancelledSearchIsAnError(t *testing.T) {
	c := open(t, note{"AK", 1, []string{"one"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := retrieve.New(retrieve.Options{}).Search(ctx, c, retrieve.Query{Text: "one", Filter: filter.All, Limit: 1}); err == nil {
		t.Errorf("found %v", chunks(out.Passages))
	}
}
