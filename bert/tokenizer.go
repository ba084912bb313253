package bert

import "unicode/utf8"

// A Token is one word piece of a text.
type Token struct {
	// ID is the piece's index in the vocabulary.
	ID int32
	// Start and End are the byte range of the text that the piece stands for. Pieces made
	// from one character (a decomposed Hangul syllable) share its range.
	Start, End int
}

// maxWordRunes is the length, after normalisation, above which a word is unknown as a
// whole.
const maxWordRunes = 100

// A Tokenizer splits text into the word pieces of a BERT vocabulary: the basic tokenizer
// and WordPiece of Devlin et al. 2018, to the letter as Hugging Face tokenizers does it
// (BertNormalizer, BertPreTokenizer, WordPiece), for every code point of Unicode.
//
// Text is data: "[SEP]" in a text is three ordinary pieces and never the control token,
// like the reference with encode_special_tokens set.
//
// The reference also puts combining marks in canonical order. That cannot change an id
// unless a vocabulary has pieces with marks that uncased normalisation keeps, and none
// has, so it is not done here.
//
// A Tokenizer is immutable and safe for concurrent use.
type Tokenizer struct {
	vocab *vocabulary
	table *normalization
	cased bool
}

// NewTokenizer makes a tokenizer from a vocabulary in its text form: one piece a line, the
// first line has id 0. It must hold [UNK], [CLS] and [SEP]; errors wrap [ErrVocabulary].
// A cased vocabulary keeps case and accents.
func NewTokenizer(vocabulary string, cased bool) (*Tokenizer, error) {
	return newTokenizer(splitVocabulary(vocabulary), cased)
}

func newTokenizer(pieces []string, cased bool) (*Tokenizer, error) {
	v, err := newVocabulary(pieces)
	if err != nil {
		return nil, err
	}
	return &Tokenizer{vocab: v, table: loadNormalization(), cased: cased}, nil
}

// VocabularySize returns the number of ids.
func (t *Tokenizer) VocabularySize() int { return t.vocab.size }

// Append appends the tokens of text to dst and returns it, without the control tokens
// that a model wants around them. It stops after limit tokens; no limit is below zero.
// Invalid UTF-8 is ignored. Nothing is allocated beyond growth of dst.
func (t *Tokenizer) Append(dst []Token, text string, limit int) []Token {
	if limit < 0 {
		limit = int(^uint(0)>>1) - len(dst)
	}
	limit += len(dst)
	var w word
	for i := 0; i < len(text) && len(dst) < limit; {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		dst = t.addRune(dst, &w, r, i, i+size)
		i += size
	}
	dst = t.flush(dst, &w)
	return dst[:min(len(dst), limit)]
}

// addRune feeds one code point, found at text[start:end], to the word under way.
func (t *Tokenizer) addRune(dst []Token, w *word, r rune, start, end int) []Token {
	class := t.table.class(r)
	if t.cased {
		class = t.casedClass(class)
	}
	switch {
	case class == keep:
		if r >= hangulFirst && r <= hangulLast && !t.cased {
			var jamo [3]rune
			for _, j := range jamo[:decomposeHangul(r, &jamo)] {
				w.add(j, start, end)
			}
			return dst
		}
		w.add(r, start, end)
	case class == drop || class == strip:
	case class == space:
		dst = t.flush(dst, w)
	case class == punct || class == cjk:
		dst = t.flush(dst, w)
		w.add(r, start, end)
		dst = t.flush(dst, w)
	default:
		dst = t.addFold(dst, w, &t.table.folds[class-foldBase], start, end)
	}
	return dst
}

func (t *Tokenizer) addFold(dst []Token, w *word, f *fold, start, end int) []Token {
	if f.alone {
		dst = t.flush(dst, w)
	}
	for _, r := range f.to {
		w.add(r, start, end)
	}
	if f.alone {
		dst = t.flush(dst, w)
	}
	return dst
}

// casedClass is the class without folding: marks and capitals are kept, words of their own
// stay so.
func (t *Tokenizer) casedClass(class runeClass) runeClass {
	switch {
	case class == strip:
		return keep
	case class >= foldBase:
		return t.table.folds[class-foldBase].class
	}
	return class
}

// A word collects the normalised characters between two boundaries, with the source range
// of each byte. It stops storing once the word is too long to be known.
type word struct {
	text       [maxWordRunes * utf8.UTFMax]byte
	start, end [maxWordRunes * utf8.UTFMax]int
	size       int // bytes used
	runes      int // all that were added, stored or not
	last       int // source end of the last rune
}

func (w *word) add(r rune, start, end int) {
	w.runes++
	w.last = end
	if w.runes > maxWordRunes {
		return
	}
	n := 1
	if r < utf8.RuneSelf {
		w.text[w.size] = byte(r)
	} else {
		n = utf8.EncodeRune(w.text[w.size:], r)
	}
	for i := w.size; i < w.size+n; i++ {
		w.start[i], w.end[i] = start, end
	}
	w.size += n
}

// flush appends the pieces of the word under way, longest match first, and empties it. A
// word with a part that no piece covers is unknown as a whole.
func (t *Tokenizer) flush(dst []Token, w *word) []Token {
	if w.runes == 0 {
		return dst
	}
	from := len(dst)
	known := w.runes <= maxWordRunes
	for at := 0; known && at < w.size; {
		id, size := t.longestPiece(w.text[at:w.size], at > 0)
		if size == 0 {
			known = false
			break
		}
		dst = append(dst, Token{ID: id, Start: w.start[at], End: w.end[at+size-1]})
		at += size
	}
	if !known {
		dst = append(dst[:from], Token{ID: t.vocab.unknown, Start: w.start[0], End: w.last})
	}
	w.size, w.runes = 0, 0
	return dst
}

// longestPiece returns the id and byte length of the longest piece that s starts with;
// length 0 when there is none.
func (t *Tokenizer) longestPiece(s []byte, inside bool) (id int32, size int) {
	pieces := t.vocab.first
	if inside {
		pieces = t.vocab.next
	}
	for n := min(len(s), t.vocab.longest); n > 0; n-- {
		if n < len(s) && !utf8.RuneStart(s[n]) {
			continue
		}
		if id, ok := pieces[string(s[:n])]; ok {
			return id, n
		}
	}
	return 0, 0
}
