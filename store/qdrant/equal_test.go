package qdrant_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// Of hundreds of chunks with the same vector the first by id are the nearest, as in the
// embedded store, whatever number is asked for and however many there are of them.
func TestEqualVectors(t *testing.T) {
	t.Parallel()
	equalVectors(t, opener(newFake(t).URL)(t, t.TempDir()))
}

func equalVectors(t *testing.T, remote store.Store) {
	embedded, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer embedded.Close()
	spec := sextant.Collection{Name: "equal", Encoder: "test-4", Schema: filter.Schema{Fields: []filter.Field{{Name: "odd", Kind: filter.Bool}}}}
	var batch []store.Record
	for i := range 900 {
		rec := note(fmt.Sprintf("e:%03d", (i*77)%900))
		rec.Document.Collection = "equal"
		rec.Document.Meta = filter.Meta{Fields: filter.Fields{"odd": {filter.OfBool(i%2 == 1)}}}
		switch {
		case i%9 == 0: // a hundred nearer ones, equal among themselves too
			rec.Vectors = [][]float32{{0.8, 0.6, 0, 0}}
		case i%9 == 1:
			rec.Vectors = [][]float32{{0, 0, 1, 0}}
		default:
			rec.Vectors = [][]float32{{1, 0, 0, 0}}
		}
		batch = append(batch, rec)
	}
	var collections []store.Collection
	for _, s := range []store.Store{embedded, remote} {
		c, err := s.Ensure(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Upsert(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		collections = append(collections, c)
	}
	limits := []int{1, 2, 9, 10, 11, 63, 64, 65, 99, 100, 101, 255, 256, 257, 450, 699, 701, 899, 900, 5000}
	if testing.Short() {
		limits = []int{1, 10, 65, 300}
	}
	for _, v := range [][]float32{{1, 0, 0, 0}, {0.8, 0.6, 0, 0}, {0, 0, 0, 1}} {
		for _, f := range []filter.Filter{nil, filter.Eq{Field: "odd", Value: filter.OfBool(true)}} {
			for _, limit := range limits {
				var found [2][]string
				for i, c := range collections {
					hits, err := c.SearchDense(t.Context(), store.DenseQuery{Vector: v, Filter: f, Limit: limit})
					if err != nil {
						t.Fatal(err)
					}
					for _, h := range hits {
						found[i] = append(found[i], fmt.Sprintf("%s %.7g", h.Chunk.ID, h.Score))
					}
				}
				if diff := cmp.Diff(found[0], found[1]); diff != "" {
					t.Errorf("%v under %v, the first %d: %.400s", v, f, limit, diff)
				}
			}
		}
	}
}
