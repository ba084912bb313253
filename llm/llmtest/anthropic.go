package llmtest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant/llm"
)

// anthropicEvent is one of a stream, named by its type.
func anthropicEvent(data string) string {
	var e struct{ Type string }
	_ = json.Unmarshal([]byte(data), &e)
	return "event: " + e.Type + "\ndata: " + data + "\n\n"
}

var (
	anthropicStart  = anthropicEvent(`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":22,"output_tokens":1}}}`)
	anthropicOpen   = anthropicEvent(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	anthropicClosed = anthropicEvent(`{"type":"content_block_stop","index":0}`)
	anthropicDelta  = anthropicEvent(`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}`)
	anthropicStop   = anthropicEvent(`{"type":"message_stop"}`)
	anthropicCalled = strings.ReplaceAll(anthropicDelta, "end_turn", "tool_use") + anthropicStop
)

// anthropicLook is a call of a tool in a stream.
func anthropicLook(arguments string) string {
	return anthropicStart + anthropicEvent(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"look"}}`) +
		anthropicEvent(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":`+quoted(arguments)+`}}`) + anthropicClosed
}

var anthropicWords = map[llm.Finish]string{"": "null", llm.Stopped: `"end_turn"`, llm.Called: `"tool_use"`, llm.Length: `"max_tokens"`, llm.Refused: `"refusal"`, llm.Unclear: `"tired"`}

func anthropicUsage(u llm.Usage) string {
	if !u.Known {
		return "null"
	}
	return fmt.Sprintf(`{"input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d}`, u.Input-u.CacheRead, u.CacheRead, u.Output)
}

// Anthropic is how a server of Anthropic's messages says things.
var Anthropic = Protocol{
	Events: func(s Said) []string {
		list := []string{anthropicEvent(`{"type":"message_start","message":{"type":"message","model":"claude-x","content":[],"stop_reason":null,"usage":` + anthropicUsage(s.Usage) + `}}`)}
		if s.Text != "" {
			list = append(list, anthropicOpen, anthropicEvent(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+quoted(s.Text)+`}}`), anthropicClosed)
		}
		for i, c := range s.Calls {
			at := strconv.Itoa(i + 1)
			list = append(list, anthropicEvent(`{"type":"content_block_start","index":`+at+`,"content_block":{"type":"tool_use","id":"`+c.ID+`","name":"`+c.Name+`","input":{}}}`),
				anthropicEvent(`{"type":"content_block_delta","index":`+at+`,"delta":{"type":"input_json_delta","partial_json":`+quoted(string(c.Input))+`}}`), anthropicEvent(`{"type":"content_block_stop","index":`+at+`}`))
		}
		return append(list, anthropicEvent(`{"type":"message_delta","delta":{"stop_reason":`+anthropicWords[s.Finish]+`},"usage":`+anthropicUsage(s.Usage)+`}`), anthropicStop)
	},
	Whole: func(s Said) string {
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
		return `{"type":"message","model":"claude-x","content":` + string(b) + `,"stop_reason":` + anthropicWords[s.Finish] + `,"usage":` + anthropicUsage(s.Usage) + `}`
	},
	Event: func(m string) string {
		return anthropicEvent(`{"type":"error","error":{"type":"api_error","message":` + quoted(m) + `}}`)
	},
	Object: func(m string) string { return `{"type":"error","error":{"message":` + quoted(m) + `}}` },
	Broken: func(stream bool) string {
		if stream {
			return anthropicLook("{q") + anthropicCalled
		}
		return `{"type":"message","content":[{"type":"tool_use","id":"a","name":"look","input":{q}}],"stop_reason":"tool_use"}`
	},
	Null: func(stream bool) string {
		if stream {
			return anthropicStart + anthropicDelta + anthropicStop
		}
		return `{"type":"message","content":null,"stop_reason":"end_turn"}`
	},
}
