package anthropic

import (
	"net/http"
	"strings"

	"github.com/sextant-rag/sextant/llm"
)

// capabilities are what a model was found not to take. The zero value is the most that the
// protocol offers.
type capabilities struct {
	output        outputMode
	noStrict      bool // tools must not be marked strict
	noCache       bool // prompts must not be marked to be cached
	noTemperature bool
	noTools       bool
}

// outputMode is how JSON is asked for: the ladder, from the most that can be had down.
type outputMode int

const (
	nativeSchema outputMode = iota // output_config.format
	forcedTool                     // one tool that must be called, whose input is the answer
	promptOnly                     // the schema in the prompt
)

// older are the beginnings of the names of models that came before structured outputs and
// strict tools, which saves each the first refusal.
var older = []string{"claude-2", "claude-instant", "claude-3", "claude-sonnet-4-2025", "claude-opus-4-2025", "claude-sonnet-4-0", "claude-opus-4-0"}

// known is what needs no refusal to be learnt. Since its version 2026-10-21, which the SDK
// asks for, Anthropic's own API takes no temperature from any model.
func known(model string, foreign bool) capabilities {
	can := capabilities{noTemperature: !foreign}
	for _, start := range older {
		if strings.HasPrefix(model, start) {
			can.output, can.noStrict = forcedTool, true
		}
	}
	return can
}

func (m *Model) capabilities() capabilities {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.can
}

// learn changes what the model is asked for after a refusal, and reports whether another
// try makes sense. Only a bad request teaches; used is what that request relied on, so
// that two calls at once do not go down two steps for one refusal.
func (m *Model) learn(used capabilities, e *llm.Error, r llm.Request) bool {
	if e.Kind != llm.Invalid || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity && e.Status != http.StatusNotImplemented {
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
	toolAsked := len(r.Tools) > 0 || r.Output != nil && used.output == forcedTool
	switch {
	case has("temperature") && r.Temperature != nil && !used.noTemperature:
		m.can.noTemperature = true
	case has("cache_control") && !used.noCache:
		m.can.noCache = true
	case has("strict") && toolAsked && !used.noStrict:
		m.can.noStrict = true
	case r.Output != nil && used.output == nativeSchema && has("output_config", "output_format", "output format", "structured output", "json_schema", "schema", "grammar"):
		m.can.output = forcedTool
	case r.Output != nil && used.output == forcedTool && has("tool", "schema", "grammar", "thinking"):
		m.can.output = promptOnly
	case has("tool") && len(r.Tools) > 0 && !used.noTools && !r.NeedTool:
		m.can.noTools = true
	default:
		return false
	}
	return true
}
