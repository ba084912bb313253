package sqlite

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"unsafe"

	"github.com/sextant-rag/sextant/internal/intern"
)

// fileWriter writes the project's binary form to a file with a CRC-32C of all at its
// end. It stops at the first error.
type fileWriter struct {
	w   *bufio.Writer
	sum uint32
	buf []byte
	err error
}

// Write lets others write a part of the file.
func (w *fileWriter) Write(b []byte) (int, error) {
	w.raw(b)
	return len(b), w.err
}

func (w *fileWriter) raw(b []byte) {
	if w.err == nil {
		w.sum = crc32.Update(w.sum, castagnoli, b)
		_, w.err = w.w.Write(b)
	}
}

func (w *fileWriter) uint(n uint64) {
	w.buf = binary.AppendUvarint(w.buf[:0], n)
	w.raw(w.buf)
}

func (w *fileWriter) str(s string) {
	w.uint(uint64(len(s)))
	w.raw(intern.Bytes(s))
}

func (w *fileWriter) strings(d *intern.Strings) {
	w.uint(uint64(len(d.Text())))
	w.raw(d.Text())
	w.uint(uint64(d.Len()))
	for i := range uint32(d.Len()) {
		w.buf = binary.LittleEndian.AppendUint64(w.buf[:0], d.End(i))
		w.raw(w.buf)
	}
}

func (w *fileWriter) finish() error {
	w.raw(binary.BigEndian.AppendUint32(nil, w.sum))
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

// number is an item of an array in a file.
type number interface {
	uint32 | int64 | uint64 | float32
}

// piece is how many items are encoded at a time.
const piece = 1 << 14

func writeArray[T number](w *fileWriter, a []T) {
	w.uint(uint64(len(a)))
	for len(a) > 0 && w.err == nil {
		n := min(piece, len(a))
		w.buf, w.err = binary.Append(w.buf[:0], binary.LittleEndian, a[:n])
		w.raw(w.buf)
		a = a[n:]
	}
}

// fileReader reads what fileWriter wrote. After an error it returns zero values only;
// counts are checked against what is left of the file, so that a wrong one cannot make
// it allocate.
type fileReader struct {
	r    *bufio.Reader
	left int64
	buf  []byte
	err  error
}

func (r *fileReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Read lets others read a part of the file.
func (r *fileReader) Read(b []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.r.Read(b)
	r.left -= int64(n)
	return n, err
}

func (r *fileReader) raw(b []byte) {
	if r.err == nil {
		_, r.err = io.ReadFull(r.r, b)
		r.left -= int64(len(b))
	}
}

func (r *fileReader) uint() uint64 {
	if r.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(r.r)
	r.left--
	if err != nil {
		r.fail(err)
		return 0
	}
	return n
}

// count reads the number of items of a size.
func (r *fileReader) count(size int) int {
	n := r.uint()
	if n > uint64(max(0, r.left))/uint64(size) {
		r.fail(errCodec)
		return 0
	}
	return int(n)
}

func (r *fileReader) str() string {
	b := make([]byte, r.count(1))
	r.raw(b)
	return string(b)
}

// expect reads a string that is known.
func (r *fileReader) expect(s string) {
	if r.str() != s {
		r.fail(errCodec)
	}
}

func (r *fileReader) strings() *intern.Strings {
	text := make([]byte, r.count(1))
	r.raw(text)
	d, err := intern.Of(text, readArray[uint64](r))
	if err != nil {
		r.fail(errCodec)
		return intern.New()
	}
	return d
}

func readArray[T number](r *fileReader) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	n := r.count(size)
	if n == 0 {
		return nil
	}
	out := make([]T, n)
	for rest := out; len(rest) > 0 && r.err == nil; {
		m := min(piece, len(rest))
		if cap(r.buf) < m*size {
			r.buf = make([]byte, piece*8)
		}
		b := r.buf[:m*size]
		r.raw(b)
		if r.err == nil {
			_, r.err = binary.Decode(b, binary.LittleEndian, rest[:m])
		}
		rest = rest[m:]
	}
	return out
}

// codeBytes and codesOf turn int8 codes into bytes and back without copying.
func codeBytes(codes []int8) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(codes))), len(codes))
}

func codesOf(b []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}
