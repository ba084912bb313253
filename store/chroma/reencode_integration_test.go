//go:build integration

package chroma

import (
	"errors"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/internal/testbed"
	"github.com/sextant-rag/sextant/store"
)

// New vectors of another length are made beside those in use, across processes, while
// documents are replaced and deleted; until the swap every search is by the old ones, from
// then on by the new, and the records keep the name that people know.
func TestIntegrationReencode(t *testing.T) {
	server := testbed.Chroma(t, t.TempDir(), 0)
	ctx := t.Context()
	s := at(t, server.URL, "again")
	c := wings(t, s, 30)
	nearest := func(c store.Collection, v ...float32) (sextant.DocumentID, error) {
		hits, err := c.SearchDense(ctx, store.DenseQuery{Vector: v, Limit: 1})
		if err != nil || len(hits) == 0 {
			return "", err
		}
		return hits[0].Chunk.DocumentID, nil
	}
	// Under the new encoder all chunks look one way, those of w:007 another.
	encode := func(c *collection, limit int, max int) {
		t.Helper()
		for after, n := "", 0; n < max; n++ {
			docs, next, err := c.WithoutVectors(ctx, after, limit)
			if err != nil {
				t.Fatal(err)
			}
			vectors := make([][][]float32, len(docs))
			for i, d := range docs {
				for range d.Chunks {
					v := []float32{1, 0, 0}
					if d.Document.ID == "w:007" {
						v = []float32{0, 0, 1}
					}
					vectors[i] = append(vectors[i], v)
				}
			}
			if err := c.PutVectors(ctx, docs, vectors); err != nil {
				t.Fatal(err)
			}
			if after = next; after == "" {
				return
			}
		}
	}
	if err := c.BeginVectors(ctx, "test-3"); err != nil {
		t.Fatal(err)
	}
	encode(c, 5, 3)
	if err := c.SwapVectors(ctx); !errors.Is(err, store.ErrIncomplete) {
		t.Errorf("swap of half the vectors: %v", err)
	}
	if err := s.Close(); err != nil { // and another process goes on
		t.Fatal(err)
	}
	s = at(t, server.URL, "again")
	opened, err := s.Open(ctx, "wings")
	if err != nil {
		t.Fatal(err)
	}
	c = opened.(*collection)
	if err := c.BeginVectors(ctx, "test-3"); err != nil {
		t.Fatal(err)
	}
	if docs, _, err := c.WithoutVectors(ctx, "", 100); len(docs) != 15 || err != nil {
		t.Errorf("%d documents are left, want 15, %v", len(docs), err)
	}
	if err := c.Upsert(ctx, []store.Record{wing(1, "replaced")}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Delete(ctx, []sextant.DocumentID{"w:002"}); err != nil {
		t.Fatal(err)
	}
	if id, err := nearest(c, 1, 0); id != "w:000" || err != nil {
		t.Errorf("before the swap: %q, %v", id, err)
	}
	encode(c, 5, 100)
	before := c.Sequence()
	if err := c.SwapVectors(ctx); err != nil {
		t.Fatal(err)
	}
	other, err := at(t, server.URL, "again").Open(ctx, "wings")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []store.Collection{c, other} {
		if id, err := nearest(c, 0, 0, 1); id != "w:007" || err != nil || c.Spec().Encoder != "test-3" || c.Sequence() <= before {
			t.Errorf("after the swap: %q, %v", id, err)
		}
		if _, err := nearest(c, 1, 0); !errors.Is(err, store.ErrRecord) {
			t.Errorf("a vector of the old encoder: %v", err)
		}
		if n, err := c.Count(ctx, nil, ""); n != 29 || err != nil {
			t.Errorf("%d documents, %v", n, err)
		}
	}
	r, _ := c.now()
	if named, err := s.client.collection(ctx, "wings"); err != nil || named.ID != r.Records {
		t.Errorf("under the name: %+v, want %s, %v", named, r.Records, err)
	}
	if err := c.DropVectors(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := nearest(c, 1, 0, 0); !errors.Is(err, store.ErrUnsupported) || c.Spec().Encoder != "" {
		t.Errorf("without vectors: %v", err)
	}
	if d, err := c.Get(ctx, []sextant.DocumentID{"w:001"}); err != nil || len(d) != 1 || d[0].Revision != "replaced" {
		t.Errorf("get without vectors: %v, %v", d, err)
	}
}
