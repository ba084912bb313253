package chunk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// Kinds of parts that matter here. A heading of kind "heading2" is below one of
// "heading" or "heading1". All other parts are text, and their edges good places to cut.
const (
	kindHeading = "heading"
	kindTable   = "table"
	kindItem    = "item"
	kindCode    = "code"
)

// section is a stretch of text under one path of headings.
type section struct {
	path   []string
	blocks []block
}

// block is a stretch of text inside one part.
type block struct {
	start, end int
	kind       string // heading, table, code; else text
	locator    string
	part       int  // the innermost part, numbered in the order of the text; 0 is none
	nested     bool // in a part that is inside one with text of its own
}

// apartFrom reports whether one of two neighbours is in a part inside the other's, or
// both are in parts that text of an enclosing part keeps apart: the records of two
// aircraft of one event, among what is said of the event.
func (b block) apartFrom(before block) bool {
	return b.part != before.part && b.kind != kindHeading && before.kind != kindHeading && (b.nested || before.nested)
}

// sections cuts a document at its headings. Headings without text between them share
// a section; headings that end the document belong to the section before.
func sections(doc *sextant.Document) []section {
	var out []section
	var path headingPath
	open := -1 // index of a heading run that waits for its text
	for _, b := range blocks(doc) {
		if b.kind == kindHeading {
			path.enter(level(b), doc.Text[b.start:b.end])
			if open < 0 {
				out = append(out, section{})
				open = len(out) - 1
			}
			last := &out[open]
			last.blocks = append(last.blocks, b)
			last.path = path.texts()
			continue
		}
		if len(out) == 0 {
			out = append(out, section{})
		}
		open = -1
		last := &out[len(out)-1]
		last.blocks = append(last.blocks, b)
	}
	if open == 0 {
		return nil
	}
	if open > 0 { // nothing follows the last headings
		out[open-1].blocks = append(out[open-1].blocks, out[open].blocks...)
		out = out[:open]
	}
	return out
}

func level(b block) int {
	if n := b.locator; len(n) == 1 && n[0] >= '1' && n[0] <= '6' {
		return int(n[0] - '0')
	}
	return 1
}

// blocks cuts the whole text at the edges of its parts. Each block lies inside its
// innermost part; tables, code and headings stay whole, whatever parts they contain.
// Of parts that cross, the later one ends with the one it begins in.
func blocks(doc *sextant.Document) []block {
	w := blockWriter{text: doc.Text, open: []block{{end: len(doc.Text)}}, parts: make([]enclosed, 1)}
	for _, p := range clip(doc.Text, doc.Parts) {
		w.leave(p.Start)
		if kind := w.top().kind; kind == "" || kind == kindItem { // lists have lists in them
			w.write(p.Start)
			w.enter(p)
		}
	}
	w.leave(len(doc.Text))
	w.write(len(doc.Text))
	w.markNested()
	return w.out
}

// clip moves the ends of parts into the text and to the starts of code points, drops
// what is empty, and puts those that enclose others before them.
func clip(text string, parts []sextant.Part) []sextant.Part {
	out := make([]sextant.Part, 0, len(parts))
	for _, p := range parts {
		if p.Start, p.End = runeStart(text, p.Start), runeStart(text, p.End); p.Start < p.End {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b sextant.Part) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	return out
}

// blockWriter goes over the parts in their order.
type blockWriter struct {
	text  string
	open  []block // the parts around the place at hand, the innermost last
	parts []enclosed
	at    int // all before it is in blocks
	out   []block
}

// enclosed is what is known of a part.
type enclosed struct {
	parent int
	text   bool // has text outside of the parts in it
	nested bool
}

func (w *blockWriter) top() *block { return &w.open[len(w.open)-1] }

// leave closes the parts that end at or before a place.
func (w *blockWriter) leave(at int) {
	for len(w.open) > 1 && w.top().end <= at {
		w.write(w.top().end)
		w.open = w.open[:len(w.open)-1]
	}
}

func (w *blockWriter) enter(p sextant.Part) {
	b := block{end: min(p.End, w.top().end), part: len(w.parts)}
	b.kind, b.locator = kindOf(p)
	w.parts = append(w.parts, enclosed{parent: w.top().part})
	w.open = append(w.open, b)
}

// write writes the text up to end as a block of the part at hand.
func (w *blockWriter) write(end int) {
	b := *w.top()
	b.start, b.end = w.at, end
	w.at = max(w.at, end)
	if b.start < b.end && strings.TrimSpace(w.text[b.start:b.end]) != "" {
		w.out = append(w.out, b)
		w.parts[b.part].text = true
	}
}

func (w *blockWriter) markNested() {
	for i := 1; i < len(w.parts); i++ {
		p := &w.parts[i]
		outer := w.parts[p.parent] // comes before it
		p.nested = p.parent != 0 && (outer.nested || outer.text)
	}
	for i := range w.out {
		w.out[i].nested = w.parts[w.out[i].part].nested
	}
}

// kindOf returns the kind that matters, with the level of a heading as its locator.
func kindOf(p sextant.Part) (kind, locator string) {
	switch {
	case p.Kind == kindTable || p.Kind == kindCode || p.Kind == kindItem:
		return p.Kind, p.Locator
	case strings.HasPrefix(p.Kind, kindHeading):
		return kindHeading, strings.TrimPrefix(p.Kind, kindHeading)
	}
	return "", ""
}
