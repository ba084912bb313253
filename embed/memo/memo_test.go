package memo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/embed/embedtest"
	"github.com/sextant-rag/sextant/embed/memo"
)

func write(t testing.TB, e embed.Embedder, texts ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := memo.Write(&out, e.Fingerprint(), texts, embedtest.Embed(t, e, texts...)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// counting says what it was asked for.
type counting struct {
	embed.Embedder
	asked []string
}

func (c *counting) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	c.asked = append(c.asked, texts...)
	return c.Embedder.Embed(ctx, texts)
}

func TestKnownTextsAreNotEncodedAgain(t *testing.T) {
	e := &counting{Embedder: embedtest.Fake{}}
	table, err := memo.Read(bytes.NewReader(write(t, e, "ice on the wings", "fuel was low", "ice on the wings")))
	if err != nil || table.Len() != 2 || table.Fingerprint() != e.Fingerprint() {
		t.Fatalf("%d texts of %v, %v", table.Len(), table.Fingerprint(), err)
	}
	e.asked = nil
	got := embedtest.Embed(t, table.Over(e), "fuel was low", "new", "ice on the wings")
	if fmt.Sprint(e.asked) != "[new]" {
		t.Errorf("encoded %q", e.asked)
	}
	for i, v := range embedtest.Embed(t, e.Embedder, "fuel was low", "new", "ice on the wings") {
		if c := embedtest.Cosine(got[i], v); c < 0.999 {
			t.Errorf("vector %d has cosine %.5f to the one it stands for", i, c)
		}
	}
}

func TestATableOfAnotherEncoderIsNotUsed(t *testing.T) {
	e := embedtest.Fake{}
	table, err := memo.Read(bytes.NewReader(write(t, e, "x")))
	if err != nil {
		t.Fatal(err)
	}
	other := &renamed{e}
	if table.Over(other) != embed.Embedder(other) {
		t.Error("vectors of one encoder stand for those of another")
	}
}

type renamed struct{ embed.Embedder }

func (r *renamed) Fingerprint() embed.Fingerprint {
	f := r.Embedder.Fingerprint()
	f.Revision += "x"
	return f
}

func TestReadRefuses(t *testing.T) {
	whole := write(t, embedtest.Fake{}, "a", "b", "c")
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, len(whole)-6).Draw(rt, "length") // the stream's end takes five bytes
		if _, err := memo.Read(bytes.NewReader(whole[:n])); !errors.Is(err, memo.ErrFormat) {
			rt.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add(write(f, embedtest.Fake{}, "a", "b"))
	f.Add([]byte("sextant"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = memo.Read(bytes.NewReader(data)) // must not panic
	})
}
