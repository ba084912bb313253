package main

import (
	"context"
	"path/filepath"
	"strconv"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"
	index "github.com/blevesearch/bleve_index_api"
)

// bleveEngine is bleve in a folder, built in one go by its offline builder into as few
// segments as it can, with its English analyzer and its model "bm25".
type bleveEngine struct{ index bleve.Index }

const nameBleve = "bleve"

// bleveText is a document.
type bleveText struct {
	Text string `json:"text"`
}

func bleveMapping() *mapping.IndexMappingImpl {
	text := bleve.NewTextFieldMapping()
	text.Analyzer = en.AnalyzerName
	text.IncludeInAll, text.IncludeTermVectors, text.DocValues = false, false, false // nothing asked here needs them
	document := bleve.NewDocumentStaticMapping()
	document.AddFieldMappingsAt("text", text)
	m := bleve.NewIndexMapping()
	m.DefaultMapping = document
	m.ScoringModel = index.BM25Scoring
	return m
}

func openBleve(ctx context.Context, s *textSet, dir string) (textEngine, error) {
	dir, err := newFolder(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "index")
	if err := buildBleve(ctx, s.chunks, path); err != nil {
		return nil, err
	}
	opened, err := bleve.Open(path)
	if err != nil {
		return nil, err
	}
	return bleveEngine{opened}, nil
}

func buildBleve(ctx context.Context, texts []string, path string) error {
	b, err := bleve.NewBuilder(path, bleveMapping(), nil)
	if err != nil {
		return err
	}
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.Index(strconv.Itoa(i), bleveText{text}); err != nil {
			return err
		}
	}
	return b.Close()
}

func (b bleveEngine) search(ctx context.Context, question string, read bool) ([]int, error) {
	match := bleve.NewMatchQuery(question)
	match.SetField("text")
	request := bleve.NewSearchRequestOptions(match, wanted, 0, false)
	if read {
		request.Fields = []string{"text"}
	}
	found, err := b.index.SearchInContext(ctx, request)
	if err != nil {
		return nil, err
	}
	rows := make([]int, len(found.Hits))
	for i, h := range found.Hits {
		if rows[i], err = strconv.Atoi(h.ID); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (b bleveEngine) close() error { return b.index.Close() }
