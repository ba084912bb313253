package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/llmtest"
	"github.com/sextant-rag/sextant/llm/openai"
)

func TestConformance(t *testing.T) {
	llmtest.RunServer(t, protocol, func(t *testing.T, address string) llm.Model {
		m, err := openai.New(openai.Options{BaseURL: address + "/v1", Key: "k", Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}

var words = map[llm.Finish]string{"": "null", llm.Stopped: `"stop"`, llm.Called: `"tool_calls"`, llm.Length: `"length"`, llm.Refused: `"content_filter"`, llm.Unclear: `"tired"`}

func usageOf(u llm.Usage) string {
	if !u.Known {
		return "null"
	}
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`, u.Input, u.Output, u.CacheRead)
}

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

func callsOf(list []llm.Call) string {
	var out []string
	for i, c := range list {
		out = append(out, fmt.Sprintf(`{"index":%d,"id":"%s","type":"function","function":{"name":"%s","arguments":%s}}`, i, c.ID, c.Name, quoted(string(c.Input))))
	}
	return "[" + strings.Join(out, ",") + "]"
}

func chunk(delta, finish string) string {
	return `data: {"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}` + "\n\n"
}

var protocol = llmtest.Protocol{
	Events: func(s llmtest.Said) []string {
		list := []string{chunk(`{"role":"assistant","content":null}`, "null")}
		if s.Text != "" {
			list = append(list, chunk(`{"content":`+quoted(s.Text)+`}`, "null"), chunk(`{"content":""}`, "null"))
		}
		if len(s.Calls) > 0 {
			list = append(list, chunk(`{"tool_calls":`+callsOf(s.Calls)+`}`, "null"))
		}
		return append(list, chunk("{}", words[s.Finish]), `data: {"choices":[],"usage":`+usageOf(s.Usage)+"}\n\n", "data: [DONE]\n\n")
	},
	Whole: func(s llmtest.Said) string {
		return `{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":` + quoted(s.Text) + `,"tool_calls":` + callsOf(s.Calls) + `},"finish_reason":` + words[s.Finish] + `}],"usage":` + usageOf(s.Usage) + `}`
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
			return chunk(`{"content":null}`, `"stop"`)
		}
		return `{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`
	},
}
