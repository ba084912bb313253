package httpapi

import (
	"context"
	"iter"

	"github.com/sextant-rag/sextant"
)

// Engine is what the surface needs of the engine. It is declared here, where it is
// used, so that handlers and page are tested against every way a question can end
// without a corpus behind them; package pipeline fulfils it.
//
// Failures a caller can act on are *sextant.Error. All methods are safe for concurrent
// use and stop early when ctx ends.
type Engine interface {
	// Ask answers a normalized question. Its last event is a sextant.Final, unless an
	// error, which is then the last thing yielded, prevented an answer.
	Ask(ctx context.Context, q sextant.Question) iter.Seq2[sextant.Event, error]
	// Search finds passages without answering.
	Search(ctx context.Context, q sextant.SearchQuery) (sextant.SearchResult, error)
	// Collections lists what is held and what could be, by name.
	Collections(ctx context.Context) ([]sextant.CollectionInfo, error)
	// Describe returns a collection with its fields; CodeNotFound if there is none.
	Describe(ctx context.Context, name string) (sextant.Description, error)
	// Document returns a document by its id. An id without a source ("20010105X00012"),
	// as computed lists give them, is a native id: the one document that bears it is
	// meant. CodeNotFound if there is none.
	Document(ctx context.Context, id sextant.DocumentID) (sextant.Document, error)
	// Ready reports why questions cannot be answered now, nil if they can.
	Ready(ctx context.Context) error
	// Count counts what satisfies the condition EXPR in one collection, in documents or
	// elements of the group unit names. An EXPR that does not fit is CodeBadRequest.
	Count(ctx context.Context, collection, expr, unit string) (int64, error)
	// List returns a page of what satisfies a condition; a cursor that is none of its
	// list is CodeBadRequest.
	List(ctx context.Context, q sextant.ListQuery) (sextant.ListPage, error)
}
