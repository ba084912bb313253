package lexical

import (
	"fmt"
	"sync"
)

// Analyzer turns text into words. Its Name stands for the whole convention written
// in the package comment: two analyzers of one name give the same words, so the name
// belongs into whatever records how a collection was indexed. Safe for concurrent use.
type Analyzer struct {
	name     string
	stems    *stemCache // nil: words are their own stems
	scanners sync.Pool
}

// The analyzers there are. A changed convention gets a new name, never the old one.
const (
	NameEnglish = "english-v1"
	NamePlain   = "plain-v1"
)

var (
	sharedEnglish = sync.OnceValue(func() *Analyzer { return &Analyzer{name: NameEnglish, stems: newStemCache()} })
	sharedPlain   = sync.OnceValue(func() *Analyzer { return &Analyzer{name: NamePlain} })
)

// English analyses with Snowball's English stemmer (Porter2). All users share one, and
// with it the stems it remembers.
func English() *Analyzer { return sharedEnglish() }

// Plain analyses the same way without stemming, for text in no one language.
func Plain() *Analyzer { return sharedPlain() }

// AnalyzerNamed returns the analyzer of a name.
func AnalyzerNamed(name string) (*Analyzer, error) {
	switch name {
	case NameEnglish:
		return English(), nil
	case NamePlain:
		return Plain(), nil
	}
	return nil, fmt.Errorf("lexical: no analyzer %q", name)
}

// Name identifies the analyzer and the version of its convention.
func (a *Analyzer) Name() string { return a.name }

// Token is one word of a text.
type Token struct {
	Word       string // folded: lower case, no accents, compatibility forms resolved
	Stem       string // what its inflections share; Word itself where nothing is stemmed
	Start, End int    // byte range of the text it was read from
	Position   int    // ordinal of its first atom in the text, from 0
	Span       int    // atoms it covers: 1, or more for a joined form ("pa28" of "PA-28")
}

// Tokens returns the words of the text in order. Joined forms follow the atoms they
// are made of and share their positions.
func (a *Analyzer) Tokens(text string) []Token {
	var out []Token
	a.scan(text, func(t token) {
		if out == nil {
			out = make([]Token, 0, 2+len(text)/6) // English has six bytes a word with its blank
		}
		word, stem := a.names(t)
		out = append(out, Token{Word: word, Stem: stem, Start: t.start, End: t.end, Position: t.pos, Span: t.span})
	})
	return out
}

// Each calls see with word and stem of each token of the text, in the order of Tokens. It is
// for those who count or look up words and need no places: no list of tokens is made.
func (a *Analyzer) Each(text string, see func(word, stem string)) {
	a.scan(text, func(t token) { see(a.names(t)) })
}

// Stem returns the stem of a text that is one token; ok is false for any other.
func (a *Analyzer) Stem(text string) (stem string, ok bool) {
	var folded [maxAtom]byte
	if len(text) > 0 && len(text) <= maxAtom && a.stems != nil {
		n := 0
		for n < len(text) && classes[text[n]] == letter {
			folded[n] = lower(text[n])
			n++
		}
		if n == len(text) {
			_, stem = a.stems.lookup(folded[:n])
			return stem, true
		}
	}
	tokens := 0
	a.Each(text, func(_, s string) { tokens, stem = tokens+1, s })
	if tokens != 1 {
		return "", false
	}
	return stem, true
}

// names returns a token's word and stem as strings that outlive the scan.
func (a *Analyzer) names(t token) (word, stem string) {
	if t.alpha && a.stems != nil {
		return a.stems.lookup(t.word)
	}
	word = string(t.word)
	return word, word
}

// key returns the dictionary key of a token; see keyOf. It outlives the scan.
func (a *Analyzer) key(t token) []byte {
	word, stem := a.names(t)
	if t.span == 1 {
		return keyOf(stem, word)
	}
	return append(joinKey(stem, word), mark(t.span))
}

func (a *Analyzer) scan(text string, emit func(token)) {
	s, _ := a.scanners.Get().(*scanner)
	if s == nil {
		s = &scanner{}
	}
	s.run(text, emit)
	a.scanners.Put(s)
}
