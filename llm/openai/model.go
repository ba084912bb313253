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
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/sextant-rag/sextant/llm"
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

	mu  sync.Mutex
	can capabilities
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
		o.HTTP = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
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
			yield(llm.Chunk{}, m.ended(ctx, err, false))
			return
		}
		defer res.Body.Close()
		body := &watched{ReadCloser: res.Body, cancel: cancel, limit: m.options.Stall}
		defer body.stop()
		out := &assembler{}
		for piece, err := range m.read(res, body, out) {
			if err != nil {
				yield(llm.Chunk{}, m.ended(ctx, err, out.started))
				return
			}
			if !yield(piece, nil) {
				return
			}
		}
	}
}

// ended makes one kind of error of all that can end a call.
func (m *Model) ended(ctx context.Context, err error, started bool) error {
	var known *llm.Error
	switch {
	case errors.Is(context.Cause(ctx), errStalled):
		known = &llm.Error{Kind: llm.Late, Provider: m.Provider(), Message: "the stream went silent"}
	case ctx.Err() != nil && !errors.Is(err, errStalled):
		return ctx.Err()
	case errors.As(err, &known):
	default:
		known = &llm.Error{Kind: llm.Unreachable, Provider: m.Provider(), Err: bare(err)}
	}
	known.Started = started
	return known
}

// bare leaves the URL out of an error: it may hold a password.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// send posts the request, in the way the server is known to take, until it takes it.
func (m *Model) send(ctx context.Context, r llm.Request) (*http.Response, error) {
	for lesson := 0; ; lesson++ {
		can := m.capabilities()
		res, err := m.post(ctx, r, can)
		if err != nil {
			return nil, err
		}
		if res.StatusCode == http.StatusOK {
			return res, nil
		}
		body, _ := io.ReadAll(io.LimitReader(res.Body, maxError))
		res.Body.Close()
		failure := m.refusal(res, body)
		if lesson < maxLessons && m.learn(can, failure, r) {
			continue
		}
		return nil, failure
	}
}

const maxError = 64 << 10

func (m *Model) post(ctx context.Context, r llm.Request, can capabilities) (*http.Response, error) {
	body, err := json.Marshal(m.wire(r, can))
	if err != nil {
		return nil, &llm.Error{Kind: llm.Invalid, Provider: m.Provider(), Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return nil, &llm.Error{Kind: llm.Invalid, Provider: m.Provider(), Err: bare(err)}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	if m.options.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.options.Key)
	}
	return m.options.HTTP.Do(req)
}

var errStalled = errors.New("the stream went silent")

// watched ends a call whose body is silent for too long.
type watched struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
	limit  time.Duration
	timer  *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	if w.timer == nil {
		w.timer = time.AfterFunc(w.limit, func() { w.cancel(errStalled) })
	} else {
		w.timer.Reset(w.limit)
	}
	n, err := w.ReadCloser.Read(p)
	w.timer.Stop()
	return n, err
}

func (w *watched) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// refusal reads an error answer in any of the shapes that servers use.
func (m *Model) refusal(res *http.Response, body []byte) *llm.Error {
	e := parseError(body)
	e.Provider, e.Status, e.After = m.Provider(), res.StatusCode, retryAfter(res.Header)
	if e.Kind == "" {
		e.Kind = kindOf(res.StatusCode)
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("status %d", res.StatusCode)
	}
	return e
}
