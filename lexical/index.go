package lexical

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// Field is a text of a row. Weight is how many times its words count, at least 1:
// a heading of weight 3 ranks as if it were written three times (see Search). Zone is the
// kind of text it is, which RowsIn tells apart and nothing else looks at.
type Field struct {
	Text   string
	Weight int
	Zone   Zone
}

// Limits of one row. A store's rows are chunks of some hundred words.
const (
	maxRowText = 16 << 20
	maxWeight  = 16
)

// Errors of adding rows.
var (
	ErrOrder = errors.New("row is not above those before it")
	ErrRow   = errors.New("row is too large")
)

// Index holds the words of rows. One writer and any number of readers may use it at
// once: a commit puts a new immutable state in place, and a reader takes the state
// there is when it begins. So no one waits for anyone, a search sees a batch whole or
// not at all, and its statistics are those of the rows it sees.
type Index struct {
	analyzer *Analyzer
	mu       sync.Mutex // held by the one writer
	state    atomic.Pointer[state]
	files    Files
	scorers  sync.Pool
	builders sync.Pool
}

// state is all that readers look at. Its parts are in order of rows.
type state struct {
	parts  []part
	last   int64   // highest row ever added, -1 if none
	rows   int     // that are live
	length float64 // of those
	whole  *Whole  // what it is a part of; nil: itself
}

// part is a segment with the rows that were removed from it since it was made.
type part struct {
	seg     *segment
	removed *removal // nil if none
}

// removal is an immutable set of ordinals of a segment.
type removal struct {
	set    []uint64
	count  int
	length float64
	sizes  sync.Map // stem -> how many of the set have its family; see part.rowsWith
}

func (r *removal) has(ord int) bool { return r != nil && r.set[ord>>6]>>(ord&63)&1 != 0 }

func (p part) live() int {
	if p.removed == nil {
		return len(p.seg.rows)
	}
	return len(p.seg.rows) - p.removed.count
}

// New returns an empty index that is all in memory.
func New(a *Analyzer) *Index { return NewIn(Files{}, a) }

// NewIn returns an empty index that keeps its large segments in files.
func NewIn(files Files, a *Analyzer) *Index {
	ix := &Index{analyzer: a, files: files}
	ix.state.Store(newState(nil, -1))
	return ix
}

// Analyzer returns the one the index was made with.
func (ix *Index) Analyzer() *Analyzer { return ix.analyzer }

// Add indexes one row and makes it visible; see Batch.Add.
func (ix *Index) Add(row uint32, fields ...Field) error {
	b := ix.NewBatch()
	if err := b.Add(row, fields...); err != nil {
		return err
	}
	return b.Commit()
}

// Remove takes a row out of the index; see Batch.Remove.
func (ix *Index) Remove(row uint32) error {
	b := ix.NewBatch()
	b.Remove(row)
	return b.Commit()
}

// Batch is a set of changes that become visible together. Building one does not touch
// the index. For one goroutine; of no use after Commit.
type Batch struct {
	ix      *Index
	build   *builder
	done    []*segment
	first   int64 // lowest row added, -1 if none
	last    int64
	removed []uint32
}

// batchOccurrences is the size at which a batch is packed: about 50 MB of scratch.
const batchOccurrences = 1 << 21

// NewBatch begins a batch.
func (ix *Index) NewBatch() *Batch {
	build, _ := ix.builders.Get().(*builder)
	if build == nil {
		build = newBuilder()
	}
	return &Batch{ix: ix, build: build, first: -1, last: -1}
}

// Add adds a row, whose number must be above all rows ever added (ErrOrder). Its words
// are those of its fields; a phrase does not reach from one field into another.
func (b *Batch) Add(row uint32, fields ...Field) error {
	if int64(row) <= b.last {
		return fmt.Errorf("lexical: add row %d after %d: %w", row, b.last, ErrOrder)
	}
	size := 0
	for _, f := range fields {
		size += len(f.Text) * max(f.Weight, 1)
		if f.Weight > maxWeight || f.Weight < 0 {
			return fmt.Errorf("lexical: add row %d: weight %d, at most %d: %w", row, f.Weight, maxWeight, ErrRow)
		}
		if f.Zone > MaxZone {
			return fmt.Errorf("lexical: add row %d: zone %d, at most %d: %w", row, f.Zone, MaxZone, ErrRow)
		}
	}
	if size > maxRowText {
		return fmt.Errorf("lexical: add row %d of %d bytes, at most %d: %w", row, size, maxRowText, ErrRow)
	}
	if b.first < 0 {
		b.first = int64(row)
	}
	b.last = int64(row)
	b.build.add(b.ix.analyzer, row, fields)
	if len(b.build.occ) >= batchOccurrences {
		b.Pack()
	}
	return nil
}

// Remove takes a row out, whether it was there before or is added by the same batch. A
// row that is not there is no error.
func (b *Batch) Remove(row uint32) { b.removed = append(b.removed, row) }

// Pack does the work of Commit that needs nothing of the index, so that several batches
// can be packed at once. Rows may still be added.
func (b *Batch) Pack() {
	if s := b.build.segment(); s != nil {
		b.done = append(b.done, s)
	}
	b.build.reset()
}

