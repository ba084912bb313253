package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant/llm"
)

// Said is what a provider is made to say.
type Said struct {
	Text   string
	Calls  []llm.Call
	Finish llm.Finish
	Usage  llm.Usage
}

// Open makes a model whose next answers to a request are what is given.
type Open func(t *testing.T, r llm.Request, said Said) llm.Model

var (
	hello  = llm.Request{System: "Be brief.", Messages: []llm.Message{{Role: llm.User, Text: "Capital of France?"}}, MaxTokens: 64, Purpose: "test"}
	asJSON = func() llm.Request {
		r := hello
		r.Output = &llm.Schema{Name: "capital", JSON: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","maxLength":40}},"required":["city"],"additionalProperties":false}`)}
		return r
	}()
	withTool = func() llm.Request {
		r := hello
		r.Tools = []llm.Tool{{Name: "look", Description: "Looks it up.", Input: json.RawMessage(`{"type":"object","properties":{"q":{"type":"integer"}},"required":["q"],"additionalProperties":false}`)}}
		r.NeedTool = true
		return r
	}()
	used = llm.Usage{Input: 26, Output: 2, CacheRead: 20, Known: true}
)

// Run holds a model to the contract of llm.Model.
func Run(t *testing.T, open Open) {
	t.Run("text", func(t *testing.T) { testText(t, open) })
	t.Run("structured", func(t *testing.T) { testStructured(t, open) })
	t.Run("tools", func(t *testing.T) { testTools(t, open) })
	t.Run("endings", func(t *testing.T) { testEndings(t, open) })
	t.Run("cancelled", func(t *testing.T) { testCancelled(t, open) })
	t.Run("left", func(t *testing.T) { testLeft(t, open) })
}

func testText(t *testing.T, open Open) {
	m := open(t, hello, Said{Text: "Paris — «la ville»", Finish: llm.Stopped, Usage: used})
	if m.Name() == "" || m.Provider() == "" {
		t.Errorf("a model without a name: %q of %q", m.Name(), m.Provider())
	}
	text, ended := "", false
	for chunk, err := range m.Stream(t.Context(), hello) {
		if err != nil {
			t.Fatal(err)
		}
		if ended {
			t.Errorf("%+v came after the end", chunk)
		}
		text += chunk.Text
		if ended = chunk.Done != nil; ended && (chunk.Done.Finish != llm.Stopped || chunk.Done.Raw == "" || chunk.Done.Usage != used) {
			t.Errorf("the end is %+v", chunk.Done)
		}
	}
	if text != "Paris — «la ville»" || !ended {
		t.Errorf("%q, ended: %v", text, ended)
	}
	unknown, err := llm.Complete(t.Context(), open(t, hello, Said{Text: "Paris", Finish: llm.Stopped}), hello)
	if err != nil || unknown.Usage.Known {
		t.Errorf("usage that nobody named: %+v %v", unknown.Usage, err)
	}
}

type capital struct {
	City string `json:"city"`
}

func testStructured(t *testing.T, open Open) {
	for text, want := range map[string]string{`{"city":"Paris"}`: "Paris", "Here:\n```json\n{\"city\": \"Paris\"}\n```": "Paris", `{"city":7}`: "", `{"city":"Par`: "", "Paris": ""} {
		c := llm.NewCaller(open(t, asJSON, Said{Text: text, Finish: llm.Stopped, Usage: used}), llm.Policy{Attempts: 1})
		got, _, err := llm.Structured[capital](t.Context(), c, asJSON)
		if want != "" && (err != nil || got.City != want) {
			t.Errorf("%s: %+v %v", text, got, err)
		}
		var known *llm.Error
		if want == "" && !errors.As(err, &known) {
			t.Errorf("%s was taken: %+v %v", text, got, err)
		}
	}
}

func testTools(t *testing.T, open Open) {
	calls := []llm.Call{{ID: "call_1", Name: "look", Input: json.RawMessage(`{"q":1}`)}, {ID: "call_2", Name: "look", Input: json.RawMessage(`{"q":"not what the schema says"}`)}}
	got, err := llm.Complete(t.Context(), open(t, withTool, Said{Calls: calls, Finish: llm.Called, Usage: used}), withTool)
	if d := cmp.Diff(calls, got.Calls); err != nil || d != "" || got.Finish != llm.Called {
		t.Errorf("%v %s %s", err, got.Finish, d)
	}
	both, err := llm.Complete(t.Context(), open(t, withTool, Said{Text: "Let me see.", Calls: calls[:1], Finish: llm.Called}), withTool)
	if err != nil || both.Text != "Let me see." || len(both.Calls) != 1 {
		t.Errorf("%v %+v", err, both)
	}
}

// An answer that is not whole is never taken for one, whatever of it came.
func testEndings(t *testing.T, open Open) {
	for finish, want := range map[llm.Finish]llm.Kind{llm.Length: llm.Truncated, llm.Refused: llm.Declined, llm.Unclear: llm.Truncated} {
		said := Said{Text: "Par", Finish: finish, Usage: used}
		out, err := llm.Complete(t.Context(), open(t, hello, said), hello)
		if err != nil || out.Finish != finish {
			t.Errorf("%s: %v %+v", finish, err, out)
		}
		_, err = llm.NewCaller(open(t, hello, said), llm.Policy{Attempts: 1}).Complete(t.Context(), hello)
		var known *llm.Error
		if !errors.As(err, &known) || known.Kind != want {
			t.Errorf("%s: %v, want %s", finish, err, want)
		}
	}
}

func testCancelled(t *testing.T, open Open) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := llm.Complete(ctx, open(t, hello, Said{Text: "Paris", Finish: llm.Stopped}), hello); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v %v", out, err)
	}
}

// testLeft leaves in the middle, and uses the model again.
func testLeft(t *testing.T, open Open) {
	m := open(t, hello, Said{Text: "Paris", Finish: llm.Stopped})
	for range m.Stream(t.Context(), hello) {
		break
	}
	if out, err := llm.Complete(t.Context(), m, hello); err != nil || out.Text != "Paris" {
		t.Errorf("%v %+v", err, out)
	}
}
