//go:build !nomodel

package main

import (
	"context"
	"testing"

	"github.com/sextant-rag/sextant/aviation/sample"
	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/embed/embedtest"
	"github.com/sextant-rag/sextant/embed/local"
	"github.com/sextant-rag/sextant/embed/memo"
)

// collector takes the table's vectors for the encoder's, so that nothing is encoded, and
// notes what is not in it.
type collector struct {
	*local.Embedder
	table   *memo.Table
	texts   []string
	missing []string
}

func (c *collector) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v, ok := c.table.Vector(text)
		if !ok {
			c.missing = append(c.missing, text)
			v = make([]float32, c.Dim())
			v[0] = 1
		}
		out[i] = v
	}
	c.texts = append(c.texts, texts...)
	return out, nil
}

// The committed vectors are those of the texts that the sample becomes today, all and no
// others, by the encoder of today.
func TestVectorsAreThoseOfTheSample(t *testing.T) {
	e, err := local.New(bert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := sample.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	const remedy = "run: go run ./aviation/sample/encode"
	if f := table.Fingerprint(); f != e.Fingerprint() {
		t.Fatalf("the vectors' encoder differs: %v; %s", f.Differences(e.Fingerprint()), remedy)
	}
	c := &collector{Embedder: e, table: table}
	if err := takeIn(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if len(c.missing) > 0 {
		t.Fatalf("%d texts have no vector, such as %q; %s", len(c.missing), c.missing[0], remedy)
	}
	if len(c.texts) != table.Len() {
		t.Errorf("%d vectors for %d texts; %s", table.Len(), len(c.texts), remedy)
	}
	var few []string
	for i := 0; i < len(c.texts); i += len(c.texts) / 16 {
		few = append(few, c.texts[i])
	}
	for i, v := range embedtest.Embed(t, e, few...) {
		shipped, _ := table.Vector(few[i])
		if cosine := embedtest.Cosine(v, shipped); cosine < 0.9995 {
			t.Errorf("%.60q: cosine %.5f to what the encoder says; %s", few[i], cosine, remedy)
		}
	}
}
