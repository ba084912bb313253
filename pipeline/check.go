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
	held, failed := a.holding(a.answer.Findings, false)
	links, broken := a.holding(a.answer.CausalChain, true)
	a.answer.Findings, a.answer.CausalChain = held, links
	faults := slices.Concat(failed, broken)
	if a.written == nil {
		a.remove(faults)
	} else if err := a.settleWriting(slices.Concat(a.written.Faults, faults)); err != nil {
		return "", err
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
	for _, f := range findings {
		r := checker.Findings(a.ctx, []sextant.Finding{f})
		held = append(held, r.Kept...)
		for _, removed := range r.Removed {
			faults = append(faults, generate.Fault{Causal: causal, Removed: removed})
		}
	}
	return held, faults
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
	if len(a.answer.Findings)+len(a.answer.CausalChain) == 0 && len(faults) > 0 {
		a.degrade(sextant.Degradation{Stage: "generate", Reason: "No finding of the language model held: the sentences that answer are quoted."})
		a.written = nil
		a.answer.Findings, _ = a.holding(a.reserve.findings, false)
		a.answer.CausalChain, _ = a.holding(a.reserve.chain, true)
		return nil
	}
	a.conclude()
	a.coverage = a.coveredByWriting()
	return nil
}

// checker knows the documents and figures that findings may rest on.
func (a *asking) checker() check.Checker {
	byID := map[sextant.DocumentID]sextant.Document{}
	c := check.Checker{Computed: a.answer.Computed}
	for _, d := range a.documents {
		byID[d.ID] = d
		c.Others = append(c.Others, d.ID)
	}
	c.Document = func(id sextant.DocumentID) (sextant.Document, bool) { d, ok := byID[id]; return d, ok }
	return c
}
