package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/llmtest"
	"github.com/sextant-rag/sextant/llm/replay"
	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/tracetest"
)

func failing(kind llm.Kind, after time.Duration) error {
	return &llm.Error{Kind: kind, Provider: "script", After: after}
}

// Which failures are tried again, how often, and how long that takes: on a fake clock.
func TestRetries(t *testing.T) {
	for name, c := range map[string]struct {
		fail        error
		times       int // how often it fails
		asked       int
		least, most time.Duration
		ok          bool
	}{
		"a busy server that recovers": {failing(llm.Overloaded, 0), 2, 3, 750 * time.Millisecond, 1500 * time.Millisecond, true},
		"one that never does":         {failing(llm.Server, 0), 9, 3, 750 * time.Millisecond, 1500 * time.Millisecond, false},
		"one that says when":          {failing(llm.Overloaded, 7*time.Second), 1, 2, 7 * time.Second, 7 * time.Second, true},
		"one that says too long":      {failing(llm.Overloaded, time.Hour), 1, 1, 0, 0, false},
		"a bad request":               {failing(llm.Invalid, 0), 1, 1, 0, 0, false},
		"a bad key":                   {failing(llm.Denied, 0), 1, 1, 0, 0, false},
		"a refusal":                   {failing(llm.Declined, 0), 1, 1, 0, 0, false},
		"a cut stream":                {failing(llm.Truncated, 0), 1, 2, 250 * time.Millisecond, 500 * time.Millisecond, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &llmtest.Script{Answer: func(call int, _ llm.Request) (llm.Response, error) {
				if call < c.times {
					return llm.Response{}, c.fail
				}
				return llmtest.Text("yes"), nil
			}}
			start := time.Now()
			out, err := llm.NewCaller(s, llm.Policy{}).Complete(t.Context(), llm.Request{})
			took := time.Since(start)
			if (err == nil) != c.ok || len(s.Asked()) != c.asked || took < c.least || took > c.most || c.ok && out.Text != "yes" {
				t.Errorf("%s: %v after %d calls and %s", name, err, len(s.Asked()), took)
			}
		})
	}
}

func TestAnswersThatAreNotWholeAreErrors(t *testing.T) {
	for finish, want := range map[llm.Finish]llm.Kind{llm.Length: llm.Truncated, llm.Refused: llm.Declined, llm.Unclear: llm.Truncated, llm.Failed: llm.Truncated, llm.Paused: llm.Truncated, llm.Stopped: llm.Malformed} {
		answer := llm.Response{Text: "half", Done: llm.Done{Finish: finish, Raw: string(finish)}}
		if finish == llm.Stopped {
			answer.Text = "" // an answer without anything in it
		}
		s := &llmtest.Script{Answers: []llm.Response{answer}}
		_, err := llm.NewCaller(s, llm.Policy{Attempts: 1}).Complete(t.Context(), llm.Request{})
		var known *llm.Error
		if !errors.As(err, &known) || known.Kind != want {
			t.Errorf("%s: %v, want %s", finish, err, want)
		}
	}
	s := &llmtest.Script{Answers: []llm.Response{{Text: "half", Done: llm.Done{Finish: llm.Length, Raw: "length"}}}}
	_, _ = llm.NewCaller(s, llm.Policy{}).Complete(t.Context(), llm.Request{})
	if n := len(s.Asked()); n != 1 {
		t.Errorf("an answer that was cut at its limit was asked for %d times", n)
	}
}

func TestASlowAttemptIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Script{Answer: func(int, llm.Request) (llm.Response, error) { time.Sleep(time.Hour); return llmtest.Text("late"), nil }}
		_, err := llm.NewCaller(s, llm.Policy{Attempts: 1, Timeout: time.Second}).Complete(t.Context(), llm.Request{})
		var known *llm.Error
		if !errors.As(err, &known) || known.Kind != llm.Late {
			t.Errorf("%v", err)
		}
	})
}

func TestAnotherModelAnswersWhereOneCannot(t *testing.T) {
	for kind, fell := range map[llm.Kind]bool{llm.Server: true, llm.Denied: true, llm.Declined: true, llm.Invalid: false} {
		first := &llmtest.Script{Answer: func(int, llm.Request) (llm.Response, error) { return llm.Response{}, failing(kind, 0) }}
		second := &llmtest.Script{Answers: []llm.Response{llmtest.Text("second")}, Label: "second"}
		out, err := llm.NewCaller(first, llm.Policy{Attempts: 1, Fallback: second}).Complete(t.Context(), llm.Request{})
		if (err == nil) != fell || fell && out.Text != "second" {
			t.Errorf("%s: %q %v", kind, out.Text, err)
		}
	}
}

