package main

import (
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/sextant-rag/sextant"
)

// page lays out text for people in a given width. Whatever it is handed is cleaned
// first, so that no control byte of a document or a server reaches the terminal; the
// only escapes are the page's own colours.
type page struct {
	b      strings.Builder
	width  int
	colour bool
}

// minWidth is the narrowest a page gets; below it, wrapping helps nobody.
const minWidth = 40

func newPage(width int, colour bool) *page { return &page{width: max(width, minWidth), colour: colour} }

func (p *page) String() string { return p.b.String() }

// Select Graphic Rendition codes (ECMA-48, 8.3.117).
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// paint wraps text in a colour where colours are wanted; code "" is none.
func (p *page) paint(code, s string) string {
	if !p.colour || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// blank ends a paragraph. Several in a row are one.
func (p *page) blank() {
	if s := p.b.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		p.b.WriteByte('\n')
	}
}

// heading opens a section.
func (p *page) heading(s string) {
	p.blank()
	p.painted("", s, bold)
}

// text writes a paragraph, its first line behind one prefix and the others behind blanks
// of the same width.
func (p *page) text(prefix, s string) { p.painted(prefix, s, "") }

// note is text that may be passed over.
func (p *page) note(prefix, s string) { p.painted(prefix, s, dim) }

func (p *page) painted(prefix, s, code string) {
	hanging := strings.Repeat(" ", runewidth.StringWidth(prefix))
	for i, line := range wrap(sextant.CleanText(s), p.width-len(hanging)) {
		if i > 0 {
			prefix = hanging
		}
		p.b.WriteString(prefix + p.paint(code, line) + "\n")
	}
}

// wrap breaks clean text at blanks into lines of at most width columns. A word that is
// longer, such as an address, keeps a line of its own.
func wrap(s string, width int) []string {
	var lines []string
	var line strings.Builder
	used := 0
	for _, word := range strings.Fields(s) {
		w := runewidth.StringWidth(word)
		if used > 0 && used+1+w > width {
			lines = append(lines, line.String())
			line.Reset()
			used = 0
		}
		if used > 0 {
			line.WriteByte(' ')
			used++
		}
		line.WriteString(word)
		used += w
	}
	return append(lines, line.String())
}

// table is rows under a head, columns of numbers to the right.
type table struct {
	head  []string
	right []bool // a column of numbers
	rows  [][]string
}

const columnGap = 3

// table writes a table two columns in, narrowing its widest columns of words until it
// fits; their cells then run over several lines.
func (p *page) table(t table) {
	// Cells may belong to an answer, which its trace is still reading: they are cleaned in
	// copies.
	t.head, t.rows = cleanCells(t.head), slices.Clone(t.rows)
	for i, row := range t.rows {
		t.rows[i] = cleanCells(row)
	}
	widths := t.widths(p.width - 2)
	p.row(t, t.head, widths, dim)
	for _, row := range t.rows {
		p.row(t, row, widths, "")
	}
}

func cleanCells(row []string) []string {
	out := make([]string, len(row))
	for i, cell := range row {
		out[i] = sextant.CleanText(cell)
	}
	return out
}

func (p *page) row(t table, cells []string, widths []int, code string) {
	lines := make([][]string, len(cells))
	height := 0
	for i, cell := range cells {
		lines[i] = wrap(cell, widths[i])
		height = max(height, len(lines[i]))
	}
	for at := range height {
		var line strings.Builder
		for i := range cells {
			if i > 0 {
				line.WriteString(strings.Repeat(" ", columnGap))
			}
			line.WriteString(padded(lines[i], at, widths[i], t.right[i]))
		}
		p.b.WriteString("  " + p.paint(code, strings.TrimRight(line.String(), " ")) + "\n")
	}
}

// padded returns a line of a cell in exactly width columns; a word that is longer ends
// in an ellipsis.
func padded(lines []string, at, width int, right bool) string {
	text := ""
	if at < len(lines) {
		text = runewidth.Truncate(lines[at], width, "…")
	}
	if right {
		return runewidth.FillLeft(text, width)
	}
	return runewidth.FillRight(text, width)
}

// widths returns the columns' widths: what they need, less what the page lacks, taken
// from the widest column of words first.
func (t table) widths(room int) []int {
	const narrowest = 8
	out := make([]int, len(t.head))
	total := columnGap * (len(t.head) - 1)
	for i := range out {
		out[i] = runewidth.StringWidth(t.head[i])
		for _, row := range t.rows {
			out[i] = max(out[i], runewidth.StringWidth(row[i]))
		}
		total += out[i]
	}
	for ; total > room; total-- {
		widest := -1
		for i, w := range out {
			if !t.right[i] && w > narrowest && (widest < 0 || w > out[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		out[widest]--
	}
	return out
}
