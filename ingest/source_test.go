package ingest_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// words is a source for tests. Each line of an input is "<id> <word>", and a document
// is the set of words its lines, from all inputs, bring along. A line without a word is
// refused, an empty one skipped, and "!" breaks the input.
type words struct {
	files   []*wordFile
	version string
	unknown error // what Inputs fails with
}

type wordFile struct {
	name, text string
	reads      atomic.Int64 // sequences begun
	last       atomic.Int64 // record the last sequence began after
	merges     atomic.Int64
	hook       func(record int64) // called before each record
	consumed   atomic.Int64
}

func file(name string, lines ...string) *wordFile {
	return &wordFile{name: name, text: strings.Join(lines, "\n")}
}

func (*words) Name() string      { return "w" }
func (s *words) Version() string { return "words/1" + s.version }
func (s *words) Inputs(context.Context) ([]source.Input, error) {
	if s.unknown != nil {
		return nil, s.unknown
	}
	var out []source.Input
	for _, f := range s.files {
		out = append(out, f)
	}
	return out, nil
}

func (f *wordFile) Name() string        { return f.name }
func (*wordFile) Kind() string          { return "words" }
func (f *wordFile) Size() int64         { return int64(len(f.text)) }
func (f *wordFile) Consumed() int64     { return f.consumed.Load() }
func (f *wordFile) Notes() source.Notes { return source.Notes{Encoding: "UTF-8"} }
func (f *wordFile) Digest(context.Context) (string, error) {
	sum := sha256.Sum256([]byte(f.text))
	return hex.EncodeToString(sum[:]), nil
}

var errBroken = errors.New("the disk went away")

func (f *wordFile) Items(ctx context.Context, after source.Position) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		f.reads.Add(1)
		f.last.Store(after.Record)
		at := after
		for line := range strings.Lines(f.text[after.Offset:]) {
			if err := ctx.Err(); err != nil {
				yield(source.Item{}, err)
				return
			}
			if f.hook != nil {
				f.hook(at.Record)
			}
			next := source.Position{Record: at.Record + 1, Line: at.Line + 1, Offset: at.Offset + int64(len(line))}
			f.consumed.Store(next.Offset)
			id, word, _ := strings.Cut(strings.TrimSpace(line), " ")
			if id == "!" {
				yield(source.Item{}, errBroken)
				return
			}
			if !yield(f.item(at, next, id, word), nil) {
				return
			}
			at = next
		}
	}
}

func (f *wordFile) item(at, next source.Position, id, word string) source.Item {
	switch {
	case id == "":
		return source.Skip(at, next, "empty line")
	case word == "SKIP":
		out := source.Skip(at, next, "not followed")
		out.ID = sextant.DocumentID("w:" + id)
		return out
	case word == "":
		return source.Refuse(at, next, "no word")
	}
	return source.Item{At: at, Next: next, ID: sextant.DocumentID("w:" + id), Contribution: &wordLine{f, id, word}}
}

type wordLine struct {
	file     *wordFile
	id, word string
}

func (l *wordLine) Merge(old *sextant.Document) (sextant.Document, bool, error) {
	l.file.merges.Add(1)
	if l.word == "BAD" {
		return sextant.Document{}, false, errors.New("a bad word")
	}
	set := map[string]bool{l.word: true}
	if old != nil {
		for w := range strings.FieldsSeq(old.Text) {
			set[w] = true
		}
	}
	all := slices.Sorted(maps.Keys(set))
	meta := filter.Fields{"words": {filter.OfInt(int64(len(all)))}}
	if l.word == "ODD" {
		meta["words"] = []filter.Value{filter.OfString("many")}
	}
	if l.word == "BLANK" {
		all = []string{" \n "}
	}
	if text, ok := strings.CutPrefix(l.word, "TEXT "); ok {
		all = []string{text}
	}
	return sextant.Document{
		ID: sextant.DocumentID("w:" + l.id), Collection: "notes", Title: l.id, Text: strings.Join(all, " "),
		Source: sextant.Source{Name: "w"}, Meta: filter.Meta{Fields: meta},
	}, old != nil, nil
}

func notes() sextant.Collection {
	return sextant.Collection{
		Name: "notes", Title: "Notes", Role: sextant.RoleReference, Unit: "notes", Fill: "sextant ingest",
		Schema: filter.Schema{Fields: []filter.Field{{Name: "words", Kind: filter.Int}}},
	}
}

func openStore(t testing.TB, dir string) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(context.Background(), sqlite.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// held returns the text of every document by id.
func held(t testing.TB, st store.Store) map[string]string {
	t.Helper()
	c, err := st.Open(context.Background(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for doc, err := range c.Scan(context.Background(), filter.All) {
		if err != nil {
			t.Fatal(err)
		}
		if rev, err := doc.ComputeRevision(); err != nil || rev != doc.Revision {
			t.Errorf("%s has revision %s, should have %s (%v)", doc.ID, doc.Revision, rev, err)
		}
		chunks, err := c.Chunks(context.Background(), doc.ID)
		if err != nil || len(chunks) != 1 || chunks[0].Content != doc.Text {
			t.Errorf("%s has chunks %v (%v)", doc.ID, chunks, err)
		}
		out[string(doc.ID)] = doc.Text
	}
	return out
}

// manyLines makes n lines about n/3 documents.
func manyLines(n int, word string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("d%04d %s%d", i/3, word, i%3)
	}
	return out
}
