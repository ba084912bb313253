package trace

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Names of attributes. Those of generative models are OpenTelemetry's semantic conventions
// 1.37 (https://opentelemetry.io/docs/specs/semconv/gen-ai/); kind, input and output have
// none there yet and are OpenInference's, which viewers of traces know.
const (
	KeyKind         = "openinference.span.kind"
	KeyInput        = "input.value"
	KeyOutput       = "output.value"
	KeyOperation    = "gen_ai.operation.name"
	KeyProvider     = "gen_ai.provider.name"
	KeyModel        = "gen_ai.request.model"
	KeyAnswered     = "gen_ai.response.model"
	KeyFinish       = "gen_ai.response.finish_reasons"
	KeyInputTokens  = "gen_ai.usage.input_tokens"
	KeyOutputTokens = "gen_ai.usage.output_tokens"
	KeyCacheRead    = "gen_ai.usage.cache_read.input_tokens"
	KeyCacheWritten = "gen_ai.usage.cache_creation.input_tokens"
	KeyInputCost    = "sextant.cost.input_usd"
	KeyOutputCost   = "sextant.cost.output_usd"
	KeyErrorType    = "error.type"
	KeySession      = "session.id"
	KeyUser         = "user.id"
	KeyStatus       = "sextant.status"
	KeyUnreadable   = "sextant.unreadable"
)

// Finished is a trace that has ended, still as the values it was recorded with. Record
// turns it into what is stored and sent.
type Finished struct {
	ID      ID
	Began   time.Time
	Summary Summary

	spans     []span
	config    json.RawMessage
	scrub     *Scrubber
	exchanges []exchange
	bare      bool          // content is left out
	flushed   chan struct{} // a barrier of Archive.Flush instead of a trace
}

// Record is a finished trace as it is stored, shown and sent.
type Record struct {
	ID        ID
	Began     time.Time
	Duration  time.Duration
	Summary   Summary
	Tokens    int64
	Cost      float64 // US dollars
	Config    json.RawMessage
	Exchanges []Exchange
	Spans     []*tracepb.Span // parents before children; the first is the root
}

// Record encodes the trace. What cannot be turned into JSON is named in the span's
// attributes instead: a trace with a hole that says so beats none.
func (f *Finished) Record() *Record {
	r := &Record{ID: f.ID, Began: f.Began, Summary: f.Summary, Config: f.config, Spans: make([]*tracepb.Span, len(f.spans))}
	if f.bare {
		r.Summary.Question, r.Summary.Request, r.Summary.Params = "", nil, nil
	} else {
		r.Exchanges = f.kept()
	}
	f.scrubSummary(r)
	for i, s := range f.spans {
		r.Spans[i] = f.encode(s)
		if s.usage != nil {
			r.Tokens += s.usage.Total()
			r.Cost += s.usage.Cost()
		}
	}
	r.Duration = f.spans[0].end - f.spans[0].start
	root := r.Spans[0]
	root.Attributes = append(root.Attributes, text(KeyStatus, f.Summary.Status))
	for _, pair := range [][2]string{{KeySession, f.Summary.Session}, {KeyUser, f.Summary.User}} {
		if pair[1] != "" {
			root.Attributes = append(root.Attributes, text(pair[0], pair[1]))
		}
	}
	return r
}

// scrubSummary takes secrets out of what is kept beside the spans.
func (f *Finished) scrubSummary(r *Record) {
	s := &r.Summary
	s.Question = f.scrub.Text(s.Question)
	s.Request = f.scrubJSON(s.Request)
	s.Params = maps.Clone(s.Params)
	for key, value := range s.Params {
		s.Params[key] = f.scrub.Text(value)
	}
	s.Assessments = slices.Clone(s.Assessments)
	for i := range s.Assessments {
		a := &s.Assessments[i]
		if text, ok := a.Value.(string); ok {
			a.Value = f.scrub.Text(text)
		}
		a.Rationale = f.scrub.Text(a.Rationale)
	}
}

// kept encodes the exchanges, without secrets. One that cannot be turned into JSON is left out:
// a replay says then that it is missing.
func (f *Finished) kept() []Exchange {
	var out []Exchange
	for _, x := range f.exchanges {
		request, err1 := json.Marshal(x.request)
		response, err2 := json.Marshal(x.response)
		if err1 == nil && err2 == nil {
			out = append(out, Exchange{Span: x.span.String(), Request: f.scrubJSON(request), Response: f.scrubJSON(response)})
		}
	}
	return out
}

func (f *Finished) scrubJSON(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	return json.RawMessage(f.scrub.Text(string(raw)))
}

