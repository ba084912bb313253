package llm

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/sextant-rag/sextant/trace"
)

// Policy is how calls to one model are made.
type Policy struct {
	Attempts int           // of one call, the first included; 0: 3
	Timeout  time.Duration // of one attempt; 0: 60 s
	First    time.Duration // pause before the second attempt, doubled for each more; 0: 500 ms
	Longest  time.Duration // pause that is still waited for when a provider asks for it; 0: 20 s
	Breaker  *Breaker      // shared by all that call the same provider; nil: none
	Fallback Model         // answers when this one cannot; nil: none. It is tried once.
	Price    Price
}

// Price is what a model costs, in US dollars for a million tokens; zero when nobody said.
type Price struct {
	Input, Output, CacheRead, CacheWritten float64
}

// Cost is the price of what was used, for input and output.
func (p Price) Cost(u Usage) (input, output float64) {
	fresh := u.Input - u.CacheRead - u.CacheWritten
	return (float64(fresh)*p.Input + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWritten)*p.CacheWritten) / 1e6, float64(u.Output) * p.Output / 1e6
}

// Caller makes calls to a model under a policy: one loop of retries for all providers,
// whose SDKs have theirs switched off. Every attempt is a span and counts against the
// budget in the context.
type Caller struct {
	model  Model
	policy Policy
	sleep  func(ctx context.Context, d time.Duration) error
}

// NewCaller wraps a model.
func NewCaller(m Model, p Policy) *Caller {
	if p.Attempts <= 0 {
		p.Attempts = 3
	}
	if p.Timeout <= 0 {
		p.Timeout = time.Minute
	}
	if p.First <= 0 {
		p.First = 500 * time.Millisecond
	}
	if p.Longest <= 0 {
		p.Longest = 20 * time.Second
	}
	return &Caller{model: m, policy: p, sleep: sleep}
}

