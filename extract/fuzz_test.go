package extract

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fuzz reads whatever data as a file of a name: it is text that keeps the promises of the
// package, or a Refusal that is no panic.
func fuzz(f *testing.F, name string, seeds ...[]byte) {
	f.Helper()
	for _, s := range seeds {
		f.Add(s)
	}
	x := Extractor{Limits: Limits{Text: 1 << 20, Unpack: 4 << 20, Time: 20 * time.Second}, CacheDir: cacheDir()}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := x.Extract(t.Context(), name, bytes.NewReader(data), int64(len(data)))
		if err == nil {
			checkText(t, name, got)
			return
		}
		r := RefusalOf(err)
		if r == nil || r.Code == TooSlow {
			t.Fatalf("%v", err)
		}
		if r.Err != nil && strings.Contains(r.Err.Error(), "panic") {
			t.Fatal(r.Err)
		}
	})
}

func FuzzPlain(f *testing.F) {
	fuzz(f, "a.txt", []byte("one\n\ntwo"), []byte("caf\xe9"), []byte("\xff\xfea\x00"), []byte("\xef\xbb\xbfx"), []byte("\x1b$B8w\x1b(B"))
}

func FuzzMarkdown(f *testing.F) {
	fuzz(f, "a.md", []byte("---\ntitle: x\n---\n# A\n\n- b\n  - c\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx\n```\n> q [l](u) **b** `c` <i>\n\n[^1]: n\n## Page 2\nx"))
}

func FuzzAsciiDoc(f *testing.F) {
	fuzz(f, "a.adoc", []byte("= T\n:author: x\n\n== S\n* a\n** b\n.T\n|===\n|a |b\n|===\n----\nx\n----\nlink:u[t] *b*"))
}

func FuzzHTML(f *testing.F) {
	fuzz(f, "a.html", []byte("<!doctype html><title>t</title><main><h1>a</h1><p>b<br>c<ul><li>x<ol start=3><li>y</ol></ul><dl><dt>a<dd>b</dl><table><caption>c<tr><th colspan=2>a<tr><td rowspan=2>b<td>c</table><pre>p\nq</pre>"))
}

func FuzzXML(f *testing.F) {
	fuzz(f, "a.xml", []byte(`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "y">]><a b="c"><!-- n --><title>t</title><p>x <b>y</b> &amp; <![CDATA[z]]></p><e/></a>`))
}

func FuzzCSV(f *testing.F) {
	fuzz(f, "a.csv", []byte("a,b\n1,\"x\"\"y\"\n\"open"), []byte("sep=;\na;b\n"), []byte("a\tb\r\n1\t2\r\n"))
}

func FuzzJSON(f *testing.F) {
	fuzz(f, "a.json", []byte(`{"a":[1,2,{"b":null}],"c":"d\u00e9","e":{"f":[[],{}]}}`), []byte(`[1,"a",true]`), []byte(`"x"`))
}

func FuzzJSONL(f *testing.F) {
	fuzz(f, "a.jsonl", []byte("{\"a\":1}\n{\"a\":[2]}\nbad\n"))
}

func FuzzNotebook(f *testing.F) {
	fuzz(f, "a.ipynb", []byte(`{"nbformat":4,"cells":[{"cell_type":"markdown","source":["# a\n","b"]},{"cell_type":"code","source":"x","outputs":[{"text":["y"],"data":{"text/plain":"z"}}]}]}`))
}

func FuzzSubtitle(f *testing.F) {
	fuzz(f, "a.vtt", []byte("WEBVTT\n\n1\n00:01.000 --> 00:02.000\n<v A>hi\n"), []byte("1\n00:00:01,000 --> 00:00:02,000\nhi\n"))
}

func FuzzEmail(f *testing.F) {
	fuzz(f, "a.eml", []byte("From: =?utf-8?q?a=C3=A9?= <a@b>\nTo: c@d\nSubject: s\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<p>x=3D</p>\n--b\nContent-Disposition: attachment; filename=a.txt\nContent-Transfer-Encoding: base64\n\neA==\n--b--\n"))
}

func FuzzDOCX(f *testing.F) {
	fuzz(f, "a.docx", docxOf(f, para("a")+"<w:tbl>"+tr("a", "b")+"</w:tbl>"))
}

