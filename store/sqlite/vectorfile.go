package sqlite

import (
	"encoding/binary"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/sextant-rag/sextant/vector"
)

// vectorFile is a copy of the stored vectors beside the index, the half floats of chunk
// slot n at n times their size. A search re-scores from it, since a read of it takes a
// microsecond where SQLite takes five.
//
// It is a cache that cannot lie: the checksum of every vector is held in RAM, and what
// does not have it, because the file was cut, never synced, of another time or replaced,
// is read from the documents and put back. So it needs no sync and no repair, and it is
// read with pread: a page of a mapped file that cannot be read would end the process,
// and those that can would count as memory in use.
type vectorFile struct {
	name     string // in the folder of derived files
	size     int64  // bytes of a vector
	f        *os.File
	readOnly bool
	log      *slog.Logger
	warn     sync.Once
	sums     atomic.Pointer[[]uint32] // by chunk slot: see vectorChecksum
}

const vectorSuffix = ".vec"

func newVectorFile(dimension int) *vectorFile {
	v := &vectorFile{size: 2 * int64(dimension), log: slog.New(slog.DiscardHandler)}
	v.sums.Store(&[]uint32{})
	return v
}

// attach opens the file in a folder, or makes one. Without it every vector is read from
// the documents, which is slower and nothing else.
func (v *vectorFile) attach(p derivedPlace) {
	v.log, v.readOnly = p.log, p.readOnly
	if p.readOnly {
		if v.name != "" {
			v.f, _ = os.Open(filepath.Join(p.folder, v.name)) // or none
		}
		return
	}
	folder := p.folder
	var err error
	if v.name != "" {
		v.f, err = os.OpenFile(filepath.Join(folder, v.name), os.O_RDWR, 0)
	}
	if v.name == "" || errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(folder, 0o700); err == nil {
			v.f, err = os.CreateTemp(folder, "*"+vectorSuffix)
		}
		if err == nil {
			v.name = filepath.Base(v.f.Name())
		}
	}
	v.complain(err)
}

// complain warns once of a file that is of no use.
func (v *vectorFile) complain(err error) {
	if err != nil && !errors.Is(err, os.ErrClosed) {
		v.warn.Do(func() {
			v.log.Warn("the copy of the vectors cannot be used; searches are slower, and nothing is lost", "file", v.name, "reason", err)
		})
	}
}

// close lets go of the file. Searches that still run read from the documents.
func (v *vectorFile) close() {
	if v != nil && v.f != nil {
		v.f.Close()
	}
}

// append enters the vectors of the next slots, end to end.
func (v *vectorFile) append(halves []byte, sums []uint32) {
	all := *v.sums.Load()
	v.write(len(all), halves)
	all = append(all, sums...)
	v.sums.Store(&all)
}

func (v *vectorFile) write(slot int, halves []byte) {
	if v.f != nil && !v.readOnly && len(halves) > 0 {
		_, err := v.f.WriteAt(halves, int64(slot)*v.size)
		v.complain(err)
	}
}

// read reads the vector of a chunk; false if the file does not have it.
func (v *vectorFile) read(chunk uint32, key int64, buf []byte, into []float32) bool {
	sums := *v.sums.Load()
	if v.f == nil || int(chunk) >= len(sums) {
		return false
	}
	if n, _ := v.f.ReadAt(buf, int64(chunk)*v.size); n != len(buf) {
		return false
	}
	return vectorChecksum(key, buf) == sums[chunk] && vector.DecodeHalf(into, buf) == nil
}

// heal puts a vector back that was read from the documents.
func (v *vectorFile) heal(chunk uint32, vec []float32) {
	if halves, err := vector.AppendHalf(nil, vec); err == nil {
		v.write(int(chunk), halves)
	}
}

func (v *vectorFile) memory() int64 { return 4 * int64(cap(*v.sums.Load())) }

// fetch reads the vectors of chunks, rising, from their file and, where that does not
// have them, from the documents.
func (v frozen) fetch(s *snapshot, chunks []uint32, into []float32) error {
	dimension := len(into) / len(chunks)
	buf := make([]byte, v.file.size)
	var missing []int
	for i, c := range chunks {
		if !v.file.read(c, v.key(c), buf, into[i*dimension:][:dimension]) {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	keys := make([]int64, len(missing))
	for i, at := range missing {
		keys[i] = v.key(chunks[at])
	}
	found := make([]float32, len(missing)*dimension)
	if err := s.vectors(keys, found); err != nil {
		return err
	}
	for i, at := range missing {
		vec := found[i*dimension:][:dimension]
		copy(into[at*dimension:], vec)
		v.file.heal(chunks[at], vec)
	}
	return nil
}

// vectorBatch enters vectors into a matrix and its file, many at a time: entering one by
// one would publish a state for each.
type vectorBatch struct {
	matrix *vector.Matrix
	file   *vectorFile
	flat   []float32
	rows   [][]float32
	halves []byte
	sums   []uint32
}

const vectorBatchRows = 256

func (x *index) newVectorBatch() *vectorBatch {
	return &vectorBatch{matrix: x.vectors, file: x.file, flat: make([]float32, vectorBatchRows*x.vectors.Dim())}
}

func (b *vectorBatch) add(key int64, blob []byte) error {
	dim := b.matrix.Dim()
	v := b.flat[len(b.rows)*dim:][:dim]
	if err := decodeVector(v, key, blob); err != nil {
		return err
	}
	n := len(blob) - vectorSum
	b.rows = append(b.rows, v)
	b.halves = append(b.halves, blob[:n]...)
	b.sums = append(b.sums, binary.LittleEndian.Uint32(blob[n:]))
	if len(b.rows) == vectorBatchRows {
		return b.flush()
	}
	return nil
}

// skip enters a row that no search returns.
func (b *vectorBatch) skip() error {
	b.rows = append(b.rows, nil)
	b.halves = append(b.halves, make([]byte, 2*b.matrix.Dim())...)
	b.sums = append(b.sums, 0)
	if len(b.rows) == vectorBatchRows {
		return b.flush()
	}
	return nil
}

func (b *vectorBatch) flush() error {
	err := b.matrix.Append(b.rows...)
	if err == nil {
		b.file.append(b.halves, b.sums)
	}
	b.rows, b.halves, b.sums = b.rows[:0], b.halves[:0], b.sums[:0]
	return err
}

// addVectors appends the vectors of new rows, whose chunks come next.
func (x *index) addVectors(rows []*row) error {
	b := x.newVectorBatch()
	for _, r := range rows {
		for i, blob := range r.vectors {
			if err := b.add(r.number<<chunkBits|int64(i), blob); err != nil {
				return err
			}
		}
	}
	return b.flush()
}
