package feed

import (
	"errors"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what is built from a feed. The longest real ones have a few thousand entries
// of some fifty elements.
const (
	maxDepth    = 512
	maxElements = 1_000_000
	maxTag      = 256 << 10 // bytes of one tag with its attributes
)

// errTooDeep and errTooMany refuse a feed before it is built.
var (
	errTooDeep = fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	errTooMany = errors.New("it holds too many elements")
)

func tooManyEntries(limit int) error { return fmt.Errorf("it holds more than %d entries", limit) }

// repaired is the document that repair makes of a feed.
type repaired struct {
	text  string
	items int
	fixed int // places that were no XML
}

// repair rewrites XML so that any parser takes it: every element is closed in order,
// every ampersand and angle bracket that is text is escaped, HTML's entities are
// characters, CDATA is escaped text, and comments, declarations and characters that XML
// does not allow are gone. One pass, no recursion, output at most six times the input.
func repair(text string, maxItems int) (repaired, error) {
	r := repairer{in: text, maxItems: maxItems}
	r.out.Grow(len(text) + len(text)/8)
	for len(r.in) > 0 {
		if err := r.step(); err != nil {
			return repaired{}, err
		}
	}
	for len(r.open) > 0 {
		r.fixed++
		r.close()
	}
	return repaired{r.out.String(), r.items, r.fixed}, nil
}

// wholeArticle are the elements of RSS items that came before content:encoded and mean
// the same. The parser knows none of them.
var wholeArticle = []string{"body", "xhtml:body", "fullitem"}

type repairer struct {
	in       string
	out      strings.Builder
	open     []string // names of the open elements, as read
	written  []string // and as written
	elements int
	items    int
	maxItems int
	fixed    int
}

// step takes one run of text or one piece of markup.
func (r *repairer) step() error {
	at := strings.IndexByte(r.in, '<')
	if at < 0 {
		at = len(r.in)
	}
	r.words(r.in[:at])
	if r.in = r.in[at:]; r.in == "" {
		return nil
	}
	switch {
	case strings.HasPrefix(r.in, "<![CDATA["):
		r.escape(r.upTo("<![CDATA[", "]]>"))
	case strings.HasPrefix(r.in, "<!--"):
		r.upTo("<!--", "-->")
	case strings.HasPrefix(r.in, "<?"):
		r.upTo("<?", ">")
	case strings.HasPrefix(r.in, "<!"):
		r.doctype()
	case len(r.in) > 1 && (nameStart(r.in[1]) || r.in[1] == '/'):
		return r.tag()
	default:
		r.fixed++
		r.out.WriteString("&lt;")
		r.in = r.in[1:]
	}
	return nil
}

// upTo cuts off what stands between two marks; without the second, all that is left.
func (r *repairer) upTo(begin, end string) string {
	inside, rest, found := strings.Cut(r.in[len(begin):], end)
	if !found {
		r.fixed++
	}
	r.in = rest
	return inside
}

// doctype drops a declaration with the subset in brackets it may have. Entities that are
// declared in it are not expanded: that is how a few lines become gigabytes.
func (r *repairer) doctype() {
	end := strings.IndexByte(r.in, '>')
	if bracket := strings.IndexByte(r.in, '['); bracket >= 0 && bracket < end {
		if closing := strings.IndexByte(r.in[bracket:], ']'); closing >= 0 {
			end = strings.IndexByte(r.in[bracket+closing:], '>')
			if end >= 0 {
				end += bracket + closing
			}
		}
	}
	if end < 0 {
		end, r.fixed = len(r.in)-1, r.fixed+1
	}
	r.in = r.in[end+1:]
}

func (r *repairer) tag() error {
	end, err := tagEnd(r.in)
	if err != nil {
		return err
	}
	if end < 0 { // the file breaks off inside a tag
		r.fixed++
		r.in = ""
		return nil
	}
	tag := r.in[1:end]
	r.in = r.in[end+1:]
	if tag[0] == '/' {
		name := strings.TrimSpace(tag[1:])
		r.endTag(name[:nameEnd(name)])
		return nil
	}
	return r.startTag(tag)
}

// tagEnd finds the '>' of a tag, outside of quotes if they are balanced. -1 is none.
func tagEnd(in string) (int, error) {
	near := in[:min(len(in), maxTag)]
	quote := byte(0)
	for i := range len(near) {
		switch c := near[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'') && i > 0 && strings.IndexByte("= \t\r\n", near[i-1]) >= 0:
			quote = c
		case quote == 0 && c == '>':
			return i, nil
		}
	}
	if end := strings.IndexByte(near, '>'); end >= 0 || len(near) == len(in) {
		return end, nil
	}
	return 0, fmt.Errorf("it holds a tag of more than %d bytes", maxTag)
}

