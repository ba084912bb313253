// Package berttest makes models of the BERT family for tests: of any shape, with random
// weights, saved as Python's transformers would, and with a plain forward pass over them in
// double precision, the oracle of the engine.
package berttest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant/bert"
)

// A Model is a model with random weights, as transformers would save it, and a plain
// forward pass over it in double precision: the oracle of the engine.
type Model struct {
	bert.Config
	Weights map[string][]float32
	Shapes  map[string][]int
}

// Vocabulary is small, and complete for texts of lower-case letters.
var Vocabulary = func() []string {
	pieces := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	for c := 'a'; c <= 'z'; c++ {
		pieces = append(pieces, string(c), "##"+string(c))
	}
	return pieces
}()

// New returns a model of the shape that c says, with weights drawn by seed. The vocabulary's
// size, two segment types and epsilon are set here.
func New(c bert.Config, seed uint64) *Model {
	c.Vocabulary, c.Types, c.Eps = len(Vocabulary), 2, 1e-12
	m := &Model{Config: c, Weights: map[string][]float32{}, Shapes: map[string][]int{}}
	rng := rand.New(rand.NewPCG(seed, 0))
	add := func(name string, mean, deviation float64, shape ...int) {
		n := 1
		for _, s := range shape {
			n *= s
		}
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(mean + deviation*rng.NormFloat64())
		}
		m.Weights[name], m.Shapes[name] = x, shape
	}
	norm := func(name string) {
		add(name+".weight", 1, 0.2, c.Hidden)
		add(name+".bias", 0, 0.2, c.Hidden)
	}
	linear := func(name string, out, in int) {
		add(name+".weight", 0, 1/math.Sqrt(float64(in)), out, in)
		add(name+".bias", 0, 0.1, out)
	}
	add("embeddings.word_embeddings.weight", 0, 1, c.Vocabulary, c.Hidden)
	add("embeddings.position_embeddings.weight", 0, 0.3, c.Positions, c.Hidden)
	add("embeddings.token_type_embeddings.weight", 0, 0.3, c.Types, c.Hidden)
	norm("embeddings.LayerNorm")
	for i := range c.Layers {
		p := fmt.Sprintf("encoder.layer.%d.", i)
		for _, part := range []string{"query", "key", "value"} {
			linear(p+"attention.self."+part, c.Hidden, c.Hidden)
		}
		linear(p+"attention.output.dense", c.Hidden, c.Hidden)
		norm(p + "attention.output.LayerNorm")
		linear(p+"intermediate.dense", c.Intermediate, c.Hidden)
		linear(p+"output.dense", c.Hidden, c.Intermediate)
		norm(p + "output.LayerNorm")
	}
	return m
}

// Write saves the model to a new folder and returns it.
func (m *Model) Write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	m.writeFile(t, dir, "vocab.txt", []byte(strings.Join(Vocabulary, "\n")+"\n"))
	m.writeJSON(t, dir, "config.json", map[string]any{
		"model_type": "bert", "hidden_act": "gelu", "num_hidden_layers": m.Layers, "hidden_size": m.Hidden,
		"num_attention_heads": m.Heads, "intermediate_size": m.Intermediate, "vocab_size": m.Vocabulary,
		"max_position_embeddings": m.Positions, "type_vocab_size": m.Types, "layer_norm_eps": 1e-12,
	})
	m.writeJSON(t, dir, "1_Pooling/config.json", map[string]any{
		"pooling_mode_cls_token": m.Pooling == bert.CLSPooling, "pooling_mode_mean_tokens": m.Pooling == bert.MeanPooling,
	})
	modules := []map[string]any{{"type": "sentence_transformers.models.Transformer"}, {"type": "sentence_transformers.models.Pooling"}}
	if m.Normalize {
		modules = append(modules, map[string]any{"type": "sentence_transformers.models.Normalize"})
	}
	m.writeJSON(t, dir, "modules.json", modules)
	m.writeJSON(t, dir, "sentence_bert_config.json", map[string]any{"max_seq_length": m.MaxTokens})
	m.writeJSON(t, dir, "config_sentence_transformers.json", map[string]any{
		"prompts": map[string]string{"query": m.QueryPrefix, "document": m.DocumentPrefix},
	})
	m.writeFile(t, dir, "model.safetensors", Safetensors(t, m.Weights, m.Shapes))
	return dir
}

func (m *Model) writeFile(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

func (m *Model) writeJSON(t testing.TB, dir, name string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	m.writeFile(t, dir, name, b)
}

// Safetensors returns 32-bit weights as a safetensors file.
func Safetensors(t testing.TB, weights map[string][]float32, shapes map[string][]int) []byte {
	t.Helper()
	header, data := map[string]any{}, []byte{}
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		start := len(data)
		for _, v := range weights[name] {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		header[name] = map[string]any{"dtype": "F32", "shape": shapes[name], "data_offsets": []int{start, len(data)}}
	}
	h, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h...), data...)
}

