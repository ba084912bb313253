package pipeline

import (
	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/plan"
)

// enough is the share of the topic, weighted by rarity, that findings must speak of
// for an answer in prose to be one.
const enough = 0.5

// settle decides the status from what remains.
func (a *asking) settle() {
	if a.answer.Status != "" {
		a.suggest()
		a.caveats()
		return
	}
	figures := len(a.answer.Computed) > 0
	spoken := len(a.answer.Findings) > 0 && a.coverage >= enough
	topical := len(a.reading.Topic) > 0
	switch {
	case a.asksFigure() && figures:
		a.answer.Status, a.answer.Confidence = sextant.Answered, "high"
	case a.plan.Intent == plan.Causal && !a.statesCause():
		a.answer.Status = sextant.InsufficientEvidence
	case topical && spoken:
		a.answer.Status, a.answer.Confidence = sextant.Answered, "medium"
	case topical && figures && a.plan.Intent != plan.Compliance && a.account.Ledger.Joint > few:
		a.answer.Status = sextant.Partial
	case topical || !figures && len(a.answer.Findings) == 0:
		a.answer.Status = sextant.InsufficientEvidence
	default:
		a.answer.Status, a.answer.Confidence = sextant.Answered, "high"
	}
	if a.answer.Status == sextant.Answered && len(a.answer.NotHeld) > 0 {
		a.answer.Status = sextant.Partial
	}
	a.caveats()
}

// asksFigure reports whether the words ask for a computation.
func (a *asking) asksFigure() bool {
	return a.reading.Request.Kind != "" && a.reading.Request.Kind != "list" || a.reading.Request.Compared
}

// statesCause reports whether what was found states a cause, or speaks of the topic.
func (a *asking) statesCause() bool {
	return len(a.answer.CausalChain) > 0 || len(a.answer.Findings) > 0 && a.coverage >= enough
}