func (f *Finished) encode(s span) *tracepb.Span {
	out := &tracepb.Span{
		TraceId: f.ID[:], SpanId: s.id[:], Name: clean(s.name), Kind: tracepb.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: f.at(s.start), EndTimeUnixNano: f.at(s.end),
		Status:     &tracepb.Status{Code: tracepb.Status_STATUS_CODE_OK},
		Attributes: make([]*commonpb.KeyValue, 0, 4+len(s.attributes)),
	}
	if !s.parent.IsZero() {
		out.ParentSpanId = s.parent[:]
	}
	out.Attributes = append(out.Attributes, text(KeyKind, string(s.kind)))
	if !f.bare {
		out.Attributes = f.appendJSON(out.Attributes, KeyInput, s.inputs)
		out.Attributes = f.appendJSON(out.Attributes, KeyOutput, s.outputs)
	}
	for _, a := range s.attributes {
		v := a.Value
		if t, ok := v.(string); ok {
			v = f.scrub.Text(t)
		}
		out.Attributes = append(out.Attributes, &commonpb.KeyValue{Key: a.Key, Value: value(v)})
	}
	out.Attributes = appendUsage(out.Attributes, s.kind, s.usage)
	if s.failure != nil {
		f.fail(out, s)
	}
	return out
}

// fail records a failure as the semantic conventions for exceptions ask: a status, the
// error's type, and an event with the message, without which viewers show no text.
func (f *Finished) fail(out *tracepb.Span, s span) {
	message := f.scrub.Text(clean(s.failure.Message))
	if f.bare {
		message = s.failure.Type
	}
	out.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: message}
	out.Attributes = append(out.Attributes, text(KeyErrorType, s.failure.Type))
	event := &tracepb.Span_Event{Name: "exception", TimeUnixNano: f.at(s.end),
		Attributes: []*commonpb.KeyValue{text("exception.type", s.failure.Type), text("exception.message", message)}}
	out.Events = append(out.Events, event)
}

func (f *Finished) at(offset time.Duration) uint64 {
	if at := f.Began.Add(offset).UnixNano(); at > 0 {
		return uint64(at)
	}
	return 0 // a clock before 1970 must not wrap to the year 2554
}

func appendUsage(attributes []*commonpb.KeyValue, kind Kind, u *Usage) []*commonpb.KeyValue {
	if u == nil {
		return attributes
	}
	operation := "chat"
	if kind == Embedding {
		operation = "embeddings"
	}
	attributes = append(attributes, text(KeyOperation, operation), text(KeyProvider, u.Provider), text(KeyModel, u.Model), whole(KeyInputTokens, u.InputTokens), whole(KeyOutputTokens, u.OutputTokens),
		&commonpb.KeyValue{Key: KeyInputCost, Value: value(u.InputCost)}, &commonpb.KeyValue{Key: KeyOutputCost, Value: value(u.OutputCost)})
	for _, n := range []struct {
		key string
		n   int64
	}{{KeyCacheRead, u.CacheRead}, {KeyCacheWritten, u.CacheWritten}} {
		if n.n != 0 {
			attributes = append(attributes, whole(n.key, n.n))
		}
	}
	for _, pair := range [][2]string{{KeyFinish, u.FinishReason}, {KeyAnswered, u.ResponseModel}} {
		if pair[1] != "" {
			attributes = append(attributes, text(pair[0], pair[1]))
		}
	}
	return attributes
}

func (f *Finished) appendJSON(attributes []*commonpb.KeyValue, key string, v any) []*commonpb.KeyValue {
	if v == nil {
		return attributes
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		return append(attributes, text(KeyUnreadable, key+": "+err.Error()))
	}
	return append(attributes, text(key, f.scrub.Text(string(encoded))))
}

func text(key, s string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: clean(s)}}}
}

func whole(key string, n int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: value(n)}
}

func value(v any) *commonpb.AnyValue {
	switch v := v.(type) {
	case string:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: clean(v)}}
	case int64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: v}}
	case int:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: int64(v)}}
	case float64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: v}}
	case bool:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: v}}
	}
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: clean(fmt.Sprint(v))}}
}

// clean makes text that protobuf takes: one invalid byte makes a server refuse the whole
// request.
func clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// Resource describes the process that a trace comes from.
type Resource struct {
	Service    string // service.name
	Version    string // service.version
	Attributes []Attribute
}

// Message is the trace as an OTLP message, wire-compatible with the export request of
// OpenTelemetry's collectors: encoded messages may be concatenated to make a batch.
func (r *Record) Message(from Resource) *tracepb.TracesData {
	resource := &resourcepb.Resource{Attributes: []*commonpb.KeyValue{text("service.name", from.Service), text("service.version", from.Version)}}
	for _, a := range from.Attributes {
		resource.Attributes = append(resource.Attributes, &commonpb.KeyValue{Key: a.Key, Value: value(a.Value)})
	}
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{Resource: resource,
		ScopeSpans: []*tracepb.ScopeSpans{{Scope: &commonpb.InstrumentationScope{Name: "sextant", Version: from.Version}, Spans: r.Spans}}}}}
}

// encodeSpans and decodeSpans are the stored form: the spans alone, as one scope.
func encodeSpans(spans []*tracepb.Span) ([]byte, error) {
	b, err := proto.Marshal(&tracepb.ScopeSpans{Spans: spans})
	if err != nil {
		return nil, fmt.Errorf("encode spans: %w", err)
	}
	return b, nil
}

func decodeSpans(b []byte) ([]*tracepb.Span, error) {
	var scope tracepb.ScopeSpans
	if err := proto.Unmarshal(b, &scope); err != nil {
		return nil, fmt.Errorf("decode spans: %w", err)
	}
	return scope.Spans, nil
}
