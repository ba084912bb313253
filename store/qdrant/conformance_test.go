package qdrant_test

import (
	"fmt"
	"hash/fnv"
	"os"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/qdrant"
	"github.com/sextant-rag/sextant/store/storetest"
)

// suitePatience is for machines that run everything at once.
const suitePatience = 30 * time.Second

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
		s.SetGrace(time.Millisecond)
		s.SetClosed(2 * time.Second)
		return s
	}
}

// qdrantDiffers: who reads may see a batch while it is written, for Qdrant has no
// transactions.
var qdrantDiffers = storetest.Differences{Unisolated: true}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.RunWith(t, opener(newFake(t).URL), qdrantDiffers)
}

// In strict mode the server refuses what no index answers: no question needs one that is
// not there.
func TestConformanceStrict(t *testing.T) {
	if testing.Short() {
		t.Skip("asks all again that TestConformance asks")
	}
	t.Parallel()
	f := newFake(t)
	f.strict = true
	storetest.RunWith(t, opener(f.URL), qdrantDiffers)
}
