package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/prompt"
)

// Verdict is what a model says of what was found so far.
type Verdict struct {
	Sufficient bool
	Missing    []string
	Queries    []string // none that was asked already
}

type verdict struct {
	Sufficient bool     `json:"sufficient"`
	Missing    []string `json:"missing"`
	Queries    []string `json:"queries"`
}

var sufficientSchema = &llm.Schema{Name: "sufficiency", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["sufficient","missing","queries"],"properties":{"sufficient":{"type":"boolean"},"missing":{"type":"array","maxItems":6,"items":{"type":"string","maxLength":120}},"queries":{"type":"array","maxItems":3,"items":{"type":"string","maxLength":300}}}}`)}

const verdictTokens = 512

// Judge has a small model say whether evidence is enough, what is missing, and how to look
// for that. asked are the queries made so far.
func Judge(ctx context.Context, m *llm.Caller, question, mark string, all []prompt.Evidence, aspects, asked []string) (Verdict, error) {
	text := prompt.Sufficient(question, mark, all, aspects, asked)
	v, _, err := llm.Structured[verdict](ctx, m, text.Request("sufficiency", sufficientSchema, verdictTokens))
	if err != nil {
		return Verdict{}, fmt.Errorf("sufficiency: %w", err)
	}
	out := Verdict{Sufficient: v.Sufficient}
	for _, m := range v.Missing {
		if m = sextant.CleanText(m); m != "" {
			out.Missing = append(out.Missing, m)
		}
	}
	for _, q := range v.Queries {
		q = sextant.CleanText(q)
		if q != "" && !slices.ContainsFunc(slices.Concat(asked, out.Queries), func(a string) bool { return strings.EqualFold(a, q) }) {
			out.Queries = append(out.Queries, q)
		}
	}
	return out, nil
}
