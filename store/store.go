// Package store is the contract between the engine and whatever keeps its
// documents. One embedded store (store/sqlite) is always there; others are
// configuration. The conformance suite in store/storetest is the law: a store that
// passes it can be used everywhere.
//
// Rules that hold for every store:
//
//   - Documents are replaced whole. Upsert returns when the change is durable and
//     visible to every later call.
//   - Counts, facets and id lists are exact, always. What a store cannot answer
//     exactly at bounded cost is ErrUnsupported, never a smaller or different result.
//   - What a text mentions is decided by Mentioned, over the pieces of TextFields.
//   - Filters are those of package filter, resolved by the store against the
//     collection's schema; one that does not fit is filter.ErrSchema.
//   - A store that cannot be reached is ErrUnavailable. It is never "nothing found".
//   - Order is total: results with equal keys follow document id, then chunk index.
//   - All methods are safe for concurrent use; a read sees one consistent state.
package store

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Errors that callers decide on. Stores wrap them with the operation.
var (
	ErrUnavailable = errors.New("store cannot be reached")
	ErrUnsupported = errors.New("not supported by this store")
	ErrNotFound    = errors.New("no such collection")
	ErrSpec        = errors.New("collection was made with a different specification")
	ErrEncoder     = errors.New("vectors are of another encoder")
	ErrLocked      = errors.New("data folder is in use by another process")
	ErrCorrupt     = errors.New("stored data are damaged")
	ErrFull        = errors.New("no space left for the data")
	ErrIO          = errors.New("storage device failed")
	ErrRecord      = errors.New("record is malformed") // metadata that do not fit are filter.ErrSchema
	ErrCursor      = errors.New("no cursor of this list")
)

// Documents is the unit of counting in which every document counts once. Any other
// unit is the name of a group of the schema: its elements are counted.
const Documents = "documents"

// Store holds collections.
type Store interface {
	// Ensure opens the collection, creating it if it is new. Title, unit, labels and
	// added fields are updated; a changed kind, fold, group, analyzer or encoder of a
	// collection that holds documents is ErrSpec.
	Ensure(ctx context.Context, spec sextant.Collection) (Collection, error)
	// Open opens an existing collection; ErrNotFound if there is none of that name.
	Open(ctx context.Context, name string) (Collection, error)
	// Collections lists what exists, by name.
	Collections(ctx context.Context) ([]sextant.Collection, error)
	// Drop removes a collection and everything in it. A missing one is ErrNotFound.
	Drop(ctx context.Context, name string) error
	// Ping reports whether the store can answer now.
	Ping(ctx context.Context) error
	// Journal keeps receipts and resume marks beside the documents.
	Journal() Journal
	Close() error
}

// Record is a document with its chunks, as it is written. Chunks[i].Index is i, its
// Content is the document's Text[Start:End]. A record that contradicts itself is
// ErrRecord, and nothing of its batch is stored. Of two records of one id in a batch
// the later one counts. Times come back in UTC.
type Record struct {
	Document sextant.Document
	Chunks   []sextant.Chunk
	Vectors  [][]float32 // one per chunk, unit length; nil where the collection has no encoder
}

// Collection is one open collection.
type Collection interface {
	Spec() sextant.Collection
	// Sequence grows with every change; equal numbers mean equal content. It keys
	// whatever is derived from the collection, such as its vocabulary.
	Sequence() uint64
	// Upsert stores records, replacing documents of the same id. A batch is atomic.
	Upsert(ctx context.Context, records []Record) error
	// Delete removes documents by id and says how many there were.
	Delete(ctx context.Context, ids []sextant.DocumentID) (int, error)
	// Revisions returns the revision of each id that exists.
	Revisions(ctx context.Context, ids []sextant.DocumentID) (map[sextant.DocumentID]string, error)
	// Get returns documents in the order of ids; ids that do not exist are left out.
	Get(ctx context.Context, ids []sextant.DocumentID) ([]sextant.Document, error)
	// Chunks returns a document's chunks in order; none if it does not exist.
	Chunks(ctx context.Context, id sextant.DocumentID) ([]sextant.Chunk, error)
	// Count counts documents, or elements of a group (see filter.MatchElement).
	Count(ctx context.Context, f filter.Filter, unit string) (int64, error)
	// Facet counts by the values of a field.
	Facet(ctx context.Context, q FacetQuery) (Facet, error)
	// Sum adds up a numeric field over matching documents, or over matching elements
	// when the field belongs to a group, and finds its least and greatest value. Of a
	// time field there is no Total, but Known, Min and Max.
	Sum(ctx context.Context, f filter.Filter, field string) (Sum, error)
	// List returns ids of matching documents in the given order, a page at a time.
	List(ctx context.Context, q ListQuery) (List, error)
	// Scan yields every matching document by id.
	Scan(ctx context.Context, f filter.Filter) iter.Seq2[sextant.Document, error]
	// SearchLexical ranks chunks of matching documents by BM25, the best of them by how
	// near the words stand to each other as well: as lexical.Index.SearchNear does.
	SearchLexical(ctx context.Context, q LexicalQuery) ([]Hit, error)
	// SearchDense ranks chunks of matching documents by cosine; exact after re-score.
	// A collection without an encoder is ErrUnsupported.
	SearchDense(ctx context.Context, q DenseQuery) ([]Hit, error)
	// Size reports what the collection holds and costs.
	Size(ctx context.Context) (Size, error)
}

