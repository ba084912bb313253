// Package remote reranks with a server that has a route /rerank. Several kinds are in use,
// which agree on the idea and not on the form; see [Format].
package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sextant-rag/sextant/internal/endpoint"
	"github.com/sextant-rag/sextant/rerank"
)

// Format is what a server wants to be asked in. Answers are read in every form, whatever
// the format.
type Format string

const (
	// Auto asks as Documents, and from then on as Texts if the server wants that.
	Auto Format = ""
	// Documents is {"model", "query", "documents"}: Cohere (v1 and v2), Jina, Voyage, vLLM,
	// Infinity, llama-server, OpenVINO Model Server and LiteLLM.
	Documents Format = "documents"
	// Texts is {"query", "texts"}, with no model, since the server has one: Text Embeddings
	// Inference.
	Texts Format = "texts"
)

// Options say which server and model, and how to ask.
type Options struct {
	// URL is the route, or the base it lies under: "https://api.jina.ai/v1".
	URL string
	// Key is sent as a bearer token.
	Key string
	// Name is the model; servers with one model need none.
	Name   string
	Format Format
	// Batch is how many texts go into a request, 32 by default: Text Embeddings Inference
	// takes no more unless told to.
	Batch int
	// Endpoint is how to bear with the server; its Service, URL and Key are set here.
	Endpoint endpoint.Options
}

// A Reranker asks one server. It is safe for concurrent use.
type Reranker struct {
	options Options
	client  *endpoint.Client
	texts   atomic.Bool // ask as Texts
}

var _ rerank.Reranker = (*Reranker)(nil)

// Open returns a reranker. It sends nothing yet; it fails with [endpoint.ErrRequest] where
// the options cannot be used.
func Open(o Options) (*Reranker, error) {
	if !slices.Contains([]Format{Auto, Documents, Texts}, o.Format) {
		return nil, fmt.Errorf("open reranker: %w: the format %q is none of %q and %q", endpoint.ErrRequest, o.Format, Documents, Texts)
	}
	if o.Batch <= 0 {
		o.Batch = 32
	}
	o.Endpoint.Service, o.Endpoint.URL, o.Endpoint.Key = "the rerank server", endpoint.Join(o.URL, "/rerank"), o.Key
	client, err := endpoint.New(o.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("open reranker: %w", err)
	}
	r := &Reranker{options: o, client: client}
	r.texts.Store(o.Format == Texts)
	return r, nil
}

// Model is the configured name, or a word for a server that has one model.
func (r *Reranker) Model() string {
	if r.options.Name == "" {
		return "rerank server"
	}
	return r.options.Name
}

// Score implements [rerank.Reranker]. Texts too long for the server are cut by it, or, where
// it refuses them, in halves until it takes them. Errors are a [*endpoint.Error], wrap
// [endpoint.ErrResponse], or wrap ctx's.
func (r *Reranker) Score(ctx context.Context, query string, texts []string) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("rerank: %w", err)
	}
	query = endpoint.Acceptable(query, maxText)
	scores := make([]float32, len(texts))
	for first := 0; first < len(texts); first += r.options.Batch {
		end := min(first+r.options.Batch, len(texts))
		batch := make([]string, 0, r.options.Batch)
		for _, text := range texts[first:end] {
			batch = append(batch, endpoint.Acceptable(text, maxText))
		}
		if err := r.fill(ctx, query, batch, scores[first:end]); err != nil {
			return nil, fmt.Errorf("rerank: %w", err)
		}
	}
	return scores, nil
}

// maxText bounds a text before any server sees it; no reranker reads as much.
const maxText = 64 << 10

// least is the length under which a text that is still too long is not the trouble.
const least = 64

// fill asks for the scores of a batch, what is too much for the server in halves: the batch
// first, then the longer of query and text.
func (r *Reranker) fill(ctx context.Context, query string, texts []string, scores []float32) error {
	got, err := r.ask(ctx, query, texts)
	switch {
	case err == nil:
		copy(scores, got)
		return nil
	case !errors.Is(err, endpoint.ErrTooLong):
		return err
	case len(texts) > 1:
		half := len(texts) / 2
		if err := r.fill(ctx, query, texts[:half], scores[:half]); err != nil {
			return err
		}
		return r.fill(ctx, query, texts[half:], scores[half:])
	case len(query) > len(texts[0]) && len(query) > least:
		return r.fill(ctx, endpoint.Acceptable(endpoint.Cut(query, len(query)/2), maxText), texts, scores)
	case len(texts[0]) > least:
		return r.fill(ctx, query, []string{endpoint.Acceptable(endpoint.Cut(texts[0], len(texts[0])/2), maxText)}, scores)
	}
	return err
}

// ask makes one request, or, while the server's format is not known, two.
func (r *Reranker) ask(ctx context.Context, query string, texts []string) ([]float32, error) {
	var out response
	err := r.client.Post(ctx, r.request(query, texts), &out)
	var refused *endpoint.Error
	if r.options.Format == Auto && !r.texts.Load() && errors.As(err, &refused) && wantsTexts(refused) {
		r.texts.Store(true)
		out = response{}
		err = r.client.Post(ctx, r.request(query, texts), &out)
	}
	if err != nil {
		return nil, err
	}
	return out.scores(len(texts))
}

// wantsTexts reads it from the refusal: "missing field `texts`".
func wantsTexts(e *endpoint.Error) bool {
	return (e.Status == http.StatusUnprocessableEntity || e.Status == http.StatusBadRequest) && strings.Contains(e.Message, "texts")
}

func (r *Reranker) request(query string, texts []string) any {
	if r.texts.Load() {
		return textsRequest{Query: query, Texts: texts, RawScores: true, Truncate: true}
	}
	return documentsRequest{Model: r.options.Name, Query: query, Documents: texts}
}
