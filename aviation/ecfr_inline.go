package aviation

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is the text of a paragraph, a heading or a cell in one line.
type line struct {
	text    string
	italic  []span
	figures int // pictures the text stands in for
}

// span is a range of bytes.
type span struct{ from, to int }

// inlineElements stand inside a paragraph; all others make paragraphs of their own.
var inlineElements = []string{"", "I", "E", "SU", "FR", "AC", "B", "FTREF", "sup", "sub", "br", "a", "i", "b", "em", "strong", "span"}

func (n *node) isInline() bool { return slices.Contains(inlineElements, n.name) }

// inline writes what is in a node as one line. White space of any kind becomes one
// blank; an amendment notice is left out.
func inline(n *node) line {
	w := lineWriter{}
	w.node(n)
	text := strings.TrimRight(w.b.String(), " ")
	for i, s := range w.line.italic {
		w.line.italic[i].to = min(s.to, len(text))
	}
	w.line.text = text
	return w.line
}

// lineWriter writes a line, which never begins with a blank and has never two.
type lineWriter struct {
	b    strings.Builder
	line line
	last rune // the last one written, 0 at the start
}

func (w *lineWriter) write(text string) {
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			w.blank()
		case unicode.IsControl(r) || r == '\ufeff' || r == '\u00ad':
		default:
			w.b.WriteRune(r)
			w.last = r
		}
	}
}

func (w *lineWriter) blank() {
	if w.last != 0 && w.last != ' ' {
		w.b.WriteByte(' ')
		w.last = ' '
	}
}

func (w *lineWriter) node(n *node) {
	switch n.name {
	case "":
		w.write(n.text)
	case "br":
		w.blank()
	case "img":
		w.blank()
		w.write(missingFigure(n))
		w.blank()
		w.line.figures++
	case "FR":
		w.number()
		w.children(n)
	case "I", "i", "em":
		from := w.b.Len()
		w.children(n)
		if to := w.b.Len(); to > from {
			w.line.italic = append(w.line.italic, span{from, to})
		}
	default:
		w.children(n)
	}
}

// children writes the content of an element. What is raised above the line is 1/2 with
// what is lowered after a stroke, and otherwise marked: 10^2 is not 102.
func (w *lineWriter) children(n *node) {
	for i, c := range n.children {
		switch {
		case !c.isRaised():
		case i+2 < len(n.children) && strings.TrimSpace(n.children[i+1].text) == "/" && n.children[i+2].name == "sub":
			w.number()
		case unicode.IsLetter(w.last) || unicode.IsDigit(w.last) || strings.ContainsRune(")%°", w.last) && w.last != 0:
			w.write("^")
		}
		if !c.isInline() && c.name != "img" {
			w.blank()
		}
		w.node(c)
		if !c.isInline() {
			w.blank()
		}
	}
}

// number keeps a fraction apart from the whole number before it.
func (w *lineWriter) number() {
	if unicode.IsDigit(w.last) {
		w.blank()
	}
}

// isRaised reports whether an element is printed above the line: E 51 is a superior
// character in GPO's list of type faces.
func (n *node) isRaised() bool {
	return n.name == "sup" || n.name == "SU" || n.name == "E" && n.attrs["T"] == "51"
}

// missingFigure stands for a picture, so that nobody takes the text for whole.
func missingFigure(n *node) string {
	name := path.Base(clean(n.attrs["src"]))
	if name == "." || len(name) > 80 || !utf8.ValidString(name) {
		return "[Figure not available.]"
	}
	return "[Figure not available: " + name + "]"
}
