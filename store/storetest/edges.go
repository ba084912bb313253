package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// testLimits: a limit that is missing, absurd or larger than what there is never loses a
// result, and what is asked for first comes first whatever the limit.
func testLimits(t *testing.T, open Open) {
	c := ensure(t, opened(t, open), states("test-4"))
	dense := true
	for i := range 130 {
		rec := plain("states", fmt.Sprintf("s:%03d", i), fmt.Sprintf("ice on wing number %d and %s ice", i, strings.Repeat("more ", i%7)), inState("TX"))
		a := float64(i) / 100
		rec.Vectors = [][]float32{{float32(math.Cos(a)), float32(math.Sin(a)), 0, 0}}
		if err := c.Upsert(t.Context(), []store.Record{rec}); err != nil {
			t.Fatal(err)
		}
	}
	search := map[string]func(limit int) ([]store.Hit, error){
		"lexical": func(limit int) ([]store.Hit, error) {
			return c.SearchLexical(t.Context(), store.LexicalQuery{Text: "wing ice", Limit: limit})
		},
		"dense": func(limit int) ([]store.Hit, error) {
			return c.SearchDense(t.Context(), store.DenseQuery{Vector: []float32{1, 0, 0, 0}, Limit: limit})
		},
	}
	for name, ask := range search {
		all, err := ask(math.MaxInt)
		if errors.Is(err, store.ErrUnsupported) {
			dense = false
			continue
		}
		if err != nil || len(all) != 130 {
			t.Fatalf("%s: %d of 130 hits, %v", name, len(all), err)
		}
		for limit, want := range map[int]int{0: 10, -1: 10, math.MinInt: 10, 1: 1, 49: 49, 50: 50, 51: 51, 129: 129, 130: 130, 131: 130, 1 << 40: 130} {
			hits, err := ask(limit)
			if diff := cmp.Diff(all[:want], hits, same); diff != "" || err != nil {
				t.Errorf("%s with limit %d: %d hits, %v %s", name, limit, len(hits), err, diff)
			}
		}
	}
	for limit, want := range map[int]int{0: 130, -5: 130, 7: 7, math.MaxInt: 130} {
		if list, err := c.List(t.Context(), store.ListQuery{Limit: limit}); err != nil || len(list.IDs) != want || list.Total != 130 || (list.Next == "") != (want == 130) {
			t.Errorf("list with limit %d: %d of %d, %v", limit, len(list.IDs), list.Total, err)
		}
	}
	for limit, want := range map[int]int{0: 1, -5: 1, 1: 1, math.MaxInt: 1} {
		if f, err := c.Facet(t.Context(), store.FacetQuery{Field: "state", Limit: limit}); err != nil || len(f.Buckets) != want {
			t.Errorf("facet with limit %d: %+v, %v", limit, f, err)
		}
	}
	if dense {
		testUnfitVectors(t, c)
	}
}

// testUnfitVectors: a query that cannot be compared is refused, not answered with nothing.
func testUnfitVectors(t *testing.T, c store.Collection) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range [][]float32{nil, {}, {1}, {1, 0, 0}, {1, 0, 0, 0, 0}, {0, 0, 0, 0}, {nan, 0, 0, 0}, {1, nan, 0, 0}, {inf, 0, 0, 0}, {0.5, 0, 0, 0}, {3e38, 3e38, 0, 0}} {
		for _, f := range []filter.Filter{nil, isState("TX"), isState("none")} {
			if _, err := c.SearchDense(t.Context(), store.DenseQuery{Vector: v, Filter: f}); !errors.Is(err, store.ErrRecord) {
				t.Errorf("vector %v under %v: %v", v, f, err)
			}
		}
	}
}

