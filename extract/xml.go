package extract

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"html"
	"io"
	"strings"
)

// xmlReader reads XML piece by piece. It believes less than encoding/xml: entities that a
// document declares are not expanded (which is how a small one becomes a large one), no
// piece is larger than a bound, nesting is counted, and what is not well-formed costs
// as little as possible. Names come without their prefix: in the formats read here
// no two names differ by that only where it matters.
type xmlReader struct {
	ctx    context.Context
	r      *bufio.Reader
	limit  int
	stack  []string
	ending int // elements of the stack that have ended and were not reported yet
	n      int
}

// xmlToken is a start, an end or text.
type xmlToken struct {
	kind  byte   // '<', '/' or 't'
	name  string // of the element
	text  string
	attrs []xmlAttr
}

type xmlAttr struct{ name, value string }

// Bounds of one piece: of text (longer text comes in pieces) and of a tag.
const (
	mostXMLText = 64 << 10
	mostXMLTag  = 256 << 10
)

func newXMLReader(ctx context.Context, r io.Reader, depth int) *xmlReader {
	return &xmlReader{ctx: ctx, r: bufio.NewReaderSize(r, 32<<10), limit: depth}
}

// attr returns the value of an attribute, "" if there is none.
func (t *xmlToken) attr(name string) string {
	for _, a := range t.attrs {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

// next returns the next piece, io.EOF at the end. Elements that are open at the end are
// closed first.
func (x *xmlReader) next() (xmlToken, error) {
	if x.n++; x.n%1024 == 0 && x.ctx.Err() != nil {
		return xmlToken{}, x.ctx.Err()
	}
	if x.ending > 0 {
		x.ending--
		return x.close(), nil
	}
	for {
		c, err := x.r.ReadByte()
		if err != nil {
			return x.atEnd(err)
		}
		if c != '<' {
			if err := x.r.UnreadByte(); err != nil {
				return xmlToken{}, err
			}
			return x.text()
		}
		t, ok, err := x.tag()
		if err != nil {
			return x.atEnd(err)
		}
		if ok {
			return t, nil
		}
	}
}

func (x *xmlReader) atEnd(err error) (xmlToken, error) {
	if !errors.Is(err, io.EOF) || len(x.stack) == 0 {
		return xmlToken{}, err
	}
	return x.close(), nil
}

// close reports the end of the innermost element.
func (x *xmlReader) close() xmlToken {
	n := len(x.stack) - 1
	name := x.stack[n]
	x.stack = x.stack[:n]
	return xmlToken{kind: '/', name: name}
}

// text reads up to the next tag, or as much as a piece may have.
func (x *xmlReader) text() (xmlToken, error) {
	var b []byte
	for len(b) < mostXMLText {
		chunk, err := x.r.Peek(max(x.r.Buffered(), 1))
		if len(chunk) == 0 {
			if len(b) == 0 || !errors.Is(err, io.EOF) {
				return xmlToken{}, err
			}
			break
		}
		if i := bytes.IndexByte(chunk, '<'); i >= 0 {
			b = append(b, chunk[:i]...)
			_, _ = x.r.Discard(i)
			break
		}
		b = append(b, chunk...)
		_, _ = x.r.Discard(len(chunk))
	}
	return xmlToken{kind: 't', text: x.unescape(b)}, nil
}

// unescape replaces entities: those of XML and HTML and numbers. A piece may be cut
// through one; that costs the entity and nothing else.
func (x *xmlReader) unescape(b []byte) string {
	s := strings.ToValidUTF8(string(b), "\ufffd")
	if !strings.Contains(s, "&") {
		return s
	}
	return html.UnescapeString(s)
}

// tag reads after a "<". It is not ok for comments, instructions and declarations.
func (x *xmlReader) tag() (xmlToken, bool, error) {
	head, err := x.r.Peek(8)
	if len(head) == 0 {
		return xmlToken{}, false, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("!--")):
		return xmlToken{}, false, x.skip("-->")
	case bytes.HasPrefix(head, []byte("![CDATA[")):
		return x.cdata()
	case head[0] == '?':
		return xmlToken{}, false, x.skip("?>")
	case head[0] == '!':
		return xmlToken{}, false, x.declaration()
	}
	raw, err := x.rest()
	if err != nil {
		return xmlToken{}, false, err
	}
	return x.parse(raw)
}

// skip reads up to and including a mark.
func (x *xmlReader) skip(mark string) error {
	last := mark[len(mark)-1]
	var tail []byte
	for n := 0; ; n++ {
		if n%4096 == 4095 && x.ctx.Err() != nil {
			return x.ctx.Err()
		}
		chunk, err := x.r.ReadSlice(last)
		tail = append(tail, chunk[max(0, len(chunk)-len(mark)):]...)
		tail = tail[max(0, len(tail)-len(mark)):]
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if bytes.HasSuffix(tail, []byte(mark)) {
			return nil
		}
	}
}

func (x *xmlReader) cdata() (xmlToken, bool, error) {
	if _, err := x.r.Discard(len("![CDATA[")); err != nil {
		return xmlToken{}, false, err
	}
	var b []byte
	for {
		chunk, err := x.r.ReadSlice('>')
		b = append(b, chunk...)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return xmlToken{}, false, err
		}
		if bytes.HasSuffix(b, []byte("]]>")) {
			b = b[:len(b)-3]
			break
		}
		if len(b) > mostXMLTag*16 {
			return xmlToken{}, false, &Refusal{Code: TooLarge, Reason: "a section of it has more than 4 MB"}
		}
	}
	return xmlToken{kind: 't', text: strings.ToValidUTF8(string(b), "\ufffd")}, true, nil
}

