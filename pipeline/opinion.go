package pipeline

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sextant-rag/sextant/check"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/prompt"
)

// secondOpinion has the small model say whether quotes support a statement whose facts all
// stand in them but whose words do not: of what a large model wrote, and of nothing else. It
// cannot save a wrong fact, since rules have the first word.
type secondOpinion struct {
	small *llm.Caller
	mark  string
}

var _ check.Opinion = secondOpinion{}

var supportSchema = &llm.Schema{Name: "support", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["verdicts"],"properties":{"verdicts":{"type":"array","minItems":1,"maxItems":1,"items":{"type":"object","additionalProperties":false,"required":["number","supported"],"properties":{"number":{"type":"integer","minimum":1,"maximum":1},"supported":{"type":"string","enum":["yes","no","unsure"]}}}}}}`)}

const supportTokens = 64

// Supports implements [check.Opinion]: 1 for yes, a half for unsure.
func (o secondOpinion) Supports(ctx context.Context, statement, evidence string) (float64, error) {
	text := prompt.Supported(o.mark, []prompt.Statement{{Number: 1, Text: statement, Quotes: []string{evidence}}})
	type support struct {
		Verdicts []struct {
			Number    int    `json:"number"`
			Supported string `json:"supported"`
		} `json:"verdicts"`
	}
	v, _, err := llm.Structured[support](ctx, o.small, text.Request("support", supportSchema, supportTokens))
	if err != nil {
		return 0, fmt.Errorf("second opinion: %w", err)
	}
	return map[string]float64{"yes": 1, "unsure": 0.5}[v.Verdicts[0].Supported], nil
}
