package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// backupOf returns a backup of a collection that lived n steps.
func backupOf(t *testing.T, l life, n int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "backup.tar")
	inspector, err := Inspect(livedFolder(t, l, n))
	if err != nil {
		t.Fatal(err)
	}
	if err := inspector.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	return file
}

// holdsSteps: the folder holds the events after n steps and nothing half done.
func holdsSteps(t *testing.T, dir string, l life, n int) {
	t.Helper()
	s := openWith(t, dir, usual)
	defer s.Close()
	c, err := s.Open(t.Context(), "events")
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, c, l.reference(n))
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %+v, %v", problems, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == restoreName || strings.HasPrefix(e.Name(), unpackedName) {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

// Restoring replaces what there is only when told to, and never while it is in use;
// other files of the folder stay.
func TestRestoreReplaces(t *testing.T) {
	l := life{seed: 31}
	file, dir := backupOf(t, l, 12), livedFolder(t, l, 20)
	s := openWith(t, dir, usual)
	if _, err := s.Ensure(t.Context(), sextant.Collection{Name: "other"}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "notes.txt"), []byte("mine"))
	if err := Restore(t.Context(), file, dir, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over documents: %v", err)
	}
	if err := Restore(t.Context(), file, dir, true); !errors.Is(err, store.ErrLocked) {
		t.Errorf("in use: %v", err)
	}
	s.Close()
	holdsSteps(t, dir, l, 20)
	if err := Restore(t.Context(), file, dir, true); err != nil {
		t.Fatal(err)
	}
	holdsSteps(t, dir, l, 12)
	if b, err := os.ReadFile(filepath.Join(dir, "notes.txt")); string(b) != "mine" {
		t.Errorf("another file: %q, %v", b, err)
	}
}

// A restore that ends anywhere, by a crash or a full disk, leaves what was there before
// or what was to be restored, and which of the two it is was decided at one moment.
func TestRestoreInterrupted(t *testing.T) {
	l := life{seed: 32}
	file, whole := backupOf(t, l, 12), livedFolder(t, l, 20)
	stages := []struct {
		name string
		run  func(dir, unpacked string) error
		want int
	}{
		{"unpacked", func(_, _ string) error { return nil }, 20},
		{"committed", func(dir, unpacked string) error { return commitRestore(dir, filepath.Base(unpacked)) }, 12},
		{"collections moved", func(dir, unpacked string) error { return moveIn(dir, unpacked, collectionDir) }, 12},
		{"old catalogue moved", func(dir, unpacked string) error {
			return os.Rename(filepath.Join(dir, catalogName), filepath.Join(unpacked, replacedName, catalogName))
		}, 12},
		{"catalogue moved", func(dir, unpacked string) error { return moveIn(dir, unpacked, catalogName) }, 12},
	}
	for last := range stages {
		t.Run(stages[last].name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			unpacked := filepath.Join(dir, unpackedName+"1")
			fresh := t.TempDir()
			if err := Restore(t.Context(), file, fresh, false); err != nil {
				t.Fatal(err)
			}
			remove(t, filepath.Join(fresh, lockName))
			if err := os.CopyFS(unpacked, os.DirFS(fresh)); err != nil {
				t.Fatal(err)
			}
			for _, stage := range stages[:last+1] {
				if err := stage.run(dir, unpacked); err != nil {
					t.Fatal(err)
				}
			}
			holdsSteps(t, dir, l, stages[last].want)
		})
	}
}
