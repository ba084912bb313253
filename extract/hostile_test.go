package extract

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
)

// entry is a file of an archive as a liar writes it.
type entry struct {
	name         string
	data         []byte // as stored
	method       uint16
	size, packed uint32 // as claimed
	crc          uint32
	flags        uint16
}

func deflated(t testing.TB, name string, data io.Reader) entry {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, 9)
	if err != nil {
		t.Fatal(err)
	}
	sum := crc32.NewIEEE()
	n, err := io.Copy(io.MultiWriter(w, sum), data)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return entry{name: name, data: b.Bytes(), method: 8, size: uint32(n), packed: uint32(b.Len()), crc: sum.Sum32()}
}

func stored(name, data string) entry {
	return entry{name: name, data: []byte(data), size: uint32(len(data)), packed: uint32(len(data)), crc: crc32.ChecksumIEEE([]byte(data))}
}

// rawZip writes entries with whatever they claim.
func rawZip(entries ...entry) []byte {
	var b, dir bytes.Buffer
	le := binary.LittleEndian
	for _, e := range entries {
		head := make([]byte, 26)
		le.PutUint16(head[0:], 20)
		le.PutUint16(head[2:], e.flags)
		le.PutUint16(head[4:], e.method)
		le.PutUint32(head[10:], e.crc)
		le.PutUint32(head[14:], e.packed)
		le.PutUint32(head[18:], e.size)
		le.PutUint16(head[22:], uint16(len(e.name)))
		at := uint32(b.Len())
		b.WriteString("PK\x03\x04")
		b.Write(head)
		b.WriteString(e.name)
		b.Write(e.data)
		dir.WriteString("PK\x01\x02\x14\x00")
		dir.Write(head)
		tail := make([]byte, 14)
		le.PutUint32(tail[10:], at)
		dir.Write(tail)
		dir.WriteString(e.name)
	}
	end := make([]byte, 18)
	le.PutUint16(end[4:], uint16(len(entries)))
	le.PutUint16(end[6:], uint16(len(entries)))
	le.PutUint32(end[8:], uint32(dir.Len()))
	le.PutUint32(end[12:], uint32(b.Len()))
	b.Write(dir.Bytes())
	b.WriteString("PK\x05\x06")
	b.Write(end)
	return b.Bytes()
}

// repeated yields a text n times without holding it.
func repeated(text string, n int) io.Reader { return &repeater{text: text, left: len(text) * n} }

type repeater struct {
	text     string
	at, left int
}

func (r *repeater) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && r.left > 0 {
		m := copy(p[n:min(len(p), n+r.left)], r.text[r.at:])
		n, r.left, r.at = n+m, r.left-m, (r.at+m)%len(r.text)
	}
	return n, nil
}

// hostile is a file that means harm, made when it is needed.
type hostile struct {
	name string
	data func(t testing.TB) (io.ReaderAt, int64)
	want []Code // one of; none: it must be read

	// memory is a bound of its own where the general one is known to be missed.
	memory int64
}

func ofBytes(f func(t testing.TB) []byte) func(testing.TB) (io.ReaderAt, int64) {
	return func(t testing.TB) (io.ReaderAt, int64) {
		b := f(t)
		return bytes.NewReader(b), int64(len(b))
	}
}

func ofText(s string) func(testing.TB) (io.ReaderAt, int64) {
	return ofBytes(func(testing.TB) []byte { return []byte(s) })
}

// endless is a file of one line of any size that is nowhere in memory.
type endless struct {
	head string
	size int64
}

func (e endless) ReadAt(p []byte, at int64) (int, error) {
	for i := range p {
		if at+int64(i) >= e.size {
			return i, io.EOF
		}
		p[i] = 'a'
		if at+int64(i) < int64(len(e.head)) {
			p[i] = e.head[at+int64(i)]
		}
	}
	return len(p), nil
}

func ofSize(head string, size int64) func(testing.TB) (io.ReaderAt, int64) {
	return func(testing.TB) (io.ReaderAt, int64) { return endless{head, size}, size }
}

