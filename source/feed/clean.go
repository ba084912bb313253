package feed

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"

	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxLinks is how many of an entry's links are kept.
const maxLinks = 50

// maxEncodings is how often markup may have been encoded over itself.
const maxEncodings = 3

// markup tells text that is HTML from text that speaks of a '<': an end of an element, or
// the start of one that HTML knows.
var markup = regexp.MustCompile(`(?i)</[a-z][a-z0-9]*\s*>|<(?:p|br|hr|a|b|i|em|strong|u|ul|ol|li|div|span|img|h[1-6]|blockquote|table|script|style|iframe|object|embed|input|link|meta|base|svg|pre|code|font|center|figure|video|audio|form|body|html)(?:[\s/][^<>]*)?/?>|<!--|<!\[CDATA\[`)

// encoded tells markup that is encoded as a whole. overlaid tells, in the text of markup,
// markup that was encoded into it from an article that shows a tag or two.
var (
	encoded  = regexp.MustCompile(`(?i)^\s*(?:&amp;)?&lt;[a-z!]|&lt;/[a-z][a-z0-9]*\s*&gt;`)
	overlaid = regexp.MustCompile(`(?i)^\s*<[a-z!]|</[a-z][a-z0-9]*\s*>`)
)

var anyEntity = regexp.MustCompile(`&(?:[A-Za-z][A-Za-z0-9]{1,30}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});`)

// cleaned is markup made readable.
type cleaned struct {
	text  string
	links []string // absolute, in order, each once
}

// clean turns markup into plain text: paragraphs are separated by an empty line, list
// items begin with "- ", and nothing is left of scripts, styles and
// attributes. Text that was encoded twice or three times is decoded as often. Links are
// resolved against base, which may be nil; those that are not http, https or mailto are
// dropped.
func clean(text string, base *url.URL) cleaned {
	var out cleaned
	for round := range maxEncodings {
		if encoded.MatchString(text) {
			text = html.UnescapeString(text)
		}
		if !markup.MatchString(text) || round > 0 && !overlaid.MatchString(text) {
			break
		}
		r := renderer{base: base, links: out.links}
		text = r.render(text)
		out.links = r.links
	}
	if anyEntity.MatchString(text) {
		text = html.UnescapeString(text)
	}
	out.text = tidy(strings.ReplaceAll(text, "]]>", "")) // the end of a section inside a section
	return out
}

// silent are the elements whose content is not for reading.
var silent = []atom.Atom{
	atom.Script, atom.Style, atom.Noscript, atom.Template,
	atom.Head, atom.Svg, atom.Math, atom.Textarea, atom.Select, atom.Noembed, atom.Noframes, atom.Title, atom.Xmp, atom.Plaintext,
}

var paragraphs = []atom.Atom{
	atom.P, atom.Div, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Blockquote,
	atom.Pre, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Figure, atom.Figcaption, atom.Hr, atom.Aside, atom.Form, atom.Address,
}

var lines = []atom.Atom{atom.Br, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Caption, atom.Legend, atom.Option}

// renderer writes the text of a stream of tags. It builds no tree, so that nesting costs
// nothing.
type renderer struct {
	b     strings.Builder
	base  *url.URL
	links []string
	mute  atom.Atom // the silent element we are in
	depth int       // how often it was opened
}

func (r *renderer) render(text string) string {
	z := xhtml.NewTokenizer(strings.NewReader(text))
	for {
		switch z.Next() {
		case xhtml.ErrorToken:
			return r.b.String()
		case xhtml.TextToken:
			if r.mute == 0 {
				r.b.WriteString(html.UnescapeString(string(z.Raw())))
			}
		case xhtml.StartTagToken:
			t := z.Token()
			if t.DataAtom == atom.Iframe { // what stands in it is for readers without frames
				z.NextIsNotRawText()
			}
			r.start(t, false)
		case xhtml.SelfClosingTagToken:
			t := z.Token()
			if t.DataAtom == atom.Iframe {
				z.NextIsNotRawText()
			}
			r.start(t, true)
		case xhtml.EndTagToken:
			r.end(z.Token().DataAtom)
		}
	}
}

func (r *renderer) start(t xhtml.Token, alone bool) {
	switch {
	case r.mute != 0:
		if t.DataAtom == r.mute && !alone {
			r.depth++
		}
		return
	case slices.Contains(silent, t.DataAtom):
		if !alone {
			r.mute, r.depth = t.DataAtom, 1
		}
		return
	case t.DataAtom == atom.A:
		r.link(attribute(t, "href"))
	case t.DataAtom == atom.Base:
		r.base = resolve(attribute(t, "href"), r.base)
	}
	r.space(t.DataAtom)
	if t.DataAtom == atom.Li {
		r.b.WriteString("- ")
	}
}

func (r *renderer) end(a atom.Atom) {
	if r.mute == 0 {
		if slices.Contains(paragraphs, a) { // lines are broken where one begins
			r.space(a)
		}
		return
	}
	if a == r.mute {
		if r.depth--; r.depth == 0 {
			r.mute = 0
		}
	}
}

func (r *renderer) space(a atom.Atom) {
	switch {
	case slices.Contains(paragraphs, a):
		r.b.WriteString("\n\n")
	case slices.Contains(lines, a):
		r.b.WriteString("\n")
	case a == atom.Td || a == atom.Th:
		r.b.WriteString(" ")
	}
}

func (r *renderer) link(href string) {
	if len(r.links) >= maxLinks {
		return
	}
	if u := resolve(href, r.base); u != nil && !slices.Contains(r.links, u.String()) {
		r.links = append(r.links, u.String())
	}
}

func attribute(t xhtml.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// resolve makes an address absolute. Nil is what cannot be opened by itself: an address
// within a page, a script, one that stays relative.
func resolve(address string, base *url.URL) *url.URL {
	address = strings.TrimSpace(address)
	if address == "" || len(address) > 4096 || strings.HasPrefix(address, "#") {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if u.Host == "" {
			return nil
		}
	case "mailto":
	default:
		return nil
	}
	return u
}

// tidy joins blanks, and lets no more than one empty line stand between paragraphs.
func tidy(text string) string {
	var out []string
	for line := range strings.Lines(strings.Map(readable, text)) {
		line = strings.Join(strings.Fields(line), " ")
		if line == "-" { // an item whose text begins with a paragraph, or an empty one
			continue
		}
		if line != "" || len(out) > 0 && out[len(out)-1] != "" {
			out = append(out, line)
		}
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// readable drops what shows nothing or changes what is shown: control characters, soft
// hyphens, zero-width and direction marks.
func readable(c rune) rune {
	switch c = modern(c); {
	case c == '\n' || c == '\t':
		return c
	case c == '\r' || c == 0x2028 || c == 0x2029:
		return '\n'
	case c < ' ' || c == 0x7f || c == 0xad || c == 0x200b || c == 0xfeff || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069:
		return -1
	}
	return c
}

// line is clean for what stands in one line: a title, a name.
func line(text string) string { return strings.Join(strings.Fields(clean(text, nil).text), " ") }
