//go:build integration

package chroma

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/internal/testbed"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
	"github.com/sextant-rag/sextant/store/storetest"
)

// opener opens databases of a server, one for each folder's name.
func opener(url string) storetest.Open {
	return func(t testing.TB, dir string) store.Store {
		sum := sha256.Sum256([]byte(dir))
		s, err := Open(Options{URL: url, Tenant: "test_tenant", Database: "d" + hex.EncodeToString(sum[:8]), Timeout: 20 * time.Second, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestIntegrationConformance(t *testing.T) {
	server := testbed.Chroma(t, t.TempDir(), 0)
	storetest.Run(t, opener(server.URL))
}

// The rapid tests of the suite need a request a question: they are run fewer times here.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("25")
	}
	os.Exit(m.Run())
}

func TestIntegrationParity(t *testing.T) {
	server := testbed.Chroma(t, t.TempDir(), 0)
	folder, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	n := storetest.Usual
	if testing.Short() {
		n.Chunks, n.Filters, n.Questions = 3000, 100, 50
	}
	storetest.Parity(t, folder, opener(server.URL)(t, t.TempDir()), n)
}

func TestIntegrationOutages(t *testing.T) {
	server := testbed.Chroma(t, t.TempDir(), 0)
	storetest.Outages(t, server.URL, func(t testing.TB, url string) store.Store {
		terms := usualTerms
		terms.wait, terms.term = 2*time.Second, time.Second
		s, err := Open(Options{URL: url, Timeout: 500 * time.Millisecond, terms: terms})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
