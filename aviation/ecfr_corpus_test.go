package aviation

import (
	"compress/gzip"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// plainElement is any element, read without the code under test.
type plainElement struct {
	XMLName  xml.Name
	N        string         `xml:"N,attr"`
	Inner    []byte         `xml:",innerxml"`
	Children []plainElement `xml:",any"`
}

func readPlain(t *testing.T, path string) plainElement {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var root plainElement
	if err := xml.NewDecoder(r).Decode(&root); err != nil {
		t.Fatal(err)
	}
	return root
}

// each calls f with every element in the order of the file, until f says not to go in.
func (e plainElement) each(f func(plainElement) bool) {
	if !f(e) {
		return
	}
	for _, c := range e.Children {
		c.each(f)
	}
}

// letters is a text without white space and marks: what must not be lost.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// words returns the text of every paragraph, heading and cell, notices left out.
func (e plainElement) words(t *testing.T) []string {
	var out []string
	e.each(func(c plainElement) bool {
		switch c.XMLName.Local {
		case "XREF", "img", "PRTPAGE", "EAR":
			return false
		case "HEAD", "P", "FP", "FP-1", "FP-2", "HD1", "HD2", "HED", "PSPACE", "TD", "TH", "CITA", "APPRO", "SECTNO", "SUBJECT", "RESERVED", "HD", "TTITLE", "CHED", "ENT":
			var text strings.Builder
			d := xml.NewDecoder(strings.NewReader("<x>" + string(c.Inner) + "</x>"))
			for {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if data, ok := token.(xml.CharData); ok {
					text.Write(data)
				}
			}
			out = append(out, letters(text.String()))
			return false
		}
		return true
	})
	return out
}

// withoutAdded takes out what is not in the XML.
func withoutAdded(doc *sextant.Document, cited bool) string {
	var lines []string
	for l := range strings.Lines(doc.Text) {
		l = strings.TrimSpace(l)
		if l == reservedText || !cited && strings.HasPrefix(l, "Source: ") {
			continue
		}
		lines = append(lines, l)
	}
	text := strings.Join(lines, "\n")
	for {
		before, after, ok := strings.Cut(text, "[Figure not available")
		if !ok {
			return letters(text)
		}
		_, after, _ = strings.Cut(after, "]")
		text = before + after
	}
}

func TestNoWordOfTheXMLIsLost(t *testing.T) {
	for name, want := range map[string]struct{ sections, appendices, tables int }{
		"part-135.xml":                        {200, 11, 7},
		"part-91-selected.xml":                {7, 0, 2},
		"part-25.xml.gz":                      {404, 16, 32},
		"CFR-2024-title14-vol5-annual.xml.gz": {751, 11, 6},
	} {
		path := shared(t, "ecfr-title14", name)
		blob, err := source.File(path)
		if err != nil {
			t.Fatal(err)
		}
		items, err := readAll(t.Context(), blob)
		if err != nil {
			t.Fatal(err)
		}
		var elements []plainElement
		readPlain(t, path).each(func(e plainElement) bool {
			if n := e.XMLName.Local; n == "DIV8" || n == "DIV9" || n == "SECTION" || n == "APPENDIX" {
				elements = append(elements, e)
				return false
			}
			return true
		})
		if len(items) != len(elements) || len(items) != want.sections+want.appendices {
			t.Fatalf("%s: %d documents of %d elements, want %d", name, len(items), len(elements), want.sections+want.appendices)
		}
		tables := 0
		for i, it := range items {
			if it.Contribution == nil {
				t.Fatalf("%s: %s", name, it.Reason)
			}
			doc, _, err := it.Contribution.Merge(nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range doc.Parts {
				if p.Kind == partTable {
					tables++
				}
			}
			compareWords(t, &doc, elements[i])
		}
		if tables != want.tables {
			t.Errorf("%s: %d tables, want %d", name, tables, want.tables)
		}
	}
}

// compareWords compares the words of paragraphs, and then all letters by number.
func compareWords(t *testing.T, doc *sextant.Document, e plainElement) {
	t.Helper()
	words := e.words(t)
	text := letters(doc.Text)
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s lacks %.80q", doc.ID, w)
		}
	}
	cited := slices.ContainsFunc(e.Children, func(c plainElement) bool { return c.XMLName.Local == "CITA" })
	want, got := strings.Split(strings.Join(words, ""), ""), strings.Split(withoutAdded(doc, cited), "")
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("%s has %d letters and digits, the XML %d", doc.ID, len(got), len(want))
	}
}

func TestPartsThroughTheStore(t *testing.T) {
	paths := []string{shared(t, "ecfr-title14", "part-135.xml"), shared(t, "ecfr-title14", "part-91-selected.xml")}
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	run := func(reread bool, want map[sextant.Outcome]int64, documents sextant.DocumentTally) {
		t.Helper()
		src, err := OpenECFR(paths...)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: Regulations(), Source: src, Reread: reread})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r.Records); diff != "" || r.Read != 218 || r.Documents != documents {
			t.Errorf("%d read, documents %+v, records (-want +got):\n%s", r.Read, r.Documents, diff)
		}
	}
	run(false, map[sextant.Outcome]int64{sextant.Stored: 218}, sextant.DocumentTally{Added: 218})
	run(false, map[sextant.Outcome]int64{sextant.Unchanged: 218}, sextant.DocumentTally{Unchanged: 218})
	run(true, map[sextant.Outcome]int64{sextant.Unchanged: 218}, sextant.DocumentTally{Unchanged: 218})
}