// Over is the caller's way of calling another model, in no time: with as many attempts and at
// the same price, without pauses, breaker and fallback. It is for a model that gives recorded
// answers.
func (c *Caller) Over(m Model) *Caller {
	p := c.policy
	p.Breaker, p.Fallback = nil, nil
	return &Caller{model: m, policy: p, sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

// Name is the model's.
func (c *Caller) Name() string { return c.model.Name() }

// Complete calls until an answer is whole, the error is one that will not pass, or attempts,
// budget or ctx end. An answer that ended at its limit of tokens is an error of kind
// Truncated, a refusal one of kind Declined: neither is an answer.
func (c *Caller) Complete(ctx context.Context, r Request) (Response, error) {
	var last error
	for attempt := range c.policy.Attempts {
		if attempt > 0 {
			if err := c.pause(ctx, attempt, last); err != nil {
				return Response{}, last
			}
		}
		out, err := c.attempt(ctx, c.model, r)
		if err == nil {
			return out, nil
		}
		last = err
		var known *Error
		if !errors.As(err, &known) || !known.Kind.Retryable() || ctx.Err() != nil {
			break
		}
		if known.Kind == Truncated && known.Code == string(Length) {
			break // the same request would be cut again
		}
	}
	if c.policy.Fallback != nil && fallsBack(last) && ctx.Err() == nil {
		return c.attempt(ctx, c.policy.Fallback, r)
	}
	return Response{}, last
}

// fallsBack reports whether another model may answer where this one failed. A request
// that is at fault, or a budget that is spent, is so for every model.
func fallsBack(err error) bool {
	var known *Error
	return errors.As(err, &known) && known.Kind != Invalid && known.Kind != Exhausted
}

// pause waits before another attempt: as long as the provider asks for, else twice as
// long each time, with jitter so that those who failed together do not come back so. It
// fails when the wait would outlast ctx or what is reasonable.
func (c *Caller) pause(ctx context.Context, attempt int, last error) error {
	wait := c.policy.First << (attempt - 1)
	wait = wait/2 + rand.N(wait/2+1)
	var known *Error
	if errors.As(last, &known) && known.After > 0 {
		wait = known.After
	}
	if deadline, ok := ctx.Deadline(); wait > c.policy.Longest || ok && time.Until(deadline) <= wait {
		return last
	}
	if until, ok := budgetOf(ctx).deadline(); ok && time.Until(until) <= wait {
		return last
	}
	return c.sleep(ctx, wait)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// attempt is one call: within budget and breaker, as a span.
func (c *Caller) attempt(ctx context.Context, m Model, r Request) (out Response, err error) {
	budget := budgetOf(ctx)
	r, claimed, err := budget.enter(m, r, c.policy.Price)
	if err != nil {
		return Response{}, err
	}
	if err := c.policy.Breaker.allow(m); err != nil {
		budget.forget(claimed)
		return Response{}, err
	}
	began := time.Now()
	ctx, span := trace.Begin(ctx, "chat "+m.Name(), trace.LLM, traced(m, r))
	defer func() {
		in, outCost := c.policy.Price.Cost(out.Usage)
		budget.leave(claimed, out.Usage, in+outCost, billed(err))
		c.policy.Breaker.report(err)
		span.Use(trace.Usage{Model: m.Name(), Provider: m.Provider(), InputTokens: out.Usage.Input, OutputTokens: out.Usage.Output, CacheRead: out.Usage.CacheRead, CacheWritten: out.Usage.CacheWritten,
			InputCost: in, OutputCost: outCost, FinishReason: out.Raw, ResponseModel: out.Done.Model})
		span.Set(trace.Attribute{Key: "sextant.purpose", Value: r.Purpose})
		if r.Prompt != "" {
			span.Set(trace.Attribute{Key: "sextant.prompt", Value: r.Prompt})
		}
		span.End(tracedAnswer(out), err)
		keep(ctx, span, m, r, out, err)
		tell(ctx, Attempt{Request: r, Model: m.Name(), Response: out, Err: err, Took: time.Since(began)})
	}()
	limited, cancel := context.WithTimeoutCause(ctx, c.policy.Timeout, errAttempt)
	defer cancel()
	if until, ok := budget.deadline(); ok {
		limited, cancel = context.WithDeadlineCause(limited, until, errBudget)
		defer cancel()
	}
	out, err = Complete(limited, m, r)
	switch {
	case err != nil && errors.Is(context.Cause(limited), errBudget):
		err = &Error{Kind: Exhausted, Provider: m.Provider(), Message: "the question's limit of time is reached"}
	case err != nil && errors.Is(context.Cause(limited), errAttempt):
		err = &Error{Kind: Late, Provider: m.Provider(), Message: "no answer within " + c.policy.Timeout.String()}
	case err == nil:
		err = whole(m, r, out)
	}
	return out, err
}

var (
	errAttempt = errors.New("the attempt took too long")
	errBudget  = errors.New("the question's time for models is over")
)

// billed reports whether a provider has worked for a call that ended so, and will want to be
// paid for it.
func billed(err error) bool {
	var known *Error
	if !errors.As(err, &known) {
		return err == nil
	}
	return known.Started || known.Kind == Late || known.Kind == Malformed || known.Kind == Truncated || known.Kind == Declined
}

// plenty is a limit of tokens that is not reached by half unless something else is full.
const plenty = 256

// whole reports why an answer is none. What counts is what came, more than the word for
// why it ended: providers say "stop" beside tool calls, and "tool_calls" without one.
func whole(m Model, r Request, out Response) error {
	fail := func(kind Kind, message string) error {
		return &Error{Kind: kind, Provider: m.Provider(), Code: string(out.Finish), Message: message}
	}
	switch out.Finish {
	case Refused:
		return fail(Declined, "the model declined to answer")
	case Length:
		if out.Usage.Known && r.MaxTokens >= plenty && out.Usage.Output < int64(r.MaxTokens)/2 {
			return fail(TooLong, "the context was full before the answer's limit of tokens") // servers take a request that leaves no room to answer
		}
		return fail(Truncated, "the answer was cut at the limit of tokens")
	case Unclear, Failed, Paused:
		return fail(Truncated, "the answer ended with "+out.Raw)
	}
	if out.Text == "" && len(out.Calls) == 0 {
		return fail(Malformed, "the answer is empty")
	}
	return nil
}

// Stream implements a view of the caller as a stream for those who show text as it comes:
// the answer is whole before the first chunk is yielded, so that no retry shows it twice.
func (c *Caller) Stream(ctx context.Context, r Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		out, err := c.Complete(ctx, r)
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		if out.Text != "" && !yield(Chunk{Text: out.Text}, nil) {
			return
		}
		for i := range out.Calls {
			if !yield(Chunk{Call: &out.Calls[i]}, nil) {
				return
			}
		}
		yield(Chunk{Done: &out.Done}, nil)
	}
}

// tracedRequest and tracedResponse are what a span shows: the shape MLflow draws as a
// conversation.
type tracedRequest struct {
	Model    string          `json:"model"`
	Messages []tracedMessage `json:"messages"`
	Schema   string          `json:"schema,omitempty"`
	Tools    []string        `json:"tools,omitempty"`
}

type tracedMessage struct {
	Role    Role   `json:"role"`
	Content string `json:"content"`
	Calls   []Call `json:"tool_calls,omitempty"`
}

type tracedResponse struct {
	Choices []tracedChoice `json:"choices"`
}

type tracedChoice struct {
	Message tracedMessage `json:"message"`
	Finish  Finish        `json:"finish_reason"`
}

func traced(m Model, r Request) *tracedRequest {
	t := &tracedRequest{Model: m.Name()}
	if r.System != "" {
		t.Messages = append(t.Messages, tracedMessage{Role: "system", Content: r.System})
	}
	for _, message := range r.Messages {
		t.Messages = append(t.Messages, tracedMessage{Role: message.Role, Content: message.Text, Calls: message.Calls})
		for _, result := range message.Results {
			t.Messages = append(t.Messages, tracedMessage{Role: "tool", Content: result.Text})
		}
	}
	if r.Output != nil {
		t.Schema = r.Output.Name
	}
	for _, tool := range r.Tools {
		t.Tools = append(t.Tools, tool.Name)
	}
	return t
}

func tracedAnswer(out Response) any {
	if out.Text == "" && len(out.Calls) == 0 {
		return nil
	}
	return &tracedResponse{[]tracedChoice{{tracedMessage{Assistant, out.Text, out.Calls}, out.Finish}}}
}

// Breaker stops calling a provider that keeps failing: after Failures in a row it fails at
// once for Rest, then lets one call try. A nil Breaker never does. It is safe for
// concurrent use.
type Breaker struct {
	Failures int           // 0: 5
	Rest     time.Duration // 0: 30 s

	mu    sync.Mutex
	row   int
	until time.Time
	probe bool // one call is trying
}

func (b *Breaker) allow(m Model) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := b.Failures
	if limit <= 0 {
		limit = 5
	}
	if b.row < limit {
		return nil
	}
	if time.Now().Before(b.until) || b.probe {
		return &Error{Kind: Open, Provider: m.Provider(), Message: "it failed again and again and is left alone for a while", After: max(0, time.Until(b.until))}
	}
	b.probe = true
	return nil
}

// report counts. Only failures of the provider count: a request that is at fault says
// nothing about it, nor does a caller that gave up.
func (b *Breaker) report(err error) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probe = false
	var known *Error
	switch {
	case err == nil:
		b.row = 0
	case errors.As(err, &known) && (known.Kind == Unreachable || known.Kind == Overloaded || known.Kind == Server || known.Kind == Late):
		rest := b.Rest
		if rest <= 0 {
			rest = 30 * time.Second
		}
		b.row++
		b.until = time.Now().Add(rest)
	}
}
