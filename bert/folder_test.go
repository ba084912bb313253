package bert_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/bert/berttest"
)

var smallest = bert.Config{Layers: 1, Hidden: 32, Heads: 1, Intermediate: 32, Positions: 16, MaxTokens: 16, Pooling: bert.MeanPooling, Normalize: true}

func TestFolderSaysHowTheModelIsUsed(t *testing.T) {
	for name, want := range shapes {
		if testing.Short() && want.Hidden > 384 {
			continue // 440 MB of weights that only the size tells apart
		}
		oracle := berttest.New(want, 1)
		got := openFolder(t, oracle.Write(t)).Config()
		want = oracle.Config
		want.Digest = got.Digest
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(got.Digest) != 64 {
			t.Errorf("%s: digest %q", name, got.Digest)
		}
	}
}

// A folder with config, weights and vocabulary alone is a model too.
func TestFolderWithoutSettings(t *testing.T) {
	dir := berttest.New(smallest, 1).Write(t)
	for _, name := range []string{"1_Pooling", "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	c := openFolder(t, dir).Config()
	if c.Pooling != bert.MeanPooling || !c.Normalize || c.MaxTokens != c.Positions {
		t.Errorf("defaults %+v", c)
	}
}

// What published files vary in does not change a vector.
func TestFolderVariants(t *testing.T) {
	text := randomText(rand.New(rand.NewPCG(1, 1)), 12)
	oracle := berttest.New(smallest, 1)
	want := encode(t, newEncoder(t, openFolder(t, oracle.Write(t)), bert.Options{}), text)[0]
	rename := func(f func(string) string) *berttest.Model {
		m := berttest.New(smallest, 1)
		weights, shapes := map[string][]float32{}, map[string][]int{}
		for name := range m.Weights {
			weights[f(name)], shapes[f(name)] = m.Weights[name], m.Shapes[name]
		}
		m.Weights, m.Shapes = weights, shapes
		return m
	}
	for name, dir := range map[string]string{
		"saved with a head": rename(func(s string) string { return "bert." + s }).Write(t),
		"old norm names": rename(func(s string) string {
			return strings.NewReplacer("LayerNorm.weight", "LayerNorm.gamma", "LayerNorm.bias", "LayerNorm.beta").Replace(s)
		}).Write(t),
		"tokenizer.json": withTokenizerJSON(t, oracle.Write(t)),
	} {
		if got := encode(t, newEncoder(t, openFolder(t, dir), bert.Options{}), text)[0]; !slices.Equal(want, got) {
			t.Errorf("%s: another vector", name)
		}
	}
	for _, kind := range []string{"F16", "BF16"} {
		dir := oracle.Write(t)
		rewrite(t, dir, "model.safetensors", func([]byte) []byte { return halfSafetensors(t, oracle, kind) })
		if c := cosine(want, encode(t, newEncoder(t, openFolder(t, dir), bert.Options{}), text)[0]); c < 0.999 {
			t.Errorf("%s: cosine %v to the vector of F32", kind, c)
		}
	}
}

func withTokenizerJSON(t *testing.T, dir string) string {
	t.Helper()
	vocab := map[string]int{}
	for i, piece := range berttest.Vocabulary {
		vocab[piece] = i
	}
	b, err := json.Marshal(map[string]any{"truncation": map[string]any{"max_length": 3}, "model": map[string]any{"type": "WordPiece", "vocab": vocab}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), b, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "vocab.txt")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// halfSafetensors saves the weights in 16 bits.
func halfSafetensors(t *testing.T, m *berttest.Model, kind string) []byte {
	t.Helper()
	header, data := map[string]any{}, []byte{}
	for _, name := range slices.Sorted(maps.Keys(m.Weights)) {
		start := len(data)
		for _, v := range m.Weights[name] {
			bits := math.Float32bits(v)
			if kind == "BF16" {
				data = binary.LittleEndian.AppendUint16(data, uint16(bits>>16))
				continue
			}
			half := uint16(bits >> 16 & 0x8000)
			if exponent := int(bits>>23&255) - 112; exponent > 0 { // test weights are neither large nor worth keeping when tiny
				half |= uint16(exponent<<10) | uint16(bits>>13&1023)
			}
			data = binary.LittleEndian.AppendUint16(data, half)
		}
		header[name] = map[string]any{"dtype": kind, "shape": m.Shapes[name], "data_offsets": []int{start, len(data)}}
	}
	h, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h...), data...)
}

