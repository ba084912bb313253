package anthropic

import (
	"net/http"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/llm"
)

// kinds are the error types of the Messages API.
var kinds = map[string]llm.Kind{
	"authentication_error": llm.Denied, "permission_error": llm.Denied, "billing_error": llm.Denied,
	"invalid_request_error": llm.Invalid, "not_found_error": llm.Invalid,
	"request_too_large": llm.TooLong, "exceed_context_size_error": llm.TooLong,
	"rate_limit_error": llm.Overloaded, "overloaded_error": llm.Overloaded, "unavailable_error": llm.Overloaded,
	"timeout_error": llm.Late, "api_error": llm.Server, "server_error": llm.Server,
}

// phrases decide where the type says less than the text: an invalid request that does not
// fit or cannot be paid for, a limit that will not pass by waiting.
var phrases = []struct {
	said string
	kind llm.Kind
}{
	{"prompt is too long", llm.TooLong}, {"exceed context limit", llm.TooLong}, {"context window", llm.TooLong},
	{"credit balance", llm.Denied}, {"usage limits", llm.Denied}, {"spend limit", llm.Denied},
	{"content filtering", llm.Declined},
}

// kindOf says what an error of the API means, if its words say so.
func kindOf(e *llm.Error) (llm.Kind, bool) {
	if e.Kind == llm.TooLong || e.Kind == llm.Declined {
		return e.Kind, true
	}
	said := strings.ToLower(e.Message)
	for _, p := range phrases {
		if strings.Contains(said, p.said) {
			return p.kind, true
		}
	}
	kind, ok := kinds[e.Code]
	return kind, ok
}

// resetOf reads when a limit of the rate ends where the server gives no Retry-After: the
// latest of those of which nothing is left.
func resetOf(h http.Header) time.Duration {
	var wait time.Duration
	for _, of := range []string{"Requests", "Tokens", "Input-Tokens", "Output-Tokens"} {
		left, reset := h.Get("Anthropic-Ratelimit-"+of+"-Remaining"), h.Get("Anthropic-Ratelimit-"+of+"-Reset")
		if at, err := time.Parse(time.RFC3339, reset); err == nil && (left == "0" || left == "") {
			wait = max(wait, time.Until(at))
		}
	}
	return wait
}
