package generate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentences splits text into the byte ranges of its sentences, without outer blanks.
// A full stop ends one if a capital or digit follows and the word before is no short
// abbreviation; a line break that starts a new line of its own always does.
func sentences(text string) [][2]int {
	var out [][2]int
	start := 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		if r == '\n' || strings.ContainsRune(".!?", r) && ends(text, i) {
			out = appendTrimmed(out, text, start, i)
			start = i
		}
	}
	return appendTrimmed(out, text, start, len(text))
}

func appendTrimmed(out [][2]int, text string, start, end int) [][2]int {
	trimmed := strings.TrimLeftFunc(text[start:end], unicode.IsSpace)
	start = end - len(trimmed)
	trimmed = strings.TrimRightFunc(trimmed, unicode.IsSpace)
	if trimmed == "" {
		return out
	}
	return append(out, [2]int{start, start + len(trimmed)})
}

// ends reports whether the stop before i ends a sentence.
func ends(text string, i int) bool {
	rest := strings.TrimLeft(text[i:], `"')]”’`)
	if rest == "" {
		return true
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " \t"))
	if rest[0] != ' ' && rest[0] != '\n' && !(unicode.IsUpper(next) && wordBefore(text, i) > 3) {
		return false
	}
	return !unicode.IsLower(next) && wordBefore(text, i) > 2
}

// wordBefore is the length of the word that the stop at i-1 follows: initials and
// abbreviations such as "N.M." or "FL." are short.
func wordBefore(text string, i int) int {
	word := text[:i-1]
	if at := strings.LastIndexAny(word, " \n("); at >= 0 {
		word = word[at+1:]
	}
	return len(word)
}
