//go:build integration

package chroma

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/internal/testbed"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/storetest"
)

func at(t *testing.T, url, database string) *Store {
	t.Helper()
	s, err := Open(Options{URL: url, Database: database, Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// wings is a collection of n documents of two chunks each.
func wings(t *testing.T, s *Store, n int) *collection {
	t.Helper()
	c, err := s.Ensure(t.Context(), sextant.Collection{Name: "wings", Encoder: "test-2", Schema: filter.Schema{Fields: []filter.Field{{Name: "state", Kind: filter.Keyword}}}})
	if err != nil {
		t.Fatal(err)
	}
	var batch []store.Record
	for i := range n {
		batch = append(batch, wing(i, "first"))
	}
	if err := c.Upsert(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return c.(*collection)
}

func wing(i int, revision string) store.Record {
	d := sextant.Document{ID: sextant.DocumentID(fmt.Sprintf("w:%03d", i)), Collection: "wings", Title: "Wing", Text: "ice on the wing; frost on the tail", Revision: revision,
		Meta: filter.Meta{Fields: filter.Fields{"state": {filter.OfString([]string{"TX", "AK"}[i%2])}}}}
	rec := store.Record{Document: d}
	for k, cut := range [][2]int{{0, 16}, {16, len(d.Text)}} {
		rec.Chunks = append(rec.Chunks, sextant.Chunk{ID: sextant.ChunkID(d.ID, k), DocumentID: d.ID, Index: k, Start: cut[0], End: cut[1], Content: d.Text[cut[0]:cut[1]]})
		sin, cos := math.Sincos(float64(i) + float64(k)/2)
		rec.Vectors = append(rec.Vectors, []float32{float32(cos), float32(sin)})
	}
	return rec
}

// everything asks what there is to ask, and returns what failed and what did not.
func everything(ctx context.Context, c store.Collection) map[string]error {
	texas := filter.Eq{Field: "state", Value: filter.OfString("TX")}
	errs := map[string]error{}
	_, errs["count"] = c.Count(ctx, texas, "")
	_, errs["count all"] = c.Count(ctx, filter.All, "")
	_, errs["facet"] = c.Facet(ctx, store.FacetQuery{Field: "state"})
	_, errs["list"] = c.List(ctx, store.ListQuery{Filter: texas})
	_, errs["get"] = c.Get(ctx, []sextant.DocumentID{"w:001"})
	_, errs["words"] = c.SearchLexical(ctx, store.LexicalQuery{Text: "ice"})
	_, errs["vectors"] = c.SearchDense(ctx, store.DenseQuery{Vector: []float32{1, 0}})
	errs["upsert"] = c.Upsert(ctx, []store.Record{wing(1, "second")})
	return errs
}

// What somebody else does to a collection under a store's hands never makes it answer
// with less: by a process that knew it before, and by one that sees it for the first time.
func TestIntegrationUnderneath(t *testing.T) {
	server := testbed.Chroma(t, t.TempDir(), 0)
	for i, tt := range []struct {
		name string
		do   func(t *testing.T, s *Store, r *row) error
		// knows is whether a process that has the collection in memory notices at once,
		// whatever it is asked.
		knows bool
	}{
		{"records dropped", func(t *testing.T, s *Store, r *row) error { return s.client.drop(t.Context(), r.Name) }, false},
		{"catalogue dropped", func(t *testing.T, s *Store, r *row) error { return s.client.drop(t.Context(), catalogPrefix+"wings") }, true},
		{"other dimension", func(t *testing.T, s *Store, r *row) error {
			if err := s.client.drop(t.Context(), r.Name); err != nil {
				return err
			}
			made, err := s.client.create(t.Context(), r.Name, nil)
			if err != nil {
				return err
			}
			var recs records
			recs.add("x", []float32{1, 0, 0}, values(`{"a":1}`), "", nil)
			return s.client.add(t.Context(), made.ID, recs)
		}, false},
		{"records deleted", func(t *testing.T, s *Store, r *row) error {
			ids, err := s.client.ids(t.Context(), r.Records, nil)
			if err != nil {
				return err
			}
			return s.client.remove(t.Context(), r.Records, ids[10:20])
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			database := fmt.Sprintf("under%d", i)
			s := at(t, server.URL, database)
			c := wings(t, s, 40)
			if _, err := c.Count(t.Context(), filter.Exists{Field: "state"}, ""); err != nil { // known from now on
				t.Fatal(err)
			}
			r, _ := c.now()
			if err := tt.do(t, s, r); err != nil {
				t.Fatal(err)
			}
			other := at(t, server.URL, database)
			fresh, err := other.Open(t.Context(), "wings")
			if tt.knows {
				if !errors.Is(err, store.ErrNotFound) {
					t.Errorf("opened: %v", err)
				}
				for what, err := range everything(t.Context(), c) {
					if !errors.Is(err, store.ErrUnavailable) {
						t.Errorf("%s: %v", what, err)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for what, err := range everything(t.Context(), fresh) {
				if !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrCorrupt) {
					t.Errorf("opened now: %s: %v", what, err)
				}
			}
			for what, ask := range map[string]func() error{
				"get": func() error { _, err := c.Get(t.Context(), []sextant.DocumentID{"w:006"}); return err },
				"words": func() error {
					_, err := c.SearchLexical(t.Context(), store.LexicalQuery{Text: "ice", Limit: 100})
					return err
				},
				"vectors": func() error {
					_, err := c.SearchDense(t.Context(), store.DenseQuery{Vector: []float32{1, 0}, Limit: 100})
					return err
				},
			} {
				if err := ask(); !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrCorrupt) {
					t.Errorf("known before: %s: %v", what, err)
				}
			}
		})
	}
}

// Damage is named, document by document; what is let go of can be taken in again.
func TestIntegrationInspect(t *testing.T) {
	server := testbed.Chroma(t, t.TempDir(), 0)
	s := at(t, server.URL, "inspect")
	c := wings(t, s, 40)
	r, d := c.now()
	cut := func(ids ...string) {
		t.Helper()
		if err := s.client.remove(t.Context(), r.Records, ids); err != nil {
			t.Fatal(err)
		}
	}
	cut(d["w:003"].key("w:003", 1).String(), d["w:004"].key("w:004", 0).String())
	all, _ := d["w:005"].keys("w:005")
	cut(all...)
	other := at(t, server.URL, "inspect")
	opened, err := other.Open(t.Context(), "wings")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Count(t.Context(), filter.All, ""); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("count: %v", err)
	}
	in := opened.(store.Inspector)
	found, err := in.Inspect(t.Context())
	if err != nil || len(found.Whole) != 37 || len(found.Damaged) != 2 || found.Damaged["w:003"] == "" || found.Damaged["w:004"] == "" || found.Lost != 1 {
		t.Errorf("inspect: %d whole, %v damaged, %d lost, %v", len(found.Whole), found.Damaged, found.Lost, err)
	}
	if _, err := in.Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := opened.Count(t.Context(), filter.All, ""); n != 37 || err != nil {
		t.Errorf("count after repair: %d, %v", n, err)
	}
	if err := opened.Upsert(t.Context(), []store.Record{wing(3, "again"), wing(4, "again"), wing(5, "again")}); err != nil {
		t.Fatal(err)
	}
	if found, err := in.Inspect(t.Context()); err != nil || len(found.Whole) != 40 || len(found.Damaged)+int(found.Lost) > 0 {
		t.Errorf("inspect after taking in again: %d whole, %v, %v", len(found.Whole), found.Damaged, err)
	}
}

// A condition that the server is given lets every matching document through, and no other
// where it claims to be exact.
func TestIntegrationWhere(t *testing.T) {
	server := testbed.Chroma(t, t.TempDir(), 0)
	exact, all := 0, 0
	for round := range 6 {
		s := at(t, server.URL, fmt.Sprintf("where%d", round))
		spec := storetest.Specs("where").Example(round + 1)
		spec.Encoder = ""
		cc, err := s.Ensure(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		c := cc.(*collection)
		metas := map[sextant.DocumentID]filter.Meta{}
		var batch []store.Record
		for i := range 60 {
			rec := wing(i, "1")
			rec.Document.Collection, rec.Vectors = "where", nil
			rec.Document.Meta = storetest.Metas(spec.Schema).Example(100*round + i)
			metas[rec.Document.ID] = rec.Document.Meta
			batch = append(batch, rec)
		}
		if err := c.Upsert(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		r, _ := c.now()
		for i := range 80 {
			f, err := spec.Schema.Resolve(storetest.Filters(spec.Schema).Example(1000*round + i))
			if err != nil {
				t.Fatal(err)
			}
			cond, isExact := where(&spec.Schema, f)
			all++
			if isExact {
				exact++
			}
			var given any
			if cond != nil {
				given = cond
			}
			ids, err := s.client.ids(t.Context(), r.Records, given)
			if err != nil {
				t.Errorf("%#v as %v: %v", f, cond, err)
				continue
			}
			through := map[sextant.DocumentID]bool{}
			for _, id := range ids {
				k, _ := parseKey(id)
				through[k.document] = true
			}
			for id, m := range metas {
				if want := spec.Schema.Match(f, m); !hasMentions(f) && (want && !through[id] || isExact && want != through[id]) {
					t.Errorf("%#v as %v (exact: %t): %s of %v: %t, want %t", f, cond, isExact, id, m, through[id], want)
				}
			}
		}
	}
	t.Logf("%d of %d conditions exact", exact, all)
}

func hasMentions(f filter.Filter) bool {
	return strings.Contains(fmt.Sprintf("%#v", f), "filter.Mentions")
}

// A server that is started over a copy of the folder answers a process that knows nothing
// and may change nothing, by words and by vectors.
func TestIntegrationCopiedStorage(t *testing.T) {
	dir := t.TempDir()
	server := testbed.Chroma(t, filepath.Join(dir, "a"), 0)
	s := at(t, server.URL, "copied")
	c := wings(t, s, 300)
	ask := func(c store.Collection) map[string]any {
		t.Helper()
		out := map[string]any{}
		var errs [4]error
		texas := filter.Eq{Field: "state", Value: filter.OfString("TX")}
		out["count"], errs[0] = c.Count(t.Context(), texas, "")
		out["facet"], errs[1] = c.Facet(t.Context(), store.FacetQuery{Field: "state"})
		out["words"], errs[2] = c.SearchLexical(t.Context(), store.LexicalQuery{Text: "frost", Filter: texas, Limit: 20})
		out["vectors"], errs[3] = c.SearchDense(t.Context(), store.DenseQuery{Vector: []float32{1, 0}, Filter: texas, Limit: 20})
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := ask(c)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	var fsys fs.FS = os.DirFS(filepath.Join(dir, "a"))
	if err := os.CopyFS(filepath.Join(dir, "b"), fsys); err != nil {
		t.Fatal(err)
	}
	copied := testbed.Chroma(t, filepath.Join(dir, "b"), 0)
	reader, err := Open(Options{URL: copied.URL, Database: "copied", ReadOnly: true, Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	opened, err := reader.Open(t.Context(), "wings")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, ask(opened), cmp.AllowUnexported(filter.Value{})); diff != "" {
		t.Error(diff)
	}
	if err := opened.Upsert(t.Context(), []store.Record{wing(1, "x")}); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("upsert into a store open for reading: %v", err)
	}
}

// Two processes write the same collection in turns, and each sees what the other did.
func TestIntegrationTwoWriters(t *testing.T) {
	server := testbed.Chroma(t, t.TempDir(), 0)
	a, b := at(t, server.URL, "two"), at(t, server.URL, "two")
	a.terms.idle, b.terms.idle = 50*time.Millisecond, 50*time.Millisecond
	ca := wings(t, a, 10)
	cb, err := b.Open(t.Context(), "wings")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		c := []store.Collection{ca, cb}[i%2]
		if err := c.Upsert(t.Context(), []store.Record{wing(i, "turn"), wing(20+i, "turn")}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []store.Collection{ca, cb} {
			if n, err := c.Count(t.Context(), filter.Exists{Field: "state"}, ""); n != int64(11+i) || err != nil {
				t.Errorf("turn %d: %d documents, %v", i, n, err)
			}
			hits, err := c.SearchLexical(t.Context(), store.LexicalQuery{Text: "frost", Limit: 100})
			if len(hits) != 11+i || err != nil {
				t.Errorf("turn %d: %d hits, %v", i, len(hits), err)
			}
		}
	}
	r, _ := ca.now()
	ids, err := a.client.ids(t.Context(), r.Records, nil)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	if len(ids) != 32 {
		t.Errorf("%d records on the server, want 32: %v", len(ids), ids)
	}
}
