package bert

import (
	"fmt"
	"math"

	"github.com/sextant-rag/sextant/bert/internal/kernel"
)

// A Model is the weights of one encoder with its tokenizer. It is immutable and safe for
// concurrent use.
type Model struct {
	config    Config
	tokenizer *Tokenizer

	// Word embeddings are coded by row; positions and segment types are not.
	words      []int8
	wordScales []float32
	// starts holds, for each segment type, position plus type embeddings, row by row.
	starts    [][]float32
	embedNorm kernel.Norm
	layers    []layer
	head      *head // nil when the files have none

	positions, types []float32 // as loaded, for packing
	vocabularyText   string
}

// A layer is one transformer block: attention, then a feed-forward network, each added to
// its input and normalised after.
type layer struct {
	// qkv makes queries, keys and values of all heads, side by side; queries come divided
	// by the root of the head width.
	qkv, attended, up, down *kernel.Matrix
	attendedNorm, downNorm  kernel.Norm
}

// Config returns the model's shape and settings.
func (m *Model) Config() Config { return m.config }

// Tokenizer returns the model's tokenizer.
func (m *Model) Tokenizer() *Tokenizer { return m.tokenizer }

// matrices lists the linear layers of l with their names in packed files.
func (l *layer) matrices() []struct {
	name   string
	matrix **kernel.Matrix
} {
	return []struct {
		name   string
		matrix **kernel.Matrix
	}{{"qkv", &l.qkv}, {"attended", &l.attended}, {"up", &l.up}, {"down", &l.down}}
}

// shape returns the inputs and outputs of a linear layer.
func (c *Config) shape(name string) (k, n int) {
	switch name {
	case "qkv":
		return c.Hidden, 3 * c.Hidden
	case "attended":
		return c.Hidden, c.Hidden
	case "up":
		return c.Hidden, c.Intermediate
	case "down":
		return c.Intermediate, c.Hidden
	}
	panic("bert: no layer " + name)
}

// finish derives what is not stored.
func (m *Model) finish() error {
	c := &m.config
	if m.tokenizer.VocabularySize() > c.Vocabulary {
		return fmt.Errorf("%w: %d word pieces for %d embeddings", ErrModel, m.tokenizer.VocabularySize(), c.Vocabulary)
	}
	m.starts = make([][]float32, c.Types)
	for t := range m.starts {
		rows := make([]float32, len(m.positions))
		for i, v := range m.positions {
			rows[i] = v + m.types[t*c.Hidden+i%c.Hidden]
		}
		m.starts[t] = rows
	}
	return nil
}

// quantizeInto codes rows of weights, one for each output, as columns first, first+1, ... of
// m. Everything is multiplied by factor, biases too.
func quantizeInto(m *kernel.Matrix, first int, weights, biases []float32, factor float32) {
	for i, bias := range biases {
		row := weights[i*m.K : (i+1)*m.K]
		scale, inverse := rowScale(row)
		for k, w := range row {
			m.Codes[m.CodeIndex(k, first+i)] = code(w, inverse)
		}
		m.SetColumn(first+i, scale*factor, bias*factor)
	}
}

// rowScale returns the step of symmetric 8-bit codes for a row, and its inverse.
func rowScale(row []float32) (scale, inverse float32) {
	top := float32(0)
	for _, w := range row {
		top = max(top, max(w, -w))
	}
	if top < 1e-30 { // codes of zero, whatever the scale
		return 0, 0
	}
	return top / 127, 127 / top
}

func code(w, inverse float32) int8 { return int8(math.RoundToEven(float64(w * inverse))) }
