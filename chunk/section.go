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

// headingPath is the headings above a place, outermost first.
type headingPath struct {
	levels []int
	names  []string
}

func (p *headingPath) enter(level int, text string) {
	for len(p.levels) > 0 && p.levels[len(p.levels)-1] >= level {
		p.levels, p.names = p.levels[:len(p.levels)-1], p.names[:len(p.names)-1]
	}
	p.levels, p.names = append(p.levels, level), append(p.names, oneLine(text))
}

func (p *headingPath) texts() []string { return slices.Clone(p.names) }

// oneLine writes a heading or a table's header in one short line.
func oneLine(text string) string {
	text = strings.Trim(strings.Join(strings.Fields(text), " "), "# ")
	if r := []rune(text[:min(len(text), 1000)]); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return text
}

// blocks cuts the whole text at the edges of its parts. Each block lies inside its
// innermost part; tables and code stay whole, whatever parts they contain.
func blocks(doc *sextant.Document) []block {
	parts := slices.Clone(doc.Parts)
	parts = slices.DeleteFunc(parts, func(p sextant.Part) bool { return p.Start < 0 || p.End > len(doc.Text) || p.Start >= p.End })
	slices.SortStableFunc(parts, func(a, b sextant.Part) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	w := blockWriter{text: doc.Text}
	w.walk(parts, block{end: len(doc.Text)})
	return w.out
}

type blockWriter struct {
	text string
	out  []block
}

// walk writes the blocks of a stretch: the parts in it, and what lies between them.
// Parts that overlap without nesting are cut where the next one begins.
func (w *blockWriter) walk(parts []sextant.Part, outer block) {
	at := outer.start
	for i := 0; i < len(parts); {
		p := parts[i]
		end := min(p.End, outer.end)
		inner := i + 1
		for inner < len(parts) && parts[inner].Start < end {
			inner++
		}
		if p.Start > at {
			w.write(block{at, p.Start, outer.kind, outer.locator})
		}
		b := block{start: max(p.Start, at), end: end}
		b.kind, b.locator = kindOf(p)
		if b.start < b.end && (b.kind == "" && inner > i+1) {
			w.walk(parts[i+1:inner], b)
		} else {
			w.write(b)
		}
		at = max(at, end)
		i = inner
	}
	w.write(block{at, outer.end, outer.kind, outer.locator})
}

// kindOf returns the kind that matters, with the level of a heading as its locator.
func kindOf(p sextant.Part) (kind, locator string) {
	switch {
	case p.Kind == kindTable || p.Kind == kindCode:
		return p.Kind, p.Locator
	case strings.HasPrefix(p.Kind, kindHeading):
		return kindHeading, strings.TrimPrefix(p.Kind, kindHeading)
	}
	return "", ""
}

func (w *blockWriter) write(b block) {
	if b.start < b.end && strings.TrimSpace(w.text[b.start:b.end]) != "" {
		w.out = append(w.out, b)
	}
}
