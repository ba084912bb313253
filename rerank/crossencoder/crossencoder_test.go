package crossencoder_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/bert/berttest"
	"github.com/sextant-rag/sextant/rerank"
	"github.com/sextant-rag/sextant/rerank/crossencoder"
	"github.com/sextant-rag/sextant/rerank/reranktest"
)

// The shape of the ms-marco-MiniLM family with fewer layers, so that the oracle is quick.
var shape = bert.Config{Layers: 2, Hidden: 384, Heads: 12, Intermediate: 1536, Positions: 512, MaxTokens: 512, Pooling: bert.MeanPooling}

var tiny = bert.Config{Layers: 2, Hidden: 64, Heads: 2, Intermediate: 128, Positions: 96, MaxTokens: 96, Pooling: bert.MeanPooling}

func model(c bert.Config, seed uint64) *berttest.Model {
	m := berttest.New(c, seed)
	m.AddHead(seed)
	return m
}

func open(t testing.TB, dir string) *crossencoder.Reranker {
	t.Helper()
	r, err := crossencoder.Open(dir, crossencoder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestConformance(t *testing.T) {
	dir := model(tiny, 2).Write(t)
	reranktest.Run(t, false, func(t *testing.T) rerank.Reranker { return open(t, dir) })
}

// Scores follow those of the model in double precision, as published files name its
// tensors, for texts from none to as long as fits.
func TestScoresMatchTheModel(t *testing.T) {
	for name, c := range map[string]bert.Config{"ms-marco-MiniLM": shape, "tiny": tiny} {
		if testing.Short() && c.Hidden > 64 {
			continue
		}
		oracle := model(c, 5)
		r := open(t, published(t, oracle).Write(t))
		query := "a query of letters"
		rng := rand.New(rand.NewPCG(1, 1))
		var texts []string
		var want []float64
		for _, letters := range []int{0, 1, 5, 17, 30, 31, 60} {
			text := ""
			for range letters {
				text += string(rune('a' + rng.IntN(26)))
				if rng.IntN(4) == 0 {
					text += " "
				}
			}
			texts, want = append(texts, text), append(want, oracle.Score(query, text))
		}
		got := reranktest.Score(t, r, query, texts...)
		if c := correlation(got, want); c < 0.99 {
			t.Errorf("%s: scores %v, want %v: correlation %.4f", name, got, want, c)
		}
	}
}

// published renames the encoder's tensors as BertForSequenceClassification saves them.
func published(t *testing.T, m *berttest.Model) *berttest.Model {
	t.Helper()
	out := *m
	out.Weights, out.Shapes = map[string][]float32{}, map[string][]int{}
	for name := range m.Weights {
		prefix := "bert."
		if strings.HasPrefix(name, "classifier.") {
			prefix = ""
		}
		out.Weights[prefix+name], out.Shapes[prefix+name] = m.Weights[name], m.Shapes[name]
	}
	return &out
}

func correlation(got []float32, want []float64) float64 {
	var x, y, xx, yy, xy float64
	n := float64(len(got))
	for i := range got {
		a, b := float64(got[i]), want[i]
		x, y, xx, yy, xy = x+a, y+b, xx+a*a, yy+b*b, xy+a*b
	}
	return (xy - x*y/n) / math.Sqrt((xx-x*x/n)*(yy-y*y/n))
}

func TestWrongFolders(t *testing.T) {
	several := model(tiny, 2)
	several.Weights["classifier.weight"], several.Shapes["classifier.weight"] = make([]float32, 3*64), []int{3, 64}
	spoilt := model(tiny, 2).Write(t)
	if err := os.Truncate(filepath.Join(spoilt, "model.safetensors"), 5000); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		dir  string
		want error
	}{
		"an encoder without a head": {berttest.New(tiny, 2).Write(t), bert.ErrNoHead},
		"a classifier into three":   {several.Write(t), bert.ErrModel},
		"weights cut short":         {spoilt, bert.ErrModel},
		"no folder":                 {filepath.Join(t.TempDir(), "none"), fs.ErrNotExist},
	} {
		if r, err := crossencoder.Open(tt.dir, crossencoder.Options{}); !errors.Is(err, tt.want) || r != nil {
			t.Errorf("%s: error %v, want %v", name, err, tt.want)
		}
	}
}

// A deadline ends the work between layers, not after the last pair.
func TestDeadline(t *testing.T) {
	r, err := crossencoder.Open(model(shape, 2).Write(t), crossencoder.Options{Options: bert.Options{Workers: 1, Instructions: "generic"}})
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, 50)
	for i := range texts {
		texts[i] = strings.Repeat("some text ", 50)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	if s, err := r.Score(ctx, "q", texts); !errors.Is(err, context.DeadlineExceeded) || s != nil {
		t.Errorf("%d scores, error %v", len(s), err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("stopped only after %v", took)
	}
}
