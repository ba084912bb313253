package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/generate"
	"github.com/sextant-rag/sextant/plan"
)

// Questions about a record that is named: what some of its fields say, what changed in it,
// in which order it tells what happened, and answers without some of its parts.

// asksRecord reports whether the values of fields are asked of records that are named and
// held.
func (a *asking) asksRecord() bool {
	t := a.table()
	return len(a.reading.Request.Fields) > 0 && t != nil && t.Kind == "list"
}

// asksRecordOnly reports whether nothing is asked beside the values of fields: no cause, and
// no subject of which the texts are to speak.
func (a *asking) asksRecordOnly() bool {
	return a.asksRecord() && len(a.reading.Topic) == 0 && a.plan.Otherwise != plan.Causal
}

// recordedBeside says the fields that are asked for beside something else. What the records
// say of them is answered whatever becomes of the rest.
func (a *asking) recordedBeside() string {
	if !a.asksRecord() || a.asksRecordOnly() || a.reading.Request.Timeline || a.asksChanges() {
		return ""
	}
	return a.recorded()
}

// table is the figure with the fields or parts that are asked for, a row a document.
func (a *asking) table() *sextant.Computed {
	for i := range a.answer.Computed {
		if c := &a.answer.Computed[i]; len(c.Rows) > 0 && (c.Kind == "list" || c.Kind == "first" || c.Kind == "last") {
			return c
		}
	}
	return nil
}

// recorded says what the records say of the fields asked for, in a sentence a record.
func (a *asking) recorded() string {
	c := a.table()
	var out []string
	for _, row := range c.Rows[:min(len(c.Rows), few)] {
		var said []string
		for i := 2; i < len(row); i++ {
			said = append(said, fmt.Sprintf("%s: %v", c.Columns[i], row[i]))
		}
		out = append(out, fmt.Sprintf("%v: %s.", row[0], strings.Join(said, "; ")))
	}
	if more := len(c.Rows) - few; more > 0 {
		out = append(out, fmt.Sprintf("And %d more in the table.", more))
	}
	if words := a.unsettled(); words != "" && a.asksStage() {
		out = append(out, capital(words)+".")
	}
	return strings.Join(out, " ")
}

// asksStage reports whether it is asked how far a record has come.
func (a *asking) asksStage() bool {
	return slices.ContainsFunc(a.reading.Request.Fields, func(f string) bool { return slices.Contains(a.subject.parser.Lexicon().Stages, f) })
}

// quoteFields keeps of the findings what quotes the values asked for, where the records
// say them in words.
func (a *asking) quoteFields() {
	a.answer.Findings, a.answer.CausalChain = []sextant.Finding{}, nil
	for _, d := range a.documents {
		for _, name := range a.reading.Request.Fields {
			v := d.Meta.Fields.One(name)
			if v.IsZero() || len(a.answer.Findings) == maxNarrow {
				continue
			}
			text := v.String()
			if v.Kind() == filter.Time {
				text = v.Time().Format("2 January 2006")
			}
			if q, ok := a.sentenceSaying(d, a.fieldLabel(name), text); ok {
				a.answer.Findings = append(a.answer.Findings, sextant.Finding{Text: q.Text, Quotes: []sextant.Quote{q}, Source: d.Collection, Confidence: "high"})
			}
		}
	}
}

// sentenceSaying finds the first sentence of a document that says a value, best one that
// also says a word of the field's label.
func (a *asking) sentenceSaying(d sextant.Document, label, value string) (out sextant.Quote, ok bool) {
	for _, s := range chunk.Sentences(d.Text) {
		text := d.Text[s.Start:s.End]
		if !strings.Contains(text, value) {
			continue
		}
		named := slices.ContainsFunc(strings.Fields(label), func(w string) bool { return len(w) > 3 && strings.Contains(strings.ToLower(text), strings.ToLower(w)) })
		if q, err := d.Quote(s.Start, s.End); err == nil && (named || !ok) {
			if out, ok = q, true; named {
				break
			}
		}
	}
	return out, ok
}

// asksChanges reports whether it is asked what changed in a record that is held.
func (a *asking) asksChanges() bool { return a.reading.Request.Changes && a.narrow() }

