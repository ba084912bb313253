package pipeline

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/trace"
)

// Names of the spans of a question: the blueprint's, which dashboards know, and our own
// for the stages it has not (compute, check). The blueprint's all appear, in whatever
// order the stages run.
const (
	spanQuestion   = "agentic_rag_pipeline"
	spanBaseline   = "baseline_rag_pipeline"
	spanConstraint = "constraint_extraction"
	spanIntent     = "intent_classification"
	spanStrategy   = "strategy_selection"
	spanValidation = "constraint_validation"
	spanCompute    = "compute"
	spanRetrieval  = "retrieval_iteration_%d"
	spanEvaluation = "context_evaluation"
	spanRerank     = "reranking"
	spanRefine     = "context_refinement"
	spanGenerate   = "answer_generation"
	spanCheck      = "check"
)

// request is a question with everything that decides its answer: what a trace needs to
// ask it again.
type request struct {
	Question    string         `json:"question"`
	Collections []string       `json:"collections,omitempty"`
	Filter      string         `json:"filter,omitempty"`
	AsOf        time.Time      `json:"as_of"`
	Mode        sextant.Mode   `json:"mode"`
	Rerank      string         `json:"rerank,omitempty"`
	Refine      string         `json:"refine,omitempty"`
	Threshold   int            `json:"refine_threshold,omitempty"`
	TopK        int            `json:"top_k"`
	Limits      sextant.Limits `json:"limits"`
	NoModel     bool           `json:"no_model,omitempty"`
	Small       string         `json:"small,omitempty"` // models that could be asked
	Large       string         `json:"large,omitempty"`
}

// AskedAgain returns the question that a trace was made for, to be asked with the same
// clock. It fails for a trace that was kept without content.
func AskedAgain(r *trace.Record) (sextant.Question, error) {
	var q request
	if err := json.Unmarshal(r.Summary.Request, &q); err != nil {
		return sextant.Question{}, &sextant.Error{Code: sextant.CodeConflict, Op: "replay", Message: "The trace does not hold its question.", Hint: "It was recorded with content switched off."}
	}
	return sextant.Question{Text: q.Question, Collections: q.Collections, FilterText: q.Filter, AsOf: q.AsOf, Mode: q.Mode, Rerank: q.Rerank, Refine: q.Refine, Threshold: q.Threshold, TopK: q.TopK, Limits: q.Limits, NoModel: q.NoModel}, nil
}

// open begins the question's trace. The returned function closes it, whatever happened;
// a panic is recorded and goes on.
func (a *asking) open() func() {
	a.asOf = a.question.AsOf
	if a.asOf.IsZero() {
		a.asOf = a.engine.now()
	}
	name := spanQuestion
	if a.question.Mode == sextant.Traditional {
		name = spanBaseline
	}
	asked := &request{a.question.Text, a.question.Collections, a.question.FilterText, a.asOf, a.question.Mode, a.question.Rerank, a.question.Refine, a.question.Threshold, a.question.TopK, a.question.Limits, a.question.NoModel, nameOf(a.engine.models.Small), nameOf(a.engine.models.Large)}
	if asked.Filter == "" && a.question.Filter != nil {
		asked.Filter = filter.String(a.question.Filter)
	}
	a.ctx, a.root = a.engine.recorder.Open(a.ctx, name, trace.Chain, asked)
	a.top = a.ctx
	if a.root == nil {
		return func() {}
	}
	return func() {
		p := recover()
		if p != nil {
			a.root.Panicked(p)
			a.ended = "error"
		}
		s := a.traced()
		s.Request, _ = json.Marshal(asked)
		a.root.Close(a.answer, a.failed, s)
		if p != nil {
			panic(p)
		}
	}
}

func nameOf(m *llm.Caller) string {
	if m == nil {
		return ""
	}
	return m.Name()
}

// traceID is the trace's, or one of its own for an engine that records none.
func (a *asking) traceID() string {
	if a.root == nil {
		return trace.NewID().String()
	}
	return a.root.TraceID().String()
}

// ending settles what the trace says of how the question ended, and what its root failed
// with.
func (a *asking) ending(err error) {
	switch {
	case errors.Is(err, errStopped) && a.told:
		a.ended = string(a.answer.Status)
	case errors.Is(err, errStopped):
		a.ended = "stopped"
	case a.answer.Status == "":
		a.ended, a.failed = "error", err
	default:
		a.ended, a.failed = string(a.answer.Status), err
	}
}

