package openai

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/sextant-rag/sextant/internal/endpoint"
)

// request and response are those of "Create embeddings" in OpenAI's API reference.
type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Encoding   string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions,omitempty"`
}

type response struct {
	Data []item `json:"data"`
}

type item struct {
	Index     *int   `json:"index"`
	Embedding vector `json:"embedding"`
}

// A vector is read from a list of numbers or from the base64 of little-endian float32.
type vector []float32

// UnmarshalJSON reads either form.
func (v *vector) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return json.Unmarshal(data, (*[]float32)(v))
	}
	var packed []byte
	if err := json.Unmarshal(data, &packed); err != nil {
		return fmt.Errorf("vector: %w", base64Error(err))
	}
	if len(packed)%4 != 0 {
		return fmt.Errorf("vector of %d bytes, which are no float32", len(packed))
	}
	*v = make(vector, len(packed)/4)
	for i := range *v {
		(*v)[i] = math.Float32frombits(binary.LittleEndian.Uint32(packed[4*i:]))
	}
	return nil
}

// base64Error keeps the position of what is no base64.
func base64Error(err error) error {
	var at base64.CorruptInputError
	if errors.As(err, &at) {
		return fmt.Errorf("no base64 at byte %d", int64(at))
	}
	return err
}

// vectors puts the answer in the order of the n texts and scales each vector to length 1.
// dim 0 takes any length, the same for all.
func (r *response) vectors(n, dim int) ([][]float32, error) {
	if len(r.Data) != n {
		return nil, fmt.Errorf("%w: %d vectors for %d texts", endpoint.ErrResponse, len(r.Data), n)
	}
	out := make([][]float32, n)
	for i, item := range r.Data {
		at := i
		if item.Index != nil {
			at = *item.Index
		}
		if at < 0 || at >= n || out[at] != nil {
			return nil, fmt.Errorf("%w: vector %d is said to be that of text %d of %d", endpoint.ErrResponse, i, at, n)
		}
		if dim == 0 {
			dim = len(item.Embedding)
		}
		if len(item.Embedding) != dim {
			return nil, fmt.Errorf("%w: %d numbers, want %d", ErrDimension, len(item.Embedding), dim)
		}
		if err := normalize(item.Embedding); err != nil {
			return nil, fmt.Errorf("%w: vector %d: %v", endpoint.ErrResponse, i, err)
		}
		out[at] = item.Embedding
	}
	return out, nil
}

func normalize(v []float32) error {
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	length := math.Sqrt(square)
	if !(length > 1e-30) || math.IsInf(length, 0) {
		return fmt.Errorf("its length is %v", length)
	}
	for i, x := range v {
		v[i] = float32(float64(x) / length)
	}
	return nil
}
