package chroma

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
)

// view is what Chroma has no means to answer from: the metadata of all documents, and
// the words of all chunks. Texts are not kept. Documents and chunks have slots, which
// are never used twice; a document that is replaced or gone leaves its slot empty.
type view struct {
	spec     sextant.Collection
	analyzer *lexical.Analyzer
	heads    []*head // by slot
	slots    map[sextant.DocumentID]int
	live     bits
	text     *lexical.Index // rows are slots of chunks
	parent   []uint32       // document slot, by chunk slot
	chunks   bits           // live ones
	bytes    int64          // estimate of metadata held

	mu   sync.Mutex
	memo map[string]bits // documents that satisfy a condition; see view.leaf
}

// head is a document without its text.
type head struct {
	id       sextant.DocumentID
	entry    entry
	revision string
	meta     filter.Meta
	first    uint32 // slot of its first chunk
	bytes    int64
}

func newView(spec sextant.Collection) (*view, error) {
	a, err := store.AnalyzerOf(spec)
	if err != nil {
		return nil, err
	}
	return &view{spec: spec, analyzer: a, slots: map[sextant.DocumentID]int{}, text: lexical.New(a), memo: map[string]bits{}}, nil
}

// wasteful reports that making the view anew would take less memory than going on.
func (v *view) wasteful() bool { return len(v.heads) > 2*len(v.slots)+1000 }

func (v *view) memory() int64 { return v.text.Stats().Bytes + v.bytes + int64(len(v.parent)*4) }

// changes is what a view lacks to be that of a directory.
type changes struct {
	added []*head
	words []*lexical.Batch
	gone  []sextant.DocumentID
	first uint32 // slot of the first chunk added
}

// changes reads what a view lacks: the bodies of documents that are new in a directory.
func (c *collection) changes(ctx context.Context, r *row, v *view, d directory) (*changes, error) {
	ch := &changes{first: uint32(len(v.parent))}
	for id, slot := range v.slots {
		if d[id] != v.heads[slot].entry {
			ch.gone = append(ch.gone, id)
		}
	}
	var missing []sextant.DocumentID
	for id, e := range d {
		if slot, ok := v.slots[id]; !ok || v.heads[slot].entry != e {
			missing = append(missing, id)
		}
	}
	slices.Sort(missing)
	next := ch.first
	for page := range slices.Chunk(missing, bodiesAtOnce*4) {
		docs, err := c.bodies(ctx, r, d, page)
		if err != nil {
			return nil, c.moved(ctx, r, err)
		}
		if next, err = ch.take(v, docs, next); err != nil {
			return nil, err
		}
	}
	return ch, nil
}

// take adds documents to changes, their words indexed by all cores.
func (ch *changes) take(v *view, docs []held, slot uint32) (next uint32, err error) {
	n := max(1, min(runtime.GOMAXPROCS(0), len(docs)/32))
	batches, errs := make([]*lexical.Batch, n), make([]error, n)
	var work sync.WaitGroup
	for i := range n {
		part, first := docs[i*len(docs)/n:(i+1)*len(docs)/n], slot
		for _, d := range part {
			ch.added = append(ch.added, d.head(slot))
			slot += uint32(len(d.chunks))
		}
		batches[i] = v.text.NewBatch()
		work.Go(func() { errs[i] = indexWords(batches[i], part, first) })
	}
	work.Wait()
	for _, err := range errs {
		if err != nil {
			return slot, fmt.Errorf("index words: %w", err)
		}
	}
	ch.words = append(ch.words, batches...)
	return slot, nil
}

func indexWords(b *lexical.Batch, docs []held, slot uint32) error {
	for _, d := range docs {
		for _, ch := range d.chunks {
			if err := b.Add(slot, store.TextFields(d.document.Title, d.document.Parts, ch)...); err != nil {
				return err
			}
			slot++
		}
	}
	return nil
}

// held is a document as read from the server.
type held struct {
	document sextant.Document
	chunks   []sextant.Chunk
	entry    entry
	size     int
}

func (d held) head(slot uint32) *head {
	return &head{id: d.document.ID, entry: d.entry, revision: d.document.Revision, meta: d.document.Meta, first: slot, bytes: 200 + 8*int64(d.size)/5}
}

// apply puts a row, its directory and a view that is brought up to it in place. The
// caller holds loading.
func (c *collection) apply(r *row, d directory, v *view, ch *changes) error {
	for _, b := range ch.words {
		if err := b.Commit(); err != nil {
			c.adopt(r, d)
			return fmt.Errorf("index words: %w", err)
		}
	}
	gone := v.text.NewBatch()
	c.mu.Lock()
	for _, id := range ch.gone {
		v.remove(id, gone)
	}
	for _, h := range ch.added {
		v.add(h)
	}
	v.memo = map[string]bits{}
	v.spec = r.Spec
	c.row, c.directory, c.view = r, d, v
	c.mu.Unlock()
	return gone.Commit()
}

func (v *view) add(h *head) {
	slot := len(v.heads)
	v.heads = append(v.heads, h)
	v.slots[h.id] = slot
	v.live = v.live.with(slot)
	for i := range h.entry.chunks {
		v.parent = append(v.parent, uint32(slot))
		v.chunks = v.chunks.with(int(h.first) + i)
	}
	v.bytes += h.bytes
}

func (v *view) remove(id sextant.DocumentID, gone *lexical.Batch) {
	slot, ok := v.slots[id]
	if !ok {
		return
	}
	h := v.heads[slot]
	delete(v.slots, id)
	v.heads[slot] = nil
	v.live.clear(slot)
	for i := range h.entry.chunks {
		v.chunks.clear(int(h.first) + i)
		gone.Remove(h.first + uint32(i))
	}
	v.bytes -= h.bytes
}
