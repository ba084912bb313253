package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/httpapi"
)

// reader is what the verbs that ask need. There are two: local has the engine in this
// process; remote is used while a server holds the data folder.
type reader interface {
	Ask(ctx context.Context, q sextant.Question) (reply[sextant.Answer], error)
	Search(ctx context.Context, q sextant.SearchQuery) (reply[sextant.SearchResult], error)
	Collections(ctx context.Context) (reply[collectionList], error)
	Describe(ctx context.Context, name string) (reply[sextant.Description], error)
	List(ctx context.Context, q sextant.ListQuery) (sextant.ListPage, error)
}

// reply is a value and, if it came over the wire, the JSON it was.
type reply[T any] struct {
	value T
	wire  json.RawMessage
}

// JSON is the reply as the HTTP API writes it, whichever way it came.
func (r reply[T]) JSON() ([]byte, error) {
	if r.wire != nil {
		return r.wire, nil
	}
	return httpapi.JSON(r.value)
}

// collectionList is the reply of GET /v1/collections.
type collectionList struct {
	Collections []sextant.CollectionInfo `json:"collections"`
}

// local answers with an engine in this process.
type local struct{ engine httpapi.Engine }

var errNoAnswer = errors.New("ask: the engine stopped without an answer")

// Ask implements reader.
func (l local) Ask(ctx context.Context, q sextant.Question) (reply[sextant.Answer], error) {
	q, err := q.Normalize()
	if err != nil {
		return reply[sextant.Answer]{}, err
	}
	for event, err := range l.engine.Ask(ctx, q) {
		if err != nil {
			return reply[sextant.Answer]{}, err
		}
		if final, ok := event.(sextant.Final); ok {
			return reply[sextant.Answer]{value: final.Answer}, nil
		}
	}
	return reply[sextant.Answer]{}, errors.Join(errNoAnswer, ctx.Err())
}

// Search implements reader.
func (l local) Search(ctx context.Context, q sextant.SearchQuery) (reply[sextant.SearchResult], error) {
	text, err := sextant.Question{Text: q.Query, TopK: q.TopK}.Normalize()
	if err != nil {
		return reply[sextant.SearchResult]{}, err
	}
	q.Query = text.Text
	result, err := l.engine.Search(ctx, q)
	return reply[sextant.SearchResult]{value: result}, err
}

// Collections implements reader.
func (l local) Collections(ctx context.Context) (reply[collectionList], error) {
	list, err := l.engine.Collections(ctx)
	return reply[collectionList]{value: collectionList{list}}, err
}

// Describe implements reader.
func (l local) Describe(ctx context.Context, name string) (reply[sextant.Description], error) {
	d, err := l.engine.Describe(ctx, name)
	return reply[sextant.Description]{value: d}, err
}
