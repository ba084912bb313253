package hub_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant/hub"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// cached puts a model into the cache below home, as Hugging Face's tools do.
func cached(t testing.TB, home, id, revision string, files ...string) string {
	t.Helper()
	model := filepath.Join(home, "hub", "models--"+strings.ReplaceAll(id, "/", "--"))
	write(t, filepath.Join(model, "refs", "main"), revision+"\n")
	dir := filepath.Join(model, "snapshots", revision)
	for _, f := range files {
		write(t, filepath.Join(dir, f), f)
	}
	return dir
}

func getenv(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestFindInTheCache(t *testing.T) {
	home := t.TempDir()
	bge := cached(t, home, "BAAI/bge-small-en-v1.5", "5c38ec7c", "config.json", "model.safetensors")
	minilm := cached(t, home, "sentence-transformers/all-MiniLM-L12-v2", "a1", "config.json", "model.safetensors")
	cached(t, home, "other/format", "b2", "config.json", "pytorch_model.bin")
	cached(t, home, "evil/model", "../../../..", "config.json", "model.safetensors")
	h := hub.Hub{Getenv: getenv("HF_HOME", home, "HF_HUB_OFFLINE", "1")}
	for _, tt := range []struct{ name, dir, called string }{
		{home, home, filepath.Base(home)},
		{"BAAI/bge-small-en-v1.5", bge, "BAAI/bge-small-en-v1.5"},
		{"all-MiniLM-L12-v2", minilm, "sentence-transformers/all-MiniLM-L12-v2"},
		{"BAAI/bge-base-en-v1.5", "", ""},
		{"other/format", "", ""},
		{"evil/model", "", ""},
		{"../nowhere", "", ""},
		{"a/b/c", "", ""},
		{"a..b", "", ""},
		{"", "", ""},
	} {
		got, err := h.Find(t.Context(), tt.name)
		if got.Dir != tt.dir || got.Name != tt.called || (err == nil) != (tt.dir != "") {
			t.Errorf("%q: found %+v (%v), want %q", tt.name, got, err, tt.dir)
		}
		if err != nil && !errors.Is(err, hub.ErrNotFound) {
			t.Errorf("%q: error %v, want ErrNotFound", tt.name, err)
		}
	}
}

func TestWhereTheCacheIs(t *testing.T) {
	a, b, c := t.TempDir(), t.TempDir(), t.TempDir()
	inA := cached(t, a, "x/m", "1", "config.json", "model.safetensors")
	inB := cached(t, b, "x/m", "1", "config.json", "model.safetensors")
	inC := cached(t, filepath.Join(c, "huggingface"), "x/m", "1", "config.json", "model.safetensors")
	for want, env := range map[string][]string{
		inA: {"HF_HUB_CACHE", filepath.Join(a, "hub"), "HF_HOME", b, "XDG_CACHE_HOME", c},
		inB: {"HF_HOME", b, "XDG_CACHE_HOME", c},
		inC: {"XDG_CACHE_HOME", c},
	} {
		if got, err := (hub.Hub{Getenv: getenv(append(env, "HF_HUB_OFFLINE", "true")...)}).Find(t.Context(), "x/m"); err != nil || got.Dir != want {
			t.Errorf("%v: found %+v, error %v", env, got, err)
		}
	}
}
