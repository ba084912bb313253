package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/storetest"
)

// manyFiles has every merge make a file, and nothing go on beside the test.
var manyFiles = thresholds{refresh: 1 << 30, save: 1, compact: 1 << 30, words: 1, log: 1}

// livedInFiles is a folder in which a collection lived n steps, with files of words.
func livedInFiles(t *testing.T, l life, n int) string {
	t.Helper()
	dir := t.TempDir()
	c := quietly(t, dir, manyFiles)
	for i := range n {
		if err := l.live(t.Context(), c, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir() // so that nobody has these files mapped
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// wordFiles lists the files of words of a folder in which a life was lived.
func wordFiles(t *testing.T, dir string) []string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a system on which files are mapped: this one keeps words in memory")
	}
	files, err := filepath.Glob(filepath.Join(dir, "c", "events-1", derivedFolder, "*"+lexical.FileSuffix))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of words: %v", err)
	}
	return files
}

// quietly opens a folder and says nothing of what is wrong with its derived files.
func quietly(t *testing.T, dir string, at thresholds) *collection {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir, at: at})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c, err := s.Ensure(t.Context(), life{}.spec())
	if err != nil {
		t.Fatal(err)
	}
	return c.(*collection)
}

// A file of words is damaged, cut, emptied, exchanged for another or gone: the index is
// made of the documents, answers are what they were, and the next to open finds it whole.
func TestDamagedWordFiles(t *testing.T) {
	l := life{seed: 21}
	whole := livedInFiles(t, l, 120)
	ref := l.reference(120)
	for name, harm := range map[string]func(b, other []byte) []byte{
		"flipped":   func(b, _ []byte) []byte { b[len(b)/2] ^= 4; return b },
		"cut":       func(b, _ []byte) []byte { return b[:len(b)-1] },
		"emptied":   func(_, _ []byte) []byte { return nil },
		"exchanged": func(_, other []byte) []byte { return other },
		"gone":      nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			files := wordFiles(t, dir)
			b, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if harm == nil {
				err = os.Remove(files[0])
			} else {
				err = os.WriteFile(files[0], harm(b, b[:40]), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			c := quietly(t, dir, manyFiles)
			mustBe(t, c, ref)
			mustBeSaved(t, c, dir, ref)
		})
	}
}

// mustBeSaved saves a collection's index and opens a copy of its folder, which warns of
// nothing and holds the same.
func mustBeSaved(t *testing.T, c *collection, dir string, ref *storetest.Reference) {
	t.Helper()
	if err := c.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	again, err := openWith(t, copied, usual).Open(t.Context(), "events")
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, again, ref)
}

// Files of words that are cut under the store's feet end no process: whoever needs them
// is told that the disk failed, until the index has been made anew.
func TestWordFilesCutWhileOpen(t *testing.T) {
	l := life{seed: 22}
	dir := livedInFiles(t, l, 120)
	c := quietly(t, dir, manyFiles)
	cutWordFiles(t, dir)
	if err := askForWords(t, c); !errors.Is(err, store.ErrIO) {
		t.Fatalf("asked of files that have been cut: %v", err)
	}
	mustBeMadeAnew(t, c)
	ref := l.reference(120)
	mustBe(t, c, ref)
	if err := l.live(t.Context(), c, 120); err != nil {
		t.Fatal(err)
	}
	l.follow(ref, 120)
	mustBe(t, c, ref)
}

func cutWordFiles(t *testing.T, dir string) {
	t.Helper()
	for _, f := range wordFiles(t, dir) {
		if err := os.Truncate(f, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// askForWords asks in each way that looks at words.
func askForWords(t *testing.T, c *collection) error {
	_, words := c.SearchLexical(t.Context(), store.LexicalQuery{Text: "pilot lost power"})
	_, mention := c.Count(t.Context(), filter.Mentions{Phrases: []string{"lost power"}}, "")
	_, both := c.SearchHybrid(t.Context(), store.HybridQuery{Text: "lake", Choose: func([]store.Candidate) []int { return nil }})
	return errors.Join(words, mention, both)
}

// mustBeMadeAnew asks until nothing is wrong with the words any more.
func mustBeMadeAnew(t *testing.T, c *collection) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); askForWords(t, c) != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not made anew: %v", askForWords(t, c))
		}
	}
}

