// Package crossencoder reranks with a cross-encoder: a model of the BERT family that reads
// query and text as one sequence and gives one number, such as those of the ms-marco-MiniLM
// family. It runs on the engine of package bert, in this process.
package crossencoder

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/rerank"
)

// Options say what the model is called and how it runs.
type Options struct {
	bert.Options
	// Name is what Model returns; empty is the folder's own name.
	Name string
}

// A Reranker runs one cross-encoder. It is safe for concurrent use.
type Reranker struct {
	encoder *bert.Encoder
	name    string
}

var _ rerank.Reranker = (*Reranker)(nil)

// Open loads the model in a folder, as [bert.OpenFolder] reads it, once. It fails with
// [bert.ErrNoHead] where the model is an encoder without the head that scores pairs, which
// would otherwise show at the first question only.
func Open(dir string, o Options) (*Reranker, error) {
	m, err := bert.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	encoder, err := bert.NewEncoder(m, o.Options)
	if err != nil {
		return nil, err
	}
	if o.Name == "" {
		o.Name = filepath.Base(filepath.Clean(dir))
	}
	r := &Reranker{encoder, o.Name}
	if _, err := r.Score(context.Background(), "", []string{""}); err != nil {
		return nil, fmt.Errorf("open cross-encoder %s: %w", dir, err)
	}
	return r, nil
}

// Model names the weights.
func (r *Reranker) Model() string { return r.name }

// Digest is that of the model's weights: see [bert.Config].
func (r *Reranker) Digest() string { return r.encoder.Model().Config().Digest }

// Score implements [rerank.Reranker]. Scores are logits. A pair that is too long for the
// model loses the end of its longer text.
func (r *Reranker) Score(ctx context.Context, query string, texts []string) ([]float32, error) {
	pairs := make([]bert.Pair, len(texts))
	for i, text := range texts {
		pairs[i] = bert.Pair{First: query, Second: text}
	}
	scores, err := r.encoder.Score(ctx, pairs)
	if err != nil && !errors.Is(err, bert.ErrNoHead) {
		return nil, fmt.Errorf("score %d pairs: %w", len(pairs), err)
	}
	return scores, err
}
