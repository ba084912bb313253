package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/trace"
)

// route is one line of the surface. in and out are zero values of what it reads and
// answers; the OpenAPI document is made from them, so that it cannot drift.
type route struct {
	method, path string
	handle       handler
	summary      string
	in, out      any
	traits       trait
}

type trait uint8

const (
	free    trait = 1 << iota // needs no key
	streams                   // answers with events, too, if the client accepts them
	lenient                   // reads as the blueprint does: unknown fields pass, faults are a 422
	watches                   // answers with the progress of a job as events, too, if the client accepts them
	hidden                    // not for programs: left out of the OpenAPI document
)

func (s *Server) routes() []route {
	page := func(w http.ResponseWriter, r *http.Request) error { s.page.ServeHTTP(w, r); return nil }
	return []route{
		{"POST", "/v1/ask", s.ask, "Answer a question.", askRequest{}, sextant.Answer{}, streams},
		{"POST", "/v1/compare", s.compare, "Answer a question twice: with everything, and by plain retrieval.", askRequest{}, comparison{}, 0},
		{"POST", "/v1/search", s.search, "Find passages, with signals on how far they can be trusted.", searchRequest{}, sextant.SearchResult{}, 0},
		{"POST", "/v1/count", s.count, "Count what satisfies a condition, exactly.", countRequest{}, countResponse{}, 0},
		{"POST", "/v1/list", s.list, "List the documents that satisfy a condition, a page at a time.", listRequest{}, sextant.ListPage{}, 0},
		{"GET", "/v1/collections", s.collections, "List collections and what they hold.", nil, collectionList{}, 0},
		{"GET", "/v1/collections/{name}", s.describe, "Describe a collection: fields, values, questions to begin with.", nil, sextant.Description{}, 0},
		{"GET", "/v1/documents/{id...}", s.document, "Fetch a document; quotes index its text by byte.", nil, sextant.Document{}, 0},
		{"GET", "/v1/traces", s.traces, "List the traces of finished questions, newest first.", nil, traceList{}, 0},
		{"GET", "/v1/traces/{id}", s.getTrace, "Fetch a trace: what happened, stage by stage.", nil, trace.View{}, 0},
		{"POST", "/v1/traces/{id}/replay", s.replayTrace, "Answer the question of a trace again and say what differs.", nil, pipeline.Replay{}, 0},
		{"POST", "/v1/replay", s.replayFile, "The same for a trace that was exported.", trace.View{}, pipeline.Replay{}, 0},
		{"POST", "/v1/traces/{id}/feedback", s.feedback, "Judge an answer.", feedbackRequest{}, feedbackResponse{}, 0},

		{"POST", "/v1/ingest", s.takeIn, "Take documents in: files sent along as multipart/form-data, or what a URL holds. Answers 202 with a job.", ingestRequest{}, ingest.Task{}, 0},
		{"GET", "/v1/jobs", s.jobs, "List jobs, newest first.", nil, taskList{}, 0},
		{"GET", "/v1/jobs/{id}", s.job, "Say how far a job is, once or as events.", nil, ingest.Task{}, watches},
		{"POST", "/v1/jobs/{id}/cancel", s.cancelJob, "End a job; what it has stored stays.", nil, ingest.Task{}, 0},
		{"POST", "/v1/jobs/{id}/resume", s.resumeJob, "Go on with an interrupted or failed job.", nil, ingest.Task{}, 0},

		{"GET", "/v1/runs", s.recorded(s.runs), "List what was taken in and deleted, newest first: of ?collection=, at most ?limit= (20; 0 is all).", nil, runList{}, 0},
		{"GET", "/v1/runs/{id}", s.recorded(s.oneRun), "Fetch the receipt of a run, by its id or the beginning of it.", nil, sextant.Receipt{}, 0},
		{"GET", "/v1/runs/{id}/items", s.recorded(s.runItems), "Say what became of every record of a run, a JSON value a line; ?outcome= picks some.", nil, ingest.ItemReceipt{}, 0},
		{"DELETE", "/v1/runs/{id}", s.delete(unwantedRun), "Delete what a run added and no later one has written to; ?dry_run=true only says what that is.", nil, ingest.Deletions{}, 0},
		{"DELETE", "/v1/documents/{id...}", s.delete(unwantedDocument), "Delete a document, of ?collection= if several have it.", nil, ingest.Deletions{}, 0},
		{"DELETE", "/v1/sources/{id}", s.delete(unwantedSource), "Delete everything that came from a source, of ?collection= or of all.", nil, ingest.Deletions{}, 0},
		{"DELETE", "/v1/collections/{name}", s.delete(unwantedCollection), "Delete a whole collection of one's own, with its schema.", nil, ingest.Deletions{}, 0},

		{"POST", "/api/query", s.query, "Answer a question, in the blueprint's shape.", queryRequest{}, queryResponse{}, lenient},
		{"POST", "/api/query/baseline", s.baseline, "Answer by plain retrieval, for comparison.", baselineRequest{}, baselineResponse{}, lenient},
		{"GET", "/api/query/refinement-modes", refineModes.serve, "List the refinement modes.", nil, modeList{}, 0},
		{"GET", "/api/query/reranking-modes", rerankModes.serve, "List the reranking modes.", nil, modeList{}, 0},
		{"POST", "/retrieve/incidents", s.retrieve("incidents"), "Find passages in incidents.", retrieveRequest{}, retrieveResponse{}, lenient},
		{"POST", "/retrieve/regulations", s.retrieve("regulations"), "Find passages in regulations.", retrieveRequest{}, retrieveResponse{}, lenient},
		{"POST", "/retrieve/news", s.retrieve("news"), "Find passages in news.", retrieveRequest{}, retrieveResponse{}, lenient},

		{"GET", "/health", s.health, "Say how the parts are; always 200.", nil, health{}, free},
		{"GET", "/ready", s.ready, "Say whether questions can be answered now; 503 if not.", nil, readiness{}, free},
		{"GET", "/metrics", s.showMetrics, "", nil, nil, hidden},
		{"GET", "/openapi.json", s.openAPI, "", nil, nil, hidden},

		{"GET", "/{$}", s.root, "", nil, nil, hidden | free},
		{"GET", "/documents/{id...}", page, "", nil, nil, hidden | free},
		{"GET", "/assets/{file...}", page, "", nil, nil, hidden | free},
		{"GET", "/favicon.svg", page, "", nil, nil, hidden | free},
	}
}

