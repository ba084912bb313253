package lexical

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// somewhere returns an index whose merged segments lie in memory, in files, or some here
// and some there.
func somewhere(t *rapid.T, folder string, a *Analyzer) *Index {
	return NewIn(Files{Folder: folder, Least: rapid.SampledFrom([]int{1, 400, 1200, math.MaxInt}).Draw(t, "size from which on a file is made")}, a)
}

// again is the index written and read.
func again(t interface{ Fatal(...any) }, ix *Index) *Index {
	var b bytes.Buffer
	if _, err := ix.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	out, err := ReadIn(ix.files, &b, ix.analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// inFiles is an index with segments in files and in memory, and removed rows in both.
func inFiles(t *testing.T) *Index {
	t.Helper()
	if !canMap {
		t.Skip("needs a system on which files are mapped: this one keeps segments in memory")
	}
	ix := NewIn(Files{Folder: filepath.Join(t.TempDir(), "words"), Least: 1, Warn: func(err error) { t.Error(err) }}, English())
	row := uint32(0)
	for batch := range 2*fanout + 3 {
		b := ix.NewBatch()
		for range blockRows + 7*batch {
			if err := b.Add(row, Field{Text: fmt.Sprintf("the engine of N%dAB failed in row%d", row, row)}, Field{Text: "engines landed", Zone: 3}); err != nil {
				t.Fatal(err)
			}
			row += 2
		}
		b.Remove(row - 4)
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if st := ix.Stats(); st.Files == 0 || len(ix.View().Files()) == st.Segments {
		t.Fatalf("%d bytes in %d files of %d segments: not both kinds", st.Files, len(ix.View().Files()), st.Segments)
	}
	return ix
}

var questions = []string{"engines", "row904", "N806AB failed", "landed engine the", "nothing at all"}

func answers(ix *Index) (out []any) {
	for _, question := range questions {
		out = append(out, ix.SearchNear(ix.Analyzer().Query(question), DefaultBM25, nil, 12, nil))
	}
	return append(out, ix.Rows(ParsePhrase("engine of")), ix.RowsIn(Word{"engine", true}, ZonesOf(3)), ix.Written(ZonesOf(3)))
}

// Where segments lie makes no difference to anything but memory.
func TestSegmentsInFilesAnswerTheSame(t *testing.T) {
	ix := inFiles(t)
	inMemory := New(English())
	for _, p := range ix.state.Load().parts {
		s := merge([]part{p})
		inMemory.state.Store(newState(append(inMemory.state.Load().parts, part{seg: s}), ix.state.Load().last))
	}
	if got := inMemory.Stats(); got.Files != 0 || got.Rows != ix.Stats().Rows {
		t.Fatalf("%+v is not %+v in memory", got, ix.Stats())
	}
	want := answers(inMemory)
	if diff := cmp.Diff(want, answers(ix)); diff != "" {
		t.Error(diff)
	}
	read := again(t, ix)
	if diff := cmp.Diff(want, answers(read)); diff != "" {
		t.Errorf("read again: %s", diff)
	}
	if diff := cmp.Diff(ix.View().Files(), read.View().Files()); diff != "" {
		t.Errorf("read again it is made of other files: %s", diff)
	}
	readOnly, err := ReadIn(Files{Folder: ix.files.Folder, ReadOnly: true}, bytes.NewReader(written(t, ix)), English())
	if err != nil {
		t.Fatal(err)
	}
	for row := range uint32(1200) { // some segments are rewritten, in memory
		if err := errors.Join(readOnly.Remove(2*row), ix.Remove(2*row)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(answers(ix), answers(readOnly)); diff != "" {
		t.Errorf("read only: %s", diff)
	}
}

// Most of a segment in a file takes no memory: eight bytes a row do.
func TestFilesTakeTheirBytesOutOfMemory(t *testing.T) {
	for _, p := range inFiles(t).state.Load().parts {
		if rows := len(p.seg.rows); p.seg.file != nil && (p.seg.memory() > 10*rows || p.seg.packed() < 20*rows) {
			t.Errorf("a segment of %d rows takes %d bytes of memory and has %d in its file", rows, p.seg.memory(), p.seg.packed())
		}
	}
}

// A file that is cut, changed in a single bit, exchanged for another or gone is noticed
// when the index is read.
func TestDamagedFilesAreNoticed(t *testing.T) {
	ix := inFiles(t)
	index := written(t, ix)
	names := ix.View().Files()
	path := filepath.Join(ix.files.Folder, names[0])
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The mapped file is not to be touched: the copy of the folder is damaged instead.
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(ix.files.Folder)); err != nil {
		t.Fatal(err)
	}
	read := func(content []byte) error {
		target := filepath.Join(folder, names[0])
		os.Remove(target)
		if content != nil {
			if err := os.WriteFile(target, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := ReadIn(Files{Folder: folder}, bytes.NewReader(index), English())
		return err
	}
	if err := read(data); err != nil {
		t.Fatal(err)
	}
	for i := range 64 {
		if n := i * len(data) / 64; !errors.Is(read(append([]byte{}, data[:n]...)), ErrCorrupt) {
			t.Errorf("cut to %d of %d bytes it is read", n, len(data))
		}
		bad := bytes.Clone(data)
		bad[i*len(data)/64] ^= 1 << (i % 8)
		if err := read(bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d changed: %v", i*len(data)/64, err)
		}
	}
	other, err := os.ReadFile(filepath.Join(folder, names[1]))
	if err != nil {
		t.Fatal(err)
	}
	if err := read(other); !errors.Is(err, ErrCorrupt) {
		t.Errorf("another segment's file: %v", err)
	}
	if err := read(nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := ReadFrom(bytes.NewReader(index), English()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("no folder: %v", err)
	}
	for _, name := range []string{"../" + names[0], "x", "..", ""} {
		bad := resealed(bytes.Replace(index, []byte(names[0]), fmt.Appendf(nil, "%*s", len(names[0]), name)[:len(names[0])], 1))
		if _, err := ReadIn(Files{Folder: folder}, bytes.NewReader(bad), English()); err == nil {
			t.Errorf("a file called %q was taken", name)
		}
	}
}

// FuzzSegmentFile opens anything as a segment's file, with the sum made right so that the
// checks behind it are reached. What is accepted must be safe to use.
func FuzzSegmentFile(f *testing.F) {
	for _, ix := range []*Index{longLists(f), newIndex(f, "the engine failed", "engines landed", "a landing at 91.409(b)")} {
		s, err := mergeToFile(ix.state.Load().parts, f.TempDir())
		if err != nil {
			f.Fatal(err)
		}
		data, err := os.ReadFile(s.file.path())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(fileMagic))
	f.Add([]byte{})
	a := English()
	f.Fuzz(func(t *testing.T, data []byte) {
		file := &segmentFile{folder: t.TempDir(), name: "1" + FileSuffix}
		if end := len(data) - 4; end >= 0 {
			file.sum = crc32.Checksum(data[:end], castagnoli)
			data = binary.LittleEndian.AppendUint32(bytes.Clone(data[:end]), file.sum)
		}
		if err := os.WriteFile(file.path(), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := file.open()
		if errors.Is(err, ErrUnreadable) {
			t.Fatalf("looked beyond the file: %v", err)
		}
		if err != nil {
			return
		}
		ix := New(a)
		ix.state.Store(newState([]part{{seg: s}}, int64(s.last())))
		useAll(t, ix)
	})
}

// A page that is gone while somebody searches is an error of the search.
func TestAPageThatCannotBeReadIsAnError(t *testing.T) {
	ix := inFiles(t)
	for _, name := range ix.View().Files() {
		if err := os.Truncate(filepath.Join(ix.files.Folder, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	ask := func() { answers(ix) }
	if err := Guard(ask); !errors.Is(err, ErrUnreadable) {
		t.Errorf("searched files that have been cut: %v", err)
	}
	var err error
	if fault := Guard(func() { err = ix.Remove(500) }); fault != nil || err != nil {
		t.Errorf("removing a row needs no file: %v, %v", fault, err)
	}
	func() {
		defer func() {
			if r := recover(); r != "of our own" {
				t.Errorf("another panic became %v", r)
			}
		}()
		_ = Guard(func() { panic("of our own") })
	}()
	if Guard(func() {}) != nil {
		t.Error("nothing happened, and Guard says otherwise")
	}
}

// A merge that meets a page it cannot read leaves its segments apart and no half a file
// behind: what is committed is there, and merged once the page can be read again.
func TestAMergeThatCannotReadIsPutOff(t *testing.T) {
	ix, ref := inFiles(t), New(English())
	ref.state.Store(inFiles(t).state.Load())
	var told []error
	ix.files.Warn = func(err error) { told = append(told, err) }
	parts, there := ix.state.Load().parts, filesIn(t, ix)
	whole := map[string][]byte{}
	for _, name := range ix.View().Files() {
		path := filepath.Join(ix.files.Folder, name)
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.Truncate(path, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		whole[path] = data
	}
	change := func(f func(*Index) error) {
		t.Helper()
		var err error
		if fault := Guard(func() { err = f(ix) }); fault != nil || err != nil {
			t.Fatalf("committed beside files that have been cut: %v, %v", fault, err)
		}
		if err := f(ref); err != nil {
			t.Fatal(err)
		}
	}
	for _, rows := range [][]uint32{parts[0].seg.rows[:200], parts[1].seg.rows[:200], parts[1].seg.rows[200:]} { // has them rewritten, or given up
		change(func(ix *Index) error {
			b := ix.NewBatch()
			for _, row := range rows {
				b.Remove(row)
			}
			return b.Commit()
		})
	}
	const manyRows = 1024
	first := uint32(ix.state.Load().last + 1)
	for batch := range uint32(fanout) { // have all of them merged
		change(func(ix *Index) error {
			b := ix.NewBatch()
			for row := range uint32(manyRows) {
				if err := b.Add(first+batch*manyRows+row, Field{Text: "the engine landed"}); err != nil {
					return err
				}
			}
			return b.Commit()
		})
	}
	if len(told) == 0 || !errors.Is(told[0], ErrUnreadable) {
		t.Errorf("told of %v", told)
	}
	if got, want := ix.Stats().Rows, ref.Stats().Rows; got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
	for _, name := range filesIn(t, ix) {
		if !slices.Contains(there, name) && !slices.Contains(ix.View().Files(), name) {
			t.Errorf("%s was left behind", name)
		}
	}
	apart := ix.Stats().Segments
	for path, data := range whole {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change(func(ix *Index) error { return ix.Add(first+fanout*manyRows, Field{Text: "landed again"}) })
	if diff := cmp.Diff(answers(ref), answers(ix)); diff != "" {
		t.Error(diff)
	}
	if got := ix.Stats().Segments; got > apart-fanout {
		t.Errorf("%d segments, were %d", got, apart)
	}
}

func filesIn(t *testing.T, ix *Index) (names []string) {
	t.Helper()
	files, err := os.ReadDir(ix.files.Folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// Whoever holds a view goes on reading files that were merged and removed meanwhile;
// nothing stays mapped for nobody.
func TestFilesStayMappedWhileTheyAreSeen(t *testing.T) {
	ix := inFiles(t)
	view, want := ix.View(), answers(ix)
	all, err := ix.merge(ix.state.Load().parts)
	if err != nil {
		t.Fatal(err)
	}
	ix.state.Store(newState([]part{{seg: all}}, ix.state.Load().last))
	for _, name := range view.Files() {
		if err := os.Remove(filepath.Join(ix.files.Folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		runtime.GC()
	}
	was := New(English())
	was.state.Store(view.st)
	if diff := cmp.Diff(want, answers(was)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[:len(questions)-2], answers(ix)[:len(questions)-2]); diff != "" {
		t.Errorf("merged: %s", diff)
	}
	if runtime.GOOS != "linux" {
		return
	}
	view, was = View{}, nil
	mapped := func() int {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(maps), ix.files.Folder)
	}
	for deadline := time.Now().Add(5 * time.Second); mapped() > 1; time.Sleep(time.Millisecond) {
		runtime.GC()
		if time.Now().After(deadline) {
			t.Fatalf("%d files are mapped, and one is in use", mapped())
		}
	}
	runtime.KeepAlive(ix)
}

// Where files cannot be made, segments stay in memory, and whoever cares is told.
func TestWithoutRoomSegmentsStayInMemory(t *testing.T) {
	if !canMap {
		t.Skip("needs a system on which files are mapped: this one keeps segments in memory")
	}
	notAFolder := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notAFolder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	told := 0
	ix := NewIn(Files{Folder: filepath.Join(notAFolder, "words"), Least: 1, Warn: func(error) { told++ }}, English())
	for row := range uint32(4 * fanout) {
		if err := ix.Add(row, Field{Text: "engine"}); err != nil {
			t.Fatal(err)
		}
	}
	if st := ix.Stats(); told == 0 || st.Files != 0 || st.Rows != 4*fanout || st.Segments >= fanout {
		t.Errorf("told %d times: %+v", told, st)
	}
	if got := ix.Search(ix.Analyzer().Query("engines"), DefaultBM25, nil, 100); len(got.Hits) != 4*fanout {
		t.Errorf("%d rows found", len(got.Hits))
	}
}

// Readers and the collector of garbage run beside a writer that merges files all the time.
func TestReadersWhileFilesAreMerged(t *testing.T) {
	ix := inFiles(t)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if r := ix.SearchNear(ix.Analyzer().Query("engine landed"), DefaultBM25, nil, 5, nil); len(r.Hits) != 5 {
					t.Errorf("%d hits", len(r.Hits))
					return
				}
				ix.Rows(ParsePhrase("the engine"))
			}
		})
	}
	first := uint32(ix.state.Load().last + 1)
	for row := first; row < first+15*fanout; row++ {
		if err := ix.Add(row, Field{Text: "the engine landed"}); err != nil {
			t.Fatal(err)
		}
		if row%fanout == 0 {
			runtime.GC()
		}
		files, _ := filepath.Glob(filepath.Join(ix.files.Folder, "*"))
		for _, f := range files {
			if len(files) > 3*fanout {
				os.Remove(f)
			}
		}
	}
	close(done)
	readers.Wait()
}
