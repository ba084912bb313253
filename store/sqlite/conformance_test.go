package sqlite

import (
	"testing"

	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t testing.TB, dir string) store.Store {
		s, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
