package extract

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Kinds of blocks of a document.
const (
	docxText = iota
	docxTitle
	docxHeading
	docxItem
	docxCode
	docxTable
)

// docxBlock is a paragraph or a table.
type docxBlock struct {
	kind  int
	level int // of a heading from 1, of an item from 0; of a table the rows of its header
	mark  string
	text  string
	rows  [][]string
	notes []docxNote
}

type docxNote struct {
	number int
	text   string
}

// flat is a block in a cell of a table: one line.
func (b docxBlock) flat() string {
	if b.kind == docxTable {
		lines := make([]string, len(b.rows))
		for i, r := range b.rows {
			lines[i] = strings.Join(r, ", ")
		}
		return strings.Join(lines, "; ")
	}
	if b.mark != "" && b.mark != "-" {
		return b.mark + " " + b.text
	}
	return b.text
}

// docxBody reads blocks and hands them on as they end.
type docxBody struct {
	*docx
	x   *xmlReader
	put func(docxBlock)
}

// read reads the whole part.
func (b *docxBody) read() error {
	for {
		err := b.blocks()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || b.w.err != nil {
			return err
		}
	}
}

// blocks reads to the end of the element at hand: paragraphs, tables, and what only
// wraps them (content controls, insertions).
func (b *docxBody) blocks() error {
	for depth := 1; depth > 0; {
		t, err := b.x.next()
		if err != nil {
			return err
		}
		switch t.kind {
		case '/':
			depth--
		case '<':
			skipped, err := b.block(t)
			if err != nil {
				return err
			}
			if !skipped {
				depth++
			}
		}
	}
	return nil
}

// block handles an element among blocks and reports whether it was read to its end.
func (b *docxBody) block(t xmlToken) (bool, error) {
	switch t.name {
	case "p":
		return true, b.paragraph()
	case "tbl":
		return true, b.table()
	case "del", "moveFrom", "sectPr", "sdtPr", "Fallback", "tblPr", "tblGrid", "sdtEndPr":
		return true, b.x.skipElement()
	}
	return false, nil
}

// docxParagraph collects a paragraph.
type docxParagraph struct {
	text   strings.Builder
	style  docxStyle
	num    numbering
	level  int // of its outline, from 1
	notes  []docxNote
	boxes  []docxBlock // of text boxes that hang on it
	hidden bool        // the run at hand cannot be seen
}

func (b *docxBody) paragraph() error {
	var p docxParagraph
	if err := b.inline(&p); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	b.finish(&p)
	return nil
}

// finish hands a paragraph on as what its style makes of it.
func (b *docxBody) finish(p *docxParagraph) {
	block := docxBlock{text: p.text.String(), notes: p.notes}
	num := p.num
	if !num.set {
		num = p.style.num
	}
	level := p.level
	if level == 0 {
		level = p.style.outline
	}
	name := strings.ToLower(p.style.name)
	blank := strings.TrimSpace(block.text) == ""
	mark := ""
	if num.set && num.id != "0" && num.id != "" && !blank {
		mark = b.mark(num)
	}
	switch {
	case blank:
	case name == "title":
		block.kind = docxTitle
	case level >= 1 && level <= 9:
		block.kind, block.level = docxHeading, min(level, 6)
		if mark != "" && mark != "-" {
			block.text = mark + " " + block.text
		}
	case mark != "":
		block.kind, block.level, block.mark = docxItem, num.level, mark
	case strings.Contains(name, "code") || strings.Contains(name, "preformatted") || strings.Contains(name, "verbatim"):
		block.kind = docxCode
	}
	if !blank {
		b.put(block)
	}
	for _, box := range p.boxes {
		b.put(box)
	}
}

// inline reads the content of a paragraph to its end.
func (b *docxBody) inline(p *docxParagraph) error {
	for depth := 1; depth > 0; {
		t, err := b.x.next()
		if err != nil {
			return err
		}
		switch t.kind {
		case '/':
			depth--
			if t.name == "r" {
				p.hidden = false
			}
			if t.name == "num" { // a fraction's upper part
				p.text.WriteByte('/')
			}
		case '<':
			skipped, err := b.inlineElement(p, t)
			if err != nil {
				return err
			}
			if !skipped {
				depth++
			}
		}
	}
	return nil
}

// inlineElement handles an element inside a paragraph and reports whether it was read
// to its end.
func (b *docxBody) inlineElement(p *docxParagraph, t xmlToken) (bool, error) {
	switch t.name {
	case "t":
		text, err := b.x.elementText()
		if !p.hidden {
			p.text.WriteString(text)
		}
		return true, err
	case "tab":
		p.text.WriteByte('\t')
	case "br", "cr":
		p.text.WriteByte('\n')
	case "noBreakHyphen":
		p.text.WriteByte('-')
	case "sym":
		p.text.WriteString(symbol(t))
	case "vanish":
		p.hidden = isOn(t)
	case "pStyle":
		p.style = b.resolve(t.attr("val"))
	case "outlineLvl":
		p.level = number(t.attr("val"), 9) + 1
	case "numId":
		p.num.id, p.num.set = t.attr("val"), true
	case "ilvl":
		p.num.level = number(t.attr("val"), 0)
	case "footnoteReference", "endnoteReference":
		b.refer(p, strings.TrimSuffix(t.name, "Reference")+" "+t.attr("id"))
	case "txbxContent":
		return true, b.box(p)
	case "sup":
		p.text.WriteByte('^')
	case "sub":
		p.text.WriteByte('_')
	case "rad":
		p.text.WriteString("√")
	case "chr": // the sign of a sum or an integral
		p.text.WriteString(t.attr("val"))
	case "tabs", "del", "moveFrom", "delText", "instrText", "Fallback", "sdtPr", "sdtEndPr", "pPrChange", "rPrChange", "sectPr", "fldData", "posOffset", "align", "pctWidth", "pctHeight", "ffData":
		return true, b.x.skipElement()
	}
	return false, nil
}

