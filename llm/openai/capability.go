package openai

import (
	"net/http"
	"strings"

	"github.com/sextant-rag/sextant/llm"
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

func (m *Model) capabilities() capabilities {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.can
}

// learn changes what the model is asked for after a refusal, and reports whether another
// try makes sense. Only a bad request teaches; used is what that request relied on, so
// that two calls at once do not go down two steps for one refusal.
func (m *Model) learn(used capabilities, e *llm.Error, r llm.Request) bool {
	if e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity && e.Status != http.StatusNotImplemented || e.Kind == llm.TooLong {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.can != used {
		return true // another call has learnt meanwhile
	}
	said := strings.ToLower(e.Message + " " + e.Code)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("max_completion_tokens") && !has("use 'max_completion_tokens'", "max_tokens' is not supported", "max_tokens is not supported") && !used.oldTokenLimit:
		m.can.oldTokenLimit = true
	case has("max_tokens") && !used.newTokenLimit:
		m.can.newTokenLimit, m.can.oldTokenLimit = true, false
	case has("temperature") && r.Temperature != nil && !used.noTemperature:
		m.can.noTemperature = true
	case has("stream_options", "include_usage") && !used.noUsage:
		m.can.noUsage = true
	case has("response_format", "json_schema", "schema", "json_object", "grammar") && r.Output != nil && used.output < promptOnly:
		m.can.output++
	case has("tool") && len(r.Tools) > 0 && !used.noTools && !r.NeedTool:
		m.can.noTools = true
	default:
		return false
	}
	return true
}
