package qdrant_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/qdrant"
	"github.com/sextant-rag/sextant/store/storetest"
)

// Two encoders of four dimensions that agree on nothing: only by its name is one's vector
// told from the other's.
const (
	older = "older-4"
	newer = "newer-4"
)

// by is the vector an encoder has for a text.
func by(encoder, text string) []float32 { return storetest.Vector(encoder, text, 4) }

func leaves() sextant.Collection {
	return sextant.Collection{Name: "leaves", Encoder: older, Schema: filter.Schema{Fields: []filter.Field{{Name: "kind", Kind: filter.Keyword}}}}
}

// leaf is a document of some chunks, as an encoder sees it.
func leaf(encoder string, i, chunks int, revision string) store.Record {
	text := ""
	d := sextant.Document{ID: sextant.DocumentID(fmt.Sprintf("l:%03d", i)), Collection: "leaves", Title: "Leaf", Revision: revision, Meta: filter.Meta{Fields: filter.Fields{"kind": {filter.OfString("oak")}}}}
	rec := store.Record{}
	for k := range chunks {
		piece := fmt.Sprintf("leaf %d of revision %s piece %d. ", i, revision, k)
		rec.Chunks = append(rec.Chunks, sextant.Chunk{ID: sextant.ChunkID(d.ID, k), DocumentID: d.ID, Index: k, Start: len(text), End: len(text) + len(piece), Content: piece})
		text += piece
		if encoder != "" {
			rec.Vectors = append(rec.Vectors, by(encoder, piece))
		}
	}
	d.Text = text
	rec.Document = d
	return rec
}

