package anthropic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/internal/wire"
)

// wireEvent is any event of a stream.
type wireEvent struct {
	Type         string          `json:"type"`
	Index        int             `json:"index"`
	Message      json.RawMessage `json:"message"` // a wireMessage; a string in errors of some servers
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        *wireDelta      `json:"delta"`
	Usage        *wireUsage      `json:"usage"`
	Error        json.RawMessage `json:"error"`
}

// wireMessage is a whole answer, or its beginning.
type wireMessage struct {
	Type       string            `json:"type"`
	Model      string            `json:"model"`
	Content    []json.RawMessage `json:"content"`
	StopReason *string           `json:"stop_reason"`
	Usage      *wireUsage        `json:"usage"`
}

type wireDelta struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	PartialJSON string          `json:"partial_json"`
	Thinking    string          `json:"thinking"`
	Signature   string          `json:"signature"`
	Citation    json.RawMessage `json:"citation"`
	StopReason  *string         `json:"stop_reason"`
}

type wireUsage struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
}

// assembler puts an answer together.
type assembler struct {
	answer  string // the tool whose input is the answer
	started bool
	any     bool // the message had begun
	ended   bool // and was said to be over
	blocks  []*block
	stop    string
	model   string
	usage   wireUsage
	counted bool
}

// read yields the pieces of an answer: a stream of events, or one JSON object from servers
// that do not stream.
func (out *assembler) read(res *http.Response) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		body := bufio.NewReaderSize(io.LimitReader(res.Body, wire.MaxAnswer), 64<<10)
		events := out.events(res, body)
		if isJSON(body) {
			events = out.whole(body)
		}
		for text, err := range events {
			if err != nil {
				yield(llm.Chunk{}, err)
				return
			}
			if text == "" || out.answer != "" {
				continue // where the answer is a tool's input, words beside it are none
			}
			if out.started = true; !yield(llm.Chunk{Text: text}, nil) {
				return
			}
		}
		out.finish(yield)
	}
}

// isJSON looks at the first byte that is none of white space.
func isJSON(r *bufio.Reader) bool {
	for {
		b, err := r.Peek(1)
		if err != nil {
			return false
		}
		if b[0] != ' ' && b[0] != '\n' && b[0] != '\r' && b[0] != '\t' {
			return b[0] == '{'
		}
		_, _ = r.Discard(1)
	}
}

// whole reads an answer that is not streamed.
func (out *assembler) whole(r io.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		body, err := io.ReadAll(r)
		if err != nil {
			yield("", err)
			return
		}
		var m wireMessage
		if err := json.Unmarshal(body, &m); err != nil {
			yield("", malformed("the answer is no JSON", err))
			return
		}
		if m.Type != "message" {
			yield("", failure(body))
			return
		}
		text, err := out.begin(&m)
		out.ended = true
		yield(text, err)
	}
}

// events reads a stream and yields its text. The decoder drops an event that no blank line
// follows, so that one is added.
func (out *assembler) events(res *http.Response, r io.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		decoder := ssestream.NewDecoder(&http.Response{Header: res.Header, Body: io.NopCloser(io.MultiReader(r, strings.NewReader("\n\n")))})
		for !out.ended && decoder.Next() {
			event := decoder.Event()
			text, err := out.take(event.Type, bytes.TrimSpace(event.Data))
			if !yield(text, err) || err != nil {
				return
			}
		}
		if err := decoder.Err(); err != nil {
			yield("", err)
		}
	}
}

// take reads one event into the answer and returns its text. Events of names that are not
// known are passed over, as the API asks of clients; so are pings and comments sent as data.
func (out *assembler) take(name string, data []byte) (string, error) {
	if name == "ping" || len(data) == 0 || data[0] == ':' {
		return "", nil
	}
	if name == "error" {
		return "", failure(data)
	}
	var e wireEvent
	if err := json.Unmarshal(data, &e); err != nil {
		if name != "" && !understood[name] {
			return "", nil
		}
		return "", malformed("an event of the answer is no JSON", err)
	}
	if e.Type == "error" || len(e.Error) > 0 && string(e.Error) != "null" {
		return "", failure(data)
	}
	out.count(e.Usage)
	switch e.Type {
	case "message_start":
		var m wireMessage
		if err := json.Unmarshal(e.Message, &m); err != nil {
			return "", malformed("the beginning of the answer cannot be read", err)
		}
		return out.begin(&m)
	case "content_block_start":
		b, err := newBlock(e.Index, e.ContentBlock)
		if err != nil {
			return "", err
		}
		out.blocks = append(out.blocks, b)
		return b.text.String(), nil
	case "content_block_delta":
		if e.Delta == nil {
			return "", nil
		}
		return out.block(e.Index, e.Delta.Type).add(e.Delta), nil
	case "message_delta":
		if e.Delta != nil && e.Delta.StopReason != nil {
			out.any, out.stop = true, *e.Delta.StopReason
		}
	case "message_stop":
		out.ended = true
	}
	return "", nil
}

var understood = map[string]bool{"message_start": true, "content_block_start": true, "content_block_delta": true, "content_block_stop": true, "message_delta": true, "message_stop": true}

