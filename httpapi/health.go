package httpapi

import (
	"log/slog"
	"net/http"

	"github.com/sextant-rag/sextant"
)

// health is the answer of GET /health, in the blueprint's shape with our component: it
// is healthy, or degraded with the store's status saying why.
type health struct {
	Status     string           `json:"status" enum:"healthy,degraded"`
	Components healthComponents `json:"components"`
	Config     Models           `json:"config"`
	Version    string           `json:"version"`
}

type healthComponents struct {
	Store storeHealth `json:"store"`
}

type storeHealth struct {
	Status      string `json:"status"`
	Collections int    `json:"collections"` // that hold documents
	Disk        int64  `json:"disk_bytes"`
	Memory      int64  `json:"memory_bytes"` // held in RAM to answer from, estimated
}

// health is always 200: whoever wants a status to act on asks /ready.
func (s *Server) health(w http.ResponseWriter, r *http.Request) error {
	h := health{Status: "healthy", Config: s.config.Models, Version: s.config.Version, Components: healthComponents{Store: storeHealth{Status: "healthy"}}}
	held, err := s.held(r)
	for _, c := range held {
		h.Components.Store.Disk += c.Disk
		h.Components.Store.Memory += c.Memory
		if c.Documents > 0 {
			h.Components.Store.Collections++
		}
	}
	if err != nil {
		s.log.LogAttrs(r.Context(), slog.LevelWarn, "not healthy", slog.Any("error", err))
		message, _ := sextant.PublicMessage(err)
		h.Status, h.Components.Store.Status = "degraded", "unhealthy: "+message
	}
	return writeJSON(w, http.StatusOK, h)
}

func (s *Server) held(r *http.Request) ([]sextant.CollectionInfo, error) {
	if err := s.engine.Ready(r.Context()); err != nil {
		return nil, err
	}
	return s.engine.Collections(r.Context())
}

// readiness is the answer of GET /ready when questions can be answered.
type readiness struct {
	Status string `json:"status" enum:"ready"`
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	if s.stopping.Load() {
		return errStopping
	}
	if err := s.engine.Ready(r.Context()); err != nil {
		message, hint := sextant.PublicMessage(err)
		return &sextant.Error{Code: sextant.CodeUnavailable, Op: "ready", Message: message, Hint: hint, Err: err}
	}
	return writeJSON(w, http.StatusOK, readiness{"ready"})
}
