//go:build !nomodel

package local_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/embed/embedtest"
	"github.com/sextant-rag/sextant/embed/local"
)

func open(t testing.TB, o bert.Options) *local.Embedder {
	t.Helper()
	e, err := local.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestConformance(t *testing.T) {
	embedtest.Run(t, func(t *testing.T) embed.Embedder { return open(t, bert.Options{}) })
}

func TestEmbeddedFingerprint(t *testing.T) {
	want := embed.Fingerprint{Model: "all-MiniLM-L6-v2", Revision: "53aa51172d14", Dim: 384, Pooling: "mean", Normalized: true, MaxTokens: 256}
	if got := open(t, bert.Options{}).Fingerprint(); got != want {
		t.Errorf("fingerprint differs in %v", want.Differences(got))
	}
}

// A golden is a text and its vector by ONNX Runtime in 32 bits, from parity/parity.py.
type golden struct {
	Text   string `json:"text"`
	Vector []byte `json:"vector"` // base64 of little-endian binary16
}

func (g golden) floats() []float32 {
	v := make([]float32, len(g.Vector)/2)
	for i := range v {
		h := binary.LittleEndian.Uint16(g.Vector[2*i:])
		v[i] = float32(math.Ldexp(float64(h&1023|1024), int(h>>10&31)-25))
		if h>>10&31 == 0 {
			v[i] = float32(h&1023) * 0x1p-24
		}
		if h>>15 == 1 {
			v[i] = -v[i]
		}
	}
	return v
}

func readGolden(t *testing.T) (gs []golden, texts []string) {
	t.Helper()
	f, err := os.Open("testdata/onnxruntime.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(z); lines.Scan(); {
		var g golden
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		gs, texts = append(gs, g), append(texts, g.Text)
	}
	return gs, texts
}

// The vectors stay close to those of ONNX Runtime on the published weights in 32 bits.
func TestVectorsMatchONNXRuntime(t *testing.T) {
	gs, texts := readGolden(t)
	sum, low := 0.0, 1.0
	for i, v := range embedtest.Embed(t, open(t, bert.Options{}), texts...) {
		c := embedtest.Cosine(v, gs[i].floats())
		sum, low = sum+c, min(low, c)
		if c < 0.992 {
			t.Errorf("%.40q: cosine %.4f", texts[i], c)
		}
	}
	mean := sum / float64(len(gs))
	t.Logf("cosine over %d texts: mean %.5f, min %.5f", len(gs), mean, low)
	if len(gs) < 40 || mean < 0.998 {
		t.Errorf("mean cosine %.5f over %d texts, want 0.998 over 40", mean, len(gs))
	}
}

// The vectors are these, to the bit, on every machine: what is stored stays comparable. A
// change here makes every index out there a little wrong; it needs a new fingerprint.
func TestVectorsNeverChange(t *testing.T) {
	const want = "e7cd046ae35d"
	_, texts := readGolden(t)
	texts = texts[:16] // the short ones: plain Go takes its time
	for _, instructions := range bert.Instructions() {
		h := sha256.New()
		for _, v := range embedtest.Embed(t, open(t, bert.Options{Instructions: instructions}), texts...) {
			for _, x := range v {
				h.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
			}
		}
		if got := hex.EncodeToString(h.Sum(nil))[:12]; got != want {
			t.Errorf("%s: vectors have digest %s, want %s", instructions, got, want)
		}
	}
}

func TestFirstAnswerComesSoon(t *testing.T) {
	start := time.Now()
	embedtest.Query(t, open(t, bert.Options{}), "engine failure after takeoff")
	if took := time.Since(start); took > 700*time.Millisecond {
		t.Errorf("the first vector took %v", took)
	}
}

func BenchmarkQuery(b *testing.B) {
	e := open(b, bert.Options{})
	for b.Loop() {
		embedtest.Query(b, e, "who owns the copyright in a modified version of the program")
	}
}

func BenchmarkFirstQuery(b *testing.B) {
	for b.Loop() {
		embedtest.Query(b, open(b, bert.Options{}), "engine failure after takeoff")
	}
}

// The probe tells the model from what it becomes by other settings, and both from the same
// weights in 32 bits: see TestVectorsMatchONNXRuntime, whose bounds are stricter than the
// probe's for one text.
func TestProbeKnowsTheModel(t *testing.T) {
	e := open(t, bert.Options{})
	if a, err := embed.Probe(t.Context(), e, open(t, bert.Options{Workers: 1})); err != nil || a.Mean < 0.999999 {
		t.Errorf("with itself: %v, error %v", a, err)
	}
	for name, change := range map[string]func(string) string{
		"a prefix":      func(s string) string { return "passage: " + s },
		"a short limit": func(s string) string { return s[:min(len(s), 600)] },
		"case kept":     func(s string) string { return strings.ReplaceAll(s, "E", "€") },
	} {
		if a, err := embed.Probe(t.Context(), e, changed{e, change}); err != nil || a.Equal() {
			t.Errorf("%s: %v, error %v", name, a, err)
		}
	}
}

type changed struct {
	embed.Embedder
	change func(string) string
}

func (c changed) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	own := make([]string, len(texts))
	for i, text := range texts {
		own[i] = c.change(text)
	}
	return c.Embedder.Embed(ctx, own)
}
