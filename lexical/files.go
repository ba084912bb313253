package lexical

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
)

// Files is where an index keeps the segments that are too large for memory. A file is one
// segment: eight bytes of magic, the last being the version, its image, and the CRC-32C
// of all before. It is written once, read where it lies, and has a name that none had
// before it. Of files no index has any use for, the owner of the folder is to remove
// those that Files of its views do not name.
//
// The zero value keeps everything in memory, and so does every Files on systems that
// cannot map a file.
type Files struct {
	Folder   string      // made when the first is written
	ReadOnly bool        // those that are there are read, and none is written
	Least    int         // bytes from which on what a merge makes goes into one; 0: 4 MB
	Warn     func(error) // told why a segment stays in memory after all or, with ErrUnreadable, unmerged; may be nil
}

// FileSuffix ends the names of segments' files.
const FileSuffix = ".words"

const fileMagic = "SXSEG\x00\x00\x01"

// usualLeast lets a few dozen segments stand in memory, and has none written twice before
// it is worth a file.
const usualLeast = 4 << 20

func (f Files) warn(err error) {
	if f.Warn != nil {
		f.Warn(err)
	}
}

// least is the size from which on a merged segment goes into a file.
func (f Files) least() int {
	if !canMap || f.Folder == "" || f.ReadOnly {
		return math.MaxInt
	}
	return cmp.Or(f.Least, usualLeast)
}

// ErrUnreadable is what Guard makes of a page of a file that cannot be read.
var ErrUnreadable = errors.New("a file of the index cannot be read")

// Guard runs f, which may search and change indexes. If a page of a file cannot be read,
// because the disk fails or somebody has cut the file, it ends with ErrUnreadable, where
// otherwise the process would end. It holds for this goroutine alone.
func Guard(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			err = fmt.Errorf("%w: %w", ErrUnreadable, r)
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// segmentFile is the file of a segment. It stays mapped until nothing holds on to it any
// more: whoever looks into the bytes of a segment keeps the segment alive meanwhile.
type segmentFile struct {
	folder, name string
	sum          uint32 // that it ends with
}

func (f *segmentFile) path() string { return filepath.Join(f.folder, f.name) }

// mergeToFile merges parts into a file in a folder. It takes memory for a list, the keys
// and the rows; lists go out as they are made. The file is synced before it is believed:
// of what the system wrote later and failed to, nobody would be told, and the pages would
// be others when they are read again. The outcome is nil if no row is left, and
// ErrUnreadable if a part cannot be read.
func mergeToFile(parts []part, folder string) (*segment, error) {
	defer runtime.KeepAlive(parts)
	var m *merger
	if err := Guard(func() { m = newMerger(parts) }); err != nil || len(m.out.rows) == 0 {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(folder, "*"+FileSuffix)
	if err != nil {
		return nil, err
	}
	var sum uint32
	fault := Guard(func() { sum, err = m.writeFile(f) })
	if err = errors.Join(fault, err); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		var s *segment
		if s, err = mapSegment(&segmentFile{folder: folder, name: filepath.Base(f.Name()), sum: sum}, nil); err == nil {
			return s, nil
		}
	}
	return nil, errors.Join(err, os.Remove(f.Name()))
}

// writeFile writes the file of what is merged and returns its sum.
func (m *merger) writeFile(f io.Writer) (uint32, error) {
	to := &summed{w: f}
	out := &blockWriter{w: to}
	out.write([]byte(fileMagic))
	m.out.lists = out
	for m.family() {
	}
	m.out.flush()
	for _, piece := range m.out.afterLists(m.out.flushed) {
		out.write(piece)
	}
	sum := to.sum
	out.write(binary.LittleEndian.AppendUint32(nil, sum))
	return sum, out.err
}

// summed adds up the CRC-32C of what is written.
type summed struct {
	w   io.Writer
	sum uint32
}

func (s *summed) Write(b []byte) (int, error) {
	s.sum = crc32.Update(s.sum, castagnoli, b)
	return s.w.Write(b)
}

// mapSegment maps a segment's file and has check look at it, if that is given.
func mapSegment(f *segmentFile, check func(*segment, []byte) error) (*segment, error) {
	b, unmap, err := mapFile(f.path())
	if err != nil {
		return nil, err
	}
	var s *segment
	fault := Guard(func() {
		if s, err = imageOf(b); err == nil && check != nil {
			err = check(s, b)
		}
	})
	if err = errors.Join(fault, err); err != nil {
		unmap()
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	s.file = f
	runtime.AddCleanup(f, func(unmap func()) { unmap() }, unmap)
	return s, nil
}

// imageOf reads the image in a file's bytes.
func imageOf(b []byte) (*segment, error) {
	if len(b) < len(fileMagic)+4 || string(b[:len(fileMagic)]) != fileMagic {
		return nil, fmt.Errorf("no segment of this version: %w", ErrCorrupt)
	}
	return readImage(b[len(fileMagic) : len(b)-4])
}

// open maps a file that was written earlier and looks through all of it.
func (f *segmentFile) open() (*segment, error) {
	return mapSegment(f, func(s *segment, b []byte) error {
		body := b[:len(b)-4]
		if sum := crc32.Checksum(body, castagnoli); sum != f.sum || sum != binary.LittleEndian.Uint32(b[len(body):]) {
			return fmt.Errorf("checksum: %w", ErrCorrupt)
		}
		return s.validate()
	})
}

// Files names the files that hold what the view sees, without their folder.
func (v View) Files() []string {
	var names []string
	for _, p := range v.st.parts {
		if p.seg.file != nil {
			names = append(names, p.seg.file.name)
		}
	}
	return names
}
