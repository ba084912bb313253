package store

import (
	"context"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Hybrid is what a collection is besides if its store ranks by words and by vectors in
// one read. What stores without it can do is told by package retrieve.
type Hybrid interface {
	// SearchHybrid has the query choose among the candidates of both rankings, and reads
	// those. A vector of another encoder than the collection's is ErrEncoder: the two
	// cannot be compared.
	SearchHybrid(ctx context.Context, q HybridQuery) ([]HybridHit, error)
}

// HybridQuery asks for chunks by their words and by a vector at once, under one filter
// and in one state of the collection.
type HybridQuery struct {
	Text    string
	Vector  []float32 // of unit length; nil is none: words alone
	Encoder string    // fingerprint of what made Vector
	Filter  filter.Filter
	Depth   int // candidates are so many best of either ranking; 0 is 100
	// Choose returns which candidates to read, by their places, in the order wanted. It
	// gets them in order of document id, then chunk index.
	Choose func([]Candidate) []int
}

// DefaultDepth is how far down either ranking candidates are taken from.
const DefaultDepth = 100

// Candidate is a chunk that is among the best by words or by vector. Both scores are
// there for all, also of those that only one ranking brought up: a fusion that has to
// guess one of them is worse than the better ranking alone.
type Candidate struct {
	DocumentID  sextant.DocumentID
	Index       int     // of the chunk in its document
	Lexical     float64 // as SearchLexical scores; 0 without a word in common
	Dense       float64 // cosine
	LexicalRank int     // from 1; 0 below the depth
	DenseRank   int
	Terms       []string // query words it matched
}

// HybridHit is a candidate that was chosen, as read.
type HybridHit struct {
	Hit       Hit // its Score is 0: what counts is what the caller makes of the candidate's
	Candidate Candidate
	Place     int // among the candidates
}

// Approximator is what a collection is besides if a search by vectors may miss some of the
// nearest: who shows the result has to say so.
type Approximator interface {
	// Approximates reports whether it may, under a filter.
	Approximates(ctx context.Context, f filter.Filter) (bool, error)
}
