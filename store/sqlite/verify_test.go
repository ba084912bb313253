package sqlite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

var damages = flag.Int("damages", 100, "how many times a bit of a store is flipped or a file is cut; a third of it with -short")

func rounds(n int) int {
	if testing.Short() {
		return n / 3
	}
	return n
}

// livedFolder returns a folder in which a collection lived n steps, closed.
func livedFolder(t *testing.T, l life, n int) string {
	t.Helper()
	dir := t.TempDir()
	s := openWith(t, dir, eager)
	c, err := s.Ensure(t.Context(), l.spec())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := l.live(t.Context(), c, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Journal().PutMark(t.Context(), "file", "12345"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A bit flips, or a file is cut, anywhere in a store: it is noticed, by an error that
// says so, or harms nothing. No answer is ever wrong.
func TestDamage(t *testing.T) {
	t.Parallel()
	l := life{seed: 7}
	const steps = 40
	whole := livedFolder(t, l, steps)
	ref := l.reference(steps)
	rng := rand.New(rand.NewPCG(7, 7))
	noticed := 0
	for range rounds(*damages) {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		what := damage(t, dir, rng)
		if err := outcome(t.Context(), dir, l, func(c store.Collection) error {
			diff, err := differs(c, ref)
			if diff != "" {
				t.Fatalf("%s gives a wrong answer: %s", what, diff)
			}
			return err
		}); err != nil {
			noticed++
			if !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrIO) && !errors.Is(err, store.ErrUnsupported) && !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: an error nobody can decide on: %v", what, err)
			}
		}
		os.RemoveAll(dir)
	}
	if noticed == 0 || noticed == rounds(*damages) {
		t.Errorf("%d of %d damages were noticed: the test says nothing", noticed, rounds(*damages))
	}
}

// A process was killed with commits in the log only, and then a bit of the log flips.
// SQLite would forget all commits from there on; here that is noticed, except where the
// last one is hit, which looks as if it had been torn by the crash.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	l := life{seed: 8}
	const steps = 25
	killed := killedFolder(t, l, steps)
	rng := rand.New(rand.NewPCG(8, 8))
	noticed, forgotten := 0, 0
	for range rounds(*damages) {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(killed)); err != nil {
			t.Fatal(err)
		}
		logs, _ := filepath.Glob(filepath.Join(dir, "c", "*", "main.db-wal"))
		b, err := os.ReadFile(logs[0])
		if err != nil {
			t.Fatal(err)
		}
		at := rng.IntN(len(b))
		b[at] ^= 1 << rng.IntN(8)
		if err := os.WriteFile(logs[0], b, 0o600); err != nil {
			t.Fatal(err)
		}
		err = outcome(t.Context(), dir, l, func(c store.Collection) error {
			diff, err := differs(c, l.reference(steps))
			for back := 1; diff != "" && err == nil; back++ {
				if back > 2 { // two where it hits the very mark that ends the last but one
					t.Fatalf("flip at %d of %d: more than the last steps are forgotten: %s", at, len(b), diff)
				}
				forgotten++
				diff, err = differs(c, l.reference(steps-back))
			}
			return err
		})
		if errors.Is(err, store.ErrCorrupt) {
			if noticed++; noticed == 1 {
				repaired(t, dir, l)
			}
		} else if err != nil {
			t.Fatalf("flip at %d: %v", at, err)
		}
		os.RemoveAll(dir)
	}
	if noticed < 5*forgotten || noticed == 0 {
		t.Errorf("%d damages noticed, %d forgotten", noticed, forgotten)
	}
}

// repaired repairs a collection and opens it.
func repaired(t *testing.T, dir string, l life) {
	t.Helper()
	s := openWith(t, dir, usual)
	defer s.Close()
	if _, err := s.Repair(t.Context(), l.spec().Name); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), l.spec().Name); err != nil {
		t.Fatal(err)
	}
}

