package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
)

// Bounds on what people are shown at once; --json has everything.
const (
	maxRows = 40
	maxIDs  = 30
)

// writeAnswer lays an answer out for people: how it ended and what it says, then the
// proof, which is the conditions with their counts, the figures, and each finding with
// the words it rests on; last whatever limits it.
func writeAnswer(p *page, a *sextant.Answer) {
	p.heading(a.Question)
	p.blank()
	writeStatus(p, a)
	p.text("", a.Summary)
	writeLedger(p, &a.Ledger)
	for i := range a.Computed {
		writeComputed(p, &a.Computed[i])
	}
	writeFindings(p, a)
	writeLimits(p, a)
	if notes := footer(a); len(notes) > 0 {
		p.blank()
		p.note("", strings.Join(notes, " · "))
	}
}

// statusWords says how a question ended, and in which colour.
func statusWords(s sextant.Status) (words, code string) {
	switch s {
	case sextant.Answered:
		return "Answered", green
	case sextant.Partial:
		return "Answered in part", yellow
	case sextant.NoData:
		return "No data: nothing matches all conditions", yellow
	case sextant.InsufficientEvidence:
		return "Not enough evidence", yellow
	case sextant.OutOfScope:
		return "Not in these collections", yellow
	case sextant.NeedsClarification:
		return "Which one is meant?", yellow
	case sextant.BudgetExhausted:
		return "Stopped at a limit", yellow
	case sextant.SourceUnavailable:
		return "A source cannot be reached", red
	}
	return string(s), red
}

func writeStatus(p *page, a *sextant.Answer) {
	words, code := statusWords(a.Status)
	p.b.WriteString(p.paint(code, words) + "\n")
}

func footer(a *sextant.Answer) []string {
	var out []string
	if a.Confidence != "" {
		out = append(out, "confidence "+a.Confidence)
	}
	if a.Intent != "" {
		out = append(out, strings.TrimSpace(a.Intent+" "+a.Strategy))
	}
	if a.AsOf != "" {
		out = append(out, "as of "+a.AsOf)
	}
	if a.Usage.ModelCalls > 0 {
		out = append(out, fmt.Sprintf("%d model calls", a.Usage.ModelCalls))
	}
	if a.TraceID != "" {
		out = append(out, "trace "+a.TraceID)
	}
	return out
}

func writeLedger(p *page, l *sextant.Ledger) {
	if len(l.Constraints) > 0 {
		p.heading("Conditions, each counted over everything held")
		t := table{head: []string{"condition", "read from", "alone", "not recorded"}, right: []bool{false, false, true, true}}
		for i := range l.Constraints {
			c := &l.Constraints[i]
			t.rows = append(t.rows, []string{condition(c), readFrom(c), humanize.Comma(c.Alone), humanize.Comma(c.Unknown)})
		}
		t.rows = append(t.rows, []string{"all together", "", humanize.Comma(l.Joint), ""})
		p.table(t)
		for i := range l.Constraints {
			writeRecorded(p, &l.Constraints[i])
		}
	}
	writeAbsence(p, l)
	for _, u := range l.Unenforceable {
		p.text("  ! ", fmt.Sprintf("“%s” is not enforced: %s", u.Text, u.Reason))
	}
	for _, u := range l.UnknownValues {
		s := fmt.Sprintf("“%s” stands nowhere in what is held", u.Text)
		if len(u.Nearest) > 0 {
			s += "; the nearest are " + strings.Join(u.Nearest, ", ")
		}
		p.text("  ! ", s+".")
	}
	for _, a := range l.Ambiguous {
		writeAmbiguity(p, a)
	}
}

// writeRecorded shows when the field of a condition is recorded, where it often is not.
func writeRecorded(p *page, c *sextant.Constraint) {
	if len(c.Recorded) == 0 {
		return
	}
	runs := make([]string, len(c.Recorded))
	for i, r := range c.Recorded {
		years := r.From
		if r.To != r.From {
			years += " to " + r.To
		}
		runs[i] = fmt.Sprintf("%s %s of %s", years, humanize.Comma(r.Recorded), humanize.Comma(r.Of))
	}
	p.text("  · ", strings.ReplaceAll(c.Field, "_", " ")+" is recorded: "+strings.Join(runs, "; "))
}

