package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
)

// Mark returns the mark of a question: what stands around text of documents so that no
// document can close its own quotation. It is made from the question's random trace id,
// which nobody could know when the document was written, and is the same when the trace is
// replayed. 16 hex digits.
func Mark(traceID string) string {
	sum := sha256.Sum256([]byte("sextant evidence " + traceID))
	return hex.EncodeToString(sum[:8])
}

// Quoted makes foreign text fit to stand between marks: control, zero-width, bidi and tag
// characters go, line ends stay as single ones, and what looks like a mark or like the
// special tokens of a chat template is broken up. Words stay as they are, so that they can
// be quoted back.
func Quoted(text, mark string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			r = '\n'
			if s := b.String(); s == "" || s[len(s)-1] == '\n' {
				continue
			}
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r >= 0xE0000 && r <= 0xE0FFF, unicode.Is(unicode.Co, r):
			continue
		}
		b.WriteRune(r)
	}
	out := b.String()
	if mark != "" {
		out = strings.ReplaceAll(out, mark, "")
	}
	if out = strings.TrimSpace(out); strings.ContainsAny(out, "<>[") {
		out = special.Replace(out)
	}
	return out
}

// special, whose every text has one of "<>[", breaks what some server's chat template would take for the end of a turn.
var special = strings.NewReplacer("<|", "< |", "|>", "| >", "<<", "< <", ">>", "> >", "[INST]", "[ INST]", "[/INST]", "[ /INST]", "<s>", "< s>", "</s>", "< /s>", "<start_of_turn>", "< start_of_turn>", "<end_of_turn>", "< end_of_turn>")

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
