package extract

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// htmlWriter writes a tree as blocks. Text that is not in a block of its own collects
// until the next block begins or ends.
type htmlWriter struct {
	ctx   context.Context
	w     *writer
	text  strings.Builder
	lists []listState
	item  bool   // the text at hand is an item's
	mark  string // of the item at hand; its first text takes it
}

type listState struct {
	ordered bool
	next    int
}

// writeHTML writes all below a node.
func writeHTML(ctx context.Context, w *writer, n *html.Node) {
	h := htmlWriter{ctx: ctx, w: w}
	h.children(n)
	h.flush()
}

func isBlock(a atom.Atom) bool {
	switch a {
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Footer, atom.Aside, atom.Nav, atom.Blockquote, atom.Figure, atom.Figcaption,
		atom.Ul, atom.Ol, atom.Li, atom.Dl, atom.Dt, atom.Dd, atom.Table, atom.Tr, atom.Td, atom.Th, atom.Caption, atom.Tbody, atom.Thead, atom.Tfoot, atom.Pre, atom.Hr,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Address, atom.Form, atom.Fieldset, atom.Legend, atom.Details, atom.Summary, atom.Body, atom.Br, atom.Center:
		return true
	}
	return false
}

func (h *htmlWriter) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if h.ctx.Err() != nil || h.w.err != nil {
			return
		}
		switch c.Type {
		case html.TextNode:
			h.text.WriteString(strings.Join(blankRuns(c.Data), " "))
		case html.ElementNode:
			h.element(c)
		}
	}
}

// blankRuns splits text at its white space and keeps an empty string at either end where
// it begins or ends with some: joined again, runs of white space are one blank.
func blankRuns(s string) []string {
	fields := strings.Fields(s)
	if len(fields) == 0 {
		if s == "" {
			return nil
		}
		return []string{"", ""}
	}
	if strings.TrimLeft(s, " \t\n\r\f\u00a0") != s {
		fields = append([]string{""}, fields...)
	}
	if strings.TrimRight(s, " \t\n\r\f\u00a0") != s {
		fields = append(fields, "")
	}
	return fields
}

// flush writes the text that has collected.
func (h *htmlWriter) flush() {
	text := h.text.String()
	h.text.Reset()
	if strings.TrimSpace(text) == "" {
		return
	}
	if h.item {
		h.w.item(len(h.lists)-1, h.mark, text)
		h.mark = ""
		return
	}
	h.w.lines(text)
}

func (h *htmlWriter) element(n *html.Node) {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Head, atom.Title, atom.Svg, atom.Select, atom.Textarea, atom.Button:
	case atom.Br:
		h.text.WriteByte('\n')
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		h.heading(n)
	case atom.Ul, atom.Ol:
		h.list(n)
	case atom.Li:
		h.listItem(n)
	case atom.Dt, atom.Dd:
		h.definition(n)
	case atom.Table:
		h.table(n)
	case atom.Pre:
		h.flush()
		h.w.code(preText(n))
	case atom.Input:
		h.checkbox(n)
	case atom.Q:
		h.text.WriteString("“")
		h.children(n)
		h.text.WriteString("”")
	default:
		h.plain(n)
	}
}

// plain writes an element that is a block, or a run of text, and nothing else.
func (h *htmlWriter) plain(n *html.Node) {
	if !isBlock(n.DataAtom) {
		h.children(n)
		return
	}
	h.flush()
	h.children(n)
	h.flush()
}

// heading writes a heading; one in a list item or cell is text.
func (h *htmlWriter) heading(n *html.Node) {
	h.flush()
	if h.item {
		h.plain(n)
		return
	}
	if nested := find(n, func(c *html.Node) bool {
		return c.DataAtom == atom.Table || c.DataAtom == atom.Ul || c.DataAtom == atom.Ol
	}); nested != nil {
		h.children(n)
		h.flush()
		return
	}
	h.w.heading(int(n.Data[1]-'0'), textOf(n))
}

func (h *htmlWriter) list(n *html.Node) {
	h.flush()
	item, mark := h.item, h.mark
	h.lists = append(h.lists, listState{n.DataAtom == atom.Ol, number(attribute(n, "start"), 1)})
	h.item = false
	h.children(n)
	h.flush()
	h.lists = h.lists[:len(h.lists)-1]
	h.item, h.mark = item && len(h.lists) > 0, mark
}

func (h *htmlWriter) listItem(n *html.Node) {
	h.flush()
	if len(h.lists) == 0 {
		h.lists = append(h.lists, listState{})
		defer func() { h.lists = nil }()
	}
	top := &h.lists[len(h.lists)-1]
	h.item, h.mark = true, "-"
	if top.ordered {
		top.next = number(attribute(n, "value"), top.next)
		h.mark = fmt.Sprintf("%d.", top.next)
		top.next++
	}
	h.children(n)
	h.flush()
	h.item = false
}

// definition writes a term, or its definition indented under it.
func (h *htmlWriter) definition(n *html.Node) {
	h.flush()
	lists, item := h.lists, h.item
	h.lists = append(h.lists[:len(h.lists):len(h.lists)], listState{})
	if n.DataAtom == atom.Dd {
		h.lists = append(h.lists, listState{})
	}
	h.item, h.mark = true, ""
	h.children(n)
	h.flush()
	h.lists, h.item = lists, item
}

func (h *htmlWriter) checkbox(n *html.Node) {
	if t := strings.ToLower(attribute(n, "type")); t == "checkbox" || t == "radio" {
		box := "[ ] "
		for _, a := range n.Attr {
			if a.Key == "checked" {
				box = "[x] "
			}
		}
		h.text.WriteString(box)
	}
}

func preText(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		switch {
		case c.Type == html.TextNode:
			b.WriteString(c.Data)
		case c.DataAtom == atom.Br:
			b.WriteByte('\n')
		}
	}
	return b.String()
}
