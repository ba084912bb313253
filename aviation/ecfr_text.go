package aviation

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
)

// Kinds of the parts of a section besides partHeading. A heading inside an appendix is
// "heading2" or "heading3".
const (
	partParagraph = "paragraph"
	partTable     = "table"
	partNote      = "note"
)

// reservedText is what a section says that has a number and no text.
const reservedText = "Reserved: no text in force."

// lawText writes a section line by line.
type lawText struct {
	b       strings.Builder
	parts   []sextant.Part
	outline outline
	path    string   // of the last paragraph with a label
	labels  []label  // of the section, from the next one on
	tables  int      // written so far
	closing []string // notes that come last
	figures int
	pending int
	defines bool     // the section is about definitions
	terms   []string // that it defines
	under   string   // the term that paragraphs without a letter belong to
}

// write writes the content of a section or appendix below its heading.
func (t *lawText) write(n *node) {
	t.labels = collectLabels(n, nil)
	t.container(n)
}

// collectLabels returns the labels of all paragraphs in the order of the text.
func collectLabels(n *node, into []label) []label {
	for _, c := range n.children {
		switch {
		case c.name == "TABLE" || isAside(c.name):
		case c.isBlockOfText():
			if c.hasLabels() {
				for _, p := range labelsOf(inline(c)) {
					into = append(into, p.label)
				}
			}
		default:
			into = collectLabels(c, into)
		}
	}
	return into
}

// isBlockOfText reports whether an element is one paragraph: all in it is inline.
func (n *node) isBlockOfText() bool {
	return n.name != "" && !n.isInline() && n.name != "TABLE" && !slices.ContainsFunc(n.children, func(c *node) bool { return !c.isInline() && c.name != "img" })
}

// hasLabels reports whether a paragraph's label counts: headings have none.
func (n *node) hasLabels() bool { return n.name == "P" || strings.HasPrefix(n.name, "FP") }

// isAside reports whether an element is no rule: a heading that is written elsewhere, a
// note, where the text comes from.
func isAside(name string) bool {
	switch name {
	case "HEAD", "XREF", "CITA", "AUTH", "SOURCE", "SECAUTH", "APPRO", "NOTE", "EDNOTE", "EFFDNOT", "EFFDNOTP", "FTNT", "CROSSREF":
		return true
	}
	return false
}

func (t *lawText) container(n *node) {
	run := &node{name: "P"} // text between elements, where there should be none
	flush := func() {
		if run.plain() != "" {
			t.paragraph(run)
		}
		run = &node{name: "P"}
	}
	for _, c := range n.children {
		if c.isInline() {
			run.children = append(run.children, c)
			continue
		}
		flush()
		t.block(c)
	}
	flush()
}

func (t *lawText) block(n *node) {
	switch n.name {
	case "HEAD":
	case "XREF":
		t.notice(n)
	case "CITA", "AUTH", "SOURCE", "SECAUTH", "APPRO":
		t.closing = append(t.closing, n.plain())
	case "NOTE", "EDNOTE", "EFFDNOT", "EFFDNOTP", "FTNT", "CROSSREF":
		t.line(inline(n), partNote, strings.TrimSuffix(n.child("HED").plain(), ":"))
	case "HD1", "HD2", "HD3", "HED":
		t.subheading(n)
	case "TABLE":
		t.table(n)
	case "img":
		t.line(inline(&node{name: "P", children: []*node{n}}), partParagraph, t.path)
	default:
		if n.isBlockOfText() {
			t.paragraph(n)
			return
		}
		t.container(n)
	}
}

// notice leaves out that an amendment was published which is not in force: it comes
// and goes while the rule stays. Other references are text.
func (t *lawText) notice(n *node) {
	text := strings.ToLower(n.plain())
	if strings.HasPrefix(text, "link to an amendment") || strings.Contains(text, "amendment published at") {
		t.pending++
		return
	}
	t.line(inline(n), partNote, "")
}

