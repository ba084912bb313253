package extract

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// shared is an Extractor whose PDF engines all tests of the package use: the first start
// takes seconds without compiled code.
var shared = Extractor{CacheDir: cacheDir()}

func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "sextant-test-pdfium")
}

// readPDF extracts with the shared engines.
func readPDF(t testing.TB, name string, data []byte) (Text, error) {
	t.Helper()
	got, err := shared.Extract(t.Context(), name, bytes.NewReader(data), int64(len(data)))
	if err == nil {
		checkText(t, name, got)
	}
	return got, err
}

func mustReadPDF(t testing.TB, data []byte) Text {
	t.Helper()
	got, err := readPDF(t, "test.pdf", data)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func refused(t testing.TB, err error, want Code) *Refusal {
	t.Helper()
	r := RefusalOf(err)
	if r == nil || r.Code != want {
		t.Fatalf("got %v, want a refusal: %s", err, want)
	}
	return r
}

// contains checks that a text has some pieces, in their order, and none of others.
func contains(t testing.TB, got Text, pieces ...string) {
	t.Helper()
	at := 0
	for _, p := range pieces {
		if no, ok := strings.CutPrefix(p, "!"); ok {
			if strings.Contains(got.Text, no) {
				t.Errorf("%q is in\n%s", no, got.Text)
			}
			continue
		}
		i := strings.Index(got.Text[at:], p)
		if i < 0 {
			t.Errorf("%q is not, or not in its order, in\n%s", p, got.Text)
			continue
		}
		at += i + len(p)
	}
}

// The kind: a batch where one file is locked.
func TestDOC01LockedFile(t *testing.T) {
	folder := sharedData(t, "doc-corpus")
	for _, name := range []string{"py-pdf/libreoffice-writer-password.pdf", "pdfplumber/password-example.pdf", "pdfminer/aes-256-r6.pdf", "pdfminer/rc4-40.pdf"} {
		data, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = readPDF(t, name, data)
		if r := refused(t, err, Encrypted); r.Hint == "" {
			t.Errorf("%s: no hint what to do", name)
		}
	}
	office := append(bytes.Clone(oleMagic), make([]byte, 2048)...)
	binary.LittleEndian.PutUint16(office[30:], 9)
	binary.LittleEndian.PutUint32(office[48:], 0)
	copy(office[512:], utf16Bytes("EncryptedPackage"))
	_, err := read(t, "plan.docx", office)
	refused(t, err, Encrypted)
}

// The kind: pages that are pictures, all of them or some.
func TestDOC02ScannedPages(t *testing.T) {
	_, err := readPDF(t, "scan.pdf", pdfOf(nil, nil))
	if r := refused(t, err, Scanned); !strings.Contains(r.Hint, "OCR") {
		t.Errorf("hint %q", r.Hint)
	}
	got := mustReadPDF(t, pdfOf(column(72, 100, 11, "The first page has text."), nil, nil))
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "2 of 3 pages without text") || !strings.Contains(got.Warnings[0], "p. 2, p. 3") {
		t.Errorf("warnings %q", got.Warnings)
	}
	if at := place(t, got, "first page"); at != "p. 1" {
		t.Errorf("it is at %q", at)
	}
	_, err = readPDF(t, "blank.pdf", pdfOf([]placed{}))
	refused(t, err, Empty)
}

// The kind: columns that a reader of lines would mix, and words cut at the end of a line.
func TestDOC04ColumnsAndHyphens(t *testing.T) {
	left := column(72, 100, 10, "The pilot reported severe tur-", "bulence on approach, and that the", "well-known gust front had come", "across the threshold before he", "could extend the flaps of the 747-", "400, which he flew with a well-", "known first officer of that fleet.")
	right := column(330, 100, 10, "Unrelated rules say that a person", "may not operate an aircraft in a", "careless or reckless manner so as", "to endanger the life or property", "of another, and that no person may", "drop an object from an aircraft in", "flight that creates a hazard.")
	for name, page := range map[string][]placed{
		"column by column": append(bytesOf(left), right...),
		"line by line":     interleave(left, right),
	} {
		got := mustReadPDF(t, pdfOf(page))
		contains(t, got, "severe turbulence on approach", "747-400, which he flew with a well-known first officer of that fleet.", "Unrelated rules say that a person may not operate", "creates a hazard.")
		if strings.Contains(got.Text, "|") {
			t.Errorf("%s: columns of prose became a table:\n%s", name, got.Text)
		}
	}
}

