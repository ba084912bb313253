package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/vector"
)

// A derived file is the index as it was at one sequence. It saves reading all rows when
// the collection is opened, and is never needed: one that is damaged, of another
// schema or of rows that are not there is as good as none. It is written beside its
// place, synced and renamed, and never changed.
//
// It is magic, a body in the project's binary form (see encoder; arrays are a count and
// little-endian items), and a CRC-32C of all before it.
const (
	derivedFolder = "derived"
	derivedMagic  = "SXIDX\x00\x00\x02"
)

var errNewer = errors.New("it is newer than the documents")

func derivedName(sequence uint64) string { return fmt.Sprintf("%016x.idx", sequence) }

// removeScratch removes what a crash left of derived files being written.
func (c *collection) removeScratch() {
	if c.readOnly {
		return
	}
	scratch, _ := filepath.Glob(filepath.Join(c.folder, derivedFolder, "*.tmp")) // the pattern is well-formed
	for _, name := range scratch {
		os.Remove(name) // or the next time
	}
}

// derivedPlace is where an index puts files of its own, and whom it tells of what goes wrong there.
type derivedPlace struct {
	folder   string
	readOnly bool
	words    int // see thresholds
	log      *slog.Logger
	damaged  func(error) bool // told that a file of words there cannot be read
}

func (c *collection) place() derivedPlace {
	return derivedPlace{filepath.Join(c.folder, derivedFolder), c.readOnly, c.at.words, c.log, c.cannotRead}
}

// removeVectorFiles removes vector files of indexes that were given up.
func (c *collection) removeVectorFiles() {
	if c.readOnly {
		return
	}
	c.mu.RLock()
	ours := ""
	if c.index.file != nil {
		ours = c.index.file.name
	}
	c.mu.RUnlock()
	files, _ := filepath.Glob(filepath.Join(c.folder, derivedFolder, "*"+vectorSuffix)) // the pattern is well-formed
	for _, f := range files {
		if filepath.Base(f) != ours {
			os.Remove(f) // or the next time
		}
	}
}

