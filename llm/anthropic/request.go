package anthropic

import (
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/sextant-rag/sextant/llm"
)

// defaultMaxTokens is sent where the request names no limit, as the API insists on one. The
// oldest models served take no more.
const defaultMaxTokens = 4096

// asked is a request as it is sent.
type asked struct {
	params sdk.MessageNewParams
	answer string // the tool whose input is the answer; "" is the text
}

// ask puts a request into the API's words.
func (m *Model) ask(r llm.Request, can capabilities) asked {
	a := asked{params: sdk.MessageNewParams{Model: m.options.Model, MaxTokens: int64(r.MaxTokens), StopSequences: r.Stop, Messages: messages(r.Messages)}}
	if r.MaxTokens <= 0 {
		a.params.MaxTokens = defaultMaxTokens
	}
	extra := map[string]any{"stream": true}
	if r.Temperature != nil && !can.noTemperature {
		extra["temperature"] = *r.Temperature // for other servers only, so that the SDK has no field for it
	}
	a.params.SetExtraFields(extra)
	system := r.System
	if r.Output != nil && !a.output(r, can) || r.Output != nil && m.foreign {
		system = joined(system, "Answer with one JSON object that satisfies this JSON Schema, and nothing else:\n"+string(r.Output.JSON))
	}
	if system != "" {
		block := sdk.TextBlockParam{Text: system}
		if !can.noCache {
			block.CacheControl = sdk.NewCacheControlEphemeralParam()
		}
		a.params.System = []sdk.TextBlockParam{block}
	}
	a.tools(r, can)
	return a
}

// output asks for an answer of a schema otherwise than by the prompt, and reports whether
// it did. The tool that stands for an answer must be called, so that it leaves no room for
// tools of the request.
func (a *asked) output(r llm.Request, can capabilities) bool {
	switch {
	case can.output == nativeSchema:
		a.params.OutputConfig = sdk.OutputConfigParam{Format: param.Override[sdk.JSONOutputFormatParam](json.RawMessage(`{"type":"json_schema","schema":` + string(enforceable(r.Output.JSON)) + `}`))}
	case can.output == forcedTool && len(r.Tools) == 0:
		a.answer = r.Output.Name
		a.params.Tools = []sdk.ToolUnionParam{tool(llm.Tool{Name: r.Output.Name, Description: "Give the answer. Its arguments are the whole answer.", Input: r.Output.JSON}, can)}
		a.params.ToolChoice = sdk.ToolChoiceUnionParam{OfTool: &sdk.ToolChoiceToolParam{Name: r.Output.Name, DisableParallelToolUse: sdk.Bool(true)}}
	default:
		return false
	}
	return true
}

func (a *asked) tools(r llm.Request, can capabilities) {
	if can.noTools || len(r.Tools) == 0 {
		return
	}
	for _, t := range r.Tools {
		a.params.Tools = append(a.params.Tools, tool(t, can))
	}
	if r.NeedTool {
		a.params.ToolChoice = sdk.ToolChoiceUnionParam{OfAny: &sdk.ToolChoiceAnyParam{}}
	}
}

func tool(t llm.Tool, can capabilities) sdk.ToolUnionParam {
	p := &sdk.ToolParam{Name: t.Name}
	if t.Description != "" {
		p.Description = sdk.String(t.Description)
	}
	input := t.Input
	if len(input) == 0 {
		input = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if !can.noStrict {
		p.Strict = sdk.Bool(true)
		input = enforceable(input)
	}
	p.InputSchema = param.Override[sdk.ToolInputSchemaParam](input)
	return sdk.ToolUnionParam{OfTool: p}
}

// messages gives the turns as the API insists on them: no empty text, the results of calls
// first in the turn after them, and, for servers whose templates insist, no two turns of
// one role in a row.
func messages(list []llm.Message) []sdk.MessageParam {
	var out []sdk.MessageParam
	var last llm.Role
	for _, m := range list {
		content := blocks(m)
		if len(content) == 0 {
			continue
		}
		if n := len(out); n > 0 && last == m.Role {
			if user := out[n-1].OfUser; user != nil {
				user.Content = append(user.Content, content...)
			} else {
				out[n-1].OfAssistant.Content = append(out[n-1].OfAssistant.Content, content...)
			}
			continue
		}
		if last = m.Role; m.Role == llm.Assistant {
			out = append(out, sdk.NewAssistantMessage(content...))
		} else {
			out = append(out, sdk.NewUserMessage(content...))
		}
	}
	return out
}

func blocks(m llm.Message) []sdk.ContentBlockParamUnion {
	if kept := unwrap(m.Opaque); len(kept) > 0 {
		out := make([]sdk.ContentBlockParamUnion, len(kept))
		for i, raw := range kept {
			out[i] = param.Override[sdk.ContentBlockParamUnion](raw)
		}
		return out
	}
	var out []sdk.ContentBlockParamUnion
	for _, r := range m.Results {
		out = append(out, sdk.NewToolResultBlock(r.ID, r.Text, r.Error))
	}
	if m.Text != "" {
		out = append(out, sdk.NewTextBlock(m.Text))
	}
	for _, c := range m.Calls {
		input := c.Input
		if len(input) == 0 || input[0] != '{' || !json.Valid(input) {
			input = json.RawMessage("{}") // the API takes no other input back
		}
		out = append(out, sdk.NewToolUseBlock(c.ID, input, c.Name))
	}
	return out
}

// opaque is what a turn needs back unchanged: all its blocks, in order. It is named, so that
// what another provider left is not taken for ours.
type opaque struct {
	Blocks []json.RawMessage `json:"anthropic"`
}

func unwrap(raw json.RawMessage) []json.RawMessage {
	var o opaque
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o.Blocks
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