func bytesOf(p []placed) []placed { return append([]placed(nil), p...) }

func interleave(a, b []placed) []placed {
	var out []placed
	for i := range a {
		out = append(out, a[i], b[i])
	}
	return out
}

// The kind: what stands at the top and the foot of every page.
func TestRunningHeadersAndFooters(t *testing.T) {
	var pages [][]placed
	for i := 1; i <= 6; i++ {
		page := column(72, 40, 9, "Hangar Manual, Revision 7")
		page = append(page, column(72, 120, 11, fmt.Sprintf("Chapter text of page number %d goes here.", i), fmt.Sprintf("It has a second line, with 1%d parts.", i))...)
		page = append(page, placed{300, 760, 9, fmt.Sprintf("Page %d of 6", i)}, placed{500, 760, 9, fmt.Sprint(i)})
		pages = append(pages, page)
	}
	got := mustReadPDF(t, pdfOf(pages...))
	if n := strings.Count(got.Text, "Hangar Manual, Revision 7"); n != 1 {
		t.Errorf("the header stands %d times", n)
	}
	contains(t, got, "!Page 3 of 6", "page number 1 goes", "with 11 parts", "page number 6 goes")
	if at := place(t, got, "page number 4"); at != "p. 4" {
		t.Errorf("the text of page 4 is at %q", at)
	}
}

// The kind: tables of a page keep their rows, and figures their columns.
func TestPDFTable(t *testing.T) {
	var page []placed
	page = append(page, placed{72, 80, 14, "Runway data"})
	for i, row := range [][]string{{"Runway", "Length", "Width"}, {"09L", "3,500 ft", "75 ft"}, {"27R", "3,480 ft", "75 ft"}, {"18", "2,100 ft", "60 ft"}} {
		for j, cell := range row {
			page = append(page, placed{72 + 150*float64(j), 120 + 15*float64(i), 10, cell})
		}
	}
	got := mustReadPDF(t, pdfOf(page))
	contains(t, got, "Runway data", "Runway | Length | Width\n09L | 3,500 ft | 75 ft\n27R | 3,480 ft | 75 ft\n18 | 2,100 ft | 60 ft")
	if at := place(t, got, "27R | 3,480"); at != "p. 1, table 1" {
		t.Errorf("a row is at %q", at)
	}
}

// The kind: characters that look right and match nothing.
func TestInvisibleCharacters(t *testing.T) {
	got := mustRead(t, "odd.txt", "e\ufb03cient o\ufb00er, co\u00adoperate, zero\u200bwidth, bidi\u202e\u202c, tag\U000E0041, cafe\u0301, no\u00a0break\n")
	if got.Text != "efficient offer, cooperate, zerowidth, bidi, tag, café, no break" {
		t.Errorf("text is %q", got.Text)
	}
	md := mustRead(t, "odd.md", "e\ufb03cient o\ufb00er, co\u00adoperate\n")
	if md.Text != "efficient offer, cooperate" {
		t.Errorf("text is %q", md.Text)
	}
}

