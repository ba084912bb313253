package chroma

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Whatever a document is called, the id of a record says it and the rest.
func TestKeysAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := key{document: sextant.DocumentID(rapid.StringN(1, -1, -1).Draw(t, "id")), index: rapid.IntRange(gone, 1000).Draw(t, "index"), version: rapid.Uint64().Draw(t, "version"), chunks: rapid.IntRange(0, 1000).Draw(t, "chunks")}
		if got, ok := parseKey(k.String()); !ok || got != k {
			t.Fatalf("%+v, want %+v", got, k)
		}
	})
}

func FuzzParseKey(f *testing.F) {
	for _, s := range []string{"", "a#0@1.2", "a#-@ff.0", "##@@..", "a#0@1.2#1@2.3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if k, ok := parseKey(id); ok && k.document == "" {
			t.Errorf("%q has no document", id)
		}
	})
}

// What counts of records that a crash may have left: the last version that the row knows,
// of documents that were not deleted since.
func TestSorted(t *testing.T) {
	r := &row{Version: 5, Void: []span{{3, 3}}}
	k := func(doc string, index int, version uint64, chunks int) string {
		return key{sextant.DocumentID(doc), index, version, chunks}.String()
	}
	l := sorted(r, []string{
		k("old", 0, 1, 2), k("old", 1, 1, 2), // replaced by
		k("old", 0, 4, 1),
		k("new", 0, 6, 1),                      // not yet
		k("void", 0, 2, 1), k("void", 0, 3, 1), // never
		k("gone", 0, 1, 1),                       // deleted, see below
		k("back", 0, 5, 1), k("shrunk", 0, 1, 1), // deleted before; without chunks since
		"somebody else's",
	}, []string{k("gone", gone, 2, 0), k("back", gone, 4, 0), k("shrunk", 0, 5, 0)})
	want := directory{"old": {4, 1}, "void": {2, 1}, "back": {5, 1}, "shrunk": {5, 0}}
	if diff := cmp.Diff(want, l.directory, cmp.AllowUnexported(entry{})); diff != "" || l.highest != 6 {
		t.Errorf("highest %d %s", l.highest, diff)
	}
	dead := []string{k("old", 0, 1, 2), k("old", 1, 1, 2), k("new", 0, 6, 1), k("void", 0, 3, 1), k("gone", 0, 1, 1), k("shrunk", 0, 1, 1)}
	if diff := cmp.Diff(dead, l.dead); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{k("gone", gone, 2, 0), k("back", gone, 4, 0)}, l.deadMarks); diff != "" {
		t.Error(diff)
	}
	if l.sums.Documents != 4 || l.sums.Chunks != 3 {
		t.Errorf("%+v", l.sums)
	}
}

// The traps of the server's conditions: what cannot be said is left out, never said wrong.
func TestWhere(t *testing.T) {
	s := &filter.Schema{Fields: []filter.Field{
		{Name: "state", Kind: filter.Keyword, Fold: filter.Case}, {Name: "n", Kind: filter.Int}, {Name: "size", Kind: filter.Float}, {Name: "tags", Kind: filter.Keyword, List: true},
		{Name: "title", Kind: filter.Keyword}, {Name: "make", Kind: filter.Keyword, Group: "aircraft"}}, Groups: []filter.Group{{Name: "aircraft"}}}
	str, num, real := filter.OfString, filter.OfInt, filter.OfFloat
	for _, tt := range []struct {
		name  string
		f     filter.Filter
		want  string
		exact bool
	}{
		{"all", filter.All, `null`, true},
		{"folded", filter.Eq{Field: "state", Value: str("ak")}, `{"_f.state":{"$eq":"` + filter.Case.Of("ak") + `"}}`, true},
		{"a list is not equal, it contains", filter.Eq{Field: "tags", Value: str("a")}, `{"tags":{"$contains":"a"}}`, true},
		{"a float keeps its point", filter.Range{Field: "size", Lo: real(5)}, `{"size":{"$gte":5.0}}`, true},
		{"one operator an object", filter.Range{Field: "n", Lo: num(1), Hi: num(9), HiExcl: true}, `{"$and":[{"n":{"$gte":1}},{"n":{"$lt":9}}]}`, true},
		{"not in a range is also where nothing is", filter.Not{Filter: filter.Range{Field: "n", Lo: num(1)}}, `{"$or":[{"n":{"$lt":1}},{"_p":{"$not_contains":"n"}}]}`, true},
		{"exists", filter.Exists{Field: "n"}, `{"_p":{"$contains":"n"}}`, true},
		{"not, inwards", filter.Not{Filter: filter.Or{filter.Eq{Field: "n", Value: num(1)}, filter.Eq{Field: "tags", Value: str("a")}}}, `{"$and":[{"n":{"$ne":1}},{"tags":{"$not_contains":"a"}}]}`, true},
		{"several", filter.In{Field: "n", Values: []filter.Value{num(1), num(2)}}, `{"n":{"$in":[1,2]}}`, true},
		{"floats are not asked for as a list", filter.In{Field: "size", Values: []filter.Value{real(5), real(5.5)}}, `{"$or":[{"size":{"$eq":5.0}},{"size":{"$eq":5.5}}]}`, true},
		{"own names are kept apart", filter.Eq{Field: "title", Value: str("x")}, `{"field.title":{"$eq":"x"}}`, true},
		{"substrings are left over", filter.And{filter.Contains{Field: "title", Sub: "x"}, filter.Eq{Field: "n", Value: num(1)}}, `{"n":{"$eq":1}}`, false},
		{"one side left over, all may match", filter.Or{filter.Contains{Field: "title", Sub: "x"}, filter.Eq{Field: "n", Value: num(1)}}, `null`, false},
		{"elements, of which none alone is asked", filter.Each{Group: "aircraft", Filter: filter.And{filter.Eq{Field: "make", Value: str("A")}, filter.Not{Filter: filter.Eq{Field: "make", Value: str("B")}}}}, `{"aircraft.make":{"$contains":"A"}}`, false},
		{"no element", filter.Not{Filter: filter.Each{Group: "aircraft", Filter: filter.Eq{Field: "make", Value: str("A")}}}, `null`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, exact := where(s, tt.f)
			b, err := json.Marshal(c)
			if err != nil || string(b) != tt.want || exact != tt.exact {
				t.Errorf("%s, exact %t, %v; want %s, %t", b, exact, err, tt.want, tt.exact)
			}
		})
	}
}

