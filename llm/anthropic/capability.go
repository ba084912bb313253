package anthropic

import (
	"strings"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/internal/wire"
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

// learn changes what the model is asked for after a refusal, and reports whether another
// try makes sense.
func (m *Model) learn(used capabilities, e *llm.Error, r llm.Request) bool {
	if e.Kind != llm.Invalid {
		return false
	}
	toolAsked := len(r.Tools) > 0 || r.Output != nil && used.output == forcedTool
	return m.lessons.Learn(used, e, func(can *capabilities, said wire.Said) bool {
		switch {
		case said.Has("temperature") && r.Temperature != nil && !used.noTemperature:
			can.noTemperature = true
		case said.Has("cache_control") && !used.noCache:
			can.noCache = true
		case said.Has("strict") && toolAsked && !used.noStrict:
			can.noStrict = true
		case r.Output != nil && used.output == nativeSchema && said.Has("output_config", "output_format", "output format", "structured output", "json_schema", "schema", "grammar"):
			can.output = forcedTool
		case r.Output != nil && used.output == forcedTool && said.Has("tool", "schema", "grammar", "thinking"):
			can.output = promptOnly
		case said.Has("tool") && len(r.Tools) > 0 && !used.noTools && !r.NeedTool:
			can.noTools = true
		default:
			return false
		}
		return true
	})
}
