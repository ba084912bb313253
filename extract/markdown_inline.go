package extract

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostInline is how much of a paragraph is looked at at once.
const mostInline = 32 << 10

// inlineMarkdown takes the markup out of a paragraph: emphasis, code marks, links (their
// text stays), pictures (their description stays), escapes, tags and entities. No
// paragraph is longer than a piece; in one that is, markup over the seam stays.
func inlineMarkdown(s string) string {
	if len(s) <= mostInline {
		return inlinePiece(s)
	}
	var b strings.Builder
	for len(s) > mostInline {
		cut := strings.LastIndexByte(s[:mostInline], ' ')
		if cut < mostInline/2 {
			for cut = mostInline; !utf8.RuneStart(s[cut]); cut-- {
			}
		}
		b.WriteString(inlinePiece(s[:cut]))
		s = s[cut:]
	}
	b.WriteString(inlinePiece(s))
	return b.String()
}

func inlinePiece(s string) string {
	if !strings.ContainsAny(s, "*_`[]\\<&~!") {
		return s
	}
	p := inline{text: s, out: make([]span, 0, 16), work: 16*len(s) + 1024}
	p.scan()
	return p.String()
}

// inline scans a paragraph once. What may turn out to be markup later is a span that can
// be taken out again.
type inline struct {
	text  string
	at    int
	out   []span
	open  map[byte][]int // spans of * _ and ~ that can open emphasis
	links []int          // spans of [
	noEnd [16]bool       // no run of so many back-ticks is left; at 0: no end of a comment
	work  int            // how many bytes may still be looked at more than once
}

type span struct {
	text string
	raw  bool // code: no entities
}

var (
	inlineTag = regexp.MustCompile(`^</?[A-Za-z][A-Za-z0-9-]*(\s[^<>]*)?/?>`)
	autolink  = regexp.MustCompile(`^<((?:https?://|mailto:|ftp://)[^<>\s]+|[^<>\s@]+@[^<>\s@]+)>`)
)

func (p *inline) scan() {
	p.open = map[byte][]int{}
	for p.at < len(p.text) {
		next := strings.IndexAny(p.text[p.at:], "*_`[]\\<~!")
		if next < 0 {
			p.put(len(p.text)-p.at, false)
			return
		}
		if next > 0 {
			p.put(next, false)
		}
		p.mark()
	}
}

// put takes n bytes as they are.
func (p *inline) put(n int, raw bool) {
	p.out = append(p.out, span{p.text[p.at : p.at+n], raw})
	p.at += n
}

func (p *inline) mark() {
	switch c := p.text[p.at]; c {
	case '\\':
		p.escape()
	case '`':
		p.code()
	case '*', '_', '~':
		p.emphasis(c)
	case '<':
		p.tag()
	case '!':
		p.put(1, false)
	case '[':
		p.links = append(p.links, len(p.out))
		p.put(1, false)
	case ']':
		p.link()
	}
}

func (p *inline) escape() {
	if p.at+1 < len(p.text) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", p.text[p.at+1]) >= 0 {
		p.at++
		p.put(1, true)
		return
	}
	p.put(1, false)
}

func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// code takes the text between two runs of back-ticks of one length.
func (p *inline) code() {
	n := run(p.text[p.at:], '`')
	if n < len(p.noEnd) && !p.noEnd[n] {
		for i := p.at + n; i < len(p.text); {
			j := strings.IndexByte(p.text[i:], '`')
			if j < 0 {
				break
			}
			i += j
			m := run(p.text[i:], '`')
			if m == n {
				p.at += n
				p.put(i-p.at, true)
				p.at += n
				return
			}
			i += m
		}
		p.noEnd[n] = true
	}
	p.put(n, false)
}

