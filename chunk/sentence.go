package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is a byte range of a text, half open.
type Span struct{ Start, End int }

// Sentences returns the byte ranges of a text's sentences in order, without the blanks
// around them. Together they hold everything but blanks. Sentences end at stops, with
// the quotes, brackets and note marks that close after them, at blank lines and form
// feeds, before lines that begin a list item or another "label: value", and after lines
// too short to have been wrapped: titles.
//
// A stop after an abbreviation, an initial, a number in front of an item or inside a
// number, an address or a name does not end a sentence. A stop right before a capital
// ("report.The pilot") does: it is common where texts were joined by machine. In texts
// in capitals only, case decides nothing and abbreviations are taken at their word.
// It takes time in proportion to the text.
func Sentences(text string) []Span {
	s := &scanner{text: text, caseless: !hasCapital(text)}
	s.start = s.skipBlanks(0)
	s.at, s.lineStart = s.start, s.start
	for s.at < len(text) {
		s.step()
	}
	s.end(len(text))
	return s.sentences
}

// scanner goes over a text once; what it looks at before and after a stop is bounded.
type scanner struct {
	text      string
	at        int // next byte to look at
	start     int // of the sentence under way
	lineStart int
	caseless  bool // no capitals at all: lower case may begin a sentence
	sentences []Span
}

// Bounds of what is looked at around a stop, in bytes.
const (
	maxWord  = 24 // longer words are no abbreviations
	maxToken = 64 // longer ones are addresses or noise
	maxLabel = 40
	maxTitle = 120
)

// step handles the code point at s.at and moves on.
func (s *scanner) step() {
	c := s.text[s.at]
	switch {
	case c == '.' || c == '!' || c == '?':
		s.stop()
	case c == '\n':
		s.newline()
	case c == '\f':
		s.end(s.at)
		s.at++
	case c >= utf8.RuneSelf:
		s.wide()
	default:
		s.at++
	}
}

// wide handles a code point that is not ASCII.
func (s *scanner) wide() {
	r, width := utf8.DecodeRuneInString(s.text[s.at:])
	switch {
	case r == '…':
		s.stop()
	case isFullStop(r):
		s.at = s.closers(s.at + width)
		s.end(s.at)
	case r == '\u2029': // paragraph separator
		s.end(s.at)
		s.at += width
	default:
		s.at += width
	}
}

// isFullStop reports stops of scripts that use them for nothing else.
func isFullStop(r rune) bool {
	switch r {
	case '。', '！', '？', '｡', '।', '॥', '።', '۔', '؟', '։':
		return true
	}
	return false
}

// end closes the sentence under way before end and begins the next one.
func (s *scanner) end(end int) {
	if from, to := trim(s.text, s.start, max(end, s.start)); from < to {
		s.sentences = append(s.sentences, Span{from, to})
	}
	s.start = s.skipBlanks(max(end, s.start))
}

// newline ends a sentence if the line after it is blank, a list item, or like the line
// before it a label with a value, or if the line before it is a title.
func (s *scanner) newline() {
	from := s.lineStart
	next := s.at + 1
	for next < len(s.text) && (s.text[next] == ' ' || s.text[next] == '\t' || s.text[next] == '\r') {
		next++
	}
	blank := next < len(s.text) && s.text[next] == '\n'
	if blank || isItem(s.text[next:]) || isLabelled(s.text[from:]) && isLabelled(s.text[next:]) || isTitle(s.text[from:s.at], s.text[next:]) {
		s.end(s.at)
	}
	s.lineStart = next
	s.at++
}

// isTitle reports whether a line was ended on purpose: the next one begins like a
// sentence, and its first word would have fitted into this one by far if lines were
// wrapped at the length of the next.
func isTitle(line, next string) bool {
	first, _ := utf8.DecodeRuneInString(next)
	if len(line) > maxTitle || !unicode.IsUpper(first) && !unicode.IsDigit(first) || !isPhrase(line) {
		return false
	}
	next = next[:min(len(next), 2*maxTitle)]
	if end := strings.IndexByte(next, '\n'); end >= 0 {
		next = next[:end]
	}
	word := strings.IndexFunc(next, unicode.IsSpace)
	return word > 0 && 3*(len(line)+1+word) <= 2*len(next)
}

// isPhrase tells words from the bullets, codes and numbers that text taken from pages
// has on lines of their own, apart from what they stand before.
func isPhrase(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) > 3 && strings.ContainsFunc(line, func(r rune) bool { return r == ' ' || unicode.IsLower(r) })
}

