package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
)

// askRequest is the body of POST /v1/ask.
type askRequest struct {
	Question    string     `json:"question" doc:"The question in plain words." example:"How many fatal Cessna 172 accidents happened in Alaska between 2008 and 2012, by year?"`
	Collections []string   `json:"collections,omitempty" doc:"Only these collections; all that the question could concern otherwise."`
	Filter      string     `json:"filter,omitempty" doc:"A further condition, joined to what the question says." example:"state = AK and event_date >= 2010-01-01"`
	AsOf        string     `json:"as_of,omitempty" format:"date" doc:"The day relative dates are counted from; today otherwise."`
	Mode        string     `json:"mode,omitempty" enum:"agentic,traditional" doc:"traditional is the baseline: one query, top k, no conditions."`
	Rerank      string     `json:"rerank,omitempty" enum:"none,cross_encoder"`
	Refine      string     `json:"refine,omitempty" enum:"none,dedup,filter,synthesize" doc:"How the passages an answer is written from are chosen; dedup otherwise."`
	Threshold   int        `json:"refine_threshold,omitempty" minimum:"1" maximum:"10" doc:"Of filter: the grade from which a passage is kept; 4 otherwise."`
	TopK        *int       `json:"top_k,omitempty" minimum:"1" maximum:"50" doc:"Passages an answer may use; 10 otherwise."`
	Limits      *askLimits `json:"limits,omitempty"`
	Session     string     `json:"session,omitempty" doc:"Groups the traces of one conversation."`
	User        string     `json:"user,omitempty" doc:"Who asks, for the trace."`
	Model       string     `json:"model,omitempty" enum:"none" doc:"none answers without language models; otherwise those that are configured help, if any."`
}

// askLimits bounds what one question may cost. Left out means the engine's default.
type askLimits struct {
	ModelCalls int      `json:"model_calls,omitempty" minimum:"0"`
	Tokens     int      `json:"tokens,omitempty" minimum:"0"`
	Rounds     int      `json:"rounds,omitempty" minimum:"0"`
	WallTime   wallTime `json:"wall_time,omitempty"`
	Cost       float64  `json:"cost,omitempty" minimum:"0" doc:"US dollars, as far as prices are configured."`
}

// wallTime is a span of time on the wire: a number of seconds, as most clients have it
// at hand, or a string with units as Go writes it ("90s", "1m30s").
type wallTime time.Duration

func (t *wallTime) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		text = string(bytes.TrimSpace(data)) + "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return badRequest(fmt.Sprintf("limits.wall_time is %s; it must be more than nothing.", data), `Give seconds (30, 2.5) or a span with units ("90s", "2m").`)
	}
	*t = wallTime(d)
	return nil
}

// question reads and checks a question; what is wrong with it is a bad request.
func (a askRequest) question() (sextant.Question, error) {
	q := sextant.Question{Text: a.Question, Collections: a.Collections, FilterText: a.Filter, Mode: sextant.Mode(a.Mode), Rerank: a.Rerank, Refine: a.Refine, Threshold: a.Threshold, NoModel: a.Model == "none",
		Session: sextant.CleanText(a.Session), User: sextant.CleanText(a.User)}
	for _, c := range []struct {
		field, value string
		allowed      []string
	}{
		{"rerank", a.Rerank, rerankModes.values()},
		{"refine", a.Refine, refineModes.values()},
		{"model", a.Model, []string{"none"}},
	} {
		if c.value != "" && !slices.Contains(c.allowed, c.value) {
			return q, badRequest(fmt.Sprintf("Unknown %s %q.", c.field, c.value), "Use "+strings.Join(c.allowed, ", ")+".")
		}
	}
	var err error
	if q.AsOf, err = day("as_of", a.AsOf); err != nil {
		return q, err
	}
	if q.TopK, err = topK(a.TopK); err != nil {
		return q, err
	}
	if l := a.Limits; l != nil {
		if l.ModelCalls < 0 || l.Tokens < 0 || l.Rounds < 0 || l.Cost < 0 {
			return q, badRequest("A limit cannot be negative.", "Leave it out for the default.")
		}
		q.Limits = sextant.Limits{ModelCalls: l.ModelCalls, Tokens: l.Tokens, Rounds: l.Rounds, WallTime: time.Duration(l.WallTime), Cost: l.Cost}
	}
	return q.Normalize()
}

func day(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return t, badRequest(fmt.Sprintf("%s is %q, which is no date.", field, sextant.CleanText(text)), "Write it as year-month-day: 2012-07-04.")
	}
	return t, nil
}

// topK returns 0, the default, for a number left out; an explicit one must be in range.
func topK(n *int) (int, error) {
	switch {
	case n == nil:
		return 0, nil
	case *n < 1 || *n > sextant.MaxTopK:
		return 0, badRequest(fmt.Sprintf("top_k is %d; it must be between 1 and %d.", *n, sextant.MaxTopK), "")
	}
	return *n, nil
}

// ask answers POST /v1/ask: with the answer, or with everything on the way to it as
// events if the client accepts an event stream.
func (s *Server) ask(w http.ResponseWriter, r *http.Request) error {
	var body askRequest
	if err := readStrict(w, r, &body); err != nil {
		return err
	}
	q, err := body.question()
	if err != nil {
		return err
	}
	if acceptsStream(r) {
		return s.streamAnswer(w, r, q)
	}
	a, err := s.answer(w, r, q, nil)
	if err != nil {
		return err
	}
	return writeJSON(w, a.Status.HTTPStatus(), a)
}

func acceptsStream(r *http.Request) bool {
	return strings.Contains(strings.ToLower(r.Header.Get("Accept")), "text/event-stream")
}

// answer asks and returns what Final holds, showing every event to see on the way. The
// time a question may take is the engine's to limit; only writing the answer down is
// under the server's write timeout.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, q sextant.Question, see func(sextant.Event)) (sextant.Answer, error) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s.liftDeadline(w)
	defer s.restoreDeadline(w)
	happenings, err := s.start(ctx, q)
	if err != nil {
		return sextant.Answer{}, err
	}
	for h := range happenings {
		if h.err != nil {
			return sextant.Answer{}, h.err
		}
		if see != nil {
			see(h.event)
		}
		if final, ok := h.event.(sextant.Final); ok {
			return final.Answer, nil
		}
	}
	return sextant.Answer{}, errNoAnswer
}
