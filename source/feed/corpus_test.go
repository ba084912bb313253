package feed

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant/source"
)

// shared returns a path in the shared test data, or skips.
func shared(t *testing.T, parts ...string) string {
	t.Helper()
	dir := os.Getenv("SEXTANT_SHARED")
	for up := "."; dir == ""; up = filepath.Join(up, "..") {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			dir = filepath.Join(up, "..", "shared")
		}
	}
	path := filepath.Join(append([]string{dir, "data", "feeds"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs feeds/%s in the shared data (SEXTANT_SHARED)", filepath.Join(parts...))
	}
	return path
}

// The feeds of six parsers' test suites: every one is read, or refused for a reason
// that is known; every item of a well-formed one is an entry.
func TestFeedsOfOtherSuites(t *testing.T) {
	files, read, entries := 0, 0, 0
	err := filepath.WalkDir(shared(t), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".md") || strings.HasSuffix(path, ".tar.gz") {
			return err
		}
		files++
		b, err := source.File(path)
		if err != nil {
			return err
		}
		f, err := Read(b, Options{})
		if err != nil {
			t.Logf("%s: %v", b.Name, err)
			return nil
		}
		read, entries = read+1, entries+len(f.Entries)
		for _, e := range f.Entries {
			if e.ID == "" || overlaid.MatchString(e.Text) && !strings.Contains(e.Text, "<") {
				t.Errorf("%s: %+v", b.Name, e)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d read, %d entries", files, read, entries)
	if read*100 < files*90 || entries < 400 {
		t.Error("too few")
	}
}

var (
	expects = regexp.MustCompile(`(?s)Expect:\s*(.*?)\s*-->`)
	equals  = regexp.MustCompile(`(?:^|and |\()\s*(entries\[0\]|feed)\['(title|link|description|summary|author|id)'\] == u?(?:'''(.*?)'''|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")`)
	counts  = regexp.MustCompile(`len\(entries\) == (\d+)`)
)

// The expectations that feedparser's tests state on what an Entry has, compared as plain
// text: what is kept of markup differs by design.
func TestExpectationsOfFeedparser(t *testing.T) {
	f, err := os.Open(shared(t, "feedparser-tests.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files, checked, met := 0, 0, 0
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		raw, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files++
		if strings.Contains(h.Name, "/base/http_") { // about headers of the answer: a saved feed has none
			continue
		}
		parsed, err := Parse(raw, Options{})
		if err != nil {
			parsed = &Feed{}
		}
		text, _ := Decode(raw, "")
		if m := expects.FindStringSubmatch(text); m != nil {
			for _, failure := range unmet(m[1], parsed, &checked) {
				t.Logf("%s: %s (%v)", h.Name, failure, err)
				met--
			}
		}
	}
	met += checked
	t.Logf("%d files, %d expectations, %d met (%.1f %%)", files, checked, met, 100*float64(met)/float64(checked))
	if files < 900 || met*100 < checked*97 {
		t.Error("too few")
	}
}

func unmet(expectation string, f *Feed, checked *int) []string {
	var out []string
	first := &Entry{}
	if len(f.Entries) > 0 {
		first = &f.Entries[0]
	}
	for _, m := range equals.FindAllStringSubmatch(expectation, -1) {
		want := line(unquote(m[3] + m[4] + m[5]))
		got, known := field(f, first, m[1], m[2])
		if !known {
			continue
		}
		*checked++
		if got = strings.Join(strings.Fields(got), " "); got != want {
			out = append(out, m[1]+"."+m[2]+" is "+strconv.Quote(got)+", want "+strconv.Quote(want))
		}
	}
	for _, m := range counts.FindAllStringSubmatch(expectation, -1) {
		*checked++
		if strconv.Itoa(len(f.Entries)) != m[1] {
			out = append(out, strconv.Itoa(len(f.Entries))+" entries, want "+m[1])
		}
	}
	return out
}

func field(f *Feed, e *Entry, of, name string) (string, bool) {
	switch {
	case of == "feed" && name == "title":
		return f.Title, true
	case of == "feed":
		return "", false
	case name == "title":
		return e.Title, true
	case name == "link":
		return e.Link, true
	case name == "description" || name == "summary":
		return e.Text, true
	case name == "id":
		return e.guid, true
	}
	return "", false
}

// unquote reads the escapes of a Python string.
func unquote(s string) string {
	s = regexp.MustCompile(`\\x([0-9a-fA-F]{2})`).ReplaceAllString(s, `\u00$1`)
	out, err := strconv.Unquote(`"` + strings.NewReplacer(`\'`, `'`, `\"`, `\"`, `\\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`)
	if err != nil {
		return s
	}
	return out
}
