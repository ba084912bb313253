package main

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"

	"github.com/philippgille/chromem-go"
)

// chromemEngine is chromem-go in memory; it compares with every document, on all cores.
type chromemEngine struct{ collection *chromem.Collection }

func openChromem(ctx context.Context, s *vectorSet, _ string) (vectorEngine, error) {
	// Never asked, as all vectors are given; without one it would ask a service.
	none := func(context.Context, string) ([]float32, error) { return nil, errors.New("vectors are given") }
	collection, err := chromem.NewDB().CreateCollection("bench", nil, none)
	if err != nil {
		return nil, err
	}
	documents := make([]chromem.Document, len(s.rows))
	for i, v := range s.rows {
		documents[i] = chromem.Document{ID: strconv.Itoa(i), Embedding: slices.Clone(v), // it keeps what it is given
			Metadata: map[string]string{"category": strconv.Itoa(s.category[i])}}
	}
	return chromemEngine{collection}, collection.AddDocuments(ctx, documents, runtime.GOMAXPROCS(0))
}

func (c chromemEngine) search(ctx context.Context, v []float32, all bool) ([]int, error) {
	var where map[string]string
	if !all {
		where = map[string]string{"category": strconv.Itoa(askedFor)}
	}
	found, err := c.collection.QueryEmbedding(ctx, v, wanted, where, nil)
	if err != nil {
		return nil, err
	}
	rows := make([]int, len(found))
	for i, f := range found {
		if rows[i], err = strconv.Atoi(f.ID); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (c chromemEngine) close() error { return nil }
