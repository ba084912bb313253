// Package adapt learns how the questions of one collection lie to its documents: a linear
// map of query vectors, from pairs of a question and the document that answers it. Stored
// vectors stay as they are, so a map is learnt in seconds, costs a tenth of a millisecond a
// query, and is switched off without a trace.
//
// The map is found by contrast within batches, each question against the documents of all
// others in it and each document against all questions (symmetric InfoNCE; van den Oord
// et al. 2018, Radford et al. 2021), with Adam (Kingma and Ba 2015), from the identity and
// with a pull back to it: where pairs say nothing, vectors stay.
package adapt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Map maps query vectors of unit length to such. The zero Map is none.
type Map struct {
	dim    int
	matrix []float32 // row by row; a query is a row vector before it
	bias   []float32
}

// Identity returns the map that changes nothing.
func Identity(dim int) Map {
	m := Map{dim, make([]float32, dim*dim), make([]float32, dim)}
	for i := range dim {
		m.matrix[i*dim+i] = 1
	}
	return m
}

// IsZero reports whether there is no map.
func (m Map) IsZero() bool { return m.dim == 0 }

// Dim is the length of the vectors it maps.
func (m Map) Dim() int { return m.dim }

// Apply returns the vector mapped. One of another length is returned as it is.
func (m Map) Apply(query []float32) []float32 {
	if len(query) != m.dim {
		return query
	}
	out := make([]float32, m.dim)
	copy(out, m.bias)
	for i, x := range query {
		for j, w := range m.matrix[i*m.dim:][:m.dim] {
			out[j] += x * w
		}
	}
	normalize(out)
	return out
}

func normalize(v []float32) float32 {
	sum := float32(0)
	for _, x := range v {
		sum += x * x
	}
	length := float32(math.Sqrt(float64(sum)))
	if length < 1e-12 {
		length = 1
	}
	for i := range v {
		v[i] /= length
	}
	return length
}

// Toward returns the map that lies between the identity (0) and m (1): where pairs only
// stand in for real questions, half of what they teach is safer.
func (m Map) Toward(strength float32) Map {
	out := Identity(m.dim)
	for i := range out.matrix {
		out.matrix[i] += strength * (m.matrix[i] - out.matrix[i])
	}
	for i := range out.bias {
		out.bias[i] = strength * m.bias[i]
	}
	return out
}

// Options of learning. Zero fields are the defaults, which were chosen on accident causes
// and their narratives.
type Options struct {
	Epochs      int     // 0 is 20
	Batch       int     // 0 is 256; half of the pairs at most
	Rate        float64 // 0 is 1e-3
	Decay       float64 // pull to the identity; 0 is 1e-3
	Temperature float64 // 0 is 0.05
	Progress    func(step, of int)
}

func (o Options) withDefaults() Options {
	set := func(x *float64, otherwise float64) {
		if *x == 0 {
			*x = otherwise
		}
	}
	set(&o.Rate, 1e-3)
	set(&o.Decay, 1e-3)
	set(&o.Temperature, 0.05)
	if o.Epochs == 0 {
		o.Epochs = 20
	}
	if o.Batch == 0 {
		o.Batch = 256
	}
	return o
}

// Least is how many pairs Learn needs.
const Least = 16

// ErrFew is why nothing can be learnt.
var ErrFew = fmt.Errorf("at least %d pairs are needed", Least)

// Learn returns the map learnt from pairs: document i answers query i. All vectors are of
// one length and of unit length. The same pairs give the same map.
func Learn(ctx context.Context, queries, documents [][]float32, o Options) (Map, error) {
	if len(queries) != len(documents) {
		return Map{}, fmt.Errorf("learn: %d queries and %d documents", len(queries), len(documents))
	}
	if len(queries) < Least {
		return Map{}, fmt.Errorf("learn from %d pairs: %w", len(queries), ErrFew)
	}
	o = o.withDefaults()
	t := newTrainer(len(queries[0]), min(o.Batch, len(queries)/2), o)
	random := rand.New(rand.NewPCG(1, uint64(len(queries))))
	steps := len(queries) / t.batch
	for epoch := range o.Epochs {
		order := random.Perm(len(queries))
		for s := range steps {
			if err := ctx.Err(); err != nil {
				return Map{}, err
			}
			for i, at := range order[s*t.batch:][:t.batch] {
				copy(t.q[i*t.dim:], queries[at])
				copy(t.d[i*t.dim:], documents[at])
			}
			t.step()
			if o.Progress != nil {
				o.Progress(epoch*steps+s+1, o.Epochs*steps)
			}
		}
	}
	return t.m, nil
}

// MarshalBinary writes the map: its dimension as uint32, then matrix and bias as float32,
// little-endian.
func (m Map) MarshalBinary() ([]byte, error) {
	out := binary.LittleEndian.AppendUint32(nil, uint32(m.dim))
	for _, all := range [][]float32{m.matrix, m.bias} {
		for _, x := range all {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
	}
	return out, nil
}

// ErrFormat is why bytes are no map.
var ErrFormat = errors.New("not a map of vectors")

const maxDim = 1 << 12

// UnmarshalBinary reads what MarshalBinary wrote.
func (m *Map) UnmarshalBinary(data []byte) error {
	if len(data) < 4 {
		return ErrFormat
	}
	dim := int(binary.LittleEndian.Uint32(data))
	if dim < 1 || dim > maxDim || len(data) != 4+4*(dim*dim+dim) {
		return ErrFormat
	}
	*m = Map{dim, make([]float32, dim*dim), make([]float32, dim)}
	data = data[4:]
	for _, all := range [][]float32{m.matrix, m.bias} {
		for i := range all {
			x := math.Float32frombits(binary.LittleEndian.Uint32(data))
			if x-x != 0 {
				return fmt.Errorf("%w: a number is not finite", ErrFormat)
			}
			all[i], data = x, data[4:]
		}
	}
	return nil
}
