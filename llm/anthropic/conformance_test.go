package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/anthropic"
	"github.com/sextant-rag/sextant/llm/llmtest"
)

func TestConformance(t *testing.T) {
	llmtest.RunServer(t, protocol, func(t *testing.T, address string) llm.Model {
		m, err := anthropic.New(anthropic.Options{BaseURL: address, Key: "k", Model: "claude-x"})
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}

var words = map[llm.Finish]string{"": "null", llm.Stopped: `"end_turn"`, llm.Called: `"tool_use"`, llm.Length: `"max_tokens"`, llm.Refused: `"refusal"`, llm.Unclear: `"tired"`}

func usageOf(u llm.Usage) string {
	if !u.Known {
		return "null"
	}
	return fmt.Sprintf(`{"input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d}`, u.Input-u.CacheRead, u.CacheRead, u.Output)
}

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

var protocol = llmtest.Protocol{
	Events: func(s llmtest.Said) []string {
		list := []string{event(`{"type":"message_start","message":{"type":"message","model":"claude-x","content":[],"stop_reason":null,"usage":` + usageOf(s.Usage) + `}}`)}
		if s.Text != "" {
			list = append(list, open, event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+quoted(s.Text)+`}}`), closed)
		}
		for i, c := range s.Calls {
			at := strconv.Itoa(i + 1)
			list = append(list, event(`{"type":"content_block_start","index":`+at+`,"content_block":{"type":"tool_use","id":"`+c.ID+`","name":"`+c.Name+`","input":{}}}`),
				event(`{"type":"content_block_delta","index":`+at+`,"delta":{"type":"input_json_delta","partial_json":`+quoted(string(c.Input))+`}}`), event(`{"type":"content_block_stop","index":`+at+`}`))
		}
		return append(list, event(`{"type":"message_delta","delta":{"stop_reason":`+words[s.Finish]+`},"usage":`+usageOf(s.Usage)+`}`), stop)
	},
	Whole: func(s llmtest.Said) string {
		content := []json.RawMessage{}
		if s.Text != "" {
			content = append(content, json.RawMessage(`{"type":"text","text":`+quoted(s.Text)+`}`))
		}
		for _, c := range s.Calls {
			if json.Valid(c.Input) { // a server that does not stream sends none that is cut
				content = append(content, json.RawMessage(`{"type":"tool_use","id":"`+c.ID+`","name":"`+c.Name+`","input":`+string(c.Input)+`}`))
			}
		}
		b, _ := json.Marshal(content)
		return `{"type":"message","model":"claude-x","content":` + string(b) + `,"stop_reason":` + words[s.Finish] + `,"usage":` + usageOf(s.Usage) + `}`
	},
	Event: func(m string) string {
		return event(`{"type":"error","error":{"type":"api_error","message":` + quoted(m) + `}}`)
	},
	Object: func(m string) string { return `{"type":"error","error":{"message":` + quoted(m) + `}}` },
	Broken: func(stream bool) string {
		if stream {
			return look("{q") + called
		}
		return `{"type":"message","content":[{"type":"tool_use","id":"a","name":"look","input":{q}}],"stop_reason":"tool_use"}`
	},
	Null: func(stream bool) string {
		if stream {
			return start + delta + stop
		}
		return `{"type":"message","content":null,"stop_reason":"end_turn"}`
	},
}
