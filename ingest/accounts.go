package ingest

import (
	"iter"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/internal/intern"
)

// accounts say of documents with which revision each was left, and what this run did to
// it. They are kept by number, since a gigabyte of rows is a million of them: in maps by
// id they took three times as much.
type accounts struct {
	ids       *intern.Strings
	revisions []revision // by number
	marks     []uint8    // by number: a fate, and whether there is a revision
}

const (
	fateBits = 3
	isLeft   = 4
)

func newAccounts() *accounts { return &accounts{ids: intern.New()} }

// number returns a document's number, giving it one if it has none.
func (a *accounts) number(id sextant.DocumentID) uint32 {
	n, isNew := a.ids.Add(intern.Bytes(string(id)))
	if isNew {
		a.revisions = append(a.revisions, revision{})
		a.marks = append(a.marks, 0)
	}
	return n
}

// documents returns the ids of some numbers, as pieces of a single string.
func (a *accounts) documents(numbers []uint32) []sextant.DocumentID {
	var all strings.Builder
	size := 0
	for _, n := range numbers {
		size += len(a.ids.At(n))
	}
	all.Grow(size)
	for _, n := range numbers {
		all.Write(a.ids.At(n))
	}
	text, out := sextant.DocumentID(all.String()), make([]sextant.DocumentID, len(numbers))
	for i, n := range numbers {
		size := len(a.ids.At(n))
		out[i], text = text[:size], text[size:]
	}
	return out
}

func (a *accounts) id(n uint32) sextant.DocumentID { return sextant.DocumentID(a.ids.Str(n)) }

// revision returns how a document was left; false if that is not known.
func (a *accounts) revision(id sextant.DocumentID) (revision, bool) {
	n, ok := a.ids.Find(intern.Bytes(string(id)))
	if !ok || a.marks[n]&isLeft == 0 {
		return revision{}, false
	}
	return a.revisions[n], true
}

func (a *accounts) leave(id sextant.DocumentID, rev revision) {
	n := a.number(id)
	a.revisions[n] = rev
	a.marks[n] |= isLeft
}

// forget drops a document's revision.
func (a *accounts) forget(id sextant.DocumentID) {
	if n, ok := a.ids.Find(intern.Bytes(string(id))); ok {
		a.marks[n] &^= isLeft
	}
}

// drop forgets a document and what was done to it.
func (a *accounts) drop(id sextant.DocumentID) {
	if n, ok := a.ids.Find(intern.Bytes(string(id))); ok {
		a.marks[n] = 0
	}
}

// note records what was done to a document. Within a run, being added counts for more
// than being changed later on.
func (a *accounts) note(id sextant.DocumentID, f fate) {
	n := a.number(id)
	a.marks[n] = a.marks[n]&isLeft | max(a.marks[n]&fateBits, uint8(f))
}

func (a *accounts) tally() sextant.DocumentTally {
	var t sextant.DocumentTally
	for _, m := range a.marks {
		switch fate(m & fateBits) {
		case added:
			t.Added++
		case changed:
			t.Changed++
		case unchanged:
			t.Unchanged++
		}
	}
	return t
}

// chunks goes through the documents whose revision is known, so many at a time.
func (a *accounts) chunks(size int) iter.Seq[[]sextant.DocumentID] {
	return func(yield func([]sextant.DocumentID) bool) {
		var ids []sextant.DocumentID
		for id := range a.left() {
			if ids = append(ids, id); len(ids) == size {
				if !yield(ids) {
					return
				}
				ids = nil
			}
		}
		if len(ids) > 0 {
			yield(ids)
		}
	}
}

// left goes through the documents whose revision is known, in no order.
func (a *accounts) left() iter.Seq2[sextant.DocumentID, revision] {
	return func(yield func(sextant.DocumentID, revision) bool) {
		for n, m := range a.marks {
			if m&isLeft != 0 && !yield(a.id(uint32(n)), a.revisions[n]) {
				return
			}
		}
	}
}