// begin takes what a message begins with, which is all of it where it is not streamed.
func (out *assembler) begin(m *wireMessage) (string, error) {
	out.any, out.model = true, m.Model
	out.count(m.Usage)
	if m.StopReason != nil {
		out.stop = *m.StopReason
	}
	var text strings.Builder
	for i, raw := range m.Content {
		b, err := newBlock(i, raw)
		if err != nil {
			return "", err
		}
		out.blocks = append(out.blocks, b)
		text.WriteString(b.text.String())
	}
	return text.String(), nil
}

// count merges figures: they count up over a message, and later events repeat or leave out
// what earlier ones said, or say 0 of it, so that the largest is right and no sum is.
func (out *assembler) count(u *wireUsage) {
	if u == nil {
		return
	}
	for _, f := range []struct{ all, now **int64 }{{&out.usage.Input, &u.Input}, {&out.usage.Output, &u.Output}, {&out.usage.CacheRead, &u.CacheRead}, {&out.usage.CacheWrite, &u.CacheWrite}} {
		if *f.now != nil && (*f.all == nil || **f.now > **f.all) {
			*f.all, out.counted = *f.now, true
		}
	}
}

// block finds the block that a delta belongs to. A server that began none is taken to have.
func (out *assembler) block(index int, delta string) *block {
	for i := len(out.blocks) - 1; i >= 0; i-- {
		if out.blocks[i].index == index {
			return out.blocks[i]
		}
	}
	b := &block{index: index, kind: "text"}
	if strings.HasPrefix(delta, "thinking") || strings.HasPrefix(delta, "signature") {
		b.kind = "thinking"
	}
	out.blocks = append(out.blocks, b)
	return b
}

// stops are the words for why a model stopped; any other is llm.Unclear, never a success.
var stops = map[string]llm.Finish{
	"end_turn": llm.Stopped, "stop_sequence": llm.Stopped, "tool_use": llm.Called,
	"max_tokens": llm.Length, "model_context_window_exceeded": llm.Length,
	"refusal": llm.Refused, "pause_turn": llm.Paused,
}

// finish ends an answer. One that ends without a reason, or whose stream ends without
// saying that it does, was cut.
func (out *assembler) finish(yield func(llm.Chunk, error) bool) {
	switch {
	case !out.any:
		yield(llm.Chunk{}, malformed("the answer is empty", nil))
		return
	case !out.ended || out.stop == "":
		yield(llm.Chunk{}, &llm.Error{Kind: llm.Truncated, Provider: provider, Message: "the answer ended without saying why"})
		return
	}
	done := llm.Done{Finish: llm.Unclear, Raw: out.stop, Model: out.model, Usage: out.total(), Opaque: out.opaque()}
	if finish, ok := stops[out.stop]; ok {
		done.Finish = finish
	}
	for _, chunk := range out.results(&done) {
		if chunk.Call != nil && !json.Valid(chunk.Call.Input) {
			yield(llm.Chunk{}, malformed("the arguments of a tool call are no JSON", nil))
			return
		}
		if !yield(chunk, nil) {
			return
		}
	}
	yield(llm.Chunk{Done: &done}, nil)
}

// results are the calls of an answer, or the input of the tool that stands for one. What
// was cut at the limit of tokens is cut, and no fault of what was written.
func (out *assembler) results(done *llm.Done) []llm.Chunk {
	var list []llm.Chunk
	answered := false
	for _, b := range out.blocks {
		if b.kind != "tool_use" || done.Finish == llm.Length && !json.Valid(b.arguments()) {
			continue
		}
		if out.answer != "" && b.name == out.answer {
			if !answered && done.Finish == llm.Called {
				done.Finish = llm.Stopped
			}
			if !answered {
				list = append(list, llm.Chunk{Text: string(b.arguments())})
			}
			answered = true
			continue
		}
		list = append(list, llm.Chunk{Call: &llm.Call{ID: b.id, Name: b.name, Input: b.arguments()}})
	}
	if out.answer == "" || answered {
		return list
	}
	var text strings.Builder // a server that cannot be made to call a tool
	for _, b := range out.blocks {
		if b.kind == "text" {
			text.WriteString(b.text.String())
		}
	}
	if text.Len() > 0 {
		list = append([]llm.Chunk{{Text: text.String()}}, list...)
	}
	return list
}

func (out *assembler) total() llm.Usage {
	of := func(n *int64) int64 {
		if n == nil || *n < 0 {
			return 0
		}
		return *n
	}
	u := &out.usage
	read, written := of(u.CacheRead), of(u.CacheWrite)
	return llm.Usage{Input: of(u.Input) + read + written, Output: of(u.Output), CacheRead: read, CacheWritten: written, Known: out.counted}
}

// opaque keeps all blocks of an answer that has others than text and calls: signed thinking
// must come back as it was.
func (out *assembler) opaque() json.RawMessage {
	plain := true
	var o opaque
	for _, b := range out.blocks {
		plain = plain && (b.kind == "text" || b.kind == "tool_use")
		raw, err := b.whole()
		if err != nil {
			return nil
		}
		if raw != nil {
			o.Blocks = append(o.Blocks, raw)
		}
	}
	if plain {
		return nil
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return nil
	}
	return raw
}

func malformed(message string, err error) error {
	return &llm.Error{Kind: llm.Malformed, Provider: provider, Message: message, Err: err}
}

// failure is an error that comes after a status of success.
func failure(body []byte) error {
	e := wire.ParseError(body)
	e.Provider, e.Status = provider, http.StatusOK
	kind, ok := kindOf(e)
	if e.Kind = kind; !ok {
		e.Kind = llm.Server
	}
	return e
}
