package pipeline_test

import (
	"testing"

	"github.com/sextant-rag/sextant"
)

// The cursor of a page leads through all documents, each once; what is no filter, field
// or cursor is the caller's mistake.
func TestListPagesThroughAll(t *testing.T) {
	e, _ := library(t, nil)
	var seen []string
	q := sextant.ListQuery{Collection: "damages", Limit: 2}
	for {
		page, err := e.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range page.Documents {
			seen = append(seen, d.NativeID)
		}
		if q.After = page.Next; page.Next == "" {
			if int64(len(seen)) != page.Total || page.Total < 3 {
				t.Errorf("%v of %d", seen, page.Total)
			}
			break
		}
	}
	for name, q := range map[string]sextant.ListQuery{
		"filter": {Collection: "damages", FilterText: "nowhere = 1"}, "cursor": {Collection: "damages", After: "x"}, "limit": {Collection: "damages", Limit: 5000},
		"field": {Collection: "damages", By: "nothing"}, "collection": {Collection: "none"},
	} {
		if _, err := e.List(t.Context(), q); sextant.ErrorCode(err) != sextant.CodeBadRequest && sextant.ErrorCode(err) != sextant.CodeNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
}
