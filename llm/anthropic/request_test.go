package anthropic_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/anthropic"
)

// body is what the tests look at of a request.
type body struct {
	Model       string
	MaxTokens   int `json:"max_tokens"`
	Stream      bool
	Temperature *float64
	System      []struct {
		Text         string
		CacheControl *struct{ Type string } `json:"cache_control"`
	}
	Messages     json.RawMessage
	OutputConfig *struct {
		Format struct {
			Type   string
			Schema json.RawMessage
		}
	} `json:"output_config"`
	Tools []struct {
		Name        string
		Strict      bool
		InputSchema json.RawMessage `json:"input_schema"`
	}
	ToolChoice *struct{ Type, Name string } `json:"tool_choice"`
}

func (b body) system() string {
	if len(b.System) == 0 {
		return ""
	}
	return b.System[0].Text
}

// picky refuses requests until they are to its taste, and keeps what it was sent.
type picky struct {
	taste   func(b body) (refusal string)
	bodies  []body
	headers http.Header
	path    string
}

func (p *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var b body
	_ = json.Unmarshal(raw, &b)
	p.bodies, p.headers, p.path = append(p.bodies, b), r.Header, r.URL.Path
	if p.taste != nil {
		if refusal := p.taste(b); refusal != "" {
			says(400, `{"type":"error","error":{"type":"invalid_request_error","message":"`+refusal+`"}}`)(w, r)
			return
		}
	}
	if b.ToolChoice != nil && b.ToolChoice.Type == "tool" {
		says(200, `{"type":"message","content":[{"type":"text","text":"Here {it} is:"},{"type":"tool_use","id":"a","name":"`+b.ToolChoice.Name+`","input":{"city":"Paris"}}],"stop_reason":"tool_use"}`)(w, r)
		return
	}
	says(200, `{"type":"message","content":[{"type":"text","text":"{\"city\":\"Paris\"}"}],"stop_reason":"end_turn"}`)(w, r)
}

func (p *picky) last() body { return p.bodies[len(p.bodies)-1] }

const citySchema = `{"type":"object","properties":{"city":{"type":"string","maxLength":40},"age":{"type":["integer","null"],"minimum":0,"description":"in years"}},"required":["city"],"additionalProperties":false}`

var full = func() llm.Request {
	zero := 0.0
	return llm.Request{System: "Be brief.", Messages: []llm.Message{{Role: llm.User, Text: "City?"}}, MaxTokens: 100, Temperature: &zero, Output: &llm.Schema{Name: "city", JSON: json.RawMessage(citySchema)}}
}()

// The request as the API has it: the key in its header, the prompt cached, the answer's
// schema without what the API does not enforce, in its order.
func TestARequest(t *testing.T) {
	p := &picky{}
	out, err := llm.Complete(t.Context(), serve(t, "claude-x", p.ServeHTTP), full)
	if err != nil || out.Text != `{"city":"Paris"}` || out.Finish != llm.Stopped {
		t.Fatalf("%v %+v", err, out)
	}
	b := p.last()
	if p.path != "/v1/messages" || p.headers.Get("X-Api-Key") != "sk-very-secret" || p.headers.Get("Anthropic-Version") == "" || b.Model != "claude-x" || b.MaxTokens != 100 || !b.Stream || b.Temperature == nil || b.System[0].CacheControl == nil {
		t.Errorf("%s %v %+v", p.path, p.headers, b)
	}
	want := `{"type":"object","properties":{"city":{"type":"string","description":"(maxLength: 40)"},"age":{"type":["integer","null"],"description":"in years (minimum: 0)"}},"required":["city"],"additionalProperties":false}`
	if d := cmp.Diff(want, string(b.OutputConfig.Format.Schema)); d != "" {
		t.Error(d)
	}
	if _, err := llm.Complete(t.Context(), serve(t, "claude-x", p.ServeHTTP), hello); err != nil || p.last().MaxTokens == 0 || p.last().OutputConfig != nil || len(p.last().Tools) > 0 {
		t.Errorf("%v %+v", err, p.last())
	}
}

// The blueprint's models came before schemas: they answer by a tool that they must call.
func TestOlderModelsAnswerByATool(t *testing.T) {
	for _, model := range []string{"claude-3-haiku-20240307", "claude-sonnet-4-20250514"} {
		p := &picky{}
		out, err := llm.Complete(t.Context(), serve(t, model, p.ServeHTTP), full)
		if err != nil || out.Text != `{"city":"Paris"}` || len(out.Calls) > 0 || out.Finish != llm.Stopped || out.Raw != "tool_use" {
			t.Errorf("%s: %v %+v", model, err, out)
		}
		if b := p.last(); len(p.bodies) != 1 || b.OutputConfig != nil || b.ToolChoice == nil || b.ToolChoice.Name != "city" || b.Tools[0].Strict || string(b.Tools[0].InputSchema) != citySchema {
			t.Errorf("%s: %+v", model, p.last())
		}
	}
}

