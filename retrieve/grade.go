package retrieve

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/prompt"
)

// DefaultThreshold is the grade from which a passage is kept, of 0 to 10: it says at least a
// part of what is asked, or nearly.
const DefaultThreshold = 4

const (
	gradeTokens      = 1024
	synthesizeTokens = 2048
)

// Filter has a small model grade passages and leaves out those under the threshold; what is
// kept is untouched. Its verdicts must be one for each passage: an answer that leaves some
// out, or names others, is no judgement, and one that gives every passage the same low grade
// has not told them apart. Either is an error and nothing is dropped.
func Filter(ctx context.Context, m *llm.Caller, question, mark string, passages []sextant.Passage, threshold int) (kept []sextant.Passage, dropped []Dropped, err error) {
	if len(passages) == 0 {
		return passages, nil, nil
	}
	text := prompt.Grade(question, mark, numbered(passages))
	type grades struct {
		Verdicts []struct {
			Number int `json:"number"`
			Grade  int `json:"grade"`
		} `json:"verdicts"`
	}
	schema := fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["verdicts"],"properties":{"verdicts":{"type":"array","minItems":%d,"maxItems":%d,"items":{"type":"object","additionalProperties":false,"required":["number","grade"],"properties":{"number":{"type":"integer","minimum":1,"maximum":%d},"grade":{"type":"integer","minimum":0,"maximum":10}}}}}}`,
		len(passages), len(passages), len(passages))
	g, _, err := llm.Structured[grades](ctx, m, refining(text, "filter", "grades", schema, gradeTokens))
	if err != nil {
		return passages, nil, fmt.Errorf("filter: %w", err)
	}
	grade := make([]int, len(passages))
	given := make([]bool, len(passages))
	for _, v := range g.Verdicts {
		if given[v.Number-1] {
			return passages, nil, fmt.Errorf("filter: %w", &llm.Error{Kind: llm.Malformed, Message: fmt.Sprintf("passage %d is graded twice, so that another is not", v.Number)})
		}
		given[v.Number-1], grade[v.Number-1] = true, v.Grade
	}
	if len(passages) > 1 && low(grade, threshold) {
		return passages, nil, fmt.Errorf("filter: %w", &llm.Error{Kind: llm.Malformed, Message: "every passage has the same grade, which tells nothing apart"})
	}
	for i, p := range passages {
		if grade[i] < threshold {
			dropped = append(dropped, Dropped{p, fmt.Sprintf("graded %d of 10, under %d", grade[i], threshold)})
			continue
		}
		kept = append(kept, p)
	}
	return kept, dropped, nil
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
	text := prompt.Synthesize(question, mark, numbered(passages))
	type shortened struct {
		Texts []struct {
			Number int    `json:"number"`
			Text   string `json:"text"`
		} `json:"texts"`
	}
	schema := fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["texts"],"properties":{"texts":{"type":"array","minItems":1,"maxItems":%d,"items":{"type":"object","additionalProperties":false,"required":["number","text"],"properties":{"number":{"type":"integer","minimum":1,"maximum":%d},"text":{"type":"string","minLength":1,"maxLength":1200}}}}}}`,
		len(passages), len(passages))
	s, _, err := llm.Structured[shortened](ctx, m, refining(text, "synthesize", "texts", schema, synthesizeTokens))
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

func refining(text prompt.Text, purpose, name, schema string, tokens int) llm.Request {
	zero := 0.0
	return llm.Request{System: text.System, Messages: []llm.Message{{Role: llm.User, Text: text.User}}, Output: &llm.Schema{Name: name, JSON: json.RawMessage(schema)}, MaxTokens: tokens, Temperature: &zero, Purpose: purpose, Prompt: text.ID()}
}

func numbered(passages []sextant.Passage) []prompt.Evidence {
	out := make([]prompt.Evidence, len(passages))
	for i, p := range passages {
		out[i] = prompt.Evidence{Number: i + 1, Source: p.Source, Title: p.Title, Locator: p.Locator, Text: p.Content}
	}
	return out
}
