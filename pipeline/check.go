package pipeline

import (
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/check"
	"github.com/sextant-rag/sextant/generate"
)

// check lets only those findings through that their quotes support. What a model wrote and
// does not hold is asked for once more, then removed; where nothing of it holds, the quoted
// sentences answer.
func (a *asking) check() (string, error) {
	holding := a.holding
	if a.written != nil {
		holding = a.writtenHolding
	}
	held, failed := holding(a.answer.Findings, false)
	links, broken := holding(a.answer.CausalChain, true)
	a.answer.Findings, a.answer.CausalChain = held, links
	faults := slices.Concat(failed, broken)
	if a.written == nil {
		a.remove(faults)
	} else if err := a.settleWriting(slices.Concat(a.written.Faults, faults)); err != nil {
		return "", err
	}
	if a.noOpinion != nil {
		if err := a.lesser("check", a.noOpinion); err != nil {
			return "", err
		}
	}
	a.checked = true
	if a.answer.Findings == nil {
		a.answer.Findings = []sextant.Finding{}
	}
	for _, f := range a.answer.Findings {
		if !a.yield(sextant.Delta{Finding: f}, nil) {
			return "", errStopped
		}
	}
	return fmt.Sprintf("%d findings hold, %d removed", len(a.answer.Findings), len(a.answer.Removed)), nil
}

// holding splits findings into those that hold and the others with the reason.
func (a *asking) holding(findings []sextant.Finding, causal bool) (held []sextant.Finding, faults []generate.Fault) {
	checker := a.checker()
	switch small, encoder := a.small(), a.engine.search.Embedder(); {
	case a.written == nil: // sentences as they stand leave nothing in doubt
	case small != nil && !a.spent:
		checker.Opinion = secondOpinion{small, a.mark()}
	case encoder != nil:
		checker.Opinion = check.Similarity{Embedder: encoder}
	}
	for _, f := range findings {
		r := checker.Findings(a.ctx, []sextant.Finding{f})
		if r.Unasked != nil {
			a.noOpinion = r.Unasked
		}
		held = append(held, r.Kept...)
		for _, removed := range r.Removed {
			faults = append(faults, generate.Fault{Causal: causal, Removed: removed})
		}
	}
	return held, faults
}

// writtenHolding is holding for what a model wrote, which must be words alone and have to do
// with what is asked: a sentence that a document would like to be in the answer is none of it,
// however truly it is quoted.
func (a *asking) writtenHolding(findings []sextant.Finding, causal bool) (held []sextant.Finding, faults []generate.Fault) {
	held, faults = a.holding(findings, causal)
	return slices.DeleteFunc(held, func(f sextant.Finding) bool {
		reason := ""
		switch {
		case hasMarkup(f.Text):
			reason = "it holds a link or markup"
		case !a.pertains(f):
			reason = "it speaks of nothing that is asked"
		default:
			return false
		}
		faults = append(faults, generate.Fault{Causal: causal, Removed: sextant.Removed{Text: f.Text, Fault: sextant.FaultUnsupported, Reason: reason}})
		return true
	}), faults
}

// pertains reports whether a finding speaks of the subject, or quotes a document that the
// sentences picked without a model are from as well.
func (a *asking) pertains(f sextant.Finding) bool {
	topic := a.topicStems()
	if len(topic) == 0 || a.narrow() {
		return true
	}
	for stem := range a.spokenBy(f) {
		if topic[stem] {
			return true
		}
	}
	for _, picked := range slices.Concat(a.reserve.findings, a.reserve.chain) {
		if slices.ContainsFunc(f.Quotes, func(q sextant.Quote) bool { return q.DocumentID == picked.Quotes[0].DocumentID }) {
			return true
		}
	}
	return false
}

func (a *asking) remove(faults []generate.Fault) {
	for _, f := range faults {
		a.answer.Removed = append(a.answer.Removed, f.Removed)
	}
}

// settleWriting repairs what the model wrote, or gives it up for the quoted sentences.
func (a *asking) settleWriting(faults []generate.Fault) error {
	if err := a.repair(faults); err != nil {
		return err
	}
	if len(a.answer.Findings)+len(a.answer.CausalChain) == 0 {
		reason := "No finding of the language model held: the sentences that answer are quoted."
		nothing := false
		if len(faults) == 0 {
			var err error
			if nothing, err = a.nothingAnswers(); err != nil {
				return err
			}
			reason = "The language model found no answer, though passages hold one by themselves: the sentences that answer are quoted."
		}
		if !nothing {
			a.degrade(sextant.Degradation{Stage: "generate", Reason: reason})
			a.written = nil
			a.answer.Findings, _ = a.holding(a.reserve.findings, false)
			a.answer.CausalChain, _ = a.holding(a.reserve.chain, true)
			return nil
		}
		a.coverage = 0
		a.conclude()
		return nil
	}
	a.keepReserve()
	a.conclude()
	return nil
}

// checker knows the documents and figures that findings may rest on.
func (a *asking) checker() check.Checker {
	documents := a.documents
	c := check.Checker{Computed: a.answer.Computed, Others: make([]sextant.DocumentID, len(documents))}
	for i := range documents {
		c.Others[i] = documents[i].ID
	}
	c.Document = func(id sextant.DocumentID) (sextant.Document, bool) {
		i := slices.Index(c.Others, id) // they are as many as passages, so few that a table would cost more
		if i < 0 {
			return sextant.Document{}, false
		}
		return documents[i], true
	}
	return c
}
