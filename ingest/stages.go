package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/store"
)

// batch is records on their way through the stages.
type batch struct {
	items []source.Item
	next  source.Position // after the last of them

	results   []result // one for each item, in order
	records   []store.Record
	documents []documentNote
	moved     map[sextant.DocumentID]sextant.DocumentID // documents that are part of another now
}

type result struct {
	id      sextant.DocumentID
	at      source.Position
	outcome sextant.Outcome
	reason  string
}

type documentNote struct {
	id       sextant.DocumentID
	fate     fate
	textless bool
}

// stages reads, merges and writes a file, each in a goroutine of its own (writing in
// the caller's), a few batches apart. The first failure ends all three.
func (r *run) stages(ctx context.Context, f *fileRun) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	read, merged := make(chan *batch, 1), make(chan *batch, 1)
	m := &merger{run: r, pending: map[sextant.DocumentID]*sextant.Document{}}
	var wait sync.WaitGroup
	wait.Go(func() {
		defer close(read)
		if err := r.read(ctx, f, read); err != nil {
			cancel(err)
		}
	})
	wait.Go(func() {
		defer close(merged)
		for b := range read {
			if err := m.merge(ctx, f, b); err != nil {
				cancel(err)
				return
			}
			select {
			case merged <- b:
			case <-ctx.Done():
				return
			}
		}
	})
	err := r.write(ctx, f, m, merged)
	if err != nil {
		cancel(err)
	}
	for range read { // let the reader see that it is over
	}
	wait.Wait()
	return context.Cause(ctx)
}

// batchBytes is how many bytes of records are taken together: with the batches of all
// stages, memory stays bounded however long the records are.
const batchBytes = 8 << 20

// read sends the file's records in batches. What was read before an input fails is
// still sent.
func (r *run) read(ctx context.Context, f *fileRun, out chan<- *batch) error {
	b, size := &batch{next: f.from}, int64(0)
	send := func() bool {
		select {
		case out <- b:
			b, size = &batch{next: b.next}, 0
			return true
		case <-ctx.Done():
			return false
		}
	}
	for item, err := range f.input.Items(ctx, f.from) {
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if len(b.items) > 0 {
				send()
			}
			f.broken = err
			return nil
		}
		b.items = append(b.items, item)
		b.next = item.Next
		size += max(item.Size, item.Next.Offset-item.At.Offset)
		if (len(b.items) == r.Batch || size >= batchBytes) && !send() {
			return context.Cause(ctx)
		}
	}
	if len(b.items) > 0 {
		send()
	}
	return nil
}

// markShare bounds what marks take of the time: each holds the whole account so far, which
// for a million documents takes a second.
const markShare = 20

// write stores the batches in order and keeps the account. It returns when there are
// no more, or at the first failure.
func (r *run) write(ctx context.Context, f *fileRun, m *merger, in <-chan *batch) error {
	for {
		var b *batch
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case next, more := <-in:
			if !more {
				return context.Cause(ctx)
			}
			b = next
		}
		if len(b.records) > 0 {
			if err := r.collection.Upsert(ctx, b.records); err != nil {
				return err
			}
			m.written(b.records)
		}
		// What became part of another document goes once that is durable: a crash in
		// between leaves both, and the record that joins them to be read again.
		if err := r.move(ctx, b.moved); err != nil {
			return err
		}
		r.account(f, b)
		if len(r.items.open) >= maxOpen {
			if err := r.items.flush(ctx); err != nil {
				return err
			}
		}
		if f.digest == "" || r.Now().Sub(f.marked) < max(r.MarkEach, markShare*f.marking) {
			continue
		}
		if err := r.mark(ctx, f); err != nil {
			return err
		}
		f.marking = r.Now().Sub(f.marked)
	}
}

// move removes documents that others took in.
func (r *run) move(ctx context.Context, moved map[sextant.DocumentID]sextant.DocumentID) error {
	if len(moved) == 0 {
		return nil
	}
	if _, err := r.collection.Delete(ctx, slices.Sorted(maps.Keys(moved))); err != nil {
		return err
	}
	for from, to := range moved {
		r.ledger.rename(from, to, r.marks)
	}
	return nil
}

// account enters what became of a batch, after it is durable.
func (r *run) account(f *fileRun, b *batch) {
	fates := make(map[sextant.DocumentID]fate, len(b.documents))
	for _, d := range b.documents {
		fates[d.id] = d.fate
	}
	for _, res := range b.results {
		f.count(res)
		r.items.add(f.receipt.Name, res, fates[res.id] == added)
	}
	for _, d := range b.documents {
		r.ledger.note(d.fate, d.id)
		if d.textless {
			f.textless++
		}
	}
	f.at = b.next
	r.meter.advance(f)
}

