package lexical

import "unicode/utf8"

// maxAtom is the length in bytes at which a run of letters or digits is cut, and
// maxAtoms the number of atoms at which a compound is: encoded data in a text must
// not become endless words.
const (
	maxAtom  = 64
	maxAtoms = 32
)

// atom is a run of letters or of digits: the smallest thing that has a position.
type atom struct {
	lo, hi     int   // folded bytes, in scanner.buf
	start, end int   // bytes of the text
	class      class // letter, digit or ideograph
	join       byte  // what ties it to the atom before: 0 if nothing, glue, or the character
	acronym    bool  // single letters and dots so far: "C.F.R"
	thousands  bool  // groups of three digits so far: "8,000"
}

// glue joins two atoms with nothing between them: "N123".
const glue = 'g'

// scanner cuts a text into compounds, atoms tied to each other, and has their words
// emitted one compound at a time.
type scanner struct {
	text  string
	emit  func(token)
	buf   []byte // folded bytes of the current compound
	atoms []atom // the current compound
	join  byte   // what was read since its last atom: 0 nothing yet, or a tie
	pos   int    // positions given so far
	runes []rune
	wide  []byte
	words []byte // scratch for joined forms
}

func (s *scanner) run(text string, emit func(token)) {
	s.text, s.emit, s.pos = text, emit, 0
	for i := 0; i < len(text); {
		i = s.step(i)
	}
	s.flush()
	s.text, s.emit = "", nil
}

// step reads one run or character at i and returns where to go on.
func (s *scanner) step(i int) int {
	switch c := classes[s.text[i]]; c {
	case letter, digit:
		j := i + 1
		for j < len(s.text) && classes[s.text[j]] == c && j-i < maxAtom {
			j++
		}
		s.push(c, s.text[i:j], i, j)
		return j
	case wide:
		return s.stepWide(i)
	case blank:
		return s.stepBlank(i)
	default:
		return s.punctuation(c, s.text[i], i, i+1)
	}
}

// stepWide reads one segment that begins outside ASCII. All that it folds to has the
// segment's offsets.
func (s *scanner) stepWide(i int) int {
	var n int
	s.runes, s.wide, n = foldSegment(s.runes[:0], s.wide, s.text[i:])
	end := i + n
	to := end
	for _, r := range s.runes {
		switch c := runeClass(r); c {
		case letter, digit, ideograph:
			var b [utf8.UTFMax]byte
			s.push(c, string(b[:utf8.EncodeRune(b[:], r)]), i, end)
		case blank, other:
			s.flush()
		default:
			to = s.punctuation(c, byte(r), i, end)
		}
	}
	return to
}

// push adds letters or digits to the current compound, extending its last atom if
// they go on from it.
func (s *scanner) push(c class, piece string, start, end int) {
	if c == ideograph {
		s.flush()
	}
	join := s.join
	s.join = 0
	if n := len(s.atoms); n > 0 && join == 0 {
		last := &s.atoms[n-1]
		if last.class == c && c != ideograph && last.hi-last.lo+len(piece) <= maxAtom {
			s.fold(piece)
			last.hi, last.end = len(s.buf), end
			last.acronym = false
			return
		}
		join = glue
		if c == ideograph || last.class == ideograph || n == maxAtoms {
			s.flush()
		}
	}
	if len(s.atoms) == 0 {
		join = 0
	}
	lo := len(s.buf)
	s.fold(piece)
	s.atoms = append(s.atoms, atom{lo: lo, hi: len(s.buf), start: start, end: end, class: c, join: join,
		acronym: c == letter && len(piece) == 1, thousands: c == digit && len(piece) <= 3})
}

func (s *scanner) fold(piece string) {
	for i := 0; i < len(piece); i++ {
		s.buf = append(s.buf, lower(piece[i]))
	}
}

// punctuation decides whether the character at [i,next) ties what comes after it to
// the current compound, and returns where to go on.
func (s *scanner) punctuation(c class, char byte, i, next int) int {
	if len(s.atoms) > 0 && s.join == 0 {
		last := &s.atoms[len(s.atoms)-1]
		switch {
		case c == apostrophe:
			if to, ok := s.apostrophe(next); ok {
				return to
			}
		case c == comma && last.thousands && last.hi-last.lo < maxAtom && threeDigits(s.text[next:]):
			s.extend(last, next, next+3)
			return next + 3
		case c == connector && char == '.' && last.acronym && s.initialAt(next):
			s.extend(last, next, next+1)
			return next + 1
		case c == connector && s.ties(char, last.class, classAt(s.text, next)),
			c == paren && s.isCitation() && paragraphAt(s.text, i):
			s.join = char
			return next
		case char == ')' && last.join == '(' && paragraphAt(s.text, next):
			return next // the bracket that closes "(a)" lets a "(1)" follow
		}
	}
	s.flush()
	return next
}

