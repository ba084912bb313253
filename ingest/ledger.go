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

	mu        sync.Mutex // the merger writes these while the writer reads them
	accounts  *accounts
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
		files: map[string]*settledFile{}, partial: map[string]*settledFile{},
		deleted:  map[sextant.DocumentID]bool{},
		accounts: newAccounts(), disturbed: map[sextant.DocumentID]bool{},
	}
}

// note records what this run did to documents.
func (l *ledger) note(f fate, ids ...sextant.DocumentID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		l.accounts.note(id, f)
	}
}

func (l *ledger) tally() sextant.DocumentTally {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accounts.tally()
}

// number is the number by which the ledger knows a document.
func (l *ledger) number(id sextant.DocumentID) uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accounts.number(id)
}

// ids returns the documents of some numbers.
func (l *ledger) ids(numbers []uint32) []sextant.DocumentID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accounts.documents(numbers)
}

// leaveAs records the revision a document is about to be left with. It may be ahead
// of the store: a crash in between makes the document look changed, no worse.
func (l *ledger) leaveAs(id sextant.DocumentID, rev string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accounts.leave(id, packRevision(rev))
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
	left, known := l.accounts.revision(id)
	if known && (doc == nil || packRevision(doc.Revision) != left) {
		l.disturbed[id] = true
	}
}

// leftWith returns the revision a document was left with. One that was disturbed, or is
// not known, has one that no document has.
func (l *ledger) leftWith(id sextant.DocumentID) revision {
	l.mu.Lock()
	defer l.mu.Unlock()
	rev, _ := l.accounts.revision(id)
	if l.disturbed[id] {
		return revision{}
	}
	return rev
}

// first is the first of each pair.
func first[A, B any](pairs iter.Seq2[A, B]) iter.Seq[A] {
	return func(yield func(A) bool) {
		for a := range pairs {
			if !yield(a) {
				return
			}
		}
	}
}

// compare finds the documents that are missing or differ from how they were left.
func compare(ctx context.Context, c store.Collection, left *accounts) (map[sextant.DocumentID]bool, error) {
	var (
		mu    sync.Mutex
		stale = map[sextant.DocumentID]bool{}
		errs  []error
		wait  sync.WaitGroup
		turn  = make(chan struct{}, runtime.GOMAXPROCS(0))
	)
	for ids := range left.chunks(4096) {
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
				was, _ := left.revision(id)
				if rev, ok := now[id]; !ok || packRevision(rev) != was {
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
				l.accounts.forget(id)
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
	for id, rev := range m.accounts.left() {
		if _, known := l.accounts.revision(id); !known && !m.suspects[id] {
			l.accounts.leave(id, rev)
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
	l.accounts.drop(from)
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
		if _, ok := m.accounts.revision(from); ok {
			rev, _ := l.accounts.revision(to)
			m.accounts.drop(from)
			m.accounts.leave(to, rev)
		}
	}
}

// leave settles a file without reading it and counts its documents as unchanged.
func (l *ledger) leave(f *settledFile) sextant.FileReceipt {
	l.note(unchanged, f.documents...)
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
