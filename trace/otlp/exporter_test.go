package otlp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/otlp"
	"github.com/sextant-rag/sextant/trace/tracetest"
)

// record is the trace of a small question.
func record() *trace.Record {
	sink := &tracetest.Sink{}
	ctx, root := (&trace.Recorder{Sink: sink}).Open(context.Background(), "agentic_rag_pipeline", trace.Chain, "q")
	_, s := trace.Begin(ctx, "answer_generation", trace.LLM, nil)
	s.Use(trace.Usage{Model: "m", Provider: "p", InputTokens: 10, OutputTokens: 5})
	s.End("a", nil)
	root.Close("a", nil, trace.Summary{Status: "answered"})
	return sink.Records()[0]
}

// collector keeps what it is sent and answers as it is told.
type collector struct {
	answer  func(w http.ResponseWriter)
	header  http.Header
	request *tracepb.TracesData
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		var err error
		if body, err = gzip.NewReader(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	all, err := io.ReadAll(body)
	c.header, c.request = r.Header, &tracepb.TracesData{}
	if err != nil || proto.Unmarshal(all, c.request) != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, "no export request", http.StatusBadRequest)
		return
	}
	if c.answer != nil {
		c.answer(w)
	}
}

func environment(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestSendsToACollector(t *testing.T) {
	c := &collector{}
	server := httptest.NewServer(c)
	defer server.Close()
	s, ok, err := otlp.FromEnvironment(environment(map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL + "/", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b, x-tenant = t1", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
		"OTEL_RESOURCE_ATTRIBUTES": "service.name=ignored,deployment.environment.name=lab", "OTEL_SERVICE_NAME": "library",
	}), trace.Resource{Service: "sextant", Version: "v1"})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	e, err := otlp.New(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Send(t.Context(), &trace.Delivery{Record: record()}); err != nil {
		t.Fatal(err)
	}
	if c.header.Get("Api-Key") != "a b" || c.header.Get("X-Tenant") != "t1" || c.header.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("headers %v", c.header)
	}
	resource := c.request.ResourceSpans[0]
	if got := resource.Resource.String(); !strings.Contains(got, "library") || !strings.Contains(got, "lab") || strings.Contains(got, "ignored") {
		t.Errorf("resource %s", got)
	}
	spans := resource.ScopeSpans[0].Spans
	if len(spans) != 2 || !bytes.Equal(spans[1].ParentSpanId, spans[0].SpanId) || !strings.Contains(spans[1].String(), "gen_ai.usage.input_tokens") {
		t.Errorf("spans %v", spans)
	}
}

func TestWhatAnAnswerMeans(t *testing.T) {
	for name, c := range map[string]struct {
		status            int
		retry             string
		refused, doubtful bool
		after             time.Duration
	}{
		"bad request is the trace's fault":       {status: 400, refused: true},
		"too large is the trace's fault":         {status: 413, refused: true},
		"a wrong key is the configuration's":     {status: 401},
		"a wrong route is the configuration's":   {status: 404},
		"busy, and says until when":              {status: 429, retry: "7", after: 7 * time.Second},
		"unavailable":                            {status: 503},
		"an inner error may be anybody's":        {status: 500, doubtful: true},
		"a redirect is not followed":             {status: 302},
		"a nonsensical Retry-After is ignored":   {status: 503, retry: "soon"},
		"a Retry-After in the past is ignored":   {status: 503, retry: "Mon, 01 Jan 2001 00:00:00 GMT"},
		"an endless Retry-After is not believed": {status: 503, retry: "1e300"},
	} {
		server := httptest.NewServer(&collector{answer: func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", c.retry)
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.status)
		}})
		e, err := otlp.New(otlp.Settings{Endpoint: server.URL + "/v1/traces", Timeout: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		err = e.Send(t.Context(), &trace.Delivery{Record: record()})
		var send *trace.SendError
		if !errors.As(err, &send) || send.Refused != c.refused || send.Doubtful != c.doubtful || send.After != c.after {
			t.Errorf("%s: %+v", name, err)
		}
		server.Close()
	}
}

func TestTLSTrustsTheNamedAuthorityOnly(t *testing.T) {
	server := httptest.NewTLSServer(&collector{})
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for certificate, works := range map[string]bool{"": false, file: true} {
		e, err := otlp.New(otlp.Settings{Endpoint: server.URL + "/v1/traces", Timeout: 5 * time.Second, Certificate: certificate})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Send(t.Context(), &trace.Delivery{Record: record()}); (err == nil) != works {
			t.Errorf("with %q: %v", certificate, err)
		}
	}
	if _, err := otlp.New(otlp.Settings{Certificate: file + "x"}); err == nil {
		t.Error("a certificate that is not there was taken")
	}
}

func TestSettingsThatCannotBe(t *testing.T) {
	const secret = "s3cr3t"
	for name, pairs := range map[string]map[string]string{
		"grpc":        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
		"no url":      {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"},
		"headers":     {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_HEADERS": secret},
		"percent":     {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_HEADERS": "key=%zz" + secret},
		"timeout":     {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_TIMEOUT": "10s"},
		"compression": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_COMPRESSION": "zstd"},
	} {
		_, ok, err := otlp.FromEnvironment(environment(pairs), trace.Resource{})
		if ok || err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v %v", name, ok, err)
		}
	}
	if _, ok, err := otlp.FromEnvironment(environment(nil), trace.Resource{}); ok || err != nil {
		t.Errorf("without an endpoint: %v %v", ok, err)
	}
}
