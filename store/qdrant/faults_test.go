package qdrant_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/qdrant"
)

func notes() sextant.Collection {
	return sextant.Collection{Name: "notes", Encoder: "test-4", Schema: filter.Schema{
		Fields: []filter.Field{{Name: "state", Kind: filter.Keyword, Fold: filter.Case}, {Name: "n", Kind: filter.Int}, {Name: "make", Kind: filter.Keyword, Group: "aircraft"}},
		Groups: []filter.Group{{Name: "aircraft"}}}}
}

func note(id string) store.Record {
	text := "ice on the wing of " + id
	d := sextant.Document{ID: sextant.DocumentID(id), Collection: "notes", Title: id, Text: text, Revision: "1", Meta: filter.Meta{
		Fields: filter.Fields{"state": {filter.OfString("AK")}, "n": {filter.OfInt(7)}},
		Groups: map[string][]filter.Fields{"aircraft": {{"make": {filter.OfString("CESSNA")}}, {"make": {filter.OfString("PIPER")}}}}}}
	return store.Record{Document: d, Chunks: []sextant.Chunk{{ID: sextant.ChunkID(d.ID, 0), DocumentID: d.ID, End: len(text), Content: text}}, Vectors: [][]float32{{1, 0, 0, 0}}}
}

func open(t testing.TB, o qdrant.Options) *qdrant.Store {
	t.Helper()
	s, err := qdrant.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func filled(t testing.TB, s store.Store) store.Collection {
	t.Helper()
	c, err := s.Ensure(t.Context(), notes())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Upsert(t.Context(), []store.Record{note("s:1"), note("s:2")}); err != nil {
		t.Fatal(err)
	}
	return c
}

// questions ask everything there is to ask; each names itself.
func questions(s store.Store, c store.Collection) map[string]func(context.Context) error {
	f := filter.And{filter.Eq{Field: "state", Value: filter.OfString("ak")}, filter.Each{Group: "aircraft", Filter: filter.Eq{Field: "make", Value: filter.OfString("PIPER")}}}
	return map[string]func(context.Context) error{
		"count":    func(ctx context.Context) error { _, err := c.Count(ctx, f, ""); return err },
		"elements": func(ctx context.Context) error { _, err := c.Count(ctx, f, "aircraft"); return err },
		"contains": func(ctx context.Context) error {
			_, err := c.Count(ctx, filter.Contains{Field: "state", Sub: "k"}, "")
			return err
		},
		"mentions": func(ctx context.Context) error {
			_, err := c.Count(ctx, filter.Mentions{Phrases: []string{"the wing"}}, "")
			return err
		},
		"facet":     func(ctx context.Context) error { _, err := c.Facet(ctx, store.FacetQuery{Field: "state"}); return err },
		"sum":       func(ctx context.Context) error { _, err := c.Sum(ctx, f, "n"); return err },
		"list":      func(ctx context.Context) error { _, err := c.List(ctx, store.ListQuery{Filter: f}); return err },
		"get":       func(ctx context.Context) error { _, err := c.Get(ctx, []sextant.DocumentID{"s:1"}); return err },
		"chunks":    func(ctx context.Context) error { _, err := c.Chunks(ctx, "s:1"); return err },
		"revisions": func(ctx context.Context) error { _, err := c.Revisions(ctx, []sextant.DocumentID{"s:1"}); return err },
		"words": func(ctx context.Context) error {
			_, err := c.SearchLexical(ctx, store.LexicalQuery{Text: "ice"})
			return err
		},
		"vectors": func(ctx context.Context) error {
			_, err := c.SearchDense(ctx, store.DenseQuery{Vector: []float32{1, 0, 0, 0}})
			return err
		},
		"size": func(ctx context.Context) error { _, err := c.Size(ctx); return err },
		"scan": func(ctx context.Context) error {
			for _, err := range c.Scan(ctx, f) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"open":        func(ctx context.Context) error { _, err := s.Open(ctx, "notes"); return err },
		"collections": func(ctx context.Context) error { _, err := s.Collections(ctx); return err },
		"ping":        func(ctx context.Context) error { return s.Ping(ctx) },
		"mark":        func(ctx context.Context) error { _, err := s.Journal().Mark(ctx, "x"); return err },
		"receipts":    func(ctx context.Context) error { _, err := s.Journal().Receipts(ctx, "", 1); return err },
	}
}

// hung stalls until the client gives up.
func hung(_ http.ResponseWriter, r *http.Request) bool {
	_, _ = io.Copy(io.Discard, r.Body) // until then a server does not notice that the client has gone
	<-r.Context().Done()
	return true
}

func status(code int, said string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"status":{"error":%q},"time":0}`, said)
		return true
	}
}

// cut sends the head of an answer and a part of its body, and breaks off.
func cut(w http.ResponseWriter, _ *http.Request) bool {
	w.Header().Set("Content-Length", "1000")
	_, _ = w.Write([]byte(`{"result":{"count":0,"points":[],"hits":[]`))
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// A server in trouble is unavailable within three seconds, whatever the trouble and the
// question: never nothing found, and never an error that could be taken for something else.
func TestTroubleIsUnavailable(t *testing.T) {
	troubles := map[string]func(http.ResponseWriter, *http.Request) bool{
		"stalls":      hung,
		"cuts":        cut,
		"fails":       status(http.StatusInternalServerError, "Service internal error: task panicked"),
		"is starting": status(http.StatusServiceUnavailable, "not ready"),
		"is busy":     status(http.StatusTooManyRequests, "rate limit"),
		"moved": func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
			return true
		},
		"says nothing":    func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusOK); return true },
		"is a web page":   func(w http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(w, "<html>Sign in</html>"); return true },
		"says null":       func(w http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(w, `{"result":7}`); return true },
		"refuses the key": status(http.StatusForbidden, "forbidden"),
		"lost the collections": func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/collections" {
				return status(http.StatusInternalServerError, "shards are gone")(w, r)
			}
			return status(http.StatusNotFound, "Not found: Collection `x` doesn't exist!")(w, r)
		},
	}
	for name, trouble := range troubles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			s := open(t, qdrant.Options{URL: f.URL, Timeout: 400 * time.Millisecond})
			c := filled(t, s)
			for what, ask := range questions(s, c) {
				if err := ask(t.Context()); err != nil {
					t.Fatalf("%s before: %v", what, err)
				}
			}
			f.with(func(f *fake) { f.fault = trouble })
			for what, ask := range questions(s, c) {
				if what == "ping" && name == "says null" {
					continue // it does answer
				}
				began := time.Now()
				err := ask(t.Context())
				if took := time.Since(began); !errors.Is(err, store.ErrUnavailable) || took > 3*time.Second {
					t.Errorf("%s: %v after %s", what, err, took)
				}
			}
			f.with(func(f *fake) { f.fault = nil })
			for what, ask := range questions(s, c) {
				if err := ask(t.Context()); err != nil {
					t.Errorf("%s afterwards: %v", what, err)
				}
			}
		})
	}
}

// With the time a request may take as it is by default, a server that stalls is given up
// within three seconds; so is a port that nobody listens on, and one that accepts and is
// silent.
func TestThreeSeconds(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for as long as a person would")
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead.Close()
	for name, address := range map[string]string{"silent": silent.Addr().String(), "nobody": dead.Addr().String(), "no route": "192.0.2.1:6333", "no name": "nowhere.invalid:6333"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, qdrant.Options{URL: "http://" + address})
			began := time.Now()
			_, err := s.Collections(t.Context())
			if took := time.Since(began); !errors.Is(err, store.ErrUnavailable) || took > 3*time.Second {
				t.Errorf("%v after %s", err, took)
			}
		})
	}
}

// What vanishes or changes on the server behind a handle is trouble too.
func TestChangedBelow(t *testing.T) {
	for name, change := range map[string]func(*fake){
		"collection dropped": func(f *fake) {
			for name := range f.collections {
				if strings.HasPrefix(name, "notes") {
					delete(f.collections, name)
				}
			}
		},
		"everything dropped": func(f *fake) { clear(f.collections) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			s := open(t, qdrant.Options{URL: f.URL})
			c := filled(t, s)
			f.with(change)
			for what, ask := range questions(s, c) {
				err := ask(t.Context())
				catalogue := slices.Contains([]string{"collections", "mark", "receipts", "ping"}, what)
				if catalogue && err == nil && (name == "collection dropped" || what == "ping") {
					continue
				}
				if !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if err := c.Upsert(t.Context(), []store.Record{note("s:3")}); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("upsert: %v", err)
			}
		})
	}
	for name, dense := range map[string]int{"made anew": 4, "made anew with another dimension": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			s := open(t, qdrant.Options{URL: f.URL})
			known := filled(t, s)
			f.with(func(f *fake) {
				f.collections["notes_g1"] = &fakeCollection{points: map[string]fakePoint{}, indexes: f.collections["notes_g1"].indexes, dense: dense}
			})
			if _, err := open(t, qdrant.Options{URL: f.URL}).Open(t.Context(), "notes"); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("opened now: %v", err)
			}
			time.Sleep(1100 * time.Millisecond) // what is known of the catalogue is looked at again after a second
			for what, ask := range questions(s, known) {
				if err := ask(t.Context()); !errors.Is(err, store.ErrUnavailable) && !slices.Contains([]string{"collections", "mark", "receipts", "ping"}, what) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
	t.Run("dimension changed", func(t *testing.T) {
		f := newFake(t)
		c := filled(t, open(t, qdrant.Options{URL: f.URL}))
		f.with(func(f *fake) {
			f.fault = onRoute("/points/query", status(400, "Wrong input: Vector dimension error: expected dim: 3, got 4"))
		})
		if _, err := c.SearchDense(t.Context(), store.DenseQuery{Vector: []float32{1, 0, 0, 0}}); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%v", err)
		}
	})
}

func onRoute(suffix string, fault func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, suffix) && fault(w, r)
	}
}

// Errors that are no outage keep their kind.
func TestKindsOfErrors(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault func(http.ResponseWriter, *http.Request) bool
		want  error
	}{
		{"strict mode", status(400, `Bad request: Index required but not found for "x" of one of the following types: [keyword]`), store.ErrUnsupported},
		{"a limit", status(400, "Bad request: Limit exceeded 1000 > 100 for \"limit\""), store.ErrUnsupported},
		{"too large", status(413, "Payload reached size limit"), store.ErrUnsupported},
	} {
		f := newFake(t)
		c := filled(t, open(t, qdrant.Options{URL: f.URL}))
		f.with(func(f *fake) { f.fault = onRoute("/points/count", tt.fault) })
		if _, err := c.Count(t.Context(), filter.All, ""); !errors.Is(err, tt.want) || errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	f := newFake(t)
	c := filled(t, open(t, qdrant.Options{URL: f.URL}))
	f.with(func(f *fake) { f.fault = onRoute("/points/batch", status(507, "Disk full: no space left on device")) })
	if err := c.Upsert(t.Context(), []store.Record{note("s:3")}); !errors.Is(err, store.ErrFull) {
		t.Errorf("full disk: %v", err)
	}
}

// A write that meets a server which is away for a moment is sent again, and is there then.
func TestWritesOutlastARestart(t *testing.T) {
	f := newFake(t)
	c := filled(t, open(t, qdrant.Options{URL: f.URL}))
	var failures atomic.Int32
	f.with(func(f *fake) {
		f.fault = onRoute("/points/batch", func(w http.ResponseWriter, r *http.Request) bool {
			return failures.Add(1) <= 2 && status(503, "shutting down")(w, r)
		})
	})
	if err := c.Upsert(t.Context(), []store.Record{note("s:3")}); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Count(t.Context(), filter.All, ""); n != 3 || err != nil {
		t.Errorf("%d documents, %v", n, err)
	}
}

// Every request carries the key and a token that is valid when it is sent, also when
// tokens expire in the middle of an ingest.
func TestTokensExpire(t *testing.T) {
	var issued, valid atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/access-token" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		n := issued.Add(1)
		valid.Store(n)
		fmt.Fprintf(w, "token-%d\n", n)
	}))
	defer proxy.Close()
	f := newFake(t)
	uses := 0
	f.key = "secret"
	f.bearer = func(token string) bool { // each token is good for ten requests
		if token != fmt.Sprintf("token-%d", valid.Load()) {
			return false
		}
		if uses++; uses%10 == 0 {
			valid.Store(-1)
		}
		return true
	}
	s := open(t, qdrant.Options{URL: f.URL, Key: "secret", TokenProxy: proxy.URL})
	c, err := s.Ensure(t.Context(), notes())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if err := c.Upsert(t.Context(), []store.Record{note(fmt.Sprintf("s:%d", i))}); err != nil {
			t.Fatalf("upsert %d: %v", i, err)
		}
	}
	if n, err := c.Count(t.Context(), filter.All, ""); n != 30 || err != nil {
		t.Errorf("%d documents, %v", n, err)
	}
	if issued.Load() < 5 {
		t.Errorf("only %d tokens were asked for", issued.Load())
	}
	proxy.Close()
	valid.Store(-1)
	if _, err := c.Count(t.Context(), filter.All, ""); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("without the service: %v", err)
	}
}

// No error shows the key, whatever the server repeats or the address holds.
func TestNoSecretInErrors(t *testing.T) {
	for _, address := range []string{"http://user:geheim@127.0.0.1:1", "http://127.0.0.1:1/?api-key=geheim"} {
		s := open(t, qdrant.Options{URL: address, Key: "geheim"})
		if err := s.Ping(t.Context()); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%v", err)
		}
	}
}

// What is opened for reading answers, and changes nothing.
func TestReadOnly(t *testing.T) {
	f := newFake(t)
	filled(t, open(t, qdrant.Options{URL: f.URL}))
	s := open(t, qdrant.Options{URL: f.URL, ReadOnly: true})
	c, err := s.Ensure(t.Context(), notes())
	if err != nil {
		t.Fatal(err)
	}
	for what, ask := range questions(s, c) {
		if err := ask(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, deleted := c.Delete(t.Context(), []sextant.DocumentID{"s:1"})
	_, ensured := s.Ensure(t.Context(), sextant.Collection{Name: "another"})
	for what, err := range map[string]error{"upsert": c.Upsert(t.Context(), []store.Record{note("s:3")}), "delete": deleted, "ensure": ensured,
		"drop": s.Drop(t.Context(), "notes"), "mark": s.Journal().PutMark(t.Context(), "a", "b"), "receipt": s.Journal().PutReceipt(t.Context(), sextant.Receipt{Run: "r"})} {
		if !errors.Is(err, store.ErrUnsupported) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Two processes see each other's changes: what one derives is not answered from after the
// other wrote, and a collection dropped and made again by one is the new one for both.
func TestTwoProcesses(t *testing.T) {
	f := newFake(t)
	a := filled(t, open(t, qdrant.Options{URL: f.URL}))
	other := open(t, qdrant.Options{URL: f.URL})
	b, err := other.Open(t.Context(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	counts := func(c store.Collection, want int64) {
		t.Helper()
		for _, f := range []filter.Filter{filter.All, filter.Contains{Field: "state", Sub: "a"}, filter.Mentions{Phrases: []string{"wi*"}}} {
			if n, err := c.Count(t.Context(), f, ""); n != want || err != nil {
				t.Errorf("count of %v: %d, %v; want %d", f, n, err, want)
			}
		}
		if hits, err := c.SearchLexical(t.Context(), store.LexicalQuery{Text: "wing"}); int64(len(hits)) != want || err != nil {
			t.Errorf("%d hits, %v", len(hits), err)
		}
	}
	counts(a, 2)
	counts(b, 2)
	third := note("s:3")
	third.Document.Meta.Fields["state"] = []filter.Value{filter.OfString("California")}
	if err := b.Upsert(t.Context(), []store.Record{third}); err != nil {
		t.Fatal(err)
	}
	counts(a, 3)
	if err := other.Drop(t.Context(), "notes"); err != nil {
		t.Fatal(err)
	}
	c := filled(t, other)
	counts(c, 2)
	counts(a, 2)
}

// Other clients find a collection by its own name, and read what they are used to.
func TestForOtherClients(t *testing.T) {
	f := newFake(t)
	s := open(t, qdrant.Options{URL: f.URL, Names: map[string]string{"notes": "field_notes"}})
	filled(t, s)
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.collections[f.aliases["field_notes"]]
	if c == nil {
		t.Fatalf("no alias field_notes: %v", f.aliases)
	}
	n := 0
	for _, p := range c.points {
		if p.Payload["_kind"] != "chunk" {
			continue
		}
		n++
		for _, name := range []string{"chunk_id", "content", "document_id", "source", "chunk_index", "metadata"} {
			if _, ok := p.Payload[name]; !ok {
				t.Errorf("a chunk has no %s: %v", name, p.Payload)
			}
		}
		if m := p.Payload["metadata"].(map[string]any); m["state"] != "AK" || p.Payload["source"] != "notes" {
			t.Errorf("chunk: %v", p.Payload)
		}
	}
	if n != 2 {
		t.Errorf("%d chunks", n)
	}
}

func TestGRPCNeedsItsBuild(t *testing.T) {
	_, err := qdrant.Open(qdrant.Options{URL: "grpc://127.0.0.1:1"})
	if err != nil && (!errors.Is(err, qdrant.ErrGRPC) || !strings.Contains(err.Error(), "qdrant_grpc")) {
		t.Errorf("%v", err)
	}
}
