package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// ErrNotFound is wrapped by the error of Find about a name that leads nowhere.
var ErrNotFound = errors.New("model not found")

// hubID is owner/name, or a name alone, which sentence-transformers reads as its own.
var hubID = regexp.MustCompile(`^([A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*$`)

// Find returns the folder of a model: name itself when it is a folder, else the snapshot
// that the Hugging Face cache holds of the model with that id. It never asks the network
// and never settles for another model. getenv reads the environment: HF_HUB_CACHE, HF_HOME
// and XDG_CACHE_HOME say where the cache is, as they do for Python.
func Find(name string, getenv func(string) string) (dir string, err error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return name, nil
	}
	cache := hubCache(getenv)
	if hubID.MatchString(name) && cache != "" {
		id := name
		if !strings.Contains(id, "/") {
			id = "sentence-transformers/" + id
		}
		dir, err := snapshot(cache, id)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return dir, err
		}
	}
	return "", fmt.Errorf("%w: %q is no folder and not in the cache %q; give a folder that holds config.json, model.safetensors and vocab.txt or tokenizer.json, or fill the cache with: hf download %s",
		ErrNotFound, name, cache, name)
}

func hubCache(getenv func(string) string) string {
	if dir := getenv("HF_HUB_CACHE"); dir != "" {
		return dir
	}
	if dir := getenv("HF_HOME"); dir != "" {
		return filepath.Join(dir, "hub")
	}
	if dir := getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "huggingface", "hub")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".cache", "huggingface", "hub")
}

// snapshot returns the folder of the revision that the cache calls main.
func snapshot(cache, id string) (string, error) {
	model := filepath.Join(cache, "models--"+strings.ReplaceAll(id, "/", "--"))
	ref, err := os.ReadFile(filepath.Join(model, "refs", "main"))
	if err != nil {
		return "", err
	}
	revision := strings.TrimSpace(string(ref))
	if !filepath.IsLocal(revision) || revision != filepath.Base(revision) {
		return "", fmt.Errorf("%w: %s names the revision %.60q", ErrNotFound, filepath.Join(model, "refs", "main"), revision)
	}
	dir := filepath.Join(model, "snapshots", revision)
	_, err = os.Stat(dir)
	return dir, err
}
