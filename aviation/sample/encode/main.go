// Command encode makes the vectors that the sample ships with, by the encoder that is
// inside the program:
//
//	go run ./aviation/sample/encode
//
// It is to be run again whenever the sample, the way its records become text, the way
// texts are cut, or the encoder changes; the test beside it says when.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/sextant-rag/sextant/aviation"
	"github.com/sextant-rag/sextant/aviation/sample"
	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/embed/local"
	"github.com/sextant-rag/sextant/embed/memo"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store/sqlite"
)

func main() {
	if err := run(context.Background(), "aviation/sample/"+sample.VectorFile); err != nil {
		fmt.Fprintln(os.Stderr, "encode:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path string) error {
	e, err := local.New(bert.Options{})
	if err != nil {
		return err
	}
	r := &recorder{Embedder: e}
	if err := takeIn(ctx, r); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := memo.Write(&out, e.Fingerprint(), r.texts, r.vectors); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d texts, %d bytes\n", len(r.texts), out.Len())
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// takeIn ingests the sample as the product does, into a store that is thrown away.
func takeIn(ctx context.Context, e embed.Embedder) error {
	dir, err := os.MkdirTemp("", "sample")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	st, err := sqlite.Open(ctx, sqlite.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer st.Close()
	c := aviation.Incidents()
	c.Encoder = e.Fingerprint().String()
	_, err = ingest.Run(ctx, ingest.Job{Store: st, Collection: c, Source: sample.Open(), Embedder: e})
	return err
}

// recorder keeps what passes through an embedder.
type recorder struct {
	embed.Embedder
	texts   []string
	vectors [][]float32
}

// Embed implements embed.Embedder.
func (r *recorder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := r.Embedder.Embed(ctx, texts)
	r.texts, r.vectors = append(r.texts, texts...), append(r.vectors, vectors...)
	return vectors, err
}
