package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/embed/embedtest"
)

// embeddings serves an embedder as OpenAI's API does.
func embeddings(t *testing.T, e embed.Embedder, key string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if json.NewDecoder(r.Body).Decode(&in) != nil || r.Header.Get("Authorization") != strings.TrimSpace("Bearer "+key) && key != "" || key == "" && r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		vectors, err := e.Embed(r.Context(), in.Input)
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		var data []map[string]any
		for i, v := range vectors {
			data = append(data, map[string]any{"index": i, "embedding": v})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

func openEncoder(t *testing.T, pairs ...string) (encoder, error) {
	t.Helper()
	env := environment{"HF_HOME": t.TempDir(), "HF_HUB_OFFLINE": "1"}
	for i := 0; i+1 < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	c, err := loadConfig("", env)
	if err != nil {
		return encoder{}, err
	}
	return (&session{config: c, env: env}).openEncoder(t.Context())
}

func TestEncoderFromTheEnvironment(t *testing.T) {
	fake := embeddings(t, embedtest.Fake{}, "")
	locked := embeddings(t, embedtest.Fake{}, "sk-1")
	for name, tt := range map[string]struct {
		env   []string
		model string // "" is none
		code  sextant.Code
		says  string
	}{
		"by default":               {nil, "all-MiniLM-L6-v2", "", ""},
		"by its published name":    {[]string{"EMBEDDING_MODEL", "sentence-transformers/all-MiniLM-L6-v2"}, "all-MiniLM-L6-v2", "", ""},
		"none":                     {[]string{"EMBEDDER", "none"}, "", "", ""},
		"a model not there":        {[]string{"EMBEDDING_MODEL", "BAAI/bge-base-en-v1.5"}, "", sextant.CodeNotFound, "hf download BAAI/bge-base-en-v1.5"},
		"a word that is no choice": {[]string{"EMBEDDER", "magic"}, "", sextant.CodeBadRequest, "local, openai, none"},
		"a server":                 {[]string{"EMBEDDER", "openai", "EMBEDDING_MODEL", "m", "EMBEDDING_BASE_URL", fake}, "m", "", ""},
		"a server without a model": {[]string{"EMBEDDER", "openai", "EMBEDDING_BASE_URL", fake}, "", sextant.CodeBadRequest, "EMBEDDING_MODEL"},
		"OpenAI's key stays away":  {[]string{"EMBEDDER", "openai", "EMBEDDING_MODEL", "m", "EMBEDDING_BASE_URL", fake, "OPENAI_API_KEY", "sk-1"}, "m", "", ""},
		"OpenAI's own":             {[]string{"EMBEDDER", "openai", "EMBEDDING_MODEL", "m", "OPENAI_BASE_URL", locked, "OPENAI_API_KEY", "sk-1"}, "m", "", ""},
		"a key of its own":         {[]string{"EMBEDDER", "openai", "EMBEDDING_MODEL", "m", "EMBEDDING_BASE_URL", locked, "EMBEDDING_API_KEY", "sk-1"}, "m", "", ""},
		"a wrong key":              {[]string{"EMBEDDER", "openai", "EMBEDDING_MODEL", "m", "EMBEDDING_BASE_URL", locked, "EMBEDDING_API_KEY", "sk-2"}, "", sextant.CodeNotFound, "not authorized"},
		"no number":                {[]string{"EMBEDDING_DIMENSION", "many"}, "", sextant.CodeBadRequest, "many"},
	} {
		e, err := openEncoder(t, tt.env...)
		if e.model() != tt.model || (err != nil) != (tt.code != "") || err != nil && (sextant.ErrorCode(err) != tt.code || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "sk-2")) {
			t.Errorf("%s: encoder %q, error %v; want %q, %s with %q", name, e.model(), err, tt.model, tt.code, tt.says)
		}
	}
}

// A server that documents shall be encoded at proves that it runs the same weights; only
// then they carry the local encoder's fingerprint. Questions never go there.
func TestIngestThroughAServer(t *testing.T) {
	own, err := openEncoder(t)
	if err != nil {
		t.Fatal(err)
	}
	if own.Embedder == nil {
		t.Skip("this build has no weights")
	}
	same, err := openEncoder(t, "EMBEDDING_INGEST_URL", embeddings(t, own, "k"), "EMBEDDING_INGEST_KEY", "k")
	if err != nil || same.Fingerprint() != own.Fingerprint() {
		t.Fatalf("fingerprint %v, error %v", same.Fingerprint(), err)
	}
	if c := embedtest.Cosine(embedtest.Embed(t, same, "a stall")[0], embedtest.Embed(t, own, "a stall")[0]); c < 0.9999 {
		t.Errorf("cosine %v", c)
	}
	prefixed := prefixing{own}
	other, err := openEncoder(t, "EMBEDDING_INGEST_URL", embeddings(t, prefixed, ""))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := other.Embed(t.Context(), []string{"a stall"}); !errors.Is(err, embed.ErrDisagree) || v != nil {
		t.Errorf("another encoder: %d vectors, error %v", len(v), err)
	}
	if _, err := other.EmbedQuery(t.Context(), "a stall"); err != nil {
		t.Error("questions need no server, and yet:", err)
	}
}

type prefixing struct{ embed.Embedder }

func (p prefixing) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	own := make([]string, len(texts))
	for i, text := range texts {
		own[i] = "passage: " + text
	}
	return p.Embedder.Embed(ctx, own)
}
