package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Kind says what a span does, in MLflow's words, so that its page gives it the right icon.
type Kind string

// The kinds.
const (
	Chain     Kind = "CHAIN"
	LLM       Kind = "LLM"
	ChatModel Kind = "CHAT_MODEL"
	Tool      Kind = "TOOL"
	Retriever Kind = "RETRIEVER"
	Reranker  Kind = "RERANKER"
	Embedding Kind = "EMBEDDING"
	Agent     Kind = "AGENT"
)

// Attribute is a named fact about a span. Value is a string, int64, float64 or bool.
type Attribute struct {
	Key   string
	Value any
}

// Usage is what one call of a model cost. Input tokens include those read from and written
// to a cache; Cost is in US dollars, 0 when no price is known.
type Usage struct {
	Model         string  `json:"model"`
	Provider      string  `json:"provider"`
	InputTokens   int64   `json:"input_tokens"`
	OutputTokens  int64   `json:"output_tokens"`
	CacheRead     int64   `json:"cache_read_tokens,omitempty"`
	CacheWritten  int64   `json:"cache_write_tokens,omitempty"`
	InputCost     float64 `json:"input_cost,omitempty"`
	OutputCost    float64 `json:"output_cost,omitempty"`
	FinishReason  string  `json:"finish_reason,omitempty"`
	ResponseModel string  `json:"response_model,omitempty"` // as the provider named it
}

// Total is input and output together.
func (u Usage) Total() int64 { return u.InputTokens + u.OutputTokens }

// Cost is input and output together, in US dollars.
func (u Usage) Cost() float64 { return u.InputCost + u.OutputCost }

// Failure is how a span ended badly.
type Failure struct {
	Type    string // the error's type, or "panic", "abandoned", "cancelled", "deadline"
	Message string
}

// Span is one step of a trace while it runs. Its methods may be called from one goroutine
// at a time, and do nothing on a nil Span or one that has ended.
type Span struct {
	trace  *live
	parent *Span
	data   span
}

// span is what is kept of a step. Times are offsets from the trace's beginning on the
// monotonic clock, so that a step of the wall clock cannot turn a duration negative.
type span struct {
	id, parent SpanID
	name       string
	kind       Kind
	start, end time.Duration
	closed     bool
	inputs     any
	outputs    any
	attributes []Attribute
	usage      *Usage
	failure    *Failure
}

// Set adds attributes; the last value of a key counts.
func (s *Span) Set(attributes ...Attribute) {
	if s == nil {
		return
	}
	s.trace.mu.Lock()
	defer s.trace.mu.Unlock()
	if !s.data.closed {
		s.data.attributes = append(s.data.attributes, attributes...)
	}
}

// Use says what the model call of this span cost. Only leaves may carry it: sums over a
// tree would count a parent's again.
func (s *Span) Use(u Usage) {
	if s == nil {
		return
	}
	s.trace.mu.Lock()
	defer s.trace.mu.Unlock()
	if !s.data.closed {
		s.data.usage = &u
	}
}

// End closes the span with what came of it, and with it every span below that is still
// open. outputs must not change afterwards: they are turned into JSON later, beside the
// question. err is recorded where it first appears; a parent that fails with the same
// error says so without repeating its text.
func (s *Span) End(outputs any, err error) {
	if s == nil {
		return
	}
	s.trace.mu.Lock()
	defer s.trace.mu.Unlock()
	s.trace.abandonBelow(s)
	s.close(outputs, err)
}

// close needs the trace's lock.
func (s *Span) close(outputs any, err error) {
	if s.data.closed {
		return
	}
	s.data.closed, s.data.end, s.data.outputs = true, s.trace.since(), outputs
	if err != nil {
		s.data.failure = s.trace.failure(err)
	}
}

// failure names an error. The text of one that was recorded further down is left out
// there, and only there: the first span that saw it is its source.
func (t *live) failure(err error) *Failure {
	for _, seen := range t.failed {
		if errors.Is(err, seen) {
			return &Failure{Type: failureType(err), Message: "failed below"}
		}
	}
	t.failed = append(t.failed, err)
	return &Failure{Type: failureType(err), Message: err.Error()}
}

// ID is the span's own id; the zero id of a nil span.
func (s *Span) ID() SpanID {
	if s == nil {
		return SpanID{}
	}
	return s.data.id
}

// newSpan needs the trace's lock. Ids count up from a random start: unique within the
// trace, which is all that the data model asks for, and one system call for each trace.
func (t *live) newSpan(parent *Span, name string, kind Kind, inputs any) *Span {
	s := &Span{trace: t, parent: parent, data: span{name: name, kind: kind, inputs: inputs, start: t.since()}}
	t.lastSpan++
	binary.BigEndian.PutUint64(s.data.id[:], t.lastSpan)
	switch {
	case parent != nil:
		s.data.parent = parent.data.id
	case t.caller.Trace == t.id:
		s.data.parent = t.caller.Span
	}
	t.spans = append(t.spans, s)
	return s
}

// abandonBelow closes what is open below a span, deepest first. It needs the lock.
func (t *live) abandonBelow(top *Span) {
	for i := len(t.spans) - 1; i >= 0; i-- {
		s := t.spans[i]
		if s == top {
			return // children come after their parent
		}
		if !s.data.closed && s.under(top) {
			s.data.closed, s.data.end = true, t.since()
			s.data.failure = &Failure{Type: "abandoned", Message: "the step did not end before the one it belongs to"}
		}
	}
}

func (s *Span) under(top *Span) bool {
	for p := s.parent; p != nil; p = p.parent {
		if p == top {
			return true
		}
	}
	return false
}

// failureType is a short name of an error that does not change with its text.
func failureType(err error) string {
	var p *panicError
	switch {
	case errors.As(err, &p):
		return "panic"
	case errors.Is(err, errCancelled):
		return "cancelled"
	case errors.Is(err, errDeadline):
		return "deadline"
	}
	return fmt.Sprintf("%T", err)
}
