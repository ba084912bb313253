// Package hub finds published models by name: a folder, the cache that Hugging Face's own
// tools fill, or the hub itself, from which it fetches what an encoder needs and checks it
// against the hub's checksums.
//
// A name that leads nowhere is an error that says what to do, never another model.
package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	// ErrNotFound is wrapped by errors about a name that leads nowhere.
	ErrNotFound = errors.New("model not found")
	// ErrFetch is wrapped by errors about a model that is at the hub, perhaps, and could not
	// be fetched.
	ErrFetch = errors.New("model not fetched")
	// ErrChecksum is wrapped, beside ErrFetch, when what came is not what the hub says it is.
	ErrChecksum = errors.New("wrong checksum")
)

// A Hub knows where models are. The zero value looks where the environment's defaults say.
type Hub struct {
	// Getenv reads the environment; nil is os.Getenv. Read are, with the meaning they have for
	// Hugging Face's tools: HF_HUB_CACHE, HF_HOME and XDG_CACHE_HOME (where the cache is),
	// HF_ENDPOINT (the hub's address), HF_TOKEN, and HF_HUB_OFFLINE (never ask the hub).
	Getenv func(string) string
	// HTTP does the requests; nil is a client of this package's own.
	HTTP *http.Client
	// Progress, if set, hears of the bytes of each file as they come.
	Progress func(file string, done, total int64)
	// Pause is how long to wait before a second attempt; it doubles after. 0 is a second.
	Pause time.Duration
}

// A Model is a model on disk.
type Model struct {
	Dir  string
	Name string // the hub's id; for a folder of the user's, its base name
}

// id is owner/name, or a name alone, which sentence-transformers reads as its own.
var id = regexp.MustCompile(`^([A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*$`)

// Find returns the model: name itself when it is a folder, else the snapshot in the cache,
// else, unless HF_HUB_OFFLINE is set, what the hub has under that id, which then is in the
// cache. Errors wrap [ErrNotFound] or [ErrFetch], or ctx's.
func (h Hub) Find(ctx context.Context, name string) (Model, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		dir, err := filepath.Abs(name)
		return Model{Dir: name, Name: filepath.Base(dir)}, err
	}
	cache := h.cache()
	if !id.MatchString(name) || strings.Contains(name, "..") || cache == "" {
		return Model{}, fmt.Errorf("%w: %q is no folder and no id of the hub; give a folder that holds %s", ErrNotFound, name, wanted)
	}
	full := name
	if !strings.Contains(name, "/") {
		full = "sentence-transformers/" + name
	}
	dir, err := snapshot(cache, full)
	if err == nil {
		return Model{Dir: dir, Name: full}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Model{}, err
	}
	if h.offline() {
		return Model{}, fmt.Errorf("%w: %q is no folder and not in the cache %q, and HF_HUB_OFFLINE forbids to fetch it; give a folder that holds %s, or fill the cache with: hf download %s",
			ErrNotFound, name, cache, wanted, full)
	}
	if dir, err = h.fetch(ctx, cache, full); err != nil {
		return Model{}, err
	}
	return Model{Dir: dir, Name: full}, nil
}

// wanted says what a folder must hold.
const wanted = "config.json, model.safetensors and vocab.txt or tokenizer.json"

func (h Hub) env(name string) string {
	if h.Getenv != nil {
		return h.Getenv(name)
	}
	return os.Getenv(name)
}

// offline reads HF_HUB_OFFLINE as huggingface_hub does.
func (h Hub) offline() bool {
	return slices.Contains([]string{"1", "ON", "YES", "TRUE"}, strings.ToUpper(h.env("HF_HUB_OFFLINE")))
}

func (h Hub) cache() string {
	if dir := h.env("HF_HUB_CACHE"); dir != "" {
		return dir
	}
	if dir := h.env("HF_HOME"); dir != "" {
		return filepath.Join(dir, "hub")
	}
	if dir := h.env("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "huggingface", "hub")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".cache", "huggingface", "hub")
}

// modelDir is where the cache keeps the model of an id.
func modelDir(cache, id string) string {
	return filepath.Join(cache, "models--"+strings.ReplaceAll(id, "/", "--"))
}

// snapshot returns the folder of the revision that the cache calls main. One without weights
// this package's users can read does not exist to them: tools for other formats leave such.
func snapshot(cache, id string) (string, error) {
	model := modelDir(cache, id)
	ref, err := os.ReadFile(filepath.Join(model, "refs", "main"))
	if err != nil {
		return "", err
	}
	revision := strings.TrimSpace(string(ref))
	if !isRevision(revision) {
		return "", fmt.Errorf("%w: %s names the revision %.60q", ErrNotFound, filepath.Join(model, "refs", "main"), revision)
	}
	dir := filepath.Join(model, "snapshots", revision)
	for _, file := range []string{"config.json", "model.safetensors"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// isRevision keeps a name from outside from leading out of the cache.
func isRevision(s string) bool { return filepath.IsLocal(s) && s == filepath.Base(s) && s != "." }
