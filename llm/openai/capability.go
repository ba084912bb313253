package openai

import (
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/internal/wire"
)

// capabilities are what a server was found not to take. The zero value is the most that
// the protocol offers.
type capabilities struct {
	output        outputMode
	oldTokenLimit bool // max_tokens, not max_completion_tokens
	newTokenLimit bool // max_completion_tokens was asked for by the server
	noTemperature bool
	noUsage       bool // stream_options is refused
	noTools       bool
}

// outputMode is how JSON is asked for: the ladder, from the most that can be had down.
type outputMode int

const (
	nativeSchema outputMode = iota // response_format json_schema
	jsonObject                     // response_format json_object, the schema in the prompt
	promptOnly                     // the schema in the prompt
)

// learn changes what the model is asked for after a refusal, and reports whether another
// try makes sense.
func (m *Model) learn(used capabilities, e *llm.Error, r llm.Request) bool {
	if e.Kind == llm.TooLong {
		return false
	}
	return m.lessons.Learn(used, e, func(can *capabilities, said wire.Said) bool {
		switch {
		case said.Has("max_completion_tokens") && !said.Has("use 'max_completion_tokens'", "max_tokens' is not supported", "max_tokens is not supported") && !used.oldTokenLimit:
			can.oldTokenLimit = true
		case said.Has("max_tokens") && !used.newTokenLimit:
			can.newTokenLimit, can.oldTokenLimit = true, false
		case said.Has("temperature") && r.Temperature != nil && !used.noTemperature:
			can.noTemperature = true
		case said.Has("stream_options", "include_usage") && !used.noUsage:
			can.noUsage = true
		case said.Has("response_format", "json_schema", "schema", "json_object", "grammar") && r.Output != nil && used.output < promptOnly:
			can.output++
		case said.Has("tool") && len(r.Tools) > 0 && !used.noTools && !r.NeedTool:
			can.noTools = true
		default:
			return false
		}
		return true
	})
}
