package httpapi

import (
	"net/http"

	"github.com/sextant-rag/sextant"
)

// listRequest is the body of POST /v1/list. A computed figure's collection, filter and
// next lead to the ids after the thousand it lists.
type listRequest struct {
	Collection string `json:"collection" example:"incidents"`
	Filter     string `json:"filter,omitempty" doc:"Everything is listed without one." example:"state = AK and severity = fatal"`
	By         string `json:"by,omitempty" doc:"Field to order by; the collection's date without one." example:"fatal_count"`
	Desc       bool   `json:"desc,omitempty" doc:"Falling order."`
	After      string `json:"after,omitempty" doc:"Cursor: next of the page before, or of a computed figure."`
	Limit      int    `json:"limit,omitempty" doc:"At most 1000, which is the default." example:"100"`
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	var body listRequest
	if err := readStrict(w, r, &body); err != nil {
		return err
	}
	if body.Collection == "" {
		return badRequest("A list needs a collection.", "GET /v1/collections lists them.")
	}
	leave, err := s.queue.enter(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	page, err := s.engine.List(r.Context(), sextant.ListQuery{Collection: body.Collection, FilterText: body.Filter, By: body.By, Desc: body.Desc, After: body.After, Limit: body.Limit})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, page)
}
