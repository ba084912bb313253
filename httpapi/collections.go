package httpapi

import (
	"net/http"

	"github.com/sextant-rag/sextant"
)

// collectionList is the answer of GET /v1/collections.
type collectionList struct {
	Collections []sextant.CollectionInfo `json:"collections"`
}

func (s *Server) collections(w http.ResponseWriter, r *http.Request) error {
	list, err := s.engine.Collections(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, collectionList{list})
}

func (s *Server) describe(w http.ResponseWriter, r *http.Request) error {
	d, err := s.engine.Describe(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, d)
}

// document answers GET /v1/documents/{id}. Ids may hold slashes; they are the rest of
// the path, percent-encoded where the id has "//" or "..".
func (s *Server) document(w http.ResponseWriter, r *http.Request) error {
	d, err := s.engine.Document(r.Context(), sextant.DocumentID(r.PathValue("id")))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, d)
}
