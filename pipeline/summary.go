package pipeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/plan"
	"github.com/sextant-rag/sextant/store"
)

// summarize says the ending in at most three sentences. Figures in it are the computed
// ones, never worked out again.
func (a *asking) summarize() {
	defer func() { a.answer.Summary = strings.TrimSpace(a.unenforced() + " " + a.answer.Summary) }()
	switch a.answer.Status {
	case sextant.NoData:
		a.answer.Summary = a.absence()
	case sextant.OutOfScope:
		a.answer.Summary = "This is not in the indexed sources, which hold " + a.holdings() + "."
	case sextant.InsufficientEvidence:
		a.answer.Summary = a.insufficient()
		if a.asksChanges() {
			a.answer.Summary = a.unchanged()
		}
		if a.reading.Request.Timeline && a.narrow() {
			a.answer.Summary = a.timeless()
		}
	default:
		switch {
		case a.asksChanges():
			a.answer.Summary = a.changes()
		case a.asksRecordOnly():
			a.answer.Summary = a.recorded()
		case a.reading.Request.Timeline && a.narrow():
			a.answer.Summary = a.course()
		default:
			a.answer.Summary = strings.TrimSpace(a.figures() + " " + strings.TrimSpace(a.prose()+" "+a.recordedBeside()))
		}
		if left := a.leftOut(); left != "" {
			a.answer.Summary = strings.TrimSpace(a.answer.Summary + " " + left)
		}
	}
}

// unenforced says first which conditions nothing holds: whatever follows is without them.
func (a *asking) unenforced() string {
	if a.answer.Status == sextant.OutOfScope {
		return ""
	}
	var out []string
	for _, u := range a.answer.Ledger.Unenforceable {
		if u.Field != "" {
			out = append(out, fmt.Sprintf("“%s” could not be enforced: %s.", u.Text, u.Reason))
		}
	}
	return strings.Join(out, " ")
}

// absence states that nothing satisfies the conditions, with the counts that prove it.
func (a *asking) absence() string {
	l := a.answer.Ledger
	if len(l.OutsideCoverage) > 0 {
		return capital(l.OutsideCoverage[0]) + "; whether anything happened then, these data cannot tell."
	}
	var alone []string
	for i, c := range l.Constraints {
		if len(c.Collections) > 0 {
			alone = append(alone, fmt.Sprintf("%s %s", a.called(i), thousands(c.Alone)))
		}
	}
	if len(alone) == 1 {
		return fmt.Sprintf("No %s satisfy the condition %s.", a.unit(), a.called(0)) + a.onlyHere() + a.didYouMean()
	}
	s := fmt.Sprintf("No %s satisfy all conditions at once; each by itself: %s.", a.unit(), strings.Join(alone, ", "))
	if len(l.Relaxations) > 0 {
		r := l.Relaxations[0]
		dropped := make([]string, len(r.DropAt))
		for i, at := range r.DropAt {
			dropped[i] = a.called(at)
		}
		s += fmt.Sprintf(" Without %s there would be %s.", strings.Join(dropped, " and "), thousands(r.Count))
	}
	if len(l.Widenings) > 0 {
		w := l.Widenings[0]
		s += fmt.Sprintf(" With %s widened to %s there would be %s.", a.called(w.At), widened(w), thousands(w.Count))
	}
	return s + a.didYouMean()
}

// onlyHere says of an identifier that stands nowhere what that does not prove.
func (a *asking) onlyHere() string {
	c := a.answer.Ledger.Constraints[0]
	f, ok := a.subject.parser.Vocabulary().Field(c.Field)
	if !ok || f.Kind != filter.Keyword || f.Facet || f.Fold != filter.Squeeze || c.Op != sextant.OpEq {
		return ""
	}
	return " That means none in what is held, and says nothing of what was never recorded here."
}

// widened writes the values of a widening; a whole year as the year.
func widened(w sextant.Widening) string {
	text := values(w.Values, " to ")
	if from, ok := strings.CutSuffix(text, "-12-31"); ok {
		if year, ok := strings.CutSuffix(from[:len(from)/2-2], "-01-01"); ok && strings.HasSuffix(from, year) {
			return year
		}
	}
	return text
}

