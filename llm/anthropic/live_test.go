//go:build live

package anthropic_test

import (
	"testing"

	"github.com/sextant-rag/sextant/internal/testbed"
	"github.com/sextant-rag/sextant/llm/anthropic"
	"github.com/sextant-rag/sextant/llm/llmtest"
)

// needs: the local model server (make live-server)

func TestLiveServer(t *testing.T) {
	server := testbed.Llama(t)
	m, err := anthropic.New(anthropic.Options{BaseURL: server.URL, Model: "smollm2"})
	if err != nil {
		t.Fatal(err)
	}
	llmtest.RunLive(t, m, false)
}