// mark remembers how far the file was read, and the account so far.
func (r *run) mark(ctx context.Context, f *fileRun) error {
	r.receipt.Files[len(r.receipt.Files)-1] = f.receipt
	r.sum()
	f.marked, f.hasMark = r.Now(), true
	if err := r.items.flush(ctx); err != nil {
		return err
	}
	if err := r.journal.PutReceipt(ctx, r.receipt); err != nil {
		return err
	}
	r.ledger.sequence = 0 // more will be written
	if err := r.journal.save(ctx, r.ledger); err != nil {
		return err
	}
	m := mark{Run: r.receipt.Run, At: f.at, Receipt: f.receipt, Rejected: f.rejected}
	m.Documents = packLedger(r.ledger.ids(f.seen), r.ledger.leftWith, nil)
	return r.journal.putMark(ctx, f.digest, m)
}

// merger makes records of items. Documents that are merged but not yet written are
// kept in pending, since the store does not have them yet.
type merger struct {
	*run
	mu      sync.Mutex
	pending map[sextant.DocumentID]*sextant.Document
}

func (m *merger) written(records []store.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range records {
		id := records[i].Document.ID
		if p := m.pending[id]; p != nil && p.Revision == records[i].Document.Revision {
			delete(m.pending, id)
		}
	}
}

// group is the items of a batch that are about one document.
type group struct {
	items []int // their places in the batch
	old   *sextant.Document
	was   []*sextant.Document   // what is stored of it under other ids
	aside []source.Contribution // what records of other documents say about it

	doc    *sextant.Document // after merging
	chunks []sextant.Chunk
}

// merge joins the batch's items with the documents they belong to, as stored or as on
// the way there, and sets results, records and documents.
func (m *merger) merge(ctx context.Context, f *fileRun, b *batch) error {
	b.results = make([]result, len(b.items))
	groups, order := map[sextant.DocumentID]*group{}, []sextant.DocumentID(nil)
	for i, item := range b.items {
		res := &b.results[i]
		*res = result{item.ID, item.At, item.Outcome, item.Reason}
		switch {
		case item.Contribution == nil:
		case strings.ContainsAny(string(item.ID), "\n\r") || item.ID == "":
			res.outcome, res.reason = sextant.Refused, "the record's id is empty or has a line break in it"
		case f.passes(item):
			res.outcome = sextant.Unchanged
			b.documents = append(b.documents, documentNote{id: item.ID, fate: unchanged})
		default:
			if groups[item.ID] == nil {
				groups[item.ID] = &group{}
				order = append(order, item.ID)
			}
			groups[item.ID].items = append(groups[item.ID].items, i)
		}
		if res.outcome != "" {
			continue
		}
		for _, a := range item.Besides {
			if groups[a.ID] == nil {
				groups[a.ID] = &group{}
				order = append(order, a.ID)
			}
			groups[a.ID].aside = append(groups[a.ID].aside, a.Contribution)
		}
	}
	if err := m.fetch(ctx, groups, order, b); err != nil {
		return err
	}
	m.each(order, func(id sextant.DocumentID) { m.join(groups[id], b) })
	if ctx.Err() != nil { // what was refused then was not refused for what it is
		return context.Cause(ctx)
	}
	return m.collect(ctx, groups, order, b)
}

// fetch finds the documents as they are.
func (m *merger) fetch(ctx context.Context, groups map[sextant.DocumentID]*group, order []sextant.DocumentID, b *batch) error {
	var ask []sextant.DocumentID
	m.mu.Lock()
	for _, id := range order {
		if groups[id].old = m.pending[id]; groups[id].old == nil {
			ask = append(ask, id)
		}
	}
	m.mu.Unlock()
	docs, err := m.collection.Get(ctx, ask)
	if err != nil {
		return err
	}
	for i := range docs {
		groups[docs[i].ID].old = &docs[i]
	}
	if err := m.fetchMoved(ctx, groups, b); err != nil {
		return err
	}
	for _, id := range ask {
		m.ledger.expect(id, groups[id].old)
	}
	return nil
}

// fetchMoved finds what is stored of the documents under other ids.
func (m *merger) fetchMoved(ctx context.Context, groups map[sextant.DocumentID]*group, b *batch) error {
	to := map[sextant.DocumentID]sextant.DocumentID{}
	for _, item := range b.items {
		for _, was := range item.Was {
			if was != item.ID && groups[item.ID] != nil {
				to[was] = item.ID
			}
		}
	}
	if len(to) == 0 {
		return nil
	}
	docs, err := m.collection.Get(ctx, slices.Sorted(maps.Keys(to)))
	if err != nil {
		return err
	}
	for i := range docs {
		g := groups[to[docs[i].ID]]
		g.was = append(g.was, &docs[i])
	}
	return nil
}

// each calls do for every id, on all workers.
func (m *merger) each(order []sextant.DocumentID, do func(sextant.DocumentID)) {
	var wait sync.WaitGroup
	for w := range m.workers {
		wait.Go(func() {
			for i := w; i < len(order); i += m.workers {
				do(order[i])
			}
		})
	}
	wait.Wait()
}

// join merges a group's items one after the other.
func (m *merger) join(g *group, b *batch) {
	g.doc = g.old
	for _, was := range g.was {
		if err := m.absorb(g, was, b); err != nil {
			for _, i := range g.items {
				b.results[i].outcome, b.results[i].reason = sextant.Refused, err.Error()
			}
			g.doc, g.was = g.old, nil // what is there stays
			return
		}
	}
	for _, i := range g.items {
		b.results[i].outcome, b.results[i].reason = m.joinOne(g, b.items[i].Contribution)
	}
	for _, c := range g.aside {
		m.joinAside(g, c)
	}
	if g.doc != nil && g.doc != g.old {
		m.Chunks.Openings.Learn(g.doc, g.old)
		g.chunks = chunk.Split(g.doc, m.Chunks)
	}
}