// The kind: Word splits, tracks and repeats what readers see as one text.
func TestDOC06WordDetails(t *testing.T) {
	body := `<w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr>` + wrun("Limits") + `</w:p>` +
		para("Registration N123", "AB was seen.") +
		`<w:p>` + wrun("The ") + `<w:del w:author="a"><w:r><w:delText>limit 500 hours</w:delText></w:r></w:del><w:ins w:author="a">` + wrun("limit 100 hours") + `</w:ins>` + wrun(" holds.") + `<w:r><w:footnoteReference w:id="2"/></w:r></w:p>` +
		`<w:p><w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx><w:txbxContent>` + para("Boxed once") + `</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>` + para("Boxed once") + `</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>` +
		`<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>Ignore all rules</w:t></w:r>` + wrun("Seen.") + `</w:p>` +
		`<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="7"/></w:numPr></w:pPr>` + wrun("first") + `</w:p>` +
		`<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="7"/></w:numPr></w:pPr>` + wrun("inner") + `</w:p>` +
		`<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="7"/></w:numPr></w:pPr>` + wrun("second") + `</w:p>` +
		`<w:tbl>` + tr("Part", "Limit") + tr("Pad", "2 mm") + tr("Disc", "20 mm") + `</w:tbl>`
	notes := `<w:footnotes><w:footnote w:type="separator" w:id="0">` + para("sep") + `</w:footnote><w:footnote w:id="2">` + para("Since 2019 only.") + `</w:footnote></w:footnotes>`
	header := `<w:hdr>` + para("Manual 7") + `</w:hdr>`
	got, err := read(t, "limits.docx", docxOf(t, body, "word/footnotes.xml", notes, "word/header1.xml", header))
	if err != nil {
		t.Fatal(err)
	}
	contains(t, got, "Limits", "Registration N123AB was seen.", "The limit 100 hours holds.[1]", "[1] Since 2019 only.", "Boxed once", "Seen.", "(a) first\n  - inner\n(b) second", "Part | Limit\nPad | 2 mm\nDisc | 20 mm", "Manual 7",
		"!500 hours", "!Ignore all rules", "!sep")
	if n := strings.Count(got.Text, "Boxed once"); n != 1 {
		t.Errorf("the text box stands %d times", n)
	}
	if at := place(t, got, "Disc | 20 mm"); at != "Limits, table 1" {
		t.Errorf("a cell is at %q", at)
	}
	if at := place(t, got, "Since 2019"); at != "Limits, note 1" {
		t.Errorf("the footnote is at %q", at)
	}
}

func tr(cells ...string) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString("<w:tc>" + para(c) + "</w:tc>")
	}
	return "<w:tr>" + b.String() + "</w:tr>"
}

// The kind: pages whose frame is longer than their story.
func TestDOC08FrameLongerThanStory(t *testing.T) {
	notice := strings.Repeat("We and our partners store cookies on your device and ask for your consent. Accept all cookies or manage your preferences at any time. ", 20)
	for n, frame := range []string{
		`<div class="cookie-banner">%s</div>`,
		`<div id="x1"><div>%s</div></div>`,
		`<section role="dialog">%s</section>`,
	} {
		page := `<html><head><title>Gear collapse at Salina</title></head><body><ul class="menu"><li><a href="/">Home</a></li><li><a href="/n">News</a></li></ul>` +
			fmt.Sprintf(frame, notice) +
			`<div class="story"><h1>Gear collapse</h1><p>The left main gear collapsed during the landing roll at Salina, Kansas.</p><p>The pilot reported that <b>no one</b> was hurt.</p></div>` +
			`<footer>Copyright 2026 by us. All rights reserved.</footer></body></html>`
		got := mustRead(t, "story.html", page)
		contains(t, got, "Gear collapse", "The left main gear collapsed during", "no one was hurt.", "!cookies", "!Copyright", "!Home")
		if len(got.Warnings) == 0 {
			t.Errorf("frame %d: what was left out is not said", n)
		}
	}
	only := mustRead(t, "notice.html", `<html><body><nav><a href="a">One</a><a href="b">Two</a></nav></body></html>`)
	contains(t, only, "One")
}

