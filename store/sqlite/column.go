package sqlite

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/internal/intern"
)

// column holds one field of one table (documents, or the elements of a group) for
// all slots. Slots are only ever appended; those of replaced documents stay until
// the index is compacted, and are masked out by the table's live set.
type column interface {
	// put stores a slot's values, read from d; slots come in rising order and those
	// left out have no value.
	put(slot uint32, kind filter.Kind, n int, d *decoder)
	// present is the set of slots with a value. It must not be changed.
	present() mask
	// test adds to m the slots that satisfy a resolved condition on the field.
	test(f filter.Filter, m mask)
	// keep removes from m the slots that do not satisfy it.
	keep(f filter.Filter, m mask)
	// widen makes a single-valued column a list.
	widen()
	memory() int64
}

func newColumn(f filter.Field) column {
	if f.Kind == filter.Keyword {
		return newKeywords(f)
	}
	return &numbers{kind: f.Kind, cells: newCells[int64](f.List)}
}

// cells holds the values of each slot. A single-valued column has one place a slot,
// used if the slot is in has; a list has all values end to end.
type cells[T uint32 | int64] struct {
	list bool
	flat []T
	ends []uint32 // lists only: slot i's values are flat[ends[i-1]:ends[i]]
	has  mask
}

func newCells[T uint32 | int64](list bool) cells[T] { return cells[T]{list: list} }

// push adds one value to slot, which is the last one or a later one.
func (c *cells[T]) push(slot uint32, v T) {
	c.has.grow(slot)
	if !c.list {
		for uint32(len(c.flat)) <= slot {
			c.flat = append(c.flat, 0)
		}
		c.flat[slot] = v
		return
	}
	for uint32(len(c.ends)) <= slot {
		c.ends = append(c.ends, uint32(len(c.flat)))
	}
	c.flat = append(c.flat, v)
	c.ends[slot] = uint32(len(c.flat))
}

// at returns the values of a slot; none past the end.
func (c *cells[T]) at(slot uint32) []T {
	if !c.has.has(slot) {
		return nil
	}
	if !c.list {
		return c.flat[slot : slot+1]
	}
	var start uint32
	if slot > 0 {
		start = c.ends[slot-1]
	}
	return c.flat[start:c.ends[slot]]
}

func (c *cells[T]) widen() {
	if c.list {
		return
	}
	wide := newCells[T](true)
	for slot := range c.has.all() {
		wide.push(slot, c.flat[slot])
	}
	*c = wide
}

func (c *cells[T]) memory(size int) int64 {
	return int64(size*cap(c.flat) + 4*cap(c.ends) + 8*cap(c.has))
}

// keywords is a column of strings. Every spelling is numbered, and spellings that
// compare equal under the field's fold form a class: conditions are looked up once in
// the dictionary and then concern numbers.
type keywords struct {
	fold      filter.Fold
	spellings *intern.Strings
	classes   *intern.Strings // folded forms; spellings itself where the fold is Exact
	classOf   []uint32        // by spelling; nil where the fold is Exact
	cells     cells[uint32]

	building sync.Mutex // guards the making of these two, which readers do
	inverted atomic.Pointer[inverted]
	order    atomic.Pointer[order]
}

// order is the spellings in the order of their bytes.
type order struct{ spellings []uint32 }

// sorted returns the order of all spellings there are.
func (k *keywords) sorted() *order {
	if o := k.order.Load(); o != nil && len(o.spellings) == k.spellings.Len() {
		return o
	}
	k.building.Lock()
	defer k.building.Unlock()
	o := &order{make([]uint32, k.spellings.Len())}
	for i := range o.spellings {
		o.spellings[i] = uint32(i)
	}
	slices.SortFunc(o.spellings, func(a, b uint32) int { return bytes.Compare(k.spellings.At(a), k.spellings.At(b)) })
	k.order.Store(o)
	return o
}

// inverted lists the slots of each class, for the slots below covered. Readers build
// it when the uncovered tail has grown long, so that writers only append and columns
// nobody filters by cost nothing.
type inverted struct {
	covered uint32
	starts  []uint32 // class c's slots are slots[starts[c]:starts[c+1]]
	slots   []uint32
	common  map[uint32]mask // instead, for classes so common that this is smaller
}

func newKeywords(f filter.Field) *keywords {
	k := &keywords{fold: f.Fold, spellings: intern.New(), cells: newCells[uint32](f.List)}
	k.classes = k.spellings
	if f.Fold != filter.Exact {
		k.classes = intern.New()
	}
	return k
}

func (k *keywords) present() mask { return k.cells.has }
func (k *keywords) widen()        { k.cells.widen() }

func (k *keywords) put(slot uint32, _ filter.Kind, n int, d *decoder) {
	for range n {
		k.cells.push(slot, k.number(d.bytes()))
	}
}

// number returns the number of a spelling, entering it and its class if it is new.
func (k *keywords) number(s []byte) uint32 {
	n, isNew := k.spellings.Add(s)
	if isNew && k.fold != filter.Exact {
		class, _ := k.classes.Add([]byte(k.fold.Of(string(s))))
		k.classOf = append(k.classOf, class)
	}
	return n
}

