package bert

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/sextant-rag/sextant/bert/internal/kernel"
)

// The packed form is a safetensors file whose metadata name this format and hold the Config
// as JSON. Weights are stored as the kernels want them, so that opening copies only what is
// small. Tensors: vocabulary (U8, the text form), words.codes (I8), words.scales, positions,
// types, norm.gamma, norm.beta; for each layer i: layers.i.NAME.codes (I8, in the panel order
// of kernel.Matrix) and layers.i.NAME.params for NAME qkv, attended, up, down, and
// layers.i.NAME.gamma, .beta for attended and down. All but codes and vocabulary are F32.
const packedFormat = "sextant-bert-w8a8-1"

// Pack returns the model in packed form, for [Open]. Notes, such as where the weights come
// from, go into the file's metadata and are not read again. A head is not packed.
func (m *Model) Pack(notes map[string]string) ([]byte, error) {
	config, err := json.Marshal(m.config)
	if err != nil {
		return nil, fmt.Errorf("pack model: %w", err)
	}
	c := &m.config
	floats := func(name string, x []float32, shape ...int) namedTensor {
		data := make([]byte, 0, 4*len(x))
		for _, v := range x {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		return namedTensor{name, "F32", shape, data}
	}
	// Codes come first: their sizes keep each of them aligned to cache lines.
	tensors := []namedTensor{{"words.codes", "I8", []int{c.Vocabulary, c.Hidden}, bytesOf(m.words)}}
	for i := range m.layers {
		for _, l := range m.layers[i].matrices() {
			k, n := c.shape(l.name)
			tensors = append(tensors, namedTensor{fmt.Sprintf("layers.%d.%s.codes", i, l.name), "I8", []int{k * n}, bytesOf((*l.matrix).Codes)})
		}
	}
	tensors = append(tensors,
		floats("words.scales", m.wordScales, c.Vocabulary),
		floats("positions", m.positions, c.Positions, c.Hidden),
		floats("types", m.types, c.Types, c.Hidden),
		floats("norm.gamma", m.embedNorm.Gamma, c.Hidden),
		floats("norm.beta", m.embedNorm.Beta, c.Hidden))
	for i := range m.layers {
		for _, l := range m.layers[i].matrices() {
			_, n := c.shape(l.name)
			tensors = append(tensors, floats(fmt.Sprintf("layers.%d.%s.params", i, l.name), (*l.matrix).Params, n/kernel.Width, 3, kernel.Width))
		}
		for name, norm := range m.layers[i].norms() {
			prefix := fmt.Sprintf("layers.%d.%s", i, name)
			tensors = append(tensors, floats(prefix+".gamma", norm.Gamma, c.Hidden), floats(prefix+".beta", norm.Beta, c.Hidden))
		}
	}
	tensors = append(tensors, namedTensor{"vocabulary", "U8", []int{len(m.vocabularyText)}, []byte(m.vocabularyText)})
	metadata := map[string]string{"format": packedFormat, "config": string(config)}
	for key, note := range notes {
		if _, taken := metadata[key]; !taken {
			metadata[key] = note
		}
	}
	return appendTensors(nil, metadata, tensors)
}

// Open reads a model in packed form. The text is kept and read in place; only its small
// tensors are copied. Errors wrap [ErrModel] or [ErrVocabulary].
func Open(packed string) (*Model, error) {
	m, err := open(memoryOf(packed))
	if err != nil {
		return nil, fmt.Errorf("open packed model: %w", err)
	}
	return m, nil
}

// ReadConfig reads only the configuration of a model in packed form.
func ReadConfig(packed string) (Config, error) {
	_, c, err := openHeader(memoryOf(packed))
	if err != nil {
		return Config{}, fmt.Errorf("read packed model's configuration: %w", err)
	}
	return c, nil
}

func memoryOf(s string) memory { return memory(unsafe.Slice(unsafe.StringData(s), len(s))) }

func openHeader(data memory) (*tensorFile, Config, error) {
	var c Config
	f, err := readTensorFile(data, int64(len(data)))
	if err != nil {
		return nil, c, err
	}
	if f.metadata["format"] != packedFormat {
		return nil, c, fmt.Errorf("%w: format %.40q, want %q", ErrModel, f.metadata["format"], packedFormat)
	}
	if err := json.Unmarshal([]byte(f.metadata["config"]), &c); err != nil {
		return nil, c, fmt.Errorf("%w: configuration: %v", ErrModel, err)
	}
	return f, c, c.validate()
}

func open(data memory) (*Model, error) {
	f, config, err := openHeader(data)
	if err != nil {
		return nil, err
	}
	m := &Model{config: config}
	if err := m.openVocabulary(f); err != nil {
		return nil, err
	}
	r := reader{file: f}
	m.openEmbeddings(&r)
	m.layers = make([]layer, m.config.Layers)
	for i := range m.layers {
		m.openLayer(&r, i)
	}
	if r.err != nil {
		return nil, r.err
	}
	return m, m.finish()
}

func (m *Model) openVocabulary(f *tensorFile) error {
	size := 0
	if shape := f.tensors["vocabulary"].Shape; len(shape) == 1 {
		size = shape[0]
	}
	text, _, err := f.bytes("vocabulary", []string{"U8"}, size)
	if err != nil {
		return err
	}
	m.vocabularyText = unsafe.String(unsafe.SliceData(text), len(text))
	m.tokenizer, err = NewTokenizer(m.vocabularyText, m.config.Cased)
	return err
}

func (m *Model) openEmbeddings(r *reader) {
	c := &m.config
	m.words = r.codes("words.codes", c.Vocabulary, c.Hidden)
	m.wordScales = r.floats("words.scales", c.Vocabulary)
	m.positions = r.floats("positions", c.Positions, c.Hidden)
	m.types = r.floats("types", c.Types, c.Hidden)
	m.embedNorm = kernel.NewNorm(r.floats("norm.gamma", c.Hidden), r.floats("norm.beta", c.Hidden), c.Eps)
}

func (m *Model) openLayer(r *reader, i int) {
	c := &m.config
	l := &m.layers[i]
	for _, e := range l.matrices() {
		k, n := c.shape(e.name)
		prefix := fmt.Sprintf("layers.%d.%s", i, e.name)
		*e.matrix = &kernel.Matrix{
			K: k, N: n,
			Codes:  r.codes(prefix+".codes", k*n),
			Params: r.floats(prefix+".params", n/kernel.Width, 3, kernel.Width),
		}
	}
	for name, norm := range l.norms() {
		prefix := fmt.Sprintf("layers.%d.%s", i, name)
		*norm = kernel.NewNorm(r.floats(prefix+".gamma", c.Hidden), r.floats(prefix+".beta", c.Hidden), c.Eps)
	}
}

// norms yields the normalisations of l with their names in packed files, in a fixed order.
func (l *layer) norms() func(func(string, *kernel.Norm) bool) {
	return func(yield func(string, *kernel.Norm) bool) {
		_ = yield("attended", &l.attendedNorm) && yield("down", &l.downNorm)
	}
}

// A reader reads tensors until one fails.
type reader struct {
	file *tensorFile
	err  error
}

// expect fails unless the file has a tensor of that shape.
func (r *reader) expect(name string, shape ...int) {
	if t, ok := r.file.tensors[name]; r.err == nil && (!ok || !slices.Equal(t.Shape, shape)) {
		r.err = fmt.Errorf("%w: tensor %s is %v, want %v", ErrModel, name, t.Shape, shape)
	}
}

func (r *reader) floats(name string, shape ...int) []float32 {
	if r.err != nil {
		return nil
	}
	var x []float32
	x, r.err = r.file.floats(name, shape...)
	return x
}

func (r *reader) codes(name string, shape ...int) []int8 {
	if r.err != nil {
		return nil
	}
	b, _, err := r.file.bytes(name, []string{"I8"}, shape...)
	r.err = err
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

func bytesOf(codes []int8) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(codes))), len(codes))
}
