package hub_test

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/hub"
)

// A service is the hub's API for one model, as far as this package uses it.
type service struct {
	files  map[string]string
	spoil  map[string]string // what is sent instead
	status int               // of the listing
	token  string            // needed
	sha    string

	mu   sync.Mutex
	seen []string
	fail int // how many downloads fail before one succeeds
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, r.URL.Path)
	if s.token != "" && r.Header.Get("Authorization") != "Bearer "+s.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.URL.Path == "/api/models/BAAI/bge-small-en-v1.5/revision/main" && r.URL.Query().Get("blobs") == "true" {
		s.list(w)
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/BAAI/bge-small-en-v1.5/resolve/"+s.sha+"/")
	text, have := s.files[name]
	switch {
	case !ok || !have:
		w.WriteHeader(http.StatusNotFound)
	case s.fail > 0:
		s.fail--
		w.Header().Set("Content-Length", "1000000")
		_, _ = w.Write([]byte(text[:1])) // and breaks off
	default:
		if other, ok := s.spoil[name]; ok {
			text = other
		}
		_, _ = w.Write([]byte(text))
	}
}

func (s *service) list(w http.ResponseWriter) {
	if s.status != 0 {
		w.WriteHeader(s.status)
		return
	}
	var siblings []map[string]any
	for name, text := range s.files {
		row := map[string]any{"rfilename": name, "size": len(text)}
		if strings.HasSuffix(name, ".safetensors") {
			sum := sha256.Sum256([]byte(text))
			row["lfs"] = map[string]any{"sha256": hex.EncodeToString(sum[:]), "size": len(text)}
			row["blobId"] = "0123"
		} else {
			sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
			row["blobId"] = hex.EncodeToString(sum[:])
		}
		siblings = append(siblings, row)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"id": "BAAI/bge-small-en-v1.5", "sha": s.sha, "siblings": siblings})
}

const bge = "BAAI/bge-small-en-v1.5"

func newService() *service {
	return &service{sha: "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a", files: map[string]string{
		"config.json": "{}", "model.safetensors": strings.Repeat("weights", 1e5), "vocab.txt": "[UNK]\n", "1_Pooling/config.json": "{ }",
		"pytorch_model.bin": "not needed", "README.md": "nor this", "../../../evil": "nor this",
	}}
}

func start(t testing.TB, s *service, env ...string) (h hub.Hub, home string) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	home = t.TempDir()
	return hub.Hub{Pause: time.Millisecond, Getenv: getenv(append(env, "HF_HOME", home, "HF_ENDPOINT", server.URL+"/")...)}, home
}

// A model that is nowhere else comes from the hub, once, and only what an encoder needs.
func TestFetch(t *testing.T) {
	s := newService()
	s.token, s.fail = "hf_x", 1
	h, home := start(t, s, "HF_TOKEN", "hf_x")
	reported := map[string]int64{}
	h.Progress = func(file string, done, total int64) {
		if reported[file] = done; done > total {
			t.Errorf("%s: %d of %d bytes", file, done, total)
		}
	}
	got, err := h.Find(t.Context(), bge)
	want := filepath.Join(home, "hub", "models--BAAI--bge-small-en-v1.5", "snapshots", s.sha)
	if err != nil || got.Dir != want || got.Name != bge {
		t.Fatalf("found %+v, error %v", got, err)
	}
	names := []string{}
	_ = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(want, path)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if text := strings.Join(names, " "); text != "../../refs/main 1_Pooling/config.json config.json model.safetensors vocab.txt" {
		t.Errorf("files %s", text)
	}
	if reported["model.safetensors"] != 700_000 {
		t.Errorf("reported %v", reported)
	}
	asked := len(s.seen)
	if again, err := h.Find(t.Context(), bge); err != nil || again != got || len(s.seen) != asked {
		t.Errorf("again: %+v, error %v, %d more requests", again, err, len(s.seen)-asked)
	}
}

// What comes short, long or changed is never a model, and leaves no file.
func TestSpoiltFilesAreRefused(t *testing.T) {
	for name, spoil := range map[string]map[string]string{
		"short weights":   {"model.safetensors": "weigh"},
		"long weights":    {"model.safetensors": strings.Repeat("weights", 1e5) + "x"},
		"changed weights": {"model.safetensors": strings.Repeat("weighty", 1e5)},
		"changed config":  {"config.json": "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService()
			s.spoil = spoil
			h, home := start(t, s)
			got, err := h.Find(t.Context(), bge)
			if !errors.Is(err, hub.ErrChecksum) || !errors.Is(err, hub.ErrFetch) {
				t.Errorf("%+v, error %v", got, err)
			}
			model := filepath.Join(home, "hub", "models--BAAI--bge-small-en-v1.5")
			if _, err := os.Stat(filepath.Join(model, "refs", "main")); err == nil {
				t.Error("the cache says it is there")
			}
			for file := range spoil {
				if left, _ := filepath.Glob(filepath.Join(model, "snapshots", "*", "*"+file+"*")); left != nil {
					t.Errorf("left %v", left)
				}
			}
		})
	}
}

func TestFetchFails(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*service)
		want   error
		says   string
	}{
		"no such model":    {func(s *service) { s.status = 404 }, hub.ErrNotFound, "check the name"},
		"needs a token":    {func(s *service) { s.token = "hf_x" }, hub.ErrNotFound, "HF_TOKEN"},
		"down":             {func(s *service) { s.status = 503 }, hub.ErrFetch, "hf download"},
		"only other forms": {func(s *service) { delete(s.files, "model.safetensors") }, hub.ErrNotFound, "model.safetensors"},
		"no vocabulary":    {func(s *service) { delete(s.files, "vocab.txt") }, hub.ErrNotFound, "vocab.txt"},
		"evil revision":    {func(s *service) { s.sha = "../../.." }, hub.ErrFetch, "revision"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService()
			tt.change(s)
			h, _ := start(t, s)
			got, err := h.Find(t.Context(), bge)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) || got != (hub.Model{}) {
				t.Errorf("%+v, error %v; want %v with %q", got, err, tt.want, tt.says)
			}
		})
	}
}

func TestFetchIsCancelled(t *testing.T) {
	s := newService()
	s.fail = 100
	h, _ := start(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	h.Progress = func(string, int64, int64) { cancel() }
	if _, err := h.Find(ctx, bge); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestNoNetwork(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	h := hub.Hub{Pause: time.Millisecond, Getenv: getenv("HF_HOME", t.TempDir(), "HF_ENDPOINT", server.URL)}
	if _, err := h.Find(t.Context(), bge); !errors.Is(err, hub.ErrFetch) || !strings.Contains(err.Error(), "folder") {
		t.Errorf("error %v", err)
	}
}
