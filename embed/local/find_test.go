package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant/embed/local"
)

func TestFind(t *testing.T) {
	home := t.TempDir()
	cached := func(id, revision string) string {
		model := filepath.Join(home, "hub", "models--"+strings.ReplaceAll(id, "/", "--"))
		dir := filepath.Join(model, "snapshots", revision)
		for _, d := range []string{dir, filepath.Join(model, "refs")} {
			if err := os.MkdirAll(d, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(model, "refs", "main"), []byte(revision+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	bge := cached("BAAI/bge-small-en-v1.5", "5c38ec7c")
	minilm := cached("sentence-transformers/all-MiniLM-L12-v2", "a1")
	cached("evil/model", "../../../..")
	getenv := func(name string) string {
		if name == "HF_HOME" {
			return home
		}
		return ""
	}
	for _, tt := range []struct{ name, want string }{
		{home, home},
		{"BAAI/bge-small-en-v1.5", bge},
		{"all-MiniLM-L12-v2", minilm},
		{"BAAI/bge-base-en-v1.5", ""},
		{"evil/model", ""},
		{"../hub", ""},
		{"a/b/c", ""},
		{"", ""},
	} {
		got, err := local.Find(tt.name, getenv)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: found %q (%v), want %q", tt.name, got, err, tt.want)
		}
		if err != nil && !errors.Is(err, local.ErrNotFound) {
			t.Errorf("%q: error %v, want ErrNotFound", tt.name, err)
		}
	}
}
