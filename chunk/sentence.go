package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is a byte range of a text, half open.
type Span struct{ Start, End int }

// Sentences cuts a text into sentences, white space around them left out. It is made
// for reports: text in capitals only, abbreviations (N.M., FL. 180, e.g.), sentences run
// together without a blank ("... report.The pilot ..."), Chinese and Japanese stops,
// headings and list items on lines of their own. Where a full stop may belong to an
// abbreviation the sentence goes on: two sentences in one are better than half of one.
func Sentences(text string) []Span {
	var out []Span
	start := 0
	add := func(end int) {
		if s, e := trim(text, start, end); s < e {
			out = append(out, Span{s, e})
		}
		start = end
	}
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		next := i + size
		switch r {
		case '。', '！', '？', '｡', '．':
			next = skipClosers(text, next)
			add(next)
		case '!', '?':
			next = skipClosers(text, skipRun(text, next))
			if followsBreak(text, next) && !startsLower(text[next:]) {
				add(next)
			}
		case '.':
			next = skipClosers(text, skipRun(text, next))
			if endsSentence(text, start, i, next) {
				add(next)
			}
		case '\n':
			if endsLine(text, start, i) {
				add(next)
			}
		}
		i = next
	}
	add(len(text))
	return out
}

// skipRun passes over more stops: "...", "?!".
func skipRun(text string, i int) int {
	for i < len(text) && strings.IndexByte(".!?", text[i]) >= 0 {
		i++
	}
	return i
}

// skipClosers passes over quotes and brackets that close after a stop.
func skipClosers(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !strings.ContainsRune("\"')]}”’»」』）", r) {
			return i
		}
		i += size
	}
	return i
}

func followsBreak(text string, i int) bool {
	if i >= len(text) {
		return true
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return unicode.IsSpace(r)
}

// startsLower reports whether the next word begins with a small letter.
func startsLower(text string) bool {
	r, _ := utf8.DecodeRuneInString(nextWord(text))
	return unicode.IsLower(r)
}

// nextWord returns the next word, quotes before it left out. It looks 40 bytes ahead.
func nextWord(text string) string {
	text = text[:min(len(text), 40)]
	text = strings.TrimLeft(text, " \t\r\n\u00a0\"'([“‘")
	if end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }); end >= 0 {
		return text[:end]
	}
	return text
}

// wordBefore returns the characters before byte i up to white space, at most 40 bytes.
func wordBefore(text string, start, i int) string {
	from := max(start, i-40)
	word := text[from:i]
	if at := strings.LastIndexAny(word, " \t\r\n\u00a0(\"'"); at >= 0 {
		word = word[at+1:]
	}
	return word
}

// endsSentence decides about the full stop at i; next is where the text goes on.
func endsSentence(text string, start, i, next int) bool {
	word, following := wordBefore(text, start, i), nextWord(text[next:])
	if !followsBreak(text, next) {
		return runTogether(word, following)
	}
	first, _ := utf8.DecodeRuneInString(following)
	switch {
	case following == "":
		return true
	case unicode.IsLower(first):
		return false
	case numbered(text, start, i, word):
		return false
	case isInitials(word):
		return starters[strings.ToLower(following)]
	}
	switch abbreviations[strings.ToLower(word)] {
	case beforeName:
		return false
	case anywhere:
		return starters[strings.ToLower(following)] || titleCase(following) && !allCapitals(word)
	}
	return true
}

// runTogether recognises a sentence that begins right after a full stop: a long word
// before it and a word that begins sentences after it, neither part of a name with dots.
func runTogether(word, following string) bool {
	if len(word) < 4 || strings.ContainsAny(word, "./@:_\\") || strings.ContainsAny(word, "0123456789") {
		return false
	}
	lower := strings.ToLower(following)
	if allCapitals(word) {
		return starters[lower] && len(following) > 1
	}
	return starters[lower] && following != lower || titleCase(following) && len(following) > 3
}

// numbered reports whether the stop ends the number of a list item: "2. The pilot".
func numbered(text string, start, i int, word string) bool {
	if len(word) == 0 || len(word) > 3 || strings.Trim(word, "0123456789") != "" {
		return false
	}
	return strings.TrimSpace(text[start:i]) == word
}

// isInitials reports whether a word is letters with dots: J, N.M, U.S, e.g, a.m.
func isInitials(word string) bool {
	letters := 0
	for j, r := range word {
		switch {
		case unicode.IsLetter(r):
			if letters++; letters > 1 {
				return false
			}
		case r == '.' && j > 0:
			letters = 0
		default:
			return false
		}
	}
	return letters == 1
}

func titleCase(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	if !unicode.IsUpper(r) || size == len(word) {
		return false
	}
	return word[size:] == strings.ToLower(word[size:])
}

func allCapitals(word string) bool { return word == strings.ToUpper(word) }

// endsLine decides about a line break: a blank line ends a sentence, and so does the
// end of a line that is too short to have been wrapped, or the line before a list item.
func endsLine(text string, start, i int) bool {
	rest := text[i+1:]
	trimmed := strings.TrimLeft(rest, " \t\r")
	if trimmed == "" || trimmed[0] == '\n' {
		return true
	}
	line := text[max(start, strings.LastIndexByte(text[max(start, i-200):i], '\n')+1+max(start, i-200)):i]
	if len(strings.TrimSpace(line)) < 45 {
		return true
	}
	return strings.IndexByte("-*•", trimmed[0]) >= 0 || strings.HasPrefix(trimmed, "•") || strings.HasSuffix(strings.TrimSpace(line), ":")
}

type abbreviation uint8

const (
	beforeName abbreviation = iota + 1 // stands before a name or number, never at an end
	anywhere                           // may end a sentence
)

// abbreviations by their letters, without the last dot.
var abbreviations = func() map[string]abbreviation {
	out := map[string]abbreviation{}
	for w := range strings.FieldsSeq("mr mrs ms dr prof capt lt col gen sgt maj cmdr st mt fl no nos fig figs sec secs para art vol approx cf vs viz al rwy hwy rte reg regs dept div ref") {
		out[w] = beforeName
	}
	for w := range strings.FieldsSeq("etc inc co corp ltd jr sr min mins hr hrs ft in lb lbs gal gals kt kts mph rpm deg alt dist temp max est ave blvd rd acft eng tach vis wx jan feb mar apr jun jul aug sep sept oct nov dec") {
		out[w] = anywhere
	}
	return out
}()

// starters are words that begin sentences of reports and hardly ever follow an
// abbreviation within one.
var starters = func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(`the a an this that these those he she it they his her its their we i you there then when while after before as at in on during
		according both all no not one two witnesses witness investigation examination review radar weather postaccident postcrash subsequently however although
		if since because upon about another additionally also both each following for from further no according neither nobody once only prior`) {
		out[w] = true
	}
	return out
}()
