// Package local embeds texts in this process, with a model of package bert: by default
// all-MiniLM-L6-v2, whose weights are in the binary, or any encoder of the BERT family from
// a folder. It needs no network and no other process.
//
// Built with the tag nomodel, a binary carries no weights; New then returns ErrNoWeights.
package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/embed"
)

// EmbeddedModel names the weights in the binary.
const EmbeddedModel = "all-MiniLM-L6-v2"

// ErrNoWeights is returned by New in a binary built without weights.
var ErrNoWeights = errors.New("this binary was built without an encoder (tag nomodel)")

// Options are how an embedder runs, and what the model's files may fail to say.
type Options struct {
	bert.Options
	// Name is what the fingerprint calls the model; empty is the folder's own name. The
	// weights that are in the binary too are always called EmbeddedModel.
	Name string
	// Prefixes replaces what the model's files say stands before texts.
	Prefixes *Prefixes
}

// Prefixes stand before every text of either kind.
type Prefixes struct{ Query, Document string }

// An Embedder runs one model. It loads the embedded weights when it first needs them.
type Embedder struct {
	config      bert.Config
	fingerprint embed.Fingerprint
	load        func() (*bert.Encoder, error)
}

var _ embed.Embedder = (*Embedder)(nil)

// New returns an embedder with the weights in the binary. It costs next to nothing until
// the first text comes, which then takes some 10 ms longer.
func New(o bert.Options) (*Embedder, error) {
	if weights == "" {
		return nil, ErrNoWeights
	}
	config, err := bert.ReadConfig(weights)
	if err != nil {
		return nil, err
	}
	e := newEmbedder(config, EmbeddedModel)
	e.load = sync.OnceValues(func() (*bert.Encoder, error) {
		m, err := bert.Open(weights)
		if err != nil {
			return nil, err
		}
		return bert.NewEncoder(m, o)
	})
	return e, nil
}

// Open returns an embedder with the model in a folder, as [bert.OpenFolder] reads it. It
// loads at once, so that a wrong folder shows at once.
func Open(dir string, o Options) (*Embedder, error) {
	m, err := bert.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	encoder, err := bert.NewEncoder(m, o.Options)
	if err != nil {
		return nil, err
	}
	config := m.Config()
	if o.Prefixes != nil {
		config.QueryPrefix, config.DocumentPrefix = o.Prefixes.Query, o.Prefixes.Document
	}
	name := o.Name
	if name == "" {
		name = filepath.Base(filepath.Clean(dir))
	}
	if weights != "" {
		if embedded, err := bert.ReadConfig(weights); err == nil && embedded.Digest == config.Digest {
			name = EmbeddedModel
		}
	}
	e := newEmbedder(config, name)
	e.load = func() (*bert.Encoder, error) { return encoder, nil }
	return e, nil
}

func newEmbedder(c bert.Config, name string) *Embedder {
	return &Embedder{config: c, fingerprint: embed.Fingerprint{
		Model: name, Revision: c.Digest[:min(12, len(c.Digest))], Dim: c.Hidden, Pooling: string(c.Pooling),
		QueryPrefix: c.QueryPrefix, DocumentPrefix: c.DocumentPrefix, Normalized: c.Normalize, MaxTokens: c.MaxTokens,
	}}
}

// Embed returns one vector for each text. Long texts start first; all workers of the
// embedder take part.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return e.encode(ctx, e.config.DocumentPrefix, texts)
}

// EmbedQuery returns the vector of a text to search with. It runs on one core: splitting so
// little work costs more than it saves.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := e.encode(ctx, e.config.QueryPrefix, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

func (e *Embedder) encode(ctx context.Context, prefix string, texts []string) ([][]float32, error) {
	encoder, err := e.load()
	if err != nil {
		return nil, fmt.Errorf("load encoder %s: %w", e.fingerprint.Model, err)
	}
	if prefix != "" {
		prefixed := make([]string, len(texts))
		for i, text := range texts {
			prefixed[i] = prefix + text
		}
		texts = prefixed
	}
	vectors, err := encoder.Encode(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	return vectors, nil
}

// Dim returns the length of a vector.
func (e *Embedder) Dim() int { return e.config.Hidden }

// Fingerprint names the model by the digest of its published weights, so that the same
// weights from a folder and from the binary are the same.
func (e *Embedder) Fingerprint() embed.Fingerprint { return e.fingerprint }

// Encoder returns the running encoder, for those who need more than vectors: tokens to size
// chunks by, states of tokens to compare.
func (e *Embedder) Encoder() (*bert.Encoder, error) { return e.load() }
