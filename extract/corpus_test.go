package extract

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the tables of docs/extraction.md instead of comparing with them")

// corpora are the sets of real files, and how many files each has.
var corpora = []struct {
	folder string
	files  int
}{
	{"doc-corpus", 198}, {"ntsb-pdf", 26}, {"faa-docs", 13}, {"kgrag-10q", 13},
}

// tally is what came of the files of one kind.
type tally struct {
	files, bytes, text int
	formats            map[string]int
	refused            map[string]int
	warned             int
	parts              int
}

// TestCorpora reads every file of the sets and holds what comes of them to the tables of
// docs/extraction.md. No file may hang, panic, or be left out of the count.
func TestCorpora(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 250 files")
	}
	var b strings.Builder
	var names strings.Builder
	for _, c := range corpora {
		folder := sharedData(t, c.folder)
		kinds, n := readCorpus(t, folder, &names)
		if n != c.files {
			t.Errorf("%s: %d files are accounted for, there are %d", c.folder, n, c.files)
		}
		writeTally(&b, c.folder, kinds)
	}
	b.WriteString("### Files that were refused\n\n| file | code | reason |\n|---|---|---|\n" + names.String())
	compareTable(t, filepath.Join("..", "docs", "extraction.md"), b.String())
}

func readCorpus(t *testing.T, folder string, refused *strings.Builder) (map[string]*tally, int) {
	t.Helper()
	kinds, n := map[string]*tally{}, 0
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "README.md" {
			return err
		}
		n++
		kind := endingOf(d.Name())
		if kinds[kind] == nil {
			kinds[kind] = &tally{formats: map[string]int{}, refused: map[string]int{}}
		}
		rel, err := filepath.Rel(filepath.Dir(folder), path)
		if err != nil {
			return err
		}
		readOne(t, path, filepath.ToSlash(rel), kinds[kind], refused)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return kinds, n
}

func readOne(t *testing.T, path, name string, k *tally, refused *strings.Builder) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	k.files++
	k.bytes += len(data)
	got, err := shared.Extract(ctx, path, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		r := RefusalOf(err)
		if r == nil || r.Err != nil && strings.Contains(r.Err.Error(), "panic") {
			t.Errorf("%s: %v", name, err)
			return
		}
		k.refused[string(r.Code)]++
		fmt.Fprintf(refused, "| %s | %s | %s |\n", name, r.Code, r.Reason)
		return
	}
	checkText(t, name, got)
	k.text += len(got.Text)
	k.formats[string(got.Format)]++
	k.parts += len(got.Parts)
	if len(got.Warnings) > 0 {
		k.warned++
	}
	if utf8.RuneCountInString(got.Title) > 201 {
		t.Errorf("%s: title %q", name, got.Title)
	}
}

func writeTally(b *strings.Builder, folder string, kinds map[string]*tally) {
	fmt.Fprintf(b, "### %s\n\n| ending | files | read as | refused as | with warnings | text, kB | parts |\n|---|---|---|---|---|---|---|\n", folder)
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(x, y string) int {
		return cmp.Or(cmp.Compare(kinds[y].files, kinds[x].files), cmp.Compare(x, y))
	}) {
		k := kinds[kind]
		fmt.Fprintf(b, "| %s | %d | %s | %s | %d | %.1f | %d |\n", kind, k.files, counts(k.formats), counts(k.refused), k.warned, float64(k.text)/1000, k.parts)
	}
	b.WriteByte('\n')
}

func counts(m map[string]int) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s %d", key, m[key]))
	}
	return strings.Join(out, ", ")
}

// compareTable holds the part of a page between its marks to a table.
func compareTable(t *testing.T, path, want string) {
	t.Helper()
	const from, to = "<!-- tables: go test ./extract -run TestCorpora -update -->\n", "<!-- end of tables -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), from)
	got, tail, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the tables", path)
	}
	if *update {
		if err := os.WriteFile(path, []byte(head+from+want+to+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := gocmp.Diff(got, want); diff != "" {
		t.Errorf("what comes of the files has changed (-page +now):\n%s\nWrite it with go test ./extract -run TestCorpora -update, and read it before you commit it.", diff)
	}
}
