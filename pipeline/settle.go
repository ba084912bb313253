package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/plan"
	"github.com/sextant-rag/sextant/store"
)

// enough is the share of the topic, weighted by rarity, that findings must speak of
// for an answer in prose to be one.
const enough = 0.5

// settle decides the status from what remains.
func (a *asking) settle() {
	if a.answer.Status != "" {
		a.suggest()
		return
	}
	figures := len(a.answer.Computed) > 0
	spoken := len(a.answer.Findings) > 0 && a.coverage >= enough
	topical := len(a.reading.Topic) > 0
	switch {
	case a.asksFigure() && figures:
		a.answer.Status, a.answer.Confidence = sextant.Answered, "high"
	case a.plan.Intent == plan.Causal && !a.statesCause():
		a.answer.Status = sextant.InsufficientEvidence
	case topical && spoken:
		a.answer.Status, a.answer.Confidence = sextant.Answered, "medium"
	case topical && figures && a.plan.Intent != plan.Compliance && a.account.Ledger.Joint > few:
		a.answer.Status = sextant.Partial
	case topical || !figures && len(a.answer.Findings) == 0:
		a.answer.Status = sextant.InsufficientEvidence
	default:
		a.answer.Status, a.answer.Confidence = sextant.Answered, "high"
	}
	if a.answer.Status == sextant.Answered && len(a.answer.NotHeld) > 0 {
		a.answer.Status = sextant.Partial
	}
	a.caveats()
}

// asksFigure reports whether the words ask for a computation.
func (a *asking) asksFigure() bool {
	return a.reading.Request.Kind != "" && a.reading.Request.Kind != "list" || a.reading.Request.Compared
}

// statesCause reports whether what was found states a cause, or speaks of the topic.
func (a *asking) statesCause() bool {
	return len(a.answer.CausalChain) > 0 || len(a.answer.Findings) > 0 && a.coverage >= enough
}

// caveats says what a reader must know of the answer, each once.
func (a *asking) caveats() {
	if a.asksFigure() || a.answer.Status == sextant.Partial {
		if topic := a.unenforcedTopic(); topic != "" {
			a.caveat(fmt.Sprintf("“%s” is no recorded field: figures and lists are not restricted by it.", topic))
		}
	}
	for _, c := range a.answer.Ledger.Constraints {
		if c.Assumed != "" {
			a.caveat(c.Assumed + ".")
		}
	}
	for _, u := range a.answer.Ledger.Unenforceable {
		a.caveat(fmt.Sprintf("“%s” is not enforced: %s.", u.Text, u.Reason))
	}
	for _, o := range a.answer.Ledger.OutsideCoverage {
		a.caveat(strings.ToUpper(o[:1]) + o[1:] + ".")
	}
	for _, m := range a.answer.Ledger.Ambiguous {
		a.caveat(ambiguity(m))
	}
}

func ambiguity(m sextant.Ambiguity) string {
	var readings []string
	for _, r := range m.Readings {
		text := fmt.Sprintf("%s %s", r.Field, strings.Trim(fmt.Sprint(r.Values), "[]"))
		if r.Note != "" {
			text += " (" + r.Note + ")"
		}
		if r.Count != nil {
			text += fmt.Sprintf(": %d", *r.Count)
		}
		readings = append(readings, text)
	}
	return fmt.Sprintf("“%s” can be read in more than one way: %s.", m.Text, strings.Join(readings, "; "))
}

func (a *asking) caveat(text string) {
	if !slices.Contains(a.answer.Caveats, text) {
		a.answer.Caveats = append(a.answer.Caveats, text)
	}
}

// unenforcedTopic is the subject that no condition enforces, as asked.
func (a *asking) unenforcedTopic() string {
	if len(a.reading.Topic) == 0 || len(a.answer.Computed) == 0 {
		return ""
	}
	return strings.Join(a.reading.Topic, " ")
}

// suggest offers, when nothing satisfies the conditions, the question without the
// words whose removal helps.
func (a *asking) suggest() {
	for _, r := range a.answer.Ledger.Relaxations {
		if len(r.Drop) != 1 || len(a.answer.Suggestions) == 3 {
			continue
		}
		if text, ok := without(a.question.Text, a.answer.Ledger.Constraints[r.DropAt[0]]); ok {
			a.answer.Suggestions = append(a.answer.Suggestions, text)
		}
	}
	for _, c := range a.answer.Ledger.Constraints {
		if c.Assumed != "" {
			a.caveat(c.Assumed + ".")
		}
	}
	for _, u := range a.answer.Ledger.Unenforceable {
		a.caveat(fmt.Sprintf("“%s” is not enforced: %s.", u.Text, u.Reason))
	}
	for _, m := range a.answer.Ledger.Ambiguous {
		a.caveat(ambiguity(m))
	}
	for _, v := range a.answer.Ledger.Available {
		a.caveat(available(v))
	}
}

func available(v sextant.Available) string {
	var values []string
	for _, p := range v.Values {
		values = append(values, fmt.Sprintf("%v: %v", p[0], p[1]))
	}
	return fmt.Sprintf("Available under the other conditions, by %s: %s.", v.Field, strings.Join(values, ", "))
}

