package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// readDOCX reads a Word document: the text as it stands, with insertions that are tracked
// and without deletions, notes after the paragraph that refers to them.
func readDOCX(ctx context.Context, in *input) (Text, error) {
	o, err := openOffice(ctx, in)
	if err != nil {
		return Text{}, err
	}
	main := officeMain(o.zip)
	d := docx{office: o, w: newWriter(in)}
	if err := d.prepare(main); err != nil {
		return Text{}, err
	}
	title, properties, err := o.core()
	if err != nil {
		return Text{}, err
	}
	x, err := o.part(main)
	if err != nil {
		return Text{}, err
	}
	if x == nil {
		return Text{}, missing(main)
	}
	body := docxBody{docx: &d, x: x, put: d.write}
	if err := body.read(); err != nil {
		return Text{}, located(err, main)
	}
	d.flushCode()
	if err := d.appendix(); err != nil {
		return Text{}, err
	}
	t := Text{Format: FormatDOCX, Title: title, Properties: properties}
	if t.Title == "" {
		t.Title = d.title
	}
	t.Text, t.Parts, err = d.w.result()
	return t, err
}

// docx is a document being read.
type docx struct {
	*office
	docxStyles
	w         *writer
	relations map[string]relation
	notes     map[string]string // by kind and id: "footnote 3"
	noted     int               // notes written so far
	code      []string          // lines of code at hand
	title     string
}

// prepare reads the parts that the text refers to.
func (d *docx) prepare(main string) (err error) {
	if d.relations, err = d.office.relations(main); err != nil {
		return err
	}
	for _, name := range ofKind(d.relations, "styles") {
		if d.docxStyles.styles, err = d.office.styles(name); err != nil {
			return err
		}
	}
	for _, name := range ofKind(d.relations, "numbering") {
		if d.lists, err = d.office.numberings(name); err != nil {
			return err
		}
	}
	d.notes = map[string]string{}
	for _, kind := range []string{"footnote", "endnote", "comment"} {
		for _, name := range ofKind(d.relations, kind+"s") {
			if err := d.readNotes(kind, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// readNotes reads the notes of a part.
func (d *docx) readNotes(kind, name string) error {
	return d.walk(name, func(x *xmlReader, t xmlToken) error {
		if t.name != kind || strings.Contains(strings.ToLower(t.attr("type")), "separator") {
			return nil
		}
		var lines []string
		body := docxBody{docx: d, x: x, put: func(b docxBlock) { lines = append(lines, b.flat()) }}
		err := body.blocks()
		text := cleanLines(strings.Join(lines, "\n"))
		if kind == "comment" && t.attr("author") != "" {
			text = t.attr("author") + ": " + text
		}
		if len(d.notes) < 50_000 && text != "" {
			d.notes[kind+" "+t.attr("id")] = text
		}
		return err
	})
}

// write writes a block of the text, and the notes it refers to.
func (d *docx) write(b docxBlock) {
	if b.kind == docxCode {
		d.code = append(d.code, b.text)
		return
	}
	d.flushCode()
	switch b.kind {
	case docxTitle:
		if d.title == "" {
			d.title = shorten(clean(b.text), 200)
		}
		d.w.heading(1, b.text)
	case docxHeading:
		d.w.heading(b.level, b.text)
	case docxItem:
		d.w.item(b.level, b.mark, b.text)
	case docxTable:
		d.w.table("", b.level, b.rows)
	default:
		d.w.lines(b.text)
	}
	for _, n := range b.notes {
		d.w.note("note "+fmt.Sprint(n.number), fmt.Sprintf("[%d] %s", n.number, n.text))
	}
}

func (d *docx) flushCode() {
	if len(d.code) > 0 {
		d.w.code(strings.Join(d.code, "\n"))
		d.code = nil
	}
}

// appendix writes what stands outside of the text: comments, and what is printed at the
// top and the foot of pages, once.
func (d *docx) appendix() error {
	d.w.endAll()
	var ids []string
	for id := range d.notes {
		if strings.HasPrefix(id, "comment ") {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return number(a[len("comment "):], 0) - number(b[len("comment "):], 0)
	})
	for _, id := range ids {
		d.w.note("comment", "Comment by "+d.notes[id])
	}
	seen := map[string]bool{}
	for _, kind := range []string{"header", "footer"} {
		names := ofKind(d.relations, kind)
		slices.Sort(names)
		for _, name := range names {
			text, err := d.running(name)
			if err != nil {
				return err
			}
			if !seen[text] && strings.ContainsFunc(text, isLetter) && strings.ToLower(text) != "page" {
				d.w.note("page "+kind, text)
			}
			seen[text] = true
		}
	}
	return nil
}

// running reads the text of a header or footer.
func (d *docx) running(name string) (string, error) {
	var lines []string
	x, err := d.part(name)
	if err != nil || x == nil {
		return "", err
	}
	body := docxBody{docx: d, x: x, put: func(b docxBlock) { lines = append(lines, b.flat()) }}
	if err := body.blocks(); err != nil && !errors.Is(err, io.EOF) {
		return "", located(err, name)
	}
	return cleanLines(strings.Join(lines, "\n")), nil
}
