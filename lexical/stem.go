package lexical

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"

	"github.com/kljensen/snowball/english"
)

// stemCacheSize is the number of words remembered, more than the 40,000 words of
// letters in 46,000 accident reports. Full, they take about 5 MB.
const stemCacheSize = 1 << 16

// stemCache remembers the stems of words, since stemming costs a microsecond and a
// look-up some 20 ns. It is direct-mapped: a word lives in one slot or nowhere, the
// last one to arrive wins. So it is bounded without any eviction, and readers and
// writers share it without a lock.
type stemCache struct {
	seed  maphash.Seed
	slots [stemCacheSize]atomic.Pointer[stemmed]
}

type stemmed struct{ word, stem string }

func newStemCache() *stemCache { return &stemCache{seed: maphash.MakeSeed()} }

func (c *stemCache) lookup(folded []byte) (word, stem string) {
	slot := &c.slots[maphash.Bytes(c.seed, folded)%stemCacheSize]
	if s := slot.Load(); s != nil && s.word == string(folded) {
		return s.word, s.stem
	}
	word = string(folded)
	stem = englishStem(word)
	slot.Store(&stemmed{word, stem})
	return word, stem
}

// englishStem stems a folded word. A stem always keeps the word's first byte: prefix
// queries look only at the part of the dictionary that begins with it.
func englishStem(word string) string {
	if len(word) < 3 {
		return word
	}
	stem := english.Stem(word, true)
	if stem == "" || stem[0] != word[0] {
		return word
	}
	return stem
}

// keyOf builds the key under which a word stands in a dictionary: its stem, a zero
// byte and the word, or the word alone if it is its own stem. Sorted by key, the
// inflections of one stem lie side by side, and none is lost: a question ranks by the
// whole family, a quoted phrase by the very word.
func keyOf(stem, word string) []byte {
	if stem == word {
		return []byte(word)
	}
	return joinKey(stem, word)
}

func joinKey(stem, word string) []byte {
	key := make([]byte, 0, len(stem)+1+len(word)+1)
	key = append(key, stem...)
	key = append(key, 0)
	return append(key, word...)
}

// A joined form is kept apart from the same letters written in one, since it takes
// more positions: its key always has both halves and ends in a byte that no word can
// hold, 0xf8 for two atoms to 0xfe for eight or more.
const (
	spanMark = 0xf8 - 2
	maxSpan  = 8
)

func mark(span int) byte { return byte(spanMark + min(span, maxSpan)) }

func stemOf(key []byte) []byte {
	if i := bytes.IndexByte(key, 0); i >= 0 {
		return key[:i]
	}
	return key
}

// wordOf returns the word of a key and how many positions it takes; no word for the
// key of a family.
func wordOf(key []byte) (word []byte, span int) {
	word, span = key[bytes.IndexByte(key, 0)+1:], 1
	switch last := word[len(word)-1]; {
	case last == 0xff:
		return nil, 0
	case last >= 0xf8:
		return word[:len(word)-1], int(last) - spanMark
	}
	return word, span
}
