package storetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Comparison is what Parity asks of two stores.
type Comparison struct {
	Chunks    int // in all; about half as many documents
	Filters   int
	Questions int
	Seed      uint64
	// Refuses lets the second store answer with store.ErrUnsupported, which is counted
	// and logged. A different answer is never excused.
	Refuses bool
	// OtherRanking leaves the rankings by words out: the second store has its own.
	OtherRanking bool
}

// Usual is the comparison that a release needs.
var Usual = Comparison{Chunks: 20_000, Filters: 500, Questions: 200, Seed: 1}

// Parity fills two stores with the same generated collection and asks both the same:
// under each filter the count of every unit and the ids in two orders, for each question
// the nearest ten chunks and the best ten by words. The collection has fields of all
// kinds, lists, groups, missing values, integers beyond 2^53, equal vectors by the
// thousand, and others that are near these. Scores must agree: a store of another
// precision rounds vectors to half floats (vector.Rounded) and scores with vector.Product.
func Parity(t *testing.T, want, got store.Store, n Comparison) {
	t.Helper()
	p := &parity{Comparison: n, t: t, rng: rand.New(rand.NewPCG(n.Seed, 77)), spec: paritySpec()}
	p.want, p.got = ensure(t, want, p.spec), ensure(t, got, p.spec)
	p.fill()
	for i := range n.Filters {
		p.filtered(Filters(p.spec.Schema).Example(i + 1))
	}
	for range n.Questions {
		p.question()
	}
	if p.refused > 0 {
		t.Logf("%d of %d questions were refused as not supported", p.refused, p.asked)
	}
	t.Logf("%d chunks, %d answers compared", p.chunks, p.asked-p.refused)
}

func paritySpec() sextant.Collection {
	return sextant.Collection{Name: "parity", Title: "Parity", Encoder: "test-32", Schema: filter.Schema{
		Fields: []filter.Field{
			{Name: "state", Kind: filter.Keyword, Fold: filter.Case}, {Name: "model", Kind: filter.Keyword, Fold: filter.Squeeze}, {Name: "plain", Kind: filter.Keyword},
			{Name: "tags", Kind: filter.Keyword, List: true}, {Name: "counts", Kind: filter.Int, List: true}, {Name: "n", Kind: filter.Int},
			{Name: "size", Kind: filter.Float}, {Name: "sizes", Kind: filter.Float, List: true}, {Name: "open", Kind: filter.Bool},
			{Name: "date", Kind: filter.Time}, {Name: "dates", Kind: filter.Time, List: true}, {Name: "any", Kind: filter.Keyword, AnyOf: []string{"plain", "tags"}},
			{Name: "make", Kind: filter.Keyword, Fold: filter.Case, Group: "aircraft"}, {Name: "engines", Kind: filter.Int, Group: "aircraft"},
			{Name: "role", Kind: filter.Keyword, List: true, Group: "people"}, {Name: "hours", Kind: filter.Float, Group: "people"},
		},
		Groups: []filter.Group{{Name: "aircraft"}, {Name: "people"}},
	}}
}

type parity struct {
	Comparison
	t              *testing.T
	rng            *rand.Rand
	spec           sextant.Collection
	want, got      store.Collection
	chunks         int
	asked, refused int
}

func (p *parity) fill() {
	var batch []store.Record
	for i := 0; p.chunks < p.Chunks || len(batch) > 0; i++ {
		if p.chunks < p.Chunks {
			rec := p.record(i)
			p.chunks += len(rec.Chunks)
			batch = append(batch, rec)
		}
		if len(batch) < 500 && p.chunks < p.Chunks {
			continue
		}
		for _, c := range []store.Collection{p.want, p.got} {
			if err := c.Upsert(p.t.Context(), batch); err != nil {
				p.t.Fatalf("fill: %v", err)
			}
		}
		batch = nil
	}
}

func (p *parity) record(i int) store.Record {
	var text strings.Builder
	for range 20 + p.rng.IntN(60) {
		text.WriteString(wordPool[p.rng.IntN(len(wordPool))])
		text.WriteByte(' ')
	}
	d := sextant.Document{ID: sextant.DocumentID(fmt.Sprintf("p:%06d", i)), Collection: p.spec.Name, Title: keywordPool[p.rng.IntN(len(keywordPool))],
		Text: text.String(), Meta: p.meta(), Revision: fmt.Sprint(i), Source: sextant.Source{Name: "p", Retrieved: time.Date(2024, 2, 29, 1, 2, 3, 0, time.UTC)}}
	d.Parts = []sextant.Part{{Kind: "narrative", Locator: "p. 1", End: len(d.Text) / 2}, {Kind: "cause", Locator: "p. 2", Start: len(d.Text) / 2, End: len(d.Text)}}
	rec := store.Record{Document: d}
	for n, k := 1+p.rng.IntN(3), 0; k < n; k++ {
		at := func(k int) int { return strings.LastIndexByte(d.Text[:max(1, k*len(d.Text)/n)], ' ') + 1 }
		start, end := at(k), at(k+1)
		rec.Chunks = append(rec.Chunks, sextant.Chunk{ID: sextant.ChunkID(d.ID, k), DocumentID: d.ID, Index: k, Start: start, End: end, Content: d.Text[start:end]})
		rec.Vectors = append(rec.Vectors, p.vector())
	}
	return rec
}