// killedFolder copies a folder in use, as a killed process would leave it.
func killedFolder(t *testing.T, l life, n int) string {
	t.Helper()
	dir, copied := t.TempDir(), t.TempDir()
	s := openWith(t, dir, usual)
	c, err := s.Ensure(t.Context(), l.spec())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := l.live(t.Context(), c, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Journal().PutMark(t.Context(), "file", "12345"); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// outcome opens a folder and asks.
func outcome(ctx context.Context, dir string, l life, ask func(store.Collection) error) error {
	s, err := Open(ctx, Options{Dir: dir})
	if err != nil {
		return err
	}
	defer s.Close()
	if mark, err := s.Journal().Mark(ctx, "file"); err != nil {
		return err
	} else if mark != "12345" {
		return store.ErrNotFound // a mark that is gone makes its file be read again
	}
	c, err := s.Open(ctx, l.spec().Name)
	if err != nil {
		return err
	}
	return ask(c)
}

// damage flips a bit of one of the folder's files, or cuts it, and says which.
func damage(t *testing.T, dir string, rng *rand.Rand) string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != lockName {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	path := files[rng.IntN(len(files))]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at, what := rng.IntN(len(b)), "flip"
	if rng.IntN(10) == 0 {
		b, what = b[:at], "cut"
	} else {
		b[at] ^= 1 << rng.IntN(8)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	name, _ := filepath.Rel(dir, path)
	return fmt.Sprintf("%s at %d of %s", what, at, name)
}

// A row that is damaged keeps its collection from opening; Check names it, Repair takes
// it out, and the rest is as it was.
func TestRepair(t *testing.T) {
	t.Parallel()
	l := life{seed: 9}
	dir := livedFolder(t, l, 30)
	ref := l.reference(30)
	tamper(t, dir, `UPDATE doc SET text = replace(text, 'pilot', 'Pilot') WHERE row = (SELECT max(row) FROM doc)`)
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	problems, err := s.Check(t.Context())
	if err != nil || len(problems) != 1 || problems[0].Document == "" || problems[0].Remedy != Mend {
		t.Fatalf("check: %+v, %v", problems, err)
	}
	if _, err := s.Repair(t.Context(), "events"); err != nil {
		t.Fatal(err)
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check after repair: %+v, %v", problems, err)
	}
	c, err := s.Ensure(t.Context(), l.spec())
	if err != nil {
		t.Fatal(err)
	}
	ref.Delete([]sextant.DocumentID{problems[0].Document})
	mustBe(t, c, ref)
	if err := l.live(t.Context(), c, 30); err != nil {
		t.Fatal(err)
	}
	l.follow(ref, 30)
	mustBe(t, c, ref)
}

// A vector of which one bit is wrong is never scored: not when it is read again for a
// search, and not when the index is made of it.
func TestDamagedVector(t *testing.T) {
	l := life{seed: 10}
	dir := livedFolder(t, l, 30)
	tamper(t, dir, `UPDATE vec SET v = CAST(x'01' || substr(v, 2) AS BLOB)`)
	for _, tt := range []struct {
		from   string
		remove string
		want   error
	}{
		{"derived file and copy", "none", nil}, // both from before the damage
		{"derived file", "*" + vectorSuffix, store.ErrCorrupt},
		{"rows", "*", store.ErrCorrupt},
	} {
		removeDerived(t, dir, tt.remove)
		s, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Open(t.Context(), "events")
		if err == nil {
			_, err = c.SearchDense(t.Context(), store.DenseQuery{Vector: []float32{1, 0, 0, 0, 0, 0, 0, 0}})
		}
		if !errors.Is(err, tt.want) {
			t.Errorf("opened from the %s: %v", tt.from, err)
		}
		s.Close()
	}
}

func removeDerived(t *testing.T, dir, pattern string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "c", "events-1", derivedFolder, pattern))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
}

// The copy of the vectors is damaged, cut, emptied, of other vectors or gone: answers
// stay what they were, and the copy is whole again for what was asked.
func TestDamagedCopyOfVectors(t *testing.T) {
	l := life{seed: 15}
	whole := livedFolder(t, l, 30)
	ref := l.reference(30)
	for name, harm := range map[string]func(b []byte) []byte{
		"flipped": func(b []byte) []byte {
			for i := range b {
				b[i] ^= 4
			}
			return b
		},
		"shifted": func(b []byte) []byte { return append(make([]byte, 16), b...) },
		"cut":     func(b []byte) []byte { return b[:len(b)/2+1] },
		"emptied": func([]byte) []byte { return nil },
		"zero":    func(b []byte) []byte { clear(b); return b },
		"gone":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			files, _ := filepath.Glob(filepath.Join(dir, "c", "events-1", derivedFolder, "*"+vectorSuffix))
			if len(files) != 1 {
				t.Fatalf("copies: %v", files)
			}
			b, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if harm == nil {
				err = os.Remove(files[0])
			} else {
				err = os.WriteFile(files[0], harm(b), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			s := openWith(t, dir, usual)
			c, err := s.Ensure(t.Context(), l.spec())
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				mustBe(t, c, ref)
			}
			v := c.(*collection).index.freeze()
			found := make([]float32, 8)
			for chunk := range c.(*collection).index.chunks.live.all() {
				if !v.file.read(chunk, v.key(chunk), make([]byte, v.file.size), found) {
					t.Errorf("chunk %d was not put back", chunk)
				}
			}
		})
	}
}

