package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// testHistory replaces, shrinks and deletes documents and opens the store again, in
// random order; after every step the store is asked as if it had been filled at once.
func (d Differences) testHistory(t *testing.T, open Open) {
	dir := t.TempDir()
	s := open(t, dir)
	defer func() { s.Close() }()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		spec := Specs(fmt.Sprintf("h%d", n)).Draw(rt, "spec")
		sub := &subject{rt, ensure(t, s, spec), NewReference(spec), d}
		defer func() { s.Drop(context.Background(), spec.Name) }()
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			switch rapid.IntRange(0, 4).Draw(rt, "step") {
			case 0:
				sub.delete()
			case 1:
				before := sub.ranking()
				if err := s.Close(); err != nil {
					rt.Fatalf("close: %v", err)
				}
				s = open(t, dir)
				c, err := s.Open(context.Background(), spec.Name)
				if err != nil {
					rt.Fatalf("open again: %v", err)
				}
				if c.Sequence() != sub.c.Sequence() {
					rt.Fatalf("sequence is %d, was %d before closing", c.Sequence(), sub.c.Sequence())
				}
				sub.c = c
				if diff := cmp.Diff(before, sub.ranking(), same); diff != "" {
					rt.Fatalf("the same content ranks otherwise after closing: %s", diff)
				}
			default:
				sub.upsert(rapid.SliceOfN(Records(spec), 0, 6).Draw(rt, "records"))
			}
			sub.held()
			sub.question()
		}
	})
}

// ranking returns the hits of one question, scores and all.
func (s *subject) ranking() []store.Hit {
	hits, err := s.c.SearchLexical(context.Background(), store.LexicalQuery{Text: "the engine lost power over the lake", Limit: 100})
	if err != nil {
		s.t.Fatalf("search: %v", err)
	}
	return hits
}

func (s *subject) delete() {
	var ids []sextant.DocumentID
	for _, rec := range rapid.SliceOfN(Records(s.ref.spec), 0, 3).Draw(s.t, "delete") {
		ids = append(ids, rec.Document.ID)
	}
	got, err := s.c.Delete(context.Background(), ids)
	if want := s.ref.Delete(ids); got != want || err != nil {
		s.t.Fatalf("delete %q: %d, %v; want %d", ids, got, err, want)
	}
}

// held compares documents, chunks, revisions and sizes by id.
func (s *subject) held() {
	ctx := context.Background()
	ids := []sextant.DocumentID{"s:nowhere"}
	want := []sextant.Document{}
	revisions := map[sextant.DocumentID]string{}
	chunks := int64(0)
	for _, d := range s.ref.Documents(filter.All) {
		ids = append(ids, d.ID)
		want = append(want, d)
		revisions[d.ID] = d.Revision
		held := s.ref.records[d.ID].Chunks
		chunks += int64(len(held))
		got, err := s.c.Chunks(ctx, d.ID)
		if diff := cmp.Diff(held, got, same); diff != "" || err != nil {
			s.t.Fatalf("chunks of %s: %v %s", d.ID, err, diff)
		}
	}
	got, err := s.c.Get(ctx, ids)
	if diff := cmp.Diff(want, got, same); diff != "" || err != nil {
		s.t.Fatalf("get: %v %s", err, diff)
	}
	gotRevisions, err := s.c.Revisions(ctx, ids)
	if diff := cmp.Diff(revisions, gotRevisions, same); diff != "" || err != nil {
		s.t.Fatalf("revisions: %v %s", err, diff)
	}
	size, err := s.c.Size(ctx)
	if size.Documents != int64(len(want)) || size.Chunks != chunks || err != nil {
		s.t.Fatalf("size: %+v, %v; want %d documents, %d chunks", size, err, len(want), chunks)
	}
}

// testPages walks long lists with many ties while documents come and go.
func testPages(t *testing.T, open Open) {
	spec := sextant.Collection{Name: "pages", Schema: filter.Schema{Fields: []filter.Field{{Name: "n", Kind: filter.Int}, {Name: "k", Kind: filter.Keyword}}}}
	c := ensure(t, opened(t, open), spec)
	ref := NewReference(spec)
	var records []store.Record
	for i := range 5000 {
		m := filter.Meta{Fields: filter.Fields{}}
		if i%7 != 0 {
			m.Fields.Set("n", filter.OfInt(int64(i%5)))
			m.Fields.Set("k", filter.OfString(fmt.Sprint(i%3)))
		}
		records = append(records, plain("pages", fmt.Sprintf("p:%04d", (i*2477)%5000), "text", m))
	}
	if err := c.Upsert(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	ref.Upsert(records)
	for _, q := range []store.ListQuery{{Limit: 999}, {By: "n", Limit: 501}, {By: "n", Desc: true, Limit: 2000}, {By: "k", Desc: true, Limit: 77}} {
		q.Filter = filter.Not{Filter: filter.Eq{Field: "n", Value: filter.OfInt(3)}}
		want := ref.List(q.Filter, q.By, q.Desc)
		if diff := cmp.Diff(want, pages(t, c, q, int64(len(want)))); diff != "" {
			t.Errorf("list by %q: %s", q.By, diff)
		}
	}
	first, err := c.List(t.Context(), store.ListQuery{})
	if err != nil || len(first.IDs) != 1000 || first.Total != 5000 {
		t.Fatalf("default page: %d of %d, %v", len(first.IDs), first.Total, err)
	}
	// The page after one whose last document has gone begins where that one stood.
	if _, err := c.Delete(t.Context(), first.IDs[999:]); err != nil {
		t.Fatal(err)
	}
	second, err := c.List(t.Context(), store.ListQuery{After: first.Next, Limit: 1})
	if err != nil || len(second.IDs) != 1 || second.IDs[0] != "p:1000" {
		t.Errorf("page after a deleted document: %v, %v", second.IDs, err)
	}
}

// plain makes a record of one chunk, its whole text.
func plain(collection, id, text string, m filter.Meta) store.Record {
	d := sextant.Document{ID: sextant.DocumentID(id), Collection: collection, Text: text, Meta: m, Revision: "1"}
	return store.Record{Document: d, Chunks: []sextant.Chunk{{ID: sextant.ChunkID(d.ID, 0), DocumentID: d.ID, End: len(text), Content: text}}}
}
