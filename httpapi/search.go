package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// searchRequest is the body of POST /v1/search.
type searchRequest struct {
	Query       string   `json:"query" example:"carburetor ice on approach"`
	Collections []string `json:"collections,omitempty"`
	Filter      string   `json:"filter,omitempty" doc:"A condition every result satisfies." example:"state = AK"`
	TopK        *int     `json:"top_k,omitempty" minimum:"1" maximum:"50" doc:"5 otherwise."`
	AspectFocus string   `json:"aspect_focus,omitempty" doc:"One aspect to look for, joined to the query."`
	Rerank      string   `json:"rerank,omitempty" enum:"none,cross_encoder" doc:"Whether a model reads query and passage together and orders them anew."`
}

// search answers POST /v1/search with passages and what is known about them.
func (s *Server) search(w http.ResponseWriter, r *http.Request) error {
	var body searchRequest
	if err := readStrict(w, r, &body); err != nil {
		return err
	}
	if body.Rerank != "" && !slices.Contains(rerankModes.values(), body.Rerank) {
		return badRequest(fmt.Sprintf("Unknown rerank %q.", body.Rerank), "Use "+strings.Join(rerankModes.values(), ", ")+".")
	}
	q := sextant.SearchQuery{Collections: body.Collections, FilterText: body.Filter, AspectFocus: sextant.CleanText(body.AspectFocus), Rerank: body.Rerank}
	text, err := (sextant.Question{Text: body.Query}).Normalize() // a query is cleaned and bounded as a question is
	if err != nil {
		return err
	}
	q.Query = text.Text
	if q.TopK, err = topK(body.TopK); err != nil {
		return err
	}
	leave, err := s.queue.enter(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	result, err := s.engine.Search(r.Context(), q)
	if err != nil {
		return err
	}
	s.metrics.searched(&result)
	return writeJSON(w, http.StatusOK, result)
}

// documents is the unit in which every document counts once; any other is a group's name.
const documents = "documents"

// countRequest is the body of POST /v1/count.
type countRequest struct {
	Collection string `json:"collection" example:"incidents"`
	Filter     string `json:"filter,omitempty" doc:"Everything is counted without one." example:"state = AK and severity = fatal"`
	Unit       string `json:"unit,omitempty" doc:"documents, or the name of a group of the collection." example:"documents"`
}

// countResponse says the request back, so that a page with several under way knows
// which one came home.
type countResponse struct {
	Collection string `json:"collection"`
	Filter     string `json:"filter"`
	Unit       string `json:"unit"`
	Count      int64  `json:"count"`
}

// count answers POST /v1/count: how much satisfies a condition, exactly.
func (s *Server) count(w http.ResponseWriter, r *http.Request) error {
	var body countRequest
	if err := readStrict(w, r, &body); err != nil {
		return err
	}
	if body.Collection == "" {
		return badRequest("A count needs a collection.", "GET /v1/collections lists them.")
	}
	if body.Unit == "" {
		body.Unit = documents
	}
	leave, err := s.queue.enter(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	n, err := s.engine.Count(r.Context(), body.Collection, body.Filter, body.Unit)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, countResponse{body.Collection, body.Filter, body.Unit, n})
}
