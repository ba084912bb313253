package openai_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/embed/embedtest"
	"github.com/sextant-rag/sextant/embed/openai"
	"github.com/sextant-rag/sextant/internal/endpoint"
)

// A server is an embeddings server whose vectors carry meaning, with the habits that the
// fields name.
type server struct {
	floatsOnly bool // refuses base64
	ordered    bool // gives no indexes
	maxTexts   int
	maxBytes   int    // of one text; what is longer is an error
	key        string // that it wants
	status     int    // it always fails with

	mu       sync.Mutex
	requests []wireRequest
	running  atomic.Int32
	most     atomic.Int32
}

type wireRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Encoding   string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions"`
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.most.Store(max(s.most.Load(), s.running.Add(1)))
	defer s.running.Add(-1)
	var in wireRequest
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/embeddings" || in.Model != "meaning" {
		refuse(w, 400, "this is not what the API says")
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, in)
	s.mu.Unlock()
	switch {
	case s.status != 0:
		refuse(w, s.status, "as configured")
	case s.key != "" && r.Header.Get("Authorization") != "Bearer "+s.key:
		refuse(w, 401, "Incorrect API key provided: "+r.Header.Get("Authorization"))
	case s.floatsOnly && in.Encoding == "base64":
		refuse(w, 422, "encoding_format: unknown variant `base64`, expected `float`")
	case s.maxTexts > 0 && len(in.Input) > s.maxTexts:
		refuse(w, 422, fmt.Sprintf("batch size %d > maximum allowed batch size %d", len(in.Input), s.maxTexts))
	case slices.Contains(in.Input, ""):
		refuse(w, 400, "'$.input' is invalid")
	case s.maxBytes > 0 && slices.ContainsFunc(in.Input, func(t string) bool { return len(t) > s.maxBytes }):
		refuse(w, 400, fmt.Sprintf("This model's maximum context length is %d tokens", s.maxBytes))
	default:
		s.answer(w, in)
	}
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message}})
}

// answer gives vectors of length 3, the last first.
func (s *server) answer(w http.ResponseWriter, in wireRequest) {
	vectors, _ := embedtest.Fake{}.Embed(context.Background(), in.Input)
	var data []map[string]any
	for i := range vectors {
		if !s.ordered {
			i = len(vectors) - 1 - i
		}
		var packed []byte
		for j := range vectors[i] {
			vectors[i][j] *= 3
			packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(vectors[i][j]))
		}
		row := map[string]any{"object": "embedding", "embedding": vectors[i]}
		if in.Encoding == "base64" {
			row["embedding"] = base64.StdEncoding.EncodeToString(packed)
		}
		if !s.ordered {
			row["index"] = i
		}
		data = append(data, row)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": in.Model})
}

