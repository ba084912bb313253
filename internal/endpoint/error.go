package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Kinds of failure.
var (
	// ErrUnavailable: the server cannot be reached, is busy or broken. Later may be better.
	ErrUnavailable = errors.New("unavailable")
	// ErrUnauthorized: the key is missing, wrong, or not enough.
	ErrUnauthorized = errors.New("not authorized")
	// ErrTooLong: the input is more than the model or the server takes.
	ErrTooLong = errors.New("input too long")
	// ErrRequest: the server refuses the request for another reason.
	ErrRequest = errors.New("request refused")
	// ErrResponse: what the server says cannot be understood.
	ErrResponse = errors.New("unusable response")
)

// Error is a failure of a server. errors.Is finds its Kind and what caused it.
type Error struct {
	Service    string
	Kind       error         // one of the kinds above
	Status     int           // of HTTP; 0 without a response
	Message    string        // what the server says, shortened, without the key
	URL        string        // without user and query
	RetryAfter time.Duration // what the server asks to wait; 0 when it says nothing
	Attempts   int           // that were made
	cause      error
	retry      bool
}

// Error says what failed, and where.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", e.Service, e.Kind)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (status %d)", e.Status)
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.URL != "" {
		b.WriteString(" at " + e.URL)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, ", tried %d times", e.Attempts)
	}
	return b.String()
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.cause}
}

func (c *Client) fail(kind, cause error) *Error {
	// A url.Error repeats the whole URL, query and all.
	var u *url.Error
	if errors.As(cause, &u) {
		cause = u.Err
	}
	return &Error{Service: c.Service, Kind: kind, Message: c.clean(cause.Error()), URL: c.shown, cause: cause}
}

// refusal reads an answer that is no success.
func (c *Client) refusal(resp *http.Response, body []byte) *Error {
	e := &Error{Service: c.Service, Status: resp.StatusCode, Message: c.clean(reason(body)), URL: c.shown, RetryAfter: retryAfter(resp.Header, time.Now())}
	said := strings.ToLower(e.Message)
	switch status := resp.StatusCode; {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired:
		e.Kind = ErrUnauthorized
	case status == http.StatusTooManyRequests && containsAny(said, "quota", "billing", "credit"):
		e.Kind = ErrUnauthorized // waiting does not fill an account
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests,
		status >= 500 && status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported:
		e.Kind, e.retry = ErrUnavailable, true
	case status == http.StatusRequestEntityTooLarge,
		(status == http.StatusBadRequest || status == http.StatusUnprocessableEntity) && containsAny(said, tooLong...):
		e.Kind = ErrTooLong
	default:
		e.Kind = ErrRequest
	}
	if e.retry && containsAny(said, tooLong...) {
		e.Kind, e.retry = ErrTooLong, false // llama-server says so with status 500
	}
	return e
}

// tooLong are the words of common servers for too much input: OpenAI and vLLM, Text
// Embeddings Inference ("must have less than 512 tokens", "batch size 64 > maximum allowed
// batch size 32"), Ollama, llama-server.
var tooLong = []string{"context length", "maximum context", "max_tokens_per_request", "less than", "too many tokens", "too long", "too large to process", "larger than the", "exceeds the", "exceeds max", "input length", "batch size"}

func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// reason finds the sentence in an error's body, whose shape differs from server to server:
// {"error": {"message": ...}}, {"error": "..."}, {"message": ...}, {"detail": ... or [{"msg": ...}]},
// or plain text.
func reason(body []byte) string {
	var shape struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &shape) != nil {
		return string(body[:min(len(body), 2000)])
	}
	for _, raw := range []json.RawMessage{shape.Error, shape.Message, shape.Detail} {
		var text string
		var object struct{ Message, Msg string }
		var list []struct{ Msg string }
		switch {
		case len(raw) == 0:
		case json.Unmarshal(raw, &text) == nil && text != "":
			return text
		case json.Unmarshal(raw, &object) == nil && object.Message+object.Msg != "":
			return object.Message + object.Msg
		case json.Unmarshal(raw, &list) == nil && len(list) > 0:
			return list[0].Msg
		}
	}
	return string(body[:min(len(body), 2000)])
}

const maxMessage = 300

// clean makes foreign text fit for a log line: printable, short, without the key, which
// some servers repeat.
func (c *Client) clean(text string) string {
	if c.Key != "" {
		text = strings.ReplaceAll(text, c.Key, "[key]")
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// retryAfter reads how long a server asks to wait: milliseconds in retry-after-ms, or
// seconds or a date in Retry-After (RFC 9110, section 10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil && s >= 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}

const (
	firstBackoff = 250 * time.Millisecond
	maxBackoff   = 8 * time.Second
)

// backoff doubles with each attempt; a random half keeps many clients from coming back
// together.
func backoff(attempt int) time.Duration {
	d := min(firstBackoff<<min(attempt-1, 10), maxBackoff)
	return d/2 + rand.N(d/2+1)
}
