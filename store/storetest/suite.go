// Package storetest is the law for stores: a suite every implementation passes, with
// a reference written to be obviously right as its oracle.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
)

// Open opens the store whose data are named by dir, an empty folder at first. Opening
// again after Close finds what was stored.
type Open func(t testing.TB, dir string) store.Store

// Differences are where a store may fall short of the embedded one and still keep the
// contract. The zero value is none. What they excuse is said with the test that needed it;
// a wrong answer is never excused.
type Differences struct {
	// Approximate: SearchDense may miss some of the nearest. What it returns has its true
	// score, is in order and under the filter, and is as much as was asked for.
	Approximate bool
	// Unisolated: who reads while a batch is written may see a part of it.
	Unisolated bool
	// Refuses: a question may be answered with store.ErrUnsupported.
	Refuses bool
}

// Run runs the suite. Every test has a folder of its own, and they run side by side.
func Run(t *testing.T, open Open) { RunWith(t, open, Differences{}) }

// RunWith runs the suite on a store with differences.
func RunWith(t *testing.T, open Open, d Differences) {
	for _, tt := range []struct {
		name string
		test func(*testing.T, Open)
	}{
		{"Questions", d.testQuestions},
		{"History", d.testHistory},
		{"Pages", testPages},
		{"Search", testSearch},
		{"Dense", d.testDense},
		{"Hybrid", d.testHybrid},
		{"Reencode", d.testReencode},
		{"Specifications", testSpecifications},
		{"Collections", testCollections},
		{"Refused", testRefused},
		{"Journal", testJournal},
		{"Versions", testVersions},
		{"Writers", d.testWriters},
		{"Limits", testLimits},
		{"Nothing", testNothing},
		{"Encodings", testEncodings},
		{"ByHand", testByHand},
		{"GivingUp", testGivingUp},
		{"Cancelled", testCancelled},
		{"Closed", testClosed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(t, open)
		})
	}
}

// opened opens a store that is closed with the test.
func opened(t *testing.T, open Open) store.Store {
	t.Helper()
	s := open(t, t.TempDir())
	t.Cleanup(func() { s.Close() })
	return s
}

// ensure makes a collection.
func ensure(t testing.TB, s store.Store, spec sextant.Collection) store.Collection {
	t.Helper()
	c, err := s.Ensure(context.Background(), spec)
	if err != nil {
		t.Fatalf("ensure: %v", err)
	}
	return c
}

// same are the options under which two values a store may give for one count as equal.
var same = cmp.Options{cmp.AllowUnexported(filter.Value{}), cmpopts.EquateEmpty()}

// subject is a collection under test beside its oracle.
type subject struct {
	t   *rapid.T
	c   store.Collection
	ref *Reference
	may Differences
}

// refused reports whether an error is one that the store may answer with.
func (s *subject) refused(err error) bool {
	return s.may.Refuses && errors.Is(err, store.ErrUnsupported)
}

// testQuestions asks generated questions of generated collections.
func (d Differences) testQuestions(t *testing.T, open Open) {
	s := opened(t, open)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		spec := Specs(fmt.Sprintf("c%d", n)).Draw(rt, "spec")
		sub := &subject{rt, ensure(t, s, spec), NewReference(spec), d}
		defer func() { s.Drop(context.Background(), spec.Name) }()
		records := rapid.SliceOfN(Records(spec), 0, 12).Draw(rt, "records")
		sub.upsert(records)
		for range 8 {
			sub.question()
		}
	})
}

func (s *subject) upsert(records []store.Record) {
	before := s.c.Sequence()
	if err := s.c.Upsert(context.Background(), records); err != nil {
		s.t.Fatalf("upsert: %v", err)
	}
	s.ref.Upsert(records)
	if len(records) > 0 && s.c.Sequence() <= before {
		s.t.Fatalf("sequence %d after %d", s.c.Sequence(), before)
	}
}

