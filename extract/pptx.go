package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// readPPTX reads the slides of a presentation in their order, each with its title first
// and the speaker's notes last.
func readPPTX(ctx context.Context, in *input) (Text, error) {
	o, err := openOffice(ctx, in)
	if err != nil {
		return Text{}, err
	}
	slides, err := o.slides()
	if err != nil {
		return Text{}, err
	}
	title, properties, err := o.core()
	if err != nil {
		return Text{}, err
	}
	properties.Pages = len(slides)
	w := newWriter(in)
	w.sections = false
	for i, name := range slides {
		w.endAll()
		w.begin(KindSlide, fmt.Sprintf("slide %d", i+1))
		if err := o.slide(w, name); err != nil {
			return Text{}, err
		}
	}
	t := Text{Format: FormatPPTX, Title: title, Properties: properties}
	t.Text, t.Parts, err = w.result()
	return t, err
}

// slides lists the slides in the order of the presentation.
func (o *office) slides() ([]string, error) {
	const main = "ppt/presentation.xml"
	relations, err := o.relations(main)
	if err != nil {
		return nil, err
	}
	var out []string
	listed := map[string]bool{}
	err = o.walk(main, func(_ *xmlReader, t xmlToken) error {
		if t.name != "sldId" {
			return nil
		}
		for _, a := range t.attrs { // its own id is called the same
			if r, ok := relations[a.value]; ok && r.kind == "slide" && !listed[r.target] {
				listed[r.target] = true
				out = append(out, r.target)
			}
		}
		return nil
	})
	return out, err
}

// shape is what stands in one frame of a slide.
type shape struct {
	placeholder string // title, ctrTitle, subTitle, body ...
	paragraphs  []slideParagraph
	rows        [][]string
}

type slideParagraph struct {
	level int
	text  string
}

func (o *office) slide(w *writer, name string) error {
	shapes, err := o.shapes(name)
	if err != nil {
		return err
	}
	for _, s := range shapes { // the title stands first, wherever it is in the file
		if strings.HasSuffix(strings.ToLower(s.placeholder), "title") && s.placeholder != "subTitle" {
			w.heading(2, s.text())
		}
	}
	for _, s := range shapes {
		switch {
		case strings.HasSuffix(strings.ToLower(s.placeholder), "title") && s.placeholder != "subTitle":
		case s.placeholder == "sldNum" || s.placeholder == "dt" || s.placeholder == "ftr":
		case s.rows != nil:
			w.table("", 1, s.rows)
		case len(s.paragraphs) > 1 && (s.placeholder == "body" || s.placeholder == "content"):
			for _, p := range s.paragraphs {
				w.item(p.level, "-", p.text)
			}
		default:
			w.lines(s.text())
		}
	}
	return o.speakerNotes(w, name)
}

func (s *shape) text() string {
	lines := make([]string, len(s.paragraphs))
	for i, p := range s.paragraphs {
		lines[i] = p.text
	}
	return strings.Join(lines, "\n")
}

// speakerNotes writes the notes of a slide.
func (o *office) speakerNotes(w *writer, slide string) error {
	relations, err := o.relations(slide)
	if err != nil {
		return err
	}
	for _, name := range ofKind(relations, "notesSlide") {
		shapes, err := o.shapes(name)
		if err != nil {
			return err
		}
		for _, s := range shapes {
			if s.placeholder == "body" {
				w.note("notes", s.text())
			}
		}
	}
	return nil
}

// shapes reads what stands on a slide.
func (o *office) shapes(name string) ([]shape, error) {
	var out []shape
	err := o.walk(name, func(x *xmlReader, t xmlToken) error {
		switch t.name {
		case "sp", "graphicFrame":
			var s shape
			err := s.read(x)
			if len(s.paragraphs) > 0 || s.rows != nil {
				out = append(out, s)
			}
			return err
		case "Fallback":
			return x.skipElement()
		}
		return nil
	})
	return out, err
}

// read reads a shape to its end.
func (s *shape) read(x *xmlReader) error {
	for depth := 1; depth > 0; {
		t, err := x.next()
		if err != nil {
			return err
		}
		if t.kind == '/' {
			depth--
		}
		if t.kind != '<' {
			continue
		}
		switch t.name {
		case "ph":
			if s.placeholder = t.attr("type"); s.placeholder == "" {
				s.placeholder = "content"
			}
			depth++
		case "p":
			p, err := slideText(x)
			if strings.TrimSpace(p.text) != "" {
				s.paragraphs = append(s.paragraphs, p)
			}
			if err != nil {
				return err
			}
		case "tbl":
			if err := s.table(x); err != nil {
				return err
			}
		case "Fallback":
			if err := x.skipElement(); err != nil {
				return err
			}
		default:
			depth++
		}
	}
	return nil
}

// slideText reads a paragraph to its end.
func slideText(x *xmlReader) (slideParagraph, error) {
	var p slideParagraph
	var b strings.Builder
	for depth := 1; depth > 0; {
		t, err := x.next()
		if err != nil {
			p.text = b.String()
			return p, err
		}
		switch {
		case t.kind == '/':
			depth--
		case t.kind == '<' && t.name == "t":
			text, err := x.elementText()
			b.WriteString(text)
			if err != nil && !errors.Is(err, io.EOF) {
				return p, err
			}
		case t.kind == '<':
			switch t.name {
			case "pPr":
				p.level = min(max(number(t.attr("lvl"), 0), 0), 8)
			case "br":
				b.WriteByte('\n')
			}
			depth++
		}
	}
	p.text = b.String()
	return p, nil
}

// table reads a table to its end.
func (s *shape) table(x *xmlReader) error {
	var row []string
	for depth := 1; depth > 0; {
		t, err := x.next()
		if err != nil {
			return err
		}
		switch {
		case t.kind == '/':
			depth--
			if t.name == "tr" && len(s.rows) < 10_000 {
				s.rows = append(s.rows, row)
				row = nil
			}
		case t.kind == '<' && t.name == "tc":
			var cell shape
			if err := cell.read(x); err != nil {
				return err
			}
			row = append(row, strings.ReplaceAll(cell.text(), "\n", " "))
		case t.kind == '<':
			depth++
		}
	}
	return nil
}
