package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// A folder opened for reading answers as ever, several times over, refuses every change,
// and is the same, byte for byte, afterwards: with its derived files and without.
func TestReadOnly(t *testing.T) {
	l := life{seed: 51}
	for _, derived := range []string{"none", "*"} {
		dir := livedFolder(t, l, 30)
		removeDerived(t, dir, derived)
		before := contents(t, dir)
		var stores []*Store
		for range 2 {
			s, err := Open(t.Context(), Options{Dir: dir, ReadOnly: true, Log: slogTo(t)})
			if err != nil {
				t.Fatal(err)
			}
			stores = append(stores, s)
			c, err := s.Ensure(t.Context(), l.spec())
			if err != nil {
				t.Fatal(err)
			}
			mustBe(t, c, l.reference(30))
			for what, err := range refusals(t, s, c, l) {
				if !errors.Is(err, store.ErrUnsupported) {
					t.Errorf("%s: %v", what, err)
				}
			}
			mustBe(t, c, l.reference(30))
		}
		if _, err := Open(t.Context(), Options{Dir: dir}); !errors.Is(err, store.ErrLocked) {
			t.Errorf("to write, while it is read: %v", err)
		}
		if h, held := Holder(dir); held {
			t.Errorf("a reader is taken for the holder: %v", h)
		}
		for _, s := range stores {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		after := contents(t, dir)
		for name := range after {
			if after[name] != before[name] {
				t.Errorf("%s was written", name)
			}
		}
		if len(after) != len(before) {
			t.Errorf("%d files, were %d", len(after), len(before))
		}
		w := openWith(t, dir, usual)
		if _, err := Open(t.Context(), Options{Dir: dir, ReadOnly: true}); !errors.Is(err, store.ErrLocked) {
			t.Errorf("to read, while it is written: %v", err)
		}
		w.Close()
	}
	if _, err := Open(t.Context(), Options{Dir: filepath.Join(t.TempDir(), "none"), ReadOnly: true}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("no folder: %v", err)
	}
}

func refusals(t *testing.T, s *Store, c store.Collection, l life) map[string]error {
	ctx := t.Context()
	errs := map[string]error{"upsert and delete": nil}
	records, ids := l.step(0)
	if len(records) > 0 {
		errs["upsert and delete"] = c.Upsert(ctx, records)
	} else {
		_, errs["upsert and delete"] = c.Delete(ctx, ids)
	}
	_, errs["ensure"] = s.Ensure(ctx, sextant.Collection{Name: "another"})
	errs["drop"] = s.Drop(ctx, "events")
	errs["mark"] = s.Journal().PutMark(ctx, "key", "value")
	errs["receipt"] = s.Journal().PutReceipt(ctx, sextant.Receipt{Run: time.Now().Format(time.RFC3339)})
	_, errs["repair"] = s.Repair(ctx, "events")
	return errs
}

// contents reads all files below a folder but the lock and what SQLite keeps beside a
// database while it is open.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*", "c/*/*", "c/*/*/*"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if info, err := os.Stat(f); err != nil || info.IsDir() || filepath.Base(f) == lockName {
				continue
			}
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			out[f] = string(b)
		}
	}
	return out
}
