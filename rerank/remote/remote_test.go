package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/internal/endpoint"
	"github.com/sextant-rag/sextant/rerank"
	"github.com/sextant-rag/sextant/rerank/remote"
	"github.com/sextant-rag/sextant/rerank/reranktest"
)

// A dialect is how one kind of server behaves, after its documentation.
type dialect struct {
	path    string
	texts   bool   // wants {"texts"}
	strict  bool   // refuses fields it does not know
	model   bool   // wants a model
	most    int    // texts in a request
	longest int    // bytes of a text
	list    string // the field with the results; "" is a bare list
	score   string
	key     string
}

var dialects = map[string]dialect{
	"Cohere v2":                 {path: "/v2/rerank", model: true, list: "results", score: "relevance_score", key: "co-1"},
	"Jina":                      {path: "/v1/rerank", model: true, list: "results", score: "relevance_score", key: "jina_1"},
	"Voyage":                    {path: "/v1/rerank", model: true, strict: true, list: "data", score: "relevance_score", key: "pa-1"},
	"vLLM":                      {path: "/rerank", model: true, longest: 2000, list: "results", score: "relevance_score"},
	"llama-server":              {path: "/v1/rerank", longest: 1000, list: "results", score: "relevance_score"},
	"Text Embeddings Inference": {path: "/rerank", texts: true, most: 4, score: "score"},
}

func (d dialect) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in map[string]json.RawMessage
	if json.NewDecoder(r.Body).Decode(&in) != nil || r.URL.Path != d.path {
		refuse(w, 404, "no such route")
		return
	}
	field, known := "documents", []string{"model", "query", "documents", "top_k", "return_documents", "truncation"}
	if d.texts {
		field, known = "texts", []string{"query", "texts", "raw_scores", "return_text", "truncate"}
	}
	var query string
	var texts []string
	_ = json.Unmarshal(in["query"], &query)
	_ = json.Unmarshal(in[field], &texts)
	for name := range in {
		if d.strict && !slices.Contains(known, name) {
			refuse(w, 400, "unexpected field "+name)
			return
		}
	}
	switch {
	case d.key != "" && r.Header.Get("Authorization") != "Bearer "+d.key:
		refuse(w, 401, "invalid api token "+r.Header.Get("Authorization"))
	case in[field] == nil:
		refuse(w, 422, fmt.Sprintf("Failed to deserialize the JSON body into the target type: missing field `%s` at line 1 column 42", field))
	case d.model && in["model"] == nil:
		refuse(w, 400, "model is required")
	case d.most > 0 && len(texts) > d.most:
		refuse(w, 422, fmt.Sprintf("batch size %d > maximum allowed batch size %d", len(texts), d.most))
	case query == "" || slices.Contains(texts, ""):
		refuse(w, 400, "empty text")
	case d.longest > 0 && (len(query) > d.longest || slices.ContainsFunc(texts, func(t string) bool { return len(t) > d.longest })):
		refuse(w, 400, "This model's maximum context length is 512 tokens")
	default:
		d.answer(w, query, texts)
	}
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": message})
}

// answer gives the best first, as servers do.
func (d dialect) answer(w http.ResponseWriter, query string, texts []string) {
	scores, _ := reranktest.Fake{}.Score(context.Background(), query, texts)
	rows := []map[string]any{}
	for i := range texts {
		rows = append(rows, map[string]any{"index": i, d.score: scores[i]})
	}
	slices.SortFunc(rows, func(a, b map[string]any) int {
		return int(1e6 * (b[d.score].(float32) - a[d.score].(float32)))
	})
	if d.list == "" {
		_ = json.NewEncoder(w).Encode(rows)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{d.list: rows, "model": "m", "usage": map[string]any{"total_tokens": 1}})
}

func open(t testing.TB, h http.Handler, path string, o remote.Options) *remote.Reranker {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	o.URL, o.Endpoint.Attempts = s.URL+path, 2
	r, err := remote.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestConformance(t *testing.T) {
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := strings.TrimSuffix(d.path, "/rerank")
			reranktest.Run(t, true, func(t *testing.T) rerank.Reranker { return open(t, d, base, remote.Options{Key: d.key, Name: "m"}) })
		})
	}
}

