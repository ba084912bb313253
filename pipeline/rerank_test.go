package pipeline_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/rerank"
	"github.com/sextant-rag/sextant/rerank/reranktest"
)

func judging(r rerank.Reranker, note string) func(*pipeline.Config) {
	return func(c *pipeline.Config) {
		c.Rerank = &rerank.Stage{Open: func(context.Context) (rerank.Opened, error) {
			return rerank.Opened{Reranker: r, Mix: rerank.Mix{Weight: 1}, Note: note}, nil
		}}
	}
}

// Reranking is done when asked for, said in the answer, and no end of a question.
func TestRerank(t *testing.T) {
	const query = "reader forgot the open window, book left on the table"
	for name, tt := range map[string]struct {
		config  func(*pipeline.Config)
		asked   string
		model   string
		applied bool
		says    string
	}{
		"not asked for": {judging(reranktest.Fake{}, ""), "none", "", false, ""},
		"asked for":     {judging(reranktest.Fake{}, ""), "cross_encoder", "fake", true, ""},
		"a stand-in":    {judging(reranktest.Fake{}, "It stands in."), "cross_encoder", "fake", true, "It stands in."},
		"fails":         {judging(reranktest.Fake{Err: errors.New("boom")}, ""), "cross_encoder", "fake", false, "order of retrieval"},
		"there is none": {func(*pipeline.Config) {}, "cross_encoder", "", false, "No reranker is set"},
	} {
		e := libraryWith(t, tt.config)
		plain, err := e.Search(t.Context(), sextant.SearchQuery{Query: query, TopK: 3})
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Search(t.Context(), sextant.SearchQuery{Query: query, TopK: 3, Rerank: tt.asked})
		if err != nil {
			t.Fatal(name, err)
		}
		if r.Metadata.RerankerApplied != tt.applied || r.Metadata.RerankerModel != tt.model || !strings.Contains(said(r.Degraded), tt.says) || len(r.Results) != len(plain.Results) {
			t.Errorf("%s: search gave %+v, %d results, degraded %v", name, r.Metadata, len(r.Results), r.Degraded)
		}
		a := ask(t, e, sextant.Question{Text: query, Rerank: tt.asked, TopK: 3})
		if tt.asked == "none" {
			if a.Reranking != nil {
				t.Errorf("%s: %+v", name, a.Reranking)
			}
			continue
		}
		if k := a.Reranking; k == nil || k.Applied != tt.applied || k.Model != tt.model || k.Mode != tt.asked || k.OutputCount > k.InputCount || len(a.Evidence) > k.OutputCount || !strings.Contains(said(a.Degraded), tt.says) {
			t.Errorf("%s: ask gave %+v, %d passages, degraded %v", name, k, len(a.Evidence), a.Degraded)
		}
	}
}

func said(all []sextant.Degradation) (text string) {
	for _, d := range all {
		if d.Stage == "rerank" {
			text += d.Reason
		}
	}
	return text
}

// The reranker's order is the result's, and each passage says so.
func TestRerankDecidesTheOrder(t *testing.T) {
	forwards, backwards := libraryWith(t, judging(reranktest.Fake{}, "")), libraryWith(t, judging(reranktest.Fake{Sign: -1}, ""))
	q := sextant.SearchQuery{Query: "reader forgot the open window, book left on the table", TopK: 3, Rerank: "cross_encoder"}
	a, err := forwards.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	b, err := backwards.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Results) < 2 || len(b.Results) < 2 || a.Results[0].ChunkID == b.Results[0].ChunkID {
		t.Fatalf("%d and %d results, both with the same first", len(a.Results), len(b.Results))
	}
	for _, p := range a.Results {
		if last := p.Reasons[len(p.Reasons)-1]; last.Kind != "rerank" || last.Detail != "fake" {
			t.Errorf("%s: reasons %+v", p.ChunkID, p.Reasons)
		}
	}
}

// libraryWith is the library with an engine of another configuration.
func libraryWith(t *testing.T, change func(*pipeline.Config)) *pipeline.Engine {
	t.Helper()
	_, s := library(t, nil)
	e, _ := tracedEngine(t, s, change)
	return e
}
