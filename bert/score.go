package bert

import (
	"context"
	"errors"
	"math"
	"slices"
)

// ErrNoHead is returned by [Encoder.Score] of a model that was not trained to score pairs.
var ErrNoHead = errors.New("the model has no head that scores pairs")

// A head turns the state of the first token into one number: a dense layer with tanh, then
// a weighted sum. It is too small to be worth coding in 8 bits.
type head struct {
	dense, denseBias []float32 // [hidden][hidden], [hidden]
	weights          []float32
	bias             float32
}

func (h *head) score(state []float32) float32 {
	sum := float64(h.bias)
	for i, weight := range h.weights {
		inner := float64(h.denseBias[i])
		for j, w := range h.dense[i*len(state) : (i+1)*len(state)] {
			inner += float64(float64(w) * float64(state[j]))
		}
		sum += float64(float64(weight) * math.Tanh(inner))
	}
	return float32(sum)
}

// readHead reads a head if the file has one.
func (w *published) readHead(m *Model) {
	const classifier = "classifier.weight" // beside the encoder, so without its prefix
	if !w.file.has(classifier) || !w.file.has(w.prefix+"pooler.dense.weight") {
		return
	}
	n := m.config.Hidden
	m.head = &head{
		dense: w.floats("pooler.dense.weight", n, n), denseBias: w.floats("pooler.dense.bias", n),
		weights: w.reader.floats(classifier, 1, n),
	}
	if bias := w.reader.floats("classifier.bias", 1); w.err == nil {
		m.head.bias = bias[0]
	}
}

// A Pair is two texts to be read together, such as a query and a passage.
type Pair struct{ First, Second string }

// Score returns the output of the model's head for each pair, in their order: a logit, of
// which only the order means something without the training's calibration. A pair longer
// than MaxTokens loses the end of its longer text. It fails with [ErrNoHead] when the model
// has none, and else as [Encoder.Encode] does.
func (e *Encoder) Score(ctx context.Context, pairs []Pair) ([]float32, error) {
	if e.model.head == nil || e.model.config.Types < 2 {
		return nil, ErrNoHead
	}
	scores := make([]float32, len(pairs))
	size := func(i int) int { return len(pairs[i].First) + len(pairs[i].Second) }
	err := e.each(len(pairs), size, func(i int) error {
		w, err := e.acquire(ctx)
		if err != nil {
			return err
		}
		defer e.release(w)
		w.tokenizePair(e.model, pairs[i])
		if err := e.model.forward(ctx, e.set, w); err != nil {
			return err
		}
		scores[i] = e.model.head.score(w.x[:e.model.config.Hidden])
		return nil
	})
	if err != nil {
		return nil, err
	}
	return scores, nil
}

// tokenizePair sets the sequence to both texts, each ended by a control token; the second is
// of segment type 1.
func (w *workspace) tokenizePair(m *Model, p Pair) {
	v := m.tokenizer.vocab
	room := m.config.MaxTokens - 3
	w.tokens = m.tokenizer.Append(w.tokens[:0], p.First, room)
	first := len(w.tokens)
	w.tokens = m.tokenizer.Append(w.tokens, p.Second, room)
	a, b := truncatePair(first, len(w.tokens)-first, room)
	w.ids = append(w.ids[:0], v.begin)
	for _, t := range w.tokens[:a] {
		w.ids = append(w.ids, t.ID)
	}
	w.ids = append(w.ids, v.end)
	for _, t := range w.tokens[first : first+b] {
		w.ids = append(w.ids, t.ID)
	}
	w.ids = append(w.ids, v.end)
	w.types = slices.Grow(w.types[:0], len(w.ids))[:len(w.ids)]
	clear(w.types)
	for i := a + 2; i < len(w.types); i++ {
		w.types[i] = 1
	}
}

// truncatePair shortens the longer of two lengths, then both, until they fit into room: the
// "longest first" of the reference tokenizer. With an odd token left over, the longer text,
// or the second of equals, has it.
func truncatePair(a, b, room int) (int, int) {
	if a+b <= room {
		return a, b
	}
	half := room / 2
	switch {
	case a > b && b <= half:
		return room - b, b
	case a > b:
		return room - half, half
	case a <= half:
		return a, room - a
	}
	return half, room - half
}