// derivedFiles lists the collection's derived files, newest first.
func (c *collection) derivedFiles() []string {
	entries, err := os.ReadDir(filepath.Join(c.folder, derivedFolder))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".idx") {
			out = append(out, filepath.Join(c.folder, derivedFolder, e.Name()))
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

// shape is what an index looks like for a specification: it must be equal for a
// derived file to be of use.
func shape(spec sextant.Collection, n *names) (string, error) {
	type field struct {
		Name, Group string
		Kind        filter.Kind
		Fold        filter.Fold
		List        bool
	}
	s := struct {
		Analyzer string
		Names    []string
		Fields   []field
		Groups   []string
		Encoder  string `json:",omitempty"` // vectors of one are no use for another
	}{Analyzer: store.AnalyzerName(spec), Names: n.list, Encoder: spec.Encoder}
	for _, f := range spec.Schema.Fields {
		if len(f.AnyOf) == 0 {
			s.Fields = append(s.Fields, field{f.Name, f.Group, f.Kind, f.Fold, f.List})
		}
	}
	for _, g := range spec.Schema.Groups {
		s.Groups = append(s.Groups, g.Name)
	}
	b, err := json.Marshal(s)
	return string(b), err
}

// loadDerived returns the index from the newest derived file that is whole, brought up
// to date; nil if there is none. One that is newer than the documents says that these
// have lost what they held, since it was written after that was durable.
func (c *collection) loadDerived(ctx context.Context, tx *sql.Tx) (*index, error) {
	c.removeScratch()
	for _, path := range c.derivedFiles() {
		x, from, err := readDerived(path, c.place(), c.entry.spec, c.state)
		if err == nil {
			saved := x.documents.slots
			c.saved = x.text.View().Files()
			if x.file != nil {
				x.file.attach(x.place)
			}
			err = x.catchUp(ctx, tx, c.state, from.Sequence, from.Next)
			if err == nil && c.unreadable.Swap(false) {
				err = fmt.Errorf("its words: %w", store.ErrIO)
			}
			if err == nil {
				c.unsaved = x.documents.slots - saved
				return x, nil
			}
			x.file.close()
		}
		if errors.Is(err, errNewer) {
			return nil, fmt.Errorf("%s: %w: %w", filepath.Base(path), err, store.ErrCorrupt)
		}
		c.log.Warn("derived file is of no use; the index is read from the documents instead", "collection", c.name, "file", filepath.Base(path), "reason", err)
	}
	return nil, nil
}

// writeDerived writes the present index as a derived file, and removes older ones. The
// caller holds the writing lock; what it returns syncs and publishes the file, and is to
// be called without the lock. Those of words that it names are on disk already.
func (c *collection) writeDerived() (publish func() error, err error) {
	folder := filepath.Join(c.folder, derivedFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(folder, "*.tmp")
	if err != nil {
		return nil, err
	}
	st := c.state
	if err := c.index.writeTo(f, c.entry.spec, st); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return func() error {
		old := c.derivedFiles()
		path := filepath.Join(folder, derivedName(st.Sequence))
		err := errors.Join(f.Sync(), f.Close())
		if err == nil {
			err = os.Rename(f.Name(), path)
		}
		if err == nil {
			err = syncFolder(folder)
		}
		if err != nil {
			return errors.Join(err, os.Remove(f.Name()))
		}
		for _, o := range old {
			if o != path {
				err = errors.Join(err, os.Remove(o))
			}
		}
		c.removeVectorFiles()
		return err
	}, nil
}

// writeTo writes the index as a derived file's content.
func (x *index) writeTo(f io.Writer, spec sextant.Collection, st state) error {
	s, err := shape(spec, x.names)
	if err != nil {
		return err
	}
	w := &fileWriter{w: bufio.NewWriterSize(f, 1<<20)}
	w.raw([]byte(derivedMagic))
	w.str(s)
	w.uint(st.Sequence)
	w.uint(uint64(st.Next))
	w.uint(x.marks)
	w.strings(x.ids)
	writeArray(w, x.idOf)
	writeArray(w, x.slotOf)
	writeArray(w, x.rowOf)
	writeArray(w, x.sumOf)
	x.documents.writeTo(w)
	for _, g := range slices.Sorted(maps.Keys(x.groups)) {
		w.str(g)
		x.groups[g].writeTo(w)
	}
	x.chunks.writeTo(w)
	w.vectors(x.vectors, x.file)
	if w.err == nil {
		_, w.err = x.text.WriteTo(w)
	}
	return w.finish()
}

func (t *table) writeTo(w *fileWriter) {
	w.uint(uint64(t.slots))
	writeArray(w, t.live)
	writeArray(w, t.parent)
	writeArray(w, t.first)
	for _, name := range slices.Sorted(maps.Keys(t.columns)) {
		w.str(name)
		switch c := t.columns[name].(type) {
		case *keywords:
			w.strings(c.spellings)
			if c.fold != filter.Exact {
				w.strings(c.classes)
				writeArray(w, c.classOf)
			}
			writeCells(w, &c.cells)
		case *numbers:
			writeCells(w, &c.cells)
		}
	}
}

func writeCells[T uint32 | int64](w *fileWriter, c *cells[T]) {
	writeArray(w, c.flat)
	writeArray(w, c.ends)
	writeArray(w, c.has)
}

// readDerived reads a derived file, which must be of the specification and not from
// after the state. It returns what of the state the file was written at is needed.
func readDerived(path string, place derivedPlace, spec sextant.Collection, now state) (*index, state, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, state{}, err
	}
	defer f.Close()
	r, err := newFileReader(f)
	if err != nil {
		return nil, state{}, err
	}
	a, err := store.AnalyzerOf(spec)
	if err != nil {
		return nil, state{}, err
	}
	n := newNames(now.Names)
	want, err := shape(spec, n)
	if err != nil {
		return nil, state{}, err
	}
	if got := r.str(); r.err == nil && got != want {
		return nil, state{}, errors.New("it is of another specification")
	}
	at := state{Sequence: r.uint(), Next: int64(r.uint())}
	if r.err == nil && (at.Sequence > now.Sequence || at.Next > now.Next) {
		return nil, at, errNewer
	}
	x := newIndex(spec.Schema, n, a, place)
	x.readFrom(r, now.Dimension)
	if r.err != nil {
		return nil, at, r.err
	}
	x.text, err = lexical.ReadIn(place.files(), r, a)
	return x, at, err
}

func (x *index) readFrom(r *fileReader, dimension int) {
	x.marks = r.uint()
	x.ids = r.strings()
	x.idOf = readArray[uint32](r)
	x.slotOf = readArray[uint32](r)
	x.rowOf = readArray[int64](r)
	x.sumOf = readArray[uint32](r)
	x.documents.readFrom(r)
	x.alive = x.documents.live.count()
	for _, g := range slices.Sorted(maps.Keys(x.groups)) {
		r.expect(g)
		x.groups[g].readFrom(r)
	}
	x.chunks.readFrom(r)
	x.vectors, x.file = r.vectors(dimension)
}

func (t *table) readFrom(r *fileReader) {
	t.slots = int(r.uint())
	t.live = readArray[uint64](r)
	t.parent = readArray[uint32](r)
	t.first = readArray[uint32](r)
	for _, name := range slices.Sorted(maps.Keys(t.columns)) {
		r.expect(name)
		switch c := t.columns[name].(type) {
		case *keywords:
			c.spellings = r.strings()
			c.classes = c.spellings
			if c.fold != filter.Exact {
				c.classes = r.strings()
				c.classOf = readArray[uint32](r)
			}
			readCells(r, &c.cells)
		case *numbers:
			readCells(r, &c.cells)
		}
	}
}

func readCells[T uint32 | int64](r *fileReader, c *cells[T]) {
	c.flat = readArray[T](r)
	c.ends = readArray[uint32](r)
	c.has = readArray[uint64](r)
}

// newFileReader checks the file's sum before anything of it is believed: one pass over
// bytes that are then in the system's cache.
func newFileReader(f *os.File) (*fileReader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size() - 4
	if size < int64(len(derivedMagic)) {
		return nil, io.ErrUnexpectedEOF
	}
	sum := crc32.New(castagnoli)
	var start [len(derivedMagic)]byte
	body := io.TeeReader(io.LimitReader(f, size), sum)
	if _, err := io.ReadFull(body, start[:]); err != nil {
		return nil, err
	}
	if string(start[:]) != derivedMagic {
		return nil, fmt.Errorf("it begins with %q", start)
	}
	if _, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{body}, make([]byte, 1<<20)); err != nil {
		return nil, err
	}
	var want [4]byte
	if _, err := io.ReadFull(f, want[:]); err != nil {
		return nil, err
	}
	if string(want[:]) != string(sum.Sum(nil)) {
		return nil, fmt.Errorf("its checksum is wrong: %w", store.ErrCorrupt)
	}
	if _, err := f.Seek(int64(len(derivedMagic)), io.SeekStart); err != nil {
		return nil, err
	}
	left := size - int64(len(derivedMagic))
	return &fileReader{r: bufio.NewReaderSize(io.LimitReader(f, left), 1<<20), left: left}, nil
}

