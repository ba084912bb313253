package llm

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Budget is what one question may still spend on models, across all stages, loops and
// helpers that work for it. It is safe for concurrent use; a nil Budget has no limits.
type Budget struct {
	calls, tokens int64   // limits; 0 is none
	cost          float64 // US dollars; 0 is none

	mu       sync.Mutex
	until    time.Time // zero: no limit
	used     Spent
	held     Spent // by calls that run
	unbilled int64 // tokens, as estimated, of answers whose provider named no figure
}

// Spent is what was used of a budget, by the providers' own figures.
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

// Until ends the budget at a moment: a call that runs then is broken off, and none begins
// after it. Whoever works for the question has the time that is left to do without models.
func (b *Budget) Until(t time.Time) { b.mu.Lock(); defer b.mu.Unlock(); b.until = t }

// deadline is when the budget ends, and whether it does.
func (b *Budget) deadline() (time.Time, bool) {
	if b == nil {
		return time.Time{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until, !b.until.IsZero()
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

// What a call is reckoned at by Tight: with its repetitions, and more tokens than a small
// model's calls take.
const (
	reckonedCalls  = 3
	reckonedTokens = 4000
)

// Tight reports whether so many calls more could reach a limit of the context's budget.
// Calls side by side then have to be made one after the other: which of them the limit ends
// would be chance otherwise, and a question asked again would go another way.
func Tight(ctx context.Context, calls int) bool {
	b := budgetOf(ctx)
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n := int64(calls)
	return b.cost > 0 || b.calls > 0 && b.calls-b.used.Calls < reckonedCalls*n || b.tokens > 0 && b.tokens-b.used.Input-b.used.Output-b.unbilled < reckonedTokens*n
}

// claim is what one call may cost at most, taken out of the budget while it runs.
type claim struct {
	input int64 // tokens, estimated
	most  Spent
}

const (
	// bytesPerToken is what the input of a call is estimated by, before a provider has
	// counted it: less than nearly all text has, so that the estimate is too high.
	bytesPerToken = 3
	// leastAnswer is the limit of tokens, left by the budget, under which no whole answer
	// can be hoped for: the call would be paid for nothing.
	leastAnswer = 64
)

// enter takes a call out of the budget before it is made, at the most that it can cost: its
// input as estimated and its limit of tokens, which is lowered to what is left. A call that
// does not fit is not made. So the number of calls is never passed, and tokens and cost are
// passed by no more than an input's estimate is too low.
func (b *Budget) enter(m Model, r Request, p Price) (Request, claim, error) {
	c := claim{input: estimate(r)}
	if b == nil {
		return r, c, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	most := int64(r.MaxTokens)
	if most == 0 {
		most = 1 << 20
	}
	limited := false
	if b.tokens > 0 {
		left := b.tokens - b.used.Input - b.used.Output - b.unbilled - b.held.Input - b.held.Output - c.input
		limited, most = left < most, min(most, left)
	}
	inputCost, _ := p.Cost(Usage{Input: c.input})
	if b.cost > 0 && p.Output > 0 {
		left := int64((b.cost - b.used.Cost - b.held.Cost - inputCost) / p.Output * 1e6)
		limited, most = limited || left < most, min(most, left)
	}
	spent := ""
	switch {
	case b.calls > 0 && b.used.Calls >= b.calls:
		spent = fmt.Sprintf("%d calls", b.calls)
	case !b.until.IsZero() && !time.Now().Before(b.until):
		spent = "time"
	case b.cost > 0 && b.used.Cost+b.held.Cost+inputCost >= b.cost:
		spent = fmt.Sprintf("$%.4f", b.cost)
	case limited && most < leastAnswer && (r.MaxTokens == 0 || most < int64(r.MaxTokens)):
		spent = fmt.Sprintf("%d tokens", b.tokens)
		if b.tokens == 0 {
			spent = fmt.Sprintf("$%.4f", b.cost)
		}
	}
	if spent != "" {
		return r, c, &Error{Kind: Exhausted, Provider: m.Provider(), Message: "the question's limit of " + spent + " is reached"}
	}
	if limited {
		r.MaxTokens = int(most)
	}
	_, outputCost := p.Cost(Usage{Output: int64(r.MaxTokens)})
	c.most = Spent{Input: c.input, Output: int64(r.MaxTokens), Cost: inputCost + outputCost}
	b.used.Calls++
	b.held.Input, b.held.Output, b.held.Cost = b.held.Input+c.most.Input, b.held.Output+c.most.Output, b.held.Cost+c.most.Cost
	return r, c, nil
}

// leave gives back what a call held and enters what it used. A provider that counts nothing
// has its input estimated, so that the limit of tokens ends a loop before it as well; what
// was spent stays the provider's own figures.
func (b *Budget) leave(c claim, u Usage, cost float64, answered bool) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held.Input, b.held.Output, b.held.Cost = b.held.Input-c.most.Input, b.held.Output-c.most.Output, b.held.Cost-c.most.Cost
	b.used.Input += u.Input
	b.used.Output += u.Output
	b.used.Cost += cost
	if answered && !u.Known {
		b.unbilled += c.input
	}
}

// forget gives back a call that was not made.
func (b *Budget) forget(c claim) {
	if b == nil {
		return
	}
	b.leave(c, Usage{}, 0, false)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used.Calls--
}

// estimate is how many tokens a request's input has at most, or nearly.
func estimate(r Request) int64 {
	n := len(r.System)
	for _, m := range r.Messages {
		n += len(m.Text)
		for _, c := range m.Calls {
			n += len(c.Input)
		}
		for _, result := range m.Results {
			n += len(result.Text)
		}
	}
	if r.Output != nil {
		n += len(r.Output.JSON)
	}
	for _, t := range r.Tools {
		n += len(t.Description) + len(t.Input)
	}
	return int64(n)/bytesPerToken + 1
}
