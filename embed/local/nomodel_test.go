//go:build nomodel

package local_test

import (
	"errors"
	"testing"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/embed/local"
)

func TestNoWeights(t *testing.T) {
	if _, err := local.New(bert.Options{}); !errors.Is(err, local.ErrNoWeights) {
		t.Errorf("error %v, want ErrNoWeights", err)
	}
}