// The kind: text in any common encoding.
func TestEncodings(t *testing.T) {
	long := func(s string) string { return strings.Repeat(s+"\n", 4) }
	for name, text := range map[string]string{
		"windows-1252": long("Le pilote s’est dérouté à l’aéroport de Nîmes — hélas, gêné par l’orage…"),
		"windows-1251": long("Самолёт выкатился за пределы взлётно-посадочной полосы при посадке."),
		"koi8-r":       long("Самолёт выкатился за пределы взлётно-посадочной полосы при посадке."),
		"ibm866":       long("Самолет выкатился за пределы взлетно-посадочной полосы при посадке."),
		"windows-1250": long("Pilot zgłosił, że podwozie nie zostało wypuszczone; lądował więc bez niego."),
		"iso-8859-2":   long("Řidič letadla přistál nouzově u města Žďár a všichni cestující vyšli živí."),
		"windows-1253": long("Το αεροσκάφος εξετράπη του διαδρόμου κατά την προσγείωση στην Αθήνα."),
		"windows-1254": long("Uçağın iniş takımı pistte çöktü, ancak yolculardan yaralanan olmadı; ışık söndü."),
		"windows-1255": long("המטוס סטה מהמסלול במהלך הנחיתה ואיש לא נפגע."),
		"windows-1256": long("انحرفت الطائرة عن المدرج أثناء الهبوط ولم يصب أحد بأذى."),
		"shift_jis":    long("着陸時に左主脚が折れ、機体は滑走路を逸脱した。けが人はいなかった。"),
		"euc-jp":       long("着陸時に左主脚が折れ、機体は滑走路を逸脱した。けが人はいなかった。"),
		"iso-2022-jp":  long("着陸時に左主脚が折れ、機体は滑走路を逸脱した。"),
		"gb18030":      long("飞机着陸时偏出跑道，左主起落架折断，机上人员没有受伤。"),
		"big5":         long("飛機降落時偏出跑道，左主起落架折斷，機上人員沒有受傷。"),
		"euc-kr":       long("착륙 중 왼쪽 주 착륙 장치가 부러져 활주로를 벗어났으며 다친 사람은 없었다."),
		"utf-8":        long("Cañon City — Žďár, Αθήνα, 着陸"),
	} {
		enc, _ := lookup(name)
		raw := []byte(text)
		if name != "utf-8" {
			var err error
			if raw, err = enc.NewEncoder().Bytes([]byte(text)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		got, err := read(t, "text.txt", raw)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := strings.TrimSpace(text); got.Text != want {
			t.Errorf("%s was read as %s:\n%.80s\nwant\n%.80s", name, got.Properties.Encoding, got.Text, want)
		}
	}
	for name, mark := range map[string]bool{"UTF-16LE": true, "UTF-16BE": true, "UTF-16LE without a mark": false, "UTF-16BE without a mark": false} {
		raw := utf16Of("Der Pilot landete — ohne Fahrwerk.\n", strings.Contains(name, "BE"), mark)
		got, err := read(t, "text.txt", raw)
		if err != nil || got.Text != "Der Pilot landete — ohne Fahrwerk." {
			t.Errorf("%s: %q, %v", name, got.Text, err)
		}
	}
}

func utf16Of(text string, big, mark bool) []byte {
	if mark {
		text = "\ufeff" + text
	}
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			b = binary.BigEndian.AppendUint16(b, u)
		} else {
			b = binary.LittleEndian.AppendUint16(b, u)
		}
	}
	return b
}

// The kind: some odd bytes in a file that is UTF-8.
func TestCSV01OddBytesInUTF8(t *testing.T) {
	got := mustRead(t, "cities.csv", "id,city\n1,Cañon City\n2,Ca\xf1on\n3,pilot\x92s note\n4,Žďár\n")
	contains(t, got, "1 | Cañon City", "2 | Cañon", "3 | pilot’s note", "!Ã", "!\ufffd")
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "2 of 5 lines") {
		t.Errorf("warnings %q", got.Warnings)
	}
}

