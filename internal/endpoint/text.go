package endpoint

import "strings"

// Acceptable turns a text into one that servers take: valid UTF-8 of at most limit bytes,
// without NUL, and with at least one character that is not white space.
func Acceptable(text string, limit int) string {
	text = Cut(strings.ToValidUTF8(text, "\uFFFD"), limit)
	text = strings.ReplaceAll(text, "\x00", " ")
	if strings.TrimSpace(text) == "" {
		return "."
	}
	return text
}

// Cut returns the first n bytes of text at most, whole characters.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}
