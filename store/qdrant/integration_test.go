//go:build integration

package qdrant_test

import (
	"fmt"
	"hash/fnv"
	"os"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/internal/testbed"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/qdrant"
	"github.com/sextant-rag/sextant/store/storetest"
)

// server is the address of a real Qdrant, if QDRANT_URL names one, or of its engine.
func server(t testing.TB) string {
	t.Helper()
	if url := os.Getenv("QDRANT_URL"); url != "" {
		return url
	}
	return testbed.Qdrant(t, t.TempDir(), 0).URL
}

// opener opens stores that share a server and see nothing of each other: what the suite
// calls a folder is a prefix there.
func opener(url string) storetest.Open {
	return func(t testing.TB, dir string) store.Store {
		h := fnv.New64a()
		fmt.Fprint(h, dir)
		s, err := qdrant.Open(qdrant.Options{URL: url, Key: os.Getenv("QDRANT_API_KEY"), Prefix: fmt.Sprintf("t%x_", h.Sum64()), Timeout: suitePatience})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// Readers may see a batch while it is written: Qdrant has no transactions.
func TestIntegrationConformance(t *testing.T) {
	storetest.RunWith(t, opener(server(t)), storetest.Differences{Unisolated: true})
}

// suitePatience is for machines that run everything at once.
const suitePatience = 30 * time.Second