func plant(t testing.TB, s store.Store, n int) store.Collection {
	t.Helper()
	c, err := s.Ensure(t.Context(), leaves())
	if err != nil {
		t.Fatal(err)
	}
	var batch []store.Record
	for i := range n {
		batch = append(batch, leaf(older, i, i%4, "1"))
	}
	if err := c.Upsert(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return c
}

// reencode makes all vectors anew as ingestion does, and says how many documents it
// encoded.
func reencode(ctx context.Context, s store.Store, encoder string) (encoded int, err error) {
	c, err := s.Open(ctx, "leaves")
	if err != nil {
		return 0, err
	}
	r := c.(store.Reencoder)
	if c.Spec().Encoder == encoder {
		return 0, nil
	}
	if err := r.BeginVectors(ctx, encoder); err != nil {
		return 0, err
	}
	for {
		for after, more := "", true; more; more = after != "" {
			docs, next, err := r.WithoutVectors(ctx, after, 4)
			if err != nil {
				return encoded, err
			}
			vectors := make([][][]float32, len(docs))
			for i, d := range docs {
				for _, ch := range d.Chunks {
					vectors[i] = append(vectors[i], by(encoder, ch.Content))
				}
			}
			if err := r.PutVectors(ctx, docs, vectors); err != nil {
				return encoded, err
			}
			encoded += len(docs)
			after = next
		}
		if err := r.SwapVectors(ctx); !errors.Is(err, store.ErrIncomplete) {
			return encoded, err
		}
	}
}

// unmixed asks by the encoder that a collection says it has. Everything found has exactly
// the cosine of that encoder; if the collection was given another in between, it says so.
func unmixed(ctx context.Context, c store.Collection) error {
	encoder := c.Spec().Encoder
	q := by(encoder, "a question")
	hits, err := c.SearchDense(ctx, store.DenseQuery{Vector: q, Limit: 1000})
	if errors.Is(err, store.ErrEncoder) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, h := range hits {
		want := 0.0
		for i, x := range by(encoder, h.Chunk.Content) {
			want += float64(x) * float64(q[i])
		}
		if math.Abs(want-h.Score) > 0.002 {
			return fmt.Errorf("%s is at %.4f, by %s it is at %.4f", h.Chunk.ID, h.Score, encoder, want)
		}
	}
	_, err = c.(store.Hybrid).SearchHybrid(ctx, store.HybridQuery{Text: "leaf", Vector: q, Encoder: encoder, Depth: 100, Choose: func(all []store.Candidate) []int { return nil }})
	if errors.Is(err, store.ErrEncoder) {
		return nil
	}
	return err
}

// A process that makes vectors anew is killed at each of its requests in turn, before the
// server has seen it and after. Meanwhile and afterwards another process answers everything
// by one encoder, and a third goes on where the first was, encodes nothing twice but the
// batch that was lost, and leaves nothing behind.
func TestReencodeKilledAnywhere(t *testing.T) {
	t.Parallel()
	const documents = 24
	whole := newFake(t)
	plant(t, open(t, qdrant.Options{URL: whole.URL}), documents)
	before := len(whole.requests)
	s := open(t, qdrant.Options{URL: whole.URL})
	s.SetGrace(0)
	all, err := reencode(t.Context(), s, newer)
	if err != nil || all != documents*3/4 {
		t.Fatalf("%d documents encoded, %v", all, err)
	}
	requests := len(whole.requests) - before
	step := 1
	if testing.Short() {
		step = 5
	}
	for at := 1; at <= requests; at += step {
		for _, arrives := range []bool{false, true} {
			killedAt(t, documents, at, arrives)
		}
	}
	t.Logf("killed at each of %d requests", requests)
}

func killedAt(t *testing.T, documents, at int, arrives bool) {
	t.Helper()
	f := newFake(t)
	plant(t, open(t, qdrant.Options{URL: f.URL}), documents)
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	var sent atomic.Int64
	f.with(func(f *fake) {
		f.fault = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Api-Key") != "victim" {
				return false
			}
			if n := int(sent.Add(1)); n < at || n == at && arrives {
				if n == at {
					defer kill() // the answer is lost
				}
				return false
			}
			kill()
			_, _ = io.Copy(io.Discard, r.Body)
			panic(http.ErrAbortHandler)
		}
	})
	victim := open(t, qdrant.Options{URL: f.URL, Key: "victim"})
	victim.SetGrace(0)
	other := open(t, qdrant.Options{URL: f.URL})
	other.SetClosed(500 * time.Millisecond)
	other.SetGrace(0)
	name := fmt.Sprintf("killed at request %d (arrives: %t)", at, arrives)
	reader, err := other.Open(t.Context(), "leaves")
	if err != nil {
		t.Fatal(err)
	}
	before, _ := reencode(ctx, victim, newer)
	_ = victim.Close()
	check := func(c store.Collection) {
		t.Helper()
		if err := unmixed(t.Context(), c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n, err := c.Count(t.Context(), filter.All, ""); n != int64(documents) || err != nil {
			t.Errorf("%s: %d documents, %v", name, n, err)
		}
	}
	check(reader)
	after, err := reencode(t.Context(), other, newer)
	if err != nil || before+after > documents*3/4+4 {
		t.Errorf("%s: %d documents encoded before and %d after, %v", name, before, after, err)
	}
	c, err := other.Open(t.Context(), "leaves")
	if err != nil {
		t.Fatal(err)
	}
	check(c)
	check(reader)
	if c.Spec().Encoder != newer {
		t.Errorf("%s: the encoder is %s", name, c.Spec().Encoder)
	}
	// What the victim left is removed by whoever writes next.
	if err := c.(store.Reencoder).BeginVectors(t.Context(), older); err != nil {
		t.Errorf("%s: begin: %v", name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.collections) != 2 || f.collections[f.aliases["leaves"]] == nil {
		t.Errorf("%s: on the server are %v, aliases %v", name, slices.Collect(maps.Keys(f.collections)), f.aliases)
	}
}

// While vectors are made anew, other processes answer, and others write: no answer is of
// two encoders, nothing that was acknowledged is lost, and after the swap whoever still
// writes vectors of the old encoder is told so.
func TestReencodeWhileOthersWork(t *testing.T) {
	t.Parallel()
	whileOthersWork(t, newFake(t).URL, 40, "")
}

func whileOthersWork(t *testing.T, url string, documents int, prefix string) {
	at := func() *qdrant.Store {
		return open(t, qdrant.Options{URL: url, Prefix: prefix, Timeout: suitePatience})
	}
	plant(t, at(), documents)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	fail := func(what string, err error) {
		if err != nil && ctx.Err() == nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	var asked atomic.Int64
	for range 2 {
		s := at()
		all.Go(func() {
			kept, err := s.Open(ctx, "leaves")
			fail("open", err)
			for n := 0; err == nil && ctx.Err() == nil; n++ {
				c := kept
				if n%2 == 1 { // as somebody who comes new
					if c, err = s.Open(ctx, "leaves"); err != nil {
						fail("open", err)
						return
					}
				}
				fail("ask", unmixed(ctx, c))
				asked.Add(1)
			}
		})
	}
	acknowledged, removed := map[sextant.DocumentID]string{}, map[sextant.DocumentID]bool{}
	told := make(chan error, 1)
	writer := at()
	all.Go(func() {
		c, err := writer.Open(ctx, "leaves")
		fail("open", err)
		for n := 0; err == nil && ctx.Err() == nil; n++ {
			i, revision := 1+(n*7)%documents, fmt.Sprint("w", n)
			rec := leaf(older, i, 1+n%3, revision)
			err = c.Upsert(ctx, []store.Record{rec})
			if errors.Is(err, store.ErrEncoder) {
				delete(acknowledged, rec.Document.ID) // it may be the new one or the old
				delete(removed, rec.Document.ID)
				told <- err
				return
			}
			fail("upsert", err)
			acknowledged[rec.Document.ID] = revision
			delete(removed, rec.Document.ID)
			if n%5 == 4 {
				id := leaf("", 1+(n*3)%documents, 0, "").Document.ID
				_, err = c.Delete(ctx, []sextant.DocumentID{id})
				fail("delete", err)
				delete(acknowledged, id)
				removed[id] = true
			}
		}
	})
	maker := at()
	maker.SetGrace(100 * time.Millisecond)
	if _, err := reencode(ctx, maker, newer); err != nil {
		t.Fatal(err)
	}
	select {
	case <-told:
	case <-time.After(10 * time.Second):
		t.Error("who writes vectors of the old encoder is not told")
	}
	time.Sleep(1200 * time.Millisecond) // long enough for readers to notice by themselves
	stop()
	all.Wait()
	c, err := at().Open(t.Context(), "leaves")
	if err != nil {
		t.Fatal(err)
	}
	if err := unmixed(t.Context(), c); err != nil || c.Spec().Encoder != newer {
		t.Errorf("afterwards, by %s: %v", c.Spec().Encoder, err)
	}
	now, err := c.Revisions(t.Context(), slices.Collect(maps.Keys(acknowledged)))
	if diff := cmp.Diff(acknowledged, now); diff != "" || err != nil {
		t.Errorf("acknowledged and there: %v %s", err, diff)
	}
	if there, err := c.Revisions(t.Context(), slices.Collect(maps.Keys(removed))); len(there) > 0 || err != nil {
		t.Errorf("deleted and there: %v, %v", there, err)
	}
	t.Logf("%d questions answered, %d documents written meanwhile, %d deleted", asked.Load(), len(acknowledged), len(removed))
}

// held stops the first request of a process on a route until it is let go.
type held struct {
	reached chan struct{}
	letGo   chan struct{}
}

// hold has the first request that a key's process sends to a route wait before the server
// does it.
func (f *fake) hold(key, path string) *held {
	h := &held{make(chan struct{}), make(chan struct{})}
	var once atomic.Bool
	f.with(func(f *fake) {
		f.fault = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Api-Key") == key && r.URL.Path == path && once.CompareAndSwap(false, true) {
				close(h.reached)
				<-h.letGo
			}
			return false
		}
	})
	return h
}

