package httpapi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
)

// queryTrace is the trace of POST /api/query. Its keys and their order are the
// blueprint's; what this engine does not have stands there as null or empty.
type queryTrace struct {
	MLflowTraceID        *string               `json:"mlflow_trace_id"`
	MLflowRunID          *string               `json:"mlflow_run_id"`
	Intent               *string               `json:"intent"`
	IntentConfidence     *string               `json:"intent_confidence"`
	Strategy             *string               `json:"strategy"`
	SourcesUsed          []string              `json:"sources_used"`
	Constraints          *traceConstraints     `json:"constraints"`
	ConstraintValidation *constraintValidation `json:"constraint_validation"`
	Retrievals           []retrieval           `json:"retrievals"`
	Reranking            *rerankingTrace       `json:"reranking"`
	Refinement           *refinementTrace      `json:"refinement"`
	Generation           *generation           `json:"generation"`
	SufficiencyChecks    []sufficiency         `json:"sufficiency_checks"`
	TotalDurationMS      float64               `json:"total_duration_ms"`
	Steps                []step                `json:"steps"`
	LLMCalls             []llmCall             `json:"llm_calls"`
}

type traceConstraints struct {
	Location     *string `json:"location"`
	Date         *string `json:"date"`
	Aircraft     *string `json:"aircraft"`
	Registration *string `json:"registration"`
	EventID      *string `json:"event_id"`
	Regulation   *string `json:"regulation"`
}

type constraintValidation struct {
	HasConstraints bool     `json:"has_constraints"`
	IsValid        bool     `json:"is_valid"`
	Unmatched      []string `json:"unmatched"`
	MatchedCount   int64    `json:"matched_count"`
}

type retrieval struct {
	Iteration          int      `json:"iteration"`
	Strategy           string   `json:"strategy"`
	Sources            []string `json:"sources"`
	DocumentsRetrieved int      `json:"documents_retrieved"`
	DurationMS         float64  `json:"duration_ms"`
}

type rerankingTrace struct {
	Mode        string  `json:"mode"`
	Model       *string `json:"model"`
	InputCount  int     `json:"input_count"`
	OutputCount int     `json:"output_count"`
	DurationMS  float64 `json:"duration_ms"`
}

type refinementTrace struct {
	Mode        string                   `json:"mode"`
	InputCount  int                      `json:"input_count"`
	OutputCount int                      `json:"output_count"`
	Dropped     []sextant.DroppedPassage `json:"dropped"`
	DurationMS  float64                  `json:"duration_ms"`
}

type generation struct {
	DurationMS    float64 `json:"duration_ms"`
	SummaryLength int     `json:"summary_length"`
	FindingsCount int     `json:"findings_count"`
	DocumentsUsed int     `json:"documents_used"`
}

type sufficiency struct {
	Iteration    int      `json:"iteration"`
	IsSufficient bool     `json:"is_sufficient"`
	Missing      []string `json:"missing"`
}

type step struct {
	Name       string            `json:"name"`
	Type       string            `json:"type" enum:"tool,llm,chain,retriever,model"`
	DurationMS float64           `json:"duration_ms"`
	Status     string            `json:"status" enum:"success,warning,error"`
	Details    map[string]string `json:"details"`
}

// llmCall is one exchange with a model, as it was made.
type llmCall struct {
	Step       string   `json:"step"`
	Model      string   `json:"model"`
	Prompt     string   `json:"prompt"`
	Response   string   `json:"response"`
	DurationMS *float64 `json:"duration_ms"`
}

// witness keeps of a question's events what the blueprint's trace tells.
type witness struct {
	stages   []sextant.StageDone
	passages []sextant.Passage

	mu    sync.Mutex
	calls []llmCall
}