// question asks everything there is to ask under one filter.
func (s *subject) question() {
	raw := Filters(s.ref.spec.Schema).Draw(s.t, "filter")
	f, err := s.ref.spec.Schema.Resolve(raw)
	if err != nil {
		s.t.Fatalf("generated filter: %v", err)
	}
	s.counts(raw, f)
	s.documents(raw, f)
	s.words(raw, f)
	field := rapid.SampledFrom(s.ref.spec.Schema.Fields).Draw(s.t, "field")
	if len(field.AnyOf) > 0 {
		return
	}
	s.facets(raw, f, field)
	s.sums(raw, f, field)
	s.lists(raw, f, field)
}

func (s *subject) counts(raw, f filter.Filter) {
	for _, unit := range s.units() {
		got, err := s.c.Count(context.Background(), raw, unit)
		if s.refused(err) {
			continue
		}
		if want := s.ref.Count(f, unit); got != want || err != nil {
			s.t.Fatalf("count of %#v in %q: %d, %v; want %d", raw, unit, got, err, want)
		}
	}
}

func (s *subject) units() []string {
	units := []string{"", store.Documents}
	for _, g := range s.ref.spec.Schema.Groups {
		units = append(units, g.Name)
	}
	return units
}

func (s *subject) documents(raw, f filter.Filter) {
	var got []sextant.Document
	for d, err := range s.c.Scan(context.Background(), raw) {
		if s.refused(err) {
			return
		}
		if err != nil {
			s.t.Fatalf("scan of %#v: %v", raw, err)
		}
		got = append(got, d)
	}
	if diff := cmp.Diff(s.ref.Documents(f), got, same); diff != "" {
		s.t.Fatalf("scan of %#v: %s", raw, diff)
	}
}

func (s *subject) words(raw, f filter.Filter) {
	text := rapid.SampledFrom([]string{"", "the lake", "landing ice", "N-123AB", "135.293 (a)", "Pena 日本", "nothing_of_it"}).Draw(s.t, "query")
	hits, err := s.c.SearchLexical(context.Background(), store.LexicalQuery{Text: text, Filter: raw, Limit: 1000})
	if s.refused(err) {
		return
	}
	if err != nil {
		s.t.Fatalf("search %q under %#v: %v", text, raw, err)
	}
	var got []string
	for i, h := range hits {
		got = append(got, h.Chunk.ID)
		if i > 0 && !inOrder(hits[i-1], h) {
			s.t.Fatalf("hits out of order: %+v before %+v", hits[i-1], h)
		}
		s.checkHit(h)
	}
	slices.Sort(got)
	if diff := cmp.Diff(s.ref.WithWords(f, lexical.English(), text), got, same); diff != "" {
		s.t.Fatalf("search %q under %#v: %s", text, raw, diff)
	}
}

// inOrder reports whether hits follow each other by falling score, then id, then index.
func inOrder(a, b store.Hit) bool {
	if a.Score != b.Score {
		return a.Score > b.Score
	}
	if a.Chunk.DocumentID != b.Chunk.DocumentID {
		return a.Chunk.DocumentID < b.Chunk.DocumentID
	}
	return a.Chunk.Index < b.Chunk.Index
}

// checkHit compares a hit with the document it is of.
func (s *subject) checkHit(h store.Hit) {
	rec := s.ref.records[h.Chunk.DocumentID]
	if h.Chunk.Index >= len(rec.Chunks) {
		s.t.Fatalf("hit of a chunk that is not there: %+v", h.Chunk)
	}
	part, _ := rec.Document.PartAt(h.Chunk.Start)
	want := store.Hit{Chunk: rec.Chunks[h.Chunk.Index], Title: rec.Document.Title, Meta: rec.Document.Meta, Locator: part.Locator, Score: h.Score, Terms: h.Terms}
	if diff := cmp.Diff(want, h, same); diff != "" {
		s.t.Fatalf("hit: %s", diff)
	}
}