// A commit whose merges meet files that have been cut is durable and seen, and has the
// index made anew; writing goes on.
func TestWordFilesCutUnderAWriter(t *testing.T) {
	l := life{seed: 25}
	dir := livedInFiles(t, l, 120)
	c := quietly(t, dir, manyFiles)
	cutWordFiles(t, dir)
	ref := l.reference(120)
	for i := 120; i < 220; i++ { // merges all there was
		if err := l.live(t.Context(), c, i); err != nil {
			t.Fatal(err)
		}
		l.follow(ref, i)
	}
	mustBeMadeAnew(t, c)
	mustBe(t, c, ref)
	mustBeSaved(t, c, dir, ref)
}

// An index that could not be made anew is made at the next fault, and one that had to wait
// for other maintenance is made after it.
func TestMakingAnewIsNotForgotten(t *testing.T) {
	l := life{seed: 26}
	t.Run("it failed", func(t *testing.T) {
		dir := livedInFiles(t, l, 120)
		c := quietly(t, dir, manyFiles)
		cutWordFiles(t, dir)
		alive := c.life
		var cancel func()
		c.life, cancel = context.WithDeadline(alive, time.Unix(0, 0))
		defer cancel()
		if err := askForWords(t, c); !errors.Is(err, store.ErrIO) {
			t.Fatalf("asked of files that have been cut: %v", err)
		}
		for deadline := time.Now().Add(20 * time.Second); c.unreadable.Load(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("it is not tried again")
			}
		}
		c.background.Wait()
		c.life = alive
		mustBeMadeAnew(t, c)
		mustBe(t, c, l.reference(120))
	})
	t.Run("it waited", func(t *testing.T) {
		dir := livedInFiles(t, l, 120)
		c := quietly(t, dir, manyFiles)
		cutWordFiles(t, dir)
		c.writing.Lock()
		c.busy = true
		c.writing.Unlock()
		c.cannotRead(lexical.ErrUnreadable)
		c.maintainSoon()
		c.maintained(nil)
		mustBeMadeAnew(t, c)
		mustBe(t, c, l.reference(120))
	})
}

// A folder that is open for reading has its words made anew in memory, and stays as it is.
func TestWordFilesCutUnderAReader(t *testing.T) {
	l := life{seed: 27}
	dir := livedInFiles(t, l, 120)
	s, err := Open(t.Context(), Options{Dir: dir, ReadOnly: true, at: manyFiles})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	opened, err := s.Open(t.Context(), "events")
	if err != nil {
		t.Fatal(err)
	}
	c := opened.(*collection)
	cutWordFiles(t, dir)
	before := contents(t, dir)
	if err := askForWords(t, c); !errors.Is(err, store.ErrIO) {
		t.Fatalf("asked of files that have been cut: %v", err)
	}
	mustBeMadeAnew(t, c)
	mustBe(t, c, l.reference(120))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("files were written: %s", diff)
	}
}

