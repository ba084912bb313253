package check

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/sextant-rag/sextant"
)

// Locate finds quoted words in a document and returns the byte ranges that hold them, in
// the order quoted. More than one range is the answer where the quotation leaves something
// out ("The tanks ... were dry"): each side has to stand after the one before it.
//
// Words are the same whatever their case, the blanks and line breaks between them, the
// form of quotation marks and dashes, ligatures, accents written in one way or
// another, marks of emphasis (*, _, `) and hyphens at the end of a line. Letters and digits
// themselves must be equal. It takes time in proportion to the document.
func Locate(d sextant.Document, quoted string) (ranges [][2]int, ok bool) {
	if at := strings.Index(d.Text, quoted); at >= 0 && strings.TrimSpace(quoted) != "" && whole(d.Text, at, at+len(quoted)) {
		return [][2]int{{at, at + len(quoted)}}, true
	}
	text := plainOf(d.Text)
	from := 0
	for _, piece := range elided(quoted) {
		words := plainOf(piece)
		if len(words.letters) == 0 {
			continue
		}
		at := text.find(words, from)
		if at < 0 {
			return nil, false
		}
		from = at + len(words.letters)
		ranges = append(ranges, [2]int{int(text.at[at]), text.end(d.Text, from-1)})
	}
	return ranges, len(ranges) > 0
}

// whole reports whether a range of a text neither begins nor ends inside a word.
func whole(text string, start, end int) bool {
	joined := func(at int) bool {
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at:])
		return isWordRune(before) && isWordRune(after)
	}
	return !joined(start) && !joined(end)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// elided splits a quotation where it says that it leaves something out.
func elided(quoted string) []string {
	return strings.Split(ellipses.Replace(quoted), "…")
}

var ellipses = strings.NewReplacer("[...]", "…", "[…]", "…", "(...)", "…", ". . .", "…", "...", "…")

// plain is a text reduced to its letters and digits, in lower case, with the place in the
// text that each byte of them was made of. Where words begin is noted beside them.
type plain struct {
	letters []byte
	at      []int32 // byte offset of the character each byte comes from
	begins  []bool  // a word begins with this byte
}

func plainOf(text string) plain {
	p := plain{letters: make([]byte, 0, len(text)), at: make([]int32, 0, len(text)), begins: make([]bool, 0, len(text))}
	apart, hyphen := true, false
	for at := 0; at < len(text); {
		r, width := rune(text[at]), 1
		if r >= utf8.RuneSelf {
			r, width = utf8.DecodeRuneInString(text[at:])
		}
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			p.add(byte(r), at, apart)
			apart, hyphen = false, false
		case r >= 'A' && r <= 'Z':
			p.add(byte(r)+'a'-'A', at, apart)
			apart, hyphen = false, false
		case r == '-' || r == '\u2010' || r == '\u2011':
			hyphen = true
		case r == '\n' && hyphen: // a word broken at the end of a line
		case r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\u00a0':
			apart = apart || !hyphen
		case r == '\'' || r == '’' || r == '*' || r == '_' || r == '`' || r == '\u200b' || r == '\u00ad' || unicode.Is(unicode.Mn, r):
		case isWordRune(r):
			for _, folded := range []byte(fold(r)) {
				p.add(folded, at, apart)
				apart, hyphen = false, false
			}
		default:
			apart, hyphen = true, false
		}
		at += width
	}
	return p
}

func (p *plain) add(b byte, at int, begins bool) {
	p.letters, p.at, p.begins = append(p.letters, b), append(p.at, int32(at)), append(p.begins, begins)
}

// end returns where the character that byte i comes from ends in the text, with the accents
// that are written behind it.
func (p *plain) end(text string, i int) int {
	at := int(p.at[i])
	for first := true; at < len(text); first = false {
		r, width := utf8.DecodeRuneInString(text[at:])
		if !first && !unicode.Is(unicode.Mn, r) {
			break
		}
		at += width
	}
	return at
}

// fold returns the lower case letters a character stands for: of "ﬁ" f and i, of "é" e.
func fold(r rune) string {
	var out []rune
	for _, x := range norm.NFKD.String(string(r)) {
		if isWordRune(x) {
			out = append(out, unicode.ToLower(x))
		}
	}
	return string(out)
}

// find returns where words stand in p as whole words, from an index on, or -1.
func (p *plain) find(words plain, from int) int {
	for from < len(p.letters) {
		i := bytes.Index(p.letters[from:], words.letters)
		if i < 0 {
			return -1
		}
		at, end := from+i, from+i+len(words.letters)
		if p.begins[at] && (end == len(p.letters) || p.begins[end]) && p.numbered(words, at) {
			return at
		}
		from = at + 1
	}
	return -1
}

// numbered reports whether digits are kept apart alike in both: "1 2" is not 12.
func (p *plain) numbered(words plain, at int) bool {
	for i := 1; i < len(words.letters); i++ {
		if c := words.letters[i]; c >= '0' && c <= '9' && words.begins[i] != p.begins[at+i] {
			return false
		}
	}
	return true
}
