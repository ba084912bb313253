package qdrant_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/qdrant"
)

// A walk through a list reads the ids once, not once for each page; what another process
// writes in between is in the pages that follow.
func TestPagesCostThemselves(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := filled(t, open(t, qdrant.Options{URL: f.URL}))
	var batch []store.Record
	for i := range 500 {
		batch = append(batch, note(fmt.Sprintf("p:%03d", i)))
	}
	if err := c.Upsert(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	scrolls := func() (n int) {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, r := range f.requests {
			if strings.HasSuffix(r, "/points/scroll") {
				n++
			}
		}
		return n
	}
	q := store.ListQuery{Filter: filter.Eq{Field: "state", Value: filter.OfString("AK")}, By: "n", Limit: 10}
	before := scrolls()
	var ids []sextant.DocumentID
	for pages := 0; pages == 0 || q.After != ""; pages++ {
		page, err := c.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, page.IDs...)
		q.After = page.Next
		if pages == 20 {
			other, err := open(t, qdrant.Options{URL: f.URL}).Open(t.Context(), "notes")
			if err != nil {
				t.Fatal(err)
			}
			if err := other.Upsert(t.Context(), []store.Record{note("p:4995")}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(ids) != 503 || !slices.IsSorted(ids) || !slices.Contains(ids, "p:4995") {
		t.Errorf("%d documents, sorted: %t", len(ids), slices.IsSorted(ids))
	}
	if n := scrolls() - before; n > 3 {
		t.Errorf("the ids were read in %d requests", n)
	}
}
