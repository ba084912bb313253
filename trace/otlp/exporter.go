// Package otlp sends traces to any OpenTelemetry collector, as protobuf over HTTP
// (https://opentelemetry.io/docs/specs/otlp/). Settings come from the standard environment
// variables, headers and TLS included.
package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/sextant-rag/sextant/trace"
)

// Exporter sends to one collector. It is an exporter of trace.Archive.
type Exporter struct {
	settings Settings
	client   *http.Client
}

// New makes an exporter. It does not talk to the collector.
func New(s Settings) (*Exporter, error) {
	client, err := s.client()
	if err != nil {
		return nil, err
	}
	return &Exporter{settings: s, client: client}, nil
}

// Target is "otlp".
func (e *Exporter) Target() string { return "otlp" }

// Send delivers a trace. Feedback has no place in OTLP and is taken as delivered.
func (e *Exporter) Send(ctx context.Context, d *trace.Delivery) error {
	if d.Feedback != nil {
		return nil
	}
	body, err := proto.Marshal(d.Record.Message(e.settings.Resource))
	if err != nil {
		return &trace.SendError{Err: fmt.Errorf("encode: %w", err), Refused: true}
	}
	req, err := e.request(ctx, body)
	if err != nil {
		return &trace.SendError{Err: err, Refused: true}
	}
	res, err := e.client.Do(req)
	if err != nil {
		return fmt.Errorf("send to the collector: %w", err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	return e.judge(res)
}

func (e *Exporter) request(ctx context.Context, body []byte) (*http.Request, error) {
	if e.settings.Gzip {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write(body) // a buffer takes everything
		_ = w.Close()
		body = packed.Bytes()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.settings.Endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("collector: %w", err)
	}
	for key, values := range e.settings.Headers {
		req.Header[key] = values
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	if e.settings.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	return req, nil
}

// judge says what a response means. The specification names 429, 502, 503 and 504 as
// worth another try; everything else of 400 and above is the request's fault, but a wrong
// key or route is the configuration's, and then no trace may be thrown away.
func (e *Exporter) judge(res *http.Response) error {
	err := fmt.Errorf("the collector answered %s", res.Status)
	switch c := res.StatusCode; {
	case c >= 200 && c < 300:
		return nil
	case c == http.StatusBadRequest, c == http.StatusRequestEntityTooLarge, c == http.StatusUnprocessableEntity:
		return &trace.SendError{Err: err, Refused: true}
	case c == http.StatusInternalServerError:
		return &trace.SendError{Err: err, Doubtful: true}
	}
	return &trace.SendError{Err: err, After: trace.RetryAfter(res.Header)}
}
