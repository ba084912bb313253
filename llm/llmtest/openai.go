package llmtest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sextant-rag/sextant/llm"
)

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

var openAIWords = map[llm.Finish]string{"": "null", llm.Stopped: `"stop"`, llm.Called: `"tool_calls"`, llm.Length: `"length"`, llm.Refused: `"content_filter"`, llm.Unclear: `"tired"`}

func openAIUsage(u llm.Usage) string {
	if !u.Known {
		return "null"
	}
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`, u.Input, u.Output, u.CacheRead)
}

func openAICalls(list []llm.Call) string {
	var out []string
	for i, c := range list {
		out = append(out, fmt.Sprintf(`{"index":%d,"id":"%s","type":"function","function":{"name":"%s","arguments":%s}}`, i, c.ID, c.Name, quoted(string(c.Input))))
	}
	return "[" + strings.Join(out, ",") + "]"
}

func openAIChunk(delta, finish string) string {
	return `data: {"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}` + "\n\n"
}

// OpenAI is how a server of OpenAI's chat completions says things.
var OpenAI = Protocol{
	Events: func(s Said) []string {
		list := []string{openAIChunk(`{"role":"assistant","content":null}`, "null")}
		if s.Text != "" {
			list = append(list, openAIChunk(`{"content":`+quoted(s.Text)+`}`, "null"), openAIChunk(`{"content":""}`, "null"))
		}
		if len(s.Calls) > 0 {
			list = append(list, openAIChunk(`{"tool_calls":`+openAICalls(s.Calls)+`}`, "null"))
		}
		return append(list, openAIChunk("{}", openAIWords[s.Finish]), `data: {"choices":[],"usage":`+openAIUsage(s.Usage)+"}\n\n", "data: [DONE]\n\n")
	},
	Whole: func(s Said) string {
		return `{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":` + quoted(s.Text) + `,"tool_calls":` + openAICalls(s.Calls) + `},"finish_reason":` + openAIWords[s.Finish] + `}],"usage":` + openAIUsage(s.Usage) + `}`
	},
	Event: func(m string) string {
		return `data: {"error":{"message":` + quoted(m) + `,"type":"server_error"}}` + "\n\n"
	},
	Object: func(m string) string { return `{"error":{"message":` + quoted(m) + `}}` },
	Broken: func(stream bool) string {
		body := `{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"a","function":{"name":"look","arguments":"{q"}}]},"finish_reason":"tool_calls"}]}`
		if stream {
			return "data: " + body + "\n\n"
		}
		return strings.Replace(body, "delta", "message", 1)
	},
	Null: func(stream bool) string {
		if stream {
			return openAIChunk(`{"content":null}`, `"stop"`)
		}
		return `{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`
	},
}
