package file_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/extract"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/source/file"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// folder makes a folder of files, of some age, so that their times tell.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "desk")
	for name, text := range files {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), text, time.Hour)
	}
	return dir
}

func put(t *testing.T, path, text string, age time.Duration) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-age)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// desk is a store that folders are taken into.
type desk struct {
	store store.Store
	x     *extract.Extractor
}

func open(t *testing.T) *desk {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return &desk{st, &extract.Extractor{}}
}

func (d *desk) take(t *testing.T, o file.Options, prune bool, paths ...string) sextant.Receipt {
	t.Helper()
	src, err := file.New("notes", d.x, o, paths...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ingest.Run(t.Context(), ingest.Job{Store: d.store, Collection: file.Collection("notes", "fill"), Source: src, Prune: prune})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// outcomes are what became of each entry.
func (d *desk) outcomes(t *testing.T, r sextant.Receipt) map[string]string {
	t.Helper()
	out := map[string]string{}
	for item, err := range ingest.Items(t.Context(), d.store, r) {
		if err != nil {
			t.Fatal(err)
		}
		out[item.ID.Native()] = strings.TrimSuffix(string(item.Outcome)+": "+item.Reason, ": ")
	}
	return out
}

func TestEveryEntryHasAnOutcome(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.md": "# Alpha\n\nThe first file.\n", "sub/b.txt": "The second file.\n", "sub/empty.txt": "", ".hidden": "x", ".git/config": "x", "~$lock.docx": "x", "skip.log": "x", "old/c.txt": "x",
	})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	d := open(t)
	got := d.outcomes(t, d.take(t, file.Options{Ignore: []string{"*.log", "old"}}, false, dir))
	want := map[string]string{
		"desk/a.md": "stored", "desk/sub/b.txt": "stored", "desk/sub/empty.txt": "refused: empty: the file has no bytes",
		"desk/.hidden": "skipped: hidden (its name begins with a dot)", "desk/.git": "skipped: hidden (its name begins with a dot)", "desk/~$lock.docx": "skipped: a lock of an office program",
		"desk/skip.log": "skipped: ignored (*.log)", "desk/old": "skipped: ignored (old)", "desk/link.txt": "skipped: a symbolic link, which is not followed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	c, _ := d.store.Open(t.Context(), "notes")
	docs, err := c.Get(t.Context(), []sextant.DocumentID{"notes:desk/a.md"})
	if err != nil || len(docs) != 1 || docs[0].Title != "Alpha" || docs[0].Meta.Fields.One("folder").Str() != "desk" || docs[0].Meta.Fields.One("file_type").Str() != "markdown" {
		t.Errorf("%+v %v", docs, err)
	}
}

func TestUnreadableFilesCostNoOther(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("permissions do not bind this user")
	}
	dir := folder(t, map[string]string{"a.txt": "one", "b.txt": "two", "no/c.txt": "three"})
	for _, name := range []string{"a.txt", "no"} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "no"), 0o700) })
	d := open(t)
	got := d.outcomes(t, d.take(t, file.Options{}, false, dir))
	const reason = "refused: it may not be read: check its owner and permissions"
	if got["desk/a.txt"] != reason || got["desk/b.txt"] != "stored" || got["desk/no"] != reason {
		t.Errorf("%v", got)
	}
}

