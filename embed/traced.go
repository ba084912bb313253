package embed

import (
	"context"

	"github.com/sextant-rag/sextant/trace"
)

// Traced returns an embedder whose calls within a question are spans of its trace. Texts
// are counted and vectors left out: nobody reads them, and they would be most of a trace.
func Traced(e Embedder) Embedder {
	if e == nil {
		return nil
	}
	return traced{e}
}

type traced struct{ Embedder }

// Embed implements Embedder.
func (t traced) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, span := trace.Begin(ctx, "embed_documents", trace.Embedding, nil)
	vectors, err := t.Embedder.Embed(ctx, texts)
	t.end(span, len(texts), err)
	return vectors, err
}

// EmbedQuery implements Embedder.
func (t traced) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	ctx, span := trace.Begin(ctx, "embed_query", trace.Embedding, text)
	vector, err := t.Embedder.EmbedQuery(ctx, text)
	t.end(span, 1, err)
	return vector, err
}

func (t traced) end(span *trace.Span, texts int, err error) {
	if span == nil {
		return
	}
	f := t.Fingerprint()
	span.Set(trace.Attribute{Key: trace.KeyOperation, Value: "embeddings"}, trace.Attribute{Key: trace.KeyModel, Value: f.Model}, trace.Attribute{Key: "texts", Value: texts}, trace.Attribute{Key: "dimension", Value: f.Dim})
	span.End(nil, err)
}