// testNothing: a collection without documents, and documents without text or chunks,
// answer everything with nothing.
func testNothing(t *testing.T, open Open) {
	c := ensure(t, opened(t, open), incidents())
	bare := plain("incidents", "n:bare", "", filter.Meta{})
	bare.Chunks = nil
	for _, records := range [][]store.Record{nil, {}, {bare, plain("incidents", "n:empty", "", filter.Meta{})}} {
		if err := c.Upsert(t.Context(), records); err != nil {
			t.Fatal(err)
		}
		n := int64(len(records))
		if got, err := c.Count(t.Context(), filter.All, ""); got != n || err != nil {
			t.Errorf("count: %d of %d, %v", got, n, err)
		}
		if got, err := c.Count(t.Context(), filter.All, "aircraft"); got != 0 || err != nil {
			t.Errorf("aircraft: %d, %v", got, err)
		}
		for _, text := range []string{"", " ", "\x00", "ice", strings.Repeat("ice ", 10_000)} {
			if hits, err := c.SearchLexical(t.Context(), store.LexicalQuery{Text: text}); len(hits) > 0 || err != nil {
				t.Errorf("search %.20q: %d hits, %v", text, len(hits), err)
			}
		}
		if f, err := c.Facet(t.Context(), store.FacetQuery{Field: "state"}); len(f.Buckets) > 0 || f.Unknown != n || err != nil {
			t.Errorf("facet: %+v, %v", f, err)
		}
		if s, err := c.Sum(t.Context(), filter.All, "date"); s.Known != 0 || s.Min.Kind() != 0 || err != nil {
			t.Errorf("sum: %+v, %v", s, err)
		}
	}
	ids := []sextant.DocumentID{"n:bare", "n:none", "n:bare", ""}
	docs, err := c.Get(t.Context(), ids)
	if err != nil || len(docs) != 2 {
		t.Errorf("get of one twice: %d, %v", len(docs), err)
	}
	if n, err := c.Delete(t.Context(), ids); n != 1 || err != nil {
		t.Errorf("delete of one twice: %d, %v", n, err)
	}
}

