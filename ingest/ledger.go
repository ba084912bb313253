package ingest

import (
	"context"
	"encoding/hex"
	"iter"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// ledger is what ingestion knows of a collection: which files it has read to the end,
// which documents each of them went into, and the revision each document was left with.
//
// What everything rests on: a document that still has the revision it was left with
// holds all that the settled files it comes from say of it, and all that an unfinished
// file says up to its mark. So whenever somebody else's change to a document comes to
// light, the files it comes from stop being settled until they are read again.
type ledger struct {
	version  string                      // of the reading that made it
	deleted  map[sextant.DocumentID]bool // documents that are gone because somebody wanted it
	sequence uint64                      // of the collection when all this was true; 0 is never
	files    map[string]*settledFile     // by digest
	partial  map[string]*settledFile     // were settled, until some of their documents were found changed
	stale    map[sextant.DocumentID]bool // the documents found changed when the run began
	done     map[sextant.DocumentID]fate // what this run did to the documents it looked at

	mu        sync.Mutex // the merger writes these while the writer reads them
	revisions map[sextant.DocumentID]revision
	disturbed map[sextant.DocumentID]bool // documents found changed by somebody else during the run
}

// settledFile is a file that was read to its end.
type settledFile struct {
	Receipt  sextant.FileReceipt `json:"receipt"`
	Rejected int64               `json:"rejected"` // records that could be read but not merged
	// Superseded is a file that its present state has replaced; documents are then those
	// that this one no longer speaks of.
	Superseded bool `json:"superseded,omitempty"`
	documents  []sextant.DocumentID
}

func (f *settledFile) wentInto(documents map[sextant.DocumentID]bool) bool {
	return slices.ContainsFunc(f.documents, func(id sextant.DocumentID) bool { return documents[id] })
}

// revision is a document's revision, packed.
type revision [16]byte

func packRevision(s string) (r revision) {
	if b, err := hex.DecodeString(s); err == nil && len(b) == len(r) {
		copy(r[:], b)
	}
	return r
}

// fate is what became of a document in this run.
type fate uint8

const (
	unchanged fate = iota + 1
	changed
	added
)

func newLedger() *ledger {
	return &ledger{
		files: map[string]*settledFile{}, partial: map[string]*settledFile{}, done: map[sextant.DocumentID]fate{},
		deleted:   map[sextant.DocumentID]bool{},
		revisions: map[sextant.DocumentID]revision{}, disturbed: map[sextant.DocumentID]bool{},
	}
}

// note records what was done to a document. Within a run, being added counts for more
// than being changed later on.
func (l *ledger) note(id sextant.DocumentID, f fate) { l.done[id] = max(l.done[id], f) }

func (l *ledger) tally() sextant.DocumentTally {
	var t sextant.DocumentTally
	for _, f := range l.done {
		switch f {
		case added:
			t.Added++
		case changed:
			t.Changed++
		default:
			t.Unchanged++
		}
	}
	return t
}

// leaveAs records the revision a document is about to be left with. It may be ahead
// of the store: a crash in between makes the document look changed, no worse.
func (l *ledger) leaveAs(id sextant.DocumentID, rev string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revisions[id] = packRevision(rev)
	delete(l.deleted, id)
}

// deletedIDs returns the documents that are meant to be gone, in order.
func (l *ledger) deletedIDs() []sextant.DocumentID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.deleted))
}

// expect compares a document read from the store (nil if it is not there) with how it
// was left.
func (l *ledger) expect(id sextant.DocumentID, doc *sextant.Document) {
	l.mu.Lock()
	defer l.mu.Unlock()
	left, known := l.revisions[id]
	if known && (doc == nil || packRevision(doc.Revision) != left) {
		l.disturbed[id] = true
	}
}

// snapshot returns the revisions of some documents. Those that were disturbed get one
// that no document has.
func (l *ledger) snapshot(ids []sextant.DocumentID) map[sextant.DocumentID]revision {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make(map[sextant.DocumentID]revision, len(ids))
	for _, id := range ids {
		out[id] = l.revisions[id]
		if l.disturbed[id] {
			out[id] = revision{}
		}
	}
	return out
}

