package check

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/lexical/thesaurus"
)

// kind tells tokens apart by what they are made of.
type kind byte

const (
	word   kind = iota // letters
	number             // digits, with separators of thousands and a decimal point
	mark               // one character of anything else
)

// token is the smallest piece of a statement that facts are read from.
type token struct {
	text  string // as written
	lower string
	stem  string  // of a word; otherwise lower
	value float64 // of a number
	kind  kind
	glued bool // no blank between it and the token before
	upper bool // a word whose first letter is a capital
	taken bool // part of a fact already: a date, an identifier, a quantity
}

// paragraph is the text of the mark that stands for a blank line.
const paragraph = "¶"

// lex splits a text into tokens. Typographic marks are read as their plain forms, a word
// broken by a hyphen at the end of a line as one word.
func lex(text string) []token {
	text = straighten(text)
	out := make([]token, 0, len(text)/5+4)
	glued := false
	for at := 0; at < len(text); {
		if strings.HasPrefix(text[at:], "\n\n") {
			out = append(out, token{text: paragraph, lower: paragraph, stem: paragraph, kind: mark})
			at, glued = at+2, false
			continue
		}
		r, width := utf8.DecodeRuneInString(text[at:])
		end := at + width
		t := token{glued: glued, kind: mark}
		switch {
		case unicode.IsSpace(r):
			at, glued = end, false
			continue
		case unicode.IsLetter(r):
			end = wordEnd(text, at)
			t.kind, t.upper = word, unicode.IsUpper(r)
		case unicode.IsDigit(r), r == '.' && !glued && isDigitAt(text, end):
			end = numberEnd(text, at)
			t.kind = number
		}
		t.text = text[at:end]
		t.finish()
		out = append(out, t)
		if n := len(out); n > 2 && joined(out[n-3], out[n-2], out[n-1]) {
			first := out[n-3]
			first.text += t.text
			first.finish()
			out = append(out[:n-3], first)
		}
		at, glued = end, true
	}
	return out
}

// joined reports whether two words with a hyphen between them are one that is also written
// without: take-off.
func joined(first, hyphen, second token) bool {
	return hyphen.text == "-" && hyphen.glued && second.glued && first.kind == word && second.kind == word && !second.upper &&
		len(first.lower) > 2 && len(second.lower) > 1 && thesaurus.Known(stem(first.lower+second.lower))
}

func (t *token) finish() {
	t.lower = strings.ToLower(t.text)
	switch t.kind {
	case word:
		t.lower = strings.TrimSuffix(t.lower, "'s")
		t.stem = stemOf(t.lower)
	case number:
		t.stem = t.lower
		t.value, _ = strconv.ParseFloat(strings.ReplaceAll(t.text, ",", ""), 64)
	default:
		t.stem = t.lower
	}
}

// stemOf returns the stem of a word, of a unit its name.
func stemOf(lower string) string {
	if unit := unitOf(lower); unit != "" && len(lower) > 1 {
		return unit
	}
	return stem(lower)
}

// stem returns what the inflections of a word share.
func stem(lower string) string {
	lower = thesaurus.Base(lower)
	if stem, ok := lexical.English().Stem(lower); ok {
		return stem
	}
	return lower
}

var straightener = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`, "–", "-", "—", " - ", "‐", "-", "‑", "-", "−", "-", "\u00ad", "", "\u200b", "", "½", " 1/2", "¼", " 1/4", "¾", " 3/4", "-\n", "-", "-\r\n", "-")

// straighten writes typographic marks in their plain forms. A hyphen at the end of a line
// stays: whether it belongs to the word is not known, and compounds are read apart anyway.
func straighten(text string) string {
	if isASCII(text) {
		return strings.ReplaceAll(text, "-\n", "-")
	}
	return norm.NFKC.String(straightener.Replace(text))
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isDigitAt(text string, at int) bool { return at < len(text) && text[at] >= '0' && text[at] <= '9' }

// wordEnd returns where the letters from at end; an apostrophe inside belongs to them.
func wordEnd(text string, at int) int {
	for at < len(text) {
		r, width := utf8.DecodeRuneInString(text[at:])
		switch {
		case unicode.IsLetter(r) || unicode.Is(unicode.Mn, r):
		case r == '\'' && at+1 < len(text) && isLetterAt(text, at+1):
		default:
			return at
		}
		at += width
	}
	return at
}

func isLetterAt(text string, at int) bool {
	r, _ := utf8.DecodeRuneInString(text[at:])
	return unicode.IsLetter(r)
}

// numberEnd returns where the number from at ends. A comma belongs to it in front of three
// digits, a point in front of any: "1,996.5" is one number, "3, 4" and "3." are not.
func numberEnd(text string, at int) int {
	pointed := false
	for at < len(text) {
		switch c := text[at]; {
		case c >= '0' && c <= '9':
		case c == ',' && !pointed && isDigitAt(text, at+1) && isDigitAt(text, at+2) && isDigitAt(text, at+3) && !isDigitAt(text, at+4):
		case c == '.' && !pointed && isDigitAt(text, at+1):
			pointed = true
		default:
			r, width := utf8.DecodeRuneInString(text[at:])
			if width == 1 || !unicode.IsDigit(r) {
				return at
			}
			at += width - 1
		}
		at++
	}
	return at
}
