package anthropic_test

import (
	"testing"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/anthropic"
	"github.com/sextant-rag/sextant/llm/llmtest"
)

func TestConformance(t *testing.T) {
	llmtest.RunServer(t, llmtest.Anthropic, func(t *testing.T, address string) llm.Model {
		m, err := anthropic.New(anthropic.Options{BaseURL: address, Key: "k", Model: "claude-x"})
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}
