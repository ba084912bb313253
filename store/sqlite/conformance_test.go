package sqlite

import (
	"log/slog"
	"testing"

	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, opener(usual))
}

// The same with the index written, read and compacted at every opportunity.
func TestConformanceDerived(t *testing.T) {
	t.Parallel()
	storetest.Run(t, opener(eager))
}

var eager = thresholds{refresh: 1, save: 1, compact: 1, words: 1, log: 1}

func opener(at thresholds) storetest.Open {
	return func(t testing.TB, dir string) store.Store {
		s, err := Open(t.Context(), Options{Dir: dir, at: at, Log: slogTo(t)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// slogTo makes every warning of the store a failure of the test.
func slogTo(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(failing{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

type failing struct{ t testing.TB }

func (f failing) Write(b []byte) (int, error) {
	f.t.Errorf("warning: %s", b)
	return len(b), nil
}
