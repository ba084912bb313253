package lexical

// token is a word as the scanner emits it; word is valid until the scan goes on.
type token struct {
	word       []byte
	start, end int
	pos, span  int
	alpha      bool // letters only, so it may be stemmed
	whole      bool // the joined form of a whole compound, the last word of it
	need       need
}

// need says what part a token plays when the text is a question. An index takes all.
type need uint8

const (
	// wanted is a word that a question asks for.
	wanted need = iota
	// spare stands in for the compound it is part of, if no document has that.
	spare
	// detail is only there to be found: the 123 of "N123AB".
	detail
)

// flush emits the words of the current compound and begins a new one.
func (s *scanner) flush() {
	if n := len(s.atoms); n == 1 {
		s.emitAtom(s.atoms[0], wanted)
	} else if n > 1 {
		s.emitCompound()
	}
	s.atoms, s.buf, s.join = s.atoms[:0], s.buf[:0], 0
}

func (s *scanner) emitAtom(a atom, need need) {
	s.emit(token{word: s.buf[a.lo:a.hi], start: a.start, end: a.end, pos: s.pos, span: 1, alpha: a.class == letter, need: need})
	s.pos++
}

// emitCompound emits the atoms of a compound and the forms that join them.
func (s *scanner) emitCompound() {
	first := s.pos
	named, apart := false, false
	for _, a := range s.atoms {
		named = named || a.class == digit
		apart = apart || a.join == ' '
	}
	for i, a := range s.atoms {
		s.emitAtom(a, s.atomNeed(i, named, apart))
	}
	if named {
		s.emitIdentifier(first)
	} else if len(s.atoms) <= 4 {
		s.emitJoined(first, len(s.atoms), wanted)
	}
}

// atomNeed says what atom i is to a question. Words tied by hyphens, and those spelled
// apart, are asked for as they stand. In an identifier they stand in for it, but not
// in a serial number ("N123AB"): there a part would find only others.
func (s *scanner) atomNeed(i int, named, apart bool) need {
	switch a := s.atoms[i]; {
	case !named || apart:
		return wanted
	case a.hi-a.lo < 2 || s.isSerial() || s.isCitation():
		return detail
	}
	return spare
}

func (s *scanner) isSerial() bool {
	for _, a := range s.atoms[1:] {
		if a.join != glue && a.join != '-' {
			return false
		}
	}
	n := len(s.atoms)
	return n >= 3 && s.atoms[n-1].join == glue
}

// emitIdentifier emits a compound with digits in it as one word, and the beginnings of
// it that end at an atom: "PA-28-161" is pa28 and pa28-161, "135.293(a)" is 135.293 and
// 135.293a. Very long ones (a UUID) only whole.
func (s *scanner) emitIdentifier(first int) {
	n := len(s.atoms)
	if n > 8 {
		s.emitJoined(first, n, wanted)
		return
	}
	for i := 2; i <= n; i++ {
		if i == n || s.atoms[i].join != glue {
			s.emitJoined(first, i, wanted)
		} else {
			s.emitJoined(first, i, detail)
		}
	}
}

// emitJoined emits the first n atoms as one word. Only between two digits does the
// character that stood there remain, lest 20.4 become 204; a blank is a hyphen.
func (s *scanner) emitJoined(first, n int, need need) {
	word, alpha := s.words[:0], true
	for i, a := range s.atoms[:n] {
		if a.class == digit {
			alpha = false
			if i > 0 && s.atoms[i-1].class == digit {
				word = append(word, separator(a.join))
			}
		}
		word = append(word, s.buf[a.lo:a.hi]...)
	}
	s.words = word
	s.emit(token{word: word, start: s.atoms[0].start, end: s.atoms[n-1].end,
		pos: first, span: n, alpha: alpha, whole: n == len(s.atoms), need: need})
}

func separator(join byte) byte {
	switch join {
	case ' ', '_', glue:
		return '-'
	}
	return join
}