// isItem reports whether a line begins with a bullet or the mark of a list item: "- ",
// "3. ", "b) ", "(iv) ".
func isItem(line string) bool {
	r, width := utf8.DecodeRuneInString(line)
	mark := line[width:]
	switch {
	case strings.ContainsRune("-*+•‣◦▪●–—·", r) && r != utf8.RuneError:
	case r == '(':
		n := countFunc(mark, 5, isASCIIWord)
		if n == 0 || !strings.HasPrefix(mark[n:], ")") {
			return false
		}
		mark = mark[n+1:]
	default:
		n := countFunc(line, 3, isASCIIDigit)
		if n == 0 {
			n = countFunc(line, 1, isASCIIWord)
		}
		if n == 0 || n > 2 || len(line) == n || line[n] != '.' && line[n] != ')' {
			return false
		}
		mark = line[n+1:]
	}
	return mark != "" && (mark[0] == ' ' || mark[0] == '\t')
}

// isLabelled reports whether a line begins like "Wind speed: ".
func isLabelled(line string) bool {
	for i := 0; i < min(len(line)-1, maxLabel); i++ {
		switch c := line[i]; {
		case c == ':':
			return i > 0 && (line[i+1] == ' ' || line[i+1] == '\t')
		case !isASCIIWord(c) && !strings.ContainsRune(" -/()_", rune(c)):
			return false
		}
	}
	return false
}

// stop handles a run of stops with what closes after it.
func (s *scanner) stop() {
	first := s.at
	run := first
	for run < len(s.text) {
		if c := s.text[run]; c == '.' || c == '!' || c == '?' {
			run++
		} else if strings.HasPrefix(s.text[run:], "…") {
			run += len("…")
		} else {
			break
		}
	}
	s.at = s.closers(run)
	if s.ends(stopAt{first, run, s.at}) {
		s.end(s.at)
	}
}

// stopAt is a run of stops at [first, run) and the closers behind it up to after.
type stopAt struct{ first, run, after int }

// closers skips quotes and brackets that close, marks that modify, and note numbers in
// brackets.
func (s *scanner) closers(i int) int {
	for i < len(s.text) {
		r, width := utf8.DecodeRuneInString(s.text[i:])
		if r == '[' {
			n := countFunc(s.text[i+1:], 4, isASCIIDigit)
			if n == 0 || n > 3 || !strings.HasPrefix(s.text[i+1+n:], "]") {
				return i
			}
			i += n + 2
			continue
		}
		if !strings.ContainsRune(`"')]}”’»」』）】〉》`, r) && !unicode.Is(unicode.M, r) {
			return i
		}
		i += width
	}
	return i
}

// ends decides whether a stop ends the sentence.
func (s *scanner) ends(p stopAt) bool {
	next := s.skipBlanks(p.after)
	if next == len(s.text) {
		return true
	}
	if next == p.after {
		return s.endsUnspaced(p)
	}
	opening := next
	for range 3 {
		r, width := utf8.DecodeRuneInString(s.text[opening:])
		if width == 0 || !strings.ContainsRune("\"'([{“‘«„「『¿¡", r) {
			break
		}
		opening += width
	}
	first, _ := utf8.DecodeRuneInString(s.text[opening:])
	if unicode.IsLower(first) && !s.caseless {
		return false
	}
	switch mark := s.text[p.first:p.run]; {
	case mark == ".":
		return s.endsSpaced(p, opening, first)
	case strings.ContainsAny(mark, "!?"):
		return true
	}
	return !unicode.IsDigit(first) // an ellipsis before a number is a gap
}

// endsSpaced decides about a single full stop before a blank and a word that could
// begin a sentence.
func (s *scanner) endsSpaced(p stopAt, next int, first rune) bool {
	word := s.wordBefore(p.first)
	if s.isEnumerator(word, p.first) {
		return false
	}
	following := wordAt(s.text[next:])
	kind, known := abbreviations[strings.ToLower(word)]
	switch {
	case known && kind == neverEnds:
		return false
	case known && kind == beforeNumber:
		return !unicode.IsDigit(first)
	case known && kind == timeOfDay:
		return begins(following) || !isCapitals(following) && !dayOrZone[strings.ToLower(following)] && unicode.IsLetter(first)
	case known && kind == ofMeasure:
		return unicode.IsLetter(first) && !afterUnit[strings.ToLower(following)]
	case known || isInitials(word):
		return begins(following)
	}
	return true
}