// No key can begin with Chroma's own prefix, one of which ruins a server for good, and
// numbers are written so that the server keeps their kind.
func TestFieldsAsMembers(t *testing.T) {
	s := &filter.Schema{Fields: []filter.Field{{Name: "size", Kind: filter.Float}, {Name: "when", Kind: filter.Time}, {Name: "tags", Kind: filter.Keyword, List: true}, {Name: "source", Kind: filter.Keyword}}}
	got := `{` + string(fieldMembers(s, filter.Meta{Fields: filter.Fields{"size": {filter.OfFloat(5)}, "when": {filter.OfMicros(1)}, "tags": {}, "source": {filter.OfString(`"`)}}})) + `}`
	if want := `{"size":5.0,"when":1,"field.source":"\"","_p":["size","when","field.source"]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, x := range []float64{0, -1, 1e300, math.SmallestNonzeroFloat64, 1 << 53, 0.1} {
		text := jsonOf(filter.OfFloat(x))
		var back float64
		if err := json.Unmarshal([]byte(text), &back); err != nil || back != x || !strings.ContainsAny(text, ".e") {
			t.Errorf("%v is written %s", x, text)
		}
	}
	for _, name := range []string{"chroma:document", "$eq", "#id", "_x", "a b"} {
		bad := filter.Schema{Fields: []filter.Field{{Name: name, Kind: filter.Keyword}}}
		if bad.Validate() == nil && strings.HasPrefix(keyOf(bad.Fields[0]), name[:1]) {
			t.Errorf("a field %q would be written as %q", name, keyOf(bad.Fields[0]))
		}
	}
}

// What is packed comes back, and damage is noticed.
func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(strings.Repeat(rapid.String().Draw(t, "text"), rapid.IntRange(0, 30).Draw(t, "times")))
		s := pack(b)
		if got, err := unpack(s); err != nil || string(got) != string(b) {
			t.Fatalf("%q, %v; want %q", got, err, b)
		}
		at := rapid.IntRange(0, len(s)-1).Draw(t, "at")
		if got, err := unpack(s[:at]); err == nil && string(got) != string(b) {
			t.Fatalf("cut at %d: %q", at, got)
		}
	})
}

// Only what Chroma itself says is taken for an answer about collections.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		want   error
	}{
		{404, `{"error":"NotFoundError","message":"Collection [x] does not exist"}`, store.ErrNotFound},
		{404, `<html>no such page</html>`, store.ErrUnavailable},
		{401, `{"error":"AuthError","message":"no"}`, store.ErrUnavailable},
		{422, `{"error":"ChromaError","message":"lists"}`, store.ErrUnsupported},
		{500, `{"error":"InternalError","message":"boom"}`, store.ErrUnavailable},
		{507, `full`, store.ErrFull},
		{302, ``, store.ErrUnavailable},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			_, _ = w.Write([]byte(tt.body))
		}))
		s, err := Open(Options{URL: srv.URL})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Open(t.Context(), "notes"); !errors.Is(err, tt.want) || strings.Contains(err.Error(), srv.URL) {
			t.Errorf("%d %s: %v", tt.status, tt.body, err)
		}
		srv.Close()
	}
}

// A server that cannot be reached is unavailable in time, and its address and secrets
// are not told.
func TestUnreachable(t *testing.T) {
	s, err := Open(Options{URL: "http://user:secret@127.0.0.1:1", Token: "token"})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = s.Open(t.Context(), "notes")
	if !errors.Is(err, store.ErrUnavailable) || time.Since(began) > 3*time.Second || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "token") {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

// Each way to be let in sends its own header, and none in the address.
func TestCredentials(t *testing.T) {
	for _, tt := range []struct {
		name         string
		o            Options
		header, want string
	}{
		{"bearer", Options{Token: "t"}, "Authorization", "Bearer t"},
		{"own header", Options{Token: "t", TokenHeader: "x-chroma-token"}, "X-Chroma-Token", "t"},
		{"basic", Options{User: "u", Password: "p"}, "Authorization", "Basic dTpw"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := make(chan string, 10)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got <- r.Header.Get(tt.header)
				w.WriteHeader(http.StatusUnauthorized)
			}))
			defer srv.Close()
			tt.o.URL = srv.URL
			s, err := Open(tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Ping(t.Context()); !errors.Is(err, store.ErrUnavailable) {
				t.Error(err)
			}
			if h := <-got; h != tt.want {
				t.Errorf("%q, want %q", h, tt.want)
			}
		})
	}
}
