// Package maxsim reranks with the token states of the encoder that retrieval has anyway:
// each word piece of the query looks for its like in the text, and the score is the mean of
// what they find, rare pieces counting more. It needs no further model.
//
// The form is the late interaction of ColBERT (Khattab and Zaharia 2020) on a model that was
// not trained for it, so it is a modest help: see docs/benchmarks.md.
package maxsim

import (
	"context"
	"fmt"
	"math"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/embed/local"
	"github.com/sextant-rag/sextant/rerank"
)

// Weight is what the score of this package counts beside retrieval's; see [rerank.Mix].
// TestWeightDoesNoHarm says how it was chosen and holds it.
const Weight = 0.2

// A Reranker compares token states. It is safe for concurrent use.
type Reranker struct{ embedder *local.Embedder }

var _ rerank.Reranker = Reranker{}

// New returns a reranker that runs the embedder's model.
func New(e *local.Embedder) Reranker { return Reranker{e} }

// Model names the method and the weights.
func (r Reranker) Model() string { return "maxsim(" + r.embedder.Fingerprint().Model + ")" }

// Score implements [rerank.Reranker]: a mean of cosines, -1 to 1. It encodes the texts, so
// twenty passages of 200 words take about 0.2 s on two cores.
func (r Reranker) Score(ctx context.Context, query string, texts []string) ([]float32, error) {
	encoder, err := r.embedder.Encoder()
	if err != nil {
		return nil, fmt.Errorf("load encoder: %w", err)
	}
	states, err := encoder.States(ctx, []string{query})
	if err != nil {
		return nil, fmt.Errorf("encode the query: %w", err)
	}
	nearest, err := encoder.MaxSim(ctx, states[0], texts)
	if err != nil {
		return nil, fmt.Errorf("encode %d texts: %w", len(texts), err)
	}
	weights := pieceWeights(states[0].Tokens)
	scores := make([]float32, len(texts))
	for i, cosines := range nearest {
		scores[i] = weightedMean(cosines, weights)
	}
	return scores, nil
}

// firstWord is the id of "the" in the vocabulary of BERT's uncased models, which lists whole
// words from there on by falling frequency; before it come control tokens and single
// characters.
const firstWord = 1996

// pieceWeights stand for the pieces' inverse document frequencies, which by Zipf's law grow
// with the logarithm of the rank; the vocabulary is sorted by it. So no collection needs to
// be counted. A vocabulary in another order gets weights that mean nothing but are near each
// other.
func pieceWeights(tokens []bert.Token) []float64 {
	out := make([]float64, len(tokens))
	for i, t := range tokens {
		out[i] = math.Log(2 + max(0, float64(t.ID-firstWord)))
	}
	return out
}

func weightedMean(x []float32, weights []float64) float32 {
	sum, total := 0.0, 0.0
	for i, v := range x {
		sum += float64(float64(v) * weights[i])
		total += weights[i]
	}
	if total == 0 { // a query without a token
		return 0
	}
	return float32(sum / total)
}