// endsUnspaced decides about a stop right before something visible.
func (s *scanner) endsUnspaced(p stopAt) bool {
	next, width := utf8.DecodeRuneInString(s.text[p.after:])
	if !unicode.IsUpper(next) {
		return false
	}
	if s.inAddress(p) {
		return false
	}
	word, following := s.wordBefore(p.first), wordAt(s.text[p.after:])
	if _, known := abbreviations[strings.ToLower(word)]; known || strings.Contains(word, ".") {
		return begins(following) && len(following) > 1
	}
	if s.isEnumerator(word, p.first) {
		return false
	}
	second, _ := utf8.DecodeRuneInString(s.text[p.after+width:])
	capitalised := unicode.IsLower(second) || unicode.IsSpace(second)
	switch before, _ := utf8.DecodeLastRuneInString(s.text[:p.first]); {
	case p.after-p.first > 1, unicode.IsPunct(before):
		return true
	case unicode.IsLower(before):
		return len(word) > 1
	case unicode.IsDigit(before):
		if strings.ContainsFunc(word, unicode.IsLetter) { // a name: "Part91.Subpart"
			return begins(following)
		}
		return capitalised || len(following) > 2 && isCapitals(following)
	case unicode.IsUpper(before):
		return len(word) > 2 && (capitalised || len(following) > 1 && !strings.HasPrefix(s.text[p.after+len(following):], "."))
	}
	return true
}

// isEnumerator reports whether all the sentence has so far is a number or letter: the
// mark of the item that follows.
func (s *scanner) isEnumerator(word string, stop int) bool {
	if s.start != stop-len(word) || word == "" {
		return false
	}
	digits := countFunc(word, len(word), isASCIIDigit)
	return len(word) == 1 || digits == len(word) && digits <= 3
}

// wordBefore returns the word that ends at i: letters and digits, with dots inside.
func (s *scanner) wordBefore(i int) string {
	from := i
	for from > s.start && i-from <= maxWord {
		r, width := utf8.DecodeLastRuneInString(s.text[s.start:from])
		if r != '.' && r != '\'' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		from -= width
	}
	return strings.TrimLeft(s.text[from:i], ".'")
}

// inAddress reports whether what stands around a stop without a blank is the address of
// a page, a file or a mailbox.
func (s *scanner) inAddress(p stopAt) bool {
	from, to := max(s.start, p.first-maxToken), min(len(s.text), p.after+maxToken)
	if blank := strings.LastIndexAny(s.text[from:p.first], " \t\n"); blank >= 0 {
		from += blank + 1
	}
	if blank := strings.IndexAny(s.text[p.after:to], " \t\n"); blank >= 0 {
		to = p.after + blank
	}
	token := s.text[from:to]
	return strings.ContainsAny(token, `/@\`) || len(token) > 4 && strings.EqualFold(token[:4], "www.")
}

func (s *scanner) skipBlanks(i int) int {
	for i < len(s.text) {
		r, width := utf8.DecodeRuneInString(s.text[i:])
		if !unicode.IsSpace(r) {
			break
		}
		i += width
	}
	return i
}

// wordAt returns the letters a text begins with.
func wordAt(text string) string {
	for i, r := range text {
		if i > maxWord || !unicode.IsLetter(r) && r != '\'' {
			return text[:i]
		}
	}
	return text
}

// isInitials reports a single letter, or letters each with a dot between: "J", "N.M".
func isInitials(word string) bool {
	if word == "" {
		return false
	}
	for part := range strings.SplitSeq(word, ".") {
		if r, width := utf8.DecodeRuneInString(part); width != len(part) || !unicode.IsLetter(r) {
			return false
		}
	}
	return true
}

// isCapitals reports a word of several letters, all capitals.
func isCapitals(word string) bool {
	return len(word) > 1 && !strings.ContainsFunc(word, unicode.IsLower)
}

func hasCapital(text string) bool { return strings.ContainsFunc(text, unicode.IsUpper) }

// countFunc counts the bytes at the front of text that satisfy f, up to limit.
func countFunc(text string, limit int, f func(byte) bool) int {
	n := 0
	for n < min(len(text), limit) && f(text[n]) {
		n++
	}
	return n
}

func isASCIIDigit(c byte) bool { return '0' <= c && c <= '9' }

func isASCIIWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isASCIIDigit(c)
}