// didYouMean offers what is held that is spelt like what is not.
func (a *asking) didYouMean() string {
	var out string
	for _, u := range a.answer.Ledger.UnknownValues {
		out += fmt.Sprintf(" “%s” stands nowhere in what is held", u.Text)
		if len(u.Nearest) > 0 {
			out += "; did you mean " + strings.Join(u.Nearest, ", ") + "?"
		} else {
			out += "."
		}
	}
	return out
}

// called names a condition by the words it came from, and by its field as well where
// the same words state several.
func (a *asking) called(i int) string {
	c := a.answer.Ledger.Constraints[i]
	shared := 0
	for _, other := range a.answer.Ledger.Constraints {
		if other.Text == c.Text {
			shared++
		}
	}
	if shared > 1 {
		return fmt.Sprintf("“%s” (%s)", c.Text, strings.ReplaceAll(c.Field, "_", " "))
	}
	return "“" + c.Text + "”"
}

func (a *asking) holdings() string {
	var out []string
	for _, c := range a.state.collections {
		spec := c.Spec()
		if n := a.state.holds(spec.Name); n > 0 {
			out = append(out, fmt.Sprintf("%s (%s %s)", spec.Title, thousands(n), spec.UnitLabel(store.Documents)))
		}
	}
	return strings.Join(out, "; ")
}

func (a *asking) insufficient() string {
	if len(a.answer.NotHeld) > 0 {
		needs := make([]string, len(a.answer.NotHeld))
		for i, n := range a.answer.NotHeld {
			needs[i] = fmt.Sprintf("%s (run `%s`)", n.Reason, n.Command)
		}
		if !slices.ContainsFunc(a.state.collections, func(c store.Collection) bool { return a.state.holds(c.Spec().Name) > 0 }) {
			return "Nothing is indexed yet: " + strings.Join(needs, "; ") + "."
		}
		return "What this question needs is not held: " + strings.Join(needs, "; ") + "."
	}
	if n := a.account.Ledger.Joint; n > 0 && len(a.account.Parts) > 0 {
		if words := a.unsettled(); a.plan.Otherwise == plan.Causal && words != "" {
			return fmt.Sprintf("No cause is stated: %s.", words)
		}
		if a.plan.Intent == plan.Causal {
			return fmt.Sprintf("%s the conditions, but no text that is held states a cause.", a.satisfying(n))
		}
		return fmt.Sprintf("%s the conditions, but nothing in them answers the question.", a.satisfying(n))
	}
	if a.onlyUnenforced() {
		return "Nothing else in the question could be counted by, so no record is shown."
	}
	return "Nothing in the indexed sources answers this."
}

// unsettled says why the one document the question is about states no cause, "" if it is
// not of those that could not.
func (a *asking) unsettled() string {
	if !a.narrow() {
		return ""
	}
	for _, d := range a.documents {
		c, ok := a.state.collection(d.Collection)
		if !ok || c.Spec().Role != sextant.RoleEvents {
			continue
		}
		spec := c.Spec()
		for _, u := range a.subject.counting.Unsettled {
			if f, err := spec.Schema.Resolve(u.Filter); err == nil && spec.Schema.Match(f, d.Meta) {
				return u.Words + a.statusText(f, d)
			}
		}
	}
	return ""
}

// statusText adds what the record says of the field the filter looked at.
func (a *asking) statusText(f filter.Filter, d sextant.Document) string {
	v := d.Meta.Fields.One(filter.FieldOf(f))
	if v.IsZero() {
		return ""
	}
	return fmt.Sprintf(" (%s: %s)", a.fieldLabel(filter.FieldOf(f)), v)
}

// unit is what the documents the conditions are about are called.
func (a *asking) unit() string {
	for _, c := range a.state.collections {
		if spec := c.Spec(); a.account.Applies(spec.Name) {
			return spec.UnitLabel(store.Documents)
		}
	}
	return store.Documents
}

