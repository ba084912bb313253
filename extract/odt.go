package extract

import (
	"context"
	"errors"
	"io"
	"strings"
)

// readODT reads an OpenDocument text (ODF 1.3): headings, lists, tables and notes.
func readODT(ctx context.Context, in *input) (Text, error) {
	o, err := openOffice(ctx, in)
	if err != nil {
		return Text{}, err
	}
	if encryptedODF(o) {
		return Text{}, encrypted()
	}
	x, err := o.part("content.xml")
	if err == nil && x == nil {
		err = missing("content.xml")
	}
	if err != nil {
		return Text{}, err
	}
	d := odt{x: x, w: newWriter(in)}
	if err := d.body(); !errors.Is(err, io.EOF) {
		return Text{}, located(err, "content.xml")
	}
	t := Text{Format: FormatODT}
	if t.Title, t.Properties, err = o.odfMeta(); err != nil {
		return Text{}, err
	}
	t.Text, t.Parts, err = d.w.result()
	return t, err
}

// encryptedODF looks for what the manifest says of encrypted parts.
func encryptedODF(o *office) bool {
	found := false
	_ = o.walk("META-INF/manifest.xml", func(_ *xmlReader, t xmlToken) error {
		found = found || t.name == "encryption-data"
		return nil
	})
	return found
}

func (o *office) odfMeta() (title string, p Properties, err error) {
	return o.properties("meta.xml", map[string]string{"title": "title", "initial-creator": "author", "subject": "subject", "language": "language", "creation-date": "created", "date": "modified"})
}

// odt walks over the content.
type odt struct {
	x     *xmlReader
	w     *writer
	lists int
	mark  string
	notes []string
}

// body reads to the end of the content, which is io.EOF.
func (d *odt) body() error {
	for {
		t, err := d.x.next()
		if err != nil {
			return err
		}
		switch {
		case t.kind == '/' && t.name == "list":
			d.lists--
		case t.kind != '<':
		case t.name == "list":
			d.lists++
		case t.name == "list-item":
			d.mark = "-"
		case t.name == "h" || t.name == "p":
			if err := d.paragraph(t); err != nil {
				return err
			}
		case t.name == "table":
			if err := d.table(); err != nil {
				return err
			}
		case t.name == "tracked-changes" || t.name == "automatic-styles" || t.name == "font-face-decls" || t.name == "forms":
			if err := d.x.skipElement(); err != nil {
				return err
			}
		}
	}
}

func (d *odt) paragraph(t xmlToken) error {
	text, err := d.text()
	switch {
	case t.name == "h":
		d.w.heading(number(t.attr("outline-level"), 1), text)
	case d.lists > 0:
		d.w.item(d.lists-1, d.mark, text)
		d.mark = ""
	default:
		d.w.lines(text)
	}
	for _, n := range d.notes {
		d.w.note("note", n)
	}
	d.notes = nil
	return err
}

// text reads a paragraph to its end.
func (d *odt) text() (string, error) {
	var b strings.Builder
	for depth := 1; depth > 0; {
		t, err := d.x.next()
		if err != nil {
			return b.String(), err
		}
		switch {
		case t.kind == '/':
			depth--
			if t.name == "p" || t.name == "h" {
				b.WriteByte('\n')
			}
		case t.kind == 't':
			b.WriteString(strings.ReplaceAll(t.text, "\n", " "))
		case t.name == "note-body":
			text, err := d.x.elementText()
			if text = clean(text); text != "" {
				d.notes = append(d.notes, text)
			}
			if err != nil {
				return b.String(), err
			}
		case t.name == "annotation":
			if err := d.x.skipElement(); err != nil {
				return b.String(), err
			}
		default:
			switch t.name {
			case "s", "tab":
				b.WriteByte(' ')
			case "line-break":
				b.WriteByte('\n')
			}
			depth++
		}
	}
	return b.String(), nil
}

func (d *odt) table() error {
	var rows [][]string
	var row []string
	header, inHeader, cells := 0, false, 0
	for depth := 1; depth > 0; {
		t, err := d.x.next()
		if err != nil {
			return err
		}
		switch {
		case t.kind == '/':
			depth--
			if t.name == "table-row" {
				rows = append(rows, row)
				row = nil
				if inHeader {
					header++
				}
			}
			inHeader = inHeader && t.name != "table-header-rows"
		case t.kind == '<' && (t.name == "table-cell" || t.name == "covered-table-cell"):
			text, err := d.text()
			if err != nil {
				return err
			}
			for range min(max(number(t.attr("number-columns-repeated"), 1), 1), mostSpan) {
				if cells++; cells < mostCells {
					row = append(row, strings.ReplaceAll(text, "\n", " "))
				}
			}
		case t.kind == '<':
			inHeader = inHeader || t.name == "table-header-rows"
			depth++
		}
	}
	d.w.table("", max(header, 1), rows)
	return nil
}
