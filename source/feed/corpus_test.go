package feed

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/htmlindex"

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
	paths   = regexp.MustCompile(`(entries\[\d\]|feed)((?:\['\w+'\]|\[\d\])+) == (?:u?(?:\'\'\'(.*?)\'\'\'|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")|\((\d+(?:, \d+){5,8})\))( \+)?`)
	counts  = regexp.MustCompile(`len\(entries\) == (\d+)`)
	written = regexp.MustCompile(`\bencoding == '([^']+)'`)
	steps   = regexp.MustCompile(`'(\w+)'|\[(\d)\]`)
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
		if strings.Contains(h.Name, "/base/http_") { // about the header Content-Location, which is not read
			continue
		}
		text, _ := Decode(raw, "")
		served := ""
		if m := headers.FindStringSubmatch(text); m != nil {
			served = strings.TrimSpace(m[1])
		}
		parsed, err := Parse(raw, Options{ContentType: served})
		if err != nil {
			parsed = &Feed{}
		}
		if m := expects.FindStringSubmatch(text); m != nil {
			for _, failure := range unmet(m[1], parsed, ascii(raw), &checked) {
				t.Logf("%s: %s (%v)", h.Name, failure, err)
				met--
			}
		}
	}
	met += checked
	t.Logf("%d files, %d expectations, %d met (%.1f %%)", files, checked, met, 100*float64(met)/float64(checked))
	if files < 900 || met*100 < checked*98 {
		t.Error("too few")
	}
}

// headers finds the Content-Type that a test file says it is served with.
var headers = regexp.MustCompile(`(?i)Header:\s*Content-type:\s*([^\r\n]+)`)

func categories(f *Feed, of string) []string {
	if at := int(of[len("entries[")] - '0'); at < len(f.Entries) {
		return f.Entries[at].Categories
	}
	return nil
}

// unmet returns which parts of an expectation a feed does not meet. plain says that its
// file is ASCII.
func unmet(expectation string, f *Feed, plain bool, checked *int) []string {
	var out []string
	check := func(what, got, want string) {
		*checked++
		if got = strings.Join(strings.Fields(got), " "); got != want {
			out = append(out, what+" is "+strconv.Quote(got)+", want "+strconv.Quote(want))
		}
	}
	for _, m := range paths.FindAllStringSubmatch(expectation, -1) {
		want := line(unquote(m[3] + m[4] + m[5]))
		if m[6] != "" {
			want = instant(m[6])
		}
		if m[7] != "" {
			continue // put together in Python
		}
		if strings.HasPrefix(m[2], "['summary") && strings.Contains(expectation, "['content']") {
			continue // an Entry has the whole article, and no summary beside it
		}
		if got, known := field(f, m[1], m[2]); known {
			if strings.HasSuffix(m[2], "['author']") { // with an address after the name
				want, _, _ = strings.Cut(want, " (")
			}
			if strings.HasSuffix(m[2], "['term']") && slices.Contains(categories(f, m[1]), want) {
				got = want // a label may stand before it
			}
			if t, ok := ParseDate(want); ok && dated(m[2]) {
				want = t.UTC().Format(time.DateTime)
			}
			check(m[1]+m[2], got, want)
		}
	}
	for _, m := range counts.FindAllStringSubmatch(expectation, -1) {
		check("entries", strconv.Itoa(len(f.Entries)), m[1])
	}
	for _, m := range written.FindAllStringSubmatch(expectation, -1) {
		if plain {
			break // all encodings agree on it, so that none of their names is wrong
		}
		if want, err := htmlindex.Get(m[1]); err == nil && f.Format != "" { // one that is known
			wanted, _ := htmlindex.Name(want)
			name, _, _ := strings.Cut(strings.ToLower(f.Encoding), " ")
			got := name
			if e, err := htmlindex.Get(name); err == nil {
				got, _ = htmlindex.Name(e)
			}
			if got == "gb18030" && wanted == "gbk" || got == "koi8-u" && wanted == "koi8-r" {
				got = wanted // which it is a superset of
			}
			check("encoding", got, wanted)
		}
	}
	return out
}

func dated(path string) bool {
	return strings.Contains(path, "published") || strings.Contains(path, "updated") || strings.Contains(path, "created") || strings.Contains(path, "modified")
}

// instant writes the first six numbers of a Python time tuple.
func instant(tuple string) string {
	var n [6]int
	for i, s := range strings.Split(tuple, ", ")[:6] {
		n[i], _ = strconv.Atoi(s)
	}
	return time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, time.UTC).Format(time.DateTime)
}

// field finds what a Feed has at a path of feedparser's result. Everything a Feed has is
// in here; of what it does not have (styles of links, rights, generators, contributors) the
// path is not known.
func field(f *Feed, of, path string) (string, bool) {
	var names []string
	index := 0
	for _, m := range steps.FindAllStringSubmatch(path, -1) {
		if m[2] != "" {
			index, _ = strconv.Atoi(m[2])
			continue
		}
		names = append(names, m[1])
	}
	name := strings.Join(names, ".")
	if of == "feed" {
		switch name {
		case "title", "title_detail.value":
			return f.Title, true
		case "link":
			return f.Link, true
		}
		return "", false
	}
	at := int(of[len("entries[")] - '0')
	e := &Entry{}
	if at < len(f.Entries) {
		e = &f.Entries[at]
	}
	pick := func(list []string, i int) string {
		if i < len(list) {
			return list[i]
		}
		return ""
	}
	moment := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.DateTime)
	}
	switch name {
	case "title", "title_detail.value":
		return e.Title, true
	case "link":
		return e.Link, true
	case "description", "summary", "content.value", "summary_detail.value":
		return e.Text, true
	case "id", "guid":
		return e.guid, true
	case "author", "author_detail.name":
		return pick(e.Authors, 0), true
	case "authors.name":
		return pick(e.Authors, index), true
	case "tags.term":
		return pick(e.Categories, index), true
	case "category":
		return pick(e.Categories, 0), true
	case "published_parsed", "published", "created_parsed", "created":
		return moment(e.Published), true
	case "updated_parsed", "updated", "modified_parsed", "modified":
		return moment(e.changed()), true // a feed with one date calls it either
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
