// Package openai embeds texts with a server that speaks OpenAI's embeddings API: OpenAI and
// Azure, vLLM, Text Embeddings Inference, Ollama, llama-server, Infinity, gateways.
//
// They agree on the route and little else. What differs is met here: numbers or base64,
// answers out of order, no empty texts, limits on texts and batches that only an error
// tells, vectors of any length.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/internal/endpoint"
)

// DefaultURL is OpenAI's own service.
const DefaultURL = "https://api.openai.com/v1"

// ErrDimension is wrapped by errors about vectors of another length than was said or seen.
var ErrDimension = errors.New("vectors of another dimension")

// Options say which server and model, and how to ask. Only Model is needed.
type Options struct {
	// BaseURL is where the API is, with its version: "http://localhost:8080/v1".
	BaseURL string
	// Key is sent as a bearer token.
	Key   string
	Model string
	// Revision tells apart weights that the server gives one name; it goes into the
	// fingerprint.
	Revision string
	// Dim is the length vectors must have; 0 takes the length of the first.
	Dim int
	// Reduce asks the server for vectors of length Dim, as models of the Matryoshka kind give.
	Reduce bool
	// Prefixes stand before texts to be found and before queries.
	DocumentPrefix, QueryPrefix string
	// Batch is how many texts go into a request, BatchBytes how much text; Parallel how many
	// requests run at once. Zero values are 64, 256 kB and 4.
	Batch, BatchBytes, Parallel int
	// Endpoint is how to bear with the server; its Service, URL and Key are set here.
	Endpoint endpoint.Options
}

// An Embedder asks one server. It is safe for concurrent use.
type Embedder struct {
	options     Options
	client      *endpoint.Client
	fingerprint embed.Fingerprint
	// floats is set once the server has refused base64.
	floats atomic.Bool
}

var _ embed.Embedder = (*Embedder)(nil)

// Open returns an embedder. Without Options.Dim it asks the server for one vector to learn
// the dimension, and fails if that fails; with it, nothing is sent yet.
//
// Errors wrap [endpoint.ErrUnavailable], [endpoint.ErrUnauthorized], [endpoint.ErrRequest],
// [endpoint.ErrResponse] or [ErrDimension].
func Open(ctx context.Context, o Options) (*Embedder, error) {
	if o.Model == "" {
		return nil, fmt.Errorf("open embeddings: %w: no model is named", endpoint.ErrRequest)
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	o.Batch, o.BatchBytes, o.Parallel = orDefault(o.Batch, 64), orDefault(o.BatchBytes, 256<<10), orDefault(o.Parallel, 4)
	o.Endpoint.Service, o.Endpoint.URL, o.Endpoint.Key = "the embeddings server", endpoint.Join(o.BaseURL, "/embeddings"), o.Key
	client, err := endpoint.New(o.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("open embeddings: %w", err)
	}
	e := &Embedder{options: o, client: client}
	dim := o.Dim
	if dim == 0 {
		v, err := e.ask(ctx, []string{"dimension"})
		if err != nil {
			return nil, fmt.Errorf("open embeddings: %w", err)
		}
		dim = len(v[0])
	}
	e.fingerprint = embed.Fingerprint{Model: o.Model, Revision: o.Revision, Dim: dim, QueryPrefix: o.QueryPrefix, DocumentPrefix: o.DocumentPrefix, Normalized: true}
	return e, nil
}

func orDefault(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

// Dim returns the length of a vector.
func (e *Embedder) Dim() int { return e.fingerprint.Dim }

// Fingerprint names the model as the server does. Which weights stand behind the name, only
// the server knows; Options.Revision can say it.
func (e *Embedder) Fingerprint() embed.Fingerprint { return e.fingerprint }

// EmbedQuery returns the vector of a text to search with.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := e.embed(ctx, []string{e.options.QueryPrefix + text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// Embed returns one vector of length 1 for each text. A text longer than the server takes
// is cut in halves until it fits; one without a character is embedded as a full stop, since
// servers refuse it.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	prefixed := make([]string, len(texts))
	for i, text := range texts {
		prefixed[i] = e.options.DocumentPrefix + text
	}
	return e.embed(ctx, prefixed)
}

func (e *Embedder) embed(ctx context.Context, texts []string) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	for i, text := range texts {
		texts[i] = endpoint.Acceptable(text, maxText)
	}
	vectors := make([][]float32, len(texts))
	err := e.parallel(ctx, e.batches(texts), func(ctx context.Context, b batch) error {
		return e.fill(ctx, texts[b.first:b.end], vectors[b.first:b.end])
	})
	if err != nil {
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	return vectors, nil
}

// maxText bounds a text before any server sees it; no encoder reads as much.
const maxText = 128 << 10

// A batch is the range of texts of one request.
type batch struct{ first, end int }

func (e *Embedder) batches(texts []string) (out []batch) {
	bytes := 0
	for i, text := range texts {
		last := len(out) - 1
		if last < 0 || out[last].end-out[last].first >= e.options.Batch || bytes+len(text) > e.options.BatchBytes {
			out, bytes = append(out, batch{i, i}), 0
			last++
		}
		out[last].end = i + 1
		bytes += len(text)
	}
	return out
}

// parallel runs the batches, some at a time, and ends the others when one fails.
func (e *Embedder) parallel(ctx context.Context, batches []batch, run func(context.Context, batch) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan batch)
	var wg sync.WaitGroup
	for range min(e.options.Parallel, len(batches)) {
		wg.Go(func() {
			for b := range next {
				if err := run(ctx, b); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, b := range batches {
		if ctx.Err() != nil {
			break
		}
		next <- b
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// least is the length under which a text that is still too long is no longer the trouble.
const least = 64

// fill asks for the vectors of a batch. What is too much for the server goes in halves: the
// batch first, then a text alone. A text is cut the same way in any batch, so that its
// vector depends on it alone.
func (e *Embedder) fill(ctx context.Context, texts []string, vectors [][]float32) error {
	got, err := e.ask(ctx, texts)
	switch {
	case err == nil:
		copy(vectors, got)
		return nil
	case !errors.Is(err, endpoint.ErrTooLong):
		return err
	case len(texts) > 1:
		half := len(texts) / 2
		if err := e.fill(ctx, texts[:half], vectors[:half]); err != nil {
			return err
		}
		return e.fill(ctx, texts[half:], vectors[half:])
	case len(texts[0]) < least:
		return err
	}
	return e.fill(ctx, []string{endpoint.Acceptable(endpoint.Cut(texts[0], len(texts[0])/2), maxText)}, vectors)
}

// ask makes one request.
func (e *Embedder) ask(ctx context.Context, texts []string) ([][]float32, error) {
	in := request{Model: e.options.Model, Input: texts, Encoding: "base64"}
	if e.options.Reduce {
		in.Dimensions = e.options.Dim
	}
	if e.floats.Load() {
		in.Encoding = "float"
	}
	var out response
	err := e.client.Post(ctx, in, &out)
	var refused *endpoint.Error
	if errors.As(err, &refused) && errors.Is(err, endpoint.ErrRequest) && refused.Status != http.StatusNotFound && !e.floats.Swap(true) {
		// Most that cannot write base64 ignore the wish; those that refuse it get another.
		in.Encoding = "float"
		err = e.client.Post(ctx, in, &out)
		if err != nil {
			e.floats.Store(false)
		}
	}
	if err != nil {
		return nil, err
	}
	return out.vectors(len(texts), max(e.fingerprint.Dim, e.options.Dim))
}