// Words that are cut between being looked through and being brought up to date end
// nothing half-way, as others work in the same transaction: the collection is told, and
// opening takes the documents instead.
func TestWordFilesCutWhileCatchingUp(t *testing.T) {
	l := life{seed: 28}
	dir := livedInFiles(t, l, 120)
	c := quietly(t, dir, manyFiles)
	for i := 120; i < 130; i++ { // replaces much of what is in files
		if err := l.live(t.Context(), c, i); err != nil {
			t.Fatal(err)
		}
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	tx, err := c.db.read.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	x, from, err := readDerived(c.derivedFiles()[0], c.place(), c.entry.spec, c.state)
	if err != nil {
		t.Fatal(err)
	}
	x.file.attach(x.place)
	defer x.file.close()
	c.cannotRead(lexical.ErrUnreadable)
	if got, err := c.loadDerived(t.Context(), tx); got != nil || err != nil || c.unreadable.Load() {
		t.Errorf("a derived file was taken whose words cannot be read: %v", err)
	}
	cutWordFiles(t, dir)
	if err := x.catchUp(t.Context(), tx, c.state, from.Sequence, from.Next); err != nil {
		t.Fatal(err)
	}
	if !c.unreadable.Load() {
		t.Error("nobody was told that words cannot be read")
	}
}

// Words are found unreadable while the specification changes: run with -race.
func TestUnreadableWordsConcurrentWithEnsure(t *testing.T) {
	l := life{seed: 29}
	s, err := Open(t.Context(), Options{Dir: livedFolder(t, l, 20), at: usual})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	opened, err := s.Ensure(t.Context(), l.spec())
	if err != nil {
		t.Fatal(err)
	}
	c := opened.(*collection)
	var changes sync.WaitGroup
	changes.Go(func() {
		for i := range 20 {
			spec := l.spec()
			spec.Title = fmt.Sprint("of the year ", i)
			if _, err := s.Ensure(t.Context(), spec); err != nil {
				t.Error(err)
			}
		}
	})
	for range 200 {
		if err := c.reading(func() error { return lexical.ErrUnreadable }); !errors.Is(err, store.ErrIO) {
			t.Errorf("read what cannot be read: %v", err)
		}
		c.unreadable.Store(false) // so that the next says so again
		time.Sleep(100 * time.Microsecond)
	}
	changes.Wait()
	mustBe(t, c, l.reference(20))
}

// unwilling is a context that panics when it is asked.
type unwilling struct{ context.Context }

func (unwilling) Err() error { panic("of our own") }

// A search that panics leaves no goroutine that searches words for nobody.
func TestAPanicInAHybridSearchLeavesNothingRunning(t *testing.T) {
	l := life{seed: 30}
	c := quietly(t, livedFolder(t, l, 20), usual)
	r := ranking{view: c.index.freeze(), allowed: c.index.chunks.live, depth: 10}
	r.query.Text, r.query.Vector = "pilot lake", []float32{1, 0, 0, 0, 0, 0, 0, 0}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it did not panic")
			}
		}()
		_ = r.run(unwilling{t.Context()})
	}()
	running := func() bool {
		stacks := make([]byte, 1<<20)
		return bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("(*ranking).run"))
	}
	for deadline := time.Now().Add(5 * time.Second); running(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the search of words waits for good")
		}
	}
}

// Where no file can be written, all stays in memory and is as right as ever.
func TestWordsWithoutAPlaceForFiles(t *testing.T) {
	l := life{seed: 23}
	dir := livedFolder(t, l, 20)
	derived := filepath.Join(dir, "c", "events-1", derivedFolder)
	if err := errors.Join(os.RemoveAll(derived), os.WriteFile(derived, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	c := quietly(t, dir, eager)
	for i := 20; i < 80; i++ {
		if err := l.live(t.Context(), c, i); err != nil {
			t.Fatal(err)
		}
	}
	mustBe(t, c, l.reference(80))
	if files := c.index.text.View().Files(); len(files) > 0 {
		t.Errorf("files where none can be: %v", files)
	}
}

// What nothing needs any more does not stay: after a save there are the files that the
// index is made of and no others, also none that a crash left.
func TestWordFilesAreRemoved(t *testing.T) {
	l := life{seed: 24}
	dir := livedInFiles(t, l, 150)
	stray := filepath.Join(dir, "c", "events-1", derivedFolder, "1"+lexical.FileSuffix)
	if err := os.WriteFile(stray, []byte("half a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := quietly(t, dir, manyFiles)
	var have []string
	for _, f := range wordFiles(t, dir) {
		have = append(have, filepath.Base(f))
	}
	want := slices.Sorted(slices.Values(c.index.text.View().Files()))
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("after opening: %s", diff)
	}
	for i := 150; i < 400; i++ {
		if err := l.live(t.Context(), c, i); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range want { // the derived file is not whole without them
		if _, err := os.Stat(filepath.Join(dir, "c", "events-1", derivedFolder, name)); err != nil {
			t.Error(err)
		}
	}
	if err := c.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	have = nil
	for _, f := range wordFiles(t, dir) {
		have = append(have, filepath.Base(f))
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(c.index.text.View().Files())), have); diff != "" {
		t.Errorf("after saving: %s", diff)
	}
}
