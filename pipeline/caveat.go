package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// caveats says what a reader must know of the answer, each thing once.
func (a *asking) caveats() {
	if topic := a.unenforcedTopic(); topic != "" && (a.asksFigure() || !a.narrow()) {
		a.caveat(fmt.Sprintf("“%s” is no recorded field: figures and lists are not restricted by it.", topic))
	}
	for _, n := range a.reading.Notes {
		a.caveat(capital(n) + ".")
	}
	l := a.answer.Ledger
	for _, c := range l.Constraints {
		if c.Assumed != "" {
			a.caveat(c.Assumed + ".")
		}
	}
	for _, u := range l.Unenforceable {
		a.caveat(fmt.Sprintf("“%s” is not enforced: %s.", u.Text, u.Reason))
	}
	for _, o := range l.OutsideCoverage {
		a.caveat(capital(o) + ".")
	}
	for _, m := range l.Ambiguous {
		a.caveat(ambiguity(m))
	}
}

func (a *asking) caveat(text string) {
	if !slices.Contains(a.answer.Caveats, text) {
		a.answer.Caveats = append(a.answer.Caveats, text)
	}
}

// unenforcedTopic is the subject that no condition enforces, as asked.
func (a *asking) unenforcedTopic() string {
	if len(a.answer.Computed) == 0 {
		return ""
	}
	return strings.Join(a.reading.Topic, " ")
}

func ambiguity(m sextant.Ambiguity) string {
	var readings []string
	for _, r := range m.Readings {
		text := fmt.Sprintf("%s %s", strings.ReplaceAll(r.Field, "_", " "), values(r.Values, " to "))
		if r.Note != "" {
			text += " (" + r.Note + ")"
		}
		if r.Count != nil {
			text += ": " + thousands(*r.Count)
		}
		readings = append(readings, text)
	}
	return fmt.Sprintf("“%s” can be read in more than one way: %s.", m.Text, strings.Join(readings, "; "))
}

func values(vs []any, joiner string) string {
	texts := make([]string, len(vs))
	for i, v := range vs {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, joiner)
}