// declaration skips a document type, with the entities it may declare.
func (x *xmlReader) declaration() error {
	depth := 0
	for n := 0; ; n++ {
		c, err := x.r.ReadByte()
		if err != nil {
			return err
		}
		switch c {
		case '[', '<':
			depth++
		case ']':
			depth--
		case '>':
			if depth--; depth < 0 {
				return nil
			}
		}
		if n > mostXMLTag {
			return &Refusal{Code: Bomb, Reason: "its document type declaration is implausibly long"}
		}
	}
}

// rest reads a tag up to its ">", which may also stand in quotes.
func (x *xmlReader) rest() ([]byte, error) {
	var b []byte
	quote := byte(0)
	for {
		chunk, err := x.r.ReadSlice('>')
		for _, c := range chunk {
			switch {
			case quote == 0 && (c == '"' || c == '\''):
				quote = c
			case c == quote:
				quote = 0
			}
		}
		b = append(b, chunk...)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if err == nil && quote == 0 {
			return b[:len(b)-1], nil
		}
		if len(b) > mostXMLTag {
			return nil, &Refusal{Code: TooLarge, Reason: "one of its tags has more than 256 kB"}
		}
	}
}

// parse reads name and attributes of a tag.
func (x *xmlReader) parse(raw []byte) (xmlToken, bool, error) {
	if len(raw) > 0 && raw[0] == '/' {
		name := localName(string(bytes.TrimSpace(raw[1:])))
		return x.end(name)
	}
	empty := bytes.HasSuffix(raw, []byte("/"))
	s := strings.ToValidUTF8(string(bytes.TrimSuffix(raw, []byte("/"))), "\ufffd")
	n := strings.IndexAny(s, " \t\r\n")
	if n < 0 {
		n = len(s)
	}
	t := xmlToken{kind: '<', name: localName(s[:n])}
	if t.name == "" {
		return xmlToken{}, false, nil
	}
	t.attrs = xmlAttrs(s[n:])
	x.stack = append(x.stack, t.name)
	if len(x.stack) > x.limit {
		return xmlToken{}, false, &Refusal{Code: TooDeep, Reason: "its elements are nested too deep"}
	}
	if empty {
		x.ending = 1
	}
	return t, true, nil
}

// end closes an element, and first those left open inside it. An end without a start is
// skipped.
func (x *xmlReader) end(name string) (xmlToken, bool, error) {
	for i := len(x.stack) - 1; i >= 0; i-- {
		if x.stack[i] == name {
			x.ending = len(x.stack) - 1 - i
			return x.close(), true, nil
		}
	}
	return xmlToken{}, false, nil
}

func localName(s string) string {
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		return s[i+1:]
	}
	return s
}

func xmlAttrs(s string) []xmlAttr {
	var out []xmlAttr
	for len(out) < 1000 {
		s = strings.TrimLeft(s, " \t\r\n")
		name, rest, ok := strings.Cut(s, "=")
		if !ok {
			return out
		}
		rest = strings.TrimLeft(rest, " \t\r\n")
		if rest == "" || rest[0] != '"' && rest[0] != '\'' {
			return out
		}
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return out
		}
		value := rest[1 : 1+end]
		if strings.Contains(value, "&") {
			value = html.UnescapeString(value)
		}
		out = append(out, xmlAttr{localName(strings.TrimSpace(name)), value})
		s = rest[end+2:]
	}
	return out
}

// skipElement reads to the end of the element that has just begun.
func (x *xmlReader) skipElement() error {
	for depth := 1; depth > 0; {
		t, err := x.next()
		if err != nil {
			return err
		}
		switch t.kind {
		case '<':
			depth++
		case '/':
			depth--
		}
	}
	return nil
}

// elementText reads the text of the element that has just begun, to its end.
func (x *xmlReader) elementText() (string, error) {
	var b strings.Builder
	for depth := 1; depth > 0; {
		t, err := x.next()
		if err != nil {
			return b.String(), err
		}
		switch t.kind {
		case '<':
			depth++
		case '/':
			depth--
		default:
			if b.Len() < 1<<20 {
				b.WriteString(t.text)
			}
		}
	}
	return b.String(), nil
}