func (s *subject) facets(raw, f filter.Filter, field filter.Field) {
	q := store.FacetQuery{Field: field.Name, Filter: raw, Limit: rapid.IntRange(0, 3).Draw(s.t, "limit")}
	if rapid.Bool().Draw(s.t, "elements") && len(s.ref.spec.Schema.Groups) > 0 {
		q.Unit = field.Group
		if q.Unit == "" {
			q.Unit = rapid.SampledFrom(s.ref.spec.Schema.Groups).Draw(s.t, "unit").Name
		}
	}
	ordered := field.Kind != filter.Keyword && field.Kind != filter.Bool
	switch how := rapid.IntRange(0, 2).Draw(s.t, "buckets"); {
	case how == 1 && field.Kind == filter.Time:
		q.By = rapid.SampledFrom([]store.Interval{store.Year, store.Quarter, store.Month, store.Day, store.MonthOfYear, store.Weekday, store.Hour}).Draw(s.t, "by")
	case how == 2 && ordered:
		q.Ranges = rapid.SliceOfN(Ranges(field), 1, 3).Draw(s.t, "ranges")
	}
	got, err := s.c.Facet(context.Background(), q)
	if s.refused(err) {
		return
	}
	if err != nil {
		s.t.Fatalf("facet %#v: %v", q, err)
	}
	resolved := q
	resolved.Filter = f
	if diff := cmp.Diff(s.ref.Facet(resolved), got, same); diff != "" {
		s.t.Fatalf("facet %#v: %s", q, diff)
	}
}

func (s *subject) sums(raw, f filter.Filter, field filter.Field) {
	got, err := s.c.Sum(context.Background(), raw, field.Name)
	if s.refused(err) {
		return
	}
	if field.Kind == filter.Keyword || field.Kind == filter.Bool {
		if !errors.Is(err, filter.ErrSchema) {
			s.t.Fatalf("sum of a %s: %v", field.Kind, err)
		}
		return
	}
	want, magnitude := s.ref.Sum(f, field.Name)
	if diff := got.Total - want.Total; err != nil || diff > 1e-12*magnitude || -diff > 1e-12*magnitude {
		s.t.Fatalf("sum of %s under %#v: %v, %v; want %v", field.Name, raw, got, err, want)
	}
	got.Total = want.Total
	if diff := cmp.Diff(want, got, same); diff != "" {
		s.t.Fatalf("sum of %s under %#v: %s", field.Name, raw, diff)
	}
}

// lists reads a list page by page.
func (s *subject) lists(raw, f filter.Filter, field filter.Field) {
	q := store.ListQuery{Filter: raw, Desc: rapid.Bool().Draw(s.t, "desc"), Limit: rapid.IntRange(1, 4).Draw(s.t, "page")}
	if field.Group == "" && !field.List {
		q.By = field.Name
	}
	if _, err := s.c.List(context.Background(), q); s.refused(err) {
		return
	}
	want := s.ref.List(f, q.By, q.Desc)
	got := pages(s.t, s.c, q, int64(len(want)))
	if diff := cmp.Diff(want, got, same); diff != "" {
		s.t.Fatalf("list %#v: %s", q, diff)
	}
}

// pages reads all pages of a list.
func pages(t testingT, c store.Collection, q store.ListQuery, total int64) []sextant.DocumentID {
	var got []sextant.DocumentID
	for {
		page, err := c.List(context.Background(), q)
		if err != nil {
			t.Fatalf("list %#v: %v", q, err)
		}
		if page.Total != total || len(page.IDs) > q.Limit {
			t.Fatalf("list %#v: a page of %d of %d, want at most %d of %d", q, len(page.IDs), page.Total, q.Limit, total)
		}
		got = append(got, page.IDs...)
		if int64(len(got)) > total {
			t.Fatalf("list %#v: more than the %d there are: %q", q, total, got)
		}
		if page.Next == "" {
			return got
		}
		if len(page.IDs) == 0 {
			t.Fatalf("list %#v: an empty page that is not the last", q)
		}
		q.After = page.Next
	}
}

// testingT is what the suite needs of testing.T and rapid.T.
type testingT interface {
	Fatalf(format string, args ...any)
}
