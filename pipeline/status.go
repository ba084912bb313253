package pipeline

import (
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/generate"
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
	if a.unchecked {
		a.answer.Status = sextant.Answered // the baseline takes what its model says for an answer
		a.caveats()
		return
	}
	figures := len(a.answer.Computed) > 0
	spoken := len(a.answer.Findings) > 0 && a.enough()
	topical := len(a.reading.Topic) > 0
	switch {
	case a.reading.Request.Timeline && a.narrow():
		a.answer.Status = sextant.InsufficientEvidence
		if len(a.answer.Findings) > 0 {
			a.answer.Status, a.answer.Confidence = sextant.Answered, "medium"
		}
	case a.asksChanges():
		a.answer.Status, a.answer.Findings = sextant.InsufficientEvidence, []sextant.Finding{}
		if len(a.answer.Conflicts) > 0 {
			a.answer.Status, a.answer.Confidence = sextant.Answered, "high"
		}
	case a.asksRecordOnly():
		a.answer.Status, a.answer.Confidence = sextant.Answered, "high"
	case a.onlyUnenforced(), a.unanswerable():
		a.answer.Status, a.answer.Findings, a.answer.CausalChain = sextant.InsufficientEvidence, []sextant.Finding{}, nil
	case a.asksFigure() && figures && !a.asksText():
		a.answer.Status, a.answer.Confidence = sextant.Answered, "high"
	case a.plan.Otherwise == plan.Causal && !a.statesCause() && !a.unlikely():
		a.answer.Status = sextant.InsufficientEvidence
	case a.cited() && len(a.answer.Findings) > 0 && spoken:
		a.answer.Status, a.answer.Confidence = sextant.Answered, "medium"
	case a.plan.Intent == plan.Causal && len(a.answer.CausalChain) > 0 && a.narrow():
		a.answer.Status, a.answer.Confidence = sextant.Answered, "medium"
	case !topical && !figures && len(a.account.Parts) == 0:
		a.answer.Status, a.answer.Findings = sextant.InsufficientEvidence, []sextant.Finding{}
	case a.unlikely() && a.coverage < certain:
		a.answer.Status, a.answer.Findings = sextant.OutOfScope, []sextant.Finding{}
	case topical && spoken:
		a.answer.Status, a.answer.Confidence = sextant.Answered, "medium"
	case topical && figures && (a.written != nil || len(a.sufficiency.Lacking) == 0) && a.plan.Intent != plan.Compliance && a.account.Ledger.Joint > few:
		a.answer.Status = sextant.Partial
	case topical || !figures && len(a.answer.Findings) == 0:
		a.answer.Status = sextant.InsufficientEvidence
	default:
		a.answer.Status, a.answer.Confidence = sextant.Answered, "high"
	}
	if a.answer.Status == sextant.InsufficientEvidence && a.recordedBeside() != "" {
		a.answer.Status = sextant.Partial
	}
	if a.answer.Status != sextant.OutOfScope {
		a.plan.Intent, a.answer.Intent = a.plan.Otherwise, string(a.plan.Otherwise)
	}
	if a.answer.Status == sextant.Answered && len(a.answer.NotHeld) > 0 {
		a.answer.Status = sextant.Partial
	}
	if a.answer.Status == sextant.Answered {
		a.answer.Missing = nil // a word nobody repeats is no aspect that was left open
		a.leftOpen()
	}
	a.caveats()
}

// enough reports whether what was found can answer: what a model wrote if it speaks of the
// topic, and quoted sentences if they suffice and, where no condition leads to their
// documents, if retrieval shows that these decide the question.
func (a *asking) enough() bool {
	if a.written != nil {
		return a.coverage >= enough
	}
	return a.sufficiency.Score >= generate.Enough && (a.narrow() || a.sufficiency.Pinned || a.support >= generate.Decided)
}

// asksText reports whether a question that sounds like one for a figure asks what the
// record of one of a few documents says: "how many hours had he slept".
func (a *asking) asksText() bool {
	return a.narrow() && len(a.reading.Topic) > 0 && a.reading.Request.Unit == ""
}

// onlyUnenforced reports whether the question states conditions and none of them can be
// enforced: then any record would be an arbitrary one.
func (a *asking) onlyUnenforced() bool {
	return len(a.account.Parts) == 0 && len(a.reading.Beside) == 0 && slices.ContainsFunc(a.answer.Ledger.Unenforceable, func(u sextant.Unenforceable) bool { return u.Field != "" })
}

// unanswerable reports whether what is asked is what no record answers, and nothing else.
func (a *asking) unanswerable() bool {
	return len(a.reading.Beside) == 0 && slices.ContainsFunc(a.answer.Ledger.Unenforceable, constrain.Unanswerable)
}

// leftOpen lists what no record answers of a question whose other part is answered.
func (a *asking) leftOpen() {
	for _, words := range a.reading.Beside {
		a.answer.Status = sextant.Partial
		a.answer.Missing = append(a.answer.Missing, sextant.Aspect{Name: words})
	}
}

// certain is the coverage that a question needs which nothing else ties to what is
// held: one common word found somewhere makes no answer.
const certain = 0.6

// unlikely reports whether the words gave no sign that the question is about what is
// held. Retrieval may still show that it is.
func (a *asking) unlikely() bool {
	return a.plan.Intent == plan.OutOfScope
}

// narrow reports whether the conditions leave so few documents that their records are
// the answer.
func (a *asking) narrow() bool {
	return a.account.Ledger.Joint > 0 && a.account.Ledger.Joint <= few
}

// cited reports whether the question is about one rule that it names, and something of
// it is asked that its text speaks of at least in part: then its text is the answer.
func (a *asking) cited() bool {
	if a.plan.Otherwise != plan.Regulatory || !a.narrow() {
		return false
	}
	return a.coverage > 0 || len(a.reading.Topic) == 0
}

// asksFigure reports whether the words ask for a computation.
func (a *asking) asksFigure() bool {
	return a.reading.Request.Kind != "" && a.reading.Request.Kind != "list" || a.reading.Request.Compared
}

// statesCause reports whether what was found states a cause, or speaks of the topic.
func (a *asking) statesCause() bool {
	return len(a.answer.CausalChain) > 0 || len(a.answer.Findings) > 0 && len(a.reading.Topic) > 0 && a.enough()
}
