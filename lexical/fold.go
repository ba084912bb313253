package lexical

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// class says what a character is to the scanner.
type class uint8

const (
	other class = iota // breaks words
	blank
	letter
	digit
	ideograph // a word by itself: scripts written without blanks
	apostrophe
	connector // - . / _
	comma
	paren // (
	wide  // first byte of a character outside ASCII
)

var classes = func() (t [256]class) {
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			t[c] = letter
		case '0' <= c && c <= '9':
			t[c] = digit
		case c >= utf8.RuneSelf:
			t[c] = wide
		}
	}
	for _, c := range " \t\n\r" {
		t[c] = blank
	}
	for _, c := range "-./_" {
		t[c] = connector
	}
	t['\''], t[','], t['('] = apostrophe, comma, paren
	return t
}()

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// foldSegment appends the folded form of the first normalisation segment of text that
// begins outside ASCII, and returns the segment's length in bytes. Folding is NFKD
// (the same equivalence as NFKC, and per segment), case folding, and dropping accents
// of Latin and Greek letters: an airport written Peña is looked for as Pena.
func foldSegment(dst []rune, scratch []byte, text string) (folded []rune, buf []byte, n int) {
	n = norm.NFKD.NextBoundaryInString(text, true)
	if n <= 0 {
		n = 1
	}
	buf = norm.NFKD.AppendString(scratch[:0], text[:n])
	first, _ := utf8.DecodeRuneInString(text)
	if unicode.Is(unicode.No, first) {
		dst = append(dst, ' ') // "1½" is 1 and 1/2, not 11/2
	}
	base := rune(0)
	for i := 0; i < len(buf); {
		r, size := utf8.DecodeRune(buf[i:])
		i += size
		if unicode.Is(unicode.Mn, r) {
			if 0x300 <= r && r < 0x370 && base < 0x400 {
				continue
			}
			dst = append(dst, r)
			continue
		}
		base = r
		dst = foldRune(dst, r)
	}
	return dst, buf, n
}

// foldRune appends the folded form of one decomposed character; nothing for those
// that are invisible and may stand inside a word.
func foldRune(dst []rune, r rune) []rune {
	switch r {
	case '\u00ad', '\u200b', '\u200c', '\u200d', '\u200e', '\u200f', '\u2060', '\ufeff':
		return dst
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2212':
		return append(dst, '-')
	case '\u2018', '\u2019', '\u02bc':
		return append(dst, '\'')
	case '\u2044', '\u2215':
		return append(dst, '/')
	case 'ß', 'ẞ':
		return append(dst, 's', 's')
	case 'æ', 'Æ':
		return append(dst, 'a', 'e')
	case 'œ', 'Œ':
		return append(dst, 'o', 'e')
	case 'ø', 'Ø':
		return append(dst, 'o')
	case 'ł', 'Ł':
		return append(dst, 'l')
	case 'đ', 'Đ':
		return append(dst, 'd')
	case utf8.RuneError:
		return append(dst, ' ')
	}
	return append(dst, unicode.ToLower(unicode.ToUpper(r)))
}

// runeClass classes a folded character.
func runeClass(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		return classes[r]
	case unicode.Is(unicode.Han, r), unicode.Is(unicode.Hiragana, r), unicode.Is(unicode.Katakana, r):
		return ideograph
	case unicode.IsLetter(r), unicode.IsMark(r):
		return letter
	case unicode.IsDigit(r):
		return digit
	case unicode.IsSpace(r):
		return blank
	}
	return other
}
