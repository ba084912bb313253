package llmtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/llm"
)

// RunLive holds a provider's package to the contract before a server that really runs a
// model. What such a model says cannot be foreseen, so that shapes, counts and reasons are
// tested, and words are not. enforced says that the server keeps to a schema by its protocol.
//
// The context of the server is expected to hold at most 8,192 tokens.
func RunLive(t *testing.T, m llm.Model, enforced bool) {
	zero := 0.0
	ask := func(text string, tokens int) llm.Request {
		return llm.Request{System: "You are brief.", Messages: []llm.Message{{Role: llm.User, Text: text}}, MaxTokens: tokens, Temperature: &zero, Purpose: "live"}
	}
	c := llm.NewCaller(m, llm.Policy{Timeout: 2 * time.Minute})
	t.Run("text", func(t *testing.T) {
		out, err := llm.Complete(t.Context(), m, ask("What is the capital of France?", 48))
		if err != nil || out.Text == "" || out.Finish != llm.Stopped && out.Finish != llm.Length || !out.Usage.Known || out.Usage.Input < 10 || out.Usage.Output < 1 || out.Usage.Output > 48 {
			t.Errorf("%v %+v", err, out)
		}
	})
	t.Run("length", func(t *testing.T) {
		_, err := c.Complete(t.Context(), ask("Count from one to one hundred, in words.", 4))
		wantKind(t, err, llm.Truncated)
	})
	t.Run("structured", func(t *testing.T) {
		r := ask("What is the capital of France?", 64)
		r.Output = asJSON.Output
		got, _, err := llm.Structured[capital](t.Context(), c, r)
		var known *llm.Error
		if err != nil && (enforced || !errors.As(err, &known)) {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("tools", func(t *testing.T) { // servers print calls as text, or pass over tools
		r := ask("Look up number 7.", 64)
		r.Tools, r.NeedTool = withTool.Tools, true
		out, err := llm.Complete(t.Context(), m, r)
		var known *llm.Error
		if err != nil && !errors.As(err, &known) || err == nil && out.Text == "" && len(out.Calls) == 0 {
			t.Errorf("%v %+v", err, out)
		}
	})
	t.Run("too long", func(t *testing.T) {
		_, err := llm.Complete(t.Context(), m, ask(strings.Repeat("The engine lost power. ", 4000), 16))
		wantKind(t, err, llm.TooLong)
	})
	t.Run("left", func(t *testing.T) {
		liveLeft(t, m, ask("Tell a long story about an aircraft.", 2000), ask("Say yes.", 8))
	})
}

func wantKind(t *testing.T, err error, kind llm.Kind) {
	t.Helper()
	var known *llm.Error
	if !errors.As(err, &known) || known.Kind != kind {
		t.Errorf("%v, want %s", err, kind)
	}
}

// liveLeft leaves a long answer: the server has one slot, so that the next call tells
// whether it noticed.
func liveLeft(t *testing.T, m llm.Model, long, short llm.Request) {
	for range m.Stream(t.Context(), long) {
		break
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := llm.Complete(ctx, m, short); err != nil {
		t.Errorf("after leaving: %v", err)
	}
}