// A change that is on its way while another generation takes the place of the one it goes
// into is not lost: it is made again there, or refused if its vectors do not fit. One that
// was acknowledged just before the swap is in it.
func TestReencodeAndOneWrite(t *testing.T) {
	const inUse = "/collections/leaves_g1/points/batch"
	swapped := func(t *testing.T, s *qdrant.Store) {
		t.Helper()
		if _, err := reencode(t.Context(), s, newer); err != nil {
			t.Fatal(err)
		}
	}
	start := func(t *testing.T) (f *fake, writing store.Collection, maker *qdrant.Store) {
		f = newFake(t)
		plant(t, open(t, qdrant.Options{URL: f.URL}), 12)
		writing, err := open(t, qdrant.Options{URL: f.URL, Key: "writer"}).Open(t.Context(), "leaves")
		if err != nil {
			t.Fatal(err)
		}
		maker = open(t, qdrant.Options{URL: f.URL, Key: "maker"})
		maker.SetGrace(0)
		return f, writing, maker
	}
	keep := func(maker *qdrant.Store) { maker.SetGrace(time.Hour) } // what was in use stays, and takes what is late
	late := func(t *testing.T, f *fake, maker *qdrant.Store, change func() error) error {
		h := f.hold("writer", inUse)
		done := make(chan error, 1)
		go func() { done <- change() }()
		<-h.reached
		keep(maker)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { _, _ = reencode(ctx, maker, newer); close(ended) }()
		defer func() { stop(); <-ended }()
		for other := open(t, qdrant.Options{URL: f.URL}); ; time.Sleep(5 * time.Millisecond) {
			if c, err := other.Open(t.Context(), "leaves"); err != nil {
				t.Fatal(err)
			} else if c.Spec().Encoder == newer {
				break
			}
		}
		close(h.letGo)
		return <-done
	}
	final := func(t *testing.T, f *fake, id sextant.DocumentID) string {
		t.Helper()
		c, err := open(t, qdrant.Options{URL: f.URL}).Open(t.Context(), "leaves")
		if err != nil {
			t.Fatal(err)
		}
		if err := unmixed(t.Context(), c); err != nil || c.Spec().Encoder != newer {
			t.Errorf("by %s: %v", c.Spec().Encoder, err)
		}
		r, err := c.Revisions(t.Context(), []sextant.DocumentID{id})
		if err != nil {
			t.Fatal(err)
		}
		return r[id]
	}
	t.Run("stored late", func(t *testing.T) {
		f, c, maker := start(t)
		err := late(t, f, maker, func() error { return c.Upsert(t.Context(), []store.Record{leaf(older, 3, 2, "late")}) })
		if !errors.Is(err, store.ErrEncoder) {
			t.Errorf("vectors of the old encoder: %v", err)
		}
		if r := final(t, f, "l:003"); r != "1" {
			t.Errorf("revision %q", r)
		}
	})
	t.Run("deleted late", func(t *testing.T) {
		f, c, maker := start(t)
		err := late(t, f, maker, func() error {
			n, err := c.Delete(t.Context(), []sextant.DocumentID{"l:003"})
			if n != 1 {
				t.Errorf("%d deleted", n)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		if r := final(t, f, "l:003"); r != "" {
			t.Errorf("revision %q of what was deleted", r)
		}
	})
	t.Run("stored last", func(t *testing.T) {
		f, c, maker := start(t)
		var compared, written atomic.Bool
		f.with(func(f *fake) {
			f.fault = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("Api-Key") != "maker" {
					return false
				}
				if r.URL.Path == "/collections/leaves_g2/points/count" {
					compared.Store(true)
				}
				if compared.Load() && r.URL.Path == "/collections/sextant_catalogue/points/batch" && written.CompareAndSwap(false, true) {
					if err := c.Upsert(t.Context(), []store.Record{leaf(older, 3, 2, "last")}); err != nil {
						t.Errorf("upsert: %v", err)
					}
				}
				return false
			}
		})
		swapped(t, maker)
		if r := final(t, f, "l:003"); r != "last" || !written.Load() {
			t.Errorf("revision %q, written: %t", r, written.Load())
		}
	})
	t.Run("asked late", func(t *testing.T) {
		f, _, maker := start(t)
		c, err := open(t, qdrant.Options{URL: f.URL, Key: "reader"}).Open(t.Context(), "leaves")
		if err != nil {
			t.Fatal(err)
		}
		h := f.hold("reader", "/collections/leaves_g1/points/query")
		done := make(chan error, 1)
		go func() {
			_, err := c.SearchDense(t.Context(), store.DenseQuery{Vector: by(older, "a question")})
			done <- err
		}()
		<-h.reached
		swapped(t, maker)
		close(h.letGo)
		if err := <-done; !errors.Is(err, store.ErrEncoder) {
			t.Errorf("by vectors that are no longer there: %v", err)
		}
		if n, err := c.Count(t.Context(), filter.All, ""); n != 12 || err != nil {
			t.Errorf("%d documents, %v", n, err)
		}
	})
}

// Of two processes that make new vectors, the first is stopped by the second, and the
// second's are those in use.
func TestReencodeTakenOver(t *testing.T) {
	f := newFake(t)
	first := plant(t, open(t, qdrant.Options{URL: f.URL}), 12).(store.Reencoder)
	if err := first.BeginVectors(t.Context(), "third-4"); err != nil {
		t.Fatal(err)
	}
	docs, _, err := first.WithoutVectors(t.Context(), "", 2)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, qdrant.Options{URL: f.URL})
	s.SetGrace(0)
	second, err := s.Open(t.Context(), "leaves")
	if err != nil {
		t.Fatal(err)
	}
	if err := second.(store.Reencoder).BeginVectors(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	vectors := make([][][]float32, len(docs))
	for i, d := range docs {
		vectors[i] = leaf("third-4", 0, len(d.Chunks), "1").Vectors
	}
	_, _, listed := first.WithoutVectors(t.Context(), "", 2)
	for what, err := range map[string]error{"put": first.PutVectors(t.Context(), docs, vectors), "list": listed, "swap": first.SwapVectors(t.Context())} {
		if !errors.Is(err, store.ErrLocked) {
			t.Errorf("%s by the first: %v", what, err)
		}
	}
	if n, err := reencode(t.Context(), s, newer); n != 9 || err != nil {
		t.Errorf("%d encoded, %v", n, err)
	}
	if err := unmixed(t.Context(), second); err != nil {
		t.Error(err)
	}
}

// A writer of the same process that waits, since the generation in use was closed after
// swaps that were incomplete, does not keep the next swap from being made.
func TestSwapWhileItsWriterWaits(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	s := open(t, qdrant.Options{URL: f.URL})
	s.SetGrace(0)
	c := plant(t, s, 12)
	r := c.(store.Reencoder)
	if err := r.BeginVectors(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := r.SwapVectors(t.Context()); !errors.Is(err, store.ErrIncomplete) {
			t.Fatalf("a swap without vectors: %v", err)
		}
	}
	writer, err := s.Open(t.Context(), "leaves")
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- writer.Upsert(t.Context(), []store.Record{leaf(older, 3, 2, "late")}) }()
	select {
	case err := <-written:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	began := time.Now()
	if _, err := reencode(t.Context(), s, newer); err != nil {
		t.Fatal(err)
	}
	if err := <-written; !errors.Is(err, store.ErrEncoder) {
		t.Errorf("vectors of the old encoder: %v", err)
	}
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("they waited for each other for %v", d)
	}
}

// A change of the row that takes long, as new indexes do, does not undo a swap that was made
// meanwhile.
func TestSlowChangeOfTheRow(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	plant(t, open(t, qdrant.Options{URL: f.URL}), 12)
	maker := open(t, qdrant.Options{URL: f.URL, Key: "maker"})
	maker.SetGrace(0)
	slow := open(t, qdrant.Options{URL: f.URL, Key: "slow"})
	var once atomic.Bool
	f.with(func(f *fake) {
		f.fault = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodDelete { // what was in use stays, and takes the index
				http.Error(w, "away", http.StatusServiceUnavailable)
				return true
			}
			if r.Header.Get("Api-Key") == "slow" && r.URL.Path == "/collections/leaves_g1/index" && once.CompareAndSwap(false, true) {
				if _, err := reencode(t.Context(), maker, newer); err != nil {
					t.Errorf("reencode: %v", err)
				}
			}
			return false
		}
	})
	spec := leaves()
	spec.Schema.Fields = append(spec.Schema.Fields, filter.Field{Name: "age", Kind: filter.Int})
	if _, err := slow.Ensure(t.Context(), spec); !errors.Is(err, store.ErrSpec) {
		t.Errorf("a specification with the encoder before: %v", err)
	}
	c, err := open(t, qdrant.Options{URL: f.URL}).Open(t.Context(), "leaves")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Count(t.Context(), filter.All, ""); n != 12 || err != nil || c.Spec().Encoder != newer || !once.Load() {
		t.Errorf("%d documents by %s, %v", n, c.Spec().Encoder, err)
	}
}
