package pipeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/retrieve"
)

// refine decides which of the passages an answer is written from. What it keeps is
// untouched; synthesize alone writes a lesser text beside them, to write from and not to
// quote.
func (a *asking) refine() (string, error) {
	began := time.Now()
	out := &sextant.Refinement{Mode: a.question.Refine, InputCount: len(a.answer.Evidence), Dropped: []sextant.DroppedPassage{}}
	a.answer.Refinement = out
	var dropped []retrieve.Dropped
	kept := a.answer.Evidence
	var err error
	switch a.question.Refine {
	case sextant.RefineDedup:
		kept, dropped = retrieve.Dedup(kept)
		out.Applied = true
	case sextant.RefineFilter:
		kept, dropped, err = a.filtered(out)
	case sextant.RefineSynthesize:
		err = a.synthesized(out)
	}
	if err != nil {
		return "", err
	}
	for _, d := range dropped {
		out.Dropped = append(out.Dropped, sextant.DroppedPassage{ID: d.Passage.ChunkID, Reason: d.Reason})
	}
	out.OutputCount, out.DurationMS = len(kept), milliseconds(time.Since(began))
	if len(dropped) > 0 {
		a.keep(kept)
	}
	return fmt.Sprintf("%s: %d of %d passages kept", a.question.Refine, out.OutputCount, out.InputCount), nil
}

// keep makes these the evidence, and takes documents out of which no passage is left.
// Versions of rules that were chosen by date stay: they stand for passages of other texts.
func (a *asking) keep(passages []sextant.Passage) {
	gone := map[sextant.DocumentID]bool{}
	for _, p := range a.answer.Evidence {
		gone[p.DocumentID] = true
	}
	for _, p := range passages {
		delete(gone, p.DocumentID)
	}
	a.answer.Evidence = append([]sextant.Passage{}, passages...) // an empty list is none, not null
	a.documents = slices.DeleteFunc(slices.Clone(a.documents), func(d sextant.Document) bool { return gone[d.ID] })
}

// filtered drops what the small model grades under the threshold. Without a verdict that can
// be used nothing is dropped but duplicates, and that is said.
func (a *asking) filtered(out *sextant.Refinement) (kept []sextant.Passage, dropped []retrieve.Dropped, err error) {
	m := a.small()
	if m == nil {
		a.degrade(sextant.Degradation{Stage: "refine", Reason: "There is no small language model to grade passages: duplicates alone were left out."})
		kept, dropped = retrieve.Dedup(a.answer.Evidence)
		return kept, dropped, nil
	}
	out.Model, out.Threshold = m.Name(), a.threshold()
	kept, dropped, ungraded, err := retrieve.Filter(a.ctx, m, a.question.Text, a.mark(), a.answer.Evidence, out.Threshold)
	if err != nil {
		return a.answer.Evidence, nil, a.lesser("refine", err)
	}
	if ungraded > 0 {
		a.degrade(sextant.Degradation{Stage: "refine", Reason: fmt.Sprintf("%d of %d passages could not be graded and were kept.", ungraded, len(a.answer.Evidence))})
	}
	out.Applied = true
	return kept, dropped, nil
}

func (a *asking) threshold() int {
	if a.question.Threshold > 0 {
		return a.question.Threshold
	}
	return retrieve.DefaultThreshold
}

func (a *asking) synthesized(out *sextant.Refinement) error {
	m := a.small()
	if m == nil {
		a.degrade(sextant.Degradation{Stage: "refine", Reason: "There is no small language model to shorten passages: they stand as they are."})
		return nil
	}
	out.Model = m.Name()
	short, err := fit(a, "refine", room{passages: len(a.answer.Evidence)}, func(r room) (map[int]string, error) {
		return retrieve.Synthesize(a.ctx, m, a.question.Text, a.mark(), a.answer.Evidence[:r.passages])
	})
	if err != nil {
		return a.lesser("refine", err)
	}
	a.shortened, out.Applied = short, true
	a.caveat("The answer was written from shortened passages (synthesize), which loses detail; quotes are of the documents themselves.")
	return nil
}

// refined is what the trace shows of it.
func (a *asking) refined() any { return a.answer.Refinement }