func (r *repairer) startTag(tag string) error {
	body, alone := strings.CutSuffix(tag, "/")
	name := body[:nameEnd(body)]
	r.elements++
	if local := name[strings.LastIndexByte(name, ':')+1:]; strings.EqualFold(local, "item") || strings.EqualFold(local, "entry") {
		r.items++
	}
	switch {
	case r.items > r.maxItems:
		return tooManyEntries(r.maxItems)
	case r.elements > maxElements:
		return errTooMany
	case len(r.open) >= maxDepth:
		return errTooDeep
	}
	inItem := len(r.open) > 0 && strings.EqualFold(r.open[len(r.open)-1], "item")
	written := name
	if inItem && slices.Contains(wholeArticle, strings.ToLower(name)) {
		written = "content:encoded"
	}
	r.out.WriteString("<" + written)
	r.attributes(body[len(name):])
	r.out.WriteString(">")
	r.open = append(r.open, name)
	r.written = append(r.written, written)
	if alone {
		r.close()
	}
	return nil
}

// attributes writes each attribute with a value once, in double quotes.
func (r *repairer) attributes(in string) {
	var seen [16]string
	n := 0
	for {
		in = strings.TrimLeft(in, " \t\r\n/\"'=<")
		if in == "" {
			return
		}
		end := nameEnd(in)
		if end == 0 || !nameStart(in[0]) {
			in, r.fixed = in[1:], r.fixed+1
			continue
		}
		name, rest := in[:end], strings.TrimLeft(in[end:], " \t\r\n")
		value := ""
		if after, ok := strings.CutPrefix(rest, "="); ok {
			value, rest = attributeValue(strings.TrimLeft(after, " \t\r\n"))
		}
		in = rest
		if !slices.Contains(seen[:n], name) {
			r.out.WriteString(" " + name + `="`)
			r.words(value)
			r.out.WriteString(`"`)
		}
		if n < len(seen) {
			seen[n], n = name, n+1
		}
	}
}

func attributeValue(in string) (value, rest string) {
	if in != "" && (in[0] == '"' || in[0] == '\'') {
		value, rest, _ = strings.Cut(in[1:], in[:1])
		return value, rest
	}
	end := strings.IndexAny(in, " \t\r\n")
	if end < 0 {
		end = len(in)
	}
	return in[:end], in[end:]
}

// endTag closes the innermost element of that name and what is open inside; an end
// without a beginning is dropped.
func (r *repairer) endTag(name string) {
	at := len(r.open) - 1
	for at >= 0 && !strings.EqualFold(r.open[at], name) {
		at--
	}
	if at < 0 {
		r.fixed++
		return
	}
	r.fixed += len(r.open) - 1 - at
	for len(r.open) > at {
		r.close()
	}
}

func (r *repairer) close() {
	last := len(r.open) - 1
	r.out.WriteString("</" + r.written[last] + ">")
	r.open, r.written = r.open[:last], r.written[:last]
}

// words writes text in which entities count.
func (r *repairer) words(text string) {
	for {
		at := strings.IndexByte(text, '&')
		if at < 0 {
			r.escape(text)
			return
		}
		r.escape(text[:at])
		character, size, standard := entity(text[at:])
		if !standard {
			r.fixed++
		}
		r.escape(character)
		text = text[at+size:]
	}
}

// entity reads the entity at the start of text. What is none is an ampersand. standard
// reports whether any XML parser would have taken it.
func entity(text string) (character string, size int, standard bool) {
	end := strings.IndexByte(text[:min(len(text), 40)], ';')
	if end < 2 {
		return "&", 1, false
	}
	name := text[1:end]
	if digits, ok := strings.CutPrefix(name, "#"); ok {
		base := 10
		if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseUint(digits, base, 21)
		if err != nil {
			return "&", 1, false
		}
		return string(rune(n)), end + 1, true
	}
	if s := html.UnescapeString(text[:end+1]); !strings.HasPrefix(s, "&") || name == "amp" {
		return s, end + 1, name == "amp" || name == "lt" || name == "gt" || name == "quot" || name == "apos"
	}
	return "&", 1, false
}

// escape writes characters so that they stand for themselves. Those that XML has no
// place for are left out.
func (r *repairer) escape(text string) {
	for _, c := range text {
		switch c = modern(c); {
		case c == '&':
			r.out.WriteString("&amp;")
		case c == '<':
			r.out.WriteString("&lt;")
		case c == '>':
			r.out.WriteString("&gt;")
		case c == '"':
			r.out.WriteString("&quot;")
		case c < ' ' && c != '\t' && c != '\n' && c != '\r', c == 0xfffe, c == 0xffff:
		default:
			r.out.WriteRune(c)
		}
	}
}

func nameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// nameEnd returns the length of the name in front, which has one colon at most. Names of
// feeds are ASCII.
func nameEnd(s string) int {
	colons := 0
	for i := range len(s) {
		c := s[i]
		if c == ':' {
			colons++
		}
		if !nameStart(c) && (c < '0' || c > '9') && c != '-' && c != '.' && c != ':' || colons > 1 {
			return i
		}
	}
	return len(s)
}

// checkJSON bounds a JSON feed before it is built: depth, and entries, which are the
// objects in a list of the outermost object.
func checkJSON(text string, maxItems int) error {
	var depth, items, objects int
	var quoted bool
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth, objects = depth+1, objects+1
			if c == '{' && depth == 3 {
				items++
			}
		case c == '}' || c == ']':
			depth--
		}
		switch {
		case depth > maxDepth:
			return errTooDeep
		case objects > maxElements:
			return errTooMany
		case items > maxItems:
			return tooManyEntries(maxItems)
		}
	}
	return nil
}
