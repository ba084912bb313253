package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
)

// wireError holds every place where servers put an error: under "error" as an object or a
// string, flat beside "object", under "detail".
type wireError struct {
	Error   json.RawMessage `json:"error"`
	Object  string          `json:"object"`
	Message string          `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Code    json.RawMessage `json:"code"`
	Type    string          `json:"type"`
}

type errorObject struct {
	Message  string          `json:"message"`
	Type     string          `json:"type"`
	Code     json.RawMessage `json:"code"` // a string, a number or null
	Metadata struct {
		Raw string `json:"raw"`
	} `json:"metadata"`
}

// Refusal reads an answer that is no success, in any of the shapes that servers use.
func Refusal(provider string, status int, h http.Header, body []byte) *llm.Error {
	e := ParseError(body)
	e.Provider, e.Status, e.After = provider, status, RetryAfter(h)
	if e.Kind == "" {
		e.Kind = KindOf(status)
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("status %d", status)
	}
	return e
}

// ParseError reads an error of any shape; Kind is set only where the text decides it.
func ParseError(body []byte) *llm.Error {
	e := &llm.Error{}
	var w wireError
	var typ string
	if json.Unmarshal(body, &w) == nil {
		var object errorObject
		var text string
		switch {
		case json.Unmarshal(w.Error, &object) == nil && len(w.Error) > 0 && w.Error[0] == '{':
			e.Message, typ, e.Code = object.Message, object.Type, code(object.Code)
			if object.Metadata.Raw != "" {
				e.Message += ": " + object.Metadata.Raw
			}
		case json.Unmarshal(w.Error, &text) == nil && text != "":
			e.Message = text
		case w.Message != "":
			e.Message, typ, e.Code = w.Message, w.Type, code(w.Code)
		case len(w.Detail) > 0:
			e.Message = string(w.Detail)
		}
	}
	if e.Code == "" {
		e.Code = typ
	}
	e.Message = bounded(e.Message)
	said := strings.ToLower(e.Message + " " + e.Code + " " + typ)
	switch {
	case strings.Contains(said, "context_length") || strings.Contains(said, "context size") || strings.Contains(said, "exceed_context") || strings.Contains(said, "maximum context") || strings.Contains(said, "too many tokens"):
		e.Kind = llm.TooLong
	case strings.Contains(said, "content_filter") || strings.Contains(said, "content_policy"):
		e.Kind = llm.Declined
	case strings.Contains(said, "insufficient_quota"):
		e.Kind = llm.Denied
	}
	return e
}

// code is an error code as text, whatever its type.
func code(raw json.RawMessage) string {
	s := strings.Trim(string(raw), `"`)
	if s == "null" {
		return ""
	}
	return s
}

// bounded keeps an operator's log readable and free of control bytes.
func bounded(s string) string {
	s = sextant.CleanText(s)
	if runes := []rune(s); len(runes) > 300 {
		return string(runes[:300]) + "…"
	}
	return s
}

// KindOf says what a status means. Some servers have client's faults as 500: an image that
// is not supported, a text that is too long; their texts decided above.
func KindOf(status int) llm.Kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired:
		return llm.Denied
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return llm.Late
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable, status == 529:
		return llm.Overloaded
	case status == http.StatusConflict, status == http.StatusTooEarly, status >= 500 && status != http.StatusNotImplemented:
		return llm.Server
	case status >= 200 && status < 300:
		return llm.Server
	}
	return llm.Invalid
}