// without removes a constraint's words and the preposition before them.
func without(question string, c sextant.Constraint) (string, bool) {
	if c.Origin != sextant.FromRule || c.End <= c.Start || c.End > len(question) || question[c.Start:c.End] != c.Text {
		return "", false
	}
	before := strings.TrimRight(question[:c.Start], " ,")
	for _, w := range []string{" in", " at", " near", " with", " on", " during", " from", " of", " by", " under", " outside", " not in"} {
		before = strings.TrimSuffix(before, w)
	}
	text := strings.Join(strings.Fields(before+" "+strings.TrimLeft(question[c.End:], " ")), " ")
	text = strings.NewReplacer(" ?", "?", " ,", ",", " .", ".").Replace(text)
	return text, len(strings.Fields(text)) > 1
}

// summarize says the ending in words.
func (a *asking) summarize() {
	switch a.answer.Status {
	case sextant.NoData:
		a.answer.Summary = a.absence()
	case sextant.OutOfScope:
		a.answer.Summary = "This is not in the indexed sources: " + a.holdings() + "."
	case sextant.InsufficientEvidence:
		a.answer.Summary = a.insufficient()
	default:
		a.answer.Summary = strings.TrimSpace(a.figures() + " " + a.prose())
	}
}

// absence states that nothing satisfies the conditions, with the counts that prove it.
func (a *asking) absence() string {
	l := a.answer.Ledger
	if len(l.OutsideCoverage) > 0 {
		return strings.ToUpper(l.OutsideCoverage[0][:1]) + l.OutsideCoverage[0][1:] + "; whether anything happened then, these data cannot tell."
	}
	var alone []string
	for _, c := range l.Constraints {
		if len(c.Collections) > 0 {
			alone = append(alone, fmt.Sprintf("%d match “%s”", c.Alone, c.Text))
		}
	}
	s := "Nothing that is held satisfies all conditions at once. By themselves: " + strings.Join(alone, ", ") + "."
	if len(l.Relaxations) > 0 {
		r := l.Relaxations[0]
		s += fmt.Sprintf(" Without %s: %d.", strings.Join(r.Drop, " and "), r.Count)
	}
	return s
}

func (a *asking) holdings() string {
	var out []string
	for _, c := range a.state.collections {
		spec := c.Spec()
		if n := a.state.holds(spec.Name); n > 0 {
			out = append(out, fmt.Sprintf("%s (%d %s)", spec.Title, n, spec.Unit))
		}
	}
	return strings.Join(out, "; ")
}

func (a *asking) insufficient() string {
	if len(a.answer.NotHeld) > 0 {
		var needs []string
		for _, n := range a.answer.NotHeld {
			needs = append(needs, fmt.Sprintf("%s: run `%s`", n.Reason, n.Command))
		}
		if !slices.ContainsFunc(a.state.collections, func(c store.Collection) bool { return a.state.holds(c.Spec().Name) > 0 }) {
			return "Nothing is indexed yet. " + strings.Join(needs, "; ") + "."
		}
		return "What this question needs is not held. " + strings.Join(needs, "; ") + "."
	}
	if n := a.account.Ledger.Joint; n > 0 && len(a.account.Parts) > 0 {
		return fmt.Sprintf("%d %s satisfy the conditions, but nothing in them answers the question.", n, a.unit())
	}
	return "Nothing in the indexed sources answers this."
}

func (a *asking) unit() string {
	for _, c := range a.state.collections {
		if a.account.Applies(c.Spec().Name) {
			spec := c.Spec()
			return spec.UnitLabel(store.Documents)
		}
	}
	return "documents"
}

// figures says the computed values in a sentence each.
func (a *asking) figures() string {
	var out []string
	for _, c := range a.answer.Computed {
		out = append(out, Sentence(c))
	}
	return strings.Join(out, " ")
}

// Sentence says a computed value in words. The figure in it is the computed one, never
// worked out again.
func Sentence(c sextant.Computed) string {
	s := ""
	switch c.Kind {
	case "share":
		s = fmt.Sprintf("%d of %d %s, %s %% (95 %% interval %s to %s).", c.PartCount, c.Total, c.UnitLabel, c.Percent, c.Low, c.High)
	case "first", "last":
		s = fmt.Sprintf("The %s of %d %s: %s (%s).", c.Kind, c.Total, c.UnitLabel, c.Date, strings.Join(c.IDs[:min(len(c.IDs), 3)], ", "))
	case "sum":
		s = fmt.Sprintf("%d, over %d %s.", c.Sum, c.Total, c.UnitLabel)
	case "compare", "top":
		s = fmt.Sprintf("%s.", rowsText(c))
	default:
		s = fmt.Sprintf("%d %s.", c.Total, c.UnitLabel)
	}
	if c.Method.AtLeast {
		s = "At least " + strings.ToLower(s[:1]) + s[1:]
		s += " " + strings.Join(c.Method.Unknown, " ")
	}
	return s
}

func rowsText(c sextant.Computed) string {
	var parts []string
	for i, r := range c.Rows {
		if i == 6 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, fmt.Sprintf("%v: %v", r[0], r[1]))
	}
	return strings.Join(parts, ", ") + " (" + c.UnitLabel + ")"
}

// prose points at the findings where the answer stands in them.
func (a *asking) prose() string {
	n := len(a.answer.Findings)
	if len(a.reading.Topic) == 0 || n == 0 || a.coverage < enough {
		return ""
	}
	first := a.answer.Findings[0]
	if chain := a.answer.CausalChain; len(chain) > 0 && a.plan.Intent == plan.Causal {
		first = chain[0]
	}
	return fmt.Sprintf("%s (%s)", first.Text, first.Quotes[0].Title)
}
