package pipeline

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/generate"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/plan"
	"github.com/sextant-rag/sextant/trace"
)

// Ask answers a question. Events are yielded from the caller's own goroutine as things
// happen, the last one being Final; breaking out of the loop cancels the work. An error
// is the last thing yielded and means that there is no answer: a question that could
// not be read, or work that was cancelled. A store that cannot be read is an answer
// with status source_unavailable.
func (e *Engine) Ask(ctx context.Context, q sextant.Question) iter.Seq2[sextant.Event, error] {
	return func(yield func(sextant.Event, error) bool) {
		bounded, cancel := context.WithCancel(ctx)
		if q.Limits.WallTime > 0 {
			bounded, cancel = context.WithTimeout(ctx, q.Limits.WallTime)
		}
		defer cancel()
		a := &asking{engine: e, question: q, yield: yield, started: time.Now()}
		a.ctx = a.budgeted(bounded)
		defer a.open()()
		err := a.run()
		defer func() { a.ending(err) }()
		switch {
		case err == nil, errors.Is(err, errStopped):
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			a.exhausted()
		case sextant.ErrorCode(err) == sextant.CodeUnavailable && err != nil:
			a.unavailable(err)
		default:
			yield(nil, err)
		}
	}
}

// errStopped ends the work when the caller stopped listening.
var errStopped = errors.New("the caller stopped listening")

// asking is one question while it is answered.
type asking struct {
	engine   *Engine
	ctx      context.Context
	question sextant.Question
	yield    func(sextant.Event, error) bool
	started  time.Time

	state       *state
	subject     *subject
	asOf        time.Time
	reading     constrain.Reading
	plan        plan.Plan
	account     constrain.Account
	documents   []sextant.Document   // those findings may quote, in order of rank
	coverage    float64              // how much of the topic the findings speak of
	sufficiency generate.Sufficiency // how far what was found can answer
	best        string               // the quoted sentence that says most of what is asked
	support     float64              // how likely the passages are to decide the question, 0 to 1
	checked     bool                 // the findings have passed the check
	rounds      []sextant.Round      // of retrieval
	answer      sextant.Answer

	advice    plan.Advice         // of the small model
	refused   []constrain.Refused // conditions it proposed that do not hold
	next      []string            // queries of the next round
	asked     []string            // queries made so far
	shortened map[int]string      // passages as synthesize left them, by place
	writing   generate.Brief      // what the large model wrote from
	written   *generate.Written   // what it wrote; nil: the sentences are quoted
	reserve   reserve
	left      []string    // kinds of parts that were left out as the question asks
	untold    int         // statements of a timeline that its bound left out
	stemmed   stemmed     // stems found so far
	said      string      // the model's summary, as far as the findings bear it
	unchecked bool        // said is the baseline's
	budget    *llm.Budget // for models
	spent     bool        // it was reached
	noted     bool        // the trace tells of intent and strategy
	noOpinion error       // why the check had to do without a second opinion

	root   *trace.Root     // nil when nothing is recorded
	top    context.Context // of the trace's root
	told   bool            // the answer was yielded: who stops listening then has it
	ended  string          // how, for the trace
	failed error           // what the trace's root failed with
}

// run takes the question through its stages. Each may end it early by setting the
// status.
func (a *asking) run() (err error) {
	if a.question, err = a.question.Normalize(); err != nil {
		return err
	}
	a.begin()
	if err := a.through(a.opening()); err != nil {
		return err
	}
	if a.answer.Status == "" {
		if err := a.look(); err != nil {
			return err
		}
		a.noteModes()
		if err := a.through(a.closing()); err != nil {
			return err
		}
	}
	return a.finish()
}

// opening is what comes before anything is retrieved: what is asked, and what can be
// counted. A model is asked only once the conditions are known to leave something.
func (a *asking) opening() []stage {
	out := []stage{
		{"understand", spanConstraint, trace.Tool, a.understand, a.understood},
		{"ledger", spanValidation, trace.Tool, a.keepLedger, a.validated},
	}
	if a.small() != nil {
		out = append(out, stage{"plan", spanIntent, trace.LLM, a.consult, a.consulted})
	}
	return append(out, stage{"compute", spanCompute, trace.Tool, a.compute, a.computed})
}

