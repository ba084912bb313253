package httpapi

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
)

// Blueprint says how a corpus appears on the routes of the Domino blueprint for agentic
// RAG (dominodatalab/domino-blueprints, agentic-rag). Their wire format is fixed and
// speaks of incidents, regulations and news; which collections and fields stand behind
// these words is known to whoever wires the domain in. With the zero Blueprint the
// collections bear the wire's own names and only what needs no field is filled in.
type Blueprint struct {
	// Sources maps the words of the wire to collections.
	Sources map[string]string
	// Constraints maps fields to the keys of trace.constraints: location, date, aircraft,
	// registration, event_id, regulation.
	Constraints map[string]string
	// Headers gives, for each source and each header filter of POST /retrieve/<source>,
	// the condition (EXPR) that a value stands for. An error is told to the client.
	Headers map[string]map[string]func(value string) (string, error)
}

var wireSources = []string{"incidents", "regulations", "news"}

func (b Blueprint) collection(source string) string {
	if c, ok := b.Sources[source]; ok {
		return c
	}
	return source
}

func (b Blueprint) source(collection string) string {
	for source, c := range b.Sources {
		if c == collection {
			return source
		}
	}
	return collection
}

// mode is a choice of the blueprint's requests, as its front end lists it.
type mode struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// modeList is the answer of the routes that list modes.
type modeList struct {
	Modes modes `json:"modes"`
}

type modes []mode

var refineModes = modes{
	{"none", "None", "Passages go to the answer as they were found."},
	{"dedup", "Deduplicate", "Passages that repeat another one are dropped; the text of the others is untouched."},
	{"filter", "Filter", "Each passage is graded and weak ones are dropped; the text of the others is untouched."},
	{"synthesize", "Synthesize", "Passages are compressed into a summary. It loses detail and is here for comparison."},
}

var rerankModes = modes{
	{"none", "None", "Passages keep the order of retrieval."},
	{"cross_encoder", "Cross-encoder", "A model reads question and passage together and orders them anew."},
}

func (m modes) values() []string {
	out := make([]string, len(m))
	for i := range m {
		out[i] = m[i].Value
	}
	return out
}

func (m modes) serve(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, modeList{m})
}

// queryRequest documents the body of POST /api/query; readFields reads it.
type queryRequest struct {
	Question       string   `json:"question"`
	RefinementMode string   `json:"refinement_mode,omitempty" enum:"none,dedup,filter,synthesize" default:"dedup"`
	RerankingMode  string   `json:"reranking_mode,omitempty" enum:"none,cross_encoder" default:"none"`
	TopK           int      `json:"top_k,omitempty" minimum:"1" maximum:"50" default:"10"`
	IncludeTrace   bool     `json:"include_trace,omitempty" default:"true"`
	Sources        []string `json:"sources,omitempty" enum:"incidents,regulations,news"`
}

// query answers POST /api/query.
func (s *Server) query(w http.ResponseWriter, r *http.Request) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	q := sextant.Question{
		Text:   f.required("question"),
		Refine: f.choice("refinement_mode", "dedup", refineModes.values()),
		Rerank: f.choice("reranking_mode", "none", rerankModes.values()),
		TopK:   f.integer("top_k", sextant.DefaultTopK, 1, sextant.MaxTopK),
	}
	withTrace := f.flag("include_trace", true)
	for _, source := range f.words("sources", wireSources) {
		q.Collections = append(q.Collections, s.config.Blueprint.collection(source))
	}
	if q, err = f.question("question", q); err != nil {
		return err
	}
	var seen witness
	a, err := s.blueprintAnswer(w, r, q, &seen)
	if err != nil {
		return err
	}
	response := queryResponse{Answer: structured(s.config.Blueprint, a)}
	if withTrace {
		response.Trace = s.config.Blueprint.trace(q, a, &seen)
	}
	return writeJSON(w, http.StatusOK, response)
}

// question normalizes q; what is wrong with it is a fault of the named field.
func (f *fields) question(field string, q sextant.Question) (sextant.Question, error) {
	if err := f.err(); err != nil {
		return q, err
	}
	q, err := q.Normalize()
	var e *sextant.Error
	if errors.As(err, &e) {
		f.wrong("value_error", "Value error, "+e.Message, nil, field)
		return q, f.err()
	}
	return q, err
}

// blueprintAnswer asks, and makes a source that cannot be reached an error: the
// blueprint's answer has no status that could say so.
func (s *Server) blueprintAnswer(w http.ResponseWriter, r *http.Request, q sextant.Question, seen *witness) (sextant.Answer, error) {
	a, err := s.answer(w, r.WithContext(llm.Watch(r.Context(), seen.called)), q, seen.see)
	if err == nil && a.Status == sextant.SourceUnavailable {
		err = &sextant.Error{Code: sextant.CodeUnavailable, Op: "ask", Message: a.Summary}
	}
	return a, err
}

// baselineRequest documents the body of POST /api/query/baseline.
type baselineRequest struct {
	Question     string `json:"question"`
	TopK         int    `json:"top_k,omitempty" minimum:"1" maximum:"50" default:"10"`
	IncludeTrace bool   `json:"include_trace,omitempty" default:"false"`
}