// class returns the class of a spelling.
func (k *keywords) class(spelling uint32) uint32 {
	if k.classOf == nil {
		return spelling
	}
	return k.classOf[spelling]
}

func (k *keywords) test(f filter.Filter, m mask) {
	if _, ok := f.(filter.Exists); ok {
		m.or(k.cells.has)
		return
	}
	wanted := k.wanted(f)
	if len(wanted) == 0 {
		return
	}
	inv := k.invert()
	for _, c := range wanted {
		if int(c)+1 < len(inv.starts) {
			m.or(inv.common[c])
			for _, slot := range inv.slots[inv.starts[c]:inv.starts[c+1]] {
				m.set(slot)
			}
		}
	}
	for slot := inv.covered; slot < k.slots(); slot++ {
		for _, spelling := range k.cells.at(slot) {
			if _, found := slices.BinarySearch(wanted, k.class(spelling)); found {
				m.set(slot)
				break
			}
		}
	}
}

func (k *keywords) keep(f filter.Filter, m mask) {
	found := make(mask, len(m))
	k.test(f, found)
	m.and(found)
}

// wanted returns the classes that satisfy the condition, in rising order.
func (k *keywords) wanted(f filter.Filter) []uint32 {
	var out []uint32
	switch f := f.(type) {
	case filter.Eq:
		out = k.appendClass(out, f.Value)
	case filter.In:
		for _, v := range f.Values {
			out = k.appendClass(out, v)
		}
		slices.Sort(out)
		out = slices.Compact(out)
	case filter.Contains:
		out = k.containing(f.Sub)
	}
	return out
}

func (k *keywords) appendClass(out []uint32, v filter.Value) []uint32 {
	if c, ok := k.classes.Find([]byte(k.fold.Of(v.Str()))); ok {
		out = append(out, c)
	}
	return out
}

// containing returns the classes whose folded form contains the folded sub: one pass
// over the dictionary's arena, which holds them end to end.
func (k *keywords) containing(sub string) []uint32 {
	var out []uint32
	needle := []byte(k.fold.Of(sub))
	if len(needle) == 0 {
		for c := range k.classes.Len() {
			out = append(out, uint32(c))
		}
		return out
	}
	for from, next := 0, uint32(0); int(next) < k.classes.Len(); {
		i := bytes.Index(k.classes.Text()[from:], needle)
		if i < 0 {
			return out
		}
		start := uint64(from + i)
		c := k.classes.With(start, next) // the string in which the match starts
		if end := k.classes.End(c); start+uint64(len(needle)) <= end {
			out = append(out, c)
			from, next = int(end), c+1
		} else {
			from, next = int(start)+1, c // it runs over the string's end
		}
	}
	return out
}

// slots is one more than the last slot that has a value.
func (k *keywords) slots() uint32 {
	if k.cells.list {
		return uint32(len(k.cells.ends))
	}
	return uint32(len(k.cells.flat))
}

// invert returns slot lists that leave at most a short tail uncovered.
func (k *keywords) invert() *inverted {
	inv := k.inverted.Load()
	if inv != nil && !inv.stale(k.slots()) {
		return inv
	}
	k.building.Lock()
	defer k.building.Unlock()
	if inv = k.inverted.Load(); inv != nil && !inv.stale(k.slots()) {
		return inv
	}
	inv = k.buildInverted()
	k.inverted.Store(inv)
	return inv
}

func (inv *inverted) stale(slots uint32) bool {
	return slots-inv.covered > 1024+inv.covered/16
}

// buildInverted sorts the slots by class, counting first. A slot of which two values
// fall into one class is listed twice, which setting bits does not mind.
func (k *keywords) buildInverted() *inverted {
	inv := &inverted{covered: k.slots(), common: map[uint32]mask{}}
	counts := make([]uint32, k.classes.Len())
	k.each(inv.covered, func(class, _ uint32) { counts[class]++ })
	inv.starts = make([]uint32, len(counts)+1)
	for c, n := range counts {
		inv.starts[c+1] = inv.starts[c] + n
		if n > inv.covered/32 {
			inv.common[uint32(c)] = newMask(int(inv.covered))
			inv.starts[c+1] = inv.starts[c]
		}
	}
	inv.slots = make([]uint32, inv.starts[len(counts)])
	next := slices.Clone(inv.starts)
	k.each(inv.covered, func(class, slot uint32) {
		if m := inv.common[class]; m != nil {
			m.set(slot)
			return
		}
		inv.slots[next[class]] = slot
		next[class]++
	})
	return inv
}

// each calls f with the class of every value of the slots below end.
func (k *keywords) each(end uint32, f func(class, slot uint32)) {
	for slot := range end {
		for _, spelling := range k.cells.at(slot) {
			f(k.class(spelling), slot)
		}
	}
}

func (k *keywords) memory() int64 {
	n := k.spellings.Memory() + 4*int64(cap(k.classOf)) + k.cells.memory(4)
	if k.classes != k.spellings {
		n += k.classes.Memory()
	}
	if o := k.order.Load(); o != nil {
		n += 4 * int64(cap(o.spellings))
	}
	if inv := k.inverted.Load(); inv != nil {
		n += 4*int64(cap(inv.starts)+cap(inv.slots)) + int64(len(inv.common))*int64(inv.covered/8)
	}
	return n
}
