package bert

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// normalizationText is the behaviour of the reference normaliser, code point by code
// point. It is recorded instead of derived from the unicode package because the reference
// mixes tables of three Unicode versions, and because the tokens of stored text must not
// change when the Go release does.
//
//go:embed normalization.txt
var normalizationText string

// A runeClass says what the tokenizer does with a code point. Values from foldBase index
// normalization.folds.
type runeClass uint16

const (
	keep runeClass = iota
	drop
	space
	cjk
	punct
	strip
	foldBase
)

var classNames = map[string]runeClass{"drop": drop, "space": space, "cjk": cjk, "punct": punct, "strip": strip}

const (
	hangulFirst, hangulLast = 0xAC00, 0xD7A3
	maxRune                 = 0x10FFFF
)

// normalization is a two-stage table: the high bits of a code point choose a page, the
// low eight an entry of it.
type normalization struct {
	pages [(maxRune + 1) >> 8]*[256]runeClass
	folds []fold
}

// A fold replaces a code point in uncased text.
type fold struct {
	to []rune
	// class is what the code point is besides: keep, cjk or punct.
	class runeClass
	// alone is set when the result is a word of its own.
	alone bool
}

var loadNormalization = sync.OnceValue(func() *normalization {
	n, err := parseNormalization(normalizationText)
	if err != nil {
		panic("bert: embedded normalization.txt: " + err.Error()) // a broken build, not input
	}
	return n
})

func (n *normalization) class(r rune) runeClass { return n.pages[r>>8][r&0xff] }

func parseNormalization(text string) (*normalization, error) {
	n := &normalization{}
	plain := new([256]runeClass)
	for i := range n.pages {
		n.pages[i] = plain
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := n.addLine(line, plain); err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
	}
	return n, nil
}

func (n *normalization) addLine(line string, plain *[256]runeClass) error {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return fmt.Errorf("want a range and a class")
	}
	first, last, err := parseRange(fields[0])
	if err != nil {
		return err
	}
	class, named := classNames[fields[1]]
	if !named && fields[1] != "fold" {
		return fmt.Errorf("class %q", fields[1])
	}
	for r := first; r <= last; r++ {
		page := &n.pages[r>>8]
		if *page == plain {
			*page = new([256]runeClass)
		}
		entry := &(*page)[r&0xff]
		if named {
			*entry = class
			continue
		}
		to, err := parseFold(r, fields[2:])
		if err != nil {
			return err
		}
		f := fold{to: to, class: *entry}
		f.alone = f.class != keep || len(to) == 1 && n.class(to[0]) == punct
		*entry = foldBase + runeClass(len(n.folds))
		n.folds = append(n.folds, f)
	}
	return nil
}

func parseRange(s string) (first, last rune, err error) {
	lo, hi, ranged := strings.Cut(s, "..")
	if !ranged {
		hi = lo
	}
	a, err := parseRune(lo)
	if err != nil {
		return 0, 0, err
	}
	b, err := parseRune(hi)
	return a, b, err
}

func parseRune(s string) (rune, error) {
	v, err := strconv.ParseUint(s, 16, 32)
	if err != nil || v > maxRune {
		return 0, fmt.Errorf("code point %q", s)
	}
	return rune(v), nil
}

func parseFold(from rune, to []string) ([]rune, error) {
	if len(to) == 1 && (to[0][0] == '+' || to[0][0] == '-') {
		delta, err := strconv.Atoi(to[0])
		return []rune{from + rune(delta)}, err
	}
	out := make([]rune, len(to))
	for i, s := range to {
		r, err := parseRune(s)
		if err != nil {
			return nil, err
		}
		out[i] = r
	}
	return out, nil
}

// decomposeHangul writes the jamo of a precomposed syllable to out and returns how many
// there are (the Unicode Standard, section 3.12).
func decomposeHangul(r rune, out *[3]rune) int {
	const leadBase, vowelBase, tailBase, vowels, tails = 0x1100, 0x1161, 0x11A7, 21, 28
	s := r - hangulFirst
	out[0] = leadBase + s/(vowels*tails)
	out[1] = vowelBase + s%(vowels*tails)/tails
	tail := s % tails
	if tail == 0 {
		return 2
	}
	out[2] = tailBase + tail
	return 3
}
