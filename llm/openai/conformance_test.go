package openai_test

import (
	"testing"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/llmtest"
	"github.com/sextant-rag/sextant/llm/openai"
)

func TestConformance(t *testing.T) {
	llmtest.RunServer(t, llmtest.OpenAI, func(t *testing.T, address string) llm.Model {
		m, err := openai.New(openai.Options{BaseURL: address + "/v1", Key: "k", Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}