// vectors writes the int8 rows, the sums of what they were made of, and where that is.
func (w *fileWriter) vectors(m *vector.Matrix, file *vectorFile) {
	if m == nil {
		w.uint(0)
		return
	}
	n := m.Len()
	w.uint(uint64(m.Dim()))
	w.uint(uint64(n))
	scales := make([]float32, n)
	for i := range n {
		codes, scale := m.Row(i)
		scales[i] = scale
		w.raw(codeBytes(codes))
	}
	writeArray(w, scales)
	writeArray(w, *file.sums.Load())
	w.str(file.name)
}

func (r *fileReader) vectors(dimension int) (*vector.Matrix, *vectorFile) {
	if r.uint() != uint64(dimension) {
		r.fail(errors.New("its vectors have another dimension"))
	}
	if dimension == 0 || r.err != nil {
		return nil, nil
	}
	m, err := vector.New(dimension)
	if err != nil {
		r.fail(err)
		return nil, nil
	}
	n := r.count(dimension)
	codes := make([]byte, n*dimension)
	r.raw(codes)
	scales := readArray[float32](r)
	sums := readArray[uint32](r)
	file := newVectorFile(dimension)
	file.name = r.str()
	if len(scales) != n || len(sums) != n || file.name != filepath.Base(file.name) || filepath.Ext(file.name) != vectorSuffix && file.name != "" {
		r.fail(errCodec)
	}
	file.sums.Store(&sums)
	for i := range n {
		if r.err == nil {
			r.fail(m.AppendCodes(codesOf(codes[i*dimension:][:dimension]), scales[i]))
		}
	}
	return m, file
}
