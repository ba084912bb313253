package extract

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// zipOf builds an archive of names and contents in turn.
func zipOf(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i+1 < len(pairs); i += 2 {
		f, err := w.Create(pairs[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(pairs[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const (
	docxRelations = `<Relationships xmlns="x">` +
		`<Relationship Id="r1" Type="http://x/styles" Target="styles.xml"/>` +
		`<Relationship Id="r2" Type="http://x/numbering" Target="numbering.xml"/>` +
		`<Relationship Id="r3" Type="http://x/footnotes" Target="footnotes.xml"/>` +
		`<Relationship Id="r4" Type="http://x/header" Target="header1.xml"/></Relationships>`
	docxStyleSheet = `<w:styles><w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>` +
		`<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/><w:basedOn w:val="H1"/></w:style></w:styles>`
	docxNumbering = `<w:numbering><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%1)"/></w:lvl>` +
		`<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="0"/></w:num></w:numbering>`
)

// docxOf builds a document around the content of its body.
func docxOf(t testing.TB, body string, more ...string) []byte {
	t.Helper()
	return zipOf(t, append([]string{
		"[Content_Types].xml", "<Types/>",
		"word/_rels/document.xml.rels", docxRelations,
		"word/styles.xml", docxStyleSheet,
		"word/numbering.xml", docxNumbering,
		"word/document.xml", `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://x"><w:body>` + body + `</w:body></w:document>`,
	}, more...)...)
}

func para(runs ...string) string {
	return "<w:p>" + wrun(runs...) + "</w:p>"
}

func wrun(texts ...string) string {
	var b strings.Builder
	for _, s := range texts {
		b.WriteString(`<w:r><w:t xml:space="preserve">` + s + `</w:t></w:r>`)
	}
	return b.String()
}

// xlsxOf builds a workbook of sheets, each a name and the content of its sheetData.
func xlsxOf(t testing.TB, shared string, sheets ...string) []byte {
	t.Helper()
	var list, relations strings.Builder
	pairs := []string{"[Content_Types].xml", "<Types/>"}
	for i := 0; i+1 < len(sheets); i += 2 {
		n := i/2 + 1
		fmt.Fprintf(&list, `<sheet name="%s" sheetId="%d" r:id="rId%d"/>`, sheets[i], n, n)
		fmt.Fprintf(&relations, `<Relationship Id="rId%d" Type="http://x/worksheet" Target="worksheets/sheet%d.xml"/>`, n, n)
		pairs = append(pairs, fmt.Sprintf("xl/worksheets/sheet%d.xml", n), "<worksheet><sheetData>"+sheets[i+1]+"</sheetData></worksheet>")
	}
	relations.WriteString(`<Relationship Id="s" Type="http://x/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="t" Type="http://x/styles" Target="styles.xml"/>`)
	pairs = append(pairs,
		"xl/workbook.xml", "<workbook><sheets>"+list.String()+"</sheets></workbook>",
		"xl/_rels/workbook.xml.rels", "<Relationships>"+relations.String()+"</Relationships>",
		"xl/sharedStrings.xml", "<sst>"+shared+"</sst>",
		"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd&quot;T&quot;hh:mm"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="10"/><xf numFmtId="164"/></cellXfs></styleSheet>`)
	return zipOf(t, pairs...)
}

// placed is text at a place of a PDF page, in points from the upper left corner.
type placed struct {
	x, y, size float64
	text       string
}

// pdfOf builds a PDF of US letter pages. Text is set in Helvetica; a page of nil is a
// picture. Characters outside of ASCII are octal escapes of WinAnsi.
func pdfOf(pages ...[]placed) []byte {
	var b bytes.Buffer
	var offsets []int
	object := func(body string) int {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets), body)
		return len(offsets)
	}
	b.WriteString("%PDF-1.7\n")
	object("<</Type/Catalog/Pages 2 0 R>>")
	kids := make([]string, len(pages))
	for i := range pages {
		kids[i] = fmt.Sprintf("%d 0 R", 4+2*i)
	}
	object(fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(pages), strings.Join(kids, " ")))
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	for _, page := range pages {
		object(fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>", len(offsets)+2))
		var c strings.Builder
		if page == nil {
			c.WriteString("q 200 0 0 200 100 400 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q")
		}
		for _, p := range page {
			text := strings.NewReplacer("\\", `\\`, "(", `\(`, ")", `\)`).Replace(p.text)
			fmt.Fprintf(&c, "BT /F1 %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET\n", p.size, p.x, 792-p.y, text)
		}
		object(fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", c.Len(), c.String()))
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
	return b.Bytes()
}

// column sets lines of text below each other.
func column(x, y, size float64, lines ...string) []placed {
	var out []placed
	for i, l := range lines {
		out = append(out, placed{x, y + float64(i)*size*1.2, size, l})
	}
	return out
}
