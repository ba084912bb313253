package extract

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sextant-rag/sextant"
)

// writer builds canonical text. Readers tell it what they see (a heading, a paragraph,
// a row), and it keeps the rules of the text: blank lines between blocks, cleaned
// characters, parts that never cross, each with a locator that includes those around it.
// Once the text is over its limit it drops what comes and remembers why.
type writer struct {
	text     strings.Builder
	parts    []sextant.Part
	open     []container
	sections bool // headings begin sections
	budget   *budget
	limit    int64
	depth    int
	last     block
	tables   int
	err      error
}

// container is a part that is not closed yet.
type container struct {
	part    int // index in parts
	level   int // of the heading that began it; 0 is no section
	heading string
}

// block is what was written last: consecutive items and lines stand closer together.
type block int

const (
	blockNone block = iota
	blockText
	blockItem
)

func newWriter(in *input) *writer {
	return &writer{budget: in.left, limit: in.limits.Text, depth: in.limits.Depth, sections: true}
}

// write appends cleaned text as a block and returns its range.
func (w *writer) write(kind block, text string) (start, end int) {
	if w.text.Len() > 0 {
		gap := "\n\n"
		if kind == blockItem && w.last == blockItem {
			gap = "\n"
		}
		text = gap + text
		start = len(gap)
	}
	if w.budget.text -= int64(len(text)); w.budget.text < 0 && w.err == nil {
		w.err = &Refusal{Code: TooLarge, Reason: fmt.Sprintf("its text is over the limit of %d bytes", w.limit), Hint: "Split the file, or raise the limit."}
	}
	start += w.text.Len()
	if w.err == nil {
		w.text.WriteString(text)
		w.touch(start)
		w.last = kind
	}
	return min(start, w.text.Len()), w.text.Len()
}

// paragraph writes a block of prose.
func (w *writer) paragraph(text string) {
	if text = clean(text); text != "" {
		w.write(blockText, text)
	}
}

// lines writes a block whose line breaks mean something: an address, a poem.
func (w *writer) lines(text string) {
	if text = cleanLines(text); text != "" {
		w.write(blockText, text)
	}
}

// heading writes a heading of level 1 to 6, and begins its section.
func (w *writer) heading(level int, text string) {
	if text = clean(text); text == "" {
		return
	}
	level = min(max(level, 1), 6)
	if w.sections {
		w.leaveSections(level)
	}
	if w.sections {
		w.begin(KindSection, "")
		top := &w.open[len(w.open)-1]
		if top.level, top.heading = level, text; top.part >= 0 {
			w.parts[top.part].Locator = w.path()
		}
	}
	start, end := w.write(blockText, text)
	w.part(fmt.Sprintf("%s%d", KindHeading, level), "", start, end)
}

// leaveSections closes the sections at the end of open whose level is not above one.
func (w *writer) leaveSections(level int) {
	for len(w.open) > 0 && w.open[len(w.open)-1].level >= level {
		w.end()
	}
}

// path is the locator of the section at hand: its headings, after what is around them.
func (w *writer) path() string {
	outer, names := "", []string(nil)
	for i := len(w.open) - 1; i >= 0; i-- {
		if w.open[i].level == 0 {
			if p := w.open[i].part; p >= 0 {
				outer = w.parts[p].Locator
			}
			break
		}
		names = append(names, shorten(w.open[i].heading, 80))
	}
	slices.Reverse(names)
	return join(outer, strings.Join(names, " > "))
}

// item writes an item of a list; depth 0 is the outermost.
func (w *writer) item(depth int, mark, text string) {
	if text = cleanLines(text); text == "" {
		return
	}
	indent := strings.Repeat("  ", min(max(depth, 0), 10))
	if mark != "" {
		mark += " "
	}
	start, end := w.write(blockItem, indent+mark+strings.ReplaceAll(text, "\n", "\n"+indent+"  "))
	w.part(KindItem, "", start, end)
}

