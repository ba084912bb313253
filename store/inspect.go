package store

import (
	"context"

	"github.com/sextant-rag/sextant"
)

// Inspector is what a collection is besides if others can damage what it holds, such as
// with a client of the server it lies on. Both work on a collection that answers nothing
// any more because of that (ErrCorrupt).
type Inspector interface {
	// Inspect reads everything and says what of it is whole, and what is not.
	Inspect(ctx context.Context) (Inspection, error)
	// Repair lets go of documents that are not whole, so that the others can be asked for
	// again and these taken in again. Until then an answer would lack them in silence.
	Repair(ctx context.Context) (Inspection, error)
}

// Inspection is what was found.
type Inspection struct {
	Whole   map[sextant.DocumentID]string // revisions
	Damaged map[sextant.DocumentID]string // what is wrong, in words
	// Lost is how many documents there should be of which nothing is left, not even
	// their names: the receipts of ingestion have these.
	Lost int64
}
