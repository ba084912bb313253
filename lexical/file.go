package lexical

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// An index is written as eight bytes of magic, the last being the version, and then
// blocks: eight bytes of length (little-endian), that many bytes, and their CRC-32C. The
// first block is the header
//
//	uvarint length and bytes of the analyzer's name
//	uvarint of the highest row ever added plus 1
//	uvarint of the number of segments
//
// and each of the others a segment
//
//	a byte: 0, the segment is here; or 1, it is in a file of its own (see Files)
//	here: uvarint length of its image, and the image; else: uvarint length of the file's
//	name, the name, and the CRC-32C that the file ends with in four bytes, little-endian
//	uvarint of removed rows; each as uvarint distance of ordinals (the first: ordinal+1)
//
// A file that passes its checksums is still looked through completely before use, since
// the searches trust every byte.
const magic = "SXLEX\x00\x00\x03"

// Where a segment is.
const (
	isHere = iota
	isInFile
)

// Errors of reading an index.
var (
	ErrCorrupt  = errors.New("index data are damaged")
	ErrAnalyzer = errors.New("index was made with another analyzer")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// WriteTo writes the present state; changes made meanwhile are not in it. Rows that were
// removed stay out of sight but may still take room.
func (ix *Index) WriteTo(w io.Writer) (int64, error) {
	st := ix.state.Load()
	out := blockWriter{w: w}
	out.write([]byte(magic))
	name := ix.analyzer.Name()
	head := binary.AppendUvarint(nil, uint64(len(name)))
	head = append(head, name...)
	head = binary.AppendUvarint(head, uint64(st.last+1))
	head = binary.AppendUvarint(head, uint64(len(st.parts)))
	out.block(head)
	for _, p := range st.parts {
		out.block(p.pieces()...)
	}
	if out.err != nil {
		return out.n, fmt.Errorf("lexical: write index: %w", out.err)
	}
	return out.n, nil
}

// pieces encodes a segment's block.
func (p part) pieces() [][]byte {
	if f := p.seg.file; f != nil {
		b := binary.AppendUvarint([]byte{isInFile}, uint64(len(f.name)))
		b = binary.LittleEndian.AppendUint32(append(b, f.name...), f.sum)
		return [][]byte{p.appendRemoved(b)}
	}
	image := append([][]byte{p.seg.data}, p.seg.afterLists(len(p.seg.data))...)
	size := 0
	for _, piece := range image {
		size += len(piece)
	}
	head := binary.AppendUvarint([]byte{isHere}, uint64(size))
	return slices.Concat([][]byte{head}, image, [][]byte{p.appendRemoved(nil)})
}

func (p part) appendRemoved(b []byte) []byte {
	if p.removed == nil {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(p.removed.count))
	ord := -1
	for i := range p.seg.rows {
		if p.removed.has(i) {
			b = binary.AppendUvarint(b, uint64(i-ord))
			ord = i
		}
	}
	return b
}

// blockWriter writes until the first error.
type blockWriter struct {
	w   io.Writer
	n   int64
	err error
}

func (w *blockWriter) write(b []byte) {
	if w.err == nil {
		n, err := w.w.Write(b)
		w.n += int64(n)
		w.err = err
	}
}

func (w *blockWriter) block(pieces ...[]byte) {
	size, sum := 0, uint32(0)
	for _, p := range pieces {
		size += len(p)
		sum = crc32.Update(sum, castagnoli, p)
	}
	w.write(binary.LittleEndian.AppendUint64(nil, uint64(size)))
	for _, p := range pieces {
		w.write(p)
	}
	w.write(binary.LittleEndian.AppendUint32(nil, sum))
}

// ReadFrom reads an index that WriteTo wrote, all of it in memory; see ReadIn.
func ReadFrom(r io.Reader, a *Analyzer) (*Index, error) { return ReadIn(Files{}, r, a) }

// ReadIn reads an index that WriteTo wrote, and maps the files that hold the rest of it.
// Damaged or cut data are ErrCorrupt, a file that is not there is fs.ErrNotExist; an
// index of another analyzer is ErrAnalyzer. Memory grows only with what is really read.
func ReadIn(files Files, r io.Reader, a *Analyzer) (*Index, error) {
	ix, err := readIndex(files, r, a)
	if err != nil {
		return nil, fmt.Errorf("lexical: read index: %w", err)
	}
	return ix, nil
}

func readIndex(files Files, r io.Reader, a *Analyzer) (*Index, error) {
	var start [len(magic)]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		return nil, readError(err)
	}
	if version := len(magic) - 1; string(start[:version]) == magic[:version] && start[version] != magic[version] {
		return nil, fmt.Errorf("written in version %d of the format, this program reads %d; or else %w", start[version], magic[version], ErrCorrupt)
	}
	if string(start[:]) != magic {
		return nil, fmt.Errorf("begins with %q: %w", start, ErrCorrupt)
	}
	b, err := readBlock(r)
	if err != nil {
		return nil, err
	}
	head := decoder{b: b}
	name := string(head.bytes(head.uint(1 << 10)))
	last := head.uint(1 << 32)
	segments := head.uint(math.MaxInt32)
	if err := head.end(); err != nil {
		return nil, err
	}
	if name != a.Name() {
		return nil, fmt.Errorf("%q, not %q: %w", name, a.Name(), ErrAnalyzer)
	}
	parts, err := readParts(files.Folder, r, segments)
	if err != nil {
		return nil, err
	}
	for i, p := range parts {
		if i > 0 && parts[i-1].seg.last() >= p.seg.rows[0] || int(p.seg.last()) >= last {
			return nil, fmt.Errorf("segments out of order: %w", ErrCorrupt)
		}
	}
	ix := NewIn(files, a)
	ix.state.Store(newState(parts, int64(last)-1))
	return ix, nil
}

