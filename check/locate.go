package check

import (
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
		end := at + len(words.letters)
		ranges = append(ranges, [2]int{text.starts[at], text.ends[end-1]})
		from = end
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
	quoted = strings.NewReplacer("[...]", "…", "[…]", "…", "(...)", "…", ". . .", "…", "...", "…").Replace(quoted)
	return strings.Split(quoted, "…")
}

// plain is a text reduced to its letters and digits, in lower case, with the bytes of the
// text each was made of. Where words are kept apart is noted beside them: "an other" is
// not "another", but a quotation may break a line anywhere.
type plain struct {
	letters []rune
	starts  []int // byte offset of each letter
	ends    []int // byte offset behind it
	begins  []bool
}

func plainOf(text string) plain {
	p := plain{letters: make([]rune, 0, len(text)), starts: make([]int, 0, len(text)), ends: make([]int, 0, len(text)), begins: make([]bool, 0, len(text))}
	apart, hyphen := true, false
	for at := 0; at < len(text); {
		r, width := utf8.DecodeRuneInString(text[at:])
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsNumber(r):
			for _, folded := range fold(r) {
				p.letters, p.starts, p.ends, p.begins = append(p.letters, folded), append(p.starts, at), append(p.ends, at+width), append(p.begins, apart)
				apart = false
			}
			hyphen = false
		case unicode.Is(unicode.Mn, r) && len(p.ends) > 0:
			p.ends[len(p.ends)-1] = at + width
		case r == '-' || r == '\u00ad' || r == '\u2010' || r == '\u2011':
			hyphen = r != '\u00ad'
		case r == '\n' && hyphen: // a word broken at the end of a line
		case unicode.IsSpace(r):
			apart = apart || !hyphen
		case r == '\'' || r == '’' || r == '*' || r == '_' || r == '`' || r == '\u200b':
		default:
			apart, hyphen = true, false
		}
		at += width
	}
	return p
}

// fold returns the lower case letters a character stands for: of "ﬁ" f and i, of "é" e.
func fold(r rune) []rune {
	if r < utf8.RuneSelf {
		return []rune{unicode.ToLower(r)}
	}
	var out []rune
	for _, x := range norm.NFKD.String(string(r)) {
		if !unicode.Is(unicode.Mn, x) && (unicode.IsLetter(x) || unicode.IsDigit(x)) {
			out = append(out, unicode.ToLower(x))
		}
	}
	return out
}

// find returns where words stand in p as whole words, from an index on, or -1.
func (p plain) find(words plain, from int) int {
	n := len(words.letters)
	for at := from; at+n <= len(p.letters); at++ {
		if !p.begins[at] || at+n < len(p.letters) && !p.begins[at+n] {
			continue
		}
		if p.matches(words, at) {
			return at
		}
	}
	return -1
}

func (p plain) matches(words plain, at int) bool {
	for i, r := range words.letters {
		if p.letters[at+i] != r {
			return false
		}
		if i > 0 && words.begins[i] != p.begins[at+i] && unicode.IsDigit(r) {
			return false // "1 2" is not 12
		}
	}
	return true
}
