package pipeline

import (
	"strings"
	"unicode"
)

// markup are beginnings of what some viewer would make a link, an image, an element or a
// block of. A model is told to write none: what it writes all the same may come out of a
// document, and would be fetched or run by whoever shows it.
var markup = []string{"](", "][", "![", "```", "://", "www.", "javascript:", "data:", "&#", "&lt;", "mailto:"}

// hasMarkup reports whether a text is more than words.
func hasMarkup(text string) bool {
	lower := strings.ToLower(text)
	for _, m := range markup {
		if strings.Contains(lower, m) {
			return true
		}
	}
	for rest := lower; ; {
		_, after, found := strings.Cut(rest, "<")
		if !found {
			return false
		}
		if after != "" && (unicode.IsLetter(rune(after[0])) || strings.ContainsRune("/!?|", rune(after[0]))) {
			return true
		}
		rest = after
	}
}

// bare takes from a text what makes links and elements of it, for where the words cannot be
// refused.
func bare(text string) string {
	return strings.NewReplacer("](", "] (", "][", "] [", "![", "! [", "```", "", "://", ": //", "www.", "www .", "<", "‹", ">", "›", "&#", "& #", "javascript:", "javascript :", "data:", "data :", "mailto:", "mailto :").Replace(text)
}