// readParts reads segments one after the other and looks through them on all cores.
func readParts(folder string, r io.Reader, n int) ([]part, error) {
	var parts []*part // grows with what is there, not with what the header says
	var running sync.WaitGroup
	defer running.Wait()
	failed := make(chan error, 1) // the first
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for range n {
		b, err := readBlock(r)
		if err != nil {
			return nil, err
		}
		p := &part{}
		parts = append(parts, p)
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			var err error
			if *p, err = readPart(folder, b); err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}
	running.Wait()
	select {
	case err := <-failed:
		return nil, err
	default:
	}
	out := make([]part, n)
	for i, p := range parts {
		out[i] = *p
	}
	return out, nil
}

// readError says that data which end too early are damaged.
func readError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("cut short: %w", ErrCorrupt)
	}
	return err
}

// readBlock reads a block in pieces, so that a false length costs no memory.
func readBlock(r io.Reader) ([]byte, error) {
	var word [8]byte
	if _, err := io.ReadFull(r, word[:]); err != nil {
		return nil, readError(err)
	}
	size := binary.LittleEndian.Uint64(word[:])
	if size > math.MaxInt64-4 {
		return nil, fmt.Errorf("block of %d bytes: %w", size, ErrCorrupt)
	}
	var buf bytes.Buffer
	buf.Grow(int(min(size, 1<<20)))
	if _, err := io.CopyN(&buf, r, int64(size)); err != nil {
		return nil, readError(err)
	}
	if _, err := io.ReadFull(r, word[:4]); err != nil {
		return nil, readError(err)
	}
	if crc32.Checksum(buf.Bytes(), castagnoli) != binary.LittleEndian.Uint32(word[:4]) {
		return nil, fmt.Errorf("checksum: %w", ErrCorrupt)
	}
	return slices.Clip(buf.Bytes()), nil
}

// decoder reads a block until the first error.
type decoder struct {
	b   []byte
	bad bool
}

// uint reads a uvarint of at most limit.
func (d *decoder) uint(limit int) int {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > uint64(limit) {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return int(v)
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.bad = true
		return nil
	}
	out := d.b[:n:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) end() error {
	if d.bad || len(d.b) > 0 {
		return fmt.Errorf("block does not decode: %w", ErrCorrupt)
	}
	return nil
}

// readPart reads a segment's block, and the file it may name.
func readPart(folder string, b []byte) (part, error) {
	d := decoder{b: b}
	var s *segment
	var err error
	switch d.uint(isInFile) {
	case isHere:
		if s, err = readImage(d.bytes(d.uint(len(b)))); err == nil {
			err = s.validate()
		}
	case isInFile:
		f := d.file(folder)
		if d.bad {
			return part{}, fmt.Errorf("name of a file: %w", ErrCorrupt)
		}
		s, err = f.open()
	}
	if err != nil {
		return part{}, err
	}
	p := part{seg: s, removed: d.removal(s)}
	return p, d.end()
}

// file reads what is said of a segment's file.
func (d *decoder) file(folder string) *segmentFile {
	f := &segmentFile{folder: folder, name: string(d.bytes(d.uint(len(d.b))))}
	if sum := d.bytes(4); len(sum) == 4 {
		f.sum = binary.LittleEndian.Uint32(sum)
	}
	d.bad = d.bad || folder == "" || f.name != filepath.Base(f.name) || filepath.Ext(f.name) != FileSuffix
	return f
}

func (d *decoder) removal(s *segment) *removal {
	count := d.uint(len(s.rows))
	if count == 0 || d.bad {
		return nil
	}
	r := (*removal)(nil).clone(len(s.rows))
	ord := -1
	for range count {
		step := d.uint(len(s.rows) - 1 - ord)
		if step == 0 {
			d.bad = true
			return nil
		}
		ord += step
		r.set[ord>>6] |= 1 << (ord & 63)
		r.length += float64(s.lengths[ord])
	}
	r.count = count
	return r
}