// ofBlueprint reports whether a path is one the blueprint's own front end calls.
func ofBlueprint(path string) bool {
	return strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/retrieve/") || path == "/health"
}

// mux registers the routes, answers other methods with 405 and other paths with 404 as
// problems, and says which requests need no key.
func (s *Server) mux() (*http.ServeMux, func(*http.Request) bool, error) {
	table := s.routes()
	if err := s.describeRoutes(table); err != nil {
		return nil, nil, err
	}
	mux, open, methods := http.NewServeMux(), map[string]bool{}, map[string][]string{}
	for _, t := range table {
		pattern := t.method + " " + t.path
		mux.Handle(pattern, s.serve(t.handle))
		open[pattern] = t.traits&free != 0
		methods[t.path] = append(methods[t.path], t.method)
	}
	for path, allowed := range methods {
		mux.Handle(path, s.serve(methodNotAllowed(allowed)))
	}
	mux.Handle("/", s.serve(notFound))
	isFree := func(r *http.Request) bool {
		_, pattern := mux.Handler(r)
		return open[pattern]
	}
	return mux, isFree, nil
}

func methodNotAllowed(allowed []string) handler {
	slices.Sort(allowed)
	list := strings.Join(allowed, ", ")
	return func(http.ResponseWriter, *http.Request) error {
		return withHeader(&sextant.Error{Code: codeMethod, Op: "route", Message: "This address answers to " + list + " only."}, "Allow", list)
	}
}

func notFound(http.ResponseWriter, *http.Request) error {
	return &sextant.Error{Code: sextant.CodeNotFound, Op: "route", Message: "There is nothing at this address.", Hint: "GET /openapi.json lists what there is."}
}

// index is the answer of GET / to programs, in the blueprint's shape.
type index struct {
	Name      string            `json:"name"`
	Version   string            `json:"version"`
	Docs      string            `json:"docs"`
	Endpoints map[string]string `json:"endpoints"`
}

// root answers GET /: the page, or the blueprint's index to a client that wants JSON.
func (s *Server) root(w http.ResponseWriter, r *http.Request) error {
	w.Header().Add("Vary", "Accept")
	accept := r.Header.Get("Accept")
	if !strings.Contains(accept, "application/json") || strings.Contains(accept, "text/html") {
		s.page.ServeHTTP(w, r)
		return nil
	}
	return writeJSON(w, http.StatusOK, index{Name: "Sextant", Version: s.config.Version, Docs: "/openapi.json", Endpoints: map[string]string{
		"query": "/api/query", "baseline": "/api/query/baseline", "retrieve_incidents": "/retrieve/incidents",
		"retrieve_regulations": "/retrieve/regulations", "retrieve_news": "/retrieve/news", "health": "/health", "ask": "/v1/ask",
	}})
}
