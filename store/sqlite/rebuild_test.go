package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// A catalogue that is lost or damaged is made again from the collections when the folder
// is opened: no collection is gone, none that was dropped is back, and no sequence of
// earlier content returns. Of a damaged one, marks and receipts that are whole stay.
func TestCatalogueMadeAgain(t *testing.T) {
	l := life{seed: 21}
	for _, tt := range []struct {
		name string
		harm func(t *testing.T, path string)
		mark string // that is left
	}{
		{"gone", func(t *testing.T, path string) { remove(t, path) }, ""},
		{"empty", func(t *testing.T, path string) { write(t, path, nil) }, ""},
		{"no database", func(t *testing.T, path string) { write(t, path, make([]byte, 8192)) }, ""},
		{"entry changed", func(t *testing.T, path string) {
			alter(t, path, `UPDATE collection SET spec = replace(spec, 'events', 'evenss')`)
		}, "12345"},
		{"entry changed, other rows gone", func(t *testing.T, path string) {
			alter(t, path, `UPDATE collection SET generation = 77; DELETE FROM generation`)
		}, "12345"},
		{"table gone", func(t *testing.T, path string) { alter(t, path, `DROP TABLE collection`) }, "12345"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := livedFolder(t, l, 20)
			old := dropOne(t, dir)
			tt.harm(t, filepath.Join(dir, catalogName))
			s, err := Open(t.Context(), Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			specs, err := s.Collections(t.Context())
			if err != nil || len(specs) != 1 || specs[0].Name != "events" {
				t.Fatalf("collections: %+v, %v", specs, err)
			}
			c, err := s.Open(t.Context(), "events")
			if err != nil {
				t.Fatal(err)
			}
			mustBe(t, c, l.reference(20))
			if mark, err := s.Journal().Mark(t.Context(), "file"); err != nil || mark != tt.mark {
				t.Errorf("mark %q, %v", mark, err)
			}
			again, err := s.Ensure(t.Context(), sextant.Collection{Name: "dropped"})
			if err != nil || again.Sequence() <= old {
				t.Errorf("made again with sequence %x after %x, %v", again.Sequence(), old, err)
			}
		})
	}
}

// dropOne makes another collection and drops it, and returns the sequence it had.
func dropOne(t *testing.T, dir string) uint64 {
	t.Helper()
	s := openWith(t, dir, usual)
	defer s.Close()
	c, err := s.Ensure(t.Context(), sextant.Collection{Name: "dropped"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Drop(t.Context(), "dropped"); err != nil {
		t.Fatal(err)
	}
	return c.Sequence()
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func alter(t *testing.T, path, statements string) {
	t.Helper()
	db, err := openDatabase(path, "", "", usual.log)
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	if _, err := db.write.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

// While another process writes, a folder can be checked and backed up from outside; the
// backup is of one state that was acknowledged.
func TestInspectBesideAWriter(t *testing.T) {
	t.Parallel()
	dir, l := t.TempDir(), life{seed: 23}
	writer := exec.Command(os.Args[0], "-test.run=^TestWriterProcess$")
	writer.Env = append(os.Environ(), fmt.Sprintf("SEXTANT_TEST_WRITER=%d %d %s", l.seed, 0, dir))
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		writer.Process.Kill()
		writer.Wait()
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "5" {
	}
	go io.Copy(io.Discard, out)
	for i := range 3 {
		inspector, err := Inspect(dir)
		if err != nil {
			t.Fatal(err)
		}
		if problems, err := inspector.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Fatalf("check: %+v, %v", problems, err)
		}
		file := filepath.Join(t.TempDir(), "backup.tar")
		if err := inspector.Backup(t.Context(), file); err != nil {
			t.Fatal(err)
		}
		restored := filepath.Join(t.TempDir(), fmt.Sprint("restored", i))
		if err := Restore(t.Context(), file, restored, false); err != nil {
			t.Fatal(err)
		}
		s := openWith(t, restored, usual)
		c, err := s.Open(t.Context(), "events")
		if err != nil {
			t.Fatal(err)
		}
		mustBe(t, c, l.reference(int(c.Sequence()&(1<<32-1))+missed(l, c)))
		s.Close()
	}
}

// Nothing of an inspected folder changes, and one that cannot be written can be
// inspected.
func TestInspectWritesNothing(t *testing.T) {
	dir := livedFolder(t, life{seed: 22}, 10)
	for _, mode := range []os.FileMode{0o700, 0o500} {
		for _, folder := range append([]string{dir}, folders(t, dir)...) {
			if err := os.Chmod(folder, mode); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(folder, 0o700)
		}
		inspector, err := Inspect(dir)
		if err != nil {
			t.Fatal(err)
		}
		if problems, err := inspector.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("check: %+v, %v", problems, err)
		}
		if err := inspector.Backup(t.Context(), filepath.Join(t.TempDir(), "b.tar")); err != nil {
			t.Error(err)
		}
	}
	if _, err := Inspect(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func folders(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "c", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return append(found, filepath.Join(dir, "c"))
}

// A device that fails for a moment is not taken for a damaged catalogue.
func TestFailingDiskIsNoDamage(t *testing.T) {
	dir := livedFolder(t, life{seed: 24}, 5)
	_, err := soundCatalog(context.Background(), dir, "no such file system", slog.New(slog.DiscardHandler))
	if err == nil || errors.Is(err, store.ErrCorrupt) {
		t.Errorf("%v", err)
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, catalogName+asideSuffix+"*")); len(aside) > 0 {
		t.Errorf("set aside: %v", aside)
	}
}
