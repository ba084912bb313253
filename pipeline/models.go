package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/prompt"
)

// Models are the language models that help with a question, by role. Either may be nil: the
// engine is complete without them.
type Models struct {
	Small *llm.Caller // understands questions, judges passages and evidence
	Large *llm.Caller // writes findings
}

// What one question may use of models unless it says otherwise. An honest answer needs a
// fraction of it; a loop that went wrong must not cost more.
const (
	defaultCalls  = 24
	gradingCalls  = 50 // more, where each passage is graded
	defaultTokens = 400_000
	defaultRounds = 3
	defaultTime   = 5 * time.Minute // for models; nothing else of a question takes seconds
)

// What is kept of a question's limit of time for what comes after its models: counting,
// retrieval and the check take milliseconds, and give an answer where models took too long.
const (
	reservedShare = 5 // a fifth
	reservedMost  = 2 * time.Second
)

// budgeted makes every call of a model for this question count against its limits.
func (a *asking) budgeted(ctx context.Context) context.Context {
	l := a.question.Limits
	if l.ModelCalls == 0 {
		l.ModelCalls = defaultCalls
		if a.question.Refine == sextant.RefineFilter {
			l.ModelCalls += gradingCalls
		}
	}
	if l.Tokens == 0 {
		l.Tokens = defaultTokens
	}
	a.budget = llm.NewBudget(int64(l.ModelCalls), int64(l.Tokens), l.Cost)
	a.budget.Until(a.started.Add(defaultTime))
	if end, ok := ctx.Deadline(); ok { // the question's own, or that of whoever asks
		left := end.Sub(a.started)
		a.budget.Until(end.Add(-min(left/reservedShare, reservedMost)))
	}
	return llm.WithBudget(ctx, a.budget)
}

// small and large are the models this question may use; nil where it may use none.
func (a *asking) small() *llm.Caller {
	if a.question.NoModel || a.question.Mode == sextant.Traditional {
		return nil
	}
	return a.engine.models.Small
}

func (a *asking) large() *llm.Caller {
	if a.question.NoModel {
		return nil
	}
	return a.engine.models.Large
}

// lesser notes that a stage goes on without its model, and why. Only the question's own end
// is an error: a provider's failure never is one, since there is a way without it.
func (a *asking) lesser(stage string, err error) error {
	if a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	var known *llm.Error
	if errors.As(err, &known) && known.Kind == llm.Exhausted {
		a.spent = true
		a.degrade(sextant.Degradation{Stage: stage, Reason: "The question's limit for language models was reached: this was done without one."})
		return nil
	}
	a.degrade(sextant.Degradation{Stage: stage, Reason: modelReason(known) + " This was done without it."})
	return nil
}

// modelReason says what went wrong with a model in words that hold no part of its answer:
// that may be anything.
func modelReason(e *llm.Error) string {
	if e == nil {
		return "The language model's answer could not be used."
	}
	switch e.Kind {
	case llm.Unreachable:
		return "The language model could not be reached."
	case llm.Overloaded, llm.Open:
		return "The language model's provider is overloaded."
	case llm.Late:
		return "The language model did not answer in time."
	case llm.Denied:
		return "The language model's provider refused the key, or what it may use."
	case llm.TooLong:
		return "The evidence does not fit the language model."
	case llm.Declined:
		return "The language model declined to answer."
	case llm.Invalid:
		return "The language model's provider refused the request."
	case llm.Malformed, llm.Truncated:
		return "The language model's answer was not whole or not in the form asked for."
	}
	return "The language model's provider failed."
}

// mark stands around text of documents in this question's prompts.
func (a *asking) mark() string {
	if a.question.Replayed != "" {
		return prompt.Mark(a.question.Replayed)
	}
	return prompt.Mark(a.answer.TraceID)
}

// spend enters what models cost into the answer.
func (a *asking) spend() {
	s := a.budget.Spent()
	a.answer.Usage.ModelCalls, a.answer.Usage.InputTokens, a.answer.Usage.OutputTokens, a.answer.Usage.Cost = int(s.Calls), int(s.Input), int(s.Output), s.Cost
}

// limitWords names what was used of the limits of models.
func (a *asking) limitWords() string {
	s := a.budget.Spent()
	return fmt.Sprintf("%d calls, %d tokens", s.Calls, s.Input+s.Output)
}