// What a model does not take is learnt from its refusal, within the call, and remembered
// for the next.
func TestWhatAModelDoesNotTakeIsLearnt(t *testing.T) {
	noSchema := func(b body) string {
		if b.OutputConfig != nil {
			return "output_config: Extra inputs are not permitted"
		}
		return ""
	}
	for name, c := range map[string]struct {
		taste func(body) string
		check func(body) bool
		tries int
	}{
		"no schema": {noSchema, func(b body) bool { return b.ToolChoice != nil && b.Tools[0].Strict }, 2},
		"no strict tool": {func(b body) string {
			if len(b.Tools) > 0 && b.Tools[0].Strict {
				return "tools.0.custom.strict: Extra inputs are not permitted"
			}
			return noSchema(b)
		}, func(b body) bool { return b.ToolChoice != nil && !b.Tools[0].Strict }, 3},
		"no forced tool": {func(b body) string {
			if b.ToolChoice != nil {
				return "Thinking may not be enabled when tool_choice forces tool use."
			}
			return noSchema(b)
		}, func(b body) bool { return b.ToolChoice == nil && strings.Contains(b.system(), "JSON Schema") }, 3},
		"no temperature": {func(b body) string {
			if b.Temperature != nil {
				return "temperature is deprecated for this model"
			}
			return ""
		}, func(b body) bool { return b.Temperature == nil }, 2},
		"no cache": {func(b body) string {
			if b.System[0].CacheControl != nil {
				return "system.0.cache_control: Extra inputs are not permitted"
			}
			return ""
		}, func(b body) bool { return strings.HasPrefix(b.system(), "Be brief.") }, 2},
	} {
		p := &picky{taste: c.taste}
		m := serve(t, "claude-x", p.ServeHTTP)
		for i := range 2 {
			got, err := llm.Complete(t.Context(), m, full)
			if err != nil || got.Text != `{"city":"Paris"}` {
				t.Fatalf("%s: %v %q", name, err, got.Text)
			}
			if n := c.tries + i; len(p.bodies) != n || !c.check(p.last()) {
				t.Errorf("%s: call %d took %d requests, want %d in all; last %+v", name, i, len(p.bodies), n, p.last())
			}
		}
	}
}

func TestAServerThatRefusesEverythingIsNotAskedForEver(t *testing.T) {
	p := &picky{taste: func(body) string { return "temperature cache_control strict output_config tool schema" }}
	_, err := llm.Complete(t.Context(), serve(t, "claude-x", p.ServeHTTP), full)
	var known *llm.Error
	if !errors.As(err, &known) || known.Kind != llm.Invalid || len(p.bodies) > 8 {
		t.Errorf("%v after %d requests", err, len(p.bodies))
	}
}

// A server that drops schemas without a word gets them in the prompt too; one that cannot
// be made to call a tool answers in text.
func TestAServerThatDropsWhatItCannotDo(t *testing.T) {
	p := &picky{}
	if _, err := llm.Complete(t.Context(), serve(t, "smollm2", p.ServeHTTP), full); err != nil || !strings.Contains(p.last().system(), "JSON Schema") {
		t.Errorf("%v %q", err, p.last().system())
	}
	text := says(200, `{"type":"message","content":[{"type":"text","text":"{\"city\":\"Paris\"}"}],"stop_reason":"end_turn"}`)
	if out, err := llm.Complete(t.Context(), serve(t, "claude-3-x", text), full); err != nil || out.Text != `{"city":"Paris"}` {
		t.Errorf("%v %+v", err, out)
	}
}

func TestMessagesAsTheAPIInsists(t *testing.T) {
	p := &picky{}
	r := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "a"}, {Role: llm.User, Text: "b"}, {Role: llm.Assistant, Calls: []llm.Call{{ID: "1", Name: "look", Input: json.RawMessage(`{"q":1}`)}}},
		{Role: llm.User, Text: "so?", Results: []llm.Result{{ID: "1", Text: "found"}}}, {Role: llm.Assistant}, {Role: llm.Assistant, Text: "left by another", Opaque: json.RawMessage(`{"other":[1]}`)}},
		Tools: []llm.Tool{{Name: "look", Input: json.RawMessage(`{"type":"object","properties":{"q":{"type":"integer","maximum":9}}}`)}}, NeedTool: true}
	if _, err := llm.Complete(t.Context(), serve(t, "claude-x", p.ServeHTTP), r); err != nil {
		t.Fatal(err)
	}
	want := `[{"content":[{"text":"a","type":"text"},{"text":"b","type":"text"}],"role":"user"},{"content":[{"id":"1","input":{"q":1},"name":"look","type":"tool_use"}],"role":"assistant"},` +
		`{"content":[{"tool_use_id":"1","is_error":false,"content":[{"text":"found","type":"text"}],"type":"tool_result"},{"text":"so?","type":"text"}],"role":"user"},{"content":[{"text":"left by another","type":"text"}],"role":"assistant"}]`
	if d := cmp.Diff(canonical(t, want), canonical(t, string(p.last().Messages))); d != "" {
		t.Error(d)
	}
	if b := p.last(); b.ToolChoice.Type != "any" || !b.Tools[0].Strict || strings.Contains(string(b.Tools[0].InputSchema), `"maximum"`) {
		t.Errorf("%+v", b)
	}
}

