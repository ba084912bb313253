package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/generate"
	"github.com/sextant-rag/sextant/plan"
	"github.com/sextant-rag/sextant/prompt"
	"github.com/sextant-rag/sextant/signal"
)

// writes reports whether a large model is to write the answer: not where figures are all
// that is asked, which are computed, nor where there is nothing to write from.
func (a *asking) writes() bool {
	figuresOnly := a.asksFigure() && len(a.answer.Computed) > 0 && len(a.reading.Topic) == 0 && a.plan.Otherwise != plan.Causal
	return a.large() != nil && len(a.answer.Evidence) > 0 && len(a.documents) > 0 && !figuresOnly && !a.spent
}

// brief is what the large model writes from.
func (a *asking) brief() generate.Brief {
	b := generate.Brief{Question: a.question.Text, Intent: string(a.plan.Otherwise), Mark: a.mark(), Passages: a.answer.Evidence, Shortened: a.shortened, Aspects: a.advice.Aspects}
	for _, c := range a.answer.Ledger.Constraints {
		if len(c.Collections) > 0 {
			b.Conditions = append(b.Conditions, c.Text)
		}
	}
	for i := range a.answer.Computed {
		b.Figures = append(b.Figures, prompt.Figure{Title: a.answer.Computed[i].Title, Value: a.figure(a.answer.Computed[i])})
	}
	return b
}

// write has the large model write findings in place of the quoted sentences, which stay in
// reserve.
func (a *asking) write() (string, error) {
	b := a.brief()
	w, err := fit(a, "generate", room{len(b.Passages), generate.DraftTokens}, func(r room) (generate.Written, error) {
		a.writing = b
		a.writing.Passages, a.writing.Tokens = b.Passages[:r.passages], r.tokens
		return generate.Write(a.ctx, a.large(), a.writing)
	})
	if err != nil {
		return "the sentences that answer are quoted", a.lesser("generate", err)
	}
	a.written = &w
	a.reserve.findings, a.reserve.chain = a.answer.Findings, a.answer.CausalChain
	a.answer.Findings, a.answer.CausalChain = w.Findings, w.CausalChain
	return fmt.Sprintf("%d findings by %s", len(w.Findings)+len(w.CausalChain), a.large().Name()), nil
}

// reserve are the quoted sentences that an answer falls back to.
type reserve struct{ findings, chain []sextant.Finding }

// repair asks once for better forms of what did not hold and checks those. Whatever has no
// form that holds is removed, with the reason it failed for last.
func (a *asking) repair(faults []generate.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	again, err := generate.Repair(a.ctx, a.large(), a.writing, faults)
	if err != nil {
		a.remove(faults)
		return a.lesser("repair", err)
	}
	for i, fault := range faults {
		better, ok := again[i]
		if !ok {
			a.remove(faults[i : i+1])
			continue
		}
		held, failed := a.holding([]sextant.Finding{better}, fault.Causal)
		if fault.Causal {
			a.answer.CausalChain = append(a.answer.CausalChain, held...)
		} else {
			a.answer.Findings = append(a.answer.Findings, held...)
		}
		a.remove(failed)
	}
	return nil
}

// conclude takes from what the model wrote beside the findings only what the findings bear:
// each sentence of its summary has to pass the check against all their quotes.
func (a *asking) conclude() {
	w := a.written
	for _, r := range w.Regulatory {
		a.addRegulatory(r)
	}
	for _, m := range w.Missing {
		a.answer.Missing = append(a.answer.Missing, sextant.Aspect{Name: m})
	}
	checker, quotes := a.checker(), a.quoted()
	for _, c := range w.Caveats {
		if checker.Statement(c, quotes) == nil {
			a.caveat(c)
		}
	}
	var kept []string
	for _, span := range chunk.Sentences(w.Summary) {
		s := strings.TrimSpace(w.Summary[span.Start:span.End])
		if len(kept) < maxSummary && s != "" && len(quotes) > 0 && checker.Statement(s, quotes) == nil {
			kept = append(kept, s)
		}
	}
	a.said = strings.Join(kept, " ")
}

