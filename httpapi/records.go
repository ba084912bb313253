package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
)

// runList is the answer of GET /v1/runs.
type runList struct {
	Runs []sextant.Receipt `json:"runs"`
}

var errNoRecords = &sextant.Error{Code: sextant.CodeNotFound, Op: "runs", Message: "This server keeps no account of what was taken in."}

// recorded is a handler that needs the accounts.
func (s *Server) recorded(handle func(w http.ResponseWriter, r *http.Request, records *ingest.Records) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if s.config.Records == nil {
			return errNoRecords
		}
		return handle(w, r, s.config.Records)
	}
}

// runs answers with receipts, newest first.
func (*Server) runs(w http.ResponseWriter, r *http.Request, records *ingest.Records) error {
	limit := 20
	if text := r.URL.Query().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return badRequest("limit must be a number of runs; 0 is all.", "")
		}
		limit = n
	}
	list, err := records.Runs(r.Context(), r.URL.Query().Get("collection"), limit)
	if err != nil {
		return err
	}
	if list == nil {
		list = []sextant.Receipt{}
	}
	return writeJSON(w, http.StatusOK, runList{list})
}

func (*Server) oneRun(w http.ResponseWriter, r *http.Request, records *ingest.Records) error {
	receipt, err := records.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, receipt)
}

// outcomes are those items can be asked for by.
var outcomes = []sextant.Outcome{"", sextant.Stored, sextant.Merged, sextant.Unchanged, sextant.Skipped, sextant.Refused}

// runItems answers with what became of every record of a run, a JSON value a line: there may
// be millions.
func (s *Server) runItems(w http.ResponseWriter, r *http.Request, records *ingest.Records) error {
	only := sextant.Outcome(r.URL.Query().Get("outcome"))
	if !slices.Contains(outcomes, only) {
		return badRequest("There is no such outcome.", "Use stored, merged, unchanged, skipped or refused.")
	}
	receipt, err := records.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	s.liftDeadline(w)
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines := json.NewEncoder(w)
	for item, err := range records.Items(r.Context(), receipt) {
		if err != nil { // the answer has begun: it ends short, and that can be seen
			s.logFailure(r, err)
			panic(http.ErrAbortHandler)
		}
		if only == "" || item.Outcome == only {
			if lines.Encode(item) != nil {
				return nil // nobody reads any more
			}
		}
	}
	return nil
}

// delete answers DELETE of documents, sources, runs and collections; name says what the
// address names.
func (s *Server) delete(name func(u *ingest.Unwanted, id string)) handler {
	return s.recorded(func(w http.ResponseWriter, r *http.Request, records *ingest.Records) error {
		q := r.URL.Query()
		u := ingest.Unwanted{Collection: q.Get("collection")}
		if text := q.Get("dry_run"); text != "" {
			dry, err := strconv.ParseBool(text)
			if err != nil {
				return badRequest("dry_run must be true or false.", "")
			}
			u.DryRun = dry
		}
		name(&u, cmp.Or(r.PathValue("id"), r.PathValue("name")))
		// Once begun it is finished: half of a deletion would have to be started again.
		out, err := records.Delete(context.WithoutCancel(r.Context()), u)
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, out)
	})
}

func unwantedDocument(u *ingest.Unwanted, id string) {
	u.Documents = []sextant.DocumentID{sextant.DocumentID(id)}
}
func unwantedSource(u *ingest.Unwanted, id string)     { u.Source = id }
func unwantedRun(u *ingest.Unwanted, id string)        { u.Run = id }
func unwantedCollection(u *ingest.Unwanted, id string) { u.Whole = id }
