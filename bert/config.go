package bert

import (
	"errors"
	"fmt"
	"math"

	"github.com/sextant-rag/sextant/bert/internal/kernel"
)

// ErrModel is wrapped by every error about model files that cannot be used: damaged, of
// another family, or of a shape this package does not run.
var ErrModel = errors.New("unusable model")

// Pooling is how the states of a text's tokens become one vector.
type Pooling string

const (
	// MeanPooling averages the states of all tokens, control tokens included.
	MeanPooling Pooling = "mean"
	// CLSPooling takes the state of the first token.
	CLSPooling Pooling = "cls"
)

// Config is the shape of a model and how it wants to be used.
type Config struct {
	Layers       int `json:"layers"`
	Hidden       int `json:"hidden"` // width of a state, and of the vector
	Heads        int `json:"heads"`
	Intermediate int `json:"intermediate"`
	Vocabulary   int `json:"vocabulary"`
	Positions    int `json:"positions"`
	Types        int `json:"types"` // segments: first and second text
	// Eps is added to variances in layer normalisation.
	Eps float32 `json:"eps"`

	// Cased models see case and accents.
	Cased bool `json:"cased"`
	// MaxTokens is how many tokens of a text count, the two control tokens included.
	MaxTokens int     `json:"max_tokens"`
	Pooling   Pooling `json:"pooling"`
	// Normalize scales vectors to length 1.
	Normalize bool `json:"normalize"`
	// QueryPrefix and DocumentPrefix are what the model was trained to see before texts of
	// either kind. The encoder does not add them: callers know which kind a text is.
	QueryPrefix    string `json:"query_prefix"`
	DocumentPrefix string `json:"document_prefix"`

	// Digest is the SHA-256 of the published weights in hexadecimal: models of one digest
	// give the same vectors, however they were stored.
	Digest string `json:"digest"`
}

// Bounds far beyond any encoder of the family; they keep arithmetic on hostile shapes small.
const (
	maxLayers    = 96
	maxWidth     = 1 << 14
	maxPositions = 1 << 14
	maxTypes     = 16
)

func (c *Config) validate() error {
	for _, f := range []struct {
		name             string
		value, low, high int
	}{
		{"layers", c.Layers, 1, maxLayers},
		{"hidden size", c.Hidden, kernel.Width, maxWidth},
		{"heads", c.Heads, 1, maxWidth},
		{"intermediate size", c.Intermediate, kernel.Width, 4 * maxWidth},
		{"vocabulary", c.Vocabulary, 4, maxVocab},
		{"positions", c.Positions, 3, maxPositions},
		{"segment types", c.Types, 1, maxTypes},
		{"token limit", c.MaxTokens, 3, c.Positions},
	} {
		if f.value < f.low || f.value > f.high {
			return fmt.Errorf("%w: %s %d is not in %d..%d", ErrModel, f.name, f.value, f.low, f.high)
		}
	}
	if c.Hidden%c.Heads != 0 || c.headWidth()%kernel.Width != 0 || c.Intermediate%kernel.Width != 0 {
		return fmt.Errorf("%w: hidden size %d in %d heads, intermediate size %d: heads and layers must be multiples of %d wide",
			ErrModel, c.Hidden, c.Heads, c.Intermediate, kernel.Width)
	}
	if c.Pooling != MeanPooling && c.Pooling != CLSPooling {
		return fmt.Errorf("%w: pooling %q is neither %q nor %q", ErrModel, c.Pooling, MeanPooling, CLSPooling)
	}
	if !(c.Eps > 0 && c.Eps < 1) || math.IsNaN(float64(c.Eps)) {
		return fmt.Errorf("%w: layer norm epsilon %v", ErrModel, c.Eps)
	}
	return nil
}

func (c *Config) headWidth() int { return c.Hidden / c.Heads }
