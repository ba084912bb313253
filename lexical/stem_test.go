package lexical

import (
	"fmt"
	"sync"
	"testing"
)

// From several goroutines, what is remembered never differs from what is computed.
func TestStemsAreRememberedRight(t *testing.T) {
	c := newStemCache()
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := range 1_000 {
				word := fmt.Sprintf("%sing", letters(i*4+part))
				for range 2 {
					if w, stem := c.lookup([]byte(word)); w != word || stem != englishStem(word) {
						t.Errorf("%q has stem %q of %q, want %q", word, stem, w, englishStem(word))
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func letters(n int) string {
	var b []byte
	for ; n > 0; n /= 26 {
		b = append(b, byte('a'+n%26))
	}
	return string(b)
}

func TestEnglishStems(t *testing.T) {
	for word, want := range map[string]string{
		"landings": "land", "failures": "failur", "skis": "ski", "dying": "die", "a": "a", "is": "is", "yes": "yes", "engines": "engin",
	} {
		if got := englishStem(word); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
