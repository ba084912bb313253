package extract

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// clean writes a run of text in one line: composed (NFC), without what cannot be seen,
// ligatures as letters, any white space as one blank.
func clean(s string) string {
	if plainASCII(s) {
		return strings.Join(strings.Fields(s), " ")
	}
	return strings.Join(strings.Fields(visible(s)), " ")
}

// cleanLines cleans each line of a text; lines without text are dropped.
func cleanLines(s string) string {
	if !strings.ContainsAny(s, "\n\r\u2028\u2029\v\f") {
		return clean(s)
	}
	var b strings.Builder
	for line := range strings.SplitSeq(lineBreaks.Replace(s), "\n") {
		if line = clean(line); line != "" {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(line)
		}
	}
	return b.String()
}

// cleanCode keeps white space: it may mean something.
func cleanCode(s string) string {
	s = lineBreaks.Replace(s)
	if !plainASCII(s) {
		s = visible(s)
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRightFunc(line, unicode.IsSpace)
	}
	return strings.Join(lines, "\n")
}

var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n\n", "\v", "\n", "\f", "\n\n")

// plainASCII reports whether there is nothing to clean but white space.
func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return false
		}
	}
	return true
}

// visible drops what readers cannot see, spells ligatures and composes letters.
func visible(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf && (r >= ' ' && r != 0x7f || r == '\n' || r == '\t' || r == '\r'):
			b.WriteRune(r)
		case r == '\v' || r == '\f':
			b.WriteByte(' ')
		case hidden(r):
		case 0xfb00 <= r && r <= 0xfb06:
			b.WriteString(ligatures[r-0xfb00])
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case r == 0xf0b7 || r == 0xf0a7 || r == 0xf0d8: // bullets of Symbol and Wingdings
			b.WriteString("•")
		default:
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

var ligatures = [...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}

// hidden reports whether a character has no look of its own: controls, soft hyphens, marks
// of direction, fillers, tags (which can carry hidden instructions) and non-characters.
// Joiners stay, as scripts and emoji are spelt with them.
func hidden(r rune) bool {
	switch {
	case r == 0x200c || r == 0x200d:
		return false
	case r == 0xfffc, r == 0x3164, r == 0x115f, r == 0x1160, r == 0xffa0, r == 0x034f:
		return true
	case 0xe0000 <= r && r <= 0xe0fff, 0xfe00 <= r && r <= 0xfe0e, r&0xfffe == 0xfffe, 0xfdd0 <= r && r <= 0xfdef:
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// unescapeHTML replaces the entities of HTML.
func unescapeHTML(s string) string { return html.UnescapeString(s) }
