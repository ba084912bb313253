package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
	"github.com/sextant-rag/sextant/vector"
)

// Sextant's own engines, by the packages they are.
const (
	nameVector  = "vector"
	nameLexical = "lexical"
	nameStore   = "store/sqlite"
)

// matrix is package vector alone: the scan and the second score from half floats in
// memory, under a ready bitmap.
type matrix struct {
	rows   *vector.Matrix
	halves []byte
	mask   []uint64 // rows of category askedFor
}

func openMatrix(_ context.Context, s *vectorSet, _ string) (vectorEngine, error) {
	rows, err := vector.New(s.dim)
	if err != nil {
		return nil, err
	}
	m := &matrix{rows: rows, halves: make([]byte, 0, 2*s.dim*len(s.rows)), mask: make([]uint64, (len(s.rows)+63)/64)}
	for i, v := range s.rows {
		if m.halves, err = vector.AppendHalf(m.halves, v); err != nil {
			return nil, err
		}
		if s.category[i] == askedFor {
			m.mask[i/64] |= 1 << (i % 64)
		}
	}
	return m, rows.Append(s.rows...)
}

func (m *matrix) search(ctx context.Context, v []float32, all bool) ([]int, error) {
	mask := m.mask
	if all {
		mask = nil
	}
	hits, err := m.rows.Search(ctx, v, mask, wanted, m.fetch)
	rows := make([]int, len(hits))
	for i, h := range hits {
		rows[i] = int(h.Row)
	}
	return rows, err
}

func (m *matrix) fetch(_ context.Context, rows []uint32, into []float32) error {
	dim := m.rows.Dim()
	for i, row := range rows {
		if err := vector.DecodeHalf(into[i*dim:][:dim], m.halves[2*dim*int(row):][:2*dim]); err != nil {
			return err
		}
	}
	return nil
}

func (m *matrix) close() error { return nil }

// words is package lexical alone; reading the question is part of the search.
type words struct{ index *lexical.Index }

func openLexical(_ context.Context, s *textSet, _ string) (textEngine, error) {
	const batch = 256
	index := lexical.New(lexical.English())
	for from := 0; from < len(s.chunks); from += batch {
		b := index.NewBatch()
		for row := from; row < min(from+batch, len(s.chunks)); row++ {
			if err := b.Add(uint32(row), lexical.Field{Text: s.chunks[row]}); err != nil {
				return nil, err
			}
		}
		if err := b.Commit(); err != nil {
			return nil, err
		}
	}
	return words{index}, nil
}

func (w words) search(_ context.Context, question string, _ bool) ([]int, error) {
	found := w.index.Search(w.index.Analyzer().Query(question), lexical.DefaultBM25, nil, wanted)
	rows := make([]int, len(found.Hits))
	for i, h := range found.Hits {
		rows[i] = int(h.Row)
	}
	return rows, nil
}

func (w words) close() error { return nil }

// embedded is the whole embedded store: the filter evaluated, hits read with their text
// and metadata. Every row is a document of one chunk.
type embedded struct {
	store      *sqlite.Store
	collection store.Collection
}

// fillStore makes a store of n records, 256 a commit.
func fillStore(ctx context.Context, dir, encoder string, n int, record func(row int) store.Record) (*embedded, error) {
	dir, err := newFolder(dir)
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, sqlite.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	e := &embedded{store: s}
	if err := e.fill(ctx, encoder, n, record); err != nil {
		s.Close()
		return nil, err
	}
	return e, nil
}

func (e *embedded) fill(ctx context.Context, encoder string, n int, record func(row int) store.Record) error {
	const batch = 256
	var err error
	e.collection, err = e.store.Ensure(ctx, sextant.Collection{Name: "bench", Encoder: encoder,
		Schema: filter.Schema{Fields: []filter.Field{{Name: "category", Kind: filter.Keyword}}}})
	if err != nil {
		return err
	}
	for from := 0; from < n; from += batch {
		var records []store.Record
		for row := from; row < min(from+batch, n); row++ {
			records = append(records, record(row))
		}
		if err := e.collection.Upsert(ctx, records); err != nil {
			return err
		}
	}
	return nil
}

func recordOf(row int, text string) store.Record {
	id := sextant.DocumentID(fmt.Sprint("bench:", row))
	return store.Record{
		Document: sextant.Document{ID: id, Collection: "bench", Text: text, Revision: "1"},
		Chunks:   []sextant.Chunk{{ID: sextant.ChunkID(id, 0), DocumentID: id, End: len(text), Content: text}},
	}
}

func rowsOf(hits []store.Hit) ([]int, error) {
	rows := make([]int, len(hits))
	for i, h := range hits {
		var err error
		if rows[i], err = strconv.Atoi(h.Chunk.DocumentID.Native()); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (e *embedded) close() error { return e.store.Close() }

type vectorStore struct{ *embedded }

func openVectorStore(ctx context.Context, s *vectorSet, dir string) (vectorEngine, error) {
	e, err := fillStore(ctx, dir, fmt.Sprint("bench-", s.dim), len(s.rows), func(row int) store.Record {
		r := recordOf(row, madeUpText(row))
		r.Document.Meta.Fields = filter.Fields{"category": {categoryValue(s.category[row])}}
		r.Vectors = [][]float32{s.rows[row]}
		return r
	})
	return vectorStore{e}, err
}

func categoryValue(c int) filter.Value { return filter.OfString(strconv.Itoa(c)) }

func (v vectorStore) search(ctx context.Context, query []float32, all bool) ([]int, error) {
	q := store.DenseQuery{Vector: query, Limit: wanted}
	if !all {
		q.Filter = filter.Eq{Field: "category", Value: categoryValue(askedFor)}
	}
	hits, err := v.collection.SearchDense(ctx, q)
	if err != nil {
		return nil, err
	}
	return rowsOf(hits)
}

type textStore struct{ *embedded }

func openTextStore(ctx context.Context, s *textSet, dir string) (textEngine, error) {
	e, err := fillStore(ctx, dir, "", len(s.chunks), func(row int) store.Record { return recordOf(row, s.chunks[row]) })
	return textStore{e}, err
}

// search always reads.
func (t textStore) search(ctx context.Context, question string, _ bool) ([]int, error) {
	hits, err := t.collection.SearchLexical(ctx, store.LexicalQuery{Text: question, Limit: wanted})
	if err != nil {
		return nil, err
	}
	return rowsOf(hits)
}