// writeAbsence shows why nothing matches and what would.
func writeAbsence(p *page, l *sextant.Ledger) {
	for _, s := range l.OutsideCoverage {
		p.text("  ! ", s)
	}
	if l.Joint > 0 {
		return
	}
	for _, r := range l.Relaxations {
		var dropped []string
		for _, at := range r.DropAt {
			if at >= 0 && at < len(l.Constraints) {
				dropped = append(dropped, condition(&l.Constraints[at]))
			}
		}
		if dropped == nil {
			dropped = r.Drop
		}
		p.text("  · ", fmt.Sprintf("%s if this is dropped: %s", humanize.Comma(r.Count), strings.Join(dropped, " and ")))
	}
	for _, w := range l.Widenings {
		p.text("  · ", fmt.Sprintf("%s if this is widened: %s", humanize.Comma(w.Count), condition(&sextant.Constraint{Field: w.Field, Op: w.Op, Values: w.Values})))
	}
	for _, a := range l.Available {
		var values []string
		for _, pair := range a.Values[:min(len(a.Values), 12)] {
			values = append(values, pairText(pair))
		}
		p.text("  · ", fmt.Sprintf("%s under the other conditions: %s", a.Field, strings.Join(values, ", ")))
	}
}

func writeAmbiguity(p *page, a sextant.Ambiguity) {
	var readings []string
	for _, r := range a.Readings {
		s := cmp.Or(r.Note, condition(&sextant.Constraint{Field: r.Field, Op: r.Op, Values: r.Values}))
		if r.Count != nil {
			s += " (" + humanize.Comma(*r.Count) + ")"
		}
		readings = append(readings, s)
	}
	p.text("  ? ", fmt.Sprintf("“%s” can mean: %s. The first was taken.", a.Text, strings.Join(readings, "; ")))
}

// condition writes a constraint as people read it. One that was given is as it was written.
func condition(c *sextant.Constraint) string {
	if c.Origin == sextant.FromUser && c.Text != "" {
		return c.Text
	}
	values := make([]string, len(c.Values))
	for i, v := range c.Values {
		values[i] = valueText(v)
	}
	list := strings.Join(values, ", ")
	switch c.Op {
	case sextant.OpEq:
		return c.Field + " = " + list
	case sextant.OpIn:
		return c.Field + " in (" + list + ")"
	case sextant.OpNotIn:
		return c.Field + " not in (" + list + ")"
	case sextant.OpGte:
		return c.Field + " ≥ " + list
	case sextant.OpLte:
		return c.Field + " ≤ " + list
	case sextant.OpBetween:
		return c.Field + " " + strings.Join(values, " to ")
	case sextant.OpContains:
		return c.Field + " contains " + strings.Join(values, " or ")
	case sextant.OpNotContains:
		return c.Field + " contains no " + strings.Join(values, " nor ")
	case sextant.OpExists:
		return c.Field + " is recorded"
	}
	return strings.TrimSpace(c.Field + " " + string(c.Op) + " " + list)
}

func readFrom(c *sextant.Constraint) string {
	switch {
	case c.Assumed != "":
		return c.Assumed
	case c.Origin == sextant.FromUser:
		return "--filter"
	case c.Text == "":
		return string(c.Origin)
	}
	return "“" + c.Text + "”"
}

// valueText writes a value as it stands on the wire: a number without a fraction it does
// not have, a pair as a span.
func valueText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = valueText(v[i])
		}
		return strings.Join(parts, " to ")
	case []string:
		return strings.Join(v, " to ")
	case nil:
		return "not recorded"
	}
	return fmt.Sprint(v)
}

// cellText is valueText with thousands set apart where the value is a count.
func cellText(v any) string {
	switch v := v.(type) {
	case int64:
		return humanize.Comma(v)
	case int:
		return humanize.Comma(int64(v))
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return humanize.Comma(n)
		}
	case float64:
		if v == float64(int64(v)) {
			return humanize.Comma(int64(v))
		}
	}
	return valueText(v)
}

