package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/generate"
	"github.com/sextant-rag/sextant/plan"
	"github.com/sextant-rag/sextant/prompt"
	"github.com/sextant-rag/sextant/retrieve"
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
		held, failed := a.writtenHolding([]sextant.Finding{better}, fault.Causal)
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
// each sentence of its summary has to pass the check against all their quotes, and what it
// misses has to be something that was asked.
func (a *asking) conclude() {
	w := a.written
	for _, r := range w.Regulatory {
		a.addRegulatory(r)
	}
	for _, m := range a.ofQuestion(w.Missing) {
		a.answer.Missing = append(a.answer.Missing, sextant.Aspect{Name: m})
	}
	quotes := a.quoted()
	fault := a.checker().Statements(quotes)
	holds := func(s string) bool {
		return s != "" && len(quotes) > 0 && !hasMarkup(s) && fault(s) == nil
	}
	for _, c := range w.Caveats {
		if holds(c) {
			a.caveat(c)
		}
	}
	var kept []string
	for _, span := range chunk.Sentences(w.Summary) {
		if s := strings.TrimSpace(w.Summary[span.Start:span.End]); len(kept) < maxSummary && holds(s) {
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
	held, faults := a.writtenHolding([]sextant.Finding{{Text: r.Regulation + ": " + r.Relevance, Quotes: r.Quotes}}, false)
	if a.remove(faults); len(held) == 0 {
		return
	}
	r.Quotes = held[0].Quotes
	r.ComplianceStatus = judged(r.ComplianceStatus, r.Quotes)
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

// judged is the model's word on compliance, where a quote has such a word itself. What nobody
// has stated is undetermined: a model is no court, and neither is a document that talks to it.
func judged(status string, quotes []sextant.Quote) string {
	var words []string
	switch status {
	case "violation":
		words = []string{"violat", "contrary to", "in breach", "not in accordance", "failed to comply", "noncomplian", "non-complian"}
	case "compliant":
		words = []string{"complied", "complian", "in accordance with", "conform"}
	case "not_applicable":
		words = []string{"not apply", "not applicable", "inapplicable", "except", "exempt"}
	default:
		return status
	}
	for _, q := range quotes {
		text := strings.ToLower(q.Text)
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
			return status
		}
	}
	return "undetermined"
}

// trusted is the share of the subject's words from which a model is believed that what it
// wrote covers the rest in other words. Its word alone would let any text that tells it so
// make an answer of anything. Under it words count for less than where they were picked by how
// rare they are: common ones are easily said.
const (
	trusted    = 2.0 / 3
	discounted = 0.75
)

// coveredByWriting is how much of the subject the written findings speak of.
func (a *asking) coveredByWriting() float64 {
	written := slices.Concat(a.answer.Findings, a.answer.CausalChain)
	if len(written) == 0 {
		return 0
	}
	topic := a.topicStems()
	share := shareOf(topic, a.spokenBy(written...))
	switch {
	case len(topic) == 0, share >= trusted && len(a.written.Missing) == 0:
		return 1
	case share < trusted:
		return discounted * share
	}
	return share
}

func (a *asking) topicStems() map[string]bool {
	return a.stems(strings.Join(a.reading.Topic, " "))
}

// stemmed are the stems of texts.
type stemmed map[string]map[string]bool

// stems are those of a text, found once a question: a finding is asked about them at every turn.
// They are only to be read.
func (a *asking) stems(text string) map[string]bool {
	known, ok := a.stemmed[text]
	if !ok {
		known = signal.Stems(text)
		if a.stemmed == nil {
			a.stemmed = stemmed{}
		}
		a.stemmed[text] = known
	}
	return known
}

// shareOf is the share of a subject's words that are said.
func shareOf(topic, said map[string]bool) float64 {
	n := 0
	for stem := range topic {
		if said[stem] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(topic)))
}

// spokenBy are the words of findings and of what they quote.
func (a *asking) spokenBy(findings ...sextant.Finding) map[string]bool {
	var text strings.Builder
	for _, f := range findings {
		text.WriteString(f.Text + " ")
		for _, q := range f.Quotes {
			if text.WriteString(q.Title + " "); q.Text != f.Text {
				text.WriteString(q.Text + " ")
			}
		}
	}
	return a.stems(text.String())
}

// keepReserve adds to what the model wrote those of the sentences picked without it that
// stand in other documents and say as much of the subject as anything it wrote, or a word of it
// that nothing it wrote says: a model, which any document may have talked to, puts no source of
// the answer aside for another.
func (a *asking) keepReserve() {
	written := slices.Concat(a.answer.Findings, a.answer.CausalChain)
	a.coverage = max(a.coverage, a.coveredByWriting())
	topic := a.topicStems()
	if len(topic) == 0 {
		return
	}
	most, said, quoted := 0.0, map[string]bool{}, map[sextant.DocumentID]bool{}
	for _, f := range written {
		words := a.spokenBy(f)
		most = max(most, shareOf(topic, words))
		maps.Copy(said, words)
		for _, q := range f.Quotes {
			quoted[q.DocumentID] = true
		}
	}
	others := func(reserve []sextant.Finding, causal bool) []sextant.Finding {
		reserve = slices.DeleteFunc(slices.Clone(reserve), func(f sextant.Finding) bool {
			words := a.spokenBy(f)
			adds := false
			for stem := range topic {
				adds = adds || words[stem] && !said[stem]
			}
			share := shareOf(topic, words)
			return quoted[f.Quotes[0].DocumentID] || share == 0 || share < most && !adds
		})
		held, _ := a.holding(reserve, causal)
		return held
	}
	a.answer.Findings = append(a.answer.Findings, others(a.reserve.findings, false)...)
	a.answer.CausalChain = append(a.answer.CausalChain, others(a.reserve.chain, true)...)
}

// nothingAnswers reports whether the model's word is to be taken that nothing in the evidence
// answers, where sentences were picked that seem to. Each of the passages they stand in is
// asked about by itself: what one document says to a model is no reason to pass over another.
func (a *asking) nothingAnswers() (bool, error) {
	reserve := slices.Concat(a.reserve.findings, a.reserve.chain)
	if len(reserve) == 0 {
		return true, nil
	}
	var quoted []sextant.Passage
	for _, p := range a.answer.Evidence {
		if slices.ContainsFunc(reserve, func(f sextant.Finding) bool { return f.Quotes[0].DocumentID == p.DocumentID }) {
			quoted = append(quoted, p)
		}
	}
	helps, err := retrieve.Confirm(a.ctx, a.large(), a.question.Text, a.mark(), quoted[:min(len(quoted), maxFindings)])
	if err != nil {
		return true, a.lesser("confirm", err)
	}
	return !helps, nil
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
	a.said, a.unchecked = bare(text), true
	a.caveat("This is the baseline: no condition was enforced and nothing in it was checked.")
	return "one answer by " + m.Name(), nil
}