// vector is one of five in a third of all cases, near one of these in another.
func (p *parity) vector() []float32 {
	v := make([]float32, 32)
	rng := rand.New(rand.NewPCG(p.Seed, uint64(p.rng.IntN(5))))
	kind := p.rng.IntN(3)
	if kind == 2 {
		rng = p.rng
	}
	sum := 0.0
	for i := range v {
		v[i] = float32(rng.NormFloat64())
		if kind == 1 {
			v[i] += float32(p.rng.NormFloat64()) / 3
		}
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

func (p *parity) meta() filter.Meta {
	m := filter.Meta{Fields: p.fields("")}
	for _, g := range p.spec.Schema.Groups {
		for range p.rng.IntN(4) {
			if m.Groups == nil {
				m.Groups = map[string][]filter.Fields{}
			}
			m.Groups[g.Name] = append(m.Groups[g.Name], p.fields(g.Name))
		}
	}
	return m
}

func (p *parity) fields(group string) filter.Fields {
	out := filter.Fields{}
	for _, f := range p.spec.Schema.Fields {
		limit := 2 // absent or one
		if f.List {
			limit = 4
		}
		if f.Group != group || len(f.AnyOf) > 0 {
			continue
		}
		for range p.rng.IntN(limit) {
			out[f.Name] = append(out[f.Name], p.value(f.Kind))
		}
	}
	return out
}

func (p *parity) value(kind filter.Kind) filter.Value {
	switch kind {
	case filter.Keyword:
		return filter.OfString(keywordPool[p.rng.IntN(len(keywordPool))])
	case filter.Int:
		return filter.OfInt(intPool[p.rng.IntN(len(intPool))])
	case filter.Float:
		return filter.OfFloat(floatPool[p.rng.IntN(len(floatPool))])
	case filter.Bool:
		return filter.OfBool(p.rng.IntN(2) == 0)
	}
	return timePool[p.rng.IntN(len(timePool))]
}

// compare has both answer and reports whether there is something to compare.
func compare[T any](p *parity, what string, ask func(store.Collection) (T, error)) {
	p.t.Helper()
	want, err := ask(p.want)
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
	p.asked++
	got, err := ask(p.got)
	if p.Refuses && errors.Is(err, store.ErrUnsupported) {
		p.refused++
		return
	}
	if err != nil {
		p.t.Errorf("%s: %v", what, err)
		return
	}
	if diff := cmp.Diff(want, got, same); diff != "" {
		p.t.Errorf("%s: -first +second\n%s", what, diff)
	}
}

func (p *parity) filtered(f filter.Filter) {
	ctx := p.t.Context()
	for _, unit := range []string{"", "aircraft", "people"} {
		compare(p, fmt.Sprintf("count of %#v in %q", f, unit), func(c store.Collection) (int64, error) { return c.Count(ctx, f, unit) })
	}
	for _, by := range []string{"", "n"} {
		compare(p, fmt.Sprintf("list of %#v by %q", f, by), func(c store.Collection) ([]sextant.DocumentID, error) {
			l, err := c.List(ctx, store.ListQuery{Filter: f, By: by, Limit: 1 << 20})
			return l.IDs, err
		})
	}
}

// found is what is compared of a hit: dense scores are those of stored half floats,
// summed in any order.
type found struct {
	Chunk string
	Score float64
}

func foundOf(hits []store.Hit, err error) ([]found, error) {
	out := make([]found, len(hits))
	for i, h := range hits {
		out[i] = found{h.Chunk.ID, math.Round(h.Score*1e6) / 1e6}
	}
	return out, err
}

func (p *parity) question() {
	ctx := p.t.Context()
	f := Filters(p.spec.Schema).Example(int(p.rng.Uint32() >> 1))
	if p.rng.IntN(3) == 0 {
		f = filter.All
	}
	v := p.vector()
	compare(p, fmt.Sprintf("nearest to %v under %#v", v, f), func(c store.Collection) ([]found, error) {
		return foundOf(c.SearchDense(ctx, store.DenseQuery{Vector: v, Filter: f}))
	})
	if p.OtherRanking {
		return
	}
	var words []string
	for range 1 + p.rng.IntN(5) {
		words = append(words, wordPool[p.rng.IntN(len(wordPool))])
	}
	text := strings.Join(words, " ")
	compare(p, fmt.Sprintf("best for %q under %#v", text, f), func(c store.Collection) ([]found, error) {
		return foundOf(c.SearchLexical(ctx, store.LexicalQuery{Text: text, Filter: f}))
	})
}
