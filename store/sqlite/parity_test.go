package sqlite

import (
	"testing"

	"github.com/sextant-rag/sextant/store/storetest"
)

// The comparison finds nothing between two stores of one kind, one of them with its index
// written and read at every opportunity.
func TestParityWithItself(t *testing.T) {
	n := storetest.Comparison{Chunks: 2000, Filters: 60, Questions: 30, Seed: 2}
	storetest.Parity(t, opener(usual)(t, t.TempDir()), opener(eager)(t, t.TempDir()), n)
}
