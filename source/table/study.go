package table

import (
	"context"
	"fmt"
	"hash/maphash"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
)

// study is what has to be known of a whole file before its first record can be read:
// the order of its dates, and which ids stand on several records.
type study struct {
	orders  map[string]Order
	doubts  []string
	repeats map[uint64]bool // ids, hashed, that are on more than one record
	seed    maphash.Seed
	first   string // of them
}

// newStudy reads a file through, if anything of it has to be known.
func newStudy(ctx context.Context, r reading, m *Mapping) (*study, error) {
	s := &study{orders: map[string]Order{}, repeats: map[uint64]bool{}, seed: maphash.MakeSeed()}
	var dated []Column
	for _, c := range m.Fields {
		if c.Field.Kind == filter.Time && !c.Fixed {
			dated = append(dated, c)
		}
	}
	if len(dated) == 0 && m.ID == "" {
		return s, nil
	}
	votes, seen := make([]OrderVote, len(dated)), map[uint64]struct{}{}
	index := indexOf(r.columns())
	for e, err := range r.entries(ctx, source.Position{}) {
		if err != nil {
			return nil, err
		}
		if e.row == nil && e.object == nil {
			continue
		}
		cells := e.record(index)
		for i, c := range dated {
			for _, cell := range cells(c.Name) {
				votes[i].Add(cell)
			}
		}
		if m.ID != "" {
			s.note(seen, m.first(cells, m.ID))
		}
	}
	for i, c := range dated {
		order, doubt := votes[i].Order(c.Name, m.Dates)
		s.orders[c.Name] = order
		if doubt != "" {
			s.doubts = append(s.doubts, doubt)
		}
	}
	if len(s.repeats) > 0 {
		s.doubts = append(s.doubts, fmt.Sprintf("Column %s is no id of its own: %d of its values stand on several records (%s is one). Each of these records is kept under the id with a hash of what it says.", m.ID, len(s.repeats), s.first))
	}
	return s, nil
}

func (s *study) note(seen map[uint64]struct{}, id string) {
	h := maphash.String(s.seed, id)
	if _, again := seen[h]; !again || id == "" {
		seen[h] = struct{}{}
		return
	}
	if len(s.repeats) == 0 {
		s.first = id
	}
	s.repeats[h] = true
}

func (s *study) repeated(id string) bool {
	return len(s.repeats) > 0 && s.repeats[maphash.String(s.seed, id)]
}

func (s *study) order(c Column) Order {
	if c.Fixed {
		return c.Order
	}
	return s.orders[c.Name]
}

func indexOf(columns []string) map[string]int {
	out := make(map[string]int, len(columns))
	for i, name := range columns {
		out[name] = i
	}
	return out
}

// record returns the entry's cells by the name of their column.
func (e *entry) record(index map[string]int) record {
	if e.object != nil {
		return func(column string) []string { return e.object[column] }
	}
	return func(column string) []string {
		if i, ok := index[column]; ok && i < len(e.row) {
			return e.row[i : i+1]
		}
		return nil
	}
}