// IDs are the tokens of a text of lower-case words, with control tokens.
func (m *Model) IDs(text string) []int {
	out := []int{2}
	for _, word := range strings.Fields(text) {
		for i := range len(word) {
			piece := word[i : i+1]
			if i > 0 {
				piece = "##" + piece
			}
			out = append(out, slices.Index(Vocabulary, piece))
		}
	}
	out = append(out[:min(len(out), m.MaxTokens-1)], 3)
	return out
}

func (m *Model) row(name string, i, n int) []float64 {
	out := make([]float64, n)
	for j, v := range m.Weights[name][i*n : (i+1)*n] {
		out[j] = float64(v)
	}
	return out
}

func (m *Model) linear(name string, x []float64) []float64 {
	biases := m.Weights[name+".bias"]
	out := make([]float64, len(biases))
	for i := range out {
		out[i] = float64(biases[i])
		for j, w := range m.Weights[name+".weight"][i*len(x) : (i+1)*len(x)] {
			out[i] += float64(w) * x[j]
		}
	}
	return out
}

// addNorm sets x to LayerNorm(x + y).
func (m *Model) addNorm(name string, x, y []float64) {
	mean, variance := 0.0, 0.0
	for i := range x {
		x[i] += y[i]
		mean += x[i] / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	for i := range x {
		x[i] = (x[i]-mean)/math.Sqrt(variance+1e-12)*float64(m.Weights[name+".weight"][i]) + float64(m.Weights[name+".bias"][i])
	}
}

// States is the forward pass by the book.
func (m *Model) States(ids, types []int) [][]float64 {
	x := make([][]float64, len(ids))
	for i, id := range ids {
		x[i] = m.row("embeddings.word_embeddings.weight", id, m.Hidden)
		start := m.row("embeddings.position_embeddings.weight", i, m.Hidden)
		for j, v := range m.row("embeddings.token_type_embeddings.weight", types[i], m.Hidden) {
			start[j] += v
		}
		m.addNorm("embeddings.LayerNorm", x[i], start)
	}
	for l := range m.Layers {
		p := fmt.Sprintf("encoder.layer.%d.", l)
		context := m.attention(p, x)
		for i := range x {
			m.addNorm(p+"attention.output.LayerNorm", x[i], m.linear(p+"attention.output.dense", context[i]))
			up := m.linear(p+"intermediate.dense", x[i])
			for j, v := range up {
				up[j] = v * 0.5 * (1 + math.Erf(v/math.Sqrt2))
			}
			m.addNorm(p+"output.LayerNorm", x[i], m.linear(p+"output.dense", up))
		}
	}
	return x
}

func (m *Model) attention(p string, x [][]float64) [][]float64 {
	d := m.Hidden / m.Heads
	q, k, v := make([][]float64, len(x)), make([][]float64, len(x)), make([][]float64, len(x))
	for i := range x {
		q[i], k[i], v[i] = m.linear(p+"attention.self.query", x[i]), m.linear(p+"attention.self.key", x[i]), m.linear(p+"attention.self.value", x[i])
	}
	out := make([][]float64, len(x))
	for i := range x {
		out[i] = make([]float64, m.Hidden)
		for h := 0; h < m.Hidden; h += d {
			weights, sum := make([]float64, len(x)), 0.0
			for j := range x {
				for c := h; c < h+d; c++ {
					weights[j] += q[i][c] * k[j][c]
				}
				weights[j] = math.Exp(weights[j] / math.Sqrt(float64(d)))
				sum += weights[j]
			}
			for j := range x {
				for c := h; c < h+d; c++ {
					out[i][c] += weights[j] / sum * v[j][c]
				}
			}
		}
	}
	return out
}

// Vector is the model's vector of a text.
func (m *Model) Vector(text string) []float64 {
	ids := m.IDs(text)
	x := m.States(ids, make([]int, len(ids)))
	out := slices.Clone(x[0])
	if m.Pooling == bert.MeanPooling {
		clear(out)
		for _, row := range x {
			for j, v := range row {
				out[j] += v / float64(len(x))
			}
		}
	}
	return out
}

// AddHead gives the model a pooler and a classifier with one output.
func (m *Model) AddHead(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	h := m.Hidden
	for name, shape := range map[string][]int{
		"pooler.dense.weight": {h, h}, "pooler.dense.bias": {h}, "classifier.weight": {1, h}, "classifier.bias": {1},
	} {
		n := shape[0]
		if len(shape) == 2 {
			n *= shape[1]
		}
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.NormFloat64() / math.Sqrt(float64(h)))
		}
		m.Weights[name], m.Shapes[name] = x, shape
	}
}

// Score is the head by the book, on a pair of texts that fit.
func (m *Model) Score(first, second string) float64 {
	a, b := m.IDs(first), m.IDs(second)[1:]
	types := make([]int, len(a)+len(b))
	for i := len(a); i < len(types); i++ {
		types[i] = 1
	}
	pooled := m.linear("pooler.dense", m.States(append(a, b...), types)[0])
	sum := float64(m.Weights["classifier.bias"][0])
	for i, v := range pooled {
		sum += math.Tanh(v) * float64(m.Weights["classifier.weight"][i])
	}
	return sum
}
