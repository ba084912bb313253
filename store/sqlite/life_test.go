package sqlite

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/storetest"
)

// A life is a collection's history, fixed by a seed: step i is always the same. The
// tests of crashes, failing disks and damage let a store live it and compare what is
// left with a reference that lived as far.
type life struct{ seed uint64 }

func (life) spec() sextant.Collection {
	spec := fleet()
	spec.Encoder = "test-8"
	return spec
}

// step returns what step i stores and deletes.
func (l life) step(i int) (records []store.Record, ids []sextant.DocumentID) {
	rng := rand.New(rand.NewPCG(l.seed, uint64(i)))
	if rng.IntN(4) == 0 {
		for range 1 + rng.IntN(4) {
			ids = append(ids, lifeID(rng))
		}
		return nil, ids
	}
	for range 1 + rng.IntN(8) {
		records = append(records, l.record(rng, i))
	}
	return records, nil
}

func lifeID(rng *rand.Rand) sextant.DocumentID {
	return sextant.DocumentID(fmt.Sprint("l:", rng.IntN(60)))
}

func (l life) record(rng *rand.Rand, i int) store.Record {
	text := fmt.Sprintf("step%d the pilot of N%dAB lost power over the lake", i, rng.IntN(1000))
	m := filter.Meta{
		Fields: filter.Fields{"state": {filter.OfString([]string{"AK", "TX", "VT"}[rng.IntN(3)])}, "dead": {filter.OfInt(rng.Int64N(5))}, "date": {filter.Date(2000+rng.IntN(9), 1, 1)}},
		Groups: map[string][]filter.Fields{"aircraft": {aircraft([]string{"Cessna", "CESSNA", "Piper"}[rng.IntN(3)], "172")}},
	}
	rec := event(string(lifeID(rng)), text, m)
	rec.Document.Revision = fmt.Sprint(i)
	v := make([]float32, 8)
	v[rng.IntN(8)] = 0.6
	v[rng.IntN(8)] += 0.8
	if v[slices.Index(v, slices.Max(v))] > 1 { // both fell on one
		v[slices.Index(v, slices.Max(v))] = 1
	}
	rec.Vectors = [][]float32{v}
	return rec
}

// live does step i to a collection.
func (l life) live(ctx context.Context, c store.Collection, i int) error {
	records, ids := l.step(i)
	if ids != nil {
		_, err := c.Delete(ctx, ids)
		return err
	}
	return c.Upsert(ctx, records)
}

// reference lived the first n steps.
func (l life) reference(n int) *storetest.Reference {
	ref := storetest.NewReference(l.spec())
	for i := range n {
		l.follow(ref, i)
	}
	return ref
}

func (l life) follow(ref *storetest.Reference, i int) {
	records, ids := l.step(i)
	ref.Upsert(records)
	ref.Delete(ids)
}

// differs says how a collection answers otherwise than the reference; "" is not at all.
func differs(c store.Collection, ref *storetest.Reference) (string, error) {
	ctx := context.Background()
	equal := cmp.Options{cmp.AllowUnexported(filter.Value{}), cmpopts.EquateEmpty()}
	var docs []sextant.Document
	for d, err := range c.Scan(ctx, nil) {
		if err != nil {
			return "", err
		}
		docs = append(docs, d)
	}
	if diff := cmp.Diff(ref.Documents(filter.All), docs, equal); diff != "" {
		return diff, nil
	}
	alaska := filter.Eq{Field: "state", Value: filter.OfString("AK")}
	q := store.FacetQuery{Field: "make", Filter: alaska, Unit: "aircraft"}
	facet, err := c.Facet(ctx, q)
	if err != nil {
		return "", err
	}
	if diff := cmp.Diff(ref.Facet(q), facet, equal); diff != "" {
		return diff, nil
	}
	hits, err := c.SearchLexical(ctx, store.LexicalQuery{Text: "pilot lake", Filter: alaska, Limit: 100})
	if err != nil {
		return "", err
	}
	if diff := cmp.Diff(ref.WithWords(alaska, lexical.English(), "pilot lake"), chunkIDs(hits), equal); diff != "" {
		return diff, nil
	}
	return differsInVectors(ctx, c, ref)
}

func differsInVectors(ctx context.Context, c store.Collection, ref *storetest.Reference) (string, error) {
	v := []float32{0.6, 0.8, 0, 0, 0, 0, 0, 0}
	hits, err := c.SearchDense(ctx, store.DenseQuery{Vector: v, Limit: 100})
	if err != nil {
		return "", err
	}
	want := ref.Nearest(filter.All, v)
	if len(want) != len(hits) {
		return fmt.Sprintf("%d vectors, want %d", len(hits), len(want)), nil
	}
	for i, h := range hits {
		if math.Abs(h.Score-want[i].Score) > 1e-3 {
			return fmt.Sprintf("vector %d has cosine %g, want %g", i, h.Score, want[i].Score), nil
		}
	}
	return "", nil
}

func chunkIDs(hits []store.Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, h.Chunk.ID)
	}
	slices.Sort(out)
	return out
}

// mustBe fails unless the collection answers as the reference does.
func mustBe(t *testing.T, c store.Collection, ref *storetest.Reference) {
	t.Helper()
	diff, err := differs(c, ref)
	if err != nil || diff != "" {
		t.Fatalf("the store differs from the reference: %v %s", err, diff)
	}
}
