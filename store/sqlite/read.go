package sqlite

import (
	"context"
	"fmt"
	"iter"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// present returns the rows of the ids that exist, in their order.
func (x *index) present(ids []sextant.DocumentID) []int64 {
	var out []int64
	for _, id := range ids {
		if slot, ok := x.find(string(id)); ok {
			out = append(out, x.rowOf[slot])
		}
	}
	return out
}

// Get implements store.Collection.
func (c *collection) Get(ctx context.Context, ids []sextant.DocumentID) ([]sextant.Document, error) {
	var numbers []int64
	s, err := c.pin(ctx, func(x *index) { numbers = x.present(ids) })
	if err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	defer s.close()
	docs := make([]sextant.Document, len(numbers))
	for i, n := range numbers {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("get: %w", err)
		}
		if docs[i], err = s.document(n); err != nil {
			return nil, fmt.Errorf("get: %w", err)
		}
	}
	return docs, nil
}

// Chunks implements store.Collection.
func (c *collection) Chunks(ctx context.Context, id sextant.DocumentID) ([]sextant.Chunk, error) {
	var numbers []int64
	s, err := c.pin(ctx, func(x *index) { numbers = x.present([]sextant.DocumentID{id}) })
	if err != nil {
		return nil, fmt.Errorf("chunks: %w", err)
	}
	defer s.close()
	if len(numbers) == 0 {
		return nil, nil
	}
	r, err := s.row(numbers[0])
	if err != nil {
		return nil, fmt.Errorf("chunks: %w", err)
	}
	return r.decodeChunks()
}

// Revisions implements store.Collection. The revision is read without the row it
// belongs to, and so without its checksum: damage makes a document look changed, and
// it is written again.
func (c *collection) Revisions(ctx context.Context, ids []sextant.DocumentID) (map[sextant.DocumentID]string, error) {
	present := map[sextant.DocumentID]int64{}
	s, err := c.pin(ctx, func(x *index) {
		for _, id := range ids {
			if slot, ok := x.find(string(id)); ok {
				present[id] = x.rowOf[slot]
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("revisions: %w", err)
	}
	defer s.close()
	out := make(map[sextant.DocumentID]string, len(present))
	for id, number := range present {
		var r string
		if err := s.rev.QueryRow(number).Scan(&r); err != nil {
			return nil, failure("revisions", err)
		}
		out[id] = r
	}
	return out, nil
}

// Scan implements store.Collection. All documents yielded are of the state in which
// the scan began.
func (c *collection) Scan(ctx context.Context, f filter.Filter) iter.Seq2[sextant.Document, error] {
	return func(yield func(sextant.Document, error) bool) {
		var numbers []int64
		var filterErr error
		s, err := c.pin(ctx, func(x *index) {
			if f, filterErr = x.resolve(f); filterErr == nil {
				for _, slot := range x.byID(x.matching(f)) {
					numbers = append(numbers, x.rowOf[slot])
				}
			}
		})
		if err != nil {
			yield(sextant.Document{}, fmt.Errorf("scan: %w", err))
			return
		}
		defer s.close()
		if filterErr != nil {
			yield(sextant.Document{}, fmt.Errorf("scan: %w", filterErr))
			return
		}
		for _, n := range numbers {
			d, err := sextant.Document{}, ctx.Err()
			if err == nil {
				d, err = s.document(n)
			}
			if err != nil {
				yield(sextant.Document{}, fmt.Errorf("scan: %w", err))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}
