//go:build live

package openai_test

import (
	"testing"

	"github.com/sextant-rag/sextant/internal/testbed"
	"github.com/sextant-rag/sextant/llm/llmtest"
	"github.com/sextant-rag/sextant/llm/openai"
)

// needs: the local model server (make live-server)

func TestLiveServer(t *testing.T) {
	server := testbed.Llama(t)
	m, err := openai.New(openai.Options{BaseURL: server.URL + "/v1", Model: "smollm2"})
	if err != nil {
		t.Fatal(err)
	}
	llmtest.RunLive(t, m, true)
}
