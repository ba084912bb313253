package qdrant_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/qdrant"
)

func opened(t *testing.T, f *fake, key string) store.Collection {
	t.Helper()
	c, err := open(t, qdrant.Options{URL: f.URL, Key: key}).Open(t.Context(), "leaves")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// generations are the collections of the server that are not the catalogue.
func (f *fake) generations() (names []string) {
	f.with(func(f *fake) {
		for name := range f.collections {
			if name != "sextant_catalogue" {
				names = append(names, name)
			}
		}
	})
	return names
}

// Of two processes that write the first batch at once, wherever the second is when the
// first is acknowledged, both have written, and one generation is left.
func TestFirstBatchesOfTwo(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]string{
		"before it makes a generation": "PUT /collections/leaves_g1",
		"before it makes an index":     "PUT /collections/leaves_g1/index",
		"before it writes the state":   "POST /collections/leaves_g1/points/batch",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			if _, err := open(t, qdrant.Options{URL: f.URL}).Ensure(t.Context(), leaves()); err != nil {
				t.Fatal(err)
			}
			first, second := opened(t, f, "first"), opened(t, f, "second")
			var once atomic.Bool
			f.with(func(f *fake) {
				f.fault = func(_ http.ResponseWriter, r *http.Request) bool {
					if r.Header.Get("Api-Key") == "second" && r.Method+" "+r.URL.Path == at && once.CompareAndSwap(false, true) {
						if err := first.Upsert(t.Context(), []store.Record{leaf(older, 1, 2, "1")}); err != nil {
							t.Errorf("first: %v", err)
						}
					}
					return false
				}
			})
			if err := second.Upsert(t.Context(), []store.Record{leaf(older, 2, 2, "1")}); err != nil {
				t.Fatal(err)
			}
			now, err := opened(t, f, "").Revisions(t.Context(), []sextant.DocumentID{"l:001", "l:002"})
			if len(now) != 2 || err != nil || !once.Load() {
				t.Errorf("there are %v, %v; held: %t", now, err, once.Load())
			}
			if g := f.generations(); len(g) != 1 {
				t.Errorf("generations %v", g)
			}
		})
	}
}

// bare writes n documents without chunks.
func bare(t *testing.T, c store.Collection, n int, revision string) error {
	t.Helper()
	var batch []store.Record
	for i := range n {
		batch = append(batch, leaf("", i, 0, revision))
	}
	return c.Upsert(t.Context(), batch)
}

// What is written while the first vectors are, to documents that are taken along, is there
// afterwards.
func TestFirstVectorsWhileOthersWrite(t *testing.T) {
	t.Parallel()
	const documents = 150 // two pages of points
	f := newFake(t)
	if _, err := open(t, qdrant.Options{URL: f.URL}).Ensure(t.Context(), leaves()); err != nil {
		t.Fatal(err)
	}
	other, maker := opened(t, f, "other"), opened(t, f, "maker")
	if err := bare(t, other, documents, "1"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	var scrolls atomic.Int64
	f.with(func(f *fake) {
		f.fault = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Api-Key") != "maker" || r.URL.Path != "/collections/leaves_g1/points/scroll" || scrolls.Add(1) != 2 {
				return false
			}
			written := make(chan error, 1)
			go func() { written <- bare(t, other, documents, "2") }()
			select {
			case err := <-written:
				done <- err
			case <-time.After(300 * time.Millisecond): // it waits
				go func() { done <- <-written }()
			}
			return false
		}
	})
	if err := maker.Upsert(t.Context(), []store.Record{leaf(older, documents, 2, "1")}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var ids []sextant.DocumentID
	for i := range documents + 1 {
		ids = append(ids, leaf("", i, 0, "").Document.ID)
	}
	now, err := opened(t, f, "").Revisions(t.Context(), ids)
	second := 0
	for _, r := range now {
		if r == "2" {
			second++
		}
	}
	if len(now) != documents+1 || second != documents || err != nil {
		t.Errorf("%d documents, %d as they were written last, %v", len(now), second, err)
	}
	if g := f.generations(); len(g) != 1 {
		t.Errorf("generations %v", g)
	}
}

// A generation that could not be removed when the first vectors were written is known, and
// removed by who makes others.
func TestFirstVectorsRetire(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	if _, err := open(t, qdrant.Options{URL: f.URL}).Ensure(t.Context(), leaves()); err != nil {
		t.Fatal(err)
	}
	c := opened(t, f, "maker")
	if err := bare(t, c, 3, "1"); err != nil {
		t.Fatal(err)
	}
	f.with(func(f *fake) {
		f.fault = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodDelete || !strings.HasSuffix(r.URL.Path, "_g1") {
				return false
			}
			http.Error(w, "away", http.StatusServiceUnavailable)
			return true
		}
	})
	if err := c.Upsert(t.Context(), []store.Record{leaf(older, 5, 2, "1")}); err != nil {
		t.Errorf("a batch that is written: %v", err)
	}
	if g := f.generations(); len(g) != 2 {
		t.Fatalf("generations %v", g)
	}
	f.with(func(f *fake) { f.fault = nil })
	if err := opened(t, f, "").(store.Reencoder).BeginVectors(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	if g := f.generations(); len(g) != 1 || g[0] != "leaves_g2" {
		t.Errorf("generations %v", g)
	}
}