// testEncodings: what is no UTF-8 is refused wherever it stands, since no answer in JSON
// could show it; what is, however odd, comes back byte for byte.
func testEncodings(t *testing.T, open Open) {
	c := ensure(t, opened(t, open), incidents())
	odd := "a\x00b\u202e\ufeff\U0010ffff é e\u0301 \r\n"
	put := func(change func(*store.Record)) error {
		rec := plain("incidents", "n:1", odd, filter.Meta{Fields: filter.Fields{}})
		change(&rec)
		return c.Upsert(t.Context(), []store.Record{rec})
	}
	places := map[string]func(*store.Record, string){
		"title":      func(r *store.Record, s string) { r.Document.Title = s },
		"revision":   func(r *store.Record, s string) { r.Document.Revision = s },
		"heading":    func(r *store.Record, s string) { r.Chunks[0].Heading = s },
		"source":     func(r *store.Record, s string) { r.Document.Source.Name = s },
		"source URI": func(r *store.Record, s string) { r.Document.Source.URI = s },
		"part":       func(r *store.Record, s string) { r.Document.Parts = []sextant.Part{{Kind: s, Locator: s, End: 1}} },
		"keyword":    func(r *store.Record, s string) { r.Document.Meta.Fields["city"] = []filter.Value{filter.OfString(s)} },
		"in a list": func(r *store.Record, s string) {
			r.Document.Meta.Fields["tags"] = []filter.Value{filter.OfString("x"), filter.OfString(s)}
		},
		"in a group": func(r *store.Record, s string) {
			r.Document.Meta.Groups = map[string][]filter.Fields{"aircraft": {{"make": {filter.OfString(s)}}}}
		},
		"document id": func(r *store.Record, s string) {
			r.Document.ID = sextant.DocumentID("n:" + s)
			r.Chunks[0].DocumentID, r.Chunks[0].ID = r.Document.ID, sextant.ChunkID(r.Document.ID, 0)
		},
	}
	for name, place := range places {
		if err := put(func(r *store.Record) { place(r, odd) }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		err := put(func(r *store.Record) { place(r, "bad \xff\xfe") })
		if !errors.Is(err, store.ErrRecord) && !errors.Is(err, filter.ErrSchema) {
			t.Errorf("%s that is no UTF-8: %v", name, err)
		}
	}
	if n, err := c.Count(t.Context(), filter.Eq{Field: "city", Value: filter.OfString(odd)}, ""); err != nil || n > 1 {
		t.Errorf("count: %d, %v", n, err)
	}
}

// testByHand compares counts with conditions written out in Go, over values at the
// borders of what can be stored: neither the filters' own evaluator nor a generator of
// them has a part in it.
func testByHand(t *testing.T, open Open) {
	type thing struct {
		n    int64
		when int64 // microseconds
		tags []string
		size []float64 // none or one
	}
	spec := sextant.Collection{Name: "things", Schema: filter.Schema{Fields: []filter.Field{
		{Name: "n", Kind: filter.Int}, {Name: "when", Kind: filter.Time}, {Name: "tags", Kind: filter.Keyword, List: true}, {Name: "size", Kind: filter.Float}}}}
	c := ensure(t, opened(t, open), spec)
	rng := rand.New(rand.NewPCG(41, 41))
	day := time.Date(2012, 2, 29, 0, 0, 0, 0, time.UTC).UnixMicro()
	ints := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 53, -1<<53 - 1, -1, 0, 1, 1 << 53, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64}
	whens := []int64{day - 1, day, day + 1, day + 24*3600e6 - 1, day + 24*3600e6, -1, 0, 1, time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMicro()}
	tags := []string{"a", "a", "A", "", "é", "e\u0301", "日本"}
	sizes := []float64{-math.MaxFloat64, -1, math.Copysign(0, -1), 0, math.SmallestNonzeroFloat64, 0.1 + 0.2, 0.3, math.MaxFloat64}
	pick := func(n int) int { return rng.IntN(n) }
	held := map[string]thing{}
	for range 300 {
		id := fmt.Sprintf("t:%d", pick(120))
		x := thing{n: ints[pick(len(ints))], when: whens[pick(len(whens))]}
		m := filter.Meta{Fields: filter.Fields{"n": {filter.OfInt(x.n)}, "when": {filter.OfMicros(x.when)}}}
		for range pick(4) {
			x.tags = append(x.tags, tags[pick(len(tags))])
			m.Fields["tags"] = append(m.Fields["tags"], filter.OfString(x.tags[len(x.tags)-1]))
		}
		if pick(3) > 0 {
			x.size = []float64{sizes[pick(len(sizes))]}
			m.Fields["size"] = []filter.Value{filter.OfFloat(x.size[0])}
		}
		if err := c.Upsert(t.Context(), []store.Record{plain("things", id, "text", m)}); err != nil {
			t.Fatal(err)
		}
		held[id] = x
		if gone := fmt.Sprintf("t:%d", pick(120)); pick(4) == 0 {
			if _, err := c.Delete(t.Context(), []sextant.DocumentID{sextant.DocumentID(gone)}); err != nil {
				t.Fatal(err)
			}
			delete(held, gone)
		}
	}
	has := func(tag string) func(thing) bool { return func(x thing) bool { return slices.Contains(x.tags, tag) } }
	type question struct {
		f    filter.Filter
		want func(thing) bool
	}
	var questions []question
	for _, n := range ints {
		v := filter.OfInt(n)
		questions = append(questions,
			question{filter.Eq{Field: "n", Value: v}, func(x thing) bool { return x.n == n }},
			question{filter.Range{Field: "n", Lo: v}, func(x thing) bool { return x.n >= n }},
			question{filter.Range{Field: "n", Hi: v, HiExcl: true}, func(x thing) bool { return x.n < n }},
			question{filter.Not{Filter: filter.In{Field: "n", Values: []filter.Value{v, v}}}, func(x thing) bool { return x.n != n }})
	}
	for _, w := range whens {
		v := filter.OfMicros(w)
		questions = append(questions,
			question{filter.Range{Field: "when", Lo: v, LoExcl: true}, func(x thing) bool { return x.when > w }},
			question{filter.Range{Field: "when", Lo: filter.OfMicros(day), Hi: v}, func(x thing) bool { return x.when >= day && x.when <= w }})
	}
	for _, tag := range tags {
		eq := filter.Eq{Field: "tags", Value: filter.OfString(tag)}
		questions = append(questions,
			question{eq, has(tag)}, question{filter.Not{Filter: eq}, func(x thing) bool { return !has(tag)(x) }},
			question{filter.And{eq, filter.Not{Filter: filter.Exists{Field: "size"}}}, func(x thing) bool { return has(tag)(x) && len(x.size) == 0 }})
	}
	for _, s := range sizes {
		v := filter.OfFloat(s)
		questions = append(questions,
			question{filter.Eq{Field: "size", Value: v}, func(x thing) bool { return len(x.size) > 0 && x.size[0] == s }},
			question{filter.Not{Filter: filter.Range{Field: "size", Lo: v}}, func(x thing) bool { return len(x.size) == 0 || x.size[0] < s }})
	}
	for _, q := range questions {
		want := int64(0)
		for _, x := range held {
			if q.want(x) {
				want++
			}
		}
		if got, err := c.Count(t.Context(), q.f, ""); got != want || err != nil {
			t.Errorf("count of %#v: %d, %v; want %d", q.f, got, err, want)
		}
	}
}

