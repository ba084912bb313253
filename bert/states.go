package bert

import (
	"context"
	"slices"
)

// States are what a model makes of the tokens of one text.
type States struct {
	// Tokens are the text's word pieces, control tokens left out.
	Tokens []Token
	// Vectors holds one row of Hidden numbers for each token: its state after the last
	// layer, of any length.
	Vectors []float32
}

// States returns the states of each text, in their order; texts are cut and errors given
// as by [Encoder.Encode].
func (e *Encoder) States(ctx context.Context, texts []string) ([]States, error) {
	states := make([]States, len(texts))
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
		h := e.model.config.Hidden
		states[i] = States{
			Tokens:  slices.Clone(w.tokens),
			Vectors: slices.Clone(w.x[h : (len(w.tokens)+1)*h]), // the first row is the control token's
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return states, nil
}
