package pipeline

import (
	"strings"

	"github.com/sextant-rag/sextant"
)

// maxSuggestions is how many questions that would have an answer are offered.
const maxSuggestions = 3

// suggest offers, when nothing satisfies the conditions, the question without the
// words whose removal helps: those of the smallest relaxations that drop one thing.
func (a *asking) suggest() {
	for _, r := range a.answer.Ledger.Relaxations {
		if len(r.Drop) != 1 || len(a.answer.Suggestions) == maxSuggestions {
			continue
		}
		c := a.answer.Ledger.Constraints[r.DropAt[0]]
		if text, ok := without(a.question.Text, c, a.keptNoun(c.Text)); ok {
			a.answer.Suggestions = append(a.answer.Suggestions, text)
		}
	}
}

// keptNoun is what stays of a condition's words when they are taken out: the noun of
// "fatal accidents".
func (a *asking) keptNoun(text string) string {
	words := strings.Fields(text)
	if len(words) < 2 {
		return ""
	}
	last := words[len(words)-1]
	for _, noun := range a.subject.parser.Lexicon().EventNouns {
		if strings.EqualFold(last, noun) || strings.EqualFold(last, noun+"s") || strings.EqualFold(last, noun+"es") {
			return last
		}
	}
	return ""
}

// without removes a constraint's words and the preposition before them, but for a noun
// that is to stay.
func without(question string, c sextant.Constraint, noun string) (string, bool) {
	if c.Origin != sextant.FromRule || c.End <= c.Start || c.End > len(question) || question[c.Start:c.End] != c.Text {
		return "", false
	}
	if noun != "" {
		return strings.Join(strings.Fields(question[:c.Start]+noun+question[c.End:]), " "), true
	}
	before := strings.TrimRight(question[:c.Start], " ,")
	for _, w := range []string{" in", " at", " near", " with", " on", " during", " from", " of", " by", " under", " outside", " not in"} {
		before = strings.TrimSuffix(before, w)
	}
	text := strings.Join(strings.Fields(before+" "+strings.TrimLeft(question[c.End:], " ")), " ")
	text = strings.NewReplacer(" ?", "?", " ,", ",", " .", ".").Replace(text)
	return text, len(strings.Fields(text)) > 1
}
