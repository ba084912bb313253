package qdrant

import (
	"context"
	"encoding/json"
	"errors"
)

// Errors of a transport, besides those of package store.
var (
	errMissing = errors.New("no such collection on the server")
	errExists  = errors.New("the collection is there already")
)

// transport is what of Qdrant this package uses, over REST or gRPC. Ids are UUIDs, reads
// of counts and facets are exact, writes return when they are applied. Failures wrap
// store.ErrUnavailable, store.ErrUnsupported, store.ErrFull, errMissing or errExists
// where one of those is what happened.
type transport interface {
	ping(ctx context.Context) error
	create(ctx context.Context, collection string, p parameters) error
	drop(ctx context.Context, collection string) error // of a missing one is no error
	exists(ctx context.Context, collection string) (bool, error)
	index(ctx context.Context, collection, field string, kind indexKind) error
	update(ctx context.Context, collection string, ops []operation) error
	count(ctx context.Context, collection string, where *clause) (int64, error)
	scroll(ctx context.Context, collection string, q scrollQuery) (page, error)
	points(ctx context.Context, collection string, ids []string, w want) ([]point, error)
	nearest(ctx context.Context, collection string, q nearestQuery) ([]point, error)
	facet(ctx context.Context, collection string, q facetQuery) ([]facetHit, error)
	aliases(ctx context.Context) (map[string]string, error) // collection by alias
	alias(ctx context.Context, name, collection string, replaces bool) error
	close() error
}

// parameters are what a collection is created with.
type parameters struct {
	Dense       int  // dimension; 0 has no dense vectors
	Words       bool // sparse vectors
	OnDisk      bool // payloads and vectors are not held in RAM
	Shards      int  // 0 leaves it to the server
	Replicas    int
	Consistency int // replicas that must have a write before it is acknowledged
}

// indexKind is the type of a payload index, as Qdrant calls it.
type indexKind string

const (
	indexKeyword indexKind = "keyword"
	indexInteger indexKind = "integer"
	indexFloat   indexKind = "float"
	indexBool    indexKind = "bool"
)

// operation is one step of an update: points stored whole, or removed.
type operation struct {
	Upsert []point
	Delete []string
}

// point is one record of a collection.
type point struct {
	ID      string
	Payload json.RawMessage
	Dense   []float32
	Words   sparse
	Score   float64 // of a search
}

// sparse is a vector by its components that are not zero; indices are unique.
type sparse struct {
	Indices []uint32  `json:"indices"`
	Values  []float32 `json:"values"`
}

// want says what of points is read besides their ids.
type want struct {
	Fields []string // of the payload; nil reads none of it
	All    bool     // the whole payload
	Dense  bool
}

type scrollQuery struct {
	Where  *clause
	Limit  int
	Offset string // id to begin at; "" is the first
	Want   want
}

type page struct {
	Points []point
	Next   string // "" at the end
}

// nearestQuery asks for the points with the largest inner product, by dense vector or,
// if that is nil, by words.
type nearestQuery struct {
	Dense       []float32
	Words       sparse
	Where       *clause
	Limit       int
	Want        want
	Approximate bool // by the graph instead of looking at all
}

type facetQuery struct {
	Key   string
	Where *clause
	Limit int
}

// facetHit is a value and how many points have it: a string, an integer or a bool.
type facetHit struct {
	Value json.RawMessage
	Count int64
}

// Names of the vectors of a point.
const (
	denseVector = "dense"
	wordsVector = "words"
)