func TestBudgetHoldsExactly(t *testing.T) {
	s := &llmtest.Script{Answers: []llm.Response{llmtest.Text("yes")}}
	c := llm.NewCaller(s, llm.Policy{})
	b := llm.NewBudget(5, 0, 0)
	ctx := llm.WithBudget(t.Context(), b)
	var wg sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for range 40 { // loops and helpers at once
		wg.Go(func() {
			_, err := c.Complete(ctx, llm.Request{})
			var known *llm.Error
			if errors.As(err, &known) && known.Kind == llm.Exhausted {
				mu.Lock()
				refused++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if n := len(s.Asked()); n != 5 || refused != 35 || b.Spent() != (llm.Spent{Calls: 5, Input: 50, Output: 25}) {
		t.Errorf("%d calls, %d refused, %+v", n, refused, b.Spent())
	}
}

func TestBreakerLeavesAProviderAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		healthy := false
		s := &llmtest.Script{Answer: func(int, llm.Request) (llm.Response, error) {
			if healthy {
				return llmtest.Text("yes"), nil
			}
			return llm.Response{}, failing(llm.Server, 0)
		}}
		c := llm.NewCaller(s, llm.Policy{Attempts: 1, Breaker: &llm.Breaker{Failures: 3, Rest: time.Minute}})
		kinds := ""
		ask := func() {
			_, err := c.Complete(t.Context(), llm.Request{})
			var known *llm.Error
			errors.As(err, &known)
			if known == nil {
				kinds += "ok "
			} else {
				kinds += string(known.Kind) + " "
			}
		}
		for range 5 {
			ask()
		}
		time.Sleep(61 * time.Second)
		ask() // one try, which fails
		ask()
		healthy = true
		time.Sleep(61 * time.Second)
		ask()
		ask()
		want := "server_error server_error server_error circuit_open circuit_open server_error circuit_open ok ok "
		if kinds != want {
			t.Errorf("%s, want %s", kinds, want)
		}
	})
}

var city = &llm.Schema{Name: "city", JSON: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","maxLength":20},"n":{"type":["integer","null"]}},"required":["city","n"],"additionalProperties":false}`)}

type cityAnswer struct {
	City string `json:"city"`
	N    *int   `json:"n"`
}

func TestStructuredAnswers(t *testing.T) {
	const good = `{"city":"Paris","n":null}`
	inCall := llm.Response{Calls: []llm.Call{{Name: "answer", Input: json.RawMessage(good)}}, Done: llm.Done{Finish: llm.Called, Raw: "tool_calls"}}
	for name, c := range map[string]struct {
		answers []llm.Response
		ok      bool
		calls   int
	}{
		"as asked":                      {[]llm.Response{llmtest.Text(good)}, true, 1},
		"in a fence":                    {[]llm.Response{llmtest.Text("```json\n" + good + "\n```")}, true, 1},
		"prose around it":               {[]llm.Response{llmtest.Text("Sure! Here {you} are: " + good + " Anything else?")}, true, 1},
		"in a tool call":                {[]llm.Response{inCall}, true, 1},
		"repaired":                      {[]llm.Response{llmtest.Text(`{"city":5}`), llmtest.Text(good)}, true, 2},
		"prose twice":                   {[]llm.Response{llmtest.Text("Paris")}, false, 2},
		"other fields":                  {[]llm.Response{llmtest.Text(`{"city":"Paris","n":null,"x":1}`)}, false, 2},
		"null":                          {[]llm.Response{llmtest.Text("null")}, false, 2},
		"a list":                        {[]llm.Response{llmtest.Text("[" + good[:5])}, false, 2},
		"too long a string":             {[]llm.Response{llmtest.Text(`{"city":"Llanfairpwllgwyngyllgogery","n":1}`)}, false, 2},
		"a number that overflows":       {[]llm.Response{llmtest.Text(`{"city":"Paris","n":1707888888888888888888}`)}, false, 2},
		"a text of braces":              {[]llm.Response{llmtest.Text(strings.Repeat("{", 100_000))}, false, 2},
		"cut, though it would be valid": {[]llm.Response{{Text: good, Done: llm.Done{Finish: llm.Length, Raw: "length"}}}, false, 1},
	} {
		s := &llmtest.Script{Answers: c.answers}
		got, _, err := llm.Structured[cityAnswer](t.Context(), llm.NewCaller(s, llm.Policy{Attempts: 1}), llm.Request{Output: city, Messages: []llm.Message{{Role: llm.User, Text: "?"}}})
		if (err == nil) != c.ok || len(s.Asked()) != c.calls || c.ok && got.City != "Paris" {
			t.Errorf("%s: %+v %v after %d calls", name, got, err, len(s.Asked()))
		}
	}
}

// What a trace kept answers the same questions again, without the model.
func TestReplayAnswersFromATrace(t *testing.T) {
	s := &llmtest.Script{Answer: func(call int, r llm.Request) (llm.Response, error) {
		if call == 0 {
			return llm.Response{}, failing(llm.Overloaded, time.Millisecond)
		}
		return llmtest.Text("answer to " + r.Messages[0].Text), nil
	}}
	sink := &tracetest.Sink{}
	ctx, root := (&trace.Recorder{Sink: sink}).Open(t.Context(), "question", trace.Chain, nil)
	say := func(m llm.Model, ctx context.Context, text string) string {
		out, err := llm.NewCaller(m, llm.Policy{First: time.Millisecond}).Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}})
		if err != nil {
			return "error " + err.Error()
		}
		return out.Text
	}
	first := []string{say(s, ctx, "a"), say(s, ctx, "b")}
	root.Close(nil, nil, trace.Summary{Status: "answered"})
	r := sink.Records()[0]
	if faults := tracetest.Check(r, &tracetest.Calls{Models: 3, Tokens: 30}); faults != nil {
		t.Error(faults)
	}
	kept, err := llm.Exchanges(r.Exchanges)
	if err != nil {
		t.Fatal(err)
	}
	again, err := replay.New("", kept)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(first, []string{say(again, t.Context(), "a"), say(again, t.Context(), "b")}); d != "" {
		t.Error(d)
	}
	if got := say(again, t.Context(), "c"); !strings.Contains(got, "not recorded") {
		t.Errorf("a request that was never made was answered: %s", got)
	}
	if again.Name() != "script" || again.Provider() != "script" {
		t.Errorf("%s of %s", again.Name(), again.Provider())
	}
}

func FuzzFindObject(f *testing.F) {
	f.Add(`x {"a":1} y`)
	f.Add("{{{{")
	f.Fuzz(func(t *testing.T, text string) {
		raw, ok := llm.FindObject(text)
		if ok && (!json.Valid(raw) || raw[0] != '{' || !strings.Contains(text, string(raw))) {
			t.Errorf("%q gave %q", text, raw)
		}
	})
}
