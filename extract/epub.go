package extract

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readEPUB reads the chapters of a book in the order of its spine (EPUB 3.3).
func readEPUB(ctx context.Context, in *input) (Text, error) {
	o, err := openOffice(ctx, in)
	if err != nil {
		return Text{}, err
	}
	b := book{office: o, w: newWriter(in), items: map[string]bookItem{}, listed: map[string]bool{}}
	if err := b.open(); err != nil {
		return Text{}, err
	}
	if len(b.spine) == 0 {
		return Text{}, malformed("", "the book lists no chapters")
	}
	if b.locked() {
		return Text{}, &Refusal{Code: Encrypted, Reason: "the book is protected (DRM)", Hint: "Use a copy without protection."}
	}
	for i, id := range b.spine {
		b.w.endAll()
		if err := b.chapter(i+1, b.items[id]); err != nil {
			return Text{}, err
		}
		if b.w.err != nil {
			break
		}
	}
	t := Text{Format: FormatEPUB, Title: b.title, Properties: b.properties, Warnings: b.warnings}
	t.Text, t.Parts, err = b.w.result()
	return t, err
}

// book is an EPUB being read.
type book struct {
	*office
	w          *writer
	items      map[string]bookItem
	spine      []string
	listed     map[string]bool
	title      string
	properties Properties
	warnings   []string
}

type bookItem struct{ href, kind, properties string }

// open reads the package that lists title, files and their order.
func (b *book) open() error {
	var opf string
	err := b.walk("META-INF/container.xml", func(_ *xmlReader, t xmlToken) error {
		if t.name == "rootfile" && opf == "" {
			opf = t.attr("full-path")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if opf == "" || b.zip.find(opf) == nil {
		return missing("META-INF/container.xml")
	}
	dir := path.Dir(opf)
	return b.walk(opf, func(x *xmlReader, t xmlToken) error {
		switch t.name {
		case "title", "creator", "language", "date":
			text, err := x.elementText()
			b.property(t.name, clean(text))
			return err
		case "item":
			href, err := url.PathUnescape(t.attr("href"))
			if err != nil {
				href = t.attr("href")
			}
			b.items[t.attr("id")] = bookItem{path.Join(dir, href), t.attr("media-type"), t.attr("properties")}
		case "itemref":
			if id := t.attr("idref"); t.attr("linear") != "no" && !b.listed[id] {
				b.listed[id] = true // a chapter stands once, whatever the spine says
				b.spine = append(b.spine, id)
			}
		}
		return nil
	})
}

func (b *book) property(name, text string) {
	switch name {
	case "title":
		if b.title == "" {
			b.title = shorten(text, 200)
		}
	case "creator":
		b.properties.Author = join(b.properties.Author, text)
	case "language":
		b.properties.Language = text
	case "date":
		b.properties.Created = parseTime(text)
	}
}

// locked reports whether chapters are encrypted; fonts often are, for other reasons.
func (b *book) locked() bool {
	locked := false
	_ = b.walk("META-INF/encryption.xml", func(_ *xmlReader, t xmlToken) error {
		if t.name == "CipherReference" {
			switch path.Ext(strings.ToLower(t.attr("URI"))) {
			case ".xhtml", ".html", ".htm", ".xml":
				locked = true
			}
		}
		return nil
	})
	return locked
}

// chapter writes one file of the spine. Without headings of its own it is called by its
// place.
func (b *book) chapter(n int, item bookItem) error {
	f := b.zip.find(item.href)
	if f == nil || strings.Contains(item.properties, "nav") {
		if f == nil {
			b.warnings = append(b.warnings, fmt.Sprintf("Chapter %d is missing (%s).", n, shorten(item.href, 80)))
		}
		return nil
	}
	raw, err := b.zip.read(f, b.in.limits.Text)
	if err != nil {
		return located(err, item.href)
	}
	text, _, _ := decode(raw, declaredCharset(raw))
	root, err := parseHTML(b.ctx, fixSelfClosed(text))
	if err != nil {
		return located(err, item.href)
	}
	body := find(root, func(n *html.Node) bool { return n.DataAtom == atom.Body })
	if body == nil {
		return nil
	}
	removeHidden(body)
	heading := find(body, func(n *html.Node) bool {
		return n.DataAtom == atom.H1 || n.DataAtom == atom.H2 || n.DataAtom == atom.H3
	})
	if heading == nil {
		b.w.begin(KindSection, fmt.Sprintf("chapter %d", n))
	}
	writeHTML(b.ctx, b.w, body)
	return nil
}

// fixSelfClosed closes elements that XHTML may close at once and HTML may not: what
// follows an empty title or script would be swallowed by it.
func fixSelfClosed(text string) string {
	if !strings.Contains(text, "/>") {
		return text
	}
	var b bytes.Buffer
	for {
		i := strings.Index(text, "/>")
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		start := strings.LastIndexByte(text[:i], '<')
		b.WriteString(text[:i])
		name := ""
		if start >= 0 {
			name, _, _ = strings.Cut(strings.Map(func(r rune) rune {
				if r == '\n' || r == '\t' || r == '\r' {
					return ' '
				}
				return r
			}, text[start+1:i]), " ")
		}
		switch strings.ToLower(name) {
		case "title", "script", "a", "div", "span", "p", "i", "b", "em", "style", "iframe", "textarea", "td", "th", "li":
			b.WriteString("></" + name + ">")
		default:
			b.WriteString("/>")
		}
		text = text[i+2:]
	}
}