// called keeps one call of a model.
func (w *witness) called(a llm.Attempt) {
	took := float64(a.Took.Microseconds()) / 1000
	c := llmCall{Step: a.Request.Purpose, Model: a.Model, Response: a.Response.Text, DurationMS: &took}
	for _, m := range a.Request.Messages {
		c.Prompt = strings.TrimSpace(c.Prompt + "\n\n" + m.Text)
	}
	if a.Err != nil {
		c.Response = "failed: " + callFailure(a.Err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
}

// callFailure names what kind of failure it was; what the provider said is for the log.
func callFailure(err error) string {
	var known *llm.Error
	if errors.As(err, &known) {
		return string(known.Kind)
	}
	return "cancelled"
}

func (w *witness) see(e sextant.Event) {
	switch e := e.(type) {
	case sextant.StageDone:
		w.stages = append(w.stages, e)
	case sextant.PassagesFound:
		w.passages = append(w.passages, e.Passages...)
	}
}

// blueprintSteps names our stages in the blueprint's words.
var blueprintSteps = map[string]struct{ name, kind string }{
	"understand": {"Constraint Extraction", "tool"},
	"ledger":     {"Constraint Validation", "tool"},
	"plan":       {"Strategy Selection", "chain"},
	"compute":    {"Computation", "tool"},
	"retrieve":   {"Retrieval", "retriever"},
	"rerank":     {"Reranking", "tool"},
	"refine":     {"Context Refinement", "tool"},
	"assess":     {"Context Evaluation", "tool"},
	"generate":   {"Answer Generation", "tool"},
	"check":      {"Answer Check", "tool"},
}

func (w *witness) steps(a sextant.Answer) []step {
	var out []step
	round := 0
	for _, s := range w.stages {
		known, ok := blueprintSteps[s.Stage]
		st := step{Name: cmp.Or(known.name, s.Stage), Type: "tool", DurationMS: s.DurationMS, Status: "success", Details: map[string]string{}}
		if ok {
			st.Type = known.kind
		}
		if s.Stage == "retrieve" {
			round++
			st.Name = fmt.Sprintf("Retrieval (iteration %d)", round)
		}
		if s.Stage == "generate" && a.Usage.ModelCalls > 0 {
			st.Type = "llm"
		}
		if s.Note != "" {
			st.Details["note"] = s.Note
		}
		for _, d := range a.Degraded {
			if d.Stage == s.Stage {
				st.Status, st.Details["degraded"] = "warning", d.Reason
			}
		}
		if s.Stage == "ledger" {
			ledgerStep(&st, a)
		}
		out = append(out, st)
	}
	return out
}

// ledgerStep shows every condition that was enforced: trace.constraints has room for
// six kinds only.
func ledgerStep(st *step, a sextant.Answer) {
	st.Details["filter"], st.Details["matched"] = a.Ledger.Filter, fmt.Sprint(a.Ledger.Joint)
	if a.Status == sextant.NoData {
		st.Status = "warning"
	}
}

func (w *witness) took(stage string) float64 {
	var ms float64
	for _, s := range w.stages {
		if s.Stage == stage {
			ms += s.DurationMS
		}
	}
	return ms
}

var (
	wireIntents    = []string{"causal", "compliance", "factual", "comparative", "regulatory", "multi_source"}
	wireStrategies = []string{"direct", "sequential", "parallel", "iterative"}
)

// oneOf returns the word if the wire's enumeration has it: clients written against the
// reference reject others.
func oneOf(word string, allowed []string) *string {
	if !slices.Contains(allowed, word) {
		return nil
	}
	return &word
}

// reranked tells of what judged the passages anew; without, all of them stay as they are.
func reranked(q sextant.Question, a sextant.Answer, passages int) *rerankingTrace {
	k := a.Reranking
	if k == nil {
		return &rerankingTrace{Mode: q.Rerank, InputCount: passages, OutputCount: passages}
	}
	out := &rerankingTrace{Mode: k.Mode, InputCount: k.InputCount, OutputCount: k.OutputCount, DurationMS: k.DurationMS}
	if k.Model != "" {
		out.Model = &k.Model
	}
	return out
}

func (b Blueprint) trace(q sextant.Question, a sextant.Answer, seen *witness) *queryTrace {
	_, sources := b.used(seen.passages)
	used, _ := b.used(a.Evidence)
	t := &queryTrace{
		Intent:      oneOf(a.Intent, wireIntents),
		Strategy:    oneOf(a.Strategy, wireStrategies),
		SourcesUsed: sources,
		Reranking:   reranked(q, a, len(seen.passages)),
		Refinement:  refined(q, a, len(seen.passages)),
		Generation: &generation{DurationMS: seen.took("generate"), SummaryLength: utf8.RuneCountInString(a.Summary),
			FindingsCount: len(a.Findings), DocumentsUsed: used},
		TotalDurationMS: a.Usage.DurationMS,
		Steps:           seen.steps(a),
	}
	if a.TraceID != "" {
		t.MLflowTraceID = &a.TraceID // traces exported to MLflow keep our id
	}
	for _, r := range a.Rounds {
		t.Retrievals = append(t.Retrievals, retrieval{Iteration: r.Iteration, Strategy: r.Strategy, Sources: b.sources(r.Sources), DocumentsRetrieved: r.Documents, DurationMS: r.DurationMS})
		if r.JudgedBy != "" {
			t.SufficiencyChecks = append(t.SufficiencyChecks, sufficiency{Iteration: r.Iteration, IsSufficient: r.Sufficient, Missing: r.Missing})
		}
	}
	t.LLMCalls = seen.calls
	t.Constraints, t.ConstraintValidation = b.constraints(a.Ledger)
	return t
}

// refined tells of the choice among the passages; where nothing was retrieved there was none.
func refined(q sextant.Question, a sextant.Answer, passages int) *refinementTrace {
	r := a.Refinement
	if r == nil {
		return &refinementTrace{Mode: q.Refine, InputCount: passages, OutputCount: passages}
	}
	return &refinementTrace{Mode: r.Mode, InputCount: r.InputCount, OutputCount: r.OutputCount, Dropped: r.Dropped, DurationMS: r.DurationMS}
}

// sources writes collections in the words of the wire.
func (b Blueprint) sources(collections []string) []string {
	out := make([]string, len(collections))
	for i, c := range collections {
		out[i] = b.source(c)
	}
	return out
}

// constraints sorts the ledger's conditions into the wire's six keys, each with the
// question's own words, and says which of them nothing satisfies.
func (b Blueprint) constraints(l sextant.Ledger) (*traceConstraints, *constraintValidation) {
	v := &constraintValidation{HasConstraints: len(l.Constraints) > 0, IsValid: len(l.Constraints) == 0 || l.Joint > 0, MatchedCount: l.Joint}
	if !v.HasConstraints {
		return nil, v
	}
	words := map[string][]string{}
	someAlone := slices.ContainsFunc(l.Constraints, func(c sextant.Constraint) bool { return c.Alone == 0 })
	for _, c := range l.Constraints {
		key, text := b.Constraints[c.Field], constraintText(c)
		if key != "" && !slices.Contains(words[key], text) {
			words[key] = append(words[key], text)
		}
		if !v.IsValid && (c.Alone == 0 || !someAlone) {
			v.Unmatched = append(v.Unmatched, cmp.Or(key, c.Field)+": "+text)
		}
	}
	joined := func(key string) *string {
		if len(words[key]) == 0 {
			return nil
		}
		text := strings.Join(words[key], ", ")
		return &text
	}
	return &traceConstraints{Location: joined("location"), Date: joined("date"), Aircraft: joined("aircraft"),
		Registration: joined("registration"), EventID: joined("event_id"), Regulation: joined("regulation")}, v
}

func constraintText(c sextant.Constraint) string {
	if c.Text != "" {
		return c.Text
	}
	words := make([]string, len(c.Values))
	for i, v := range c.Values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ", ")
}