// emphasis takes marks out when they close marks before them, by the rules of CommonMark
// for what can open and close (6.2), simplified: marks of one run go together.
func (p *inline) emphasis(c byte) {
	n := run(p.text[p.at:], c)
	before, _ := utf8.DecodeLastRuneInString(p.text[:p.at])
	after, _ := utf8.DecodeRuneInString(p.text[p.at+n:])
	opens, closes := flanking(c, before, after, p.at == 0, p.at+n == len(p.text))
	at := len(p.out)
	p.put(n, true)
	if c == '~' && n != 2 {
		return
	}
	stack := p.open[c]
	if closes && len(stack) > 0 {
		from := stack[len(stack)-1]
		same := min(len(p.out[from].text), n)
		p.out[from].text = p.out[from].text[same:]
		p.out[at].text = p.out[at].text[same:]
		if p.out[from].text == "" {
			p.open[c] = stack[:len(stack)-1]
		}
		return
	}
	if opens {
		p.open[c] = append(stack, at)
	}
}

func flanking(c byte, before, after rune, first, last bool) (opens, closes bool) {
	spaceBefore, spaceAfter := first || unicode.IsSpace(before), last || unicode.IsSpace(after)
	punctBefore, punctAfter := isPunct(before), isPunct(after)
	left := !spaceAfter && (!punctAfter || spaceBefore || punctBefore)
	right := !spaceBefore && (!punctBefore || spaceAfter || punctAfter)
	if unicode.IsDigit(before) && unicode.IsDigit(after) {
		return false, false // 2*3*4 is a product to everybody but the grammar
	}
	if c == '_' {
		return left && (!right || punctBefore), right && (!left || punctAfter)
	}
	return left, right
}

func isPunct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// comment takes out a comment of HTML.
func (p *inline) comment() bool {
	if p.noEnd[0] || !strings.HasPrefix(p.text[p.at:], "<!--") {
		return false
	}
	n := strings.Index(p.text[p.at:], "-->")
	p.noEnd[0] = n < 0
	if n < 0 {
		return false
	}
	p.at += n + len("-->")
	return true
}

// tag takes out tags of HTML; addresses in angles stay without them.
func (p *inline) tag() {
	if p.comment() {
		return
	}
	rest := p.text[p.at:min(len(p.text), p.at+2048)]
	if g := autolink.FindStringSubmatch(rest); g != nil {
		p.out = append(p.out, span{g[1], true})
		p.at += len(g[0])
		return
	}
	n := len(inlineTag.FindString(rest))
	if n == 0 {
		p.put(1, false)
		return
	}
	if tag := strings.ToLower(rest[:n]); strings.HasPrefix(tag, "<br") || strings.HasPrefix(tag, "</p") || strings.HasPrefix(tag, "</tr") || strings.HasPrefix(tag, "</li") {
		p.out = append(p.out, span{"\n", true})
	} else if strings.HasPrefix(tag, "</td") || strings.HasPrefix(tag, "</th") {
		p.out = append(p.out, span{" ", true})
	}
	p.at += n
}

// link takes the brackets off the text of a link, and its address out.
func (p *inline) link() {
	length := p.destination()
	if len(p.links) == 0 || length == 0 {
		if len(p.links) > 0 {
			p.links = p.links[:len(p.links)-1]
		}
		p.put(1, false)
		return
	}
	from := p.links[len(p.links)-1]
	p.links = p.links[:len(p.links)-1]
	p.out[from].text = ""
	if from > 0 && p.out[from-1].text == "!" {
		p.out[from-1].text = ""
	}
	p.at += length
}

// destination is the length of "](address)" or "][reference]" at the place at hand,
// 0 if there is none.
func (p *inline) destination() int {
	rest := p.text[p.at:min(len(p.text), p.at+2048)]
	if len(rest) < 3 || rest[1] != '(' && rest[1] != '[' {
		return 0
	}
	depth := 0
	for i := 1; i < len(rest); i++ {
		if p.work--; p.work < 0 {
			return 0
		}
		switch rest[i] {
		case '\\':
			i++
		case '(', '[':
			if rest[i] == rest[1] {
				depth++
			}
		case ')', ']':
			if (rest[i] == ')') == (rest[1] == '(') {
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	return 0
}

func (p *inline) String() string {
	var b strings.Builder
	for _, s := range p.out {
		if s.raw {
			b.WriteString(s.text)
		} else {
			b.WriteString(html.UnescapeString(s.text))
		}
	}
	return b.String()
}
