package qdrant_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/qdrant"
)

// stepwise answers one request of a batch as a server does that applies point after point,
// and asks something after each.
func (f *fake) stepwise(r *http.Request, after func()) {
	var body struct {
		Operations []map[string]map[string][]json.RawMessage `json:"operations"`
	}
	raw, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(raw))
	_ = json.Unmarshal(raw, &body)
	for _, op := range body.Operations {
		for kind, what := range op {
			for _, p := range what["points"] {
				one, _ := json.Marshal(map[string]any{"operations": []any{map[string]any{kind: map[string]any{"points": []any{p}}}}})
				step := r.Clone(r.Context())
				step.Body = io.NopCloser(bytes.NewReader(one))
				f.with(func(f *fake) { _, _ = f.answer(step) })
				after()
			}
		}
	}
}

func isBatch(r *http.Request, key string) bool {
	return r.Header.Get("Api-Key") == key && r.URL.Path == "/collections/leaves_g1/points/batch"
}

func total(t *testing.T, c store.Collection) int64 {
	t.Helper()
	list, err := c.List(t.Context(), store.ListQuery{Filter: filter.All, Limit: 1})
	if err != nil {
		t.Error(err)
	}
	return list.Total
}

// Who asks between the points of a batch, or between its requests, and keeps what it found,
// asks again once there is more.
func TestAskedWhileWritten(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	plant(t, open(t, qdrant.Options{URL: f.URL}), 4)
	reader, err := open(t, qdrant.Options{URL: f.URL}).Open(t.Context(), "leaves")
	if err != nil {
		t.Fatal(err)
	}
	writer, err := open(t, qdrant.Options{URL: f.URL, Key: "writer"}).Open(t.Context(), "leaves")
	if err != nil {
		t.Fatal(err)
	}
	asked, requests := 0, 0
	f.with(func(f *fake) {
		f.fault = func(_ http.ResponseWriter, r *http.Request) bool {
			if isBatch(r, "writer") {
				requests++
				f.stepwise(r, func() {
					if asked++; asked%16 <= 1 {
						total(t, reader)
					}
				})
			}
			return false // and once more as a whole: it is the same
		}
	})
	var batch []store.Record
	for i := range 300 {
		batch = append(batch, leaf("", i, 0, "2"))
	}
	if err := writer.Upsert(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if n := total(t, reader); n != 300 || requests < 2 {
		t.Errorf("%d documents of 300 are listed after %d requests", n, requests)
	}
	var ids []sextant.DocumentID
	for _, rec := range batch[:200] {
		ids = append(ids, rec.Document.ID)
	}
	if _, err := writer.Delete(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	if n := total(t, reader); n != 100 {
		t.Errorf("%d documents of 100 are listed", n)
	}
}

// A request that is sent again, since its answer was lost, does not take the sequence back
// to where it was before others wrote.
func TestSentAgainAfterOthers(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	plant(t, open(t, qdrant.Options{URL: f.URL}), 4)
	handle := func(key string) store.Collection {
		c, err := open(t, qdrant.Options{URL: f.URL, Key: key}).Open(t.Context(), "leaves")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	reader, first, second := handle("reader"), handle("first"), handle("second")
	var sent atomic.Int64
	f.with(func(f *fake) {
		f.fault = func(w http.ResponseWriter, r *http.Request) bool {
			if !isBatch(r, "first") {
				return false
			}
			if sent.Add(1) == 1 {
				f.with(func(f *fake) { _, _ = f.answer(r) })
				total(t, reader)
				http.Error(w, "away", http.StatusServiceUnavailable)
				return true
			}
			if err := second.Upsert(t.Context(), []store.Record{leaf("", 11, 0, "1")}); err != nil {
				t.Error(err)
			}
			return false
		}
	})
	if err := first.Upsert(t.Context(), []store.Record{leaf("", 10, 0, "1")}); err != nil {
		t.Fatal(err)
	}
	if n := total(t, reader); n != 6 || sent.Load() != 2 {
		t.Errorf("%d documents of 6 are listed after %d requests", n, sent.Load())
	}
}

// A document of several requests, the first of which the swap saw and the last of which was
// acknowledged before it closed the generation, is in the new one as it was written.
func TestReencodeBetweenRequests(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	plant(t, open(t, qdrant.Options{URL: f.URL}), 12)
	c, err := open(t, qdrant.Options{URL: f.URL, Key: "writer"}).Open(t.Context(), "leaves")
	if err != nil {
		t.Fatal(err)
	}
	maker := open(t, qdrant.Options{URL: f.URL, Key: "maker"})
	maker.SetGrace(0)
	reached, letGo, written := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var sent atomic.Int64
	var compared, waited atomic.Bool
	var let sync.Once
	defer let.Do(func() { close(letGo) })
	f.with(func(f *fake) {
		f.fault = func(_ http.ResponseWriter, r *http.Request) bool {
			switch {
			case isBatch(r, "writer") && sent.Add(1) == 2:
				close(reached)
				<-letGo
			case r.Header.Get("Api-Key") != "maker":
			case strings.HasSuffix(r.URL.Path, "leaves_g2/points/count"):
				compared.Store(true)
			case compared.Load() && strings.HasSuffix(r.URL.Path, "sextant_catalogue/points/batch") && waited.CompareAndSwap(false, true):
				let.Do(func() { close(letGo) })
				if err := <-written; err != nil {
					t.Errorf("upsert: %v", err)
				}
			}
			return false
		}
	})
	making, err := maker.Open(t.Context(), "leaves")
	if err != nil {
		t.Fatal(err)
	}
	r := making.(store.Reencoder)
	if err := r.BeginVectors(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	docs, _, err := r.WithoutVectors(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	vectors := make([][][]float32, len(docs))
	for i, d := range docs {
		for _, ch := range d.Chunks {
			vectors[i] = append(vectors[i], by(newer, ch.Content))
		}
	}
	if err := r.PutVectors(t.Context(), docs, vectors); err != nil {
		t.Fatal(err)
	}
	go func() { written <- c.Upsert(t.Context(), []store.Record{leaf(older, 3, 300, "late")}) }()
	<-reached
	if err := r.SwapVectors(t.Context()); !errors.Is(err, store.ErrIncomplete) {
		t.Errorf("a swap that lacks what was acknowledged: %v", err)
	}
	if _, err := reencode(t.Context(), maker, newer); err != nil {
		t.Fatal(err)
	}
	now, err := open(t, qdrant.Options{URL: f.URL}).Open(t.Context(), "leaves")
	if err != nil {
		t.Fatal(err)
	}
	revisions, err := now.Revisions(t.Context(), []sextant.DocumentID{"l:003"})
	if revisions["l:003"] != "late" || err != nil || !waited.Load() {
		t.Errorf("revision %q, %v; written meanwhile: %t", revisions["l:003"], err, waited.Load())
	}
}
