package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of a table: spans are claims of the page.
const (
	mostSpan  = 100
	mostCells = 1_000_000
)

// table writes a table of data as rows. Tables that only lay out a page (with tables or
// headings in their cells, or of one column) are written as what is in them.
func (h *htmlWriter) table(n *html.Node) {
	h.flush()
	rows := tableRows(n)
	if isLayout(n, rows) {
		h.children(n)
		h.flush()
		return
	}
	g := grid{}
	for _, r := range rows {
		g.row(r)
	}
	caption := ""
	if c := find(n, func(c *html.Node) bool { return c.DataAtom == atom.Caption }); c != nil {
		caption = textOf(c)
	}
	if h.item { // a table in an item belongs to it
		h.mark = ""
	}
	h.w.table(caption, g.header(), g.cells)
}

// tableRows returns the rows of a table, not those of tables inside it.
func tableRows(n *html.Node) []*html.Node {
	var out []*html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Tr:
			out = append(out, c)
		case atom.Thead, atom.Tbody, atom.Tfoot:
			out = append(out, tableRows(c)...)
		}
	}
	return out
}

func isLayout(n *html.Node, rows []*html.Node) bool {
	if role := strings.ToLower(attribute(n, "role")); role == "presentation" || role == "none" {
		return true
	}
	wide := 0
	for _, r := range rows {
		cells := 0
		for c := r.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
				cells++
			}
		}
		if cells > 1 {
			wide++
		}
	}
	if wide == 0 {
		return true
	}
	return find(n, func(c *html.Node) bool {
		return c.DataAtom == atom.Table || c.DataAtom == atom.H1 || c.DataAtom == atom.H2 || c.DataAtom == atom.Article || c.DataAtom == atom.Main
	}) != nil
}

// grid lays cells out in rows and columns.
type grid struct {
	cells   [][]string
	heads   []bool // rows of th only, or in thead
	hanging []hang // cells that reach down from rows above
	total   int
}

// hang is a cell that spans rows: it fills its column in as many rows as are left.
type hang struct {
	column, left int
	text         string
}

// row adds a row. A cell over several rows is repeated in each, as is a heading over
// several columns: each row and column is to be understood by itself.
func (g *grid) row(tr *html.Node) {
	if g.total > mostCells {
		return
	}
	var cells []string
	var next []hang
	head, any := true, false
	take := func() {
		for i := 0; i < len(g.hanging); i++ {
			if h := g.hanging[i]; h.column == len(cells) {
				cells = append(cells, h.text)
				if h.left > 1 {
					next = append(next, hang{h.column, h.left - 1, h.text})
				}
			}
		}
	}
	for c := tr.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom != atom.Td && c.DataAtom != atom.Th {
			continue
		}
		take()
		any = true
		head = head && c.DataAtom == atom.Th
		text := cellText(c)
		across, down := min(max(number(attribute(c, "colspan"), 1), 1), mostSpan), min(max(number(attribute(c, "rowspan"), 1), 1), 1000)
		for i := range across {
			if i > 0 && c.DataAtom == atom.Td {
				text = ""
			}
			if down > 1 {
				next = append(next, hang{len(cells), down - 1, text})
			}
			cells = append(cells, text)
		}
	}
	take()
	g.total += len(cells) + len(next)
	g.hanging = next
	g.cells = append(g.cells, cells)
	g.heads = append(g.heads, any && head || tr.Parent != nil && tr.Parent.DataAtom == atom.Thead)
}

// header is the number of rows that name the columns.
func (g *grid) header() int {
	n := 0
	for n < len(g.heads) && g.heads[n] {
		n++
	}
	if n == len(g.heads) {
		n = min(1, n)
	}
	return max(n, 1)
}

// cellText is the text of a cell in one line; its blocks are separated.
func cellText(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		switch {
		case c.Type == html.TextNode:
			b.WriteString(c.Data)
		case c.DataAtom == atom.Li && strings.TrimSpace(b.String()) != "":
			b.WriteString("; ")
		case c.Type == html.ElementNode && isBlock(c.DataAtom):
			b.WriteByte(' ')
		case c.DataAtom == atom.Input:
			if t := strings.ToLower(attribute(c, "type")); t == "checkbox" {
				b.WriteString("[ ] ")
			}
		}
	}
	return strings.ReplaceAll(strings.Join(strings.Fields(b.String()), " "), " ;", ";")
}
