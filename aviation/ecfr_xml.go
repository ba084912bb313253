package aviation

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/sextant-rag/sextant/source"
)

// Limits of what is read. The largest section of Title 14 has some 300 kB, the whole
// title 16 MB, and its elements nest 12 deep.
const (
	maxToken     = 1 << 20   // bytes between two tokens: a tag, a text, a comment
	maxSection   = 8 << 20   // bytes of text in one section
	maxNodes     = 200_000   // elements and texts in one section
	maxDepth     = 64        // elements inside each other
	maxXML       = 512 << 20 // bytes of one file, decompressed
	maxOddities  = 10_000    // references that mean nothing
	maxReference = 32        // bytes from & to ;
)

var (
	errTokenSize = fmt.Errorf("one element, comment or declaration takes more than %d bytes", maxToken)
	errFileSize  = fmt.Errorf("the file unpacks to more than %d bytes", maxXML)
	errOddities  = fmt.Errorf("more than %d references to undefined characters", maxOddities)
	errDepth     = fmt.Errorf("elements are nested more than %d deep", maxDepth)
)

// xmlReader reads XML as tokens, within limits. Declarations of a document type are
// passed over: nothing they name is read or expanded, and a reference to what they
// define stays as it is written.
type xmlReader struct {
	ctx     context.Context
	stream  *source.Stream
	repair  *references
	decoder *xml.Decoder
	depth   int
}

func openXML(ctx context.Context, b source.Blob, consumed *atomic.Int64) (*xmlReader, error) {
	s, err := b.Stream(consumed)
	if err != nil {
		return nil, err
	}
	r := &xmlReader{ctx: ctx, stream: s, repair: &references{in: bufio.NewReaderSize(s, 64<<10)}}
	r.decoder = xml.NewDecoder(r.repair)
	r.decoder.Entity = xml.HTMLEntity
	return r, nil
}

func (r *xmlReader) close() { _ = r.stream.Close() }

// token returns the next token; its bytes are valid until the one after.
func (r *xmlReader) token() (xml.Token, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	r.repair.allow = maxToken
	token, err := r.decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token.(type) {
	case xml.StartElement:
		if r.depth++; r.depth > maxDepth {
			return nil, errDepth
		}
	case xml.EndElement:
		r.depth--
	}
	return token, nil
}

// place is where the next token begins.
func (r *xmlReader) place() source.Position {
	line, _ := r.decoder.InputPos()
	return source.Position{Line: int64(line - 1), Offset: r.repair.original(r.decoder.InputOffset())}
}

// references hands XML on and mends references that a parser would give up at: to an
// undefined name, to a number that is no character. Their & is escaped, so that they
// become text as they are written and cost nothing around them.
type references struct {
	in    *bufio.Reader
	ready []byte  // to be handed on before anything else
	out   int64   // bytes handed on
	read  int64   // bytes read
	odd   []int64 // where a mended reference ends in what is handed on
	allow int     // bytes that may be read until the next token
	names []string
}

const escapedBy = int64(len("&amp;") - len("&"))

// original turns an offset in what is handed on into one in what was read.
func (f *references) original(offset int64) int64 {
	n := int64(0)
	for n < int64(len(f.odd)) && f.odd[n] <= offset {
		n++
	}
	return offset - n*escapedBy
}

// Read implements io.Reader.
func (f *references) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(f.ready) > 0 {
			k := copy(p[n:], f.ready)
			f.ready, n = f.ready[k:], n+k
			continue
		}
		c, err := f.in.ReadByte()
		if err != nil && n > 0 {
			break // it comes again
		}
		if err != nil {
			return 0, err
		}
		if err := f.count(); err != nil {
			return 0, err
		}
		if c == '&' {
			if err := f.mend(f.out + int64(n)); err != nil {
				return 0, err
			}
			continue
		}
		p[n] = c
		n++
	}
	f.out += int64(n)
	return n, nil
}

func (f *references) count() error {
	f.read++
	f.allow--
	switch {
	case f.allow < 0:
		return errTokenSize
	case f.read > maxXML:
		return errFileSize
	}
	return nil
}

// mend looks at what follows an &, which stands at an offset of what is handed on.
func (f *references) mend(at int64) error {
	f.ready = []byte("&")
	ahead, err := f.in.Peek(maxReference)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	name, rest := "", bytes.IndexByte(ahead, ';')
	if rest >= 0 {
		name = string(ahead[:rest])
	}
	if isReference(name) {
		return nil
	}
	if len(f.odd) == maxOddities {
		return errOddities
	}
	f.ready = []byte("&amp;")
	f.odd = append(f.odd, at+int64(len(f.ready)))
	if len(f.names) < 5 {
		f.names = append(f.names, "&"+strings.ToValidUTF8(string(ahead[:rest+1]), ""))
	}
	return nil
}

// isReference reports whether a parser knows what &name; stands for.
func isReference(name string) bool {
	if digits, ok := strings.CutPrefix(name, "#"); ok {
		base := 10
		if strings.HasPrefix(digits, "x") {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseUint(digits, base, 32)
		return err == nil && isXMLCharacter(rune(min(n, utf8.MaxRune+1)))
	}
	switch name {
	case "lt", "gt", "amp", "apos", "quot":
		return true
	}
	_, ok := xml.HTMLEntity[name]
	return ok
}

// isXMLCharacter is production 2 of XML 1.0.
func isXMLCharacter(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000 && r <= utf8.MaxRune
}

// node is an element with what is in it, or a text (no name).
type node struct {
	name     string
	attrs    map[string]string
	text     string
	children []*node
}

func newNode(start xml.StartElement) *node {
	n := &node{name: start.Name.Local, attrs: map[string]string{}}
	for _, a := range start.Attr {
		n.attrs[a.Name.Local] = a.Value
	}
	return n
}

// errTooLarge refuses one section; what follows it is read.
var errTooLarge = fmt.Errorf("the section is larger than %d bytes or %d elements", maxSection, maxNodes)

// tree reads the rest of an element whose start was read. errTooLarge leaves the
// reader after the element.
func (r *xmlReader) tree(start xml.StartElement) (*node, error) {
	root := newNode(start)
	path, size, count := []*node{root}, 0, 0
	for len(path) > 0 {
		token, err := r.token()
		if err != nil {
			return nil, err
		}
		top := path[len(path)-1]
		switch t := token.(type) {
		case xml.StartElement:
			n := newNode(t)
			path = append(path, n)
			if count++; count <= maxNodes && size <= maxSection {
				top.children = append(top.children, n)
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			count, size = count+1, size+len(t)
			if count <= maxNodes && size <= maxSection {
				top.children = append(top.children, &node{text: string(t)})
			}
		}
	}
	if count > maxNodes || size > maxSection {
		return root, errTooLarge
	}
	return root, nil
}

// child returns the first child of a name, nil if there is none.
func (n *node) child(name string) *node {
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// plain is the text of a node in one line; of no node, "".
func (n *node) plain() string {
	if n == nil {
		return ""
	}
	return inline(n).text
}
