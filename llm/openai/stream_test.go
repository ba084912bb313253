package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/openai"
)

// serve makes a model of a handler.
func serve(t *testing.T, h http.HandlerFunc) *openai.Model {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	m, err := openai.New(openai.Options{BaseURL: server.URL + "/v1", Key: "sk-very-secret", Model: "m", Stall: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// says answers every request with a body.
func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if strings.HasPrefix(strings.TrimLeft(body, "\n"), "{") {
			w.Header().Set("Content-Type", "application/json")
		} else {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

var hello = llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Capital of France?"}}}

// What servers send, each as one of them was seen to; a case for each tolerance.
func TestStreamsThatAreAnswers(t *testing.T) {
	const paris = `data: {"choices":[{"index":0,"delta":{"content":"Paris"}}]}` + "\n\n"
	const stop = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	usage := llm.Usage{Input: 26, Output: 2, CacheRead: 25, Known: true}
	call := func(id, name, input string) llm.Call {
		return llm.Call{ID: id, Name: name, Input: json.RawMessage(input)}
	}
	for name, c := range map[string]struct {
		body  string
		text  string
		calls []llm.Call
		usage llm.Usage
		ends  llm.Finish
	}{
		"llama.cpp: content null first, usage in a last chunk without choices": {`data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}]}` + "\n\n" + paris + stop +
			`data: {"choices":[],"usage":{"completion_tokens":2,"prompt_tokens":26,"total_tokens":28,"prompt_tokens_details":{"cached_tokens":25}}}` + "\n\ndata: [DONE]\n\n", "Paris", nil, usage, llm.Stopped},
		"no usage at all":                                     {paris + stop + "data: [DONE]\n\n", "Paris", nil, llm.Usage{}, llm.Stopped},
		"usage in the chunk with content":                     {`data: {"choices":[{"delta":{"content":"Paris"},"finish_reason":"stop"}],"usage":{"completion_tokens":2,"prompt_tokens":26,"prompt_tokens_details":{"cached_tokens":25}}}` + "\n\n", "Paris", nil, usage, llm.Stopped},
		"Azure: filter results first, a choice without delta": {`data: {"choices":[],"id":"","prompt_filter_results":[{}]}` + "\n\n" + paris + `data: {"choices":[{"index":0,"content_filter_offsets":{}}]}` + "\n\n" + stop, "Paris", nil, llm.Usage{}, llm.Stopped},
		"no [DONE]":                       {paris + stop, "Paris", nil, llm.Usage{}, llm.Stopped},
		"no blank after data:":            {strings.ReplaceAll(paris+stop, "data: ", "data:") + "data:[DONE]\n\n", "Paris", nil, llm.Usage{}, llm.Stopped},
		"no blank line at the end":        {paris + strings.TrimRight(stop, "\n"), "Paris", nil, llm.Usage{}, llm.Stopped},
		"carriage returns":                {strings.ReplaceAll(paris+stop, "\n", "\r\n"), "Paris", nil, llm.Usage{}, llm.Stopped},
		"comments, also as data":          {": OPENROUTER PROCESSING\n\n" + paris + "data: : keepalive\n\n:\n\n" + stop, "Paris", nil, llm.Usage{}, llm.Stopped},
		"event and id lines":              {"event: message\nid: 1\n" + paris + stop, "Paris", nil, llm.Usage{}, llm.Stopped},
		"reasoning is not the answer":     {`data: {"choices":[{"delta":{"reasoning_content":"Hm."}}]}` + "\n\n" + `data: {"choices":[{"delta":{"reasoning":"Hm."}}]}` + "\n\n" + paris + stop, "Paris", nil, llm.Usage{}, llm.Stopped},
		"another word for the end":        {paris + strings.ReplaceAll(stop, "stop", "eos_token"), "Paris", nil, llm.Usage{}, llm.Stopped},
		"a word nobody knows":             {paris + strings.ReplaceAll(stop, `"stop"`, `"tired"`), "Paris", nil, llm.Usage{}, llm.Unclear},
		"cut at the limit":                {paris + strings.ReplaceAll(stop, `"stop"`, `"length"`), "Paris", nil, llm.Usage{}, llm.Length},
		"a filter":                        {paris + strings.ReplaceAll(stop, `"stop"`, `"content_filter"`), "Paris", nil, llm.Usage{}, llm.Refused},
		"a refusal":                       {`data: {"choices":[{"delta":{"refusal":"I cannot."}}]}` + "\n\n" + stop, "", nil, llm.Usage{}, llm.Refused},
		"not streamed":                    {`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"Paris"}}],"usage":{"completion_tokens":2,"prompt_tokens":26,"prompt_tokens_details":{"cached_tokens":25}}}`, "Paris", nil, usage, llm.Stopped},
		"not streamed, after blank lines": {"\n\n\n" + `{"choices":[{"finish_reason":"stop","message":{"content":"Paris"}}]}`, "Paris", nil, llm.Usage{}, llm.Stopped},
		"several choices: the first":      {`data: {"choices":[{"delta":{"content":"Paris"},"finish_reason":"stop"},{"delta":{"content":"Rome"}}]}` + "\n\n", "Paris", nil, llm.Usage{}, llm.Stopped},
		"a call in pieces, id first only": {`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{"}}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"q\":1}"}}]}}]}` + "\n\n" + strings.ReplaceAll(stop, "stop", "tool_calls"), "", []llm.Call{call("a", "look", `{"q":1}`)}, llm.Usage{}, llm.Called},
		"two calls, both numbered 0": {`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":1}"}}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"look","arguments":"{\"q\":2}"}}]}}]}` + "\n\n" + stop, "", []llm.Call{call("a", "look", `{"q":1}`), call("b", "look", `{"q":2}`)}, llm.Usage{}, llm.Stopped},
		"two calls without ids": {`data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"look","arguments":"{\"q\":1}"}},{"function":{"name":"see","arguments":"{}"}}]}}]}` + "\n\n" + stop, "", []llm.Call{call("", "look", `{"q":1}`), call("", "see", `{}`)}, llm.Usage{}, llm.Stopped},
		"two calls in turns, by index": {`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"a\""}},{"index":1,"id":"b","function":{"name":"y","arguments":"{\"b\""}}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}},{"index":1,"function":{"arguments":":2}"}}]}}]}` + "\n\n" + stop, "", []llm.Call{call("a", "x", `{"a":1}`), call("b", "y", `{"b":2}`)}, llm.Usage{}, llm.Stopped},
		"arguments as an object":   {`{"choices":[{"finish_reason":"stop","message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"look","arguments":{"q":1}}}]}}]}`, "", []llm.Call{call("a", "look", `{"q":1}`)}, llm.Usage{}, llm.Stopped},
		"a call without arguments": {`{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"a","function":{"name":"look","arguments":""}}]}}]}`, "", []llm.Call{call("a", "look", `{}`)}, llm.Usage{}, llm.Called},
		"a very long line":         {`data: {"choices":[{"delta":{"content":"` + strings.Repeat("x", 300_000) + `"}}]}` + "\n\n" + stop, strings.Repeat("x", 300_000), nil, llm.Usage{}, llm.Stopped},
		"bytes that are no UTF-8":  {"data: {\"choices\":[{\"delta\":{\"content\":\"P\xffaris\"}}]}\n\n" + stop, "P\ufffdaris", nil, llm.Usage{}, llm.Stopped},
	} {
		got, err := llm.Complete(t.Context(), serve(t, says(200, c.body)), hello)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Text != c.text || got.Finish != c.ends || got.Usage != c.usage || cmp.Diff(c.calls, got.Calls) != "" {
			t.Errorf("%s: %.100q %s %+v %s", name, got.Text, got.Finish, got.Usage, cmp.Diff(c.calls, got.Calls))
		}
	}
}

// What is no answer ends as an error of the right kind, and never shows the key.
func TestStreamsThatAreNone(t *testing.T) {
	const paris = `data: {"choices":[{"index":0,"delta":{"content":"Paris"}}]}` + "\n\n"
	for name, c := range map[string]struct {
		status  int
		body    string
		kind    llm.Kind
		started bool
	}{
		"an error after 200":             {200, paris + `data: {"error":{"code":500,"message":"the grammar broke","type":"server_error"}}` + "\n\n", llm.Server, true},
		"an error inside a whole answer": {200, `{"error":{"message":"no"},"choices":[]}`, llm.Server, false},
		"a stream that is cut":           {200, paris, llm.Truncated, true},
		"nothing":                        {200, "", llm.Malformed, false},
		"only [DONE]":                    {200, "data: [DONE]\n\n", llm.Malformed, false},
		"no JSON":                        {200, "data: hello\n\n", llm.Malformed, false},
		"a web page":                     {200, "<html>login</html>", llm.Malformed, false},
		"arguments that are no JSON":     {200, `{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"a","function":{"name":"look","arguments":"{q"}}]}}]}`, llm.Malformed, false},
		"bad key":                        {401, `{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}`, llm.Denied, false},
		"no money":                       {429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, llm.Denied, false},
		"busy":                           {429, `{"error":{"message":"slow down"}}`, llm.Overloaded, false},
		"loading":                        {503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`, llm.Overloaded, false},
		"overloaded":                     {529, ``, llm.Overloaded, false},
		"broken":                         {500, `{"error":{"code":500,"message":"output does not match","type":"server_error"}}`, llm.Server, false},
		"a gateway's page":               {502, `<html><h1>502 Bad Gateway</h1></html>`, llm.Server, false},
		"a gateway's time":               {504, ``, llm.Late, false},
		"too long, as llama.cpp says":    {400, `{"error":{"code":400,"message":"request (24030 tokens) exceeds the available context size (8192 tokens)","type":"exceed_context_size_error"}}`, llm.TooLong, false},
		"too long, as OpenAI says":       {400, `{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}`, llm.TooLong, false},
		"a flat error":                   {400, `{"object":"error","message":"Conversation roles must alternate","type":"BadRequestError","code":400}`, llm.Invalid, false},
		"an error that is a string":      {400, `{"error":"model not found"}`, llm.Invalid, false},
		"an error under detail":          {422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, llm.Invalid, false},
		"a cause in metadata":            {400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"bad thing"}}}`, llm.Invalid, false},
		"a redirect":                     {302, ``, llm.Invalid, false},
		"no such route":                  {404, `{"error":{"message":"File Not Found"}}`, llm.Invalid, false},
	} {
		_, err := llm.Complete(t.Context(), serve(t, says(c.status, c.body)), hello)
		var known *llm.Error
		if !errors.As(err, &known) || known.Kind != c.kind || known.Started != c.started {
			t.Errorf("%s: %v (%+v)", name, err, known)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s shows the key: %v", name, err)
		}
	}
}

func TestRetryAfterInAllItsForms(t *testing.T) {
	for header, want := range map[[2]string]time.Duration{
		{"Retry-After", "7"}: 7 * time.Second, {"Retry-After", "0.5"}: 500 * time.Millisecond, {"Retry-After-Ms", "250"}: 250 * time.Millisecond,
		{"Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}: time.Hour, {"Retry-After", "soon"}: 0, {"Retry-After", "-3"}: 0,
	} {
		m := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(header[0], header[1])
			w.WriteHeader(http.StatusTooManyRequests)
		})
		_, err := llm.Complete(t.Context(), m, hello)
		var known *llm.Error
		if !errors.As(err, &known) || known.After < want-2*time.Second || known.After > want {
			t.Errorf("%v: %v %v", header, err, known)
		}
	}
}

// A stream that goes silent, a server that never answers, a caller that leaves: each ends
// in time, and the server sees the connection close.
func TestStreamsThatDoNotEnd(t *testing.T) {
	gone := make(chan struct{}, 3)
	silent := func(first string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, first)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			gone <- struct{}{}
		}
	}
	server := httptest.NewServer(silent(`data: {"choices":[{"delta":{"content":"Par"}}]}` + "\n\n"))
	defer server.Close()
	m, err := openai.New(openai.Options{BaseURL: server.URL, Model: "m", Stall: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = llm.Complete(t.Context(), m, hello)
	var known *llm.Error
	if !errors.As(err, &known) || known.Kind != llm.Late || !known.Started {
		t.Errorf("silence: %v", err)
	}
	<-gone
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := llm.Complete(ctx, m, hello); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("deadline: %v", err)
	}
	<-gone
	for range m.Stream(t.Context(), hello) {
		break
	}
	<-gone
}

func TestAServerThatIsNotThere(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	m, err := openai.New(openai.Options{BaseURL: strings.Replace(server.URL, "http://", "http://user:secretpass@", 1), Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = llm.Complete(t.Context(), m, hello)
	var known *llm.Error
	if !errors.As(err, &known) || known.Kind != llm.Unreachable || strings.Contains(err.Error(), "secretpass") {
		t.Errorf("%v", err)
	}
}
