// Package replay answers from recorded calls of models: those that a trace kept, or a file
// of a test. No provider is asked, and nothing costs anything. A request that was never
// recorded is an error that says so: an answer to another question would look right.
package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"github.com/sextant-rag/sextant/llm"
)

// Model answers with what was recorded. Equal requests get their answers in the order in
// which they were recorded; the last one is given again when there are no more, as a
// question that is replayed twice asks twice. It is safe for concurrent use.
type Model struct {
	name, provider string

	mu    sync.Mutex
	known map[[32]byte][]llm.Exchange
}

// New makes a model of the calls of one name; all of them where the name is "".
func New(name string, exchanges []llm.Exchange) (*Model, error) {
	m := &Model{name: name, provider: "replay", known: map[[32]byte][]llm.Exchange{}}
	for _, x := range exchanges {
		if name != "" && x.Model != name {
			continue
		}
		key, err := keyOf(x.Request)
		if err != nil {
			return nil, err
		}
		m.known[key] = append(m.known[key], x)
		m.name, m.provider = x.Model, x.Provider
	}
	return m, nil
}

// keyOf names a request by everything in it that decides the answer.
func keyOf(r llm.Request) (key [32]byte, err error) {
	b, err := json.Marshal(r)
	if err != nil {
		return key, fmt.Errorf("replay: %w", err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, b); err != nil {
		return key, fmt.Errorf("replay: %w", err)
	}
	return sha256.Sum256(compact.Bytes()), nil
}

// Name is the recorded model's.
func (m *Model) Name() string { return m.name }

// Provider is the recorded model's.
func (m *Model) Provider() string { return m.provider }

// Stream implements llm.Model.
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(llm.Chunk{}, err)
			return
		}
		x, err := m.next(r)
		if err != nil {
			yield(llm.Chunk{}, err)
			return
		}
		// An answer that came whole and was none, a refusal say, fails again as it did then.
		if f := x.Failure; f != nil && x.Response.Finish == "" {
			yield(llm.Chunk{}, &llm.Error{Kind: f.Kind, Provider: m.provider, Status: f.Status, Code: f.Code, Message: f.Message, After: f.After, Started: f.Started})
			return
		}
		if x.Response.Text != "" && !yield(llm.Chunk{Text: x.Response.Text}, nil) {
			return
		}
		for i := range x.Response.Calls {
			if !yield(llm.Chunk{Call: &x.Response.Calls[i]}, nil) {
				return
			}
		}
		yield(llm.Chunk{Done: &x.Response.Done}, nil)
	}
}

func (m *Model) next(r llm.Request) (llm.Exchange, error) {
	key, err := keyOf(r)
	if err != nil {
		return llm.Exchange{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.known[key]
	if len(list) == 0 {
		return llm.Exchange{}, &llm.Error{Kind: llm.Invalid, Provider: m.provider, Code: "not_recorded", Message: "this request was not recorded: what leads to it has changed since (" + r.Purpose + ")"}
	}
	if len(list) > 1 {
		m.known[key] = list[1:]
	}
	return list[0], nil
}