func open(t testing.TB, h http.Handler, o openai.Options) *openai.Embedder {
	t.Helper()
	e, err := openai.Open(t.Context(), at(t, h, o))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func at(t testing.TB, h http.Handler, o openai.Options) openai.Options {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	o.BaseURL, o.Model = s.URL+"/v1", "meaning"
	o.Endpoint.Attempts = 2
	return o
}

// Servers differ; what comes of them does not.
func TestConformance(t *testing.T) {
	for name, s := range map[string]*server{
		"base64":        {},
		"numbers":       {floatsOnly: true},
		"without index": {ordered: true},
		"short texts":   {maxBytes: 500},
		"small batches": {maxTexts: 3},
		"short and few": {maxTexts: 1, maxBytes: 300, floatsOnly: true},
		"wants a key":   {key: "sk-1"},
	} {
		t.Run(name, func(t *testing.T) {
			embedtest.Run(t, func(t *testing.T) embed.Embedder {
				return open(t, s, openai.Options{Key: s.key})
			})
		})
	}
}

func TestBatches(t *testing.T) {
	s := &server{}
	e := open(t, s, openai.Options{Dim: 128, Batch: 10, BatchBytes: 100, Parallel: 3})
	var texts []string
	for i := range 35 {
		texts = append(texts, fmt.Sprintf("text %d", i))
	}
	texts = append(texts, strings.Repeat("x", 80), strings.Repeat("y", 80))
	for i, v := range embedtest.Embed(t, e, texts...) {
		want := embedtest.Query(t, embedtest.Fake{}, texts[i])
		if embedtest.Cosine(v, want) < 0.9999 {
			t.Errorf("text %d has the vector of another", i)
		}
	}
	total := 0
	for _, r := range s.requests {
		total += len(r.Input)
		if len(r.Input) > 10 || len(strings.Join(r.Input, "")) > 100 {
			t.Errorf("a request of %d texts with %d bytes", len(r.Input), len(strings.Join(r.Input, "")))
		}
	}
	if total != len(texts) || s.most.Load() > 3 {
		t.Errorf("%d texts sent, %d requests at once", total, s.most.Load())
	}
}

func TestPrefixesAndDimensions(t *testing.T) {
	s := &server{}
	e := open(t, s, openai.Options{Dim: 128, Reduce: true, QueryPrefix: "query: ", DocumentPrefix: "passage: ", Revision: "r1"})
	if len(s.requests) != 0 {
		t.Errorf("%d requests before there is a text, though the dimension is known", len(s.requests))
	}
	embedtest.Embed(t, e, "stall")
	embedtest.Query(t, e, "stall")
	if got := s.requests; len(got) != 2 || got[0].Input[0] != "passage: stall" || got[1].Input[0] != "query: stall" || got[0].Dimensions != 128 {
		t.Errorf("sent %+v", got)
	}
	want := embed.Fingerprint{Model: "meaning", Revision: "r1", Dim: 128, QueryPrefix: "query: ", DocumentPrefix: "passage: ", Normalized: true}
	if e.Fingerprint() != want {
		t.Errorf("fingerprint differs in %v", want.Differences(e.Fingerprint()))
	}
}

func TestOpenFails(t *testing.T) {
	for name, tt := range map[string]struct {
		h    http.Handler
		o    openai.Options
		want error
	}{
		"wrong key": {&server{key: "right"}, openai.Options{Key: "sk-wrong"}, endpoint.ErrUnauthorized},
		"down":      {&server{status: 503}, openai.Options{}, endpoint.ErrUnavailable},
		"no route":  {http.NotFoundHandler(), openai.Options{}, endpoint.ErrRequest},
	} {
		_, err := openai.Open(t.Context(), at(t, tt.h, tt.o))
		if !errors.Is(err, tt.want) || strings.Contains(err.Error(), "sk-wrong") {
			t.Errorf("%s: error %v, want %v without the key", name, err, tt.want)
		}
	}
	if _, err := openai.Open(t.Context(), openai.Options{BaseURL: "http://localhost:1"}); !errors.Is(err, endpoint.ErrRequest) {
		t.Errorf("no model: error %v", err)
	}
	o := at(t, &server{}, openai.Options{Dim: 384})
	e, err := openai.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := e.Embed(t.Context(), []string{"a"}); !errors.Is(err, openai.ErrDimension) || v != nil {
		t.Errorf("another dimension: %d vectors, error %v", len(v), err)
	}
}

// Whatever a server answers, there are the right vectors or an error, never others.
func TestHostileAnswers(t *testing.T) {
	for name, body := range map[string]string{
		"nothing":             ``,
		"no object":           `[]`,
		"no data":             `{}`,
		"too few":             `{"data": [{"index": 0, "embedding": [1, 2]}]}`,
		"too many":            `{"data": [{"embedding": [1, 2]}, {"embedding": [1, 2]}, {"embedding": [1, 2]}]}`,
		"one index twice":     `{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 0, "embedding": [1, 2]}]}`,
		"an index beyond":     `{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 2, "embedding": [1, 2]}]}`,
		"an index below":      `{"data": [{"index": 0, "embedding": [1, 2]}, {"index": -1, "embedding": [1, 2]}]}`,
		"zeros":               `{"data": [{"index": 0, "embedding": [0, 0]}, {"index": 1, "embedding": [1, 2]}]}`,
		"null":                `{"data": [{"index": 0, "embedding": null}, {"index": 1, "embedding": [1, 2]}]}`,
		"numbers too large":   `{"data": [{"index": 0, "embedding": [1e39, 2]}, {"index": 1, "embedding": [1, 2]}]}`,
		"base64 of NaN":       `{"data": [{"index": 0, "embedding": "AADAfwAAgD8="}, {"index": 1, "embedding": [1, 2]}]}`,
		"base64 of infinity":  `{"data": [{"index": 0, "embedding": "AACAfwAAgD8="}, {"index": 1, "embedding": [1, 2]}]}`,
		"base64 of 3 bytes":   `{"data": [{"index": 0, "embedding": "AADA"}, {"index": 1, "embedding": [1, 2]}]}`,
		"no base64":           `{"data": [{"index": 0, "embedding": "!!!!"}, {"index": 1, "embedding": [1, 2]}]}`,
		"lengths that differ": `{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1, 2, 3]}]}`,
		"words":               `{"data": [{"index": 0, "embedding": ["a", 2]}, {"index": 1, "embedding": [1, 2]}]}`,
	} {
		e := open(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }), openai.Options{Dim: 2})
		v, err := e.Embed(t.Context(), []string{"a", "b"})
		if v != nil || !errors.Is(err, endpoint.ErrResponse) && !errors.Is(err, openai.ErrDimension) {
			t.Errorf("%s: vectors %v, error %v", name, v, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(`{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": "AACAPwAAgD8="}]}`)
	body := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
	f.Cleanup(s.Close)
	e, err := openai.Open(context.Background(), openai.Options{BaseURL: s.URL, Model: "m", Dim: 2})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		body = text
		v, err := e.Embed(t.Context(), []string{"a", "b"})
		if err != nil {
			return
		}
		for _, x := range v {
			if len(x) != 2 || math.Abs(embedtest.Cosine(x, x)-1) > 1e-4 || math.Abs(math.Hypot(float64(x[0]), float64(x[1]))-1) > 1e-4 {
				t.Fatalf("%q gives the vector %v", text, x)
			}
		}
	})
}

// The deadline of a caller ends a request that hangs, and the first failure ends all others.
func TestDeadlineAndFirstFailure(t *testing.T) {
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	e := open(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in wireRequest
		_ = json.NewDecoder(r.Body).Decode(&in)
		if slices.Contains(in.Input, "bad") {
			refuse(w, 404, "no such model")
			return
		}
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}), openai.Options{Dim: 2, Batch: 1})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := e.Embed(ctx, []string{"a", "b", "c"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	start := time.Now()
	if _, err := e.Embed(t.Context(), []string{"a", "bad", "c", "d", "e", "f"}); !errors.Is(err, endpoint.ErrRequest) || time.Since(start) > 10*time.Second {
		t.Errorf("error %v after %v", err, time.Since(start))
	}
}
