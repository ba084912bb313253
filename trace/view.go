package trace

import (
	"encoding/json"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// View is a trace for people and programs that read it: the JSON of GET /v1/traces/{id}.
type View struct {
	TraceID    string          `json:"trace_id"`
	Began      time.Time       `json:"began"`
	DurationMS float64         `json:"duration_ms"`
	Tokens     int64           `json:"tokens"`
	CostUSD    float64         `json:"cost_usd"`
	Summary    Summary         `json:"summary"`
	Config     json.RawMessage `json:"config,omitempty"`
	Spans      []SpanView      `json:"spans"`
	Exchanges  []Exchange      `json:"exchanges,omitempty"`
}

// SpanView is one step, parents before their children.
type SpanView struct {
	SpanID     string          `json:"span_id"`
	ParentID   string          `json:"parent_id,omitempty"`
	Name       string          `json:"name"`
	Kind       Kind            `json:"kind"`
	Depth      int             `json:"depth"` // 0 for the root
	OffsetMS   float64         `json:"offset_ms"`
	DurationMS float64         `json:"duration_ms"`
	Status     string          `json:"status"` // ok or error
	Error      string          `json:"error,omitempty"`
	ErrorType  string          `json:"error_type,omitempty"`
	Inputs     json.RawMessage `json:"inputs,omitempty"`
	Outputs    json.RawMessage `json:"outputs,omitempty"`
	Attributes map[string]any  `json:"attributes,omitempty"` // string, int64, float64 or bool
}

// View makes the trace readable.
func (r *Record) View() View {
	v := View{TraceID: r.ID.String(), Began: r.Began.UTC(), DurationMS: milliseconds(r.Duration), Tokens: r.Tokens, CostUSD: r.Cost, Summary: r.Summary, Config: r.Config, Exchanges: r.Exchanges,
		Spans: make([]SpanView, len(r.Spans))}
	depth := map[SpanID]int{}
	for i, s := range r.Spans {
		v.Spans[i] = viewSpan(s, r.Spans[0].StartTimeUnixNano)
		if above, ok := depth[spanID(s.ParentSpanId)]; ok && i > 0 {
			v.Spans[i].Depth = above + 1
		}
		depth[spanID(s.SpanId)] = v.Spans[i].Depth
	}
	return v
}

func viewSpan(s *tracepb.Span, began uint64) SpanView {
	v := SpanView{SpanID: spanID(s.SpanId).String(), Name: s.Name, Status: "ok",
		OffsetMS: float64(int64(s.StartTimeUnixNano-began)) / 1e6, DurationMS: float64(int64(s.EndTimeUnixNano-s.StartTimeUnixNano)) / 1e6}
	if len(s.ParentSpanId) > 0 {
		v.ParentID = spanID(s.ParentSpanId).String()
	}
	if s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR {
		v.Status, v.Error = "error", s.Status.Message
	}
	for _, a := range s.Attributes {
		switch a.Key {
		case KeyKind:
			v.Kind = Kind(a.Value.GetStringValue())
		case KeyInput:
			v.Inputs = json.RawMessage(a.Value.GetStringValue())
		case KeyOutput:
			v.Outputs = json.RawMessage(a.Value.GetStringValue())
		case KeyErrorType:
			v.ErrorType = a.Value.GetStringValue()
		default:
			if v.Attributes == nil {
				v.Attributes = map[string]any{}
			}
			v.Attributes[a.Key] = plain(a.Value)
		}
	}
	return v
}

// plain is the Go value of an attribute.
func plain(v *commonpb.AnyValue) any {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_IntValue:
		return v.IntValue
	case *commonpb.AnyValue_DoubleValue:
		return v.DoubleValue
	case *commonpb.AnyValue_BoolValue:
		return v.BoolValue
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// spanID is the zero id for anything that has not its length, as stored bytes may.
func spanID(b []byte) (id SpanID) {
	if len(b) == len(id) {
		id = SpanID(b)
	}
	return id
}