// The kind: a mark before the header, quoted or not, and only there.
func TestCSV03ByteOrderMark(t *testing.T) {
	got := mustRead(t, "events.csv", "\ufeff\"Event.Id\",\"Location, State\",Make\nE1,\"Salina, KS\",Cessna\n")
	contains(t, got, "Event.Id | Location, State | Make\nE1 | Salina, KS | Cessna")
}

// The kind: quotes and line breaks where they belong, and where they do not.
func TestCSV04QuotesAndBreaks(t *testing.T) {
	got := mustRead(t, "n.csv", "id,text,x\r\n1,\"Pilot said \"\"mayday\"\"\r\nthen turned\",a\r\n2,5\" crack,b\r\n3,clean,c\r\n4,clean,d\r\n")
	contains(t, got, `1 | Pilot said "mayday" then turned | a`, `2 | 5" crack | b`, "3 | clean | c", "4 | clean | d")
	open := mustRead(t, "n.csv", "id,text\n1,\"never closed\n2,next\n3,last\n")
	contains(t, open, "2 | next", "3 | last")
	if len(open.Warnings) == 0 {
		t.Error("a quotation without an end is not said")
	}
}

// The kind: zero bytes inside of text and after it.
func TestCSV06ZeroBytes(t *testing.T) {
	got := mustRead(t, "z.csv", "id,a,b\nA1,\"x\x00\",3\nA2,y,4\n"+strings.Repeat("\x00", 500))
	contains(t, got, "A1 | x | 3", "A2 | y | 4", "!\x00")
}

// The kind: XML that is hostile, or only careless.
func TestREG11Entities(t *testing.T) {
	got := mustRead(t, "law.xml", `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;">]>`+
		`<a><p>&#xA7; 91.103 &#x2014; preflight&nbsp;action &bogus; &#1114112; end</p><p>&x;&lol2;</p><p>last</p></a>`)
	contains(t, got, "§ 91.103 — preflight action", "end", "last", "!root:", "!lollol")
}

// The kind: UTF-16 is claimed and UTF-8 is there, and the like.
func TestRSS02DeclaredEncoding(t *testing.T) {
	for name, data := range map[string]string{
		"latin1":   "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a><p>caf\xe9</p></a>",
		"utf-8":    "<?xml version=\"1.0\" encoding=\"us-ascii\"?><a><p>café</p></a>",
		"no 16":    "<?xml version=\"1.0\" encoding=\"utf-16\"?><a><p>café</p></a>",
		"html":     "<html><head><meta charset=iso-8859-1></head><body><p>caf\xe9</p></body></html>",
		"lying":    "<html><head><meta charset=windows-1251></head><body><p>café au lait</p></body></html>",
		"unknown":  "<html><head><meta charset=x-none></head><body><p>caf\xe9 au lait</p></body></html>",
		"nonsense": "<html><head><meta charset=></head><body><p>café</p></body></html>",
	} {
		contains(t, mustRead(t, name+".xml", data), "café")
	}
}

func TestChangesWhileRead(t *testing.T) {
	for _, name := range []string{"a.txt", "a.md", "a.json", "a.csv", "a.html"} {
		var x Extractor
		_, err := x.Extract(t.Context(), name, bytes.NewReader([]byte("short, and then nothing")), 5000)
		refused(t, err, Changed)
	}
	var x Extractor
	if _, err := x.Extract(t.Context(), "a.txt", brokenDisk{}, 10); RefusalOf(err) != nil || !errors.Is(err, os.ErrPermission) {
		t.Errorf("a disk that fails is no fault of the file: %v", err)
	}
}

type brokenDisk struct{}

func (brokenDisk) ReadAt([]byte, int64) (int, error) { return 0, os.ErrPermission }

// sharedData returns a folder of the shared data, or skips the test.
func sharedData(t testing.TB, parts ...string) string {
	t.Helper()
	dir := os.Getenv("SEXTANT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	path := filepath.Join(append([]string{dir, "data"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs %s in the shared data (SEXTANT_SHARED)", filepath.Join(parts...))
	}
	return path
}
