package pipeline

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/rerank"
)

// reranks reports whether the question asked for passages to be judged anew.
func (a *asking) reranks() bool { return a.question.Rerank == sextant.CrossEncoder }

// overRerank is how many times as many passages are retrieved as are wanted where they are
// judged anew.
const overRerank = 4

// candidates is how many passages of a collection are retrieved: more than are wanted where
// they will be judged, so that one further down can come up.
func (a *asking) candidates() int {
	if a.reranks() {
		return max(overRerank*a.question.TopK, rerank.DefaultDepth)
	}
	return a.question.TopK
}

// rerank judges the passages of each collection anew and keeps as many of each as were asked
// for. Collections stay in the order of the plan, which says what is looked at first.
func (a *asking) rerank() (string, error) {
	var kept []sextant.Passage
	for rest := a.answer.Evidence; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Source == rest[0].Source {
			n++
		}
		better, err := a.judge(rest[:n])
		if err != nil {
			return "", err
		}
		kept = append(kept, better[:min(n, a.question.TopK)]...)
		rest = rest[n:]
	}
	a.answer.Evidence, a.documents = kept, nil
	if k := a.answer.Reranking; k != nil {
		k.OutputCount = len(kept)
	}
	if err := a.load(); err != nil {
		return "", err
	}
	return a.judgedBy(), nil
}

// judge reranks passages that are in one order, best first, as far as that was asked for,
// and notes what came of it.
func (a *asking) judge(passages []sextant.Passage) ([]sextant.Passage, error) {
	if !a.reranks() || len(passages) == 0 {
		return passages, nil
	}
	if a.answer.Reranking == nil {
		a.answer.Reranking = &sextant.Reranking{Mode: a.question.Rerank}
	}
	k := a.answer.Reranking
	k.InputCount += len(passages)
	k.OutputCount += len(passages)
	if a.engine.rerank == nil {
		a.degrade(sextant.Degradation{Stage: "rerank", Reason: "No reranker is set: passages are in the order of retrieval."})
		return passages, nil
	}
	start := time.Now()
	out, err := a.engine.rerank.Run(a.ctx, a.searchText(), passages)
	k.DurationMS += milliseconds(time.Since(start))
	if err != nil {
		return nil, err
	}
	k.Model, k.Applied = cmp.Or(k.Model, out.Model), k.Applied || out.Applied
	for _, reason := range out.Degraded {
		a.degrade(sextant.Degradation{Stage: "rerank", Reason: reason})
	}
	return out.Passages, nil
}

// judgedBy says in a line what came of reranking.
func (a *asking) judgedBy() string {
	k := a.answer.Reranking
	if k == nil || !k.Applied {
		return "passages are in the order of retrieval"
	}
	return fmt.Sprintf("%d passages judged by %s, %d kept", k.InputCount, k.Model, k.OutputCount)
}

// reranked is what the trace shows of it.
func (a *asking) reranked() any {
	return struct {
		*sextant.Reranking
		Passages []sextant.Passage `json:"passages"`
	}{a.answer.Reranking, a.answer.Evidence}
}