func canonical(t *testing.T, s string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// Thinking is signed: what came, in blocks and pieces of any kind, goes back unchanged.
func TestThinkingComesBackUnchanged(t *testing.T) {
	stream := start + event(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`) +
		event(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm, "}}`) + event(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"France."}}`) +
		event(`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB/+=="}}`) + closed +
		event(`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"b64=="}}`) +
		strings.ReplaceAll(open+paris+closed, `"index":0`, `"index":2`) + strings.ReplaceAll(strings.TrimPrefix(look(`{"q":1}`), start), `"index":0`, `"index":3`) + called
	out, err := llm.Complete(t.Context(), serve(t, "claude-x", says(200, stream)), hello)
	if err != nil || out.Text != "Paris" || len(out.Calls) != 1 {
		t.Fatalf("%v %+v", err, out)
	}
	p := &picky{}
	again := llm.Request{Messages: []llm.Message{hello.Messages[0], {Role: llm.Assistant, Text: out.Text, Calls: out.Calls, Opaque: out.Opaque}, {Role: llm.User, Results: []llm.Result{{ID: "a", Text: "found"}}}}}
	if _, err := llm.Complete(t.Context(), serve(t, "claude-x", p.ServeHTTP), again); err != nil {
		t.Fatal(err)
	}
	var turns []struct{ Content json.RawMessage }
	if err := json.Unmarshal(p.last().Messages, &turns); err != nil || len(turns) != 3 {
		t.Fatalf("%v %s", err, p.last().Messages)
	}
	want := `[{"type":"thinking","thinking":"Hm, France.","signature":"EqQB/+=="},{"type":"redacted_thinking","data":"b64=="},{"type":"text","text":"Paris"},{"type":"tool_use","id":"a","name":"look","input":{"q":1}}]`
	if d := cmp.Diff(want, string(turns[1].Content)); d != "" {
		t.Error(d)
	}
}

func TestAddresses(t *testing.T) {
	for _, o := range []anthropic.Options{{BaseURL: "api.anthropic.com", Model: "m"}, {BaseURL: "file:///x", Model: "m"}, {BaseURL: "https://h"}, {}} {
		if _, err := anthropic.New(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	p := &picky{}
	server := httptest.NewServer(p)
	defer server.Close()
	for _, end := range []string{"", "/", "/v1", "/v1/", "/v1/messages"} {
		m, err := anthropic.New(anthropic.Options{BaseURL: server.URL + "/proxy" + end, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := llm.Complete(t.Context(), m, hello); err != nil || p.path != "/proxy/v1/messages" {
			t.Errorf("%q: %v %s", end, err, p.path)
		}
	}
}

// The environment of the process is nobody's business here: the SDK's defaults are off.
func TestTheEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-of-another")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Leak: 1")
	p := &picky{}
	server := httptest.NewServer(p)
	defer server.Close()
	m, err := anthropic.New(anthropic.Options{BaseURL: server.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := llm.Complete(t.Context(), m, hello); err != nil || p.headers.Get("X-Api-Key")+p.headers.Get("Authorization") != "" || p.headers.Get("X-Leak") != "" {
		t.Errorf("%v %v", err, p.headers)
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	m, err := anthropic.New(anthropic.Options{BaseURL: strings.Replace(server.URL, "http://", "http://user:secretpass@", 1), Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = llm.Complete(t.Context(), m, hello)
	var known *llm.Error
	if !errors.As(err, &known) || known.Kind != llm.Unreachable || strings.Contains(err.Error(), "secretpass") {
		t.Errorf("%v", err)
	}
}

// roundTrip answers in place of a server.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Anthropic's own API takes no temperature, and enforces schemas: neither is sent there,
// nor said twice.
func TestAnthropicItself(t *testing.T) {
	p := &picky{}
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.String() != "https://api.anthropic.com/v1/messages" {
			t.Errorf("%s was asked", r.URL)
		}
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		return w.Result(), nil
	})}
	m, err := anthropic.New(anthropic.Options{Key: "sk-very-secret", Model: "claude-x", HTTP: client})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := llm.Complete(t.Context(), m, full); err != nil {
		t.Fatal(err)
	}
	if b := p.last(); b.Temperature != nil || b.system() != "Be brief." || b.OutputConfig == nil || p.headers.Get("Authorization") != "Bearer sk-very-secret" {
		t.Errorf("%+v", b)
	}
}
