// Package check lets through only what the quotes support. It compares text with
// text; no model has a say in it. A finding that fails is removed and counted, never
// softened.
package check

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sextant-rag/sextant"
)

// Findings checks each finding against the documents its quotes point into and
// returns those that hold, and those that do not with the reason.
func Findings(findings []sextant.Finding, document func(sextant.DocumentID) (sextant.Document, bool)) (kept []sextant.Finding, removed []sextant.Removed) {
	for _, f := range findings {
		if reason := fault(f, document); reason != "" {
			removed = append(removed, sextant.Removed{Text: f.Text, Reason: reason})
			continue
		}
		kept = append(kept, f)
	}
	return kept, removed
}

func fault(f sextant.Finding, document func(sextant.DocumentID) (sextant.Document, bool)) string {
	if len(f.Quotes) == 0 {
		return "it quotes nothing"
	}
	var quoted strings.Builder
	for _, q := range f.Quotes {
		d, ok := document(q.DocumentID)
		if !ok {
			return fmt.Sprintf("the quoted document %s does not exist", q.DocumentID)
		}
		if q.Start < 0 || q.End > len(d.Text) || q.Start >= q.End || d.Text[q.Start:q.End] != q.Text {
			return fmt.Sprintf("the quote does not stand in %s at that place", q.DocumentID)
		}
		quoted.WriteString(q.Text + "\n" + d.Title + "\n")
	}
	return unsupported(f.Text, quoted.String())
}

// exact matches what must not differ by a character: numbers, dates, identifiers.
var exact = regexp.MustCompile(`[A-Za-z]*\d[\w.,:/()-]*`)

// unsupported names the first number or identifier of a statement that none of its
// quotes holds.
func unsupported(text, quoted string) string {
	have := map[string]bool{}
	for _, token := range exact.FindAllString(quoted, -1) {
		have[canonical(token)] = true
	}
	for _, token := range exact.FindAllString(text, -1) {
		if !have[canonical(token)] {
			return fmt.Sprintf("%q stands in none of its quotes", token)
		}
	}
	return ""
}

// canonical writes a number or identifier without thousands separators, closing
// punctuation and case.
func canonical(token string) string {
	token = strings.TrimRight(token, ".,:;)-/")
	return strings.ToUpper(strings.ReplaceAll(token, ",", ""))
}
