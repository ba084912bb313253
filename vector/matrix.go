package vector

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// Matrix is a growing list of vectors of one dimension, numbered from 0, as int8 with a
// scale each. One writer and any number of searches may use it at once: what is
// appended becomes visible together, and nobody waits.
type Matrix struct {
	dim    int
	kernel kernel
	mu     sync.Mutex // held by the one writer
	state  atomic.Pointer[state]
	pool   sync.Pool // of *search
}

// state is what searches look at. Rows below n never change; those above belong to the
// writer.
type state struct {
	slabs []slab
	n     int
	scale float32 // the largest of all rows
	norm  float32 // the largest of all rows
}

// slab holds up to slabRows rows. Appending to a long matrix so never copies it; only a
// slab that is not full yet is copied when it grows.
type slab struct {
	codes  []int8 // rows padded to a multiple of stride
	scales []float32
}

const (
	slabRows  = 1 << 13
	firstRows = 1 << 6 // of the first slab, so that a small matrix is small
)

// New returns an empty matrix of 1 to MaxDimension dimensions.
func New(dim int) (*Matrix, error) {
	if dim < 1 || dim > MaxDimension {
		return nil, fmt.Errorf("vector: matrix of %d dimensions: 1 to %d are possible", dim, MaxDimension)
	}
	m := &Matrix{dim: dim, kernel: defaultKernel}
	m.state.Store(&state{})
	return m, nil
}

// Dim returns the number of dimensions.
func (m *Matrix) Dim() int { return m.dim }

// Len returns the number of rows.
func (m *Matrix) Len() int { return m.state.Load().n }

// Kernel returns the name of the dot product in use.
func (m *Matrix) Kernel() string { return m.kernel.name }

// Bytes returns what the rows take in memory.
func (m *Matrix) Bytes() int64 {
	total := int64(0)
	for _, s := range m.state.Load().slabs {
		total += int64(len(s.codes) + 4*len(s.scales))
	}
	return total
}

// Append adds vectors as the next rows, all of them or, if one is bad, none. A nil vector
// makes a row that no search returns. Errors are those of Check.
func (m *Matrix) Append(vectors ...[]float32) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := *m.state.Load()
	for i, v := range vectors {
		if err := m.append(&st, v); err != nil {
			return fmt.Errorf("vector: append row %d: %w", m.Len()+i, err)
		}
	}
	m.state.Store(&st)
	return nil
}

func (m *Matrix) append(st *state, v []float32) error {
	codes, scale := m.room(st)
	if v == nil {
		clear(codes)
		*scale = 0
		st.n++
		return nil
	}
	if len(v) != m.dim {
		return &DimensionError{Got: len(v), Want: m.dim}
	}
	s, square, err := quantize(codes, v)
	if err != nil {
		return err
	}
	*scale = s
	st.scale = max(st.scale, s)
	st.norm = max(st.norm, s*float32(math.Sqrt(float64(square))))
	st.n++
	return nil
}

// AppendCodes adds a row as Row gave it: dim codes, none of them -128, and their scale,
// which is finite and not negative. Scale 0 is a row that no search returns.
func (m *Matrix) AppendCodes(codes []int8, scale float32) error {
	if len(codes) != m.dim {
		return fmt.Errorf("vector: append codes: %w", &DimensionError{Got: len(codes), Want: m.dim})
	}
	square := int32(0)
	for _, c := range codes {
		if c == -128 {
			return fmt.Errorf("vector: append codes: -128 is no code: %w", ErrNotFinite)
		}
		square += int32(c) * int32(c)
	}
	if !(scale >= 0 && scale <= math.MaxFloat32) {
		return fmt.Errorf("vector: append codes: scale %v: %w", scale, ErrNotFinite)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	st := *m.state.Load()
	room, at := m.room(&st)
	copy(room, codes)
	*at = scale
	st.scale = max(st.scale, scale)
	st.norm = max(st.norm, scale*float32(math.Sqrt(float64(square))))
	st.n++
	m.state.Store(&st)
	return nil
}

// Row returns the codes of a row, which must not be changed, and its scale.
func (m *Matrix) Row(row int) (codes []int8, scale float32) {
	st := m.state.Load()
	if row < 0 || row >= st.n {
		return nil, 0
	}
	s, i := &st.slabs[row/slabRows], row%slabRows
	return s.codes[i*padded(m.dim):][:m.dim:m.dim], s.scales[i]
}

// room returns where the next row goes, growing the matrix if it is full. Slabs are put
// in place by copying their headers, as searches may be reading the old ones.
func (m *Matrix) room(st *state) (codes []int8, scale *float32) {
	last, i := st.n/slabRows, st.n%slabRows
	width := padded(m.dim)
	if last == len(st.slabs) || i == len(st.slabs[last].scales) {
		rows := slabRows
		if last == 0 {
			rows = min(slabRows, max(firstRows, 2*i))
		}
		grown := slab{codes: make([]int8, rows*width), scales: make([]float32, rows)}
		if i > 0 {
			copy(grown.codes, st.slabs[last].codes)
			copy(grown.scales, st.slabs[last].scales)
		}
		st.slabs = append(st.slabs[:last:last], grown)
	}
	s := &st.slabs[last]
	return s.codes[i*width:][:m.dim:m.dim], &s.scales[i]
}
