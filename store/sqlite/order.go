package sqlite

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
)

// idOrder is the documents' slots in the order of their ids, and so each slot's rank in
// it. Readers bring it up to date when they compare many ids; a few are compared as
// they are.
type idOrder struct {
	mu    sync.Mutex
	ranks atomic.Pointer[ranks]
}

type ranks struct {
	sorted []uint32 // slots; those of one id, of which one at most is live, in their order
	of     []uint32 // by slot
}

// manyIDs is how many ids are compared before ranks are worth having.
const manyIDs = 4096

// ranked returns the present ranks.
func (x *index) ranked() *ranks {
	if r := x.order.ranks.Load(); r != nil && len(r.of) == x.documents.slots {
		return r
	}
	x.order.mu.Lock()
	defer x.order.mu.Unlock()
	old := x.order.ranks.Load()
	if old == nil {
		old = &ranks{}
	}
	r := &ranks{sorted: x.mergeRanks(old.sorted), of: make([]uint32, x.documents.slots)}
	for rank, slot := range r.sorted {
		r.of[slot] = uint32(rank)
	}
	x.order.ranks.Store(r)
	return r
}

// mergeRanks sorts the slots that are not in an older order, and merges them with it.
func (x *index) mergeRanks(old []uint32) []uint32 {
	var added []uint32
	for slot := len(old); slot < x.documents.slots; slot++ {
		added = append(added, uint32(slot))
	}
	slices.SortStableFunc(added, x.compareIDs)
	out := make([]uint32, 0, x.documents.slots)
	for _, slot := range added {
		n, _ := slices.BinarySearchFunc(old, slot, func(a, b uint32) int {
			if x.compareIDs(a, b) <= 0 {
				return -1
			}
			return 1
		})
		out = append(append(out, old[:n]...), slot)
		old = old[n:]
	}
	return append(out, old...)
}

func (x *index) compareIDs(a, b uint32) int {
	return bytes.Compare(x.ids.At(x.idOf[a]), x.ids.At(x.idOf[b]))
}

// byID returns the slots of m in the order of their document ids.
func (x *index) byID(m mask) []uint32 {
	slots := slices.Collect(m.all())
	if len(slots) <= manyIDs {
		slices.SortFunc(slots, x.compareIDs)
		return slots
	}
	slots = slots[:0]
	for _, slot := range x.ranked().sorted {
		if m.has(slot) {
			slots = append(slots, slot)
		}
	}
	return slots
}

func (r *ranks) memory() int64 {
	if r == nil {
		return 0
	}
	return 4 * int64(cap(r.sorted)+cap(r.of))
}
