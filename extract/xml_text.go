package extract

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
)

// readXML reads XML of any vocabulary: an element with text of its own is a paragraph,
// with what is inside it; short ones are "name: text". Attributes are said for elements
// that have nothing else.
func readXML(ctx context.Context, in *input) (Text, error) {
	raw, err := in.all(ctx, in.limits.Text)
	if err != nil {
		return Text{}, err
	}
	text, encoding, warnings := decode(raw, declaredCharset(raw))
	d := xmlText{x: newXMLReader(ctx, bytes.NewReader([]byte(text)), in.limits.Depth), w: newWriter(in)}
	if err := d.read(); err != nil && !errors.Is(err, io.EOF) {
		return Text{}, err
	}
	d.flush()
	t := Text{Format: FormatXML, Title: d.title, Properties: Properties{Encoding: encoding}, Warnings: warnings}
	t.Text, t.Parts, err = d.w.result()
	return t, err
}

// xmlText collects the fields of an element until the next paragraph.
type xmlText struct {
	x      *xmlReader
	w      *writer
	title  string
	fields []string
	size   int
}

func (d *xmlText) flush() {
	if len(d.fields) > 0 {
		d.w.lines(strings.Join(d.fields, "\n"))
		d.fields, d.size = nil, 0
	}
}

// element is one that is open: its own text so far, and whether it has elements in it.
type xmlElement struct {
	start  xmlToken
	text   strings.Builder
	parent bool
}

func (d *xmlText) read() error {
	var stack []*xmlElement
	for {
		t, err := d.x.next()
		if err != nil {
			return err
		}
		if d.w.err != nil {
			return d.w.err
		}
		switch t.kind {
		case '<':
			if n := len(stack); n > 0 {
				stack[n-1].parent = true
				if own := stack[n-1]; strings.TrimSpace(own.text.String()) != "" { // mixed: a paragraph with markup in it
					if err := d.mixed(own, t); err != nil {
						return err
					}
					continue
				}
			}
			stack = append(stack, &xmlElement{start: t})
		case 't':
			if n := len(stack); n > 0 && stack[n-1].text.Len() < 4<<20 {
				stack[n-1].text.WriteString(t.text)
			}
		case '/':
			n := len(stack)
			if n == 0 {
				continue
			}
			d.close(stack[n-1], n)
			stack = stack[:n-1]
		}
	}
}

// mixed adds the text of an element inside a paragraph to it.
func (d *xmlText) mixed(own *xmlElement, t xmlToken) error {
	text, err := d.x.elementText()
	if own.text.Len() < 4<<20 {
		if blockNamed(t.name) {
			text = "\n" + text + "\n"
		}
		own.text.WriteString(text)
	}
	return err
}

func blockNamed(name string) bool {
	switch strings.ToLower(name) {
	case "p", "para", "li", "item", "div", "row", "tr", "br", "lb", "title", "head":
		return true
	}
	return false
}

// close writes an element that has ended.
func (d *xmlText) close(e *xmlElement, depth int) {
	text := e.text.String()
	if strings.Contains(text, "</") || strings.Contains(text, "/>") { // markup as text, as in feeds
		text = stripTags(text)
	}
	text = cleanLines(text)
	name := strings.ToLower(e.start.name)
	switch {
	case text == "" && !e.parent && len(e.start.attrs) > 0:
		d.field(e.start.name + ": " + attrText(e.start.attrs))
	case text == "":
		if !e.parent || depth <= 3 {
			d.flush()
		}
	case (name == "title" || name == "head" || name == "heading") && len(text) < 300:
		if d.title == "" {
			d.title = shorten(clean(text), 200)
		}
		d.flush()
		d.w.heading(min(max(depth-1, 1), 6), text)
	case len(text) > 200 || proseNamed(name):
		d.flush()
		d.w.lines(text)
	default:
		d.field(e.start.name + ": " + text)
	}
}

func (d *xmlText) field(line string) {
	d.fields = append(d.fields, line)
	if d.size += len(line); d.size > partLines {
		d.flush()
	}
}

func proseNamed(name string) bool {
	switch name {
	case "p", "para", "paragraph", "text", "body", "content", "description", "summary", "li", "item", "td", "th", "entry", "cell", "line", "l", "span", "div", "section", "claim-text":
		return true
	}
	return false
}

func attrText(attrs []xmlAttr) string {
	var out []string
	for _, a := range attrs {
		if a.value != "" && a.name != "xmlns" && len(out) < 30 {
			out = append(out, a.name+"="+shorten(a.value, 200))
		}
	}
	return strings.Join(out, ", ")
}

// stripTags takes the tags out of HTML that stands as text in a field.
func stripTags(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		end := strings.IndexByte(s[i:], '>')
		if end < 0 || i+1 >= len(s) || !strings.ContainsRune("/!abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", rune(s[i+1])) {
			b.WriteByte('<')
			s = s[i+1:]
			continue
		}
		switch tag := strings.ToLower(strings.Trim(strings.Fields(s[i+1:i+end] + " ")[0], "/")); tag {
		case "p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4", "ul", "ol", "blockquote", "pre", "table":
			b.WriteByte('\n')
		case "td", "th":
			b.WriteByte(' ')
		}
		s = s[i+end+1:]
	}
	return unescapeHTML(b.String())
}
