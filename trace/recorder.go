package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"
)

var (
	errCancelled = context.Canceled
	errDeadline  = context.DeadlineExceeded
)

// Sink takes finished traces. It is called on the question's goroutine and must return at
// once.
type Sink interface {
	Keep(f *Finished)
}

// Recorder opens traces. The zero Recorder has no sink and records nothing; so does a nil
// one. It is safe for concurrent use.
type Recorder struct {
	Sink Sink
	// Now is the wall clock of a trace's beginning; nil: time.Now. Everything after is
	// measured on the monotonic clock of the value it returns.
	Now func() time.Time
	// WithoutContent leaves inputs, outputs and the question's text out: only names, times,
	// numbers and statuses are kept. Such a trace cannot be replayed.
	WithoutContent bool
	// Scrub takes secrets out of everything that is kept; nil only knows their forms.
	Scrub *Scrubber
	// Config is the effective configuration, secrets by name only, kept with each trace.
	Config json.RawMessage
}

// live is a trace that is still being written.
type live struct {
	id       ID
	caller   Parent
	began    time.Time
	mu       sync.Mutex
	spans    []*Span
	lastSpan uint64
	failed   []error
	kept     []exchange
}

func (t *live) since() time.Duration { return time.Since(t.began) }

// exchange is an Exchange that is not encoded yet.
type exchange struct {
	span              SpanID
	request, response any
}

// Exchange is one call of a model as it went over the wire, kept so that the question can
// be answered again without the provider.
type Exchange struct {
	Span     string          `json:"span"` // id of the model's span
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response"`
}

// Root is the span of a whole question.
type Root struct {
	*Span
	recorder *Recorder
	handed   bool // to the sink; guarded by the trace's lock
}

// Summary is what a finished trace is found by, and what is needed to answer again.
type Summary struct {
	Question    string            `json:"question"`
	Status      string            `json:"status"` // of the answer, or "error"
	Intent      string            `json:"intent,omitempty"`
	Strategy    string            `json:"strategy,omitempty"`
	Collections []string          `json:"collections,omitempty"`
	Session     string            `json:"session,omitempty"`
	User        string            `json:"user,omitempty"`
	Sequences   map[string]uint64 `json:"sequences,omitempty"` // of the store's collections, when the question was read
	Request     json.RawMessage   `json:"request,omitempty"`   // the question with all its settings
	// What experiment trackers show beside a run: names and values of the blueprint.
	Params      map[string]string  `json:"params,omitempty"`
	Metrics     map[string]float64 `json:"metrics,omitempty"`
	Assessments []Assessment       `json:"assessments,omitempty"`
}

// Assessment is the engine's own judgement of its answer. Value is a number, a bool or a
// string.
type Assessment struct {
	Name      string `json:"name"`
	Value     any    `json:"value"`
	Rationale string `json:"rationale,omitempty"`
}

type contextKey struct{}

// Open begins a trace. A caller's traceparent that was put into the context with
// WithParent gives it its id. Without a sink the returned root is nil, and so is every
// span below it.
func (r *Recorder) Open(ctx context.Context, name string, kind Kind, inputs any) (context.Context, *Root) {
	if r == nil || r.Sink == nil {
		return ctx, nil
	}
	now := r.Now
	if now == nil {
		now = time.Now
	}
	t := &live{began: now(), spans: make([]*Span, 0, 16)}
	if p, ok := ctx.Value(parentKey{}).(Parent); ok {
		t.id, t.caller = p.Trace, p
	} else {
		t.id = NewID()
	}
	t.lastSpan = rand.Uint64() >> 1 // never counts up to zero; random, as questions may share a caller's trace
	t.mu.Lock()
	root := t.newSpan(nil, name, kind, inputs)
	t.mu.Unlock()
	return context.WithValue(ctx, contextKey{}, root), &Root{Span: root, recorder: r}
}

type parentKey struct{}

// WithParent makes a trace that is opened under the context part of a caller's.
func WithParent(ctx context.Context, p Parent) context.Context {
	return context.WithValue(ctx, parentKey{}, p)
}

// Close ends the trace and hands it to the sink, whatever happened before. A second call
// does nothing.
func (r *Root) Close(outputs any, err error, s Summary) {
	if r == nil {
		return
	}
	t := r.Span.trace
	t.mu.Lock()
	if r.handed {
		t.mu.Unlock()
		return
	}
	r.handed = true
	t.abandonBelow(r.Span)
	r.Span.close(outputs, err)
	f := &Finished{ID: t.id, Began: t.began, Summary: s, config: r.recorder.Config, scrub: r.recorder.Scrub, spans: make([]span, len(t.spans)), exchanges: t.kept, bare: r.recorder.WithoutContent}
	for i, sp := range t.spans {
		f.spans[i] = sp.data
	}
	t.mu.Unlock()
	r.recorder.Sink.Keep(f)
}

// TraceID is the trace's id; the zero id of a nil root.
func (r *Root) TraceID() ID {
	if r == nil {
		return ID{}
	}
	return r.Span.trace.id
}

// Begin opens a span below the one in the context.
func Begin(ctx context.Context, name string, kind Kind, inputs any) (context.Context, *Span) {
	parent, ok := ctx.Value(contextKey{}).(*Span)
	if !ok {
		return ctx, nil
	}
	t := parent.trace
	t.mu.Lock()
	defer t.mu.Unlock()
	if parent.data.closed {
		return ctx, nil // late work of a step that was given up belongs to no trace
	}
	s := t.newSpan(parent, name, kind, inputs)
	return context.WithValue(ctx, contextKey{}, s), s
}

// Stage runs work inside a span: the result becomes its outputs, an error or a panic its
// failure. A panic goes on.
func Stage[T any](ctx context.Context, name string, kind Kind, inputs any, work func(context.Context) (T, error)) (T, error) {
	ctx, s := Begin(ctx, name, kind, inputs)
	if s == nil {
		return work(ctx)
	}
	defer func() {
		if p := recover(); p != nil {
			s.Panicked(p)
			panic(p)
		}
	}()
	out, err := work(ctx)
	s.End(out, err)
	return out, err
}

type panicError struct{ text string }

func (e *panicError) Error() string { return e.text }

// Panicked closes the span with a recovered panic and the stack it came from.
func (s *Span) Panicked(p any) {
	if s == nil {
		return
	}
	s.Set(Attribute{"exception.stacktrace", string(debug.Stack())})
	s.End(nil, &panicError{fmt.Sprint(p)})
}

// Current returns the span of the context, nil without one.
func Current(ctx context.Context) *Span {
	s, _ := ctx.Value(contextKey{}).(*Span)
	return s
}

// ContextID returns the trace that a context belongs to; ok is false outside of one.
func ContextID(ctx context.Context) (id ID, ok bool) {
	s := Current(ctx)
	if s == nil {
		return id, false
	}
	return s.trace.id, true
}

// KeepExchange keeps a model's exchange with the trace of the context. The span of the call is of.
// Request and response must not change afterwards: they are turned into JSON later, beside the
// question, as what spans show is.
func KeepExchange(ctx context.Context, of *Span, request, response any) {
	s := Current(ctx)
	if s == nil {
		return
	}
	x := exchange{of.ID(), request, response}
	s.trace.mu.Lock()
	defer s.trace.mu.Unlock()
	s.trace.kept = append(s.trace.kept, x)
}
