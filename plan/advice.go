package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/prompt"
)

// Advice is what a small model makes of a question. It is data from somebody who may be
// wrong: it can add to a plan and doubt a condition, and takes nothing away.
type Advice struct {
	Intent     Intent
	Confidence string // high, medium, low
	Aspects    []string
	Queries    map[string]string // by collection
	Proposals  []constrain.Proposal
	Disputes   []constrain.Dispute
}

type understanding struct {
	Intent     Intent   `json:"intent"`
	Confidence string   `json:"confidence"`
	Aspects    []string `json:"aspects"`
	Queries    []struct {
		Collection string `json:"collection"`
		Query      string `json:"query"`
	} `json:"queries"`
	Conditions []struct {
		Words  string     `json:"words"`
		Field  string     `json:"field"`
		Op     sextant.Op `json:"op"`
		Values []string   `json:"values"`
	} `json:"conditions"`
	Disputes []struct {
		Words  string `json:"words"`
		Reason string `json:"reason"`
	} `json:"disputes"`
}

const (
	understandTokens = 1024
	maxAspects       = 6
)

// Ask has a small model understand a question: one call.
func Ask(ctx context.Context, m *llm.Caller, in prompt.UnderstandInput) (Advice, error) {
	text := prompt.Understand(in)
	u, _, err := llm.Structured[understanding](ctx, m, text.Request("understand", understandSchema(in.Collections), understandTokens))
	if err != nil {
		return Advice{}, fmt.Errorf("understand: %w", err)
	}
	return u.advice(), nil
}

func (u understanding) advice() Advice {
	out := Advice{Intent: u.Intent, Confidence: u.Confidence, Queries: map[string]string{}}
	for _, aspect := range u.Aspects {
		if aspect = sextant.CleanText(aspect); aspect != "" && len(out.Aspects) < maxAspects && !slices.Contains(out.Aspects, aspect) {
			out.Aspects = append(out.Aspects, aspect)
		}
	}
	for _, q := range u.Queries {
		if text := sextant.CleanText(q.Query); text != "" && out.Queries[q.Collection] == "" {
			out.Queries[q.Collection] = text
		}
	}
	for _, c := range u.Conditions {
		out.Proposals = append(out.Proposals, constrain.Proposal{Field: c.Field, Op: c.Op, Values: c.Values, Words: c.Words})
	}
	for _, d := range u.Disputes {
		out.Disputes = append(out.Disputes, constrain.Dispute{Words: d.Words, Reason: d.Reason})
	}
	return out
}

// lastUnderstand is the schema that was written last: the collections seldom change.
var lastUnderstand atomic.Pointer[struct {
	names  []string
	schema *llm.Schema
}]

// understandSchema is the schema of what a model says about a question to some collections.
func understandSchema(collections []prompt.Collection) *llm.Schema {
	var names []string
	for _, c := range collections {
		names = append(names, c.Name)
	}
	if last := lastUnderstand.Load(); last != nil && slices.Equal(last.names, names) {
		return last.schema
	}
	written := writeUnderstandSchema(names)
	lastUnderstand.Store(&struct {
		names  []string
		schema *llm.Schema
	}{names, written})
	return written
}

func writeUnderstandSchema(names []string) *llm.Schema {
	enum, _ := json.Marshal(names) // of strings
	text := fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["intent","confidence","aspects","queries","conditions","disputes"],"properties":{
"intent":{"type":"string","enum":["causal","compliance","factual","comparative","regulatory","multi_source"]},
"confidence":{"type":"string","enum":["high","medium","low"]},
"aspects":{"type":"array","maxItems":%d,"items":{"type":"string","maxLength":100}},
"queries":{"type":"array","maxItems":%d,"items":{"type":"object","additionalProperties":false,"required":["collection","query"],"properties":{"collection":{"type":"string","enum":%s},"query":{"type":"string","maxLength":300}}}},
"conditions":{"type":"array","maxItems":8,"items":{"type":"object","additionalProperties":false,"required":["words","field","op","values"],"properties":{"words":{"type":"string","minLength":1,"maxLength":120},"field":{"type":"string","maxLength":60},
"op":{"type":"string","enum":["eq","in","not_in","gte","lte","between","contains","not_contains"]},"values":{"type":"array","minItems":1,"maxItems":20,"items":{"type":"string","maxLength":120}}}}},
"disputes":{"type":"array","maxItems":4,"items":{"type":"object","additionalProperties":false,"required":["words","reason"],"properties":{"words":{"type":"string","minLength":1,"maxLength":120},"reason":{"type":"string","maxLength":200}}}}}}`,
		maxAspects, max(1, len(names)), enum)
	return &llm.Schema{Name: "understanding", JSON: json.RawMessage(strings.ReplaceAll(text, "\n", ""))}
}

// Advised joins advice to a plan that rules made. What the rules are sure of stands; where
// they are not, the model's reading is taken; and wherever the two differ, the plan looks
// where either would. A question that seems to be out of scope stays so until something is
// found.
func (p Plan) Advised(a Advice) Plan {
	theirs, known := strategies[a.Intent]
	if !known || p.Intent == OutOfScope {
		return p
	}
	switch {
	case a.Intent == p.Intent:
		p.Confidence = higher(p.Confidence, a.Confidence)
		return p
	case p.Confidence == "high":
		p.Confidence = "medium"
		p.Roles = union(p.Roles, theirs.roles)
	case a.Confidence == "low":
		p.Roles = union(p.Roles, theirs.roles)
	default:
		p.Intent, p.Otherwise, p.Confidence, p.Strategy = a.Intent, a.Intent, a.Confidence, theirs.strategy
		p.Roles, p.Needed = union(theirs.roles, p.Roles), slices.Clone(theirs.needed)
	}
	return p
}

// higher is the higher of two confidences.
func higher(a, b string) string {
	order := []string{"low", "medium", "high"}
	return order[max(slices.Index(order, a), slices.Index(order, b), 0)]
}

func union(a, b []sextant.Role) []sextant.Role {
	out := slices.Clone(a)
	for _, role := range b {
		if !slices.Contains(out, role) {
			out = append(out, role)
		}
	}
	return out
}
