package replay_test

import (
	"errors"
	"testing"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/llmtest"
	"github.com/sextant-rag/sextant/llm/replay"
)

func recorded(r llm.Request, said llmtest.Said) llm.Exchange {
	return llm.Exchange{Model: "m", Provider: "openai", Request: r, Response: llm.Response{Text: said.Text, Calls: said.Calls, Done: llm.Done{Finish: said.Finish, Raw: "as recorded", Usage: said.Usage}}}
}

func TestConformance(t *testing.T) {
	llmtest.Run(t, func(t *testing.T, r llm.Request, said llmtest.Said) llm.Model {
		m, err := replay.New("m", []llm.Exchange{recorded(r, said)})
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}

func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}}
}

// Equal requests are answered in the order of the recording, then with the last; a recorded
// failure fails again, and another request is an error, never another's answer.
func TestAnswersAsRecorded(t *testing.T) {
	failed := recorded(ask("c"), llmtest.Said{})
	failed.Failure = &llm.Failure{Kind: llm.Overloaded, Status: 529, Message: "busy"}
	m, err := replay.New("", []llm.Exchange{recorded(ask("a"), llmtest.Said{Text: "1"}), recorded(ask("b"), llmtest.Said{Text: "2"}), recorded(ask("a"), llmtest.Said{Text: "3"}), failed})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ask, want string
		kind      llm.Kind
	}{{"a", "1", ""}, {"a", "3", ""}, {"a", "3", ""}, {"b", "2", ""}, {"c", "", llm.Overloaded}, {"d", "", llm.Invalid}} {
		out, err := llm.Complete(t.Context(), m, ask(c.ask))
		var known *llm.Error
		if out.Text != c.want || (c.kind != "") != errors.As(err, &known) || known != nil && known.Kind != c.kind {
			t.Errorf("%s: %q %v", c.ask, out.Text, err)
		}
	}
}
