package extract

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// mostElements bounds the tree of an HTML page: a node needs 150 bytes, however few
// bytes of the file it took.
const mostElements = 400_000

// readHTML reads a web page: its main content, without menus and notices.
func readHTML(ctx context.Context, in *input) (Text, error) {
	raw, err := in.all(ctx, in.limits.Text)
	if err != nil {
		return Text{}, err
	}
	text, encoding, warnings := decode(raw, declaredCharset(raw))
	root, err := parseHTML(ctx, text)
	if err != nil {
		return Text{}, err
	}
	t := Text{Format: FormatHTML, Warnings: warnings}
	t.Title, t.Properties = pageProperties(root)
	t.Properties.Encoding = encoding
	main, dropped := mainContent(root)
	if dropped > 0 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("%d words of menus, notices and the like were left out.", dropped))
	}
	w := newWriter(in)
	writeHTML(ctx, w, main)
	t.Text, t.Parts, err = w.result()
	return t, err
}

// parseHTML parses a page, while the context lasts.
func parseHTML(ctx context.Context, text string) (*html.Node, error) {
	if n := strings.Count(text, "<"); n > mostElements {
		return nil, &Refusal{Code: TooLarge, Reason: fmt.Sprintf("it has %d elements, the limit is %d", n, mostElements), Hint: "Split the page."}
	}
	if crowded(text) {
		return nil, &Refusal{Code: TooLarge, Reason: fmt.Sprintf("one of its elements has more than %d attributes", mostAttributes)}
	}
	root, err := html.Parse(&contextReader{ctx, strings.NewReader(text)})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && strings.Contains(err.Error(), "exceeds"):
		return nil, &Refusal{Code: TooDeep, Reason: "its elements are nested more than 512 deep", Err: err}
	case err != nil:
		return nil, &Refusal{Code: Malformed, Reason: "it cannot be parsed", Err: err}
	}
	return root, nil
}

// mostAttributes bounds those of one element; each needs 50 bytes, however short it is.
const mostAttributes = 5000

// crowded looks for an element with more attributes than any has: words between the
// brackets of a tag. Quoted text counts too, but is not that long in tags.
func crowded(text string) bool {
	tag, words := false, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '<':
			tag, words = i+1 < len(text) && 'a' <= text[i+1]|0x20 && text[i+1]|0x20 <= 'z', 0
		case '>':
			tag = false
		case ' ', '\n', '\t', '/', '"':
			if words++; tag && words > mostAttributes {
				return true
			}
		}
	}
	return false
}

// contextReader ends with the context, which makes parsers stop that know none.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

var charsetMark = regexp.MustCompile(`(?i)<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w:.-]+)|^<\?xml[^>]{0,100}encoding\s*=\s*["']([\w:.-]+)`)

// declaredCharset finds the encoding a page declares in its first bytes, "" if none.
func declaredCharset(raw []byte) string {
	g := charsetMark.FindSubmatch(raw[:min(len(raw), 4096)])
	if g == nil {
		return ""
	}
	label := string(g[1]) + string(g[2])
	if strings.HasPrefix(strings.ToLower(label), "utf-16") {
		return "utf-8" // it could be read as far as this: it is none
	}
	return label
}

// pageProperties reads what the head of a page says.
func pageProperties(root *html.Node) (title string, p Properties) {
	var social string
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Html:
			p.Language = clean(attribute(n, "lang"))
		case atom.Title:
			if title == "" && (n.Parent == nil || n.Parent.DataAtom != atom.Svg) {
				title = clean(textOf(n))
			}
		case atom.Link:
			if strings.EqualFold(attribute(n, "rel"), "canonical") {
				p.URL = clean(attribute(n, "href"))
			}
		case atom.Meta:
			name := strings.ToLower(attribute(n, "name") + attribute(n, "property"))
			pageProperty(&p, &social, name, clean(attribute(n, "content")))
		}
	}
	if social != "" {
		title = social
	}
	return shorten(title, 200), p
}

func pageProperty(p *Properties, title *string, name, value string) {
	switch name {
	case "og:title":
		*title = value
	case "author", "article:author", "dc.creator":
		p.Author = value
	case "description":
		p.Subject = shorten(value, 500)
	case "keywords":
		p.Keywords = shorten(value, 500)
	case "article:published_time", "date", "dc.date", "dcterms.created":
		p.Created = parseTime(value)
	case "article:modified_time", "last-modified", "dcterms.modified":
		p.Modified = parseTime(value)
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// textOf is all text below a node.
func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		} else if c.Type == html.ElementNode && isBlock(c.DataAtom) {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
