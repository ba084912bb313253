//go:build integration

package qdrant_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/internal/testbed"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/qdrant"
	"github.com/sextant-rag/sextant/store/storetest"
)

// As TestOutages, on the real engine and with the time that a read may take as it ships.
func TestIntegrationOutages(t *testing.T) {
	storetest.Outages(t, server(t), func(t testing.TB, url string) store.Store {
		return open(t, qdrant.Options{URL: url, WriteTimeout: 500 * time.Millisecond})
	})
}

// A server that goes away and comes back three times, while it is asked and written to:
// every answer is right or that it cannot be reached, in time; what was acknowledged is
// there. Then what somebody does to the collection on the server is noticed, by a process
// that knew it and by one that does not.
func TestIntegrationRestart(t *testing.T) {
	dir := testbed.Scratch(t)
	p := testbed.Qdrant(t, dir, 0)
	u, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, qdrant.Options{URL: p.URL})
	c := filled(t, s)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	acknowledged := map[sextant.DocumentID]string{"s:1": "1", "s:2": "1"}
	answers, unavailable := 0, 0
	var all sync.WaitGroup
	all.Go(func() {
		for ctx.Err() == nil {
			began := time.Now()
			n, err := c.Count(ctx, filter.Not{Filter: filter.Eq{Field: "n", Value: filter.OfInt(8)}}, "")
			took := time.Since(began)
			switch {
			case ctx.Err() != nil:
			case took > storetest.Patience:
				t.Errorf("an answer after %s", took)
			case errors.Is(err, store.ErrUnavailable):
				unavailable++
			case err != nil || n != 2:
				t.Errorf("count: %d, %v", n, err)
			default:
				answers++
			}
		}
	})
	all.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			rec := note(fmt.Sprintf("w:%d", i))
			rec.Document.Meta.Fields["n"] = []filter.Value{filter.OfInt(8)}
			err := c.Upsert(ctx, []store.Record{rec})
			if err == nil {
				acknowledged[rec.Document.ID] = "1"
			} else if !errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil {
				t.Errorf("upsert: %v", err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	for range 3 {
		time.Sleep(700 * time.Millisecond)
		p.Stop()
		time.Sleep(700 * time.Millisecond)
		p = testbed.Qdrant(t, dir, port)
	}
	time.Sleep(500 * time.Millisecond)
	stop()
	all.Wait()
	var ids []sextant.DocumentID
	for id := range acknowledged {
		ids = append(ids, id)
	}
	now, err := c.Revisions(t.Context(), ids)
	if diff := cmp.Diff(acknowledged, now); diff != "" || err != nil {
		t.Errorf("acknowledged and there: %v %s", err, diff)
	}
	t.Logf("%d answers, %d times away; %d documents acknowledged", answers, unavailable, len(acknowledged)-2)
	if answers == 0 || unavailable == 0 {
		t.Error("the server was never away, or never there")
	}
	ask := func(method, path, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, p.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %s", method, path, res.Status)
		}
	}
	for _, tt := range []struct {
		name, remade string
	}{
		{"dropped", ""},
		{"made anew with another dimension", `{"vectors":{"dense":{"size":3,"distance":"Dot","datatype":"float16"}},"sparse_vectors":{"words":{}}}`},
	} {
		if tt.remade == "" {
			ask(http.MethodDelete, "/collections/notes_g1", "")
		} else {
			ask(http.MethodPut, "/collections/notes_g1", tt.remade)
		}
		time.Sleep(1100 * time.Millisecond)
		for what, question := range questions(s, c) {
			if err := question(t.Context()); !errors.Is(err, store.ErrUnavailable) && !slices.Contains([]string{"collections", "mark", "receipts", "ping"}, what) {
				t.Errorf("%s: %s: %v", tt.name, what, err)
			}
		}
	}
}
