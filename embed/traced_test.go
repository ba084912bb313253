package embed_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/tracetest"
)

// lengths embeds a text as its length, and fails for an empty one.
type lengths struct{}

func (lengths) Embed(_ context.Context, texts []string) (out [][]float32, err error) {
	for _, t := range texts {
		out = append(out, []float32{float32(len(t))})
	}
	return out, nil
}

func (lengths) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	if text == "" {
		return nil, errors.New("nothing to embed")
	}
	return []float32{float32(len(text))}, nil
}

func (lengths) Dim() int                       { return 1 }
func (lengths) Fingerprint() embed.Fingerprint { return embed.Fingerprint{Model: "lengths", Dim: 1} }

func TestTracedCallsAreSpans(t *testing.T) {
	sink := &tracetest.Sink{}
	ctx, root := (&trace.Recorder{Sink: sink}).Open(t.Context(), "question", trace.Chain, nil)
	e := embed.Traced(lengths{})
	if v, err := e.EmbedQuery(ctx, "four"); err != nil || v[0] != 4 {
		t.Error(v, err)
	}
	if _, err := e.EmbedQuery(ctx, ""); err == nil {
		t.Error("the failure was swallowed")
	}
	if v, err := e.Embed(ctx, []string{"a", "bb"}); err != nil || len(v) != 2 {
		t.Error(v, err)
	}
	if v, err := e.EmbedQuery(t.Context(), "no trace"); err != nil || v[0] != 8 {
		t.Error(v, err)
	}
	root.Close(nil, nil, trace.Summary{Status: "answered"})
	r := sink.Records()[0]
	if faults := tracetest.Check(r, nil); faults != nil {
		t.Error(faults)
	}
	spans := r.View().Spans
	if len(spans) != 4 || spans[1].Attributes[trace.KeyModel] != "lengths" || spans[2].Status != "error" || spans[3].Attributes["texts"] != int64(2) {
		t.Errorf("%+v", spans)
	}
	if embed.Traced(nil) != nil {
		t.Error("no encoder became one")
	}
}
