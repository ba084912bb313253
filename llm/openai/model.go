// Package openai speaks to any server of OpenAI's chat completions API: OpenAI itself,
// vLLM, Ollama, llama.cpp, LM Studio and gateways before them. Such servers differ in
// dozens of ways, nearly all of them silent, so that the client takes what comes rather
// than what is documented: each tolerance is a case of stream_test.go or request_test.go.
//
// What a model cannot do is learnt from the server's refusal and remembered: whether it
// takes a schema natively, JSON without one, or only a prompt that asks for it; how the
// limit of tokens is called; whether a temperature may be set.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/internal/wire"
)

// Options say which server and model.
type Options struct {
	BaseURL string // "https://api.openai.com/v1"; the route is added unless it is there
	Key     string // bearer token; "" sends none
	Model   string
	HTTP    *http.Client // nil: one of this package's own
	// Stall is how long a stream may be silent before it counts as broken; 0: 60 s.
	Stall time.Duration
}

// Model is one model of one server. It is safe for concurrent use.
type Model struct {
	options Options
	url     string
	lessons wire.Lessons[capabilities]
}

// New makes a model. It does not talk to the server.
func New(o Options) (*Model, error) {
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the model server's address is no http or https URL")
	}
	if o.Model == "" {
		return nil, errors.New("no model is named")
	}
	if !strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), route) {
		u = u.JoinPath(route)
	}
	if o.HTTP == nil {
		o.HTTP = wire.Client()
	}
	if o.Stall <= 0 {
		o.Stall = time.Minute
	}
	return &Model{options: o, url: u.String()}, nil
}

const route = "/chat/completions"

// Name is the model's.
func (m *Model) Name() string { return m.options.Model }

// Provider is "openai", whoever serves it: the protocol's name in OpenTelemetry.
func (m *Model) Provider() string { return "openai" }

// maxLessons bounds how often one call is sent again because of what the server taught.
const maxLessons = 6

// Stream implements llm.Model.
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		res, err := m.send(ctx, r)
		if err != nil {
			yield(llm.Chunk{}, wire.Ended(ctx, m.Provider(), err, false))
			return
		}
		defer res.Body.Close()
		body := wire.NewWatch(res.Body, m.options.Stall, cancel)
		defer body.Stop()
		out := &assembler{}
		for piece, err := range m.read(res, body, out) {
			if err != nil {
				yield(llm.Chunk{}, wire.Ended(ctx, m.Provider(), err, out.started))
				return
			}
			if !yield(piece, nil) {
				return
			}
		}
	}
}

// send posts the request, in the way the server is known to take, until it takes it.
func (m *Model) send(ctx context.Context, r llm.Request) (*http.Response, error) {
	for lesson := 0; ; lesson++ {
		can := m.lessons.Now()
		res, err := m.post(ctx, r, can)
		if err != nil {
			return nil, err
		}
		if res.StatusCode == http.StatusOK {
			return res, nil
		}
		body, _ := io.ReadAll(io.LimitReader(res.Body, wire.MaxError))
		res.Body.Close()
		failure := wire.Refusal(m.Provider(), res.StatusCode, res.Header, body)
		if lesson < maxLessons && m.learn(can, failure, r) {
			continue
		}
		return nil, failure
	}
}

func (m *Model) post(ctx context.Context, r llm.Request, can capabilities) (*http.Response, error) {
	body, err := json.Marshal(m.body(r, can))
	if err != nil {
		return nil, &llm.Error{Kind: llm.Invalid, Provider: m.Provider(), Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return nil, &llm.Error{Kind: llm.Invalid, Provider: m.Provider(), Err: wire.Bare(err)}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	if m.options.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.options.Key)
	}
	return m.options.HTTP.Do(req)
}
