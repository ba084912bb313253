// Package llmtest has models for tests and the suite that every provider's package must
// pass. No model here talks to anybody.
package llmtest

import (
	"context"
	"iter"
	"sync"

	"github.com/sextant-rag/sextant/llm"
)

// Script is a model that answers as it is told, call by call, and keeps what it was asked.
// After its last answer it gives that one again. It is safe for concurrent use.
type Script struct {
	// Answer, if set, decides instead of Answers.
	Answer  func(call int, r llm.Request) (llm.Response, error)
	Answers []llm.Response
	Label   string // Name; "" is "script"

	mu    sync.Mutex
	asked []llm.Request
}

// Text is an answer in words, with some usage.
func Text(s string) llm.Response {
	return llm.Response{Text: s, Done: llm.Done{Finish: llm.Stopped, Raw: "stop", Usage: llm.Usage{Input: 10, Output: 5, Known: true}}}
}

// Name implements llm.Model.
func (s *Script) Name() string {
	if s.Label != "" {
		return s.Label
	}
	return "script"
}

// Provider implements llm.Model.
func (s *Script) Provider() string { return "script" }

// Asked returns the requests so far.
func (s *Script) Asked() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]llm.Request(nil), s.asked...)
}

func (s *Script) next(r llm.Request) (llm.Response, error) {
	s.mu.Lock()
	call := len(s.asked)
	s.asked = append(s.asked, r)
	s.mu.Unlock()
	if s.Answer != nil {
		return s.Answer(call, r)
	}
	if len(s.Answers) == 0 {
		return llm.Response{}, &llm.Error{Kind: llm.Unreachable, Provider: s.Provider(), Message: "the script is empty"}
	}
	return s.Answers[min(call, len(s.Answers)-1)], nil
}

// Stream implements llm.Model.
func (s *Script) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(llm.Chunk{}, err)
			return
		}
		out, err := s.next(r)
		if err != nil {
			yield(llm.Chunk{}, err)
			return
		}
		if err := ctx.Err(); err != nil { // a script may have waited
			yield(llm.Chunk{}, err)
			return
		}
		if out.Text != "" && !yield(llm.Chunk{Text: out.Text}, nil) {
			return
		}
		for i := range out.Calls {
			if !yield(llm.Chunk{Call: &out.Calls[i]}, nil) {
				return
			}
		}
		yield(llm.Chunk{Done: &out.Done}, nil)
	}
}