func pairText(pair []any) string {
	if len(pair) == 2 {
		return valueText(pair[0]) + " (" + cellText(pair[1]) + ")"
	}
	return valueText(pair)
}

// writeFindings shows what was found, each statement with the words it rests on and a
// number for each document, then the documents by number.
func writeFindings(p *page, a *sextant.Answer) {
	c := citations{}
	section := func(title string, findings []sextant.Finding) {
		if len(findings) == 0 {
			return
		}
		p.heading(title)
		for i := range findings {
			writeFinding(p, &c, &findings[i])
		}
	}
	section("Findings", a.Findings)
	section("Chain of causes", a.CausalChain)
	if len(a.Regulatory) > 0 {
		p.heading("Rules")
	}
	for _, r := range a.Regulatory {
		p.text("  ", strings.Join(slices.DeleteFunc([]string{r.Regulation, r.Relevance, r.ComplianceStatus, r.Version}, func(s string) bool { return s == "" }), " · "))
		writeQuotes(p, &c, r.Quotes)
	}
	for _, conflict := range a.Conflicts {
		section("Sources disagree: "+conflict.Subject, conflict.Sides)
	}
	if len(c.order) == 0 {
		return
	}
	p.heading("Sources")
	for i, q := range c.order {
		p.text(fmt.Sprintf("  [%d] ", i+1), string(q.DocumentID)+" · "+q.Title)
	}
}

func writeFinding(p *page, c *citations, f *sextant.Finding) {
	// A finding that is its own quote is shown once, as the quote.
	if len(f.Quotes) != 1 || sextant.CleanText(f.Quotes[0].Text) != sextant.CleanText(f.Text) {
		p.text("  ", f.Text+confidenceNote(f.Confidence))
	}
	writeQuotes(p, c, f.Quotes)
}

func confidenceNote(confidence string) string {
	if confidence == "" || confidence == "high" {
		return ""
	}
	return " (" + confidence + " confidence)"
}

func writeQuotes(p *page, c *citations, quotes []sextant.Quote) {
	for _, q := range quotes {
		where := fmt.Sprintf("[%d]", c.number(q))
		if q.Locator != "" {
			where += " " + q.Locator
		}
		p.text("    ", "“"+q.Text+"” "+where)
	}
}

// citations numbers documents in the order they are first quoted, one number each.
type citations struct{ order []sextant.Quote }

func (c *citations) number(q sextant.Quote) int {
	at := slices.IndexFunc(c.order, func(o sextant.Quote) bool { return o.DocumentID == q.DocumentID })
	if at < 0 {
		c.order = append(c.order, q)
		at = len(c.order) - 1
	}
	return at + 1
}

// writeLimits says what the answer does not cover, and what would.
func writeLimits(p *page, a *sextant.Answer) {
	list := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		p.heading(title)
		for _, s := range lines {
			p.text("  - ", s)
		}
	}
	var missing, notHeld, degraded, removed []string
	for _, m := range a.Missing {
		missing = append(missing, m.Name)
	}
	for _, n := range a.NotHeld {
		notHeld = append(notHeld, notHeldText(n))
	}
	for _, d := range a.Degraded {
		degraded = append(degraded, d.Stage+": "+d.Reason)
	}
	for _, r := range a.Removed {
		removed = append(removed, fmt.Sprintf("“%s”: %s", r.Text, r.Reason))
	}
	list("Not answered", missing)
	list("Mind", a.Caveats)
	list("Not held", notHeld)
	list("Done in a lesser way", degraded)
	list("Taken out by the check", removed)
	list("Questions that have an answer", a.Suggestions)
}

// notHeldText says what is missing and which command fills it.
func notHeldText(n sextant.NotHeld) string {
	return fmt.Sprintf("%s: %s. To fill it: %s", n.Collection, strings.TrimRight(n.Reason, "."), n.Command)
}
