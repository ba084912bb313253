// Package source says where documents come from. A Source has inputs (files,
// addresses); an Input yields items in order, each with its place in the input and
// either a contribution to a document or the reason why there is none. Whatever reads
// a Source can stop after any item and go on from there later.
//
// A record does not have to be a document: several rows, from several files, can be
// about one event. So an item carries a Contribution, and merging it with what is
// stored is a pure function that gives the same document in whatever order and however
// often contributions arrive. That is what makes ingestion resumable and repeatable.
package source

import (
	"context"
	"iter"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Source is a set of inputs whose documents share an id prefix and a way of reading.
type Source interface {
	// Name is the prefix of the documents' ids and the name in receipts: "ntsb".
	Name() string
	// Version names the way of reading. It changes whenever the same bytes would give
	// other documents, so that nothing is taken for unchanged that is not.
	Version() string
	// Inputs lists what there is to read, in order. Everything that can be known to be
	// unreadable (a missing file, an unknown layout) is an error here, before anything
	// is written.
	Inputs(ctx context.Context) ([]Input, error)
}

// Input is one file or address of a Source. Its methods may be called from several
// goroutines, but only one sequence of Items is read at a time.
type Input interface {
	// Name is how receipts and messages call it, without the folders of the machine.
	Name() string
	// Kind is the detected layout: "ntsb-aviationdata".
	Kind() string
	// Size is the number of bytes to read as stored (compressed, if it is), -1 if unknown.
	Size() int64
	// Digest returns the SHA-256 of those bytes in hex digits. It knows the input again
	// whatever it is called.
	Digest(ctx context.Context) (string, error)
	// Items yields the records after a position (the zero Position is the beginning). An
	// error ends the sequence and is about the input as a whole; what is wrong with one
	// record is an item that says so.
	Items(ctx context.Context, after Position) iter.Seq2[Item, error]
	// Consumed is the number of bytes read of Size by the running sequence.
	Consumed() int64
	// Notes says what was assumed and noticed by the last sequence.
	Notes() Notes
}

// Covering is a Source whose inputs say all there is under their names. What an earlier
// state of such an input said and its present state does not is gone; a run can say so,
// and delete it. Sources whose files each hold a part of the same records are not.
type Covering interface {
	// Covers reports whether the source reads everything that was ever read under an
	// input's name.
	Covers(name string) bool
}

// Notes is what a reader should know about how an input was read.
type Notes struct {
	Encoding string   // "UTF-8", "Windows-1252 (assumed)", or both with counts
	Warnings []string // full sentences
}

// Position is a place between two records of an input.
type Position struct {
	Record int64 `json:"record"` // records before it, refused and skipped ones included
	Line   int64 `json:"line"`   // lines before it
	Offset int64 `json:"offset"` // bytes before it, decompressed
}

// Item is one record: exactly one of Contribution and Outcome is set.
type Item struct {
	At   Position // where it starts
	Next Position // where the record after it starts: what a mark holds
	ID   sextant.DocumentID
	// Was are ids the document may be stored under, from before its proper id was known.
	// What is found there becomes part of the document and is no longer there.
	Was []sextant.DocumentID
	// Size is about how many bytes the record takes in memory; 0 is those between At and
	// Next.
	Size int64
	// Contribution is what the record says about its document.
	Contribution Contribution
	// Besides is what the record says about other documents, where those are stored: the
	// text it follows is no longer in force. It has no outcome of its own.
	Besides []Aside
	// Outcome is sextant.Refused or sextant.Skipped, with the Reason.
	Outcome sextant.Outcome
	Reason  string
}

// Aside is what a record says about a document that is not its own.
type Aside struct {
	ID           sextant.DocumentID
	Contribution Contribution // merged only with a document that exists
}

// Contribution is what one record adds to a document.
type Contribution interface {
	// Merge returns the document once this record is part of it; old is the document as
	// stored, nil if there is none, and is not changed. The result does not depend on
	// the order of merges, and merging again changes nothing. Revision is left to the
	// caller. joined reports whether the record is new to a document that other records
	// made. An error refuses the record.
	Merge(old *sextant.Document) (doc sextant.Document, joined bool, err error)
}

// Absorber is a Contribution to a document that may be stored under other ids as well.
type Absorber interface {
	Contribution
	// Absorb returns the document with all that was stored under another id; doc is as
	// stored, nil if there is none. Neither is changed.
	Absorb(doc, was *sextant.Document) (sextant.Document, error)
}

// Held is what a source may look up in the collection it fills. What earlier inputs of
// the run brought is there.
type Held interface {
	// Find returns ids of matching documents, 100 at most, by id.
	Find(ctx context.Context, f filter.Filter) ([]sextant.DocumentID, error)
}

// Recaller is a Source whose records do not always name their document, so that it has
// to look up which of those there are is meant. Recall is called before any Items.
type Recaller interface {
	Source
	Recall(held Held)
}

// Refuse returns the item of a record that cannot be read.
func Refuse(at, next Position, reason string) Item {
	return Item{At: at, Next: next, Outcome: sextant.Refused, Reason: reason}
}

// Skip returns the item of a record that holds nothing to keep.
func Skip(at, next Position, reason string) Item {
	return Item{At: at, Next: next, Outcome: sextant.Skipped, Reason: reason}
}

// ReadEach yields the item of each record of a file. What cannot be read, or an item that
// cannot be made, ends it.
func ReadEach[R any](records iter.Seq2[R, error], item func(R) (Item, error), yield func(Item, error) bool) {
	for record, err := range records {
		var made Item
		if err == nil {
			made, err = item(record)
		}
		if err != nil {
			yield(Item{}, err)
			return
		}
		if !yield(made, nil) {
			return
		}
	}
}