// step runs a part of a stage inside a span. outputs is called after work, and only when
// there is a trace.
func (a *asking) step(name string, kind trace.Kind, inputs any, work func() error, outputs func() any) error {
	outer := a.ctx
	ctx, span := trace.Begin(outer, name, kind, inputs)
	if span == nil {
		return work()
	}
	a.ctx = ctx
	defer func() { a.ctx = outer }()
	err := work()
	span.End(outputs(), err)
	return err
}

// note adds a span below the root for something that was decided without work of its own.
func (a *asking) note(name string, kind trace.Kind, inputs, outputs any) {
	_, span := trace.Begin(a.top, name, kind, inputs)
	span.End(outputs, nil)
}

// traced is what the trace is found by and what trackers show beside it: names and
// meanings are the blueprint's.
func (a *asking) traced() trace.Summary {
	s := trace.Summary{Question: a.question.Text, Status: cmp.Or(a.ended, "error"), Intent: a.answer.Intent, Strategy: a.answer.Strategy, Session: a.question.Session, User: a.question.User, Metrics: map[string]float64{}, Params: map[string]string{
		"question": a.question.Text, "reranking_mode": cmp.Or(a.question.Rerank, "none"), "refinement_mode": cmp.Or(a.question.Refine, sextant.RefineDedup), "top_k": fmt.Sprint(a.question.TopK)}}
	for key, value := range map[string]string{"intent": a.answer.Intent, "strategy": a.answer.Strategy, "constraints": a.constraintText()} {
		if value != "" {
			s.Params[key] = value
		}
	}
	if a.state != nil {
		s.Sequences = maps.Clone(a.state.sequences)
	}
	for _, p := range a.answer.Evidence {
		if !slices.Contains(s.Collections, p.Source) {
			s.Collections = append(s.Collections, p.Source)
		}
	}
	for name := range a.account.Parts {
		if !slices.Contains(s.Collections, name) {
			s.Collections = append(s.Collections, name)
		}
	}
	slices.Sort(s.Collections)
	a.measure(&s)
	return s
}

func (a *asking) measure(s *trace.Summary) {
	m := s.Metrics
	m["total_duration_ms"] = milliseconds(time.Since(a.started))
	m["constraint_count"] = float64(len(a.answer.Ledger.Constraints))
	m["constraint_matched_count"] = float64(a.answer.Ledger.Joint)
	m["findings"] = float64(len(a.answer.Findings))
	m["findings_removed"] = float64(len(a.answer.Removed))
	for i, r := range a.rounds {
		m[fmt.Sprintf("retrieval_%d_docs", i+1)] = float64(r.Documents)
		m[fmt.Sprintf("retrieval_%d_duration_ms", i+1)] = r.DurationMS
	}
	if r := a.answer.Refinement; r != nil {
		m["refinement_input_docs"], m["refinement_output_docs"] = float64(r.InputCount), float64(r.OutputCount)
		m["refinement_drop_rate"] = float64(r.InputCount-r.OutputCount) / float64(max(r.InputCount, 1))
	}
	if a.answer.Status != "" && len(a.answer.Findings)+len(a.answer.Removed) > 0 {
		s.Assessments = append(s.Assessments, trace.Assessment{Name: "findings_removed", Value: len(a.answer.Removed), Rationale: removedWhy(a.answer.Removed)})
	}
	if a.answer.Confidence != "" {
		s.Assessments = append(s.Assessments, trace.Assessment{Name: "confidence", Value: a.answer.Confidence})
	}
}

func removedWhy(removed []sextant.Removed) string {
	var why []string
	for _, r := range removed {
		why = append(why, r.Reason)
	}
	return strings.Join(why, "; ")
}

// constraintText is the conditions in one line.
func (a *asking) constraintText() string {
	var out []string
	for _, k := range a.answer.Ledger.Constraints {
		out = append(out, fmt.Sprintf("%s %s %v", k.Field, k.Op, k.Values))
	}
	return strings.Join(out, "; ")
}

// What the spans of the stages show. Each is called when its stage has ended.

func (a *asking) understood() any {
	type condition struct {
		Field string `json:"field"`
		Text  string `json:"text"`
	}
	type reading struct {
		Constraints   []condition             `json:"constraints"`
		Content       string                  `json:"content"`
		Topic         []string                `json:"topic,omitempty"`
		Kind          string                  `json:"figure,omitempty"`
		Unenforceable []sextant.Unenforceable `json:"unenforceable,omitempty"`
	}
	conditions := []condition{}
	for _, k := range a.reading.Constraints {
		conditions = append(conditions, condition{k.Field, k.Text})
	}
	return reading{conditions, a.reading.Content, a.reading.Topic, a.reading.Request.Kind, a.reading.Unenforceable}
}

