package bert

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// maxHeader bounds the JSON of a safetensors file; headers of real encoders are some 30 kB.
const maxHeader = 8 << 20

// A tensorFile is a safetensors file: an 8-byte length, a JSON header that says where each
// tensor lies, then the tensors (https://github.com/huggingface/safetensors#format).
type tensorFile struct {
	data     io.ReaderAt
	start    int64 // of the tensors
	tensors  map[string]tensor
	metadata map[string]string
}

// A tensor's range is relative to the end of the header.
type tensor struct {
	Type   string   `json:"dtype"`
	Shape  []int    `json:"shape"`
	Offset [2]int64 `json:"data_offsets"`
}

var elementBytes = map[string]int64{"F32": 4, "F16": 2, "BF16": 2, "I8": 1, "U8": 1}

// readTensorFile reads and checks the header of size bytes of data. Whatever the header
// says, no more is allocated later than the file is long.
func readTensorFile(data io.ReaderAt, size int64) (*tensorFile, error) {
	var prefix [8]byte
	if _, err := data.ReadAt(prefix[:], 0); err != nil {
		return nil, fmt.Errorf("%w: reading the header length: %v", ErrModel, err)
	}
	length := binary.LittleEndian.Uint64(prefix[:])
	if length > maxHeader || int64(length) > size-8 {
		return nil, fmt.Errorf("%w: header of %d bytes in a file of %d", ErrModel, length, size)
	}
	header := make([]byte, length)
	if _, err := data.ReadAt(header, 8); err != nil {
		return nil, fmt.Errorf("%w: reading the header: %v", ErrModel, err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(header, &raw); err != nil {
		return nil, fmt.Errorf("%w: header: %v", ErrModel, err)
	}
	f := &tensorFile{data: data, start: 8 + int64(length), tensors: make(map[string]tensor, len(raw))}
	for name, msg := range raw {
		if name == "__metadata__" {
			if err := json.Unmarshal(msg, &f.metadata); err != nil {
				return nil, fmt.Errorf("%w: header metadata: %v", ErrModel, err)
			}
			continue
		}
		var t tensor
		if err := json.Unmarshal(msg, &t); err != nil {
			return nil, fmt.Errorf("%w: header entry %.80q: %v", ErrModel, name, err)
		}
		if err := t.check(size - f.start); err != nil {
			return nil, fmt.Errorf("%w: tensor %.80q: %v", ErrModel, name, err)
		}
		f.tensors[name] = t
	}
	return f, nil
}

// check compares what a header says of a tensor with itself and with the bytes there are.
// Types this package does not read are let pass, with their range checked.
func (t *tensor) check(available int64) error {
	begin, end := t.Offset[0], t.Offset[1]
	if begin < 0 || end < begin || end > available {
		return fmt.Errorf("range %d..%d of %d bytes", begin, end, available)
	}
	size, known := elementBytes[t.Type]
	if !known {
		return nil
	}
	for _, n := range t.Shape {
		if n < 0 || n > 0 && size > available/int64(n) {
			return fmt.Errorf("shape %v in %d bytes", t.Shape, end-begin)
		}
		size *= int64(n)
	}
	if size != end-begin {
		return fmt.Errorf("shape %v of %s in %d bytes", t.Shape, t.Type, end-begin)
	}
	return nil
}

func (f *tensorFile) has(name string) bool {
	_, ok := f.tensors[name]
	return ok
}

// bytes reads a tensor of one of the given types and exactly the given shape.
func (f *tensorFile) bytes(name string, types []string, shape ...int) ([]byte, tensor, error) {
	t, ok := f.tensors[name]
	if !ok {
		return nil, t, fmt.Errorf("%w: tensor %s is missing", ErrModel, name)
	}
	if !slices.Contains(types, t.Type) || !slices.Equal(t.Shape, shape) {
		return nil, t, fmt.Errorf("%w: tensor %s is %s %v, want %v %v", ErrModel, name, t.Type, t.Shape, types, shape)
	}
	if view, ok := f.data.(memory); ok {
		return view[f.start+t.Offset[0] : f.start+t.Offset[1]], t, nil
	}
	b := make([]byte, t.Offset[1]-t.Offset[0])
	if _, err := f.data.ReadAt(b, f.start+t.Offset[0]); err != nil {
		return nil, t, fmt.Errorf("%w: reading tensor %s: %v", ErrModel, name, err)
	}
	return b, t, nil
}

// floats reads a tensor of floating point numbers. A number that is not finite would poison
// every vector, so it is refused.
func (f *tensorFile) floats(name string, shape ...int) ([]float32, error) {
	b, t, err := f.bytes(name, []string{"F32", "F16", "BF16"}, shape...)
	if err != nil {
		return nil, err
	}
	size := int(elementBytes[t.Type])
	x := make([]float32, len(b)/size)
	for i := range x {
		switch t.Type {
		case "F32":
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		case "BF16":
			x[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16)
		case "F16":
			x[i] = halfFloat(binary.LittleEndian.Uint16(b[2*i:]))
		}
		if v := float64(x[i]); math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: tensor %s holds %v", ErrModel, name, v)
		}
	}
	return x, nil
}

// halfFloat converts IEEE 754 binary16.
func halfFloat(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exponent, mantissa := uint32(h>>10&31), uint32(h&1023)
	switch exponent {
	case 0: // zero and subnormal: mantissa · 2^-24
		return math.Float32frombits(math.Float32bits(float32(mantissa)*0x1p-24) | sign)
	case 31:
		return math.Float32frombits(sign | 0xFF<<23 | mantissa<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | mantissa<<13)
}

// memory is a file that lies in memory; its tensors are views of it.
type memory []byte

func (m memory) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(p, m[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// A namedTensor is one to be written.
type namedTensor struct {
	name, typ string
	shape     []int
	data      []byte
}

// appendTensors writes a safetensors file. The first tensor starts at a multiple of 64
// bytes, the others follow without gaps, as the format wants.
func appendTensors(dst []byte, metadata map[string]string, tensors []namedTensor) ([]byte, error) {
	header := map[string]any{"__metadata__": metadata}
	at := int64(0)
	for _, t := range tensors {
		end := at + int64(len(t.data))
		header[t.name] = tensor{Type: t.typ, Shape: t.shape, Offset: [2]int64{at, end}}
		at = end
	}
	h, err := json.Marshal(header)
	if err != nil {
		return nil, fmt.Errorf("tensor header: %w", err)
	}
	for (len(h)+8)%64 != 0 {
		h = append(h, ' ')
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(h)))
	dst = append(dst, h...)
	for _, t := range tensors {
		dst = append(dst, t.data...)
	}
	return dst, nil
}