// closing turns what was retrieved into an answer that holds.
func (a *asking) closing() []stage {
	if a.question.Mode == sextant.Traditional {
		return []stage{
			{"generate", spanGenerate, trace.LLM, a.baseline, a.generated},
			{"check", spanCheck, trace.Tool, a.check, a.proven},
		}
	}
	var out []stage
	if a.reranks() {
		out = append(out, stage{"rerank", spanRerank, trace.Reranker, a.rerank, a.reranked})
	}
	return append(out,
		stage{"refine", spanRefine, a.refineKind(), a.refine, a.refined},
		stage{"generate", spanGenerate, trace.LLM, a.generate, a.generated},
		stage{"check", spanCheck, trace.Tool, a.check, a.proven})
}

// through runs stages in their order. Each may end the question early by setting the status.
func (a *asking) through(stages []stage) error {
	for _, s := range stages {
		if err := a.stage(s); err != nil {
			return err
		}
		if a.answer.Status != "" {
			return nil
		}
	}
	return nil
}

// stage is one step of the way to an answer, and how the trace tells of it.
type stage struct {
	name string
	span string
	kind trace.Kind
	work func() (note string, err error)
	tell func() any // what the trace shows that came of it
}

// stage runs one stage between its two events.
func (a *asking) stage(s stage) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if !a.yield(sextant.StageStarted{Stage: s.name}, nil) {
		return errStopped
	}
	start := time.Now()
	var note string
	err := a.step(s.span, s.kind, a.question.Text, func() (err error) { note, err = s.work(); return err }, s.tell)
	if err != nil {
		return err
	}
	if !a.yield(sextant.StageDone{Stage: s.name, DurationMS: milliseconds(time.Since(start)), Note: note}, nil) {
		return errStopped
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (a *asking) begin() {
	a.answer = sextant.Answer{Question: a.question.Text, AsOf: a.asOf.Format(time.DateOnly), Findings: []sextant.Finding{}, Evidence: []sextant.Passage{}, TraceID: a.traceID(),
		Ledger: sextant.Ledger{Constraints: []sextant.Constraint{}, JointByCollection: map[string]int64{}}}
}

// understand reads conditions and plan out of the words.
func (a *asking) understand() (string, error) {
	s, err := a.engine.current(a.ctx)
	if err != nil {
		return "", err
	}
	a.state = s
	if err := a.knownCollections(); err != nil {
		return "", err
	}
	if a.question.Mode == sextant.Traditional {
		a.subject = s.everything()
		a.reading = constrain.Reading{Content: a.question.Text}
		a.plan = plan.Plan{Intent: plan.Factual, Otherwise: plan.Factual, Confidence: "low", Strategy: plan.Direct, Roles: []sextant.Role{sextant.RoleEvents, sextant.RoleRules, sextant.RoleReports, sextant.RoleReference}}
	} else {
		a.choose()
	}
	a.answer.Intent, a.answer.Strategy, a.answer.Confidence = string(a.plan.Intent), string(a.plan.Strategy), "low"
	if a.small() == nil {
		a.notePlan()
	}
	if a.nothingHeld() {
		return "nothing is indexed yet", nil
	}
	if a.plan.Foreign {
		a.answer.Status = sextant.OutOfScope
	}
	return fmt.Sprintf("%s, %d conditions", a.plan.Intent, len(a.reading.Constraints)), nil
}

// keepLedger counts the conditions on the whole corpus. When nothing satisfies them
// all, the question ends here: the counts are the proof.
func (a *asking) keepLedger() (string, error) {
	if err := a.count(); err != nil {
		return "", err
	}
	if !a.yield(sextant.LedgerReady{Ledger: a.account.Ledger}, nil) {
		return "", errStopped
	}
	switch a.notHeld(); {
	case a.provenAbsent():
		a.answer.Status = sextant.NoData
	case a.allMissing():
		a.answer.Status = sextant.InsufficientEvidence
	}
	return fmt.Sprintf("%d documents satisfy all conditions", a.account.Ledger.Joint), nil
}

// count counts the conditions of the reading and the caller's own.
func (a *asking) count() error {
	user, err := a.userFilter()
	if err != nil {
		return err
	}
	if a.account, err = constrain.Keep(a.ctx, a.inScope(), a.subject.parser, a.reading, user); err != nil {
		return unavailable("count the conditions", err)
	}
	a.answer.Ledger = a.account.Ledger
	return nil
}

// allMissing reports whether every collection that the plan needs is empty, so that
// looking elsewhere could only bring what was not asked for.
func (a *asking) allMissing() bool {
	needed := 0
	for _, role := range a.plan.Needed {
		for _, c := range a.subject.ofRole(role) {
			if a.state.holds(c.Spec().Name) > 0 {
				return false
			}
			needed++
		}
	}
	return needed > 0
}

// provenAbsent reports whether conditions apply to something that is held and nothing
// there satisfies them all.
func (a *asking) provenAbsent() bool {
	applied := false
	for name := range a.account.Parts {
		if a.state.holds(name) == 0 {
			continue
		}
		applied = true
		if a.account.Ledger.JointByCollection[name] > 0 {
			return false
		}
	}
	return applied
}

// finish settles the status, says it in words, and yields the answer.
func (a *asking) finish() error {
	if !a.noted {
		a.notePlan()
	}
	a.settle()
	a.summarize()
	if len(a.rounds) > 0 {
		a.weigh()
	}
	if a.spent {
		a.limited()
	}
	a.spend()
	a.answer.Usage.DurationMS = milliseconds(time.Since(a.started))
	if a.told = true; !a.yield(sextant.Final{Answer: a.answer}, nil) {
		return errStopped
	}
	return nil
}

// limited says that the question's limit for models was reached. What is given holds all
// the same: it was proven without them.
func (a *asking) limited() {
	switch a.answer.Status {
	case sextant.NoData, sextant.OutOfScope, sextant.SourceUnavailable:
		return // said without any model
	}
	a.answer.Status = sextant.BudgetExhausted
	a.answer.Summary = strings.TrimSpace(fmt.Sprintf("The question's limit for language models was reached (%s); what is given here was proven without more of them. %s", a.limitWords(), a.answer.Summary))
}

// exhausted ends the question when its own limit of time is reached: what was proven until
// then is given, and nothing that was not checked. Of documents that were read already the
// sentences that answer are quoted: that needs neither a model nor the store.
func (a *asking) exhausted() {
	if !a.checked {
		a.written = nil
		a.answer.Findings, a.answer.CausalChain, a.answer.Removed = []sextant.Finding{}, nil, nil
		if _, err := a.extract(); err == nil {
			a.answer.Findings, _ = a.holding(a.answer.Findings, false)
			a.answer.CausalChain, _ = a.holding(a.answer.CausalChain, true)
		}
		if a.answer.Findings == nil {
			a.answer.Findings = []sextant.Finding{}
		}
	}
	if len(a.rounds) > 0 {
		a.weigh()
	}
	a.caveats()
	a.spend()
	a.answer.Status = sextant.BudgetExhausted
	a.answer.Summary = strings.TrimSpace(fmt.Sprintf("The limit of %s was reached; what is given here was proven until then. %s", a.question.Limits.WallTime, a.figures()))
	a.answer.Usage.DurationMS = milliseconds(time.Since(a.started))
	a.told = true
	a.yield(sextant.Final{Answer: a.answer}, nil)
}

// unavailable ends the question with the status that says the store could not be read.
func (a *asking) unavailable(err error) {
	a.spend()
	a.answer.Status = sextant.SourceUnavailable
	message, hint := sextant.PublicMessage(err)
	a.answer.Summary = message + " " + hint
	a.answer.Degraded = append(a.answer.Degraded, sextant.Degradation{Stage: "store", Reason: message})
	a.answer.Usage.DurationMS = milliseconds(time.Since(a.started))
	a.told = true
	a.yield(sextant.Final{Answer: a.answer}, nil)
}
