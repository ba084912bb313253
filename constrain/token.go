package constrain

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Token is a maximal run of letters and digits of a question. Hyphens, dots and
// slashes stand in gaps, so that "PA-28", "PA 28" and "go-around" have one form.
type Token struct {
	Text  string // as written
	Lower string
	Gap   string // what stands between the token before and this one
	Start int    // byte range in the question
	End   int
}

// Upper reports whether the token has letters and all of them are capitals.
func (t Token) Upper() bool {
	return t.Text == strings.ToUpper(t.Text) && t.Text != t.Lower
}

// Capital reports whether the token starts with a capital.
func (t Token) Capital() bool {
	r, _ := utf8.DecodeRuneInString(t.Text)
	return unicode.IsUpper(r)
}

// Number reports whether the token is all digits.
func (t Token) Number() bool {
	return t.Text != "" && strings.Trim(t.Text, "0123456789") == ""
}

// joins reports whether the token continues a phrase with the one before: nothing
// but blanks, hyphens, dots, slashes or apostrophes stands between them.
func (t Token) joins() bool {
	return strings.Trim(t.Gap, " -–/.'’‐‑&") == ""
}

func tokenize(text string) []Token {
	var out []Token
	last := 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !wordRune(r) {
			i += n
			continue
		}
		start := i
		for i < len(text) {
			r, n = utf8.DecodeRuneInString(text[i:])
			if !wordRune(r) {
				break
			}
			i += n
		}
		word := text[start:i]
		out = append(out, Token{Text: word, Lower: strings.ToLower(word), Gap: text[last:start], Start: start, End: i})
		last = i
	}
	return out
}

func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// Words splits text into the lower-case words a phrase or value is matched by.
func Words(text string) []string {
	tokens := tokenize(text)
	out := make([]string, len(tokens))
	for i, t := range tokens {
		out[i] = t.Lower
	}
	return out
}

// AllLower reports whether the question has no capitals, so that they tell nothing.
func (q *Query) AllLower() bool { return q.Text == strings.ToLower(q.Text) }

// AllUpper reports whether the question has capitals only.
func (q *Query) AllUpper() bool { return q.Text == strings.ToUpper(q.Text) }

// HasWords reports whether the tokens from i are these words, joined as a phrase.
func (q *Query) HasWords(i int, words []string) bool { return q.hasWords(i, words) }

// HasLoose reports whether the tokens from i are these words, whatever stands
// between them.
func (q *Query) HasLoose(i int, words ...string) bool {
	if i < 0 || i+len(words) > len(q.Tokens) {
		return false
	}
	for k, w := range words {
		if q.Tokens[i+k].Lower != w {
			return false
		}
	}
	return true
}

// Nearest finds the one candidate that a word is a misspelling of. Candidates are
// lower-case; words of the language are never misspellings.
func (q *Query) Nearest(word string, candidates []string) (string, bool) {
	return q.nearest(word, candidates)
}

// EventNoun reports whether token i is what the collection's documents are called.
func (q *Query) EventNoun(i int) bool { return q.eventNoun(i) }

// Eventful reports whether the question names the collection's documents at all.
func (q *Query) Eventful() bool { return q.eventful(clause{from: 0, to: len(q.Tokens)}) }