func (a *asking) satisfying(n int64) string {
	if n == 1 {
		return count(n, a.unit()) + " satisfies"
	}
	return count(n, a.unit()) + " satisfy"
}

// figures says the computed values in a sentence each.
func (a *asking) figures() string {
	var out []string
	for i, c := range a.answer.Computed {
		if i+1 < len(a.answer.Computed) && a.answer.Computed[i+1].MentionOf > 0 && a.answer.Computed[i+1].Collection == c.Collection && (c.Kind == "list" || c.Kind == "count") {
			continue // how many mention the topic says what this would only frame
		}
		out = append(out, a.figure(c))
	}
	return strings.Join(out, " ")
}

func (a *asking) figure(c sextant.Computed) string {
	var s string
	conditions := a.conditions(c.Collection)
	if c.MentionOf > 0 {
		return a.mentionText(c, conditions)
	}
	switch c.Kind {
	case "share":
		s = fmt.Sprintf("%s of %s%s, which is %s %% (95 %% interval %s to %s).", thousands(c.PartCount), count(c.Total, c.UnitLabel), conditions, c.Percent, c.Low, c.High)
	case "first", "last":
		if len(c.Rows) > 1 {
			s = fmt.Sprintf("The %s %d of %s%s, from %s to %s.", c.Kind, len(c.Rows), count(c.Total, c.UnitLabel), conditions, c.Rows[0][0], c.Rows[len(c.Rows)-1][0])
			break
		}
		s = fmt.Sprintf("The %s of %s%s was on %s (%s).", c.Kind, count(c.Total, c.UnitLabel), conditions, c.Date, strings.Join(c.IDs[:min(len(c.IDs), 3)], ", "))
	case "sum":
		s = fmt.Sprintf("%s %s, over %s%s.", thousands(c.Sum), a.fieldLabel(c.SumOf), count(c.Total, c.UnitLabel), conditions)
	case "mean":
		s = fmt.Sprintf("On average %s %s: %s over %s%s.", c.Value, a.fieldLabel(c.ValueOf), thousands(c.Sum), count(c.Total, c.UnitLabel), conditions)
	case "distinct":
		s = fmt.Sprintf("%s different values of %s, in %s%s.", thousands(c.Distinct), a.fieldLabel(c.GroupBy), count(c.Total, c.UnitLabel), conditions)
	case "max", "min":
		s = a.extremeText(c, conditions)
	case "compare", "top":
		if c.SumOf != "" {
			s = fmt.Sprintf("By %s: %s, of %s%s.", a.fieldLabel(c.SumOf), rowsText(c), count(c.Total, c.UnitLabel), conditions)
			break
		}
		s = fmt.Sprintf("%s, of %s%s.", rowsText(c), count(c.Total, c.UnitLabel), conditions)
	case "group":
		s = fmt.Sprintf("%s%s.", count(c.Total, c.UnitLabel), conditions)
		if c.ShareOf != "" && len(c.Rows) > 0 && len(c.Rows) <= shownRows {
			s = fmt.Sprintf("%s, of %s%s.", rowsText(c), count(c.Total, c.UnitLabel), conditions)
		}
	default:
		s = fmt.Sprintf("%s%s.", count(c.Total, c.UnitLabel), conditions)
	}
	if a.reading.Request.Risk {
		if c.Kind == "top" {
			s = "By number of " + c.UnitLabel + ": " + s
		}
		s += " " + noRisk
	}
	if !c.Method.AtLeast || len(c.Method.Unknown) == 0 {
		return s
	}
	if c.Kind == "count" || c.Kind == "list" || c.Kind == "sum" {
		s = "At least " + s
	}
	return s + " " + capital(c.Method.Unknown[0])
}

// noRisk is the plain word that an answer about danger owes.
const noRisk = "These are counts and shares, not a risk: without hours flown or fleet sizes nothing here says what is more dangerous, or whether it got safer."

