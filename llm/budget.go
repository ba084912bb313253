package llm

import (
	"context"
	"fmt"
	"sync"
)

// Budget is what one question may still spend on models, across all stages, loops and
// helpers that work for it. It is safe for concurrent use; a nil Budget has no limits.
type Budget struct {
	calls, tokens int64   // limits; 0 is none
	cost          float64 // US dollars; 0 is none

	mu   sync.Mutex
	used Spent
}

// Spent is what was used of a budget.
type Spent struct {
	Calls         int64
	Input, Output int64
	Cost          float64 // US dollars
}

// NewBudget limits calls, tokens (input and output together) and cost in US dollars; zeros
// are no limits.
func NewBudget(calls, tokens int64, cost float64) *Budget {
	return &Budget{calls: calls, tokens: tokens, cost: cost}
}

type budgetKey struct{}

// WithBudget makes every call below the context count against b.
func WithBudget(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

func budgetOf(ctx context.Context) *Budget {
	b, _ := ctx.Value(budgetKey{}).(*Budget)
	return b
}

// Spent returns what was used so far.
func (b *Budget) Spent() Spent {
	if b == nil {
		return Spent{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// enter takes a call out of the budget, before it is made: the number of calls is never
// passed. Tokens and cost are known only afterwards, so that the last call may pass those,
// and none begins after.
func (b *Budget) enter(m Model) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	spent := ""
	switch {
	case b.calls > 0 && b.used.Calls >= b.calls:
		spent = fmt.Sprintf("%d calls", b.calls)
	case b.tokens > 0 && b.used.Input+b.used.Output >= b.tokens:
		spent = fmt.Sprintf("%d tokens", b.tokens)
	case b.cost > 0 && b.used.Cost >= b.cost:
		spent = fmt.Sprintf("$%.4f", b.cost)
	}
	if spent != "" {
		return &Error{Kind: Exhausted, Provider: m.Provider(), Message: "the question's limit of " + spent + " is reached"}
	}
	b.used.Calls++
	return nil
}

// leave enters what a call used.
func (b *Budget) leave(u Usage, cost float64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used.Input += u.Input
	b.used.Output += u.Output
	b.used.Cost += cost
}
