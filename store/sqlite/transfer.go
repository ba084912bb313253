package sqlite

import (
	"context"
	"fmt"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

var (
	_ store.RecordReader = (*collection)(nil)
	_ store.MarkReader   = (*catalog)(nil)
)

// Records implements store.RecordReader.
func (c *collection) Records(ctx context.Context, ids []sextant.DocumentID) ([]store.Record, error) {
	var numbers []int64
	dimension := 0
	s, err := c.pin(ctx, func(x *index) {
		numbers = x.present(ids)
		if x.vectors != nil {
			dimension = x.vectors.Dim()
		}
	})
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	defer s.close()
	out := make([]store.Record, len(numbers))
	for i, n := range numbers {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("records: %w", err)
		}
		if out[i], err = s.record(n, dimension); err != nil {
			return nil, fmt.Errorf("records: %w", err)
		}
	}
	return out, nil
}

// record reads a row with its vectors; a dimension of 0 is that there are none.
func (s *snapshot) record(number int64, dimension int) (store.Record, error) {
	var rec store.Record
	r, err := s.row(number)
	if err != nil {
		return rec, err
	}
	if rec.Chunks, err = r.decodeChunks(); err != nil {
		return rec, err
	}
	if rec.Document, err = r.document(s.collection, s.names); err != nil || dimension == 0 || len(rec.Chunks) == 0 {
		return rec, err
	}
	keys := make([]int64, len(rec.Chunks))
	for i := range keys {
		keys[i] = number<<chunkBits | int64(i)
	}
	flat := make([]float32, len(keys)*dimension)
	if err := s.vectors(keys, flat); err != nil {
		return rec, err
	}
	rec.Vectors = make([][]float32, len(keys))
	for i := range keys {
		rec.Vectors[i] = flat[i*dimension:][:dimension:dimension]
	}
	return rec, nil
}

// Marks implements store.MarkReader.
func (c *catalog) Marks(ctx context.Context, after string, limit int) ([]store.Mark, error) {
	rows, err := c.db.read.QueryContext(ctx, `SELECT key, value, sum FROM mark WHERE key > ? ORDER BY key LIMIT ?`, after, limit)
	if err != nil {
		return nil, failure("read marks", err)
	}
	defer rows.Close()
	var out []store.Mark
	for rows.Next() {
		var m store.Mark
		var sum uint32
		if err := rows.Scan(&m.Key, &m.Value, &sum); err != nil {
			return nil, failure("read marks", err)
		}
		if sum != checksumOf(m.Key, m.Value) {
			return nil, fmt.Errorf("read mark %q: %w", m.Key, store.ErrCorrupt)
		}
		out = append(out, m)
	}
	return out, failure("read marks", rows.Err())
}