// line writes a line as a part and returns where it starts.
func (t *lawText) line(l line, kind, locator string) int {
	t.figures += l.figures
	start := t.b.Len()
	if l.text == "" {
		return start
	}
	t.b.WriteString(l.text)
	t.part(kind, locator, start)
	t.b.WriteByte('\n')
	return start
}

func (t *lawText) part(kind, locator string, start int) {
	t.parts = append(t.parts, sextant.Part{Kind: kind, Locator: locator, Start: start, End: t.b.Len()})
}

func (t *lawText) subheading(n *node) {
	kind := "heading3"
	if n.name == "HD1" {
		kind = "heading2"
	}
	t.line(inline(n), kind, "")
	t.outline, t.path = outline{}, "" // labels start anew
}

// paragraph writes a paragraph with its labels. Where a line begins with several, each
// has a part to the end of the line, the later inside the earlier. A term that is defined
// heads the paragraphs of its list: "Category (1)".
func (t *lawText) paragraph(n *node) {
	l := inline(n)
	if l.text == "" {
		return
	}
	var labels []placed
	if n.hasLabels() {
		labels = labelsOf(l)
	}
	after := 0
	if len(labels) > 0 {
		after = labels[len(labels)-1].end
	}
	term := ""
	if n.hasLabels() {
		term = t.term(l, after)
	}
	if term != "" && len(labels) == 0 {
		t.under, t.outline, t.path = term, outline{}, ""
	}
	locators := t.locators(labels)
	first, kind := "", partParagraph
	if len(labels) > 0 {
		first = locators[0]
	}
	if term != "" {
		t.terms = append(t.terms, term)
		if len(labels) == 0 {
			kind, first = partDefinition, term
		}
	}
	start := t.line(l, kind, first)
	for i := 1; i < len(labels); i++ {
		t.parts = append(t.parts, sextant.Part{Kind: partParagraph, Locator: locators[i], Start: start + labels[i].at, End: start + len(l.text)})
	}
}

// locators enters labels into the outline and returns the path to each.
func (t *lawText) locators(labels []placed) []string {
	out := make([]string, len(labels))
	for i, p := range labels {
		if len(t.labels) > 0 {
			t.labels = t.labels[1:]
		}
		if p.text[0] >= 'a' && p.text[0] <= 'z' && t.outline.at[levelNumber] == "" {
			t.under = "" // a lettered paragraph is one of the section
		}
		t.path = t.outline.path(p.label, t.labels)
		if out[i] = t.path; t.under != "" {
			out[i] = t.under + " " + t.path
		}
	}
	return out
}

// table writes a row a line. A caption is a paragraph before the table, so that the
// first line of the table is its header.
func (t *lawText) table(n *node) {
	if caption := n.child("CAPTION"); caption != nil {
		t.line(inline(caption), partParagraph, t.path)
	}
	t.tables++
	start := t.b.Len()
	t.rows(n)
	if t.b.Len() == start {
		return
	}
	locator := strings.TrimSpace(t.path + " table")
	if t.tables > 1 {
		locator += " " + strconv.Itoa(t.tables)
	}
	t.parts = append(t.parts, sextant.Part{Kind: partTable, Locator: locator, Start: start, End: t.b.Len() - 1})
}

func (t *lawText) rows(n *node) {
	for _, c := range n.children {
		switch c.name {
		case "CAPTION":
		case "TR":
			t.row(c)
		default:
			t.rows(c)
		}
	}
}

func (t *lawText) row(n *node) {
	var cells []string
	blank := true
	for _, c := range n.children {
		if c.name == "" {
			continue
		}
		l := inline(c)
		t.figures += l.figures
		cells = append(cells, l.text)
		blank = blank && l.text == ""
	}
	if !blank {
		t.b.WriteString(strings.Join(strings.Fields(strings.Join(cells, " | ")), " ") + "\n")
	}
}

// close writes where the text comes from.
func (t *lawText) close() {
	start := t.b.Len()
	for _, note := range t.closing {
		if note != "" {
			t.b.WriteString(note + "\n")
		}
	}
	if t.b.Len() > start {
		t.parts = append(t.parts, sextant.Part{Kind: partNote, Locator: "Source note", Start: start, End: t.b.Len() - 1})
	}
}
