package mlflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/sextant-rag/sextant/trace"
)

// What MLflow's page draws within a moment: with a thousand spans it is slow, with two
// thousand it is blank.
const (
	maxSpans = 400
	maxValue = 128 << 10 // bytes of one attribute
)

// traceID is the id the trace has on the server, known before anything is sent. Questions
// within one trace of a caller share an id here and must not there: the server keeps the
// first root of a trace for ever.
func traceID(r *trace.Record) [16]byte {
	root := r.Spans[0]
	if len(root.ParentSpanId) == 0 {
		return r.ID
	}
	sum := sha256.Sum256(append(append([]byte{}, r.ID[:]...), root.SpanId...))
	return [16]byte(sum[:16])
}

// TraceID is the name of the trace on the server: "tr-" and 32 hexadecimal digits.
func TraceID(r *trace.Record) string {
	id := traceID(r)
	return "tr-" + hex.EncodeToString(id[:])
}

// spans turns a record into what MLflow's page shows as it shows its own clients' traces.
func spans(r *trace.Record, from trace.Resource) *tracepb.TracesData {
	id := traceID(r)
	kept := r.Spans[:min(len(r.Spans), maxSpans)]
	out := &trace.Record{Spans: make([]*tracepb.Span, len(kept))}
	for i, s := range kept {
		t := &tracepb.Span{TraceId: id[:], SpanId: s.SpanId, ParentSpanId: s.ParentSpanId, Name: s.Name, Kind: s.Kind, Status: s.Status, Events: s.Events,
			StartTimeUnixNano: max(1, s.StartTimeUnixNano), EndTimeUnixNano: max(1, s.EndTimeUnixNano), Attributes: attributes(s)}
		if i == 0 {
			t.ParentSpanId = nil // a caller's span is on some other server, if on any
			t.Attributes = append(t.Attributes, rootAttributes(r)...)
		}
		out.Spans[i] = t
	}
	return out.Message(from)
}

func encode(m *tracepb.TracesData) ([]byte, error) { return proto.Marshal(m) }

func rootAttributes(r *trace.Record) []*commonpb.KeyValue {
	out := []*commonpb.KeyValue{
		text("mlflow.traceTag.mlflow.traceName", r.Spans[0].Name), // over OTLP a trace has no name without it
		text("mlflow.traceTag.status", r.Summary.Status),
	}
	if n := len(r.Spans) - maxSpans; n > 0 {
		out = append(out, text("mlflow.traceTag.spans_left_out", strconv.Itoa(n)), text("sextant.left_out", fmt.Sprintf("%d further spans stand in the artifact trace.json", n)))
	}
	if r.Spans[0].ParentSpanId != nil {
		out = append(out, text("mlflow.traceTag.caller_trace", r.ID.String()))
	}
	return out
}

// attributes gives the generic names of a span MLflow's own, and leaves the rest as it is.
// The type is plain text: quoted, its column would hold the quotes.
func attributes(s *tracepb.Span) []*commonpb.KeyValue {
	get := map[string]*commonpb.AnyValue{}
	out := make([]*commonpb.KeyValue, 0, len(s.Attributes)+4)
	root := false
	for _, a := range s.Attributes {
		get[a.Key] = a.Value
		root = root || a.Key == trace.KeyStatus
	}
	kind := get[trace.KeyKind].GetStringValue()
	for _, a := range s.Attributes {
		switch a.Key {
		case trace.KeyKind:
			out = append(out, text("mlflow.spanType", kind))
		case trace.KeyInput:
			out = append(out, text("mlflow.spanInputs", shorten(inputs(a.Value.GetStringValue(), root))))
		case trace.KeyOutput:
			out = append(out, text("mlflow.spanOutputs", shorten(outputs(a.Value.GetStringValue(), kind, root))))
		case trace.KeySession, trace.KeyUser:
			out = append(out, text(a.Key, clip(a.Value.GetStringValue(), maxSession))) // longer, the server loses the batch
		default:
			out = append(out, a)
		}
	}
	if _, ok := get[trace.KeyInputTokens]; ok {
		out = append(out, usage(get)...)
	}
	return out
}

// usage always carries a cost: without one, the server asks the internet for prices while
// the request waits.
func usage(get map[string]*commonpb.AnyValue) []*commonpb.KeyValue {
	in, out := get[trace.KeyInputTokens].GetIntValue(), get[trace.KeyOutputTokens].GetIntValue()
	inCost, outCost := get[trace.KeyInputCost].GetDoubleValue(), get[trace.KeyOutputCost].GetDoubleValue()
	return []*commonpb.KeyValue{
		object("mlflow.chat.tokenUsage", struct {
			Input        int64 `json:"input_tokens"`
			Output       int64 `json:"output_tokens"`
			Total        int64 `json:"total_tokens"`
			CacheRead    int64 `json:"cache_read_input_tokens,omitempty"`
			CacheWritten int64 `json:"cache_creation_input_tokens,omitempty"`
		}{in, out, in + out, get[trace.KeyCacheRead].GetIntValue(), get[trace.KeyCacheWritten].GetIntValue()}),
		object("mlflow.llm.cost", struct {
			Input  float64 `json:"input_cost"`
			Output float64 `json:"output_cost"`
			Total  float64 `json:"total_cost"`
		}{inCost, outCost, inCost + outCost}),
		text("mlflow.llm.model", get[trace.KeyModel].GetStringValue()),
		text("mlflow.llm.provider", get[trace.KeyProvider].GetStringValue()),
	}
}

