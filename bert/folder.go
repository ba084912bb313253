package bert

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/sextant-rag/sextant/bert/internal/kernel"
)

// maxSettings bounds the JSON and vocabulary files of a folder.
const maxSettings = 64 << 20

// OpenFolder reads a model as it is published for Python's sentence-transformers: config.json
// and model.safetensors, with vocab.txt or tokenizer.json, and, where they exist,
// tokenizer_config.json, sentence_bert_config.json, config_sentence_transformers.json,
// modules.json and 1_Pooling/config.json. Weights are quantised while they are read. The
// tokenizer.json files of some models also set a truncation and padding of their own; that
// is a leftover of training and ignored.
//
// A pooler and a classifier with one output, as rerankers have, are read too: see
// [Encoder.Score].
//
// Errors wrap [ErrModel], [ErrVocabulary] or, for a missing file, [fs.ErrNotExist].
func OpenFolder(dir string) (*Model, error) {
	m, err := openFolder(folder(dir))
	if err != nil {
		return nil, fmt.Errorf("open model folder %s: %w", dir, err)
	}
	return m, nil
}

func openFolder(dir folder) (*Model, error) {
	m := &Model{}
	if err := dir.readConfig(&m.config); err != nil {
		return nil, err
	}
	pieces, err := dir.readVocabulary()
	if err != nil {
		return nil, err
	}
	m.vocabularyText = strings.Join(pieces, "\n") + "\n"
	if m.tokenizer, err = newTokenizer(pieces, m.config.Cased); err != nil {
		return nil, err
	}
	if err := dir.readWeights(m); err != nil {
		return nil, err
	}
	return m, m.finish()
}

// A folder is the path of a model's files.
type folder string

