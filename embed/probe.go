package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
)

// ErrDisagree is wrapped when two embedders that were said to run the same weights give
// different vectors.
var ErrDisagree = errors.New("not the same encoder")

// How close two runs of the same weights are. 8 bits instead of 32 cost a text 0.001 to
// 0.002 of the cosine; another pooling, prefix, token limit or fine-tuning costs some text
// 0.01 and more.
const (
	minAgreement  = 0.992
	meanAgreement = 0.997
)

// Agreement is how close two embedders' vectors of the same texts are.
type Agreement struct {
	Texts     int
	Mean, Min float64 // cosines
	Worst     string  // the text with the lowest
}

// Equal reports whether both run the same weights the same way, as far as the texts tell.
func (a Agreement) Equal() bool {
	return a.Texts > 0 && a.Min >= minAgreement && a.Mean >= meanAgreement
}

// String tells the figures.
func (a Agreement) String() string {
	return fmt.Sprintf("cosine over %d texts: mean %.4f, least %.4f", a.Texts, a.Mean, a.Min)
}

// Probe embeds a fixed set of texts to be found with both and compares the vectors. It
// fails as they do, and with [ErrDisagree] where the dimensions differ.
func Probe(ctx context.Context, a, b Embedder) (Agreement, error) {
	if a.Dim() != b.Dim() {
		return Agreement{}, fmt.Errorf("%w: vectors of %d and of %d numbers", ErrDisagree, a.Dim(), b.Dim())
	}
	texts := probes()
	left, err := a.Embed(ctx, texts)
	if err != nil {
		return Agreement{}, fmt.Errorf("probe: %w", err)
	}
	right, err := b.Embed(ctx, texts)
	if err != nil {
		return Agreement{}, fmt.Errorf("probe: %w", err)
	}
	out := Agreement{Texts: len(texts), Min: 1}
	for i, text := range texts {
		c := cosine(left[i], right[i])
		out.Mean += c / float64(len(texts))
		if c < out.Min {
			out.Min, out.Worst = c, text
		}
	}
	return out, nil
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// probes are texts that ways to run a model differ on: short and long, other scripts, case,
// accents, numbers and codes. Each long one changes its subject where common token limits
// cut (64, 128, 256 and 512), so that another limit is seen.
func probes() []string {
	long := func(words int) string {
		return strings.Repeat("The pilot reduced the power and began the descent. ", words/9) +
			strings.Repeat("A bakery sells bread, cheese and wine to its customers in the village. ", words/9)
	}
	return []string{
		"stall", "What causes carburetor ice?", "N172SP", "§ 91.103(b)", "2012-07-04", "B-17 at FL180, 29.92 inHg",
		"ENGINE FAILURE AFTER TAKEOFF", "engine failure after takeoff", "The airplane did not crash.", "The airplane did crash.",
		"Größe, naïveté, Crème Brûlée", "Самолёт потерял высоту.", "飛行機は滑走路を外れた。", "한국어 문장", "الطائرة هبطت", "🛩️ wow!!!", "x", "a b c d e f g",
		"The pilot's failure to maintain adequate airspeed during the approach, which resulted in an aerodynamic stall and a collision with terrain.",
		"func main() { fmt.Println(\"hello\") }", "https://example.org/a/b?c=d", strings.Repeat("ab", 60),
		long(60), long(120), long(250), long(500),
	}
}

// A Twin embeds texts to be found with one embedder and queries with another that runs the
// same weights: a server with the speed to encode a corpus, and this process, which then
// needs no server to search it.
type Twin struct {
	Embedder  // what queries are embedded with; its fingerprint is the twin's
	documents Embedder

	mu    sync.Mutex
	equal bool // a probe has shown it
}

// NewTwin returns the twin of two embedders. Nothing is asked of either yet.
func NewTwin(documents, queries Embedder) *Twin {
	return &Twin{Embedder: queries, documents: documents}
}

// Embed embeds texts to be found. Before the first it probes both embedders; it fails with
// [ErrDisagree], and embeds nothing, unless they agree.
func (t *Twin) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if err := t.probe(ctx); err != nil {
		return nil, err
	}
	return t.documents.Embed(ctx, texts)
}

// probe remembers agreement only: a server may be down now and replaced later.
func (t *Twin) probe(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.equal {
		return nil
	}
	agreement, err := Probe(ctx, t.documents, t.Embedder)
	if err != nil {
		return err
	}
	if !agreement.Equal() {
		return fmt.Errorf("%w: %s and %s: %v, for %.40q", ErrDisagree, t.documents.Fingerprint().Model, t.Fingerprint().Model, agreement, agreement.Worst)
	}
	t.equal = true
	return nil
}
