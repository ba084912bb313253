package embed_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/embed/embedtest"
)

// A bent embedder is another one with a habit of its own.
type bent struct {
	embed.Embedder
	name string
	dim  int
	text func(string) string
	bend func([]float32)
	err  error
}

func (b bent) Dim() int { return max(b.dim, b.Embedder.Dim()) }

func (b bent) Fingerprint() embed.Fingerprint {
	f := b.Embedder.Fingerprint()
	f.Model = b.name
	return f
}

func (b bent) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	own := make([]string, len(texts))
	for i, text := range texts {
		own[i] = text
		if b.text != nil {
			own[i] = b.text(text)
		}
	}
	vectors, err := b.Embedder.Embed(ctx, own)
	for _, v := range vectors {
		if b.bend != nil {
			b.bend(v)
		}
	}
	if b.err != nil {
		return nil, b.err
	}
	return vectors, err
}

// noise moves a vector as far as coarser numbers do.
func noise(size float32) func([]float32) {
	rng := rand.New(rand.NewPCG(1, 1))
	return func(v []float32) {
		for i := range v {
			v[i] += size * float32(rng.NormFloat64())
		}
	}
}

func TestTwin(t *testing.T) {
	down := errors.New("down")
	for name, tt := range map[string]struct {
		documents bent
		want      error
	}{
		"the same":          {bent{}, nil},
		"coarser numbers":   {bent{bend: noise(0.003)}, nil},
		"far coarser":       {bent{bend: noise(0.02)}, embed.ErrDisagree},
		"a prefix":          {bent{text: func(s string) string { return "passage " + s }}, embed.ErrDisagree},
		"a shorter limit":   {bent{text: func(s string) string { return s[:min(len(s), 1200)] }}, embed.ErrDisagree},
		"another dimension": {bent{dim: 384}, embed.ErrDisagree},
		"not there":         {bent{err: down}, down},
	} {
		tt.documents.Embedder, tt.documents.name = embedtest.Fake{}, "on a server"
		twin := embed.NewTwin(tt.documents, embedtest.Fake{})
		if v, err := twin.Embed(t.Context(), []string{"a"}); !errors.Is(err, tt.want) || (v == nil) != (tt.want != nil) {
			t.Errorf("%s: vectors %v, error %v, want %v", name, v, err, tt.want)
		}
		embedtest.Query(t, twin, "searching needs no server")
		if twin.Fingerprint() != (embedtest.Fake{}).Fingerprint() {
			t.Errorf("%s: fingerprint %v", name, twin.Fingerprint())
		}
	}
}

func TestTwinConformance(t *testing.T) {
	embedtest.Run(t, func(t *testing.T) embed.Embedder {
		return embed.NewTwin(bent{Embedder: embedtest.Fake{}}, embedtest.Fake{})
	})
}