// joinAside merges what a record of another document says. What cannot be merged leaves
// the document as it is: the record's own outcome does not depend on it.
func (m *merger) joinAside(g *group, c source.Contribution) {
	if g.doc == nil {
		return
	}
	doc, _, err := c.Merge(g.doc)
	if err == nil {
		doc.Revision, err = doc.ComputeRevision()
	}
	if err == nil && doc.Revision != g.doc.Revision && m.schema.Check(doc.Meta) == nil {
		g.doc = &doc
	}
}

// absorb makes what was stored under another id part of the document.
func (m *merger) absorb(g *group, was *sextant.Document, b *batch) error {
	c, ok := b.items[g.items[0]].Contribution.(source.Absorber)
	if !ok {
		return fmt.Errorf("document %s cannot take in %s", b.items[g.items[0]].ID, was.ID)
	}
	doc, err := c.Absorb(g.doc, was)
	if err == nil {
		doc.Revision, err = doc.ComputeRevision()
	}
	if err == nil {
		err = m.schema.Check(doc.Meta)
	}
	if err != nil {
		return err
	}
	doc.Source.Retrieved = was.Source.Retrieved
	g.doc = &doc
	return nil
}

func (m *merger) joinOne(g *group, c source.Contribution) (sextant.Outcome, string) {
	doc, joined, err := c.Merge(g.doc)
	if err == nil {
		doc.Revision, err = doc.ComputeRevision()
	}
	if err == nil && g.doc != nil && doc.Revision == g.doc.Revision {
		return sextant.Unchanged, ""
	}
	if err == nil {
		err = m.schema.Check(doc.Meta)
	}
	if err != nil {
		return sextant.Refused, err.Error()
	}
	if doc.Source.Retrieved.IsZero() {
		doc.Source.Retrieved = m.receipt.Started
	}
	before := g.doc
	g.doc = &doc
	if before != nil && joined {
		return sextant.Merged, ""
	}
	return sextant.Stored, ""
}

// collect makes records of the groups that changed, in order, with their vectors.
func (m *merger) collect(ctx context.Context, groups map[sextant.DocumentID]*group, order []sextant.DocumentID, b *batch) error {
	for _, id := range order {
		g := groups[id]
		if g.doc == nil {
			continue
		}
		for _, was := range g.was {
			if b.moved == nil {
				b.moved = map[sextant.DocumentID]sextant.DocumentID{}
			}
			b.moved[was.ID] = id
		}
		note := documentNote{id: id, fate: unchanged}
		m.ledger.leaveAs(id, g.doc.Revision)
		if g.doc != g.old {
			note.fate = changed
			if g.old == nil {
				note.fate = added
			}
			note.textless = len(g.chunks) == 0
			b.records = append(b.records, store.Record{Document: *g.doc, Chunks: g.chunks})
		}
		b.documents = append(b.documents, note)
	}
	if err := m.embed(ctx, b.records); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range b.records {
		m.pending[b.records[i].Document.ID] = &b.records[i].Document
	}
	return nil
}

// embed sets the records' vectors, all texts in one call. A text that stands several
// times, as forms filled in alike do, is embedded once.
func (m *merger) embed(ctx context.Context, records []store.Record) error {
	if m.Embedder == nil {
		return nil
	}
	return encodeRecords(ctx, m.Embedder, records)
}

func encodeRecords(ctx context.Context, e embed.Embedder, records []store.Record) error {
	texts, at := distinct(records)
	if len(texts) == 0 {
		return nil
	}
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	if len(vectors) != len(texts) {
		return fmt.Errorf("embed: %d vectors for %d texts", len(vectors), len(texts))
	}
	for i := range records {
		n := len(records[i].Chunks)
		records[i].Vectors = make([][]float32, n)
		for k := range n {
			records[i].Vectors[k] = vectors[at[k]]
		}
		at = at[n:]
	}
	return nil
}

// distinct returns the different texts of all chunks, and for each chunk in order which
// of them is its.
func distinct(records []store.Record) (texts []string, at []int) {
	places := map[string]int{}
	for i := range records {
		for _, c := range records[i].Chunks {
			text := RetrievalText(&records[i].Document, c)
			place, seen := places[text]
			if !seen {
				place = len(texts)
				places[text], texts = place, append(texts, text)
			}
			at = append(at, place)
		}
	}
	return texts, at
}

// RetrievalText is what is embedded for a chunk: its text under the title of its
// document and the headings above it, since a paragraph hardly ever names what it is about.
func RetrievalText(doc *sextant.Document, c sextant.Chunk) string {
	text := doc.Title + "\n"
	if c.Heading != "" && !strings.HasPrefix(c.Content, c.Heading+"\n") {
		text += c.Heading + "\n"
	}
	return text + c.Ranked()
}
