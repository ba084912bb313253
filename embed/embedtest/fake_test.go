package embedtest_test

import (
	"errors"
	"testing"

	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/embed/embedtest"
)

func TestFake(t *testing.T) {
	embedtest.Run(t, func(*testing.T) embed.Embedder { return embedtest.Fake{} })
}

func TestConceptsMeanTheSame(t *testing.T) {
	e := embedtest.Fake{Concepts: map[string]string{"plane": "aircraft", "crashed": "accident"}}
	v := embedtest.Embed(t, e, "aircraft accident", "planes crashed", "bread recipe")
	if same, other := embedtest.Cosine(v[0], v[1]), embedtest.Cosine(v[0], v[2]); same < 0.999 || other > 0.5 {
		t.Errorf("cosine %.3f to the same in other words, %.3f to something else", same, other)
	}
}

func TestFakeFails(t *testing.T) {
	e := embedtest.Fake{Err: errors.New("server is down")}
	if _, err := e.Embed(t.Context(), []string{"x"}); !errors.Is(err, e.Err) {
		t.Errorf("error %v", err)
	}
	if _, err := e.EmbedQuery(t.Context(), "x"); !errors.Is(err, e.Err) {
		t.Errorf("error %v", err)
	}
}
