// Package llm is the contract with language models, and everything that must be the same
// whichever provider answers: what a request and an answer are, how failures are told
// apart, retries under a budget, a breaker, structured output with its ladder of ways to
// get it, and the spans of a call. Packages below it speak to providers; llmtest holds them
// all to the contract.
//
// The engine works without any model. With one it must never become less true: what a
// model returns is data to be checked, and a failed call is an error that says what failed,
// never an empty answer.
package llm

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"time"
)

// A Model generates text. It is safe for concurrent use.
type Model interface {
	// Stream generates an answer. Chunks come as they are made; the last one has Done set.
	// An error is the last thing yielded and is an *Error, or ctx's. After an error the
	// text so far is worth nothing. Breaking out of the loop ends the call at the provider.
	//
	// A model tries once: retries, budgets and fallbacks are wrapped around it (see With).
	Stream(ctx context.Context, r Request) iter.Seq2[Chunk, error]

	// Name is the provider's name for the model, and Provider names who serves it, as in
	// OpenTelemetry's gen_ai.provider.name: "anthropic", "openai".
	Name() string
	Provider() string
}

// Role says who speaks.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Request is what a model is asked.
type Request struct {
	System      string
	Messages    []Message
	Output      *Schema  // the answer must be JSON of this schema; nil: text
	Tools       []Tool   // that the model may call
	NeedTool    bool     // it must call one of them
	MaxTokens   int      // of the answer; 0: the provider's default
	Temperature *float64 // nil: the provider's default
	Stop        []string
	Purpose     string // stage that asks, for spans and records: "understand", "generate"
	Prompt      string `json:",omitempty"` // name and version of the text it is asked with, for spans; see prompt.Text.ID
}

// Message is one turn.
type Message struct {
	Role Role
	Text string
	// Calls are what the assistant asked for in this turn, Results what its earlier calls
	// brought; a turn has either or neither.
	Calls   []Call
	Results []Result
	// Opaque is what the provider needs back unchanged with this turn (signed thinking); nil
	// for other providers' turns.
	Opaque json.RawMessage
}

// Schema is a JSON Schema that an answer has to satisfy. It must be strict: every property
// required, none beside them, strings and arrays bounded; what may be missing is nullable.
type Schema struct {
	Name string // letters, digits, underscores
	JSON json.RawMessage
}

// Tool is something a model may call.
type Tool struct {
	Name        string
	Description string
	Input       json.RawMessage // JSON Schema of the arguments
}

// Call is one use of a tool. Input is what the model wrote, which need not satisfy the
// tool's schema.
type Call struct {
	ID    string
	Name  string
	Input json.RawMessage
}

// Result is what a call brought.
type Result struct {
	ID    string // of the call
	Text  string
	Error bool
}

// Chunk is a piece of an answer.
type Chunk struct {
	Text string // may be empty
	Call *Call  // whole
	Done *Done  // in the last chunk
}

// Done ends an answer.
type Done struct {
	Finish Finish
	Raw    string // the provider's own word for it
	Usage  Usage
	Model  string // as the provider names what answered; "" if it does not say
	Opaque json.RawMessage
}

// Finish says why a model stopped.
type Finish string

// The reasons. An answer that is not Stopped or Called is not whole.
const (
	Stopped Finish = "stop"
	Called  Finish = "tool_calls"
	Length  Finish = "length"  // the limit of tokens or the context was reached
	Refused Finish = "refusal" // the model or a filter declined
	Unclear Finish = "unknown" // a word that no list knows: never taken for whole
	Failed  Finish = "error"   // the provider says so inside a successful answer
	Paused  Finish = "pause"   // the provider wants to be called again
)

// Usage counts tokens. Known is false when the provider said nothing: zeros are then no
// figure. Input includes what was read from or written to a cache.
type Usage struct {
	Input, Output           int64
	CacheRead, CacheWritten int64
	Known                   bool
}

// Response is a whole answer.
type Response struct {
	Text  string
	Calls []Call
	Done
}

// maxText bounds the text of one answer, in bytes: more than any model writes that keeps to
// its limit of tokens.
const maxText = 2 << 20

// Complete collects a stream. It fails with an *Error of kind Truncated for a stream that
// ends without Done, and of kind Malformed for one that does not end where any answer would.
func Complete(ctx context.Context, m Model, r Request) (Response, error) {
	var out Response
	var text strings.Builder
	ended := false
	for chunk, err := range m.Stream(ctx, r) {
		if err != nil {
			return Response{}, err
		}
		if text.Len()+len(chunk.Text) > maxText {
			return Response{}, &Error{Kind: Malformed, Provider: m.Provider(), Message: "the answer is longer than any could be", Started: true}
		}
		text.WriteString(chunk.Text)
		if chunk.Call != nil {
			out.Calls = append(out.Calls, *chunk.Call)
		}
		if chunk.Done != nil {
			out.Done, ended = *chunk.Done, true
		}
	}
	out.Text = text.String()
	if !ended {
		if err := ctx.Err(); err != nil {
			return Response{}, err
		}
		return Response{}, &Error{Kind: Truncated, Provider: m.Provider(), Message: "the answer ended without saying why"}
	}
	return out, nil
}

// Kind says what went wrong with a call, and with it what to do.
type Kind string

// The kinds. Retryable says which are worth another try.
const (
	Unreachable Kind = "unreachable"      // no connection, or it broke
	Overloaded  Kind = "overloaded"       // 429, 503, 529 and their like
	Server      Kind = "server_error"     // any other failure of the provider's own
	Late        Kind = "timeout"          // nothing came in time
	Denied      Kind = "denied"           // the key, or what it may use
	Invalid     Kind = "invalid_request"  // the request is at fault
	TooLong     Kind = "context_overflow" // the request does not fit the model
	Declined    Kind = "refused"          // the model or a filter declined
	Malformed   Kind = "malformed"        // the answer cannot be read
	Truncated   Kind = "truncated"        // the answer is not whole
	Exhausted   Kind = "budget_exhausted" // of the question's own limits
	Open        Kind = "circuit_open"     // given up for a while after many failures
)

// Retryable reports whether the same request may succeed later.
func (k Kind) Retryable() bool {
	switch k {
	case Unreachable, Overloaded, Server, Late, Malformed, Truncated:
		return true
	}
	return false
}

// Error is a failed call. Its text names provider and kind and holds no key and no part of
// the request.
type Error struct {
	Kind     Kind
	Provider string
	Status   int           // HTTP; 0 without an answer
	Code     string        // the provider's own
	Message  string        // the provider's own, cleaned and bounded; for logs and the operator
	After    time.Duration // the provider's wish before another try; 0 without one
	Started  bool          // some of the answer had come: a retry could show it twice
	Err      error
}

// Error implements error.
func (e *Error) Error() string {
	s := e.Provider + ": " + string(e.Kind)
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
