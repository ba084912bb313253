package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cut returns the length of the longest first piece of text that fits the budget and
// ends at a line end, else between words, else between characters as readers see them,
// else between code points. At least one code point long.
func (o *Options) cut(text string, budget int) int {
	limit := o.longest(text, budget)
	if limit == len(text) {
		return limit
	}
	end := wordEnd(text, limit)
	for o.size(text[:end]) > budget { // a cut word may measure more than a whole one
		shorter := runeStart(text, end*3/4)
		if shorter == 0 {
			_, shorter = utf8.DecodeRuneInString(text)
			return shorter
		}
		end = shorter
	}
	return end
}

// longest returns the length of a prefix that fits, the longest one for a Sizer that
// grows with its text. Doubling from below keeps the cost near that of the answer.
func (o *Options) longest(text string, budget int) int {
	budget = min(budget, len(text)+1)
	_, low := utf8.DecodeRuneInString(text)
	high := min(len(text), budget*maxTokenBytes) + 1 // does not fit, or is not to be asked
	for step := max(low, 4*budget); step < high; step *= 2 {
		end := runeStart(text, step)
		if end <= low {
			continue
		}
		if !o.fits(text[:end], budget) {
			high = end
			break
		}
		low = end
	}
	for high-low > 1 {
		middle := runeStart(text, low+(high-low)/2)
		if middle <= low { // inside a code point: its end is the next candidate
			_, width := utf8.DecodeRuneInString(text[low:])
			if middle = low + width; middle >= high {
				break
			}
		}
		if o.fits(text[:middle], budget) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// wordEnd returns the best place to cut at or before limit, which is inside the text.
func wordEnd(text string, limit int) int {
	if r, _ := utf8.DecodeRuneInString(text[limit:]); unicode.IsSpace(r) {
		return limit
	}
	if line := strings.LastIndexByte(text[:limit], '\n'); line > limit/2 {
		return line
	}
	blank := strings.LastIndexFunc(text[:limit], unicode.IsSpace)
	if blank > 0 && !endless(text[blank+1:], limit) {
		return blank
	}
	end := limit
	for end > 0 && joined(text, end) {
		_, width := utf8.DecodeLastRuneInString(text[:end])
		end -= width
	}
	if end == 0 {
		return limit
	}
	return end
}

// endless reports whether a word is longer than a whole piece, so that moving it to
// the next one would not save it from being cut.
func endless(word string, limit int) bool {
	if len(word) <= limit {
		return false
	}
	return strings.IndexFunc(word[:limit], unicode.IsSpace) < 0
}

// joined reports whether readers see the code points before and after i as one
// character. It follows the extended grapheme clusters of Unicode Standard Annex #29
// for what occurs in texts: marks, joiners, emoji modifiers and tags, flags, Hangul
// letters and Indic conjuncts.
func joined(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i:])
	switch {
	case before == '\r' && after == '\n':
		return true
	case extends(after) || before == zeroWidthJoiner:
		return true
	case isRegional(before) && isRegional(after):
		return regionalsBefore(text[:i])%2 == 1
	case isVirama(before):
		return unicode.IsLetter(after)
	}
	return joinsHangul(before, after)
}

const zeroWidthJoiner = '\u200d'

// extends reports whether a code point continues the character before it. Thai and Lao
// AM are letters by category, yet part of the syllable before.
func extends(r rune) bool {
	switch {
	case r == zeroWidthJoiner, r == '\u200c', r == '\u0e33', r == '\u0eb3':
		return true
	case 0x1f3fb <= r && r <= 0x1f3ff, 0xe0020 <= r && r <= 0xe007f:
		return true
	}
	return unicode.Is(unicode.M, r)
}

func isRegional(r rune) bool { return 0x1f1e6 <= r && r <= 0x1f1ff }

// regionalsBefore counts the flag letters at the end of a text: flags are pairs of them.
func regionalsBefore(text string) int {
	n := 0
	for {
		r, width := utf8.DecodeLastRuneInString(text)
		if !isRegional(r) {
			return n
		}
		text = text[:len(text)-width]
		n++
	}
}

func isVirama(r rune) bool {
	switch r {
	case 0x094d, 0x09cd, 0x0acd, 0x0b4d, 0x0c4d, 0x0d4d:
		return true
	}
	return false
}

func joinsHangul(before, after rune) bool {
	leading := 0x1100 <= before && before <= 0x115f
	switch {
	case 0x1160 <= after && after <= 0x11ff: // vowel or trailing consonant
		return leading || 0x1160 <= before && before <= 0x11ff || 0xac00 <= before && before <= 0xd7a3
	case 0x1100 <= after && after <= 0x115f, 0xac00 <= after && after <= 0xd7a3:
		return leading
	}
	return false
}

// runeStart is the last start of a code point at or before i, within the text.
func runeStart(text string, i int) int {
	i = min(max(i, 0), len(text))
	for back := 0; i > 0 && i < len(text) && !utf8.RuneStart(text[i]) && back < utf8.UTFMax; back++ {
		i--
	}
	return i
}
