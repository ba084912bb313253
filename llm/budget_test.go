package llm_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/llmtest"
)

// spender bills what it was given to read, at four bytes a token, and as much output as it
// may write, or a part of that.
func spender(share float64) *llmtest.Script {
	return &llmtest.Script{Answer: func(_ int, r llm.Request) (llm.Response, error) {
		out := llmtest.Text("yes")
		out.Usage = llm.Usage{Input: int64(len(r.System)+len(r.Messages[0].Text)) / 4, Output: int64(share * float64(r.MaxTokens)), Known: true}
		return out, nil
	}}
}

// Whatever the limits and however many ask at once, no limit is passed, and a budget that
// refuses has less left than a call needs.
func TestLimitsOfTokensAndCostAreNeverPassed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens, dollars := rapid.Int64Range(0, 20_000).Draw(t, "tokens"), float64(rapid.Int64Range(0, 20_000).Draw(t, "cost"))/1e6
		calls := rapid.Int64Range(0, 12).Draw(t, "calls")
		s := spender(rapid.Float64Range(0, 1).Draw(t, "share"))
		c := llm.NewCaller(s, llm.Policy{Price: llm.Price{Input: 1, Output: 2}})
		b := llm.NewBudget(calls, tokens, dollars)
		request := llm.Request{System: strings.Repeat("word ", rapid.IntRange(1, 500).Draw(t, "words")), Messages: []llm.Message{{Role: llm.User, Text: "?"}}, MaxTokens: rapid.IntRange(64, 2000).Draw(t, "most")}
		ctx := llm.WithBudget(t.Context(), b)
		var wg sync.WaitGroup
		for range rapid.IntRange(1, 4).Draw(t, "at once") {
			wg.Go(func() {
				for range 6 {
					_, _ = c.Complete(ctx, request)
				}
			})
		}
		wg.Wait()
		spent := b.Spent()
		if calls > 0 && spent.Calls > calls || tokens > 0 && spent.Input+spent.Output > tokens || dollars > 0 && spent.Cost > dollars+1e-12 {
			t.Fatalf("spent %+v of %d calls, %d tokens, $%f", spent, calls, tokens, dollars)
		}
		if n := int64(len(s.Asked())); n != spent.Calls {
			t.Fatalf("%d calls were made, %d counted", n, spent.Calls)
		}
		if need := int64(len(request.System))/3 + 70; spent.Calls == 0 && tokens > need && (dollars == 0 || dollars*1e6 > float64(need+140)) {
			t.Fatalf("nothing was asked, though %d tokens and $%f are enough for %d", tokens, dollars, need)
		}
	})
}

// A provider that counts nothing ends a loop all the same.
func TestALimitOfTokensHoldsWithoutFigures(t *testing.T) {
	silent := llmtest.Text("yes")
	silent.Usage = llm.Usage{}
	s := &llmtest.Script{Answers: []llm.Response{silent}}
	b := llm.NewBudget(0, 2000, 0)
	c := llm.NewCaller(s, llm.Policy{})
	for range 100 {
		_, _ = c.Complete(llm.WithBudget(t.Context(), b), llm.Request{System: strings.Repeat("x", 900), MaxTokens: 100})
	}
	if n := len(s.Asked()); n < 3 || n > 7 {
		t.Errorf("%d calls of about 300 tokens within 2,000", n)
	}
	if b.Spent().Input != 0 {
		t.Errorf("tokens that nobody counted are told as spent: %+v", b.Spent())
	}
}

// A call that runs when the time for models is over is broken off, and none begins after.
func TestABudgetEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &llmtest.Script{Answer: func(int, llm.Request) (llm.Response, error) {
			time.Sleep(time.Duration(1+rand.IntN(3)) * time.Second)
			return llm.Response{}, &llm.Error{Kind: llm.Overloaded, Provider: "script"}
		}}
		b := llm.NewBudget(0, 0, 0)
		began := time.Now()
		b.Until(began.Add(10 * time.Second))
		c := llm.NewCaller(slow, llm.Policy{Attempts: 100})
		var known *llm.Error
		for range 100 {
			_, err := c.Complete(llm.WithBudget(t.Context(), b), llm.Request{})
			if !errors.As(err, &known) {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > 13*time.Second || known.Kind != llm.Exhausted { // a script does not see the context
			t.Errorf("%v, %v", took, known)
		}
	})
}

// A call that the breaker does not let through costs nothing.
func TestACallThatIsNotMadeIsNotCounted(t *testing.T) {
	s := &llmtest.Script{Answer: func(int, llm.Request) (llm.Response, error) {
		return llm.Response{}, &llm.Error{Kind: llm.Server, Provider: "script"}
	}}
	b := llm.NewBudget(0, 0, 0)
	c := llm.NewCaller(s, llm.Policy{Attempts: 1, Breaker: &llm.Breaker{Failures: 2}})
	for range 7 {
		_, _ = c.Complete(llm.WithBudget(t.Context(), b), llm.Request{})
	}
	if n := len(s.Asked()); n != 2 || b.Spent().Calls != 2 {
		t.Errorf("%d calls were made, %d counted", n, b.Spent().Calls)
	}
}

// An answer that never ends is broken off, and one that is no JSON is not sent back whole.
func TestAnswersThatRunAway(t *testing.T) {
	s := &llmtest.Script{Answers: []llm.Response{llmtest.Text(strings.Repeat("all work ", 2<<20))}}
	_, err := llm.NewCaller(s, llm.Policy{Attempts: 1}).Complete(t.Context(), llm.Request{})
	var known *llm.Error
	if !errors.As(err, &known) || known.Kind != llm.Malformed {
		t.Errorf("18 MB were taken for an answer: %v", err)
	}
	s = &llmtest.Script{Answers: []llm.Response{llmtest.Text(`{"city":"` + strings.Repeat("é", 1<<19) + `"}`)}}
	_, _, err = llm.Structured[struct {
		City string `json:"city"`
	}](t.Context(), llm.NewCaller(s, llm.Policy{Attempts: 1}), llm.Request{Output: &llm.Schema{Name: "c", JSON: []byte(`{"type":"object","properties":{"city":{"type":"string","maxLength":40}},"required":["city"],"additionalProperties":false}`)}})
	if !errors.As(err, &known) || known.Kind != llm.Malformed {
		t.Errorf("%.200v", err)
	}
	if len(err.Error()) > 2000 {
		t.Errorf("the error holds %d bytes of the answer", len(err.Error()))
	}
	for _, m := range s.Asked()[1].Messages {
		if len(m.Text) > 20<<10 {
			t.Errorf("%d bytes of an answer were sent back", len(m.Text))
		}
	}
}
