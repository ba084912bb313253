package bert

import (
	"context"
	"math"

	"github.com/sextant-rag/sextant/bert/internal/kernel"
)

// MaxSim compares the tokens of a query with those of each text and returns, for each text,
// one number for each token of the query: the largest cosine between its state and that of
// a token of the text, or -1 for a text without tokens. Sums of these are the late
// interaction of ColBERT (Khattab and Zaharia 2020, section 3.2).
//
// query is what [Encoder.States] of the same encoder gives. The states of the texts are not
// kept: a text costs what Encode costs, and little more. Texts are cut and errors given as
// by Encode.
func (e *Encoder) MaxSim(ctx context.Context, query States, texts []string) ([][]float32, error) {
	h := e.model.config.Hidden
	n := len(query.Tokens)
	panels := e.panels(query, h)
	all := make([]float32, len(texts)*n)
	err := e.each(len(texts), func(i int) int { return len(texts[i]) }, func(i int) error {
		w, err := e.acquire(ctx)
		if err != nil {
			return err
		}
		defer e.release(w)
		w.tokenize(e.model, texts[i])
		if err := e.model.forward(ctx, e.set, w); err != nil {
			return err
		}
		e.nearest(w, panels, all[i*n:(i+1)*n])
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = all[i*n : (i+1)*n : (i+1)*n]
	}
	return out, nil
}

// panels lays the query's states, each of length 1, side by side as right sides of products.
func (e *Encoder) panels(query States, h int) []float32 {
	n := roundUp(len(query.Tokens))
	rows := make([]float32, n*h)
	for i := range query.Tokens {
		row := rows[i*h : (i+1)*h]
		copy(row, query.Vectors[i*h:(i+1)*h])
		scale(row, inverseLength(row))
	}
	panels := make([]float32, n*h)
	for p := 0; p < n; p += kernel.Width {
		e.set.TransposePanel(panels[p*h:], rows[p*h:], h)
	}
	return panels
}

// inverseLength is 0 for a vector of zeros, whose cosine to anything then is 0.
func inverseLength(v []float32) float64 {
	square := 0.0
	for _, x := range v {
		square += float64(float64(x) * float64(x))
	}
	if square == 0 {
		return 0
	}
	return 1 / math.Sqrt(square)
}

// nearest writes the largest cosine of each query token to the tokens of the sequence. It
// uses the room of attention's scores.
func (e *Encoder) nearest(w *workspace, panels, best []float32) {
	h := e.model.config.Hidden
	for i := range best {
		best[i] = -1
	}
	states := w.x[h : h+len(w.tokens)*h] // between the control tokens
	for first := 0; first < len(w.tokens); first += attentionRows {
		rows := min(attentionRows, len(w.tokens)-first)
		block := states[first*h : (first+rows)*h]
		for r := range rows {
			w.sums[r] = float32(inverseLength(block[r*h : (r+1)*h]))
		}
		for p := 0; p < len(best); p += kernel.Width {
			e.set.MultiplyFloats(w.scores, kernel.Width, block, h, panels[p*h:], kernel.Width, h, rows, nil, w.sums)
			columns := best[p:min(p+kernel.Width, len(best))]
			for r := range rows {
				for c, v := range w.scores[r*kernel.Width : r*kernel.Width+len(columns)] {
					columns[c] = max(columns[c], v)
				}
			}
		}
	}
}