// extremeText names the documents with the most or least of something.
func (a *asking) extremeText(c sextant.Computed, conditions string) string {
	if len(c.Rows) == 0 {
		return fmt.Sprintf("%s is not recorded for any of %s%s.", capital(a.fieldLabel(c.ValueOf)), count(c.Total, c.UnitLabel), conditions)
	}
	word := map[string]string{"max": "most", "min": "fewest"}[c.Kind]
	var named []string
	for _, row := range c.Rows[:min(len(c.Rows), 3)] {
		named = append(named, fmt.Sprint(row[3]))
	}
	if more := len(c.Rows) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("The %s %s of %s%s: %s (%s).", word, a.fieldLabel(c.ValueOf), count(c.Total, c.UnitLabel), conditions, c.Value, strings.Join(named, "; "))
}

// conditions names what was enforced in the asker's own words.
func (a *asking) conditions(collection string) string {
	var texts []string
	for _, c := range a.answer.Ledger.Constraints {
		text := c.Text
		if a.denied(c) {
			text = "not " + text
		}
		if slices.Contains(c.Collections, collection) && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return " (" + strings.Join(texts, "; ") + ")"
}

// denied reports whether a condition was read from words before its own that deny them:
// "outside" of "outside the United States".
func (a *asking) denied(c sextant.Constraint) bool {
	return slices.ContainsFunc(a.reading.Constraints, func(k constrain.Constraint) bool {
		return k.Negated && k.Field == c.Field && k.Op == c.Op && k.Text == c.Text
	})
}

func (a *asking) fieldLabel(name string) string {
	if f, ok := a.subject.parser.Vocabulary().Field(name); ok && f.Label != "" {
		return f.Label
	}
	return name
}

// shownRows bounds how many rows a sentence repeats of a table.
const shownRows = 6

func rowsText(c sextant.Computed) string {
	var parts []string
	for i, r := range c.Rows {
		if i == shownRows {
			parts = append(parts, "…")
			break
		}
		text := fmt.Sprintf("%v %v", r[0], r[1])
		if c.ShareOf != "" && len(r) > 3 && r[3] != "" {
			text = fmt.Sprintf("%v %v of %v (%v %%)", r[0], r[2], r[1], r[3])
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// tellsCause reports whether a cause is asked of a few records and one states it: that is the
// answer, also where something else is asked beside it.
func (a *asking) tellsCause() bool {
	return a.plan.Intent == plan.Causal && len(a.answer.CausalChain) > 0 && a.narrow()
}

// prose gives the best finding where the answer stands in the texts.
func (a *asking) prose() string {
	if a.said != "" {
		return a.said
	}
	if topic := a.unenforcedTopic(); topic != "" && a.asksFigure() && !a.asksText() {
		if slices.ContainsFunc(a.answer.Computed, func(c sextant.Computed) bool { return c.MentionOf > 0 }) {
			return ""
		}
		return fmt.Sprintf("“%s” is no recorded field, and this is not restricted by it.", topic)
	}
	silent := len(a.answer.Computed) > 0 && len(a.reading.Topic) == 0 && a.plan.Intent != plan.Causal
	silent = silent || len(a.reading.Request.With) > 0 && a.table() != nil
	if silent || a.unenforced() != "" && len(a.reading.Beside) == 0 || len(a.answer.Findings) == 0 || !a.enough() && !a.tellsCause() {
		return ""
	}
	best := a.answer.Findings[max(0, slices.IndexFunc(a.answer.Findings, func(f sextant.Finding) bool { return f.Text == a.best }))]
	if chain := a.answer.CausalChain; len(chain) > 0 && a.plan.Intent == plan.Causal {
		best = chain[0]
	}
	return fmt.Sprintf("%s (%s)", bare(best.Text), bare(sextant.CleanText(best.Quotes[0].Title)))
}

// count writes a number with what it counts, in the singular for one where the label
// is a plain plural.
func count(n int64, label string) string {
	if n == 1 {
		label = strings.TrimSuffix(label, "s")
	}
	return thousands(n) + " " + label
}

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