// FuzzWordXML changes the XML inside of a document, which changing the bytes of its
// archive hardly ever does.
func FuzzWordXML(f *testing.F) {
	f.Add(`<w:p><w:pPr><w:pStyle w:val="H1"/><w:numPr><w:ilvl w:val="1"/><w:numId w:val="7"/></w:numPr></w:pPr>` + wrun("a") + `</w:p><w:tbl>` + tr("a", "b") + `</w:tbl>`)
	f.Fuzz(func(t *testing.T, body string) {
		got, err := read(t, "a.docx", docxOf(t, body))
		if r := RefusalOf(err); r != nil && r.Err != nil && strings.Contains(r.Err.Error(), "panic") {
			t.Fatal(r.Err)
		}
		_ = got
	})
}

func FuzzXLSX(f *testing.F) {
	fuzz(f, "a.xlsx", xlsxOf(f, "<si><t>a</t></si>", "S", `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><v>45000.5</v></c></row>`))
}

func FuzzPPTX(f *testing.F) {
	fuzz(f, "a.pptx", zipOf(f, "ppt/presentation.xml", `<p><p:sldId r:id="r1"/></p>`, "ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="r1" Type="x/slide" Target="slides/s.xml"/></Relationships>`,
		"ppt/slides/s.xml", `<sld><sp><ph type="title"/><txBody><a:p><a:r><a:t>t</a:t></a:r></a:p></txBody></sp></sld>`))
}

func FuzzEPUB(f *testing.F) {
	fuzz(f, "a.epub", zipOf(f, "mimetype", "application/epub+zip", "META-INF/container.xml", `<container><rootfile full-path="c.opf"/></container>`,
		"c.opf", `<package><dc:title>t</dc:title><item id="a" href="a.xhtml"/><itemref idref="a"/></package>`, "a.xhtml", "<html><title/><body><p>x</p></body></html>"))
}

func FuzzODT(f *testing.F) {
	fuzz(f, "a.odt", zipOf(f, "mimetype", "application/vnd.oasis.opendocument.text", "content.xml", `<office:text><text:h text:outline-level="1">h</text:h><text:list><text:list-item><text:p>i</text:p></text:list-item></text:list></office:text>`))
}

func FuzzPDF(f *testing.F) {
	fuzz(f, "a.pdf", pdfOf(column(72, 72, 12, "one", "two")), pdfOf(nil))
}

// FuzzDetect reads any bytes under any name.
func FuzzDetect(f *testing.F) {
	f.Add("a.txt", []byte("x"))
	f.Add("a.gz", []byte("\x1f\x8b\x08"))
	f.Add("", []byte("PK\x03\x04"))
	f.Add("a", append(bytes.Clone(oleMagic), make([]byte, 600)...))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if bytes.Contains(data, []byte("%PDF-")) {
			return // FuzzPDF has the engine
		}
		_, err := read(t, name, data)
		if r := RefusalOf(err); r != nil && r.Err != nil && strings.Contains(r.Err.Error(), "panic") {
			t.Fatal(r.Err)
		}
	})
}

// TestDamagedFiles cuts and changes every small file of the corpus: what comes is text or
// a Refusal.
func TestDamagedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a thousand files")
	}
	folder := sharedData(t, "doc-corpus")
	files, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) < 64 || len(data) > 40_000 {
			continue
		}
		for n, damaged := range [][]byte{data[:len(data)/2], data[:len(data)-20], data[len(data)/3:], flip(data, 97), flip(data, 1009)} {
			got, err := shared.Extract(t.Context(), file, bytes.NewReader(damaged), int64(len(damaged)))
			if err == nil {
				checkText(t, file, got)
			} else if r := RefusalOf(err); r == nil || r.Err != nil && strings.Contains(r.Err.Error(), "panic") {
				t.Errorf("%s, damage %d: %v", file, n, err)
			}
		}
	}
}

// flip changes every nth byte.
func flip(data []byte, n int) []byte {
	out := bytes.Clone(data)
	for i := n; i < len(out); i += n {
		out[i] ^= 0x15
	}
	return out
}