// notePlan tells of intent and strategy where rules alone decided them, in no time of their
// own.
func (a *asking) notePlan() {
	type intent struct {
		Intent     string `json:"intent"`
		Otherwise  string `json:"otherwise,omitempty"`
		Confidence string `json:"confidence"`
	}
	a.note(spanIntent, trace.LLM, a.question.Text, intent{string(a.plan.Intent), string(a.plan.Otherwise), a.plan.Confidence})
	a.noteStrategy()
}

func (a *asking) noteStrategy() {
	type strategy struct {
		Strategy string         `json:"strategy"`
		Roles    []sextant.Role `json:"roles"`
	}
	a.noted = true
	a.note(spanStrategy, trace.Chain, string(a.plan.Intent), strategy{string(a.plan.Strategy), a.plan.Roles})
}

// noteModes tells of reranking where none was asked for.
func (a *asking) noteModes() {
	type mode struct {
		Mode   string `json:"mode"`
		Input  int    `json:"input_count"`
		Output int    `json:"output_count"`
	}
	n := len(a.answer.Evidence)
	if !a.reranks() {
		a.note(spanRerank, trace.Reranker, nil, mode{"none", n, n})
	}
}

// refineKind is the kind of the span of refinement: a model's only where it writes.
func (a *asking) refineKind() trace.Kind {
	if a.question.Refine == sextant.RefineSynthesize {
		return trace.LLM
	}
	return trace.Tool
}

// validated tells of the conditions and their counts. The whole ledger stands in the
// answer, which the root shows: saying it twice would double what a trace costs.
func (a *asking) validated() any {
	type condition struct {
		Field string `json:"field"`
		Op    string `json:"op"`
		Text  string `json:"text"`
		Alone int64  `json:"alone"`
	}
	l := &a.answer.Ledger
	out := struct {
		Constraints []condition      `json:"constraints"`
		Joint       int64            `json:"joint"`
		By          map[string]int64 `json:"joint_by_collection"`
		Filter      string           `json:"filter,omitempty"`
	}{[]condition{}, l.Joint, l.JointByCollection, l.Filter}
	for _, k := range l.Constraints {
		out.Constraints = append(out.Constraints, condition{k.Field, string(k.Op), k.Text, k.Alone})
	}
	return out
}

// computed tells which figures were made; their rows and ids stand in the answer.
func (a *asking) computed() any {
	type figure struct {
		Kind   string `json:"kind"`
		Title  string `json:"title"`
		Total  int64  `json:"total"`
		Rows   int    `json:"rows"`
		Filter string `json:"filter"`
	}
	out := []figure{}
	for i := range a.answer.Computed {
		c := &a.answer.Computed[i]
		out = append(out, figure{c.Kind, c.Title, c.Total, len(c.Rows), c.Filter})
	}
	return out
}

// found is what a retrieval brought: the passages, and which revisions of their documents
// were read, so that a later difference can name what changed.
type found struct {
	Passages  []passage  `json:"passages"`
	Documents []revision `json:"documents"`
}

// passage is what a viewer of traces draws; metadata stand in the answer.
type passage struct {
	ChunkID    string             `json:"chunk_id"`
	DocumentID sextant.DocumentID `json:"document_id"`
	Source     string             `json:"source"`
	Content    string             `json:"content"`
	Score      float64            `json:"score"`
	Reasons    []sextant.Reason   `json:"reasons,omitempty"`
}

type revision struct {
	ID       sextant.DocumentID `json:"id"`
	Revision string             `json:"revision"`
}

func (a *asking) retrieved() any {
	f := found{Passages: make([]passage, len(a.answer.Evidence)), Documents: make([]revision, len(a.documents))}
	for i := range a.answer.Evidence {
		p := &a.answer.Evidence[i]
		f.Passages[i] = passage{p.ChunkID, p.DocumentID, p.Source, p.Content, p.Score, p.Reasons}
	}
	for i, d := range a.documents {
		f.Documents[i] = revision{d.ID, d.Revision}
	}
	return f
}

func (a *asking) generated() any {
	texts := func(findings []sextant.Finding) []string {
		out := make([]string, len(findings))
		for i, f := range findings {
			out[i] = f.Text
		}
		return out
	}
	return struct {
		Findings    []string `json:"findings"`
		CausalChain []string `json:"causal_chain,omitempty"`
	}{texts(a.answer.Findings), texts(a.answer.CausalChain)}
}

func (a *asking) proven() any {
	return struct {
		Held    int               `json:"findings_held"`
		Removed []sextant.Removed `json:"removed"`
	}{len(a.answer.Findings) + len(a.answer.CausalChain), a.answer.Removed}
}