// read returns a whole small file.
func (d folder) read(name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(string(d), name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err == nil && len(b) > maxSettings {
		err = fmt.Errorf("%w: %s is larger than %d bytes", ErrModel, name, maxSettings)
	}
	return b, err
}

// readOptional is readJSON of a file that may be absent.
func (d folder) readOptional(name string, v any) error {
	if err := d.readJSON(name, v); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d folder) readJSON(name string, v any) error {
	b, err := d.read(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %s: %v", ErrModel, name, err)
	}
	return nil
}

func (d folder) readConfig(c *Config) error {
	shape := struct {
		ModelType    string  `json:"model_type"`
		Activation   string  `json:"hidden_act"`
		PositionType string  `json:"position_embedding_type"`
		Layers       int     `json:"num_hidden_layers"`
		Hidden       int     `json:"hidden_size"`
		Heads        int     `json:"num_attention_heads"`
		Intermediate int     `json:"intermediate_size"`
		Vocabulary   int     `json:"vocab_size"`
		Positions    int     `json:"max_position_embeddings"`
		Types        int     `json:"type_vocab_size"`
		Eps          float64 `json:"layer_norm_eps"`
	}{ModelType: "bert", Activation: "gelu", PositionType: "absolute", Types: 2, Eps: 1e-12}
	if err := d.readJSON("config.json", &shape); err != nil {
		return err
	}
	if shape.ModelType != "bert" || shape.Activation != "gelu" || shape.PositionType != "absolute" {
		return fmt.Errorf("%w: %.40q with %.40q activation and %.40q positions; only bert with gelu and absolute is supported",
			ErrModel, shape.ModelType, shape.Activation, shape.PositionType)
	}
	*c = Config{
		Layers: shape.Layers, Hidden: shape.Hidden, Heads: shape.Heads, Intermediate: shape.Intermediate,
		Vocabulary: shape.Vocabulary, Positions: shape.Positions, Types: shape.Types, Eps: float32(shape.Eps),
	}
	if err := d.readSettings(c); err != nil {
		return err
	}
	return c.validate()
}

// readSettings reads what sentence-transformers adds to a model.
func (d folder) readSettings(c *Config) error {
	tokenizer := struct {
		LowerCase *bool `json:"do_lower_case"`
		Strip     *bool `json:"strip_accents"`
	}{}
	sentence := struct {
		MaxTokens int `json:"max_seq_length"`
	}{}
	prompts := struct {
		Prompts map[string]string `json:"prompts"`
	}{}
	pooling := struct {
		CLS    bool `json:"pooling_mode_cls_token"`
		Mean   bool `json:"pooling_mode_mean_tokens"`
		Max    bool `json:"pooling_mode_max_tokens"`
		Root   bool `json:"pooling_mode_mean_sqrt_len_tokens"`
		Weight bool `json:"pooling_mode_weightedmean_tokens"`
		Last   bool `json:"pooling_mode_lasttoken"`
	}{Mean: true}
	var modules []struct {
		Type string `json:"type"`
	}
	for name, v := range map[string]any{
		"tokenizer_config.json":             &tokenizer,
		"sentence_bert_config.json":         &sentence,
		"config_sentence_transformers.json": &prompts,
		"1_Pooling/config.json":             &pooling,
		"modules.json":                      &modules,
	} {
		if err := d.readOptional(name, v); err != nil {
			return err
		}
	}
	c.Cased = tokenizer.LowerCase != nil && !*tokenizer.LowerCase
	if tokenizer.Strip != nil && *tokenizer.Strip == c.Cased {
		return fmt.Errorf("%w: case and accents must both be kept or both removed", ErrModel)
	}
	c.MaxTokens = c.Positions
	if sentence.MaxTokens > 0 {
		c.MaxTokens = min(sentence.MaxTokens, c.Positions)
	}
	c.QueryPrefix = prompts.Prompts["query"]
	c.DocumentPrefix = prompts.Prompts["document"]
	if c.DocumentPrefix == "" {
		c.DocumentPrefix = prompts.Prompts["passage"]
	}
	switch {
	case pooling.Max || pooling.Root || pooling.Weight || pooling.Last || pooling.CLS == pooling.Mean:
		return fmt.Errorf("%w: 1_Pooling/config.json asks for neither mean nor first-token pooling alone", ErrModel)
	case pooling.CLS:
		c.Pooling = CLSPooling
	default:
		c.Pooling = MeanPooling
	}
	c.Normalize = len(modules) == 0
	for _, module := range modules {
		if strings.HasSuffix(module.Type, ".Normalize") {
			c.Normalize = true
		}
	}
	return nil
}

// readVocabulary prefers vocab.txt: it is what tokenizer.json was made from.
func (d folder) readVocabulary() ([]string, error) {
	text, err := d.read("vocab.txt")
	if err == nil {
		return splitVocabulary(string(text)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if text, err = d.read("tokenizer.json"); err != nil {
		return nil, err
	}
	var file struct {
		Model struct {
			Type  string           `json:"type"`
			Vocab map[string]int32 `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%w: tokenizer.json: %v", ErrVocabulary, err)
	}
	if file.Model.Type != "" && file.Model.Type != "WordPiece" {
		return nil, fmt.Errorf("%w: tokenizer.json is %.40q, not WordPiece", ErrVocabulary, file.Model.Type)
	}
	pieces := make([]string, len(file.Model.Vocab))
	for piece, id := range file.Model.Vocab {
		if id < 0 || int(id) >= len(pieces) || pieces[id] != "" {
			return nil, fmt.Errorf("%w: tokenizer.json: id %d of %.40q", ErrVocabulary, id, piece)
		}
		pieces[id] = piece
	}
	return pieces, nil
}

func (d folder) readWeights(m *Model) error {
	file, err := os.Open(filepath.Join(string(d), "model.safetensors"))
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return fmt.Errorf("model.safetensors: %w", err)
	}
	m.config.Digest = hex.EncodeToString(digest.Sum(nil))
	tensors, err := readTensorFile(file, info.Size())
	if err != nil {
		return err
	}
	w := published{reader: reader{file: tensors}}
	if tensors.has("bert.embeddings.word_embeddings.weight") {
		w.prefix = "bert." // a model saved with a head on top
	}
	w.readEmbeddings(m)
	m.layers = make([]layer, m.config.Layers)
	for i := range m.layers {
		if w.checkLayer(m, i); w.err == nil {
			w.readLayer(m, i)
		}
	}
	w.readHead(m)
	return w.err
}

// published reads tensors under the names that Python's transformers gives them.
type published struct {
	reader
	prefix string
}

func (w *published) floats(name string, shape ...int) []float32 {
	return w.reader.floats(w.prefix+name, shape...)
}

func (w *published) norm(name string, c *Config) kernel.Norm {
	gamma, beta := name+".weight", name+".bias"
	if !w.file.has(w.prefix + gamma) { // as files converted from the first release call them
		gamma, beta = name+".gamma", name+".beta"
	}
	return kernel.NewNorm(w.floats(gamma, c.Hidden), w.floats(beta, c.Hidden), c.Eps)
}

func (w *published) readEmbeddings(m *Model) {
	c := &m.config
	words := w.floats("embeddings.word_embeddings.weight", c.Vocabulary, c.Hidden)
	m.words = make([]int8, len(words))
	m.wordScales = make([]float32, c.Vocabulary)
	for i := 0; i < len(words); i += c.Hidden {
		scale, inverse := rowScale(words[i : i+c.Hidden])
		m.wordScales[i/c.Hidden] = scale
		for j, v := range words[i : i+c.Hidden] {
			m.words[i+j] = code(v, inverse)
		}
	}
	m.positions = w.floats("embeddings.position_embeddings.weight", c.Positions, c.Hidden)
	m.types = w.floats("embeddings.token_type_embeddings.weight", c.Types, c.Hidden)
	m.embedNorm = w.norm("embeddings.LayerNorm", c)
}

// checkLayer sees that the file holds the layer's matrices before they are given room.
func (w *published) checkLayer(m *Model, i int) {
	prefix := fmt.Sprintf("%sencoder.layer.%d.", w.prefix, i)
	for _, name := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
		w.expect(prefix+name+".weight", m.config.Hidden, m.config.Hidden)
	}
	w.expect(prefix+"intermediate.dense.weight", m.config.Intermediate, m.config.Hidden)
	w.expect(prefix+"output.dense.weight", m.config.Hidden, m.config.Intermediate)
}

func (w *published) readLayer(m *Model, i int) {
	c := &m.config
	l := &m.layers[i]
	for _, e := range l.matrices() {
		k, n := c.shape(e.name)
		*e.matrix = kernel.NewMatrix(k, n)
	}
	prefix := fmt.Sprintf("encoder.layer.%d.", i)
	linear := func(m *kernel.Matrix, first, n int, name string, factor float32) {
		weights, biases := w.floats(prefix+name+".weight", n, m.K), w.floats(prefix+name+".bias", n)
		if w.err == nil {
			quantizeInto(m, first, weights, biases, factor)
		}
	}
	linear(l.qkv, 0, c.Hidden, "attention.self.query", float32(1/math.Sqrt(float64(c.headWidth()))))
	linear(l.qkv, c.Hidden, c.Hidden, "attention.self.key", 1)
	linear(l.qkv, 2*c.Hidden, c.Hidden, "attention.self.value", 1)
	linear(l.attended, 0, c.Hidden, "attention.output.dense", 1)
	linear(l.up, 0, c.Intermediate, "intermediate.dense", 1)
	linear(l.down, 0, c.Hidden, "output.dense", 1)
	l.attendedNorm = w.norm(prefix+"attention.output.LayerNorm", c)
	l.downNorm = w.norm(prefix+"output.LayerNorm", c)
}