// compare finds the documents that are missing or differ from how they were left.
func compare(ctx context.Context, c store.Collection, left map[sextant.DocumentID]revision) (map[sextant.DocumentID]bool, error) {
	var (
		mu    sync.Mutex
		stale = map[sextant.DocumentID]bool{}
		errs  []error
		wait  sync.WaitGroup
		turn  = make(chan struct{}, runtime.GOMAXPROCS(0))
	)
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(left)), 4096) {
		turn <- struct{}{}
		wait.Go(func() {
			defer func() { <-turn }()
			now, err := c.Revisions(ctx, ids)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
				return
			}
			for _, id := range ids {
				if rev, ok := now[id]; !ok || packRevision(rev) != left[id] {
					stale[id] = true
				}
			}
		})
	}
	wait.Wait()
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return stale, nil
}

// mistrust takes in which documents are no longer as they were left. Files that are about
// to be read, given by their digests, are not settled then; of others it stays known what
// they left, so that they stop being settled when their documents are written without them.
func (l *ledger) mistrust(stale map[sextant.DocumentID]bool, reading []string) {
	l.stale = stale
	var again []*settledFile
	for _, digest := range reading {
		if f := l.files[digest]; f != nil && !f.Superseded && f.wentInto(stale) {
			l.partial[digest] = f
			delete(l.files, digest)
			again = append(again, f)
		}
	}
	others := l.documentsAmong(stale)
	for _, f := range again {
		for _, id := range f.documents {
			if stale[id] && !others[id] {
				delete(l.revisions, id)
			}
		}
	}
}

// documentsAmong returns which of some documents settled files went into.
func (l *ledger) documentsAmong(some map[sextant.DocumentID]bool) map[sextant.DocumentID]bool {
	out := map[sextant.DocumentID]bool{}
	for _, f := range l.files {
		if f.Superseded {
			continue
		}
		for _, id := range f.documents {
			if some[id] {
				out[id] = true
			}
		}
	}
	return out
}

// recallMark takes in the revisions that a mark knows of, beside those already known.
func (l *ledger) recallMark(m *mark) {
	for id, rev := range m.revisions {
		if _, known := l.revisions[id]; !known && !m.suspects[id] {
			l.revisions[id] = rev
		}
	}
}

// changedAmong returns documents that were found changed when the run began, and those
// found disturbed since, of a file that went into documents.
func (l *ledger) changedAmong(documents iter.Seq[sextant.DocumentID], atStart map[sextant.DocumentID]bool) map[sextant.DocumentID]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := maps.Clone(atStart)
	for id := range documents {
		if l.disturbed[id] {
			out[id] = true
		}
	}
	return out
}

// settled returns a file that need not be read: it was read before, and all documents
// it went into are as they were left.
func (l *ledger) settled(digest string) (*settledFile, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, ok := l.files[digest]
	if ok && f.Superseded {
		return nil, false
	}
	if ok && f.wentInto(l.disturbed) {
		delete(l.files, digest)
		return nil, false
	}
	return f, ok
}

// settledFiles returns all files that are settled.
func (l *ledger) settledFiles() map[string]*settledFile {
	for digest := range maps.Clone(l.files) {
		l.settled(digest)
	}
	return l.files
}

// rename enters that a document is part of another now: the files that went into the one
// went into the other.
func (l *ledger) rename(from, to sextant.DocumentID, marks map[string]*mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.revisions, from)
	delete(l.done, from)
	for _, files := range []map[string]*settledFile{l.files, l.partial} {
		for _, f := range files {
			if at, ok := slices.BinarySearch(f.documents, from); ok {
				f.documents[at] = to
				slices.Sort(f.documents)
				f.documents = slices.Compact(f.documents)
			}
		}
	}
	for _, m := range marks {
		if _, ok := m.revisions[from]; ok {
			delete(m.revisions, from)
			m.revisions[to] = l.revisions[to]
		}
	}
}

// leave settles a file without reading it and counts its documents as unchanged.
func (l *ledger) leave(f *settledFile) sextant.FileReceipt {
	for _, id := range f.documents {
		l.note(id, unchanged)
	}
	receipt := f.Receipt
	receipt.Records = map[sextant.Outcome]int64{}
	for outcome, n := range f.Receipt.Records {
		switch outcome {
		case sextant.Refused, sextant.Skipped:
			receipt.Records[outcome] += n
		default:
			receipt.Records[sextant.Unchanged] += n
		}
	}
	return receipt
}