func TestNamesOfAnyBytes(t *testing.T) {
	dir := folder(t, map[string]string{"line\nbreak.txt": "one", "bad\xff.txt": "two", "escape\x1b[31m.txt": "three", "ünï.txt": "four"})
	d := open(t)
	got := d.outcomes(t, d.take(t, file.Options{}, false, dir))
	want := map[string]string{"desk/line%0Abreak.txt": "stored", "desk/bad%FF.txt": "stored", "desk/escape%1B[31m.txt": "stored", "desk/ünï.txt": "stored"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOnlyWhatChangedIsRead(t *testing.T) {
	dir := folder(t, map[string]string{"a.txt": "one", "b.txt": "two", "c.txt": "three"})
	d := open(t)
	if r := d.take(t, file.Options{}, false, dir); r.Documents.Added != 3 {
		t.Fatalf("%+v", r.Documents)
	}
	if got := d.outcomes(t, d.take(t, file.Options{}, false, dir)); len(got) != 0 {
		t.Errorf("an unchanged folder was read: %v", got)
	}
	put(t, filepath.Join(dir, "b.txt"), "two, changed", time.Hour)
	touched := time.Now().Add(-30 * time.Minute)
	if err := os.Chtimes(filepath.Join(dir, "c.txt"), touched, touched); err != nil {
		t.Fatal(err)
	}
	got := d.outcomes(t, d.take(t, file.Options{}, false, dir))
	want := map[string]string{"desk/a.txt": "unchanged", "desk/b.txt": "stored", "desk/c.txt": "unchanged"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A file whose size and time are as they were is not opened; one that was written just
	// now is, for its time does not tell yet.
	put(t, filepath.Join(dir, "b.txt"), "two, CHANGED", 0)
	if got := d.outcomes(t, d.take(t, file.Options{}, false, dir)); got["desk/b.txt"] != "stored" {
		t.Errorf("%v", got)
	}
}

func TestFilesThatAreGone(t *testing.T) {
	dir := folder(t, map[string]string{"a.txt": "one", "b.txt": "two"})
	d := open(t)
	d.take(t, file.Options{}, false, dir)
	if err := os.Remove(filepath.Join(dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	r := d.take(t, file.Options{}, false, dir)
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "notes:desk/b.txt") {
		t.Errorf("warnings %q", r.Warnings)
	}
	d.verify(t, 2)
	r = d.take(t, file.Options{}, true, dir)
	if r.Documents.Deleted != 1 {
		t.Errorf("%+v", r.Documents)
	}
	d.verify(t, 1)
	put(t, filepath.Join(dir, "b.txt"), "two", time.Hour)
	d.take(t, file.Options{}, false, dir)
	d.verify(t, 2)
}

// verify checks that everything is as the receipts say.
func (d *desk) verify(t *testing.T, documents int64) {
	t.Helper()
	v, err := ingest.Verify(t.Context(), d.store, "notes")
	if err != nil || v.Documents != documents || v.Intact != documents || len(v.Missing)+len(v.Extra)+len(v.Changed) > 0 {
		t.Errorf("%+v %v", v, err)
	}
}

// A file of a folder has the same document, however it was named on the command line.
func TestOneFileAndItsFolder(t *testing.T) {
	dir := folder(t, map[string]string{"a.txt": "one", "b.txt": "two"})
	d := open(t)
	d.take(t, file.Options{}, false, filepath.Join(dir, "a.txt"))
	r := d.take(t, file.Options{}, false, dir, filepath.Join(dir, "b.txt"))
	if r.Documents.Added != 1 {
		t.Errorf("%+v", r.Documents)
	}
	d.verify(t, 2)
}

func TestFoldersOfOneName(t *testing.T) {
	a, b := folder(t, map[string]string{"a.txt": "one"}), folder(t, map[string]string{"a.txt": "two"})
	if _, err := file.New("notes", &extract.Extractor{}, file.Options{}, a, b); !errors.Is(err, file.ErrSameName) {
		t.Errorf("%v", err)
	}
	if _, err := file.New("notes", &extract.Extractor{}, file.Options{}, filepath.Join(a, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// A pipe would hold up whoever opens it.
func TestListingDoesNotOpen(t *testing.T) {
	dir := folder(t, map[string]string{"a.txt": "one"})
	src, err := file.New("notes", &extract.Extractor{}, file.Options{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := src.Inputs(t.Context())
	if err != nil || len(inputs) != 1 || inputs[0].Kind() != "folder" || inputs[0].Size() != 3 {
		t.Fatalf("%v %v", inputs, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range inputs[0].Items(ctx, source.Position{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}
