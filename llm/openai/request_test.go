package openai_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/openai"
)

const fine = `{"choices":[{"finish_reason":"stop","message":{"content":"{\"city\":\"Paris\"}"}}]}`

// picky refuses requests until they are to its taste, and keeps what it was sent.
type picky struct {
	taste  func(body map[string]any) (status int, refusal string)
	bodies []map[string]any
}

func (p *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	var body map[string]any
	_ = json.Unmarshal(b, &body)
	p.bodies = append(p.bodies, body)
	w.Header().Set("Content-Type", "application/json")
	if status, refusal := p.taste(body); status != 0 {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, refusal)
		return
	}
	_, _ = io.WriteString(w, fine)
}

var full = func() llm.Request {
	zero := 0.0
	return llm.Request{System: "Be brief.", Messages: []llm.Message{{Role: llm.User, Text: "City?"}}, MaxTokens: 100, Temperature: &zero,
		Output: &llm.Schema{Name: "city", JSON: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}`)}}
}()

// What a server does not take is learnt from its refusal, within the call, and remembered
// for the next.
func TestWhatAServerDoesNotTakeIsLearnt(t *testing.T) {
	format := func(b map[string]any) string {
		f, _ := b["response_format"].(map[string]any)
		s, _ := f["type"].(string)
		return s
	}
	for name, c := range map[string]struct {
		taste func(map[string]any) (int, string)
		check func(map[string]any) bool
		tries int
	}{
		"OpenAI's newer models: another name for the limit": {func(b map[string]any) (int, string) {
			if b["max_tokens"] != nil {
				return 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","code":"unsupported_parameter"}}`
			}
			return 0, ""
		}, func(b map[string]any) bool { return b["max_completion_tokens"] == 100.0 }, 2},
		"no temperature": {func(b map[string]any) (int, string) {
			if b["temperature"] != nil {
				return 400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model.","code":"unsupported_value"}}`
			}
			return 0, ""
		}, func(b map[string]any) bool { return b["temperature"] == nil }, 2},
		"DeepSeek: JSON without a schema": {func(b map[string]any) (int, string) {
			if format(b) == "json_schema" {
				return 400, `{"error":{"message":"This response_format type is unavailable now"}}`
			}
			return 0, ""
		}, func(b map[string]any) bool {
			return format(b) == "json_object" && strings.Contains(b["messages"].([]any)[0].(map[string]any)["content"].(string), "JSON Schema")
		}, 2},
		"neither": {func(b map[string]any) (int, string) {
			if format(b) != "" {
				return 400, `{"error":"response_format is not supported"}`
			}
			return 0, ""
		}, func(b map[string]any) bool { return format(b) == "" }, 3},
		"llama.cpp: a schema it cannot parse": {func(b map[string]any) (int, string) {
			if format(b) == "json_schema" {
				return 400, `{"error":{"code":400,"message":"Unable to generate parser for this template. JSON schema error at #: unrecognized type"}}`
			}
			return 0, ""
		}, func(b map[string]any) bool { return format(b) == "json_object" }, 2},
		"no usage in streams": {func(b map[string]any) (int, string) {
			if b["stream_options"] != nil {
				return 400, `{"error":{"message":"Unrecognized request argument: stream_options"}}`
			}
			return 0, ""
		}, func(b map[string]any) bool { return b["stream_options"] == nil }, 2},
		"all of it": {func(b map[string]any) (int, string) {
			switch {
			case b["max_tokens"] != nil:
				return 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported"}}`
			case b["temperature"] != nil:
				return 400, `{"error":{"message":"temperature"}}`
			case format(b) != "":
				return 422, `{"detail":"response_format"}`
			}
			return 0, ""
		}, func(b map[string]any) bool { return format(b) == "" }, 5},
	} {
		p := &picky{taste: c.taste}
		m := serve(t, p.ServeHTTP)
		for i := range 2 {
			got, err := llm.Complete(t.Context(), m, full)
			if err != nil || got.Text != `{"city":"Paris"}` {
				t.Fatalf("%s: %v %q", name, err, got.Text)
			}
			if n := c.tries + i; len(p.bodies) != n || !c.check(p.bodies[n-1]) {
				t.Errorf("%s: call %d took %d requests, want %d in all; last %v", name, i, len(p.bodies), n, p.bodies[len(p.bodies)-1])
			}
		}
	}
}

func TestAServerThatRefusesEverythingIsNotAskedForEver(t *testing.T) {
	p := &picky{taste: func(map[string]any) (int, string) {
		return 400, `{"error":{"message":"max_tokens max_completion_tokens temperature stream_options response_format tool"}}`
	}}
	_, err := llm.Complete(t.Context(), serve(t, p.ServeHTTP), full)
	var known *llm.Error
	if !errors.As(err, &known) || known.Kind != llm.Invalid || len(p.bodies) > 8 {
		t.Errorf("%v after %d requests", err, len(p.bodies))
	}
}

func TestMessagesAsServersInsist(t *testing.T) {
	p := &picky{taste: func(map[string]any) (int, string) { return 0, "" }}
	r := llm.Request{System: "s", Messages: []llm.Message{{Role: llm.User, Text: "a"}, {Role: llm.User, Text: "b"}, {Role: llm.Assistant, Calls: []llm.Call{{ID: "1", Name: "look", Input: json.RawMessage(`{"q":1}`)}}},
		{Role: llm.User, Results: []llm.Result{{ID: "1", Text: "found"}}}}, Tools: []llm.Tool{{Name: "look", Input: json.RawMessage(`{"type":"object"}`)}}, NeedTool: true}
	if _, err := llm.Complete(t.Context(), serve(t, p.ServeHTTP), r); err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(p.bodies[0]["messages"])
	want := `[{"content":"s","role":"system"},{"content":"a\n\nb","role":"user"},{"content":"","role":"assistant","tool_calls":[{"function":{"arguments":"{\"q\":1}","name":"look"},"id":"1","type":"function"}]},{"content":"found","role":"tool","tool_call_id":"1"}]`
	if d := cmp.Diff(want, string(got)); d != "" || p.bodies[0]["tool_choice"] != "required" {
		t.Errorf("%v %s", p.bodies[0]["tool_choice"], d)
	}
}

func TestAddressesThatCannotBe(t *testing.T) {
	for _, o := range []openai.Options{{BaseURL: "api.openai.com", Model: "m"}, {BaseURL: "file:///x", Model: "m"}, {BaseURL: "https://h"}, {Model: "m"}} {
		if _, err := openai.New(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add("data: {\"choices\":[{\"delta\":{\"content\":\"Paris\"},\"finish_reason\":\"stop\"}]}\n\n")
	f.Add(fine)
	f.Add("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"function\":{\"arguments\":\"\"}}]}}]}\n\n")
	f.Fuzz(func(t *testing.T, body string) {
		out, err := llm.Complete(t.Context(), serve(t, says(200, body)), hello)
		var known *llm.Error
		if err != nil && !errors.As(err, &known) {
			t.Errorf("%v is no error of the package", err)
		}
		if err == nil && out.Raw == "" {
			t.Error("an answer without a reason for its end")
		}
	})
}
