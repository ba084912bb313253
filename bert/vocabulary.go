package bert

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrVocabulary is wrapped by every error about a vocabulary that cannot be used.
var ErrVocabulary = errors.New("unusable vocabulary")

const (
	continuation = "##"
	maxVocab     = 1 << 20
	// Longer entries are no word pieces; the bound keeps the longest-match search short.
	maxPieceBytes = 256
)

// vocabulary maps word pieces to ids. Pieces that continue a word are keyed without their
// "##".
type vocabulary struct {
	first, next         map[string]int32
	longest             int // bytes of the longest key
	unknown, begin, end int32
	size                int
}

// newVocabulary indexes pieces; the id of a piece is its index. A later duplicate wins, as
// in the reference.
func newVocabulary(pieces []string) (*vocabulary, error) {
	if len(pieces) > maxVocab {
		return nil, fmt.Errorf("%w: %d entries, at most %d", ErrVocabulary, len(pieces), maxVocab)
	}
	v := &vocabulary{
		first: make(map[string]int32, len(pieces)),
		next:  make(map[string]int32, len(pieces)/4),
		size:  len(pieces),
	}
	for i, p := range pieces {
		m := v.first
		if len(p) > len(continuation) && strings.HasPrefix(p, continuation) {
			m, p = v.next, p[len(continuation):]
		}
		if len(p) > maxPieceBytes || !utf8.ValidString(p) {
			return nil, fmt.Errorf("%w: entry %d is not a word piece", ErrVocabulary, i)
		}
		m[p] = int32(i)
		v.longest = max(v.longest, len(p))
	}
	for _, s := range []struct {
		piece string
		id    *int32
	}{{"[UNK]", &v.unknown}, {"[CLS]", &v.begin}, {"[SEP]", &v.end}} {
		id, ok := v.first[s.piece]
		if !ok {
			return nil, fmt.Errorf("%w: %s is missing", ErrVocabulary, s.piece)
		}
		*s.id = id
	}
	return v, nil
}

// splitVocabulary reads the text form: one piece a line, its id the line number from 0.
func splitVocabulary(text string) []string {
	pieces := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, p := range pieces {
		pieces[i] = strings.TrimRight(p, " \t\r")
	}
	return pieces
}