// Commit makes the batch visible to every search that begins afterwards.
func (b *Batch) Commit() error {
	b.Pack()
	ix := b.ix
	ix.builders.Put(b.build)
	b.build = nil
	ix.mu.Lock()
	defer ix.mu.Unlock()
	st := ix.state.Load()
	if b.first >= 0 && b.first <= st.last {
		return fmt.Errorf("lexical: commit row %d after %d: %w", b.first, st.last, ErrOrder)
	}
	parts := slices.Clone(st.parts)
	for _, s := range b.done {
		parts = append(parts, part{seg: s})
	}
	parts = without(parts, b.removed)
	ix.state.Store(newState(ix.compacted(parts), max(st.last, b.last)))
	return nil
}

func newState(parts []part, last int64) *state {
	s := &state{parts: parts, last: last}
	for _, p := range parts {
		s.rows += p.live()
		s.length += p.seg.total
		if p.removed != nil {
			s.length -= p.removed.length
		}
	}
	return s
}

// without marks rows as removed in the parts that hold them.
func without(parts []part, rows []uint32) []part {
	fresh := map[*part]*removal{} // removals made here may be changed
	for _, row := range rows {
		p, ord := locate(parts, row)
		if p == nil || p.removed.has(ord) {
			continue
		}
		r := fresh[p]
		if r == nil {
			r = p.removed.clone(len(p.seg.rows))
			fresh[p], p.removed = r, r
		}
		r.set[ord>>6] |= 1 << (ord & 63)
		r.count++
		r.length += float64(p.seg.lengths[ord])
	}
	return parts
}

func (r *removal) clone(rows int) *removal {
	if r == nil {
		return &removal{set: make([]uint64, (rows+63)/64)}
	}
	return &removal{set: slices.Clone(r.set), count: r.count, length: r.length}
}

// locate returns the part that holds a row and its ordinal there; nil if none does.
func locate(parts []part, row uint32) (*part, int) {
	i := sort.Search(len(parts), func(i int) bool { return parts[i].seg.last() >= row })
	if i == len(parts) {
		return nil, 0
	}
	if ord := parts[i].seg.ordinal(row); ord >= 0 {
		return &parts[i], ord
	}
	return nil, 0
}

func (st *state) locate(row uint32) (*part, int) { return locate(st.parts, row) }

// Segments are merged eight at a time when they are of about one size, as long as the
// result stays below 2^18 rows, so that a row is copied at most six times and a merge
// never takes long (some 0.2 s for the largest). One with a fifth of its rows removed
// is rewritten.
const (
	fanout         = 8
	maxSegmentRows = 1 << 18
	maxMergeBytes  = 1 << 30
)

// compacted rewrites and merges what is due. Nothing else in a commit looks into files:
// parts that cannot be read stay as they are, so that what is committed is there, and
// are due again the next time.
func (ix *Index) compacted(parts []part) []part {
	out := parts[:0]
	for _, p := range parts {
		if p.removed != nil && p.removed.count*5 > len(p.seg.rows) {
			switch s, err := ix.merge([]part{p}); {
			case err != nil:
				ix.files.warn(err)
			case s == nil:
				continue
			default:
				p = part{seg: s}
			}
		}
		out = append(out, p)
	}
	for {
		from, to := due(out)
		if from == to {
			return out
		}
		s, err := ix.merge(out[from:to])
		if err != nil {
			ix.files.warn(err)
			return out
		}
		out = slices.Replace(out, from, to, part{seg: s})
	}
}

// due returns a run of parts to be merged now, the smallest size class first; none if
// from is to.
func due(parts []part) (from, to int) {
	for level := range 6 {
		for from = 0; from < len(parts); from = max(to, from+1) {
			var full bool
			if to, full = runEnd(parts, from, level); full {
				return from, to
			}
		}
	}
	return 0, 0
}

// runEnd returns the end of the run of parts up to a size class that begins at from, and
// whether it has enough parts of that class itself. Counting smaller ones too would have
// a large part copied for every few rows that are added.
func runEnd(parts []part, from, level int) (to int, full bool) {
	rows, size, n := 0, 0, 0
	for i := from; i < len(parts); i++ {
		rows += parts[i].live()
		size += parts[i].seg.size()
		t := tier(parts[i].live())
		if t > level || rows > maxSegmentRows || size > maxMergeBytes {
			return i, n >= fanout
		}
		if t == level {
			n++
		}
	}
	return len(parts), n >= fanout
}

// tier is the size class of a segment: rows by powers of the fanout.
func tier(rows int) int { return (bits.Len(uint(rows)) - 1) / 3 }

// Stats says what an index holds and costs.
type Stats struct {
	Rows     int   // that can be found
	Removed  int   // that still take memory, until their segment is merged
	Segments int   // immutable parts
	Terms    int   // dictionary entries, a word counting once for each segment that has it
	Bytes    int64 // memory of the index, without what its searches borrow
	Files    int64 // bytes in files, of which the system keeps in memory what it likes
}

// Stats describes the present state.
func (ix *Index) Stats() Stats {
	st := ix.state.Load()
	out := Stats{Rows: st.rows, Segments: len(st.parts)}
	for _, p := range st.parts {
		out.Terms += p.seg.terms()
		out.Bytes += int64(p.seg.memory())
		if p.seg.file != nil {
			out.Files += int64(p.seg.packed())
		}
		if p.removed != nil {
			out.Removed += p.removed.count
			out.Bytes += int64(len(p.removed.set) * 8)
		}
	}
	return out
}
