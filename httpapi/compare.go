package httpapi

import (
	"net/http"

	"github.com/sextant-rag/sextant"
)

// comparison is the answer of POST /v1/compare: one question answered both ways, by the same
// model, over the same documents, with the same number of passages.
type comparison struct {
	Agentic     sextant.Answer `json:"agentic"`
	Traditional sextant.Answer `json:"traditional"`
}

// compare answers POST /v1/compare. Its body is that of POST /v1/ask, whose mode is passed
// over; the two are asked one after the other, so that neither slows the other down.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) error {
	var body askRequest
	if err := readStrict(w, r, &body); err != nil {
		return err
	}
	body.Mode = string(sextant.Agentic)
	q, err := body.question()
	if err != nil {
		return err
	}
	var out comparison
	if out.Agentic, err = s.answer(w, r, q, nil); err != nil {
		return err
	}
	q.Mode = sextant.Traditional
	if out.Traditional, err = s.answer(w, r, q, nil); err != nil {
		return err
	}
	return writeJSON(w, out.Agentic.Status.HTTPStatus(), out)
}