// extend adds text[lo:hi] to the last atom, leaving out what stands between.
func (s *scanner) extend(last *atom, lo, hi int) {
	s.fold(s.text[lo:hi])
	last.hi, last.end = len(s.buf), hi
}

// ties reports whether a connector between two characters makes one compound of them.
func (s *scanner) ties(char byte, before, after class) bool {
	switch {
	case after != letter && after != digit && after != wide:
		return false
	case char == '.':
		return before == digit && after == digit // "20.4", but not "ground.The"
	case char == '/':
		return before == digit || after == digit // "27/09", but "and/or" is two words
	}
	return true
}

// apostrophe reads what follows one: "pilot's" is pilot, "don't" is dont.
func (s *scanner) apostrophe(next int) (to int, ok bool) {
	if classAt(s.text, next) != letter {
		return 0, false
	}
	if after := classAt(s.text, next+1); lower(s.text[next]) == 's' && after != letter && after != wide {
		s.flush()
		return next + 1, true
	}
	return next, true
}

// initialAt reports whether a single letter stands at i: the next of an acronym.
func (s *scanner) initialAt(i int) bool {
	after := classAt(s.text, i+1)
	return classAt(s.text, i) == letter && after != letter && after != wide && after != digit
}

// isCitation reports whether the compound is numbered like a section: "135.293".
func (s *scanner) isCitation() bool {
	for _, a := range s.atoms {
		if a.join == '.' {
			return true
		}
	}
	return false
}

// stepBlank reads one blank. It ends the compound, unless what stands on both sides
// is an identifier spelled apart: "N 123 AB", "PA 28", "91.409 (b)".
func (s *scanner) stepBlank(i int) int {
	next := i + 1
	if n := len(s.atoms); n > 0 && s.join == 0 && s.spelledApart(next) {
		s.join = ' '
		if s.text[next] == '(' {
			s.join = '('
			next++
		}
		return next
	}
	s.flush()
	return next
}

func (s *scanner) spelledApart(next int) bool {
	first, last := s.atoms[0], s.atoms[len(s.atoms)-1]
	switch classAt(s.text, next) {
	case digit: // letters, then digits
		return len(s.atoms) == 1 && s.isPrefix(first)
	case letter: // and then at most two letters
		return last.join == ' ' && last.class == digit && s.isSuffix(next)
	case paren:
		return s.isCitation() && paragraphAt(s.text, next)
	}
	return false
}

// isPrefix reports whether the atom can begin an identifier that is spelled apart:
// up to three letters that are no common word.
func (s *scanner) isPrefix(a atom) bool {
	return a.class == letter && a.hi-a.lo <= 3 && !shortWords[string(s.buf[a.lo:a.hi])]
}

func (s *scanner) isSuffix(i int) bool {
	j := i
	for classAt(s.text, j) == letter {
		j++
	}
	after := classAt(s.text, j)
	return j-i <= 2 && after != digit && after != wide && after != apostrophe && !shortWords[lowered(s.text[i:j])]
}

// shortWords are the words of up to three letters that stand before a number, or after
// one, without belonging to it.
var shortWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range []string{
		"a", "i", "am", "an", "as", "at", "be", "by", "do", "go", "he", "if", "in", "is", "it", "me", "my", "no", "of", "on", "or",
		"so", "to", "up", "us", "we", "all", "and", "any", "are", "but", "can", "did", "due", "few", "for", "get", "got", "had",
		"has", "her", "him", "his", "how", "its", "let", "may", "new", "nor", "not", "now", "off", "old", "one", "our", "out",
		"own", "per", "ran", "saw", "say", "see", "she", "six", "ten", "the", "too", "two", "use", "via", "was", "who", "why",
		"you", "yet", "age", "ago", "day", "end", "mid", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
	} {
		m[w] = true
	}
	return m
}()

func lowered(s string) string {
	var b [8]byte
	n := copy(b[:], s)
	for i := range b[:n] {
		b[i] = lower(b[i])
	}
	return string(b[:n])
}

// classAt is the class of the byte at i, or other outside the text.
func classAt(text string, i int) class {
	if i < 0 || i >= len(text) {
		return other
	}
	return classes[text[i]]
}

func threeDigits(text string) bool {
	return classAt(text, 0) == digit && classAt(text, 1) == digit && classAt(text, 2) == digit && classAt(text, 3) != digit
}

// paragraphAt reports whether a paragraph's designation stands at i: "(a)", "(12)", "(viii)".
func paragraphAt(text string, i int) bool {
	if classAt(text, i) != paren {
		return false
	}
	j := i + 1
	for c := classAt(text, j); c == letter || c == digit; c = classAt(text, j) {
		j++
	}
	return 1 < j-i && j-i <= 6 && j < len(text) && text[j] == ')'
}