// changes says on how many facts what is held of the record differs.
func (a *asking) changes() string {
	var subjects []string
	for _, c := range a.answer.Conflicts {
		subjects = append(subjects, c.Subject)
	}
	facts := "facts"
	if len(subjects) == 1 {
		facts = "fact"
	}
	return fmt.Sprintf("What is held differs on %d %s: %s. Each side is shown with its source and date; values that no source kept are not known.", len(subjects), facts, strings.Join(subjects, "; "))
}

// unchanged says that nothing held shows a change, which is no proof that there was none.
func (a *asking) unchanged() string {
	return "No earlier revision that differs is held: all that was read for this record agrees, so what changed between its revisions cannot be told from it." + a.stageNow()
}

// stageNow adds what the records say of how far they have come.
func (a *asking) stageNow() string {
	for _, d := range a.documents {
		for _, name := range a.subject.parser.Lexicon().Stages {
			if v := d.Meta.Fields.One(name); !v.IsZero() {
				return fmt.Sprintf(" It now says %s: %s.", a.fieldLabel(name), v)
			}
		}
	}
	return ""
}

// leaveOut takes the parts that the question does not want out of what may be quoted.
func (a *asking) leaveOut() {
	without := a.reading.Request.Without
	if len(without) == 0 {
		return
	}
	unwanted := func(p sextant.Part) bool {
		if !slices.Contains(without, p.Kind) {
			return false
		}
		if !slices.Contains(a.left, p.Kind) {
			a.left = append(a.left, p.Kind)
		}
		return true
	}
	if slices.Contains(without, generate.PartCause) && a.plan.Otherwise == plan.Causal {
		a.plan.Intent, a.plan.Otherwise = plan.Factual, plan.Factual
	}
	for i := range a.documents {
		d := &a.documents[i]
		for k := range a.answer.Evidence {
			p := &a.answer.Evidence[k]
			for _, part := range d.Parts {
				if p.DocumentID == d.ID && unwanted(part) {
					p.Content = strings.ReplaceAll(p.Content, d.Text[max(part.Start, p.Start):max(part.Start, p.Start, min(part.End, p.End))], "")
				}
			}
		}
		d.Parts = slices.DeleteFunc(slices.Clone(d.Parts), unwanted)
	}
}

// leftOut says which parts were left out because the question does not want them.
func (a *asking) leftOut() string {
	switch {
	case len(a.reading.Request.Without) == 0:
		return ""
	case len(a.left) == 0:
		return "Of what was to be left out (" + strings.Join(a.reading.Request.Without, ", ") + ") nothing stands in what is quoted."
	}
	slices.Sort(a.left)
	return "Left out, as asked: " + strings.Join(a.left, ", ") + "."
}

// timeline quotes the sentences with times of the records that are named, in their order.
func (a *asking) timeline() (string, error) {
	a.answer.Findings, a.untold = generate.Timeline(a.documents, maxTimeline)
	a.answer.CausalChain = nil
	if a.answer.Findings == nil {
		a.answer.Findings = []sextant.Finding{}
	}
	a.coverage, a.sufficiency.Score = 1, 1
	return fmt.Sprintf("%d findings", len(a.answer.Findings)), nil
}

// maxTimeline bounds the sentences of a timeline.
const maxTimeline = 25

// course says what a timeline is made of.
func (a *asking) course() string {
	s := fmt.Sprintf("%d statements with the times as printed, in the order of time, a text that goes over midnight in its own; the texts name a zone where one is given, and otherwise none is stated.", len(a.answer.Findings))
	if a.untold > 0 {
		s += fmt.Sprintf(" %d later ones are not shown.", a.untold)
	}
	return s
}

// timeless says why no timeline can be told.
func (a *asking) timeless() string {
	var held []string
	for _, d := range a.documents {
		for _, p := range d.Parts {
			if p.Locator != "" && !slices.Contains(held, p.Locator) {
				held = append(held, p.Locator)
			}
		}
	}
	return fmt.Sprintf("No statement with a time of day is held for it, so no timeline can be told; of its record are held: %s.", strings.ToLower(strings.Join(held, ", ")))
}
