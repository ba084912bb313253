package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/plan"
	"github.com/sextant-rag/sextant/prompt"
)

// Bounds on what a model is told of the collections, so that a wide schema does not cost
// more than the question.
const (
	toldFields = 40
	toldValues = 12
)

// consult has a small model understand the question once the rules have, and their
// conditions are known to leave something: no model is asked about what is proven absent.
// It can add conditions and doubt some, choose the intent where the rules are unsure, and
// say what to look for.
func (a *asking) consult() (string, error) {
	advice, err := plan.Ask(a.ctx, a.small(), a.inquiry(toldFields, toldValues))
	if tooLong(err) {
		advice, err = plan.Ask(a.ctx, a.small(), a.inquiry(toldFields/4, toldValues/4))
	}
	if err != nil {
		a.noteStrategy()
		return "the rules' reading stands", a.lesser("plan", err)
	}
	a.advice = advice
	a.plan = a.plan.Advised(advice)
	a.answer.Intent, a.answer.Strategy = string(a.plan.Intent), string(a.plan.Strategy)
	a.noteStrategy()
	added, err := a.join(advice)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, %d conditions added, %d refused", a.plan.Intent, added, len(a.refused)), nil
}

// inquiry is what the model is told: the collections that may be used and the conditions that
// were read.
func (a *asking) inquiry(fields, each int) prompt.UnderstandInput {
	in := prompt.UnderstandInput{Question: a.question.Text, Today: a.asOf.Format(time.DateOnly)}
	v := a.subject.parser.Vocabulary()
	for _, c := range a.inScope() {
		spec := c.Spec()
		if a.state.holds(spec.Name) == 0 {
			continue
		}
		told := prompt.Collection{Name: spec.Name, Title: spec.Title}
		for _, f := range spec.Schema.Fields[:min(len(spec.Schema.Fields), fields)] {
			told.Fields = append(told.Fields, toldField(f, v, each, a.state.holds(spec.Name)))
		}
		in.Collections = append(in.Collections, told)
	}
	for _, c := range a.answer.Ledger.Constraints {
		in.Read = append(in.Read, fmt.Sprintf("“%s”: %s %s %s", c.Text, c.Field, c.Op, values(c.Values, ", ")))
	}
	return in
}

// toldField is a field with its most frequent values. What stands in few documents, or could
// be a sentence, is not told: the reader of a question decides on its conditions, and nobody
// who can write a document or two is to speak to it.
func toldField(f filter.Field, v *constrain.Vocabulary, most int, documents int64) prompt.Field {
	out := prompt.Field{Name: f.Name, Label: f.Label, Kind: f.Kind.String()}
	if known := v.Values(f.Name); f.Kind == filter.Keyword && f.Facet {
		for _, value := range known {
			if text := sextant.CleanText(value.Text); len(out.Values) < most && value.Count >= max(leastKnown, documents/leastShare) && isTerm(text) {
				out.Values = append(out.Values, text)
			}
		}
	}
	return out
}

// isTerm reports whether a value is a few plain words.
func isTerm(text string) bool {
	return text != "" && len(text) <= maxTerm && len(strings.Fields(text)) <= maxTermWords && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" -/&.,'()", r)
	})
}

const (
	leastKnown   = 5   // documents that have a value that is told
	leastShare   = 100 // one in so many has it
	maxTerm      = 40  // bytes
	maxTermWords = 4
)

// join adds the conditions that hold up to the reading and counts again. A condition that
// the model inferred, its value standing nowhere in the question, proves no absence: where
// nothing is left with it, it is said and not enforced.
func (a *asking) join(advice plan.Advice) (added int, err error) {
	before := a.reading
	a.reading, a.refused = a.subject.parser.Join(a.question.Text, before, advice.Proposals)
	added = len(a.reading.Constraints) - len(before.Constraints)
	if added > 0 {
		if err := a.count(); err != nil {
			return 0, err
		}
		if inferred := inferences(a.reading.Constraints); a.provenAbsent() && len(inferred) > 0 {
			a.reading.Constraints = slices.DeleteFunc(slices.Clone(a.reading.Constraints), func(c constrain.Constraint) bool { return c.Inferred })
			for _, c := range inferred {
				a.reading.Unenforceable = append(slices.Clip(a.reading.Unenforceable), sextant.Unenforceable{Text: c.Text, Reason: "a model reads it as " + strings.ReplaceAll(c.Field, "_", " ") + " " + values(c.Values, " or ") + ", under which nothing is held; the question does not say so itself"})
			}
			if err := a.count(); err != nil {
				return 0, err
			}
			added -= len(inferred)
		}
		if a.provenAbsent() {
			a.answer.Status = sextant.NoData
		}
	}
	disputed := a.reading.Disputed(a.question.Text, advice.Disputes)
	for _, i := range slices.Sorted(maps.Keys(disputed)) { // a question asked again says it in the same order
		c := &a.answer.Ledger.Constraints[i]
		c.Disputed = bare(disputed[i])
		a.caveat(fmt.Sprintf("“%s” is enforced as a condition; a model doubts that the question means it.", c.Text))
	}
	if added == 0 {
		return 0, nil
	}
	if !a.yield(sextant.LedgerReady{Ledger: a.account.Ledger}, nil) {
		return added, errStopped
	}
	return added, nil
}

func inferences(cs []constrain.Constraint) (out []constrain.Constraint) {
	for _, c := range cs {
		if c.Inferred {
			out = append(out, c)
		}
	}
	return out
}

// consulted is what the trace shows of it.
func (a *asking) consulted() any {
	type refusal struct {
		Words  string `json:"words"`
		Field  string `json:"field"`
		Reason string `json:"reason"`
	}
	out := struct {
		Intent     string            `json:"intent"`
		Confidence string            `json:"confidence"`
		Aspects    []string          `json:"aspects,omitempty"`
		Queries    map[string]string `json:"queries,omitempty"`
		Refused    []refusal         `json:"refused,omitempty"`
	}{Intent: string(a.plan.Intent), Confidence: a.plan.Confidence, Aspects: a.advice.Aspects, Queries: a.advice.Queries}
	for _, r := range a.refused {
		out.Refused = append(out.Refused, refusal{r.Words, r.Field, r.Reason})
	}
	return out
}
