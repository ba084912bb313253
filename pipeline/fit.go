package pipeline

import (
	"errors"
	"fmt"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
)

// room is how much a model is given and may write. It starts with everything and is halved
// while that does not fit: how long a model's context is, and how its tokens are counted,
// nobody but its server knows, so that the server's refusal, which costs nothing, is asked
// rather than a table.
type room struct {
	passages int // whole ones, best first
	tokens   int // of the answer
}

// Bounds under which nothing is halved any more.
const (
	leastPassages = 1
	leastTokens   = 512
)

// fit makes a call with as much room as the model has. Passages are left out whole, the last
// ones first, and that is said.
func fit[T any](a *asking, stage string, all room, call func(room) (T, error)) (T, error) {
	for given := all; ; {
		out, err := call(given)
		if !tooLong(err) || given.passages <= leastPassages && given.tokens <= leastTokens {
			if err == nil && given.passages < all.passages {
				a.degrade(sextant.Degradation{Stage: stage, Reason: fmt.Sprintf("The evidence did not fit the language model: it was given the first %d of %d passages.", given.passages, all.passages)})
			}
			return out, err
		}
		given.passages = max(leastPassages, given.passages/2)
		given.tokens = max(min(leastTokens, given.tokens), given.tokens/2)
	}
}

func tooLong(err error) bool {
	var known *llm.Error
	return errors.As(err, &known) && known.Kind == llm.TooLong
}
