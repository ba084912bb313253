package retrieve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/prompt"
)

// DefaultThreshold is the grade from which a passage is kept, of 0 to 10: it says at least a
// part of what is asked, or nearly.
const DefaultThreshold = 4

const (
	gradeTokens      = 128
	synthesizeTokens = 2048
	atOnce           = 4  // passages that are graded side by side
	maxGraded        = 50 // more are kept as they are
)

var gradeSchema = &llm.Schema{Name: "grade", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["grade"],"properties":{"grade":{"type":"integer","minimum":0,"maximum":10}}}`)}

// verdict is what a model says of one passage.
type verdict struct {
	grade int
	err   error
}

// Filter has a small model grade passages and leaves out those under the threshold; what is
// kept is untouched. Each passage is graded by a call of its own: a document that tells the
// model to drop the others, or to praise itself, speaks of itself alone. (One call for all is
// cheaper and was rejected: whoever can write one document could then decide which others are
// read.) Passages without a grade are kept, and so is everything where no grade came or all
// are the same low one, which has told nothing apart: that is an error. ungraded is how many
// were kept for want of a grade.
func Filter(ctx context.Context, m *llm.Caller, question, mark string, passages []sextant.Passage, threshold int) (kept []sextant.Passage, dropped []Dropped, ungraded int, err error) {
	verdicts := gradeAll(ctx, m, "filter", question, mark, passages[:min(len(passages), maxGraded)])
	var grades []int
	for _, v := range verdicts {
		if v.err == nil {
			grades = append(grades, v.grade)
		} else if err == nil || exhausted(v.err) {
			err = fmt.Errorf("filter: %w", v.err)
		}
	}
	switch {
	case len(passages) == 0:
		return passages, nil, 0, nil
	case ctx.Err() != nil || exhausted(err) || len(grades) == 0:
		return passages, nil, len(passages), err
	case low(grades, threshold):
		return passages, nil, 0, fmt.Errorf("filter: %w", &llm.Error{Kind: llm.Malformed, Message: "every passage has the same low grade, which tells nothing apart"})
	}
	for i, p := range passages {
		if i >= len(verdicts) || verdicts[i].err != nil {
			ungraded++
		} else if verdicts[i].grade < threshold {
			dropped = append(dropped, Dropped{p, fmt.Sprintf("graded %d of 10, under %d", verdicts[i].grade, threshold)})
			continue
		}
		kept = append(kept, p)
	}
	return kept, dropped, ungraded, nil
}

// Confirm asks about each passage by itself whether it helps, and reports whether one does. It
// is the second opinion where a model that saw all of them found nothing: one of them may have
// told it to. The error is why no passage could be judged.
func Confirm(ctx context.Context, m *llm.Caller, question, mark string, passages []sextant.Passage) (helps bool, err error) {
	judged := false
	for _, v := range gradeAll(ctx, m, "confirm", question, mark, passages) {
		switch {
		case v.err == nil:
			judged, helps = true, helps || v.grade >= DefaultThreshold
		case err == nil:
			err = fmt.Errorf("confirm: %w", v.err)
		}
	}
	if judged {
		err = nil
	}
	return helps, err
}

// exhausted reports whether the question's own limit ended a call. Which of several calls
// at once it ends is chance, so that none of them counts.
func exhausted(err error) bool {
	var known *llm.Error
	return errors.As(err, &known) && known.Kind == llm.Exhausted
}

// gradeAll grades each passage, some at a time unless a limit is near; verdicts stand in the
// order of the passages.
func gradeAll(ctx context.Context, m *llm.Caller, purpose, question, mark string, passages []sextant.Passage) []verdict {
	out := make([]verdict, len(passages))
	panics := make([]any, len(passages))
	side := atOnce
	if llm.Tight(ctx, len(passages)) {
		side = 1
	}
	places := make(chan struct{}, side)
	var wait sync.WaitGroup
	for i, p := range passages {
		places <- struct{}{}
		wait.Go(func() {
			defer func() { panics[i] = recover(); <-places }()
			out[i].grade, out[i].err = gradeOne(ctx, m, purpose, question, mark, p)
		})
	}
	wait.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p) // on the question's own goroutine, whose trace records it
		}
	}
	return out
}

func gradeOne(ctx context.Context, m *llm.Caller, purpose, question, mark string, p sextant.Passage) (int, error) {
	text := prompt.Grade(question, mark, prompt.Number([]sextant.Passage{p})[0])
	g, _, err := llm.Structured[struct {
		Grade int `json:"grade"`
	}](ctx, m, text.Request(purpose, gradeSchema, gradeTokens))
	return g.Grade, err
}

// low reports whether all grades are one, under the threshold.
func low(grades []int, threshold int) bool {
	for _, g := range grades {
		if g != grades[0] {
			return false
		}
	}
	return grades[0] < threshold
}

// Synthesize has a small model shorten passages to what matters. It is lossy: the result,
// by place, is for writing from only, and whatever is quoted is quoted from the documents.
// Passages it leaves out are dropped.
func Synthesize(ctx context.Context, m *llm.Caller, question, mark string, passages []sextant.Passage) (short map[int]string, err error) {
	if len(passages) == 0 {
		return nil, nil
	}
	text := prompt.Synthesize(question, mark, prompt.Number(passages))
	type shortened struct {
		Texts []struct {
			Number int    `json:"number"`
			Text   string `json:"text"`
		} `json:"texts"`
	}
	schema := fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["texts"],"properties":{"texts":{"type":"array","minItems":1,"maxItems":%d,"items":{"type":"object","additionalProperties":false,"required":["number","text"],"properties":{"number":{"type":"integer","minimum":1,"maximum":%d},"text":{"type":"string","minLength":1,"maxLength":1200}}}}}}`,
		len(passages), len(passages))
	s, _, err := llm.Structured[shortened](ctx, m, text.Request("synthesize", &llm.Schema{Name: "texts", JSON: json.RawMessage(schema)}, synthesizeTokens))
	if err != nil {
		return nil, fmt.Errorf("synthesize: %w", err)
	}
	short = map[int]string{}
	for _, t := range s.Texts {
		if text := sextant.CleanText(t.Text); text != "" {
			short[t.Number-1] = text
		}
	}
	return short, nil
}
