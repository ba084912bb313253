package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/trace"
)

// Traces is what the surface needs of the store of traces. All methods are safe for
// concurrent use; an id that is not kept is trace.ErrNotFound.
type Traces interface {
	List(ctx context.Context, s trace.Search) ([]trace.Listed, error)
	Get(ctx context.Context, id trace.ID) (*trace.Record, error)
	Judge(ctx context.Context, f trace.Feedback) error
	Stats() (trace.Stats, error)
	// Replay answers the question of a trace again and says what differs.
	Replay(ctx context.Context, v trace.View) (pipeline.Replay, error)
}

// traceList is the answer of GET /v1/traces, newest first. The last one's seq as the
// parameter before gives the next page.
type traceList struct {
	Traces []trace.Listed `json:"traces"`
}

var errNoTraces = &sextant.Error{Code: sextant.CodeNotFound, Op: "traces", Message: "No traces are kept here.", Hint: "They are switched off in the configuration (traces: off)."}

func (s *Server) traces(w http.ResponseWriter, r *http.Request) error {
	if s.config.Traces == nil {
		return errNoTraces
	}
	search, err := traceSearch(r.URL.Query())
	if err != nil {
		return err
	}
	list, err := s.config.Traces.List(r.Context(), search)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, traceList{list})
}

// traceSearch reads the parameters. A name that does not exist is refused: a filter that
// is passed over in silence shows the wrong list.
func traceSearch(q url.Values) (s trace.Search, err error) {
	for name, values := range q {
		value := values[0]
		switch name {
		case "status":
			s.Status = value
		case "text":
			s.Text = value
		case "collection":
			s.Collection = value
		case "from":
			s.From, err = moment(value)
		case "to":
			s.To, err = moment(value)
		case "min_cost":
			s.MinCost, err = strconv.ParseFloat(value, 64)
		case "before":
			s.Before, err = strconv.ParseInt(value, 10, 64)
		case "limit":
			s.Limit, err = strconv.Atoi(value)
			if err == nil && (s.Limit < 1 || s.Limit > 1000) {
				err = errors.New("out of range")
			}
		default:
			return s, badRequest(fmt.Sprintf("There is no parameter %q.", sextant.CleanText(name)), "There are status, text, collection, from, to, min_cost, before and limit.")
		}
		if err != nil {
			return s, badRequest(fmt.Sprintf("The parameter %s cannot be %q.", name, sextant.CleanText(value)), "Times are 2012-07-04 or 2012-07-04T12:00:00Z; limit is 1 to 1000.")
		}
	}
	return s, nil
}

func moment(text string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, nil
	}
	return time.Parse(time.RFC3339, text)
}

// getTrace answers GET /v1/traces/{id}.
func (s *Server) getTrace(w http.ResponseWriter, r *http.Request) error {
	record, err := s.record(r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, record.View())
}

func (s *Server) record(r *http.Request) (*trace.Record, error) {
	if s.config.Traces == nil {
		return nil, errNoTraces
	}
	id, err := trace.ParseID(r.PathValue("id"))
	if err != nil {
		return nil, badRequest("That is no trace id.", "It has 32 hexadecimal digits; an answer gives it as trace_id.")
	}
	record, err := s.config.Traces.Get(r.Context(), id)
	if errors.Is(err, trace.ErrNotFound) {
		return nil, errNoTrace
	}
	return record, err
}

var errNoTrace = &sextant.Error{Code: sextant.CodeNotFound, Op: "traces", Message: "There is no such trace.", Hint: "It may be older than traces are kept. GET /v1/traces lists those that are."}

// replayTrace answers POST /v1/traces/{id}/replay.
func (s *Server) replayTrace(w http.ResponseWriter, r *http.Request) error {
	record, err := s.record(r)
	if err != nil {
		return err
	}
	return s.replay(w, r, record.View())
}

// replayFile answers POST /v1/replay: a trace that was exported elsewhere.
func (s *Server) replayFile(w http.ResponseWriter, r *http.Request) error {
	if s.config.Traces == nil {
		return errNoTraces
	}
	var v trace.View
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxTrace))
	if err := d.Decode(&v); err != nil {
		return decodeError(err)
	}
	return s.replay(w, r, v)
}

// maxTrace bounds an exported trace in bytes.
const maxTrace = 64 << 20

func (s *Server) replay(w http.ResponseWriter, r *http.Request, v trace.View) error {
	leave, err := s.queue.enter(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	s.liftDeadline(w)
	out, err := s.config.Traces.Replay(r.Context(), v)
	s.restoreDeadline(w)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, out)
}

// feedbackRequest is the body of POST /v1/traces/{id}/feedback.
type feedbackRequest struct {
	ID        string          `json:"id,omitempty" doc:"Of this judgement, so that sending it twice counts once."`
	Name      string          `json:"name,omitempty" doc:"What is judged; helpful otherwise." example:"helpful"`
	Value     json.RawMessage `json:"value" doc:"A number, a boolean or a string." example:"true"`
	Rationale string          `json:"rationale,omitempty" doc:"Why."`
	User      string          `json:"user,omitempty" doc:"Who judges."`
}

// feedback answers POST /v1/traces/{id}/feedback.
func (s *Server) feedback(w http.ResponseWriter, r *http.Request) error {
	if s.config.Traces == nil {
		return errNoTraces
	}
	var body feedbackRequest
	if err := readStrict(w, r, &body); err != nil {
		return err
	}
	var value any
	if json.Unmarshal(body.Value, &value) != nil || value == nil {
		return badRequest("A judgement needs a value.", `Send {"value": true}, a number or a string.`)
	}
	switch value.(type) {
	case map[string]any, []any:
		return badRequest("The value of a judgement is a number, a boolean or a string.", "")
	}
	if body.Name == "" {
		body.Name = "helpful"
	}
	id := r.PathValue("id")
	if _, err := trace.ParseID(id); err != nil {
		return badRequest("That is no trace id.", "It has 32 hexadecimal digits; an answer gives it as trace_id.")
	}
	f := trace.Feedback{ID: body.ID, TraceID: id, Name: sextant.CleanText(body.Name), Value: body.Value, Rationale: sextant.CleanText(body.Rationale), Source: sextant.CleanText(body.User), Human: true}
	if f.ID == "" {
		f.ID = trace.NewID().String()
	}
	switch err := s.config.Traces.Judge(r.Context(), f); {
	case errors.Is(err, trace.ErrNotFound):
		return errNoTrace
	case err != nil:
		return err
	}
	return writeJSON(w, http.StatusOK, feedbackResponse{f.ID})
}

// feedbackResponse names the judgement that was kept.
type feedbackResponse struct {
	ID string `json:"id"`
}

// caller puts the trace of the caller, from its traceparent header, into the context.
func caller(r *http.Request) context.Context {
	if p, ok := trace.ParseParent(r.Header.Get("traceparent")); ok {
		return trace.WithParent(r.Context(), p)
	}
	return r.Context()
}