// message is one turn of a conversation, which the page draws as a bubble and takes the
// previews from.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// inputs of the root show the question as a person's message; its settings stand beside.
func inputs(encoded string, root bool) string {
	if !root {
		return encoded
	}
	var request map[string]json.RawMessage
	var question string
	if json.Unmarshal([]byte(encoded), &request) != nil || json.Unmarshal(request["question"], &question) != nil {
		return encoded
	}
	delete(request, "question")
	return marshal(struct {
		Messages []message                  `json:"messages"`
		Settings map[string]json.RawMessage `json:"settings,omitempty"`
	}{[]message{{"user", question}}, request})
}

// outputs of the root show the answer as a message, those of a retriever its documents.
func outputs(encoded, kind string, root bool) string {
	switch {
	case root:
		return answerMessage(encoded)
	case kind == string(trace.Retriever) || kind == string(trace.Reranker):
		return documents(encoded)
	}
	return encoded
}

// answerMessage reads what is said from an answer. The whole answer is the artifact
// answer.json.
func answerMessage(encoded string) string {
	var answer struct {
		Status     string `json:"status"`
		Summary    string `json:"summary"`
		Confidence string `json:"confidence"`
		Findings   []struct {
			Text   string `json:"text"`
			Quotes []struct {
				DocumentID string `json:"document_id"`
				Locator    string `json:"locator"`
			} `json:"quotes"`
		} `json:"findings"`
	}
	if json.Unmarshal([]byte(encoded), &answer) != nil || answer.Status == "" {
		return encoded
	}
	var b strings.Builder
	b.WriteString(answer.Summary)
	for _, f := range answer.Findings {
		b.WriteString("\n\n- " + f.Text)
		for _, q := range f.Quotes {
			b.WriteString(" [" + strings.TrimSpace(q.DocumentID+" "+q.Locator) + "]")
		}
	}
	return marshal(struct {
		Messages   []message `json:"messages"`
		Status     string    `json:"status"`
		Confidence string    `json:"confidence"`
	}{[]message{{"assistant", b.String()}}, answer.Status, answer.Confidence})
}

// document is what the page draws as one retrieved document. The order of the keys is the
// order of its chips.
type document struct {
	ID       string   `json:"id"`
	Content  string   `json:"page_content"`
	Metadata metadata `json:"metadata"`
}

type metadata struct {
	URI    string          `json:"doc_uri"`
	Score  float64         `json:"score"`
	Chunk  string          `json:"chunk_id"`
	Source string          `json:"source"`
	Why    json.RawMessage `json:"reasons,omitempty"`
}

// documents turns a list of passages, or an object with one, into documents. Anything
// else stays what it is.
func documents(encoded string) string {
	type passage struct {
		Chunk    string          `json:"chunk_id"`
		Document string          `json:"document_id"`
		Source   string          `json:"source"`
		Content  *string         `json:"content"`
		Score    float64         `json:"score"`
		Reasons  json.RawMessage `json:"reasons"`
	}
	list := []byte(encoded)
	var object map[string]json.RawMessage
	if json.Unmarshal(list, &object) == nil {
		list = object["passages"]
	}
	var passages []passage
	if json.Unmarshal(list, &passages) != nil || len(passages) == 0 {
		return encoded
	}
	out := make([]document, len(passages))
	for i, p := range passages {
		if p.Content == nil {
			return encoded
		}
		out[i] = document{p.Chunk, *p.Content, metadata{p.Source + "/" + p.Document, p.Score, p.Chunk, p.Source, p.Reasons}}
	}
	if object == nil {
		return marshal(out)
	}
	object["results"] = json.RawMessage(marshal(out))
	delete(object, "passages")
	return marshal(object)
}

// shorten replaces a value that is too long to draw by one that says so and shows its
// beginning. The artifact holds it whole.
func shorten(encoded string) string {
	if len(encoded) <= maxValue {
		return encoded
	}
	return marshal(struct {
		LeftOut   string `json:"left_out"`
		Beginning string `json:"beginning"`
	}{fmt.Sprintf("%d bytes; the artifact trace.json holds them all", len(encoded)), strings.ToValidUTF8(encoded[:8<<10], "")})
}

// marshal encodes what always can be; its HTML stays readable.
func marshal(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return strconv.Quote("cannot be encoded: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func text(key, s string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}}
}

func object(key string, v any) *commonpb.KeyValue { return text(key, marshal(v)) }
