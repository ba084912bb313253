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

	digits  int  // how many of its runes are ASCII digits
	upper   bool // has letters, all of them capitals
	capital bool // starts with a capital
	joins   bool // see Joins
}

// Upper reports whether the token has letters and all of them are capitals.
func (t Token) Upper() bool { return t.upper }

// Capital reports whether the token starts with a capital.
func (t Token) Capital() bool { return t.capital }

// Number reports whether the token is all digits.
func (t Token) Number() bool { return t.digits == len(t.Text) }

// HasDigit reports whether there is a digit in the token.
func (t Token) HasDigit() bool { return t.digits > 0 }

// Joins reports whether the token continues a phrase with the one before: nothing
// but blanks, hyphens, dots, slashes or apostrophes stands between them.
func (t Token) Joins() bool { return t.joins }

// Limits of what is read of a question. No question is longer; a document pasted into
// the box is, and must not cost the time of a thousand questions.
const (
	maxTokens = 384
	maxBytes  = 4096
)

// tokenize splits what is read of a text into tokens, and says where reading ended.
func tokenize(text string) (tokens []Token, end int) {
	end = len(text)
	if end > maxBytes {
		end = cutRune(text, maxBytes)
	}
	last := 0
	for i := 0; i < end; {
		start := nextWord(text[:end], i)
		if start == end {
			break
		}
		if len(tokens) == maxTokens {
			return tokens, tokens[maxTokens-1].End
		}
		i = wordEnd(text[:end], start)
		tokens = append(tokens, newToken(text, last, start, i))
		last = i
		if n := len(tokens); n > 1 && tokens[n-1].Lower == "o" && tokens[n-1].Gap == "/" && tokens[n-2].Lower == "w" {
			tokens = append(tokens[:n-2], without(text, tokens[n-2], tokens[n-1]))
		}
	}
	return tokens, end
}

// without is the token of "w/o".
func without(text string, w, o Token) Token {
	w.Text, w.Lower, w.End, w.upper = text[w.Start:o.End], "without", o.End, false
	return w
}

func cutRune(text string, at int) int {
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

func nextWord(text string, i int) int {
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if wordRune(r) {
			return i
		}
		i += n
	}
	return len(text)
}

func wordEnd(text string, i int) int {
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !wordRune(r) {
			return i
		}
		i += n
	}
	return len(text)
}

func newToken(text string, last, start, end int) Token {
	word := text[start:end]
	t := Token{Text: word, Lower: strings.ToLower(word), Gap: text[last:start], Start: start, End: end}
	letters, capitals := 0, 0
	for k, r := range word {
		switch {
		case r >= '0' && r <= '9':
			t.digits++
		case unicode.IsUpper(r):
			t.capital = t.capital || k == 0
			letters, capitals = letters+1, capitals+1
		default:
			letters++
		}
	}
	t.upper = letters > 0 && letters == capitals
	t.joins = strings.Trim(t.Gap, " -–/.'’‐‑&") == ""
	return t
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// Words splits text into the lower-case words a phrase or value is matched by.
func Words(text string) []string {
	var out []string
	for i := nextWord(text, 0); i < len(text); i = nextWord(text, i) {
		end := wordEnd(text, i)
		out = append(out, strings.ToLower(text[i:end]))
		i = end
	}
	return out
}

// AllLower reports whether the question has no capitals but those of codes and
// abbreviations, so that a small letter tells nothing.
func (q *Query) AllLower() bool { return q.lower }

// AllUpper reports whether the question has capitals only.
func (q *Query) AllUpper() bool { return q.upper }

// Gap returns what stands before token i; after the last token, a byte that is in no
// gap.
func (q *Query) Gap(i int) string {
	if i < 0 || i >= len(q.Tokens) {
		return "\x00"
	}
	return q.Tokens[i].Gap
}

// Word returns token i in lower case, "" outside the question.
func (q *Query) Word(i int) string {
	if i < 0 || i >= len(q.Tokens) {
		return ""
	}
	return q.Tokens[i].Lower
}

// Joined reports whether there is a token i and it continues a phrase with the one
// before; see [Token.Joins].
func (q *Query) Joined(i int) bool { return i > 0 && i < len(q.Tokens) && q.Tokens[i].joins }

// HasWords reports whether the tokens from i are these words, joined as a phrase.
func (q *Query) HasWords(i int, words ...string) bool {
	if i < 0 || i+len(words) > len(q.Tokens) {
		return false
	}
	for k, w := range words {
		if q.Tokens[i+k].Lower != w || k > 0 && !q.Tokens[i+k].joins {
			return false
		}
	}
	return true
}

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

// Skip returns the token after i if that is one of the words, and i otherwise.
func (q *Query) Skip(i int, words ...string) int {
	for _, w := range words {
		if i < len(q.Tokens) && q.Tokens[i].Lower == w {
			return i + 1
		}
	}
	return i
}

// Written returns the text of tokens [from, to) as it stands in the question.
func (q *Query) Written(from, to int) string {
	return q.Text[q.Tokens[from].Start:q.Tokens[to-1].End]
}

// Alone reports whether tokens [from, to) are all that stands between two commas, stops,
// brackets or the ends of the question.
func (q *Query) Alone(from, to int) bool {
	before := from == 0 || strings.ContainsAny(q.Gap(from), ",;:.?!(")
	return before && (to >= len(q.Tokens) || strings.ContainsAny(q.Gap(to), ",;:.?!)"))
}

// EventNoun reports whether token i is what the collection's documents are called.
func (q *Query) EventNoun(i int) bool {
	return i >= 0 && i < len(q.Tokens) && q.eventNouns[q.Tokens[i].Lower]
}

// Eventful reports whether the question names the collection's documents at all.
func (q *Query) Eventful() bool { return q.eventful(clause{from: 0, to: len(q.Tokens)}) }
