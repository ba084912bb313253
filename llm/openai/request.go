package openai

import (
	"encoding/json"

	"github.com/sextant-rag/sextant/llm"
)

// wireRequest is the body of a request. Fields left empty are not sent: servers refuse
// names they do not know.
type wireRequest struct {
	Model          string          `json:"model"`
	Messages       []wireMessage   `json:"messages"`
	Stream         bool            `json:"stream"`
	StreamOptions  *streamOptions  `json:"stream_options,omitempty"`
	MaxCompletion  int             `json:"max_completion_tokens,omitempty"`
	MaxTokens      int             `json:"max_tokens,omitempty"`
	Temperature    *float64        `json:"temperature,omitempty"`
	Stop           []string        `json:"stop,omitempty"`
	ResponseFormat *responseFormat `json:"response_format,omitempty"`
	Tools          []wireTool      `json:"tools,omitempty"`
	ToolChoice     string          `json:"tool_choice,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type wireMessage struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []wireCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type wireCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type responseFormat struct {
	Type   string      `json:"type"`
	Schema *wireSchema `json:"json_schema,omitempty"`
}

type wireSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

type wireTool struct {
	Type     string         `json:"type"`
	Function toolDefinition `json:"function"`
}

type toolDefinition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

func (m *Model) body(r llm.Request, can capabilities) wireRequest {
	w := wireRequest{Model: m.options.Model, Stream: true, Stop: r.Stop}
	if !can.noUsage {
		w.StreamOptions = &streamOptions{true}
	}
	// The old name is understood by every server but OpenAI's newer models, which say so.
	if can.newTokenLimit && !can.oldTokenLimit {
		w.MaxCompletion = r.MaxTokens
	} else {
		w.MaxTokens = r.MaxTokens
	}
	if !can.noTemperature {
		w.Temperature = r.Temperature
	}
	system := r.System
	if r.Output != nil {
		switch can.output {
		case nativeSchema:
			w.ResponseFormat = &responseFormat{"json_schema", &wireSchema{r.Output.Name, r.Output.JSON, true}}
		case jsonObject:
			w.ResponseFormat = &responseFormat{Type: "json_object"}
		}
		if can.output != nativeSchema {
			system = joined(system, "Answer with one JSON object that satisfies this JSON Schema, and nothing else:\n"+string(r.Output.JSON))
		}
	}
	w.Messages = messages(system, r.Messages)
	if !can.noTools {
		for _, t := range r.Tools {
			w.Tools = append(w.Tools, wireTool{"function", toolDefinition{t.Name, t.Description, t.Input}})
		}
		if r.NeedTool && len(w.Tools) > 0 {
			w.ToolChoice = "required" // naming one is silently taken for "auto" by some servers
		}
	}
	return w
}

// messages gives servers the turns they insist on: one system message, first; no two turns
// of the same role in a row.
func messages(system string, list []llm.Message) []wireMessage {
	var out []wireMessage
	if system != "" {
		out = append(out, wireMessage{Role: "system", Content: system})
	}
	for _, m := range list {
		for _, result := range m.Results {
			out = append(out, wireMessage{Role: "tool", Content: result.Text, ToolCallID: result.ID})
		}
		if len(m.Results) > 0 && m.Text == "" {
			continue
		}
		w := wireMessage{Role: string(m.Role), Content: m.Text}
		for _, c := range m.Calls {
			w.ToolCalls = append(w.ToolCalls, wireCall{c.ID, "function", wireFunction{c.Name, string(c.Input)}})
		}
		if n := len(out); n > 0 && out[n-1].Role == w.Role && len(out[n-1].ToolCalls)+len(w.ToolCalls) == 0 {
			out[n-1].Content = joined(out[n-1].Content, w.Content)
			continue
		}
		out = append(out, w)
	}
	return out
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
