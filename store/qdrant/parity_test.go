//go:build integration

package qdrant_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/qdrant"
	"github.com/sextant-rag/sextant/store/sqlite"
	"github.com/sextant-rag/sextant/store/storetest"
)

// How much parity is tried on.
const (
	parityDocuments = 10_000 // of two chunks each
	parityFilters   = 500
	parityQuestions = 200
	parityDimension = 384
)

func parityCollection() sextant.Collection {
	return sextant.Collection{Name: "parity", Encoder: "test-384", Schema: filter.Schema{
		Fields: []filter.Field{
			{Name: "word", Kind: filter.Keyword}, {Name: "place", Kind: filter.Keyword, Fold: filter.Case}, {Name: "model", Kind: filter.Keyword, Fold: filter.Squeeze},
			{Name: "tags", Kind: filter.Keyword, List: true, Fold: filter.Case}, {Name: "n", Kind: filter.Int}, {Name: "ns", Kind: filter.Int, List: true},
			{Name: "x", Kind: filter.Float}, {Name: "flag", Kind: filter.Bool}, {Name: "at", Kind: filter.Time}, {Name: "days", Kind: filter.Time, List: true},
			{Name: "make", Kind: filter.Keyword, Fold: filter.Case, Group: "aircraft"}, {Name: "engines", Kind: filter.Int, Group: "aircraft"},
			{Name: "either", Kind: filter.Keyword, AnyOf: []string{"word", "place"}},
		},
		Groups: []filter.Group{{Name: "aircraft"}},
	}}
}

// parityRecord makes a document of two chunks out of few words and awkward values. Every
// fifth has the same vectors, as boilerplate does.
func parityRecord(spec *sextant.Collection, rng *rand.Rand, i int) store.Record {
	words := strings.Fields("engine power lost lake pilot landing ice icing wing N123AB PA-28-161 135.293(a) Peña fuel flaps runway the of and over wire struck gear collapsed wind gust")
	var text strings.Builder
	for range 40 + rng.IntN(120) {
		text.WriteString(words[int(math.Abs(rng.NormFloat64())*6)%len(words)])
		text.WriteByte(' ')
	}
	d := sextant.Document{ID: sextant.DocumentID(fmt.Sprintf("p:%05d", i)), Collection: spec.Name, Title: words[i%len(words)], Text: text.String(), Revision: "1",
		Meta: storetest.Metas(spec.Schema).Example(i)}
	d.Parts = []sextant.Part{{Kind: "narrative", Start: 0, End: len(d.Text)}, {Kind: "cause", Start: 0, End: len(d.Text) / 3}}
	half := strings.LastIndexByte(d.Text[:len(d.Text)/2], ' ')
	rec := store.Record{Document: d}
	for k, r := range [][2]int{{0, half}, {half, len(d.Text)}} {
		rec.Chunks = append(rec.Chunks, sextant.Chunk{ID: sextant.ChunkID(d.ID, k), DocumentID: d.ID, Index: k, Start: r[0], End: r[1], Content: d.Text[r[0]:r[1]]})
		if i%5 == 0 {
			rec.Vectors = append(rec.Vectors, unit(rand.New(rand.NewPCG(1, 1)), nil))
			continue
		}
		rec.Vectors = append(rec.Vectors, unit(rng, unit(rand.New(rand.NewPCG(2, uint64(i%50))), nil)))
	}
	return rec
}

