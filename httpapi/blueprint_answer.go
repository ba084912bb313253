package httpapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// queryResponse is the answer of POST /api/query.
type queryResponse struct {
	Answer    structuredAnswer `json:"answer"`
	Trace     *queryTrace      `json:"trace"`
	RawAnswer *string          `json:"raw_answer"`
}

type structuredAnswer struct {
	Summary           string              `json:"summary"`
	KeyFindings       []keyFinding        `json:"key_findings"`
	RegulatoryContext []regulatoryContext `json:"regulatory_context"`
	CausalChain       []string            `json:"causal_chain"`
	Caveats           []string            `json:"caveats"`
}

type keyFinding struct {
	Finding    string `json:"finding"`
	Source     string `json:"source"`
	Confidence string `json:"confidence"`
}

type regulatoryContext struct {
	Regulation       string  `json:"regulation"`
	Relevance        string  `json:"relevance"`
	ComplianceStatus *string `json:"compliance_status"`
}

// structured writes an answer in the blueprint's shape, which has room for text only.
// Nothing the full answer says is left unsaid: tables become findings, what is missing,
// not held or was done in a lesser way becomes a caveat.
func structured(b Blueprint, a sextant.Answer) structuredAnswer {
	out := structuredAnswer{Summary: a.Summary, Caveats: caveats(a)}
	for _, c := range a.Computed {
		out.KeyFindings = append(out.KeyFindings, keyFinding{Finding: tableText(c), Source: b.onlySource(a.Ledger), Confidence: "high"})
	}
	for _, f := range a.Findings {
		out.KeyFindings = append(out.KeyFindings, keyFinding{Finding: f.Text, Source: b.source(f.Source), Confidence: f.Confidence})
	}
	for _, r := range a.Regulatory {
		context := regulatoryContext{Regulation: r.Regulation, Relevance: r.Relevance}
		if r.ComplianceStatus != "" {
			context.ComplianceStatus = &r.ComplianceStatus
		}
		out.RegulatoryContext = append(out.RegulatoryContext, context)
	}
	for _, f := range a.CausalChain {
		out.CausalChain = append(out.CausalChain, f.Text)
	}
	return out
}

// onlySource names where documents were counted, "" if that was in several places.
func (b Blueprint) onlySource(l sextant.Ledger) string {
	if len(l.JointByCollection) != 1 {
		return ""
	}
	for collection := range l.JointByCollection {
		return b.source(collection)
	}
	return ""
}

const tableTextRows = 60

func tableText(c sextant.Computed) string {
	text := fmt.Sprintf("%s: %d %s", c.Title, c.Total, c.UnitLabel)
	if c.Percent != "" {
		text += fmt.Sprintf(", %d of them (%s %%)", c.PartCount, c.Percent)
	}
	if c.Date != "" {
		text += ", " + c.Date
	}
	rows := make([]string, 0, min(len(c.Rows), tableTextRows))
	for _, row := range c.Rows[:min(len(c.Rows), tableTextRows)] {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = fmt.Sprint(v)
		}
		if len(cells) == 2 {
			rows = append(rows, cells[0]+": "+cells[1])
		} else {
			rows = append(rows, strings.Join(cells, ", "))
		}
	}
	if len(rows) > 0 {
		text += " (" + strings.Join(rows, "; ") + ")"
	}
	if more := len(c.Rows) - len(rows); more > 0 {
		text += fmt.Sprintf(" and %d more rows", more)
	}
	return text
}

func caveats(a sextant.Answer) []string {
	out := slices.Clone(a.Caveats)
	for _, c := range a.Conflicts {
		out = append(out, "Sources disagree on "+c.Subject+".")
	}
	for _, m := range a.Missing {
		out = append(out, "Nothing was found on: "+m.Name+".")
	}
	for _, n := range a.NotHeld {
		out = append(out, fmt.Sprintf("%s: %s. Fill it with: %s", n.Collection, strings.TrimRight(n.Reason, "."), n.Command))
	}
	for _, r := range a.Ledger.Relaxations {
		out = append(out, fmt.Sprintf("Without the condition on %s: %d.", strings.Join(r.Drop, " and "), r.Count))
	}
	for _, v := range a.Ledger.Available {
		out = append(out, "Available for "+v.Field+": "+valuesText(v.Values)+".")
	}
	for _, u := range a.Ledger.Unenforceable {
		out = append(out, fmt.Sprintf("The condition %q was not applied: %s", u.Text, u.Reason))
	}
	for _, d := range a.Degraded {
		out = append(out, "The stage "+d.Stage+" was done in a lesser way: "+d.Reason)
	}
	return out
}

const shownValues = 12

func valuesText(values [][]any) string {
	var words []string
	for _, v := range values[:min(len(values), shownValues)] {
		if len(v) == 2 {
			words = append(words, fmt.Sprintf("%v (%v)", v[0], v[1]))
		}
	}
	if more := len(values) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}