// The format a server wants is learnt once, or said.
func TestFormats(t *testing.T) {
	tei := dialects["Text Embeddings Inference"]
	var mu sync.Mutex
	var asked []string
	counting := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Path)
		mu.Unlock()
		tei.ServeHTTP(w, r)
	})
	for format, requests := range map[remote.Format]int{remote.Auto: 3, remote.Texts: 2} {
		asked = nil
		r := open(t, counting, "/rerank", remote.Options{Format: format})
		reranktest.Score(t, r, "a", "b")
		reranktest.Score(t, r, "a", "b")
		if len(asked) != requests {
			t.Errorf("format %q: %d requests for two calls, want %d", format, len(asked), requests)
		}
	}
	if s, err := open(t, tei, "/rerank", remote.Options{Format: remote.Documents}).Score(t.Context(), "a", []string{"b"}); !errors.Is(err, endpoint.ErrRequest) || s != nil {
		t.Errorf("the wrong format: scores %v, error %v", s, err)
	}
	if _, err := remote.Open(remote.Options{URL: "http://localhost", Format: "xml"}); !errors.Is(err, endpoint.ErrRequest) {
		t.Errorf("unknown format: error %v", err)
	}
	if _, err := remote.Open(remote.Options{URL: "localhost:80"}); !errors.Is(err, endpoint.ErrRequest) {
		t.Errorf("no URL: error %v", err)
	}
}

func TestManyTextsGoInBatches(t *testing.T) {
	d := dialects["vLLM"]
	d.most = 10 // and a server that takes fewer than are sent
	r := open(t, d, "", remote.Options{Name: "m"})
	var texts []string
	for i := range 75 {
		texts = append(texts, strings.Repeat("crosswind ", i%2)+fmt.Sprint("landing ", i))
	}
	for i, s := range reranktest.Score(t, r, "crosswind landing", texts...) {
		if want := float32(i%2+1) / 2; s != want {
			t.Errorf("text %d scores %v, want %v", i, s, want)
		}
	}
}

// Whatever a server answers, each text has its score or there is an error.
func TestHostileAnswers(t *testing.T) {
	for name, body := range map[string]string{
		"nothing":         ``,
		"null":            `null`,
		"a number":        `7`,
		"no results":      `{}`,
		"too few":         `{"results": [{"index": 0, "relevance_score": 1}]}`,
		"one index twice": `{"results": [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 2}]}`,
		"an index beyond": `{"results": [{"index": 0, "relevance_score": 1}, {"index": 2, "relevance_score": 2}]}`,
		"an index below":  `[{"index": 0, "score": 1}, {"index": -1, "score": 2}]`,
		"no index":        `[{"score": 1}, {"score": 2}]`,
		"no score":        `[{"index": 0}, {"index": 1, "score": 2}]`,
		"a null score":    `[{"index": 0, "score": null}, {"index": 1, "score": 2}]`,
		"a word":          `[{"index": 0, "score": "good"}, {"index": 1, "score": 2}]`,
	} {
		r := open(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }), "", remote.Options{})
		if s, err := r.Score(t.Context(), "q", []string{"a", "b"}); s != nil || !errors.Is(err, endpoint.ErrResponse) {
			t.Errorf("%s: scores %v, error %v", name, s, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(`{"results": [{"index": 1, "relevance_score": 0.5}, {"index": 0, "relevance_score": -3}]}`)
	f.Add(`[{"index": 1, "score": 0.5}, {"index": 0, "score": -3}]`)
	body := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
	f.Cleanup(s.Close)
	r, err := remote.Open(remote.Options{URL: s.URL})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		body = text
		if s, err := r.Score(t.Context(), "q", []string{"a", "b"}); err == nil && len(s) != 2 {
			t.Fatalf("%q gives %v", text, s)
		}
	})
}

func TestErrorsSayNoKeyAndEndInTime(t *testing.T) {
	r := open(t, dialects["Jina"], "/v1", remote.Options{Key: "sk-secret", Name: "m"})
	if _, err := r.Score(t.Context(), "q", []string{"a"}); !errors.Is(err, endpoint.ErrUnauthorized) || strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("error %v", err)
	}
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	r = open(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // until then the server does not see that the caller has gone
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}), "", remote.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := r.Score(ctx, "q", []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