func rewrite(t testing.TB, dir, name string, f func([]byte) []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, f(b), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestMissingFilesAreNamed(t *testing.T) {
	for _, name := range []string{"config.json", "vocab.txt", "model.safetensors"} {
		dir := berttest.New(smallest, 1).Write(t)
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		want := name
		if name == "vocab.txt" {
			want = "tokenizer.json" // the last place looked at
		}
		if _, err := bert.OpenFolder(dir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestHostileFoldersAreRefused(t *testing.T) {
	const settings, weights = "config.json", "model.safetensors"
	setting := func(name string, value any) func([]byte) []byte {
		return func(b []byte) []byte {
			var m map[string]any
			if err := json.Unmarshal(b, &m); err != nil {
				t.Fatal(err)
			}
			m[name] = value
			b, _ = json.Marshal(m)
			return b
		}
	}
	replace := func(old, new string) func([]byte) []byte {
		return func(b []byte) []byte {
			// Same length, so that only the meaning changes.
			return []byte(strings.Replace(string(b), old, new+strings.Repeat(" ", len(old)-len(new)), 1))
		}
	}
	constant := func(s string) func([]byte) []byte { return func([]byte) []byte { return []byte(s) } }
	header := func(json string, data int) func([]byte) []byte {
		return constant(string(binary.LittleEndian.AppendUint64(nil, uint64(len(json)))) + json + strings.Repeat("x", data))
	}
	for name, change := range map[string]struct {
		file string
		f    func([]byte) []byte
	}{
		"config: no JSON":                 {settings, constant("{")},
		"config: another family":          {settings, setting("model_type", "llama")},
		"config: another activation":      {settings, setting("hidden_act", "relu")},
		"config: relative positions":      {settings, setting("position_embedding_type", "relative_key")},
		"config: heads that do not fit":   {settings, setting("num_attention_heads", 3)},
		"config: narrow heads":            {settings, setting("num_attention_heads", 2)},
		"config: no layers":               {settings, setting("num_hidden_layers", 0)},
		"config: more layers than stored": {settings, setting("num_hidden_layers", 2)},
		"config: absurd width":            {settings, setting("hidden_size", 1<<40)},
		"config: wide":                    {settings, setting("hidden_size", 16384)},
		"config: negative width":          {settings, setting("hidden_size", -32)},
		"config: odd intermediate size":   {settings, setting("intermediate_size", 33)},
		"config: epsilon zero":            {settings, setting("layer_norm_eps", 0)},
		"config: epsilon negative":        {settings, setting("layer_norm_eps", -1)},
		"config: few embeddings":          {settings, setting("vocab_size", 10)},
		"pooling: several":                {"1_Pooling/config.json", constant(`{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true}`)},
		"pooling: max":                    {"1_Pooling/config.json", constant(`{"pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": false}`)},
		"pooling: no JSON":                {"1_Pooling/config.json", constant(`[`)},
		"accents kept, case not":          {"tokenizer_config.json", constant(`{"do_lower_case": true, "strip_accents": false}`)},
		"weights: empty":                  {weights, constant("")},
		"weights: short":                  {weights, constant("1234567")},
		"weights: header longer than all": {weights, constant("\xff\xff\x00\x00\x00\x00\x00\x00{}")},
		"weights: header of 2^63 bytes":   {weights, constant("\x00\x00\x00\x00\x00\x00\x00\x80{}")},
		"weights: header of 2^64 bytes":   {weights, constant("\xff\xff\xff\xff\xff\xff\xff\xff{}")},
		"weights: no JSON":                {weights, header("{", 0)},
		"weights: no tensors":             {weights, header("{}", 0)},
		"weights: entry is a number":      {weights, header(`{"a": 1}`, 0)},
		"weights: range backwards":        {weights, header(`{"a": {"dtype": "F32", "shape": [1], "data_offsets": [8, 4]}}`, 8)},
		"weights: range below zero":       {weights, header(`{"a": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}}`, 8)},
		"weights: range beyond the end":   {weights, header(`{"a": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}}`, 8)},
		"weights: shape overflows":        {weights, header(`{"a": {"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 0]}}`, 8)},
		"weights: shape below zero":       {weights, header(`{"a": {"dtype": "F32", "shape": [-1, -1], "data_offsets": [0, 4]}}`, 8)},
		"weights: shape and range differ": {weights, header(`{"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}}`, 8)},
		"weights: metadata is a list":     {weights, header(`{"__metadata__": []}`, 0)},
		"weights: a type not read":        {weights, replace(`"dtype":"F32"`, `"dtype":"F64"`)},
		"weights: cut":                    {weights, func(b []byte) []byte { return b[:len(b)-1] }},
		"weights: not a number":           {weights, func(b []byte) []byte { return append(b[:len(b)-4], 0, 0, 0xC0, 0x7F) }},
		"weights: infinite":               {weights, func(b []byte) []byte { return append(b[:len(b)-4], 0, 0, 0x80, 0x7F) }},
	} {
		dir := berttest.New(smallest, 1).Write(t)
		rewrite(t, dir, change.file, change.f)
		if _, err := bert.OpenFolder(dir); !errors.Is(err, bert.ErrModel) {
			t.Errorf("%s: error %v, want ErrModel", name, err)
		}
	}
}

func TestHostileVocabulariesAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":         "{",
		"no vocabulary":   "{}",
		"another model":   `{"model": {"type": "Unigram", "vocab": {"[UNK]": 0}}}`,
		"ids with a gap":  `{"model": {"vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 7}}}`,
		"ids below zero":  `{"model": {"vocab": {"[UNK]": -1, "[CLS]": 1, "[SEP]": 2}}}`,
		"ids given twice": `{"model": {"vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 1}}}`,
	} {
		dir := berttest.New(smallest, 1).Write(t)
		if err := os.Remove(filepath.Join(dir, "vocab.txt")); err != nil {
			t.Fatal(err)
		}
		rewrite(t, dir, "tokenizer.json", func([]byte) []byte { return []byte(text) })
		if _, err := bert.OpenFolder(dir); !errors.Is(err, bert.ErrVocabulary) {
			t.Errorf("%s: error %v, want ErrVocabulary", name, err)
		}
	}
}

func TestHostilePackedModelsAreRefused(t *testing.T) {
	b, err := openFolder(t, berttest.New(smallest, 1).Write(t)).Pack(nil)
	if err != nil {
		t.Fatal(err)
	}
	good := string(b)
	for name, packed := range map[string]string{
		"empty":           "",
		"cut":             good[:len(good)-1],
		"another format":  strings.Replace(good, "sextant-bert", "another-bert", 1),
		"another width":   strings.Replace(good, `\"hidden\":32`, `\"hidden\":64`, 1),
		"negative layers": strings.Replace(good, `\"layers\":1`, `\"layers\":-`, 1),
		"missing tensor":  strings.Replace(good, `"words.scales"`, `"words.Scales"`, 1),
		"published form":  string(berttest.Safetensors(t, berttest.New(smallest, 1).Weights, berttest.New(smallest, 1).Shapes)),
	} {
		if packed == good {
			t.Fatalf("%s changes nothing", name)
		}
		if _, err := bert.Open(packed); !errors.Is(err, bert.ErrModel) {
			t.Errorf("%s: error %v, want ErrModel", name, err)
		}
	}
}

func TestModelsWithoutAVectorFail(t *testing.T) {
	oracle := berttest.New(smallest, 1)
	for name, weights := range oracle.Weights {
		if strings.HasSuffix(name, "output.LayerNorm.weight") {
			for i := range weights {
				weights[i] = 3e38
			}
		}
	}
	e := newEncoder(t, openFolder(t, oracle.Write(t)), bert.Options{})
	if v, err := e.Encode(t.Context(), []string{"a"}); !errors.Is(err, bert.ErrModel) {
		t.Errorf("vector %v, error %v", v, err)
	}
}

// Whatever the header says of the bytes behind it, opening gives an error or a model that
// runs.
func FuzzOpen(f *testing.F) {
	packed, err := openFolder(f, berttest.New(smallest, 1).Write(f)).Pack(nil)
	if err != nil {
		f.Fatal(err)
	}
	start := 8 + binary.LittleEndian.Uint64(packed)
	f.Add(string(packed[8:start]), start-8)
	f.Add("{}", uint64(2))
	f.Fuzz(func(t *testing.T, header string, length uint64) {
		file := string(binary.LittleEndian.AppendUint64(nil, length)) + header + string(packed[start:])
		m, err := bert.Open(file)
		if err != nil {
			return
		}
		if _, err := newEncoder(t, m, bert.Options{Workers: 1}).Encode(t.Context(), []string{"some text"}); err != nil && !errors.Is(err, bert.ErrModel) {
			t.Error(err)
		}
	})
}
