package chunk

import (
	"strings"
	"unicode"
)

// unit is what is not cut any further: a sentence, a row, a run of words of a sentence
// too long for a chunk. It fits a chunk by itself.
type unit struct {
	start, end int // without white space around
	size       int
	paragraph  int    // at the first unit of a paragraph its size, else 0
	sentence   bool   // may be repeated as overlap
	leads      bool   // a heading: goes with the unit after it
	heading    string // what stands above it; for pieces of a table with its header
	budget     int    // what the heading leaves of a chunk
	stretch    int    // units of different stretches share a chunk only if all of both do
}

// units cuts the blocks of a section.
func (s section) units(text string, opt *Options) []unit {
	heading := opt.heading(s.path)
	c := cutter{text: text, opt: opt, path: s.path, unit: unit{heading: heading, budget: opt.budget(heading)}}
	for i, b := range s.blocks {
		if i > 0 && b.apartFrom(s.blocks[i-1]) {
			c.unit.stretch++
		}
		switch b.kind {
		case kindHeading:
			c.heading(b)
		case kindTable, kindCode:
			c.lines(b)
		case kindItem:
			c.item(b)
		default:
			c.paragraphs(b)
		}
	}
	return c.out
}

func (c *cutter) paragraphs(b block) {
	for start := b.start; start < b.end; {
		end := start + paragraphLength(c.text[start:b.end])
		c.paragraph(start, end)
		start = end
	}
}

// item keeps an item of a list whole: its sentences say little without the first. One of
// more than half a chunk is cut like any text, since whole it would leave chunks half empty.
func (c *cutter) item(b block) {
	start, end := trim(c.text, b.start, b.end)
	size := c.opt.size(c.text[start:end])
	if start == end || size > min(c.room(), c.unit.budget/2) {
		c.paragraphs(b)
		return
	}
	c.append(start, end, size)
	c.out[len(c.out)-1].sentence, c.out[len(c.out)-1].paragraph = true, size
}

// paragraphLength is the length of the first paragraph, the blank lines after it
// included.
func paragraphLength(text string) int {
	i := strings.Index(text, "\n\n")
	if i < 0 {
		return len(text)
	}
	return len(text) - len(strings.TrimLeftFunc(text[i:], unicode.IsSpace))
}

// cutter cuts the blocks of a section into units.
type cutter struct {
	text string
	opt  *Options
	path []string
	unit unit // what the units to come have in common
	lead int  // size of the headings right before the next unit
	out  []unit
}

func (c *cutter) heading(b block) {
	lead, first := c.lead, len(c.out)
	c.lead = 0
	c.paragraph(b.start, b.end)
	c.lead = lead
	for i := range c.out[first:] {
		c.out[first+i].leads = true
		c.lead += c.out[first+i].size
	}
}

// paragraph cuts a paragraph into sentences, and sentences too long into pieces.
func (c *cutter) paragraph(start, end int) {
	first := len(c.out)
	for _, s := range Sentences(c.text[start:end]) {
		if n := len(c.out); c.whole(start+s.Start, start+s.End) {
			c.out[n].sentence = true
		}
	}
	total := 0
	for _, u := range c.out[first:] {
		total += u.size
	}
	if len(c.out) > first {
		c.out[first].paragraph = total
	}
}

// whole appends a range as one unit if it leaves room for the headings before it, else
// in pieces.
func (c *cutter) whole(start, end int) bool {
	size := c.opt.size(c.text[start:end])
	if size > c.room() {
		c.pieces(start, end)
		return false
	}
	c.append(start, end, size)
	return true
}

// room is what a chunk has for the next unit. Headings that fill more than half of it
// may be left alone.
func (c *cutter) room() int {
	if c.lead > c.unit.budget/2 {
		return c.unit.budget
	}
	return c.unit.budget - c.lead
}

func (c *cutter) append(start, end, size int) {
	u := c.unit
	u.start, u.end, u.size = start, end, size
	c.out = append(c.out, u)
	c.lead = 0
}

// pieces cuts a range into pieces of a quarter chunk, so that packing can fill chunks
// with them; larger ones where a quarter would cut a character as people see it.
func (c *cutter) pieces(start, end int) {
	limit := max(c.unit.budget/4, 1)
	for start, end = trim(c.text, start, end); start < end; start, end = trim(c.text, start, end) {
		rest := c.text[start:end]
		length := c.opt.cut(rest, limit)
		if length < len(rest) && joined(rest, length) {
			length = c.opt.cut(rest, c.unit.budget)
		}
		from, to := trim(c.text, start, start+length)
		c.append(from, to, c.opt.size(c.text[from:to]))
		start += length
	}
}

// lines cuts a table or code. One that fits a chunk is a single unit; of a longer one
// each line is, under its caption and, for tables, its header. A line is cut only if it
// is longer than a chunk by itself.
func (c *cutter) lines(b block) {
	start, end := trim(c.text, b.start, b.end)
	if size := c.opt.size(c.text[start:end]); size <= c.room() {
		c.append(start, end, size)
		c.out[len(c.out)-1].paragraph = size
		return
	}
	section := c.unit
	c.unit.heading = c.opt.heading(append(c.path[:len(c.path):len(c.path)], b.context(c.text)...))
	c.unit.budget = c.opt.budget(c.unit.heading)
	at := b.start
	for line := range strings.Lines(c.text[b.start:b.end]) {
		if from, to := trim(c.text, at, at+len(line)); from < to {
			c.whole(from, to)
		}
		at += len(line)
	}
	c.unit.heading, c.unit.budget = section.heading, section.budget
}

// context names a block above its pieces.
func (b block) context(text string) []string {
	var out []string
	if b.locator != "" {
		out = append(out, b.locator)
	}
	if b.kind == kindTable {
		if header := oneLine(tableHeader(text[b.start:b.end])); header != "" {
			out = append(out, header)
		}
	}
	if len(out) == 0 {
		out = append(out, b.kind)
	}
	return out
}

// tableHeader is what stands above a rule of dashes (Markdown), else the first line.
func tableHeader(table string) string {
	var header []string
	for line := range strings.Lines(strings.TrimSpace(table)) {
		line = strings.TrimSpace(line)
		if len(header) > 0 && strings.Contains(line, "-") && strings.Trim(line, "|-: +=") == "" {
			return strings.Join(header, " / ")
		}
		if header = append(header, line); len(header) > 4 {
			break
		}
	}
	return header[0]
}

// trim narrows a range to what is not white space at its ends.
func trim(text string, start, end int) (int, int) {
	s := strings.TrimLeftFunc(text[start:end], unicode.IsSpace)
	start = end - len(s)
	return start, start + len(strings.TrimRightFunc(s, unicode.IsSpace))
}