// testGivingUp: callers give up in the middle of searches and scans while others write;
// each gets an answer or its own context's error, and nobody else is harmed.
func testGivingUp(t *testing.T, open Open) {
	c := ensure(t, opened(t, open), states("test-4"))
	batch := func(from int) []store.Record {
		var out []store.Record
		for i := from; i < from+50; i++ {
			rec := plain("states", fmt.Sprintf("s:%04d", i%400), fmt.Sprintf("ice on wing %d", i), inState("TX"))
			a := float64(i)
			rec.Vectors = [][]float32{{float32(math.Cos(a)), float32(math.Sin(a)), 0, 0}}
			out = append(out, rec)
		}
		return out
	}
	if err := c.Upsert(t.Context(), batch(0)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for reader := range 4 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(reader), 5))
			for range 60 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(1500))*time.Microsecond)
				err := errors.Join(askAll(ctx, c)...)
				cancel()
				if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, store.ErrUnsupported) {
					t.Errorf("reader: %v", err)
				}
			}
		})
	}
	all.Go(func() {
		for i := range 40 {
			err := c.Upsert(t.Context(), batch(10*i))
			if _, e := c.Delete(t.Context(), []sextant.DocumentID{sextant.DocumentID(fmt.Sprintf("s:%04d", 10*i))}); err == nil {
				err = e
			}
			if err != nil {
				t.Errorf("writer: %v", err)
			}
		}
	})
	all.Wait()
	list, err := c.List(t.Context(), store.ListQuery{})
	docs, e := c.Get(t.Context(), list.IDs)
	if err != nil || e != nil || int64(len(docs)) != list.Total {
		t.Errorf("%d documents of %d, %v, %v", len(docs), list.Total, err, e)
	}
}

func askAll(ctx context.Context, c store.Collection) []error {
	_, words := c.SearchLexical(ctx, store.LexicalQuery{Text: "wing ice", Limit: 100})
	_, near := c.SearchDense(ctx, store.DenseQuery{Vector: []float32{1, 0, 0, 0}, Filter: isState("TX"), Limit: 100})
	_, facet := c.Facet(ctx, store.FacetQuery{Field: "state"})
	errs := []error{words, near, facet}
	for _, err := range c.Scan(ctx, isState("TX")) {
		errs = append(errs, err)
	}
	return errs
}
