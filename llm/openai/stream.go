package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/internal/wire"
)

// wireChunk is one event of a stream, or a whole answer: they differ in delta and message.
type wireChunk struct {
	Model   string          `json:"model"`
	Choices []wireChoice    `json:"choices"`
	Usage   *wireUsage      `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type wireChoice struct {
	Delta   *wireDelta `json:"delta"`
	Message *wireDelta `json:"message"`
	Finish  *string    `json:"finish_reason"`
}

// wireDelta is a piece of text or of a tool call. Reasoning, under any of its names, is
// not part of the answer and only keeps the stream alive.
type wireDelta struct {
	Content   *string     `json:"content"`
	Refusal   *string     `json:"refusal"`
	ToolCalls []wirePiece `json:"tool_calls"`
}

type wirePiece struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a string; an object from some servers
	} `json:"function"`
}

type wireUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Details    struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// maxLine bounds one line of a stream, in bytes.
const maxLine = 16 << 20

// read yields the pieces of an answer: a stream of events, or one JSON object from servers
// that do not stream.
func (m *Model) read(res *http.Response, body io.Reader, out *assembler) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		limited := bufio.NewReaderSize(io.LimitReader(body, wire.MaxAnswer), 64<<10)
		events := sse(limited)
		if isJSON(res, limited) {
			events = whole(limited)
		}
		for data, err := range events {
			if err != nil {
				yield(llm.Chunk{}, err)
				return
			}
			text, err := m.take(out, data)
			if err != nil {
				yield(llm.Chunk{}, err)
				return
			}
			if text != "" {
				out.started = true
				if !yield(llm.Chunk{Text: text}, nil) {
					return
				}
			}
		}
		m.finish(out, yield)
	}
}

// isJSON looks at the first byte that is none of white space: some servers put blank lines
// before an answer, or name the wrong type.
func isJSON(res *http.Response, r *bufio.Reader) bool {
	for {
		b, err := r.Peek(1)
		if err != nil {
			return strings.Contains(res.Header.Get("Content-Type"), "json")
		}
		if b[0] != ' ' && b[0] != '\n' && b[0] != '\r' && b[0] != '\t' {
			return b[0] == '{'
		}
		_, _ = r.Discard(1)
	}
}

func whole(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		b, err := io.ReadAll(r)
		yield(b, err)
	}
}

// sse yields the data of the events of a stream. Comments, also those sent as data, and
// [DONE] are left out; several data lines of an event are joined.
func sse(r *bufio.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var data []byte
		for {
			line, err := r.ReadSlice('\n')
			if errors.Is(err, bufio.ErrBufferFull) {
				rest, err2 := readLong(r, line)
				line, err = rest, err2
			}
			text := bytes.TrimRight(line, "\r\n")
			if value, ok := bytes.CutPrefix(text, []byte("data:")); ok {
				value = bytes.TrimPrefix(value, []byte(" "))
				if len(data) > 0 {
					data = append(data, '\n')
				}
				data = append(data, value...)
			}
			if (len(text) == 0 || err != nil) && len(data) > 0 {
				event := bytes.TrimSpace(data)
				data = nil
				if len(event) > 0 && event[0] != ':' && !bytes.Equal(event, []byte("[DONE]")) && !yield(event, nil) {
					return
				}
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// readLong goes on with a line that is longer than the reader's buffer.
func readLong(r *bufio.Reader, start []byte) ([]byte, error) {
	line := append([]byte{}, start...)
	for {
		more, err := r.ReadSlice('\n')
		line = append(line, more...)
		if len(line) > maxLine {
			return nil, errors.New("a line of the stream is too long")
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// assembler puts an answer together.
type assembler struct {
	started bool
	any     bool // an event was understood
	calls   []*building
	refusal strings.Builder
	text    int
	finish  *string
	model   string
	usage   *wireUsage
}

// building is a tool call that is still coming.
type building struct {
	index     *int
	id, name  string
	arguments strings.Builder
}

// take reads one event into the answer and returns its text.
func (m *Model) take(out *assembler, data []byte) (string, error) {
	var c wireChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return "", &llm.Error{Kind: llm.Malformed, Provider: m.Provider(), Message: "an event of the answer is no JSON", Err: err}
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		e := wire.ParseError(data)
		e.Provider, e.Status = m.Provider(), http.StatusOK
		if e.Kind == "" {
			e.Kind = llm.Server
		}
		return "", e
	}
	out.any = true
	if c.Model != "" {
		out.model = c.Model
	}
	if c.Usage != nil {
		out.usage = c.Usage // the last one counts: servers that repeat it count up
	}
	var text strings.Builder
	for i := range c.Choices[:min(len(c.Choices), 1)] {
		choice := &c.Choices[i]
		if choice.Finish != nil && *choice.Finish != "" {
			out.finish = choice.Finish
		}
		for _, d := range []*wireDelta{choice.Delta, choice.Message} {
			if d != nil {
				out.add(d, &text)
			}
		}
	}
	out.text += text.Len()
	return text.String(), nil
}

func (out *assembler) add(d *wireDelta, text *strings.Builder) {
	if d.Content != nil {
		text.WriteString(*d.Content)
	}
	if d.Refusal != nil {
		out.refusal.WriteString(*d.Refusal)
	}
	for _, p := range d.ToolCalls {
		out.call(p)
	}
}

// call adds a piece to the call it belongs to. Servers leave out index or id, or number
// every call 0: a new id or name begins a new call, whatever the index says.
func (out *assembler) call(p wirePiece) {
	last := len(out.calls) - 1
	fresh := last < 0 || p.ID != "" && p.ID != out.calls[last].id && out.calls[last].id != "" || p.ID == "" && p.Function.Name != "" && out.calls[last].name != "" && out.calls[last].arguments.Len() > 0
	at := last
	if !fresh && p.Index != nil && p.ID == "" && p.Function.Name == "" {
		for i, c := range out.calls {
			if c.index != nil && *c.index == *p.Index {
				at = i
			}
		}
	}
	if fresh {
		out.calls = append(out.calls, &building{index: p.Index})
		at = len(out.calls) - 1
	}
	c := out.calls[at]
	if p.ID != "" {
		c.id = p.ID
	}
	if p.Function.Name != "" {
		c.name = p.Function.Name
	}
	var text string
	if json.Unmarshal(p.Function.Arguments, &text) == nil {
		c.arguments.WriteString(text)
	} else {
		c.arguments.Write(p.Function.Arguments)
	}
}

// finishes are the words for why a model stopped; any other is llm.Unclear, never a
// success.
var finishes = map[string]llm.Finish{
	"stop": llm.Stopped, "eos": llm.Stopped, "eos_token": llm.Stopped, "end": llm.Stopped, "end_turn": llm.Stopped, "stop_sequence": llm.Stopped, "completed": llm.Stopped,
	"tool_calls": llm.Called, "function_call": llm.Called, "tool_use": llm.Called,
	"length": llm.Length, "max_tokens": llm.Length, "model_length": llm.Length,
	"content_filter": llm.Refused, "refusal": llm.Refused, "sensitive": llm.Refused, "safety": llm.Refused,
	"error": llm.Failed, "network_error": llm.Failed, "abort": llm.Failed, "insufficient_system_resource": llm.Failed,
}

// finish ends an answer. A stream that ends without a reason was cut.
func (m *Model) finish(out *assembler, yield func(llm.Chunk, error) bool) {
	if !out.any {
		yield(llm.Chunk{}, &llm.Error{Kind: llm.Malformed, Provider: m.Provider(), Message: "the answer is empty"})
		return
	}
	if out.finish == nil {
		yield(llm.Chunk{}, &llm.Error{Kind: llm.Truncated, Provider: m.Provider(), Message: "the answer ended without saying why"})
		return
	}
	done := llm.Done{Finish: llm.Unclear, Raw: *out.finish, Model: out.model}
	if known, ok := finishes[strings.ToLower(*out.finish)]; ok {
		done.Finish = known
	}
	if out.refusal.Len() > 0 {
		done.Finish = llm.Refused
	}
	if u := out.usage; u != nil {
		done.Usage = llm.Usage{Input: u.Prompt, Output: u.Completion, CacheRead: u.Details.Cached, Known: true}
	}
	for _, c := range out.calls {
		input := json.RawMessage(strings.TrimSpace(c.arguments.String()))
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		if !json.Valid(input) {
			if done.Finish == llm.Length {
				continue // cut, which is no fault of what was written
			}
			yield(llm.Chunk{}, &llm.Error{Kind: llm.Malformed, Provider: m.Provider(), Message: "the arguments of a tool call are no JSON"})
			return
		}
		if !yield(llm.Chunk{Call: &llm.Call{ID: c.id, Name: c.name, Input: input}}, nil) {
			return
		}
	}
	yield(llm.Chunk{Done: &done}, nil)
}