// tamper runs SQL behind the store's back, so that the derived file does not know.
func tamper(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := openDatabase(filepath.Join(dir, "c", "events-1", "main.db"), "", "", usual.log)
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	if _, err := db.write.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// A backup made while documents are written restores to one state of the collection,
// and damage to it is noticed.
func TestBackup(t *testing.T) {
	t.Parallel()
	l := life{seed: 13}
	dir := t.TempDir()
	s := openWith(t, filepath.Join(dir, "data"), eager)
	c, err := s.Ensure(t.Context(), l.spec())
	if err != nil {
		t.Fatal(err)
	}
	steps := make(chan error, 1)
	go func() {
		for i := range 60 {
			if err := l.live(context.Background(), c, i); err != nil {
				steps <- err
				return
			}
		}
		steps <- nil
	}()
	file := filepath.Join(dir, "backup.tar")
	if err := s.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if err := <-steps; err != nil {
		t.Fatal(err)
	}
	if err := Restore(t.Context(), file, filepath.Join(dir, "data"), false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("restore over data: %v", err)
	}
	restored := filepath.Join(dir, "restored")
	if err := Restore(t.Context(), file, restored, false); err != nil {
		t.Fatal(err)
	}
	r := openWith(t, restored, usual)
	c, err = r.Open(t.Context(), "events")
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, c, l.reference(int(c.Sequence()&(1<<32-1))+missed(l, c)))
	if problems, err := r.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %+v, %v", problems, err)
	}
	damagedBackups(t, file)
}

// missed counts the steps before the collection's state that changed nothing, such as
// deleting what is not there, which do not count in the sequence.
func missed(l life, c store.Collection) int {
	sequence, n := int(c.Sequence()&(1<<32-1)), 0
	ref := l.reference(0)
	for i := 0; i-n < sequence; i++ {
		records, ids := l.step(i)
		before := ref.Count(filter.All, "")
		l.follow(ref, i)
		if len(records) == 0 && len(ids) > 0 && ref.Count(filter.All, "") == before {
			n++
		}
	}
	return n
}

func damagedBackups(t *testing.T, file string) {
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		dir := t.TempDir()
		b := append([]byte(nil), whole...)
		b[rng.IntN(len(b)-2048)] ^= 1 << rng.IntN(8) // the end of a tar is padding
		name := filepath.Join(dir, "damaged.tar")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Restore(t.Context(), name, filepath.Join(dir, "data"), false); err == nil {
			if same := sameFolder(t, filepath.Join(dir, "data"), whole); !same {
				t.Error("a damaged backup was restored")
			}
		}
	}
}

// sameFolder reports whether a restored folder packs to the very files of a backup: the
// damage was to padding, or to a time nobody reads.
func sameFolder(t *testing.T, dir string, backup []byte) bool {
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		return false
	}
	defer s.Close()
	problems, err := s.Check(t.Context())
	return err == nil && len(problems) == 0 && len(backup) > 0
}
