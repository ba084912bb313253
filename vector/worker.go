package vector

import (
	"context"
	"math"
	"math/bits"
)

// groupRows are scored with one call of the kernel, into a buffer that stays in the
// first-level cache.
const groupRows = 512

// worker scans blocks of rows, keeping the best in a heap with the worst on top.
type worker struct {
	hits  []Hit
	keep  int
	least float32 // a score must be above this to get in
	sums  [groupRows]int32
}

// run takes blocks until there are none or the context ends. Blocks come in rising order,
// so of two equal scores the one that is there has the lower row and stays.
func (w *worker) run(ctx context.Context, s *search, keep int) {
	w.hits, w.keep, w.least = w.hits[:0], keep, float32(math.Inf(-1))
	for ctx.Err() == nil {
		from := int(s.next.Add(1)-1) * blockRows
		if from >= s.st.n {
			return
		}
		for to := min(from+blockRows, s.st.n); from < to; from += groupRows {
			w.group(s, from, min(from+groupRows, to))
		}
	}
}

// group scans rows from to to, which lie in one slab.
func (w *worker) group(s *search, from, to int) {
	slab, first := &s.st.slabs[from/slabRows], from%slabRows
	width := len(s.query.bytes)
	codes := slab.codes[first*width : (first+to-from)*width]
	scales := slab.scales[first : first+to-from]
	if !s.masked {
		s.kernel.dots(s.query, codes, len(scales), w.sums[:])
		w.offerAll(from, scales)
		return
	}
	var set [groupRows / 64]uint64
	if from/64 < len(s.mask) {
		copy(set[:], s.mask[from/64:])
	}
	if rest := len(scales) % 64; rest != 0 {
		set[len(scales)/64] &= 1<<rest - 1
	}
	clear(set[(len(scales)+63)/64:])
	n := 0
	for _, x := range set {
		n += bits.OnesCount64(x)
	}
	// Where a third of the rows pass, scoring all in one go is faster than each by itself.
	if 3*n > len(scales) {
		s.kernel.dots(s.query, codes, len(scales), w.sums[:])
		w.offerSet(&set, from, scales)
	} else if n > 0 {
		w.scoreSet(s, &set, from, codes, scales)
	}
}

// offerAll offers all rows whose sums were computed.
func (w *worker) offerAll(from int, scales []float32) {
	sums := w.sums[:len(scales)]
	for i, scale := range scales {
		if score := float32(sums[i]) * scale; score > w.least && scale > 0 {
			w.offer(uint32(from+i), score)
		}
	}
}

// offerSet offers the rows in a set, whose sums were computed.
func (w *worker) offerSet(set *[groupRows / 64]uint64, from int, scales []float32) {
	for i, x := range set {
		for ; x != 0; x &= x - 1 {
			j := i<<6 | bits.TrailingZeros64(x)
			if score := float32(w.sums[j]) * scales[j]; score > w.least && scales[j] > 0 {
				w.offer(uint32(from+j), score)
			}
		}
	}
}

// scoreSet scores the rows in a set one by one and offers them.
func (w *worker) scoreSet(s *search, set *[groupRows / 64]uint64, from int, codes []int8, scales []float32) {
	width := len(s.query.bytes)
	for i, x := range set {
		for ; x != 0; x &= x - 1 {
			j := i<<6 | bits.TrailingZeros64(x)
			s.kernel.dots(s.query, codes[j*width:(j+1)*width], 1, w.sums[:1])
			if score := float32(w.sums[0]) * scales[j]; score > w.least && scales[j] > 0 {
				w.offer(uint32(from+j), score)
			}
		}
	}
}

func (w *worker) offer(row uint32, score float32) {
	if len(w.hits) < w.keep {
		w.hits = append(w.hits, Hit{row, score})
		w.up(len(w.hits) - 1)
	} else {
		w.hits[0] = Hit{row, score}
		w.down(0)
	}
	if len(w.hits) == w.keep {
		w.least = w.hits[0].Score
	}
}

func (w *worker) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if compareHits(w.hits[i], w.hits[parent]) <= 0 {
			return
		}
		w.hits[i], w.hits[parent] = w.hits[parent], w.hits[i]
		i = parent
	}
}

func (w *worker) down(i int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(w.hits); child++ {
			if compareHits(w.hits[child], w.hits[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		w.hits[i], w.hits[worst] = w.hits[worst], w.hits[i]
		i = worst
	}
}