// quoted are the quotes of everything that holds.
func (a *asking) quoted() []sextant.Quote {
	var out []sextant.Quote
	for _, f := range slices.Concat(a.answer.Findings, a.answer.CausalChain) {
		out = append(out, f.Quotes...)
	}
	for _, r := range a.answer.Regulatory {
		out = append(out, r.Quotes...)
	}
	return out
}

// maxSummary is how many sentences a summary has.
const maxSummary = 3

// addRegulatory joins what the model says of a rule with what is known of its text.
func (a *asking) addRegulatory(r sextant.Regulatory) {
	held, faults := a.holding([]sextant.Finding{{Text: r.Regulation + ": " + r.Relevance, Quotes: r.Quotes}}, false)
	if a.remove(faults); len(held) == 0 {
		return
	}
	r.Quotes = held[0].Quotes
	for i := range a.answer.Regulatory {
		known := &a.answer.Regulatory[i]
		if sameRule(known.Regulation, r.Regulation) {
			known.Relevance, known.ComplianceStatus = r.Relevance, r.ComplianceStatus
			known.Quotes = append(known.Quotes, r.Quotes...)
			return
		}
	}
	a.answer.Regulatory = append(a.answer.Regulatory, r)
}

// sameRule reports whether two citations name one rule: the number with a point in it is
// the same.
func sameRule(a, b string) bool {
	number := func(s string) string {
		for word := range strings.FieldsSeq(s) {
			if word = strings.Trim(word, "§,;:()[]"); strings.ContainsAny(word, "0123456789") && strings.Contains(word, ".") {
				before, _, _ := strings.Cut(word, "(")
				return strings.TrimRight(before, ".")
			}
		}
		return ""
	}
	return number(a) != "" && number(a) == number(b)
}

// covered is how much of the subject the written findings speak of: they may say it in other
// words, which the model's own account of what is missing tells.
func (a *asking) coveredByWriting() float64 {
	if len(a.answer.Findings)+len(a.answer.CausalChain) == 0 {
		return 0
	}
	if len(a.written.Missing) == 0 {
		return 1
	}
	said := map[string]bool{}
	for _, f := range slices.Concat(a.answer.Findings, a.answer.CausalChain) {
		text := f.Text
		for _, q := range f.Quotes {
			text += " " + q.Text + " " + q.Title
		}
		for stem := range signal.Stems(text) {
			said[stem] = true
		}
	}
	topic := signal.Stems(strings.Join(a.reading.Topic, " "))
	n := 0
	for stem := range topic {
		if said[stem] {
			n++
		}
	}
	if len(topic) == 0 {
		return 1
	}
	return float64(n) / float64(len(topic))
}

// baseline answers as plain retrieval does: the same model over the first passages, in its
// own words. Nothing of it is checked, and it says so.
func (a *asking) baseline() (string, error) {
	m := a.large()
	if m == nil || len(a.answer.Evidence) == 0 {
		return a.extract()
	}
	passages := a.answer.Evidence[:min(len(a.answer.Evidence), a.question.TopK)]
	a.answer.Evidence = passages
	text, err := fit(a, "generate", room{len(passages), generate.DraftTokens}, func(r room) (string, error) {
		return generate.Baseline(a.ctx, m, generate.Brief{Question: a.question.Text, Mark: a.mark(), Passages: passages[:r.passages], Tokens: r.tokens})
	})
	if err != nil {
		if err := a.lesser("generate", err); err != nil {
			return "", err
		}
		return a.extract()
	}
	a.said, a.unchecked = text, true
	a.caveat("This is the baseline: no condition was enforced and nothing in it was checked.")
	return "one answer by " + m.Name(), nil
}