// unit draws a vector of unit length, near a centre if there is one.
func unit(rng *rand.Rand, centre []float32) []float32 {
	v := make([]float32, parityDimension)
	sum := 0.0
	for i := range v {
		x := rng.NormFloat64()
		if centre != nil {
			x = 0.05*x + float64(centre[i])
		}
		v[i] = float32(x)
		sum += x * x
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

// The same documents in the embedded store and in Qdrant are the same sets under the same
// filters, count alike, and rank alike by vectors and by words, to the last id.
func TestIntegrationParity(t *testing.T) {
	ctx := t.Context()
	embedded, err := sqlite.Open(ctx, sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer embedded.Close()
	remote := open(t, qdrant.Options{URL: server(t), Prefix: fmt.Sprintf("parity%d_", time.Now().UnixNano()), Timeout: suitePatience})
	spec := parityCollection()
	stores := []store.Store{embedded, remote}
	collections := make([]store.Collection, len(stores))
	for i, s := range stores {
		if collections[i], err = s.Ensure(ctx, spec); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		rng := rand.New(rand.NewPCG(3, 3))
		for from := 0; from < parityDocuments; from += 200 {
			var batch []store.Record
			for j := from; j < from+200; j++ {
				batch = append(batch, parityRecord(&spec, rng, j))
			}
			if err := collections[i].Upsert(ctx, batch); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d documents into %T in %s", parityDocuments, s, time.Since(began).Round(time.Second))
	}
	defer func() { _ = remote.Drop(context.WithoutCancel(ctx), spec.Name) }()
	t.Run("filters", func(t *testing.T) { parityOfFilters(t, spec, collections) })
	t.Run("questions", func(t *testing.T) { parityOfQuestions(t, collections) })
}

func parityOfFilters(t *testing.T, spec sextant.Collection, collections []store.Collection) {
	wrong, matches := 0, int64(0)
	took := make([]time.Duration, 2)
	for i := range parityFilters {
		f := storetest.Filters(spec.Schema).Example(i)
		var lists [2]store.List
		var counts, elements [2]int64
		for k, c := range collections {
			began := time.Now()
			var err error
			if counts[k], err = c.Count(t.Context(), f, ""); err != nil {
				t.Fatalf("count of %#v: %v", f, err)
			}
			took[k] += time.Since(began)
			if elements[k], err = c.Count(t.Context(), f, "aircraft"); err != nil {
				t.Fatalf("count of %#v: %v", f, err)
			}
			if lists[k], err = c.List(t.Context(), store.ListQuery{Filter: f, Limit: parityDocuments}); err != nil {
				t.Fatalf("list of %#v: %v", f, err)
			}
		}
		matches += counts[0]
		if counts[0] != counts[1] || elements[0] != elements[1] || !slices.Equal(lists[0].IDs, lists[1].IDs) || lists[0].Total != counts[0] {
			wrong++
			t.Errorf("filter %d %#v: %d and %d documents, %d and %d aircraft", i, f, counts[0], counts[1], elements[0], elements[1])
		}
	}
	t.Logf("%d filters, %d matches, %d wrong; a count took %s embedded, %s in Qdrant", parityFilters, matches, wrong, took[0]/parityFilters, took[1]/parityFilters)
}

func parityOfQuestions(t *testing.T, collections []store.Collection) {
	rng := rand.New(rand.NewPCG(4, 4))
	texts := []string{"engine lost power over the lake", "ice on the wing", "PA-28-161 landing gear collapsed", "N123AB", "135.293 (a)", "wind gust runway pilot flaps", "Peña", "fuel", "the of and", "icing struck wire"}
	wrong := map[string]int{}
	took := map[string]time.Duration{}
	for i := range parityQuestions / 2 {
		v := unit(rng, unit(rand.New(rand.NewPCG(2, uint64(i%50))), nil))
		if i%10 == 0 {
			v = unit(rand.New(rand.NewPCG(1, 1)), nil) // 4,000 chunks are equally near
		}
		f := filter.All
		if i%2 == 1 {
			f = filter.Exists{Field: "place"}
		}
		text := texts[i%len(texts)]
		var dense, words [2][]string
		for k, c := range collections {
			began := time.Now()
			hits, err := c.SearchDense(t.Context(), store.DenseQuery{Vector: v, Filter: f})
			if err != nil {
				t.Fatal(err)
			}
			dense[k] = shownHits(hits)
			took[fmt.Sprint("dense", k)] += time.Since(began)
			began = time.Now()
			if hits, err = c.SearchLexical(t.Context(), store.LexicalQuery{Text: text, Filter: f}); err != nil {
				t.Fatal(err)
			}
			words[k] = shownHits(hits)
			took[fmt.Sprint("words", k)] += time.Since(began)
		}
		if diff := cmp.Diff(dense[0], dense[1]); diff != "" {
			wrong["dense"]++
			t.Errorf("question %d, nearest: %s", i, diff)
		}
		if diff := cmp.Diff(words[0], words[1]); diff != "" {
			wrong["words"]++
			t.Errorf("question %d %q: %s", i, text, diff)
		}
	}
	n := time.Duration(parityQuestions / 2)
	t.Logf("%d questions, %d by vectors and %d by words wrong; by vectors %s embedded, %s in Qdrant; by words %s, %s", parityQuestions, wrong["dense"], wrong["words"],
		took["dense0"]/n, took["dense1"]/n, took["words0"]/n, took["words1"]/n)
}

// shownHits are ids with scores to seven digits, which both stores compute alike.
func shownHits(hits []store.Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s %.7g %v", h.Chunk.ID, h.Score, h.Terms))
	}
	return out
}
