//go:build integration

package qdrant_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/internal/testbed"
	"github.com/sextant-rag/sextant/store/storetest"
)

// server is the address of a real Qdrant, if QDRANT_URL names one, or of its engine.
func server(t testing.TB) string {
	t.Helper()
	if url := os.Getenv("QDRANT_URL"); url != "" {
		return url
	}
	return testbed.Qdrant(t, testbed.Scratch(t), 0).URL
}

func TestIntegrationConformance(t *testing.T) {
	storetest.RunWith(t, opener(server(t)), qdrantDiffers)
}

func TestIntegrationReencodeWhileOthersWork(t *testing.T) {
	whileOthersWork(t, server(t), 150, fmt.Sprintf("again%d_", time.Now().UnixNano()))
}

func TestIntegrationEqualVectors(t *testing.T) {
	equalVectors(t, opener(server(t))(t, t.TempDir()))
}
