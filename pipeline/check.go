package pipeline

import (
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/check"
)

// check lets only those findings through that their quotes support.
func (a *asking) check() (string, error) {
	checker := a.checker()
	findings, chain := checker.Findings(a.ctx, a.answer.Findings), checker.Findings(a.ctx, a.answer.CausalChain)
	a.answer.Findings, a.answer.CausalChain = findings.Kept, chain.Kept
	a.answer.Removed, a.checked = slices.Concat(findings.Removed, chain.Removed), true
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
