package pipeline_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/llmtest"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/tracetest"
)

// till is a provider that bills: what it reads at four bytes a token, what it writes at up to
// the limit it was given, and now and then a failure on the way.
type till struct {
	label  string
	script assistant
	fails  bool

	mu            sync.Mutex
	random        *rand.Rand
	calls         int
	input, output int64
}

func (b *till) model() *llmtest.Script {
	return &llmtest.Script{Label: b.label, Answer: func(_ int, r llm.Request) (llm.Response, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls++
		if b.fails && b.random.IntN(4) == 0 {
			return llm.Response{}, &llm.Error{Kind: llm.Overloaded, Provider: "script"}
		}
		prompt := r.Messages[0].Text
		out := llmtest.Text(slot.ReplaceAllStringFunc(b.script[r.Purpose], func(s string) string { return fmt.Sprint(numberOf(prompt, strings.Trim(s, "{}"))) }))
		if b.fails && b.random.IntN(4) == 0 {
			out.Text = "no JSON"
		}
		read := len(r.System)
		for _, m := range r.Messages {
			read += len(m.Text)
		}
		out.Usage = llm.Usage{Input: int64(read) / 4, Output: 1 + b.random.Int64N(int64(r.MaxTokens)), Known: true}
		b.input, b.output = b.input+out.Usage.Input, b.output+out.Usage.Output
		return out, nil
	}}
}

// Whatever the limits, and however the providers behave: none is passed, what the answer says
// it cost is what was billed, every call is a span, and reaching a limit leaves an answer with
// its quotes that says so.
func TestLimitsHoldThroughEveryLoop(t *testing.T) {
	_, s := library(t, nil)
	price := llm.Price{Input: 1, Output: 3}
	random := rand.New(rand.NewPCG(3, 5))
	iterative := `{"intent":"comparative","confidence":"high","aspects":["tea","mould"],"queries":[],"conditions":[],"disputes":[]}`
	never := `{"sufficient":false,"missing":["mould"],"queries":["mould on paper","mould in the cellar","spores"]}`
	ended := map[sextant.Status]int{}
	for range 150 {
		small := &till{label: "small-1", fails: random.IntN(2) == 0, random: random, script: assistant{"understand": iterative, "sufficiency": never, "filter": `{"grade":8}`, "synthesize": `{"texts":[{"number":1,"text":"Damp."}]}`}}
		large := &till{label: "large-1", fails: small.fails, random: random, script: assistant{"generate": strings.Replace(tooMuch, `"missing":[]`, `"missing":["tea"]`, 1), "repair": `{"findings":[]}`, "confirm": `{"grade":9}`}}
		sink := &tracetest.Sink{}
		policy := llm.Policy{First: time.Nanosecond, Price: price}
		e, err := pipeline.New(t.Context(), pipeline.Config{Store: s, Domain: domain, Now: func() time.Time { return now }, Traces: &trace.Recorder{Sink: sink},
			Models: pipeline.Models{Small: llm.NewCaller(small.model(), policy), Large: llm.NewCaller(large.model(), policy)}})
		if err != nil {
			t.Fatal(err)
		}
		q := sextant.Question{Text: "How does the mould on the map of Norway differ from the tea on the table?", Refine: []string{sextant.RefineDedup, sextant.RefineFilter, sextant.RefineSynthesize}[random.IntN(3)]}
		if random.IntN(2) == 0 {
			q.Text = mouldQuestion
		}
		q.Limits = sextant.Limits{ModelCalls: random.IntN(8), Rounds: 1 + random.IntN(4)}
		if random.IntN(2) == 0 {
			q.Limits.Tokens = 500 + random.IntN(12_000)
		}
		if random.IntN(2) == 0 {
			q.Limits.Cost = float64(500+random.IntN(20_000)) / 1e6
		}
		a := ask(t, e, q)
		ended[a.Status]++
		calls, input, output := small.calls+large.calls, small.input+large.input, small.output+large.output
		cost := (float64(input)*price.Input + float64(output)*price.Output) / 1e6
		l := q.Limits
		if l.ModelCalls > 0 && calls > l.ModelCalls || l.Tokens > 0 && input+output > int64(l.Tokens) || l.Cost > 0 && cost > l.Cost || len(a.Rounds) > l.Rounds {
			t.Errorf("%+v: %d calls, %d tokens, $%f, %d rounds", l, calls, input+output, cost, len(a.Rounds))
		}
		if u := a.Usage; u.ModelCalls != calls || int64(u.InputTokens) != input || int64(u.OutputTokens) != output || u.Cost-cost > 1e-9 || cost-u.Cost > 1e-9 {
			t.Errorf("the answer says %+v, billed were %d calls, %d and %d tokens, $%f", u, calls, input, output, cost)
		}
		if faults := tracetest.Check(last(t, sink), &tracetest.Calls{Models: calls, Tokens: input + output}); faults != nil {
			t.Errorf("%+v: %s", l, strings.Join(faults, "\n"))
		}
		if a.Status == sextant.BudgetExhausted {
			if q.Text == mouldQuestion && (len(a.Findings) == 0 || len(a.Findings[0].Quotes) == 0) {
				t.Errorf("%+v: no answer in part: %s", l, a.Summary)
			}
			if len(a.Degraded) == 0 {
				t.Errorf("%+v: it is not said what was done without", l)
			}
		}
	}
	t.Logf("%v", ended)
	if ended[sextant.BudgetExhausted] < 20 || ended[sextant.Answered] < 5 {
		t.Error("the limits were too wide or too narrow to show anything")
	}
}

// hangs is a provider that never answers.
type hangs struct{}

func (hangs) Name() string     { return "slow-1" }
func (hangs) Provider() string { return "script" }

func (hangs) Stream(ctx context.Context, _ llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		<-ctx.Done()
		yield(llm.Chunk{}, ctx.Err())
	}
}

// A limit of time leaves enough of itself for an answer without models, which says so. The
// clock of this test is a fake one, so that the limit is exact.
func TestALimitOfTimeLeavesAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := library(t, nil)
		e, err := pipeline.New(t.Context(), pipeline.Config{Store: s, Domain: domain, Models: pipeline.Models{Small: llm.NewCaller(hangs{}, llm.Policy{}), Large: llm.NewCaller(hangs{}, llm.Policy{})}})
		if err != nil {
			t.Fatal(err)
		}
		for _, limit := range []time.Duration{time.Second, 10 * time.Second, 0} {
			began := time.Now()
			a := ask(t, e, sextant.Question{Text: mouldQuestion, Limits: sextant.Limits{WallTime: limit}})
			took := time.Since(began)
			if limit == 0 {
				limit = 6 * time.Minute // what models may take where nobody says
			}
			if took > limit || len(a.Findings) == 0 || len(a.Degraded) == 0 || a.Status != sextant.BudgetExhausted {
				t.Errorf("limit %v: %v, %s, %d findings, %+v", limit, took, a.Status, len(a.Findings), a.Degraded)
			}
		}
		s.Close()
	})
}
