package lexical

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sampleIndex has several segments, removed rows, families, skips and long lists.
func sampleIndex(t testing.TB) *Index {
	t.Helper()
	ix := New(English())
	for batch := range 11 {
		b := ix.NewBatch()
		for i := range 40 {
			row := uint32(batch*100 + 2*i)
			text := fmt.Sprintf("the engine engines failed at row%d and N%dAB landed landing", row, row)
			if i == 7 {
				text += strings.Repeat(" stall", 300) + strings.Repeat(" filler words", 200)
			}
			if err := b.Add(row, Field{Text: "Heading", Weight: 2}, Field{Text: text}); err != nil {
				t.Fatal(err)
			}
		}
		b.Remove(uint32(batch * 100))
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := ix.Remove(1004); err != nil {
		t.Fatal(err)
	}
	return ix
}

func written(t testing.TB, ix *Index) []byte {
	t.Helper()
	var buf bytes.Buffer
	n, err := ix.WriteTo(&buf)
	if err != nil || n != int64(buf.Len()) {
		t.Fatalf("wrote %d of %d bytes: %v", n, buf.Len(), err)
	}
	return buf.Bytes()
}

func TestAnIndexReadIsTheIndexWritten(t *testing.T) {
	ix := sampleIndex(t)
	data := written(t, ix)
	got, err := ReadFrom(bytes.NewReader(data), English())
	if err != nil {
		t.Fatal(err)
	}
	for _, question := range []string{"engines landing", "row904", "N806AB", "stall", "heading", "filler"} {
		q := ix.Analyzer().Query(question)
		if diff := cmp.Diff(ix.Search(q, DefaultBM25, nil, 20), got.Search(q, DefaultBM25, nil, 20)); diff != "" {
			t.Errorf("%q: %s", question, diff)
		}
	}
	if !bytes.Equal(data, written(t, got)) {
		t.Error("written again, the bytes differ")
	}
	if err := got.Add(1078, Field{Text: "x"}); !errors.Is(err, ErrOrder) {
		t.Errorf("the highest row was forgotten: %v", err)
	}
	if _, err := ReadFrom(bytes.NewReader(data), Plain()); !errors.Is(err, ErrAnalyzer) {
		t.Errorf("another analyzer: %v", err)
	}
	empty, err := ReadFrom(bytes.NewReader(written(t, New(English()))), English())
	if err != nil || empty.Stats().Rows != 0 {
		t.Errorf("empty index: %v", err)
	}
}

// Merged lists of many blocks are as valid as any: of a word alone, of a family, and of
// a family that has a single word in some of the segments.
func TestMergedBlocksAreRead(t *testing.T) {
	ix := New(English())
	row := uint32(0)
	for batch := range 3 * fanout {
		b := ix.NewBatch()
		for range blockRows + 50*batch {
			text := "the landing"
			if batch%3 == 1 {
				text += " landed of the land"
			}
			if err := b.Add(row, Field{Text: text}); err != nil {
				t.Fatal(err)
			}
			row += 2
		}
		b.Remove(uint32(batch) * 60)
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFrom(bytes.NewReader(written(t, ix)), English())
		if err != nil {
			t.Fatalf("after %d batches: %v", batch+1, err)
		}
		for _, e := range []Expr{ParsePhrase("the landing landed"), ParsePhrase("of the land"), Word{"lands", true}} {
			if diff := cmp.Diff(ix.Rows(e), got.Rows(e)); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}

// Every cut and every single flipped bit is noticed.
func TestDamageIsNoticed(t *testing.T) {
	ix := newIndex(t, "the engine failed", "engines landed", "a landing at 91.409(b)")
	data := written(t, ix)
	for n := range data {
		if _, err := ReadFrom(bytes.NewReader(data[:n]), English()); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	for bit := range len(data) * 8 {
		bad := bytes.Clone(data)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := ReadFrom(bytes.NewReader(bad), English()); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("bit %d: %v", bit, err)
		}
	}
}

// resealed puts right checksums on blocks whose bytes were changed.
func resealed(data []byte) []byte {
	out := bytes.Clone(data)
	for at := len(magic); at+12 <= len(out); {
		size := binary.LittleEndian.Uint64(out[at:])
		if size > uint64(len(out)-at-12) {
			break
		}
		end := at + 8 + int(size)
		binary.LittleEndian.PutUint32(out[end:], crc32.Checksum(out[at+8:end], castagnoli))
		at = end + 4
	}
	return out
}

// FuzzReadFrom reads anything, with checksums made right so that the checks behind them
// are reached. What is accepted must be safe to use.
func FuzzReadFrom(f *testing.F) {
	f.Add(written(f, longLists(f)))
	f.Add(written(f, newIndex(f, "the engine failed", "engines landed", "a landing at 91.409(b)")))
	f.Add(written(f, New(English())))
	a := English()
	f.Fuzz(func(t *testing.T, data []byte) {
		ix, err := ReadFrom(bytes.NewReader(resealed(data)), a)
		if err != nil {
			return
		}
		useAll(t, ix)
	})
}

// longLists is a small index whose lists have skips.
func longLists(t testing.TB) *Index {
	t.Helper()
	ix := New(English())
	b := ix.NewBatch()
	for row := range uint32(blockRows + 9) {
		if err := b.Add(row, Field{Text: "land landing"}); err != nil {
			t.Fatal(err)
		}
	}
	b.Remove(5)
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	return ix
}

// useAll looks at all that an index holds, and changes and merges it.
func useAll(t *testing.T, ix *Index) {
	t.Helper()
	ix.SearchNear(ix.Analyzer().Query("the engine landed at 91.409(b) stall N802AB"), DefaultBM25, nil, 10, nil)
	for _, w := range ix.state.Load().parts {
		w.seg.matching(near{leaf{word: []byte("l")}, leaf{word: []byte("e")}, MaxNear})
	}
	b := ix.NewBatch()
	for row := range uint32(20) {
		b.Remove(row)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	merge(ix.state.Load().parts)
}
