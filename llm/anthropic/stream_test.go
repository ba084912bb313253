package anthropic_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/anthropic"
)

// serve makes a model of a handler.
func serve(t *testing.T, model string, h http.HandlerFunc) *anthropic.Model {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	m, err := anthropic.New(anthropic.Options{BaseURL: server.URL, Key: "sk-very-secret", Model: model, Stall: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// says answers every request with a body.
func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if strings.HasPrefix(strings.TrimSpace(body), "{") {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

var hello = llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Capital of France?"}}}

// event is one of a stream, named by its type.
func event(data string) string {
	var e struct{ Type string }
	_ = json.Unmarshal([]byte(data), &e)
	return "event: " + e.Type + "\ndata: " + data + "\n\n"
}

var (
	start  = event(`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":22,"cache_read_input_tokens":3,"cache_creation_input_tokens":5,"output_tokens":1}}}`)
	open   = event(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	paris  = event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Paris"}}`)
	closed = event(`{"type":"content_block_stop","index":0}`)
	delta  = event(`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}`)
	stop   = event(`{"type":"message_stop"}`)
	plain  = start + open + paris + closed + delta + stop
)

func ends(word string) string { return strings.ReplaceAll(plain, "end_turn", word) }

// look is a call of a tool in a stream, in the pieces given.
func look(pieces ...string) string {
	s := event(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"look"}}`)
	for _, p := range pieces {
		quoted, _ := json.Marshal(p)
		s += event(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":` + string(quoted) + `}}`)
	}
	return start + s + closed
}

var (
	called = strings.ReplaceAll(delta, "end_turn", "tool_use") + stop
	cut    = strings.ReplaceAll(delta, "end_turn", "max_tokens") + stop
)

// What servers send: what Anthropic documents, and what others were seen to.
func TestStreamsThatAreAnswers(t *testing.T) {
	usage := llm.Usage{Input: 30, Output: 2, CacheRead: 3, CacheWritten: 5, Known: true}
	call := llm.Call{ID: "a", Name: "look", Input: json.RawMessage(`{"q":1}`)}
	for name, c := range map[string]struct {
		body  string
		text  string
		calls []llm.Call
		usage llm.Usage
		ends  llm.Finish
	}{
		"as documented":                              {plain, "Paris", nil, usage, llm.Stopped},
		"pings and events nobody knows":              {start + event(`{"type":"ping"}`) + open + "event: weather\ndata: sunny\n\n" + event(`{"type":"mood","delta":{"text":"no"}}`) + paris + closed + delta + stop, "Paris", nil, usage, llm.Stopped},
		"no event lines":                             {strings.ReplaceAll(plain, "event: ", "id: "), "Paris", nil, usage, llm.Stopped},
		"comments, also as data":                     {": hello\n\n" + start + ":\n\ndata: : keepalive\n\n" + open + paris + closed + delta + stop, "Paris", nil, usage, llm.Stopped},
		"carriage returns":                           {strings.ReplaceAll(plain, "\n", "\r\n"), "Paris", nil, usage, llm.Stopped},
		"no blank line at the end":                   {strings.TrimRight(plain, "\n"), "Paris", nil, usage, llm.Stopped},
		"words after the end":                        {plain + "data: [DONE]\n\n", "Paris", nil, usage, llm.Stopped},
		"text in the block's beginning":              {start + strings.ReplaceAll(open, `"text":""`, `"text":"Par"`) + strings.ReplaceAll(paris, "Paris", "is") + closed + delta + stop, "Paris", nil, usage, llm.Stopped},
		"a block that never began":                   {start + paris + delta + stop, "Paris", nil, usage, llm.Stopped},
		"an unknown delta":                           {start + open + paris + event(`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"cited_text":"x"}}}`) + closed + delta + stop, "Paris", nil, usage, llm.Stopped},
		"usage repeated at the end":                  {strings.ReplaceAll(plain, `"usage":{"output_tokens":2}`, `"usage":{"input_tokens":22,"cache_read_input_tokens":3,"cache_creation_input_tokens":5,"output_tokens":2}`), "Paris", nil, usage, llm.Stopped},
		"usage only at the end":                      {strings.ReplaceAll(strings.ReplaceAll(plain, `,"usage":{"input_tokens":22,"cache_read_input_tokens":3,"cache_creation_input_tokens":5,"output_tokens":1}`, ""), `"usage":{"output_tokens":2}`, `"usage":{"input_tokens":30,"output_tokens":2}`), "Paris", nil, llm.Usage{Input: 30, Output: 2, Known: true}, llm.Stopped},
		"usage said to be 0 at the end":              {strings.ReplaceAll(plain, `"usage":{"output_tokens":2}`, `"usage":{"input_tokens":0,"output_tokens":2}`), "Paris", nil, usage, llm.Stopped},
		"no usage":                                   {strings.NewReplacer(`,"usage":{"input_tokens":22,"cache_read_input_tokens":3,"cache_creation_input_tokens":5,"output_tokens":1}`, "", `,"usage":{"output_tokens":2}`, "").Replace(plain), "Paris", nil, llm.Usage{}, llm.Stopped},
		"llama.cpp: no cache_creation":               {strings.ReplaceAll(plain, `"input_tokens":22,"cache_read_input_tokens":3,"cache_creation_input_tokens":5`, `"cache_read_input_tokens":37,"input_tokens":1`), "Paris", nil, llm.Usage{Input: 38, Output: 2, CacheRead: 37, Known: true}, llm.Stopped},
		"llama.cpp: a stop sequence with end_turn":   {strings.ReplaceAll(plain, `"stop_sequence":null`, `"stop_sequence":"aris"`), "Paris", nil, usage, llm.Stopped},
		"llama.cpp: a call without input":            {look("\n  \"", "", "x") + called, "", nil, llm.Usage{}, ""},
		"a stop sequence":                            {ends("stop_sequence"), "Paris", nil, usage, llm.Stopped},
		"the limit":                                  {ends("max_tokens"), "Paris", nil, usage, llm.Length},
		"the context":                                {ends("model_context_window_exceeded"), "Paris", nil, usage, llm.Length},
		"a refusal":                                  {ends("refusal"), "Paris", nil, usage, llm.Refused},
		"a pause":                                    {ends("pause_turn"), "Paris", nil, usage, llm.Paused},
		"a word nobody knows":                        {ends("tired"), "Paris", nil, usage, llm.Unclear},
		"a call in pieces":                           {look(`{`, `"q"`, `:1}`) + called, "", []llm.Call{call}, usage, llm.Called},
		"a call without arguments":                   {look() + called, "", []llm.Call{{ID: "a", Name: "look", Input: json.RawMessage(`{}`)}}, usage, llm.Called},
		"a call whose beginning is all":              {start + event(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"look","input":{"q":1}}}`) + closed + called, "", []llm.Call{call}, usage, llm.Called},
		"a call cut at the limit is cut":             {look(`{"q":`) + cut, "", nil, usage, llm.Length},
		"two blocks in turns":                        {start + open + event(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"look"}}`) + paris + event(`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"q\":1}"}}`) + called, "Paris", []llm.Call{call}, usage, llm.Called},
		"not streamed":                               {`{"type":"message","content":[{"type":"text","text":"Paris"}],"model":"m","stop_reason":"end_turn","usage":{"cache_read_input_tokens":3,"input_tokens":22,"output_tokens":2}}`, "Paris", nil, llm.Usage{Input: 25, Output: 2, CacheRead: 3, Known: true}, llm.Stopped},
		"not streamed, after blank lines":            {"\n\n" + `{"type":"message","content":[{"type":"tool_use","id":"a","name":"look","input":{"q":1}}],"stop_reason":"tool_use"}`, "", []llm.Call{call}, llm.Usage{}, llm.Called},
		"bytes that are no UTF-8":                    {strings.ReplaceAll(plain, "Paris", "P\xffaris"), "P\ufffdaris", nil, usage, llm.Stopped},
		"a very long line":                           {strings.ReplaceAll(plain, "Paris", strings.Repeat("x", 300_000)), strings.Repeat("x", 300_000), nil, usage, llm.Stopped},
		"thinking is not the answer":                 {start + strings.NewReplacer("text_delta", "thinking_delta", `"text":`, `"thinking":`, `"type":"text"`, `"type":"thinking"`).Replace(open+paris) + strings.ReplaceAll(open+paris, `"index":0`, `"index":1`) + delta + stop, "Paris", nil, usage, llm.Stopped},
		"a message that ends in message_delta twice": {start + open + paris + closed + strings.ReplaceAll(delta, `"end_turn"`, "null") + delta + stop, "Paris", nil, usage, llm.Stopped},
	} {
		got, err := llm.Complete(t.Context(), serve(t, "claude-x", says(200, c.body)), hello)
		if c.ends == "" { // an answer that cannot be
			var known *llm.Error
			if !errors.As(err, &known) || known.Kind != llm.Malformed {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
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
	wrong := func(kind, message string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_1"}`
	}
	for name, c := range map[string]struct {
		status  int
		body    string
		kind    llm.Kind
		started bool
	}{
		"overloaded after 200, before a word": {200, start + event(wrong("overloaded_error", "Overloaded")), llm.Overloaded, false},
		"overloaded after 200, after some":    {200, start + open + paris + event(wrong("overloaded_error", "Overloaded")), llm.Overloaded, true},
		"broken after 200":                    {200, start + event(wrong("api_error", "Internal server error")), llm.Server, false},
		"llama.cpp: its error after 200":      {200, start + "event: error\ndata: {\"code\":500,\"message\":\"does not match the expected peg-native format\",\"type\":\"server_error\"}\n\n", llm.Server, false},
		"OpenAI's error after 200":            {200, start + "data: {\"error\":{\"code\":500,\"message\":\"x\",\"type\":\"server_error\"}}\n\n", llm.Server, false},
		"an error instead of an answer":       {200, wrong("api_error", "no"), llm.Server, false},
		"a stream that is cut":                {200, start + open + paris, llm.Truncated, true},
		"cut after its reason":                {200, start + open + paris + closed + delta, llm.Truncated, true},
		"no reason":                           {200, start + open + paris + closed + strings.ReplaceAll(delta, `"end_turn"`, "null") + stop, llm.Truncated, true},
		"nothing":                             {200, "", llm.Malformed, false},
		"only an end":                         {200, stop, llm.Malformed, false},
		"no JSON":                             {200, "data: hello\n\n", llm.Malformed, false},
		"half an event":                       {200, start + "event: content_block_delta\ndata: {\"type\":\n\n", llm.Malformed, false},
		"a web page":                          {200, "<html>login</html>", llm.Malformed, false},
		"a block that is none":                {200, start + event(`{"type":"content_block_start","index":0,"content_block":7}`), llm.Malformed, false},
		"a message that begins without one":   {200, `data: {"type":"message_start"}` + "\n\n", llm.Malformed, false},
		"arguments that are no JSON":          {200, look(`{q`) + called, llm.Malformed, false},
		"bad key":                             {401, wrong("authentication_error", "invalid x-api-key"), llm.Denied, false},
		"not allowed":                         {403, wrong("permission_error", "no"), llm.Denied, false},
		"no money":                            {400, wrong("invalid_request_error", "Your credit balance is too low to access the Anthropic API."), llm.Denied, false},
		"a limit of its own":                  {400, wrong("invalid_request_error", "You have reached your specified API usage limits."), llm.Denied, false},
		"no such model":                       {404, wrong("not_found_error", "model: claude-9"), llm.Invalid, false},
		"too long":                            {400, wrong("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"), llm.TooLong, false},
		"too long with the answer":            {400, wrong("invalid_request_error", "input length and max_tokens exceed context limit: 199000 + 8192 > 200000"), llm.TooLong, false},
		"too large":                           {413, wrong("request_too_large", "Request exceeds the maximum size"), llm.TooLong, false},
		"too long, as llama.cpp says":         {400, `{"error":{"code":400,"message":"request (24030 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":24030,"n_ctx":8192}}`, llm.TooLong, false},
		"filtered":                            {400, wrong("invalid_request_error", "Output blocked by content filtering policy"), llm.Declined, false},
		"busy":                                {429, wrong("rate_limit_error", "slow down"), llm.Overloaded, false},
		"overloaded":                          {529, wrong("overloaded_error", "Overloaded"), llm.Overloaded, false},
		"overloaded, without a word":          {529, "", llm.Overloaded, false},
		"overloaded under another status":     {500, wrong("overloaded_error", "Overloaded"), llm.Overloaded, false},
		"loading":                             {503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`, llm.Overloaded, false},
		"llama.cpp: no messages":              {500, `{"error":{"code":500,"message":"'messages' is required","type":"server_error"}}`, llm.Server, false},
		"a gateway's page":                    {502, `<html><h1>502 Bad Gateway</h1></html>`, llm.Server, false},
		"a gateway's time":                    {504, ``, llm.Late, false},
		"a redirect":                          {302, ``, llm.Invalid, false},
		"an error that is a string":           {400, `{"error":"model not found"}`, llm.Invalid, false},
	} {
		_, err := llm.Complete(t.Context(), serve(t, "claude-x", says(c.status, c.body)), hello)
		var known *llm.Error
		if !errors.As(err, &known) || known.Kind != c.kind || known.Started != c.started || known.Provider != "anthropic" {
			t.Errorf("%s: %v (%+v)", name, err, known)
			continue
		}
		if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s shows the key or the address: %v", name, err)
		}
	}
}

func TestRetryAfterInAllItsForms(t *testing.T) {
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	for _, c := range []struct {
		headers map[string]string
		want    time.Duration
	}{
		{map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{map[string]string{"Retry-After": "0.5"}, 500 * time.Millisecond},
		{map[string]string{"Retry-After-Ms": "250"}, 250 * time.Millisecond},
		{map[string]string{"Retry-After": time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}, time.Hour},
		{map[string]string{"Retry-After": "soon"}, 0},
		{map[string]string{"Retry-After": "-3"}, 0},
		{map[string]string{"Anthropic-Ratelimit-Tokens-Remaining": "0", "Anthropic-Ratelimit-Tokens-Reset": in(time.Minute), "Anthropic-Ratelimit-Requests-Remaining": "9", "Anthropic-Ratelimit-Requests-Reset": in(time.Hour)}, time.Minute},
		{map[string]string{"Retry-After": "7", "Anthropic-Ratelimit-Tokens-Remaining": "0", "Anthropic-Ratelimit-Tokens-Reset": in(time.Minute)}, 7 * time.Second},
	} {
		m := serve(t, "claude-x", func(w http.ResponseWriter, _ *http.Request) {
			for k, v := range c.headers {
				w.Header().Set(k, v)
			}
			w.WriteHeader(http.StatusTooManyRequests)
		})
		_, err := llm.Complete(t.Context(), m, hello)
		var known *llm.Error
		if !errors.As(err, &known) || known.After < c.want-3*time.Second || known.After > c.want {
			t.Errorf("%v: %v %v", c.headers, err, known.After)
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add(plain)
	f.Add(look(`{"q":`, `1}`) + called)
	f.Add(`{"type":"message","content":[{"type":"thinking","thinking":"x"}],"stop_reason":"end_turn"}`)
	f.Add("data: {\"type\":\"content_block_delta\",\"index\":-1,\"delta\":{\"type\":\"thinking_delta\"}}\n\n" + delta + stop)
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { says(200, body)(w, r) }))
	f.Cleanup(server.Close)
	m, err := anthropic.New(anthropic.Options{BaseURL: server.URL, Model: "claude-x"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, said string) {
		body = said
		out, err := llm.Complete(t.Context(), m, hello)
		var known *llm.Error
		if err != nil && !errors.As(err, &known) {
			t.Errorf("%v is no error of the package", err)
		}
		if err == nil && (out.Raw == "" || len(out.Opaque) > 0 && !json.Valid(out.Opaque)) {
			t.Errorf("%+v is no whole answer", out)
		}
	})
}