// baselineResponse is the answer of POST /api/query/baseline.
type baselineResponse struct {
	Answer        string         `json:"answer"`
	DocumentsUsed int            `json:"documents_used"`
	Sources       []string       `json:"sources"`
	Trace         *baselineTrace `json:"trace"`
}

type baselineTrace struct {
	Steps           []step    `json:"steps"`
	TotalDurationMS float64   `json:"total_duration_ms"`
	SourcesUsed     []string  `json:"sources_used"`
	MLflowRunID     *string   `json:"mlflow_run_id"`
	LLMCalls        []llmCall `json:"llm_calls"`
}

// baseline answers POST /api/query/baseline: the same engine in traditional mode.
func (s *Server) baseline(w http.ResponseWriter, r *http.Request) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	q := sextant.Question{Text: f.required("question"), Mode: sextant.Traditional, TopK: f.integer("top_k", sextant.DefaultTopK, 1, sextant.MaxTopK)}
	withTrace := f.flag("include_trace", false)
	if q, err = f.question("question", q); err != nil {
		return err
	}
	var seen witness
	a, err := s.blueprintAnswer(w, r, q, &seen)
	if err != nil {
		return err
	}
	text := []string{a.Summary}
	for _, finding := range a.Findings {
		text = append(text, finding.Text)
	}
	documents, sources := s.config.Blueprint.used(a.Evidence)
	response := baselineResponse{Answer: strings.Join(text, "\n\n"), DocumentsUsed: documents, Sources: sources}
	if withTrace {
		response.Trace = &baselineTrace{Steps: seen.steps(a), TotalDurationMS: a.Usage.DurationMS, SourcesUsed: sources, LLMCalls: seen.calls}
	}
	return writeJSON(w, http.StatusOK, response)
}

// used counts the documents behind passages and names their sources, sorted.
func (b Blueprint) used(passages []sextant.Passage) (documents int, sources []string) {
	ids, from := map[sextant.DocumentID]bool{}, map[string]bool{}
	for _, p := range passages {
		ids[p.DocumentID], from[b.source(p.Source)] = true, true
	}
	return len(ids), slices.Sorted(maps.Keys(from))
}

// retrieveRequest documents the body of POST /retrieve/<source>.
type retrieveRequest struct {
	Query         string            `json:"query"`
	TopK          int               `json:"top_k,omitempty" minimum:"1" maximum:"50" default:"10"`
	HeaderFilters map[string]string `json:"header_filters,omitempty"`
}

// retrieveResponse is the answer of POST /retrieve/<source>.
type retrieveResponse struct {
	Documents  []retrieved `json:"documents"`
	Source     string      `json:"source"`
	Query      string      `json:"query"`
	TotalFound int         `json:"total_found"`
}

type retrieved struct {
	ID       string  `json:"id"` // of the passage; the document's is before the "#"
	Text     string  `json:"text"`
	Source   string  `json:"source"`
	Metadata any     `json:"metadata"`
	Score    float64 `json:"score"`
}

// retrieve answers POST /retrieve/<source>. A header filter that cannot be enforced is
// refused: passing it over would return documents it was meant to keep out.
func (s *Server) retrieve(source string) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, err := readFields(w, r)
		if err != nil {
			return err
		}
		q := sextant.SearchQuery{Collections: []string{s.config.Blueprint.collection(source)}, TopK: f.integer("top_k", sextant.DefaultTopK, 1, sextant.MaxTopK)}
		text, filters := f.required("query"), f.texts("header_filters")
		q.FilterText = s.config.Blueprint.headerFilter(f, source, filters)
		normal, err := f.question("query", sextant.Question{Text: text})
		if err != nil {
			return err
		}
		q.Query = normal.Text
		leave, err := s.queue.enter(r.Context())
		if err != nil {
			return err
		}
		defer leave()
		result, err := s.engine.Search(r.Context(), q)
		if err != nil {
			return err
		}
		response := retrieveResponse{Source: source, Query: text, TotalFound: len(result.Results)}
		for _, p := range result.Results {
			response.Documents = append(response.Documents, retrieved{ID: p.ChunkID, Text: p.Content, Source: source, Metadata: p.Metadata, Score: p.Score})
		}
		return writeJSON(w, http.StatusOK, response)
	}
}

func (b Blueprint) headerFilter(f *fields, source string, filters map[string]string) string {
	var conditions []string
	for _, name := range slices.Sorted(maps.Keys(filters)) {
		condition, ok := b.Headers[source][name]
		if !ok {
			f.wrong("value_error", "Value error, there is no header filter "+name+" for "+source, nil, "header_filters", name)
			continue
		}
		expr, err := condition(filters[name])
		if err != nil {
			message, _ := sextant.PublicMessage(err)
			f.wrong("value_error", "Value error, "+message, nil, "header_filters", name)
			continue
		}
		conditions = append(conditions, "("+expr+")")
	}
	return strings.Join(conditions, " and ")
}