// code writes text as it is, white space included.
func (w *writer) code(text string) {
	text = strings.Trim(cleanCode(text), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	start, end := w.write(blockText, text)
	w.part(KindCode, "", start, end)
}

// note writes a footnote, comment or the like.
func (w *writer) note(locator, text string) {
	if text = cleanLines(text); text == "" {
		return
	}
	start, end := w.write(blockText, text)
	w.part(KindNote, locator, start, end)
}

// table writes rows of cells, the first header ones of which name the columns. A header
// of several rows is set apart by a rule, a header of one row is simply the first.
func (w *writer) table(caption string, header int, rows [][]string) {
	rows, header = tidyRows(rows, header)
	if len(rows) == 0 {
		return
	}
	w.tables++
	if caption = clean(caption); caption == "" {
		caption = fmt.Sprintf("table %d", w.tables)
	} else {
		w.write(blockText, caption)
	}
	var b strings.Builder
	for i, row := range rows {
		if i == header && header > 1 {
			b.WriteString(strings.TrimSuffix(strings.Repeat("--- | ", len(row)), " | ") + "\n")
		}
		b.WriteString(rowLine(row) + "\n")
	}
	start, end := w.write(blockText, strings.TrimSuffix(b.String(), "\n"))
	w.part(KindTable, shorten(caption, 120), start, end)
}

// rowLine writes cells in one line. A bar inside a cell becomes a slash, so that the
// bars of a line are those between its cells; a line that begins with one has an empty
// first cell.
func rowLine(cells []string) string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = strings.ReplaceAll(c, "|", "/")
	}
	return strings.TrimSpace(strings.Join(out, " | "))
}

// tidyRows cleans cells and drops rows and columns without any text.
func tidyRows(rows [][]string, header int) ([][]string, int) {
	var out [][]string
	var used []bool
	kept := 0
	for i, row := range rows {
		cells, blank := make([]string, len(row)), true
		for j, c := range row {
			cells[j] = clean(c)
			for len(used) <= j {
				used = append(used, false)
			}
			used[j] = used[j] || cells[j] != ""
			blank = blank && cells[j] == ""
		}
		if blank {
			continue
		}
		if i < header {
			kept++
		}
		out = append(out, cells)
	}
	for i, row := range out {
		narrow := row[:0]
		for j, c := range row {
			if used[j] {
				narrow = append(narrow, c)
			}
		}
		out[i] = narrow
	}
	return out, kept
}

// mostParts bounds the parts of a text. What has more is data; its places get coarser
// from there on.
const mostParts = 50_000

// begin opens a container that the blocks to come are in.
func (w *writer) begin(kind, locator string) {
	if len(w.parts) >= mostParts {
		w.open = append(w.open, container{part: -1})
		return
	}
	w.parts = append(w.parts, sextant.Part{Kind: kind, Locator: w.locator(locator), Start: -1})
	w.open = append(w.open, container{part: len(w.parts) - 1})
}

// end closes the innermost container. One without text leaves no part.
func (w *writer) end() {
	top := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	if top.part < 0 {
		return
	}
	p := &w.parts[top.part]
	if p.Start < 0 {
		w.parts = slices.Delete(w.parts, top.part, top.part+1)
		return
	}
	p.End = w.text.Len()
}

// endAll closes all containers.
func (w *writer) endAll() {
	for len(w.open) > 0 {
		w.end()
	}
}

// part records a range.
func (w *writer) part(kind, locator string, start, end int) {
	if start < end && len(w.parts) < mostParts {
		w.parts = append(w.parts, sextant.Part{Kind: kind, Locator: w.locator(locator), Start: start, End: end})
	}
}

// locator puts a place behind those around it.
func (w *writer) locator(own string) string {
	for i := len(w.open) - 1; i >= 0; i-- {
		if p := w.open[i].part; p >= 0 {
			return join(w.parts[p].Locator, own)
		}
	}
	return own
}

// join joins two places, the wider first.
func join(outer, own string) string {
	switch {
	case outer == "":
		return own
	case own == "":
		return outer
	}
	return outer + ", " + own
}

// touch gives open containers their start.
func (w *writer) touch(start int) {
	for i := len(w.open) - 1; i >= 0; i-- {
		if p := w.open[i].part; p >= 0 {
			if w.parts[p].Start >= 0 {
				return
			}
			w.parts[p].Start = start
		}
	}
}

// result closes everything.
func (w *writer) result() (string, []sextant.Part, error) {
	w.endAll()
	return w.text.String(), w.parts, w.err
}

// shorten cuts a text for a locator, between words where it can.
func shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	cut := string([]rune(text)[:most])
	if i := strings.LastIndexByte(cut, ' '); i > most/2 {
		cut = cut[:i]
	}
	return cut + "…"
}
