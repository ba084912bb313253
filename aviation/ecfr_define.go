package aviation

import (
	"regexp"
	"slices"
	"strings"
)

// partDefinition is a paragraph that says what a term means.
const partDefinition = "definition"

// A definition is a term in italics and a word that says what it means, or the term alone
// with a colon where what it means is a list. In a section about definitions the term may
// stand in ordinary letters.
var (
	defining   = regexp.MustCompile(`^[\s,]*(?:\([^()]{1,40}\)[\s,]*)?(?:means\b|mean\b|has the (?:same )?meaning|have the (?:same )?meaning|includes\b|refers to\b|:)`)
	plainTerm  = regexp.MustCompile(`^([A-Z][^.;:()]{1,80}?)(?: \([^()]{1,40}\))?,? (?:means|has the (?:same )?meaning)\b`)
	definition = regexp.MustCompile(`(?i)\bdefinitions?\b`)
)

// maxTerm bounds a term: longer italics are headings and emphasis.
const maxTerm = 120

// term is the term that a paragraph defines, "" if it defines none. at is where its text
// begins after its labels.
func (t *lawText) term(l line, at int) string {
	start := at + len(l.text[at:]) - len(strings.TrimLeft(l.text[at:], " "))
	i := slices.IndexFunc(l.italic, func(s span) bool { return s.from == start })
	if i >= 0 {
		s := l.italic[i]
		term := strings.TrimSpace(l.text[s.from:s.to])
		colon := strings.HasSuffix(term, ":") && t.defines
		term = bareTerm(term)
		if len(term) <= maxTerm && term != "" && (colon || defining.MatchString(l.text[s.to:])) {
			return term
		}
		return ""
	}
	if m := plainTerm.FindStringSubmatch(l.text[start:]); t.defines && m != nil {
		return bareTerm(m[1])
	}
	return ""
}

var beforeTerm = regexp.MustCompile(`(?i)^(?:the terms? |definitions?[.:] |as used in [^,]{1,60}, |for (?:the )?purposes? of [^,]{1,60}, )+`)

// bareTerm is a term without what leads up to it.
func bareTerm(term string) string {
	return strings.Trim(beforeTerm.ReplaceAllString(strings.TrimSpace(term), ""), " :.,")
}
