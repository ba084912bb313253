// Package anthropic speaks to Anthropic's Messages API, and to servers that offer the same
// route, through the official SDK. Of the SDK it uses requests, headers and the decoder of
// events; its retries, its reading of the environment and its own spans are off, as package
// llm does each of these once for all providers.
//
// Events are read here and not by the SDK's accumulator: it fails for words it does not know,
// takes a stream that just ends for a whole answer, and drops what signed thinking needs to
// come back unchanged.
//
// What a model or server does not take is learnt from its refusal and remembered: an answer
// of a JSON Schema natively, by a tool that it must call, or by the prompt alone; strict
// tools; a temperature; cached prompts.
package anthropic

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/internal/wire"
)

// DefaultURL is the address of Anthropic's own API.
const DefaultURL = "https://api.anthropic.com"

// Options say which server and model.
type Options struct {
	BaseURL string // "": DefaultURL; with or without /v1 and the route
	Key     string // "" sends none, for servers that ask for none
	Model   string
	HTTP    *http.Client // nil: one of this module's own
	// Stall is how long a stream may be silent before it counts as broken; 0: 60 s.
	Stall time.Duration
}

// Model is one model of one server. It is safe for concurrent use.
type Model struct {
	options Options
	client  sdk.Client
	foreign bool // the server is not Anthropic's: it may drop a schema without a word
	lessons wire.Lessons[capabilities]
}

const route = "v1/messages"

// New makes a model. It does not talk to the server, and reads no environment.
func New(o Options) (*Model, error) {
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the model server's address is no http or https URL")
	}
	if o.Model == "" {
		return nil, errors.New("no model is named")
	}
	path := strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/messages")
	u.Path = strings.TrimSuffix(path, "/v1")
	if o.HTTP == nil {
		o.HTTP = wire.Client()
	}
	if o.Stall <= 0 {
		o.Stall = time.Minute
	}
	settings := []option.RequestOption{option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(), option.WithBaseURL(u.String()), option.WithHTTPClient(o.HTTP),
		option.WithMaxRetries(0), option.WithMiddleware(refuse), option.WithHeader("Accept", "text/event-stream, application/json")}
	if o.Key != "" {
		settings = append(settings, option.WithAPIKey(o.Key))
	}
	host := u.Hostname()
	foreign := host != "anthropic.com" && !strings.HasSuffix(host, ".anthropic.com")
	if foreign && o.Key != "" {
		settings = append(settings, option.WithHeader("X-Api-Key", o.Key)) // its older place, where such servers look
	}
	m := &Model{options: o, client: sdk.NewClient(settings...), foreign: foreign}
	m.lessons.Begin(known(o.Model, foreign))
	return m, nil
}

// Name is the model's.
func (m *Model) Name() string { return m.options.Model }

// Provider is "anthropic", whoever serves it: the protocol's name in OpenTelemetry.
func (m *Model) Provider() string { return provider }

const provider = "anthropic"

// Stream implements llm.Model.
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		res, asked, err := m.send(ctx, r)
		if err != nil {
			yield(llm.Chunk{}, wire.Ended(ctx, provider, err, false))
			return
		}
		defer res.Body.Close()
		body := wire.NewWatch(res.Body, m.options.Stall, cancel)
		defer body.Stop()
		res.Body = body
		out := &assembler{answer: asked.answer}
		for chunk, err := range out.read(res) {
			if err != nil {
				yield(llm.Chunk{}, wire.Ended(ctx, provider, err, out.started))
				return
			}
			if !yield(chunk, nil) {
				return
			}
		}
	}
}

// maxLessons bounds how often one call is sent again because of what the server taught.
const maxLessons = 6

// send posts the request, in the way the server is known to take, until it takes it.
func (m *Model) send(ctx context.Context, r llm.Request) (*http.Response, asked, error) {
	for lesson := 0; ; lesson++ {
		can := m.lessons.Now()
		asked := m.ask(r, can)
		var res *http.Response
		err := m.client.Post(ctx, route, asked.params, &res)
		if err == nil {
			return res, asked, nil
		}
		var refused *llm.Error
		if lesson < maxLessons && errors.As(err, &refused) && m.learn(can, refused, r) {
			continue
		}
		return nil, asked, err
	}
}

// refuse makes an error of an answer that is no success before the SDK does: its own error
// prints the URL, keeps the request with its key, and has no place for a body that is no
// JSON.
func refuse(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err != nil || res.StatusCode == http.StatusOK {
		return res, err
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, wire.MaxError))
	e := wire.Refusal(provider, res.StatusCode, res.Header, body)
	if kind, ok := kindOf(e); ok {
		e.Kind = kind
	}
	if e.After == 0 && e.Kind == llm.Overloaded {
		e.After = resetOf(res.Header)
	}
	return nil, e
}