func gzipped(t testing.TB, data io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, 9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// hostiles lists files of every format that are large, deep, endless or lying. It is no
// variable, so that only those in use are in memory.
func hostiles() []hostile {
	return []hostile{
		{"bomb.docx", ofBytes(func(t testing.TB) []byte {
			e := deflated(t, "word/document.xml", io.MultiReader(strings.NewReader("<w:document><w:body>"), repeated("<w:p><w:r><w:t>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</w:t></w:r></w:p>", 1<<20)))
			e.size = 1000
			return rawZip(stored("[Content_Types].xml", "<Types/>"), e)
		}), []Code{Bomb, TooLarge}, 0},
		{"bomb.doc", ofBytes(func(t testing.TB) []byte {
			return rawZip(deflated(t, "word/document.xml", repeated("<w:p/>", 16<<20)))
		}), []Code{Bomb, TooLarge, TooDeep}, 0},
		{"entries.docx", ofBytes(func(testing.TB) []byte {
			var e []entry
			for i := range 10_000 {
				e = append(e, stored(fmt.Sprintf("f%d", i), ""))
			}
			return rawZip(e...)
		}), []Code{Bomb}, 0},
		{"path.docx", ofBytes(func(testing.TB) []byte {
			return rawZip(stored("word/document.xml", "<w:document/>"), stored("../../x", "out"))
		}), []Code{Unsafe}, 0},
		{"windows.xlsx", ofBytes(func(testing.TB) []byte {
			return rawZip(stored("xl/workbook.xml", "<workbook/>"), stored(`C:\x`, "out"))
		}), []Code{Unsafe}, 0},
		{"overlap.docx", ofBytes(func(t testing.TB) []byte { // every name is the same bytes: 5,000 times their size
			b := rawZip(deflated(t, "word/document.xml", repeated("<w:p>aaaaaaaaaaaaaaaaaaaaaa</w:p>", 200_000)))
			return b
		}), []Code{Bomb, TooDeep, TooLarge, Empty}, 0},
		{"bad.docx", ofBytes(func(testing.TB) []byte {
			e := stored("word/document.xml", "<w:document><w:body><w:p><w:r><w:t>text</w:t></w:r></w:p></w:body></w:document>")
			e.crc++
			return rawZip(e)
		}), []Code{Malformed}, 0},
		{"locked.docx", ofBytes(func(testing.TB) []byte {
			e := stored("word/document.xml", "<w:document/>")
			e.flags = 1
			return rawZip(e)
		}), []Code{Encrypted}, 0},
		{"deep.docx", ofBytes(func(t testing.TB) []byte {
			return docxOf(t, strings.Repeat("<w:tbl><w:tr><w:tc>", 100_000))
		}), []Code{TooDeep}, 0},
		{"far.xlsx", ofBytes(func(t testing.TB) []byte {
			return xlsxOf(t, "", "S", strings.Repeat(`<row r="1048576"><c r="XFD1048576" t="str"><v>x</v></c></row>`, 20_000))
		}), nil, 0},
		{"bomb.xlsx", ofBytes(func(t testing.TB) []byte {
			return rawZip(stored("xl/workbook.xml", `<workbook><sheets><sheet name="a" id="r"/></sheets></workbook>`),
				stored("xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="r" Type="worksheet" Target="worksheets/s.xml"/></Relationships>`),
				deflated(t, "xl/worksheets/s.xml", io.MultiReader(strings.NewReader("<sheetData>"), repeated(`<row><c t="str"><v>aaaaaaaa</v></c></row>`, 2<<20))))
		}), []Code{Bomb, TooLarge}, 0},
		{"shared.xlsx", ofBytes(func(t testing.TB) []byte { // one long text, shown a million times
			long := strings.Repeat("long text ", 10_000)
			return xlsxOf(t, "<si><t>"+long+"</t></si>", "S", strings.Repeat(`<row><c t="s"><v>0</v></c></row>`, 100_000))
		}), []Code{TooLarge}, 0},
		{"bomb.gz", ofBytes(func(t testing.TB) []byte { return gzipped(t, repeated("a", 128<<20)) }), []Code{Bomb, TooLarge}, 0},
		{"twice.gz", ofBytes(func(t testing.TB) []byte {
			return gzipped(t, bytes.NewReader(gzipped(t, bytes.NewReader(gzipped(t, strings.NewReader("text"))))))
		}), []Code{TooDeep}, 0},
		{"line.txt", ofSize("", 1<<30), []Code{TooLarge}, 0},
		{"line.csv", ofSize("a,b,", 1<<30), []Code{TooLarge}, 0},
		{"line.json", ofSize(`{"a": "`, 1<<30), []Code{TooLarge}, 0},
		{"line.md", ofSize("# ", 1<<30), []Code{TooLarge}, 0},
		{"line.html", ofSize("<!doctype html><p>", 1<<30), []Code{TooLarge}, 0},
		{"line.eml", ofSize("From: a@b\nTo: c@d\n\n", 1<<30), []Code{TooLarge}, 0},
		{"line.pdf", ofSize("%PDF-1.7\n", 1<<29), []Code{Malformed, TooSlow}, 0},
		{"note.txt", ofText("Note " + strings.Repeat("a", 200_000)), nil, 0},
		{"deep.json", ofText(strings.Repeat("[", 1<<20)), []Code{TooDeep}, 0},
		{"deep2.json", ofText(strings.Repeat(`{"a":`, 1<<20)), []Code{TooDeep}, 0},
		{"deep.jsonl", ofText(strings.Repeat("[", 1<<20) + "\n"), []Code{TooDeep}, 0},
		{"numbers.json", ofText("[" + strings.Repeat("0,", 1<<20) + "0]"), nil, 0},
		{"deep.ipynb", ofText(`{"nbformat":4,"cells":` + strings.Repeat("[", 1<<20)), []Code{Malformed, TooDeep}, 0},
		{"deep.html", ofText("<!doctype html>" + strings.Repeat("<div>", 100_000) + "x"), []Code{TooDeep}, 0},
		{"many.html", ofText("<!doctype html>" + strings.Repeat("<i>", 5<<20)), []Code{TooLarge, TooDeep}, 0},
		{"format.html", ofText("<!doctype html>" + strings.Repeat("<b><i></b>", 40_000) + "x"), []Code{TooDeep, TooSlow, Empty, ""}, 0},
		{"span.html", ofText("<!doctype html><table>" + strings.Repeat("<tr>"+strings.Repeat("<td colspan=99999 rowspan=99999>x", 40), 500) + "</table>"), []Code{"", TooLarge}, 0},
		{"attributes.html", ofText("<!doctype html><p " + strings.Repeat("a=b ", 4<<20) + ">x</p>"), []Code{TooLarge}, 0},
		{"entities.xml", ofText(`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><a><p>` + strings.Repeat("&c;", 1000) + `</p></a>`), []Code{""}, 0},
		{"doctype.xml", ofText(`<?xml version="1.0"?><!DOCTYPE a [` + strings.Repeat(`<!ENTITY a "b">`, 1<<20)), []Code{Bomb}, 0},
		{"deep.xml", ofText(`<?xml version="1.0"?>` + strings.Repeat("<a>", 1<<20)), []Code{TooDeep}, 0},
		{"attributes.xml", ofText(`<?xml version="1.0"?><a ` + strings.Repeat(`b="c" `, 1<<20) + "/>"), []Code{TooLarge}, 0},
		{"quotes.md", ofText(strings.Repeat(">", 1<<20) + " x"), nil, 0},
		{"brackets.md", ofText(strings.Repeat("[", 1<<20)), nil, 0},
		{"links.md", ofText(strings.Repeat("[a](", 300_000)), nil, 0},
		{"links2.md", ofText(strings.Repeat("](", 500_000)), nil, 0},
		{"ticks.md", ofText(strings.Repeat("`` ` ``` ", 200_000)), nil, 0},
		{"stars.md", ofText(strings.Repeat("*a _b ", 300_000)), nil, 0},
		{"tags.md", ofText(strings.Repeat("<a ", 500_000)), nil, 0},
		{"comments.md", ofText(strings.Repeat("<!-- ", 300_000)), nil, 0},
		{"lists.md", ofText(func() string {
			var b strings.Builder
			for i := range 2000 {
				b.WriteString(strings.Repeat(" ", 2*i) + "- x\n")
			}
			return b.String()
		}()), nil, 0},
		{"table.md", ofText("a" + strings.Repeat("|", 200_000) + "\n" + strings.Repeat("-|", 200_000) + "\n"), nil, 0},
		{"quotes.csv", ofText(strings.Repeat("\"a\n", 1<<20)), nil, 0},
		{"quotes2.csv", ofText(strings.Repeat("a,\"b\n", 1<<20)), nil, 0},
		{"columns.csv", ofText(strings.Repeat(",", 4<<20) + "x\n"), nil, 0},
		{"parts.eml", ofText("From: a@b\nTo: c@d\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\nContent-Type: text/plain\n\nx\n", 20_000)), []Code{Bomb}, 0},
		{"nested.eml", ofText(nestedMail(60)), nil, 0},
		{"deep.eml", ofText("From: a@b\nTo: c@d\nMIME-Version: 1.0\n" + deepMail(40)), []Code{TooDeep}, 0},
		{"fields.eml", ofText(strings.Repeat("X-A: b\n", 1<<20) + "\nx"), nil, 0},
		{"attached.eml", ofBytes(func(t testing.TB) []byte {
			bomb := gzipped(t, repeated("a", 64<<20))
			return []byte("From: a@b\nTo: c@d\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nThe message stays.\n--b\nContent-Disposition: attachment; filename=x.gz\nContent-Transfer-Encoding: base64\n\n" + base64.StdEncoding.EncodeToString(bomb) + "\n--b--\n")
		}), nil, 0},
		{"spine.epub", ofBytes(func(t testing.TB) []byte {
			return zipOf(t, "mimetype", "application/epub+zip", "META-INF/container.xml", `<container><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>`,
				"c.opf", `<package><manifest><item id="a" href="a.xhtml"/></manifest><spine>`+strings.Repeat(`<itemref idref="a"/>`, 100_000)+`</spine></package>`,
				"a.xhtml", "<html><body><p>"+strings.Repeat("long ", 20_000)+"</p></body></html>")
		}), nil, 0},
		{"slides.pptx", ofBytes(func(t testing.TB) []byte {
			return zipOf(t, "ppt/presentation.xml", "<p>"+strings.Repeat(`<p:sldId r:id="r1"/>`, 100_000)+"</p>",
				"ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="r1" Type="x/slide" Target="slides/s.xml"/></Relationships>`,
				"ppt/slides/s.xml", "<sld><sp><txBody><a:p><a:r><a:t>"+strings.Repeat("long ", 5_000)+"</a:t></a:r></a:p></txBody></sp></sld>")
		}), nil, 0},
		{"cues.vtt", ofText("WEBVTT\n\n" + strings.Repeat("00:00.000 --> 00:01.000\n<v A><b><i>\n\n", 100_000) + "00:00.000 --> 00:01.000\nsaid\n"), nil, 0},
		{"loop.pdf", ofText("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Count 99999999/Kids[2 0 R 2 0 R 3 0 R]/Parent 2 0 R>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/Resources<</XObject<</A 4 0 R>>>>/Contents 5 0 R>>endobj 4 0 obj<</Type/XObject/Subtype/Form/Resources<</XObject<</A 4 0 R>>>>/Length 8>>stream\n/A Do /A Do\nendstream endobj 5 0 obj<</Length 6>>stream\n/A Do\nendstream endobj trailer<</Root 1 0 R/Prev 0>>\nstartxref\n0\n%%EOF"), []Code{Malformed, Empty, Scanned, TooLarge, TooSlow},
			// A form that draws itself makes PDFium recurse until the stack of its WebAssembly
			// engine is full, which grows to 100 MB by copying, or its memory of 48 MB is.
			160 << 20},
		{"pages.pdf", ofBytes(func(testing.TB) []byte {
			return bytes.Replace(pdfOf([]placed{{72, 72, 12, "text"}}), []byte("/Count 1"), []byte("/Count 9999999"), 1)
		}), []Code{TooLarge, Malformed, ""}, 0},
	}
}

func nestedMail(n int) string {
	s := "From: a@b\nTo: c@d\nSubject: inner\n\nThe innermost text.\n"
	for i := range n {
		s = fmt.Sprintf("From: a@b\nTo: c@d\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b%d\n\n--b%d\nContent-Type: text/plain\n\nlevel\n--b%d\nContent-Type: message/rfc822\n\n%s\n--b%d--\n", i, i, i, s, i)
	}
	return s
}

func deepMail(n int) string {
	s := "Content-Type: text/plain\n\nx\n"
	for i := range n {
		s = fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n%s\n--b%d--\n", i, i, s, i)
	}
	return s
}

// Bounds of what a hostile file may cost, the first start of the PDF engine apart. Time
// is that of the processor, collecting garbage on other cores included, which is more
// than the clock shows on an idle machine; a busy one makes it up to twice as much.
const (
	hostileTime   = 2 * time.Second
	hostileMemory = 64 << 20
	busyFactor    = 2
)

func TestHostileFiles(t *testing.T) {
	if _, err := readPDF(t, "start.pdf", pdfOf(column(72, 72, 12, "start"))); err != nil {
		t.Fatal(err)
	}
	for _, h := range hostiles() {
		t.Run(h.name, func(t *testing.T) {
			if testing.Short() && (strings.Contains(h.name, "bomb") || strings.HasSuffix(h.name, ".pdf") || h.name == "attached.eml") {
				t.Skip("takes seconds to make or to read")
			}
			r, size := h.data(t)
			began, used := time.Now(), processTime()
			got, err := shared.Extract(t.Context(), h.name, r, size)
			waited, took := time.Since(began), processTime()-used
			code := Code("")
			if err != nil {
				refusal := RefusalOf(err)
				if refusal == nil {
					t.Fatalf("%v is no Refusal", err)
				}
				if code = refusal.Code; strings.Contains(fmt.Sprint(refusal.Err), "panic") {
					t.Fatal(refusal.Err)
				}
			} else {
				checkText(t, h.name, got)
			}
			if want := h.want; len(want) == 0 {
				if code != "" {
					t.Errorf("refused: %v", err)
				}
			} else if !contain(want, code) {
				t.Errorf("got %v, want one of %q", err, want)
			}
			if took > busyFactor*hostileTime {
				t.Errorf("it took %v of the processor", took)
			}
			t.Logf("%v of the processor, %v by the clock: %v", took.Round(time.Millisecond), waited.Round(time.Millisecond), err)
		})
	}
	// After all of that the next file is read as ever.
	if got := mustRead(t, "next.txt", "The next item goes on."); got.Text != "The next item goes on." {
		t.Errorf("the next text is %q", got.Text)
	}
}

func contain(codes []Code, code Code) bool {
	for _, c := range codes {
		if c == code {
			return true
		}
	}
	return false
}

// TestHostileMemory reads each hostile file in a process of its own and compares the
// most memory that process had with what it needs to make the file.
func TestHostileMemory(t *testing.T) {
	if name := os.Getenv("EXTRACT_HOSTILE"); name != "" {
		measureHostile(t, name)
		return
	}
	if testing.Short() {
		t.Skip("starts a process for each file")
	}
	if runtime.GOOS != "linux" {
		t.Skip("needs VmHWM of Linux")
	}
	for _, h := range hostiles() {
		t.Run(h.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestHostileMemory$", "-test.v")
			cmd.Env = append(os.Environ(), "EXTRACT_HOSTILE="+h.name)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			_, rest, ok := strings.Cut(string(out), "MEMORY ")
			field, _, _ := strings.Cut(rest, "\n")
			used, err := strconv.ParseInt(strings.TrimSpace(field), 10, 64)
			if !ok || err != nil {
				t.Fatalf("no measure in %s", out)
			}
			t.Logf("%.1f MB beyond the file", float64(used)/(1<<20))
			if bound := max(h.memory, hostileMemory); used > bound {
				t.Errorf("%.1f MB of memory beyond the file, the bound is %d", float64(used)/(1<<20), bound>>20)
			}
		})
	}
}

// measureHostile reads one file and prints the memory it took, that of the file and of a
// started PDF engine not counted.
func measureHostile(t *testing.T, name string) {
	if strings.HasSuffix(name, ".pdf") {
		if _, err := readPDF(t, "start.pdf", pdfOf(column(72, 72, 12, "start"))); err != nil {
			t.Fatal(err)
		}
	}
	r, size := hostileNamed(t, name)
	debug.FreeOSMemory()
	before := resident(t)
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Skipf("cannot reset the peak of memory: %v", err)
	}
	_, err := shared.Extract(t.Context(), name, r, size)
	t.Logf("%v", err)
	fmt.Printf("\nMEMORY %d\n", peak(t)-before)
}

func hostileNamed(t *testing.T, name string) (io.ReaderAt, int64) {
	t.Helper()
	for _, h := range hostiles() {
		if h.name == name {
			return h.data(t)
		}
	}
	t.Fatalf("there is no %s", name)
	return nil, 0
}

func resident(t *testing.T) int64 { return status(t, "VmRSS:") }
func peak(t *testing.T) int64     { return status(t, "VmHWM:") }

func status(t *testing.T, key string) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == key {
			n, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	t.Fatalf("no %s", key)
	return 0
}