// Interval is how times are put into buckets.
type Interval string

// The intervals. Those of the first line are spans, labelled "2010", "2010-Q3",
// "2010-07", "2010-07-04"; the others recur: "1" to "12", "Monday" to "Sunday", "0" to "23".
const (
	Year    Interval = "year"
	Quarter Interval = "quarter"
	Month   Interval = "month"
	Day     Interval = "day"

	MonthOfYear Interval = "month_of_year"
	Weekday     Interval = "weekday"
	Hour        Interval = "hour"
)

// FacetQuery asks for the distribution of a field under a filter.
type FacetQuery struct {
	Field  string
	Filter filter.Filter
	Unit   string         // what is counted; "" is Documents
	By     Interval       // for times: the buckets; "" is each distinct value
	Ranges []filter.Range // for numbers: one bucket each, in this order; nil is each distinct value
	Limit  int            // 0 is all; ranges are all there always
}

// CheckBuckets reports buckets that a facet asks for and a field of this kind does not have:
// filter.ErrSchema.
func (q FacetQuery) CheckBuckets(kind filter.Kind) error {
	if q.By != "" && (!q.By.known() || kind != filter.Time || q.Ranges != nil) {
		return fmt.Errorf("no interval %q of a field of kind %s: %w", q.By, kind, filter.ErrSchema)
	}
	for _, r := range q.Ranges {
		for _, bound := range []filter.Value{r.Lo, r.Hi} {
			if !bound.IsZero() && (bound.Kind() != kind || kind == filter.Keyword || kind == filter.Bool) {
				return fmt.Errorf("no range from %q to %q of a field of kind %s: %w", r.Lo, r.Hi, kind, filter.ErrSchema)
			}
		}
	}
	return nil
}

func (i Interval) known() bool {
	switch i {
	case Year, Quarter, Month, Day, MonthOfYear, Weekday, Hour:
		return true
	}
	return false
}

// Facet is the answer: buckets and how many had no value.
type Facet struct {
	Buckets []Bucket // by falling count, then value; by time or range where those were asked for
	Total   int64    // units under the filter
	Unknown int64    // units under the filter with no value in the field
	// A document counts once in each bucket one of its values falls into, so that
	// the buckets of a list or group field may sum to more than Total. Where the
	// field belongs to a group and the unit is Documents, only elements that are
	// the reason of the match are looked at (filter.MatchElement), and a document
	// is unknown if none of those has a value.
}

// Bucket is one value, interval or range with its count. Empty buckets are left out,
// except of Ranges. Keywords that are equal under the field's fold share a bucket; it
// shows the spelling that most of its units have, the first in byte order of several.
type Bucket struct {
	Value filter.Value // the value; for intervals the label as a keyword; for ranges none
	Count int64
}

// Sum is the total of a numeric field. Of a time field it has no total, but says how
// many values there are and from when to when.
type Sum struct {
	Total float64 // to within the precision of float64
	Known int64   // values added up
	Min   filter.Value
	Max   filter.Value
}

// ListQuery asks for a page of ids.
type ListQuery struct {
	Filter filter.Filter
	By     string // single-valued field of the document to order by (keywords by their bytes), then id; "" is id alone
	Desc   bool   // falling order of By; ids always rise. Documents without a value come last
	After  string // cursor of the page before
	Limit  int    // 0 is 1,000
}

// List is a page of ids.
type List struct {
	IDs   []sextant.DocumentID
	Total int64
	Next  string // cursor; "" at the end
}

// LexicalQuery asks for chunks by their words: those of TextFields.
type LexicalQuery struct {
	Text   string
	Filter filter.Filter
	Limit  int // 0 is 10
}

// DenseQuery asks for chunks by a vector of unit length.
type DenseQuery struct {
	Vector []float32
	Filter filter.Filter
	Limit  int // 0 is 10
}

// Hit is a chunk as found, with its document's title and metadata.
type Hit struct {
	Chunk   sextant.Chunk
	Title   string
	Meta    filter.Meta
	Locator string // of the part the chunk starts in
	Score   float64
	Terms   []string // query words it matched; lexical only
}

// Size is what a collection holds and costs.
type Size struct {
	Documents int64 `json:"documents"`
	Chunks    int64 `json:"chunks"`
	Vectors   int64 `json:"vectors"`
	Disk      int64 `json:"disk_bytes"`
	Memory    int64 `json:"memory_bytes"` // estimate of what is held in RAM for it
	// Of a server: what the collection is called there, and how many records it has.
	StoredAs string `json:"stored_as,omitempty"`
	Points   int64  `json:"points,omitempty"`
}

// Journal keeps what ingestion must remember, durably and in one step with nothing
// lost: receipts of runs, and a mark per source file that lets a run resume.
type Journal interface {
	// PutReceipt stores or replaces a run's receipt.
	PutReceipt(ctx context.Context, r sextant.Receipt) error
	// Receipts returns receipts, newest first, of one collection or of all ("").
	Receipts(ctx context.Context, collection string, limit int) ([]sextant.Receipt, error)
	// PutMark stores a value under a key; an empty value removes it.
	PutMark(ctx context.Context, key, value string) error
	// Mark returns the value of a key, "" if there is none.
	Mark(ctx context.Context, key string) (string, error)
}