// symbol returns a character of a symbol font as one that everybody has.
func symbol(t xmlToken) string {
	n, err := strconv.ParseUint(t.attr("char"), 16, 32)
	if err != nil {
		return ""
	}
	switch n & 0xff {
	case 0xb7, 0xa7, 0xd8:
		return "•"
	case 0xa8, 0x6f, 0x71:
		return "☐"
	case 0xfe, 0xfc, 0x52:
		return "☑"
	case 0xe0, 0xae:
		return "→"
	}
	if n >= 0xf000 && n <= 0xf0ff {
		n -= 0xf000
	}
	return string(rune(n))
}

// refer writes the number of a note and keeps its text for after the paragraph.
func (b *docxBody) refer(p *docxParagraph, id string) {
	text := b.notes[id]
	if text == "" {
		return
	}
	b.noted++
	p.notes = append(p.notes, docxNote{b.noted, text})
	fmt.Fprintf(&p.text, "[%d]", b.noted)
}

// box reads a text box. It hangs on a paragraph, and is written after it.
func (b *docxBody) box(p *docxParagraph) error {
	inner := docxBody{docx: b.docx, x: b.x, put: func(block docxBlock) { p.boxes = append(p.boxes, block) }}
	return inner.blocks()
}

// table reads a table. One of a single column is a frame around text.
func (b *docxBody) table() error {
	var t docxTableState
	if err := b.rows(&t); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	wide := 0
	for _, r := range t.rows {
		wide = max(wide, len(r))
	}
	if wide < 2 {
		for _, block := range t.blocks {
			b.put(block)
		}
		return nil
	}
	b.put(docxBlock{kind: docxTable, level: max(t.header, 1), rows: t.rows, notes: t.notes})
	return nil
}

// docxTableState collects a table.
type docxTableState struct {
	rows   [][]string
	blocks []docxBlock // all that is in it, in case it is a frame
	notes  []docxNote
	header int
	row    []string
	span   int
	merge  string // "restart", "continue" or none
	head   bool
	cells  int
}

func (b *docxBody) rows(s *docxTableState) error {
	for depth := 1; depth > 0; {
		t, err := b.x.next()
		if err != nil {
			return err
		}
		switch t.kind {
		case '/':
			depth--
			if t.name == "tr" {
				s.endRow()
			}
		case '<':
			switch t.name {
			case "tr":
				s.row, s.head = nil, false
			case "tblHeader":
				s.head = isOn(t)
			case "tc":
				if err := b.cell(s); err != nil {
					return err
				}
				continue
			case "del", "sdtPr", "Fallback", "tblPr", "tblGrid":
				if err := b.x.skipElement(); err != nil {
					return err
				}
				continue
			}
			depth++
		}
	}
	return nil
}

func (s *docxTableState) endRow() {
	if s.row == nil || s.cells > mostCells {
		return
	}
	if s.head && s.header == len(s.rows) {
		s.header++
	}
	s.rows = append(s.rows, s.row)
	s.row = nil
}

// cell reads a cell. One that goes on from the row above repeats its text: each row is
// to be understood by itself.
func (b *docxBody) cell(s *docxTableState) error {
	var lines []string
	s.span, s.merge = 1, ""
	inner := docxBody{docx: b.docx, x: b.x, put: func(block docxBlock) {
		lines = append(lines, block.flat())
		if s.blocks = append(s.blocks, block); len(s.blocks) > 10_000 {
			s.blocks = s.blocks[:10_000]
		}
		s.notes = append(s.notes, block.notes...)
	}}
	err := inner.cellBlocks(s)
	text := strings.Join(lines, " ")
	if above := len(s.rows) - 1; s.merge == "continue" && above >= 0 && len(s.row) < len(s.rows[above]) && strings.TrimSpace(text) == "" {
		text = s.rows[above][len(s.row)]
	}
	for i := range min(max(s.span, 1), mostSpan) {
		if i > 0 {
			text = ""
		}
		s.row = append(s.row, text)
		s.cells++
	}
	return err
}

// cellBlocks reads the blocks of a cell, and how far it reaches.
func (b *docxBody) cellBlocks(s *docxTableState) error {
	for depth := 1; depth > 0; {
		t, err := b.x.next()
		if err != nil {
			return err
		}
		switch {
		case t.kind == '/':
			depth--
		case t.kind == '<' && t.name == "gridSpan":
			s.span = number(t.attr("val"), 1)
			depth++
		case t.kind == '<' && t.name == "vMerge":
			if s.merge = t.attr("val"); s.merge == "" {
				s.merge = "continue"
			}
			depth++
		case t.kind == '<':
			skipped, err := b.block(t)
			if err != nil {
				return err
			}
			if !skipped {
				depth++
			}
		}
	}
	return nil
}
