package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/check"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/anthropic"
	"github.com/sextant-rag/sextant/llm/llmtest"
	"github.com/sextant-rag/sextant/llm/openai"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/tracetest"
)

// switched is a model that a script plays, one purpose aside: calls for that go to another
// model. Both are the question's own, found by its context.
type switched struct{ label string }

type switchKey struct{}

type playing struct {
	script  assistant
	purpose string
	instead llm.Model
}

func (s switched) Name() string     { return s.label }
func (s switched) Provider() string { return "script" }

func (s switched) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	p := ctx.Value(switchKey{}).(playing)
	if r.Purpose == p.purpose && p.instead != nil {
		return p.instead.Stream(ctx, r)
	}
	return p.script.script(s.label).Stream(ctx, r)
}

// stage is one place where a model is called, the question that leads there, and what the
// models say before.
type modelStage struct {
	purpose  string
	degraded string // stage that says so
	question sextant.Question
	script   assistant
}

const (
	tooMuch = `{"findings":[{"statement":"The cellar was damp for 3 days.","quotes":[{"evidence":{{Mould}},"text":"The cellar was damp."}],"confidence":"high"}],"causal_chain":[],"regulatory":[],"summary":"","caveats":[],"missing":[]}`
	silence = `{"findings":[],"causal_chain":[],"regulatory":[],"summary":"","caveats":[],"missing":[]}`
)

func modelStages() []modelStage {
	healthy := assistant{"understand": plain, "sufficiency": enoughFound, "filter": `{"grade":8}`, "synthesize": `{"texts":[{"number":1,"text":"The cellar was damp."}]}`, "generate": mould, "baseline": "It was damp.", "confirm": `{"grade":8}`,
		"repair": `{"findings":[{"number":1,"statement":"The cellar was damp.","quotes":[{"evidence":{{Mould}},"text":"The cellar was damp."}],"confidence":"high"}]}`}
	with := func(purpose, answer string) assistant {
		out := assistant{}
		for k, v := range healthy {
			out[k] = v
		}
		out[purpose] = answer
		return out
	}
	why := sextant.Question{Text: mouldQuestion}
	return []modelStage{
		{"understand", "plan", why, healthy},
		{"sufficiency", "assess", sextant.Question{Text: "Compare the tea on the table with the mould on the map"}, with("understand", `{"intent":"comparative","confidence":"high","aspects":["tea","mould"],"queries":[],"conditions":[],"disputes":[]}`)},
		{"filter", "refine", sextant.Question{Text: mouldQuestion, Refine: sextant.RefineFilter}, healthy},
		{"synthesize", "refine", sextant.Question{Text: mouldQuestion, Refine: sextant.RefineSynthesize}, healthy},
		{"generate", "generate", why, healthy},
		{"repair", "repair", why, with("generate", tooMuch)},
		{"confirm", "confirm", why, with("generate", silence)},
		{"baseline", "generate", sextant.Question{Text: mouldQuestion, Mode: sextant.Traditional, TopK: 3}, healthy},
	}
}

// proof keeps what every answer of a broken model is held to.
type proof struct {
	e     *pipeline.Engine
	sink  *tracetest.Sink
	store store.Store
}

func newProof(t *testing.T, policy llm.Policy) *proof {
	t.Helper()
	_, s := library(t, nil)
	sink := &tracetest.Sink{}
	e, err := pipeline.New(t.Context(), pipeline.Config{Store: s, Domain: domain, Now: func() time.Time { return now }, Traces: &trace.Recorder{Sink: sink},
		Models: pipeline.Models{Small: llm.NewCaller(switched{"small-1"}, policy), Large: llm.NewCaller(switched{"large-1"}, policy)}})
	if err != nil {
		t.Fatal(err)
	}
	p := &proof{e, sink, s}
	_, _ = p.ask(t.Context(), playing{}, sextant.Question{Text: "damages by branch", NoModel: true}) // derives what the store holds
	return p
}

func (p *proof) ask(ctx context.Context, with playing, q sextant.Question) (a sextant.Answer, err error) {
	ended := false
	for event, failed := range p.e.Ask(context.WithValue(ctx, switchKey{}, with), q) {
		if ended {
			return a, fmt.Errorf("something came after the end")
		}
		if failed != nil {
			return a, failed
		}
		if f, ok := event.(sextant.Final); ok {
			a, ended = f.Answer, true
		}
	}
	if !ended {
		return a, fmt.Errorf("there was no end")
	}
	return a, nil
}

// holds returns what is wrong with an answer of a broken model. Every finding must hold when
// it is checked anew from the store.
func (p *proof) holds(ctx context.Context, s modelStage, a sextant.Answer) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	allowed := []sextant.Status{sextant.Answered, sextant.Partial, sextant.InsufficientEvidence, sextant.BudgetExhausted}
	if s.purpose == "confirm" { // the large model finds nothing, and the words are of no subject that is known
		allowed = append(allowed, sextant.OutOfScope)
	}
	if !slices.Contains(allowed, a.Status) {
		fault("status %q", a.Status)
	}
	findings := slices.Concat(a.Findings, a.CausalChain)
	c, err := p.store.Open(ctx, "damages")
	if err != nil {
		return []string{err.Error()}
	}
	_, removed := check.Findings(findings, func(id sextant.DocumentID) (sextant.Document, bool) {
		docs, err := c.Get(ctx, []sextant.DocumentID{id})
		return append(docs, sextant.Document{})[0], err == nil && len(docs) == 1
	})
	for _, r := range removed {
		fault("%q does not hold: %s", r.Text, r.Reason)
	}
	if s.question.Text == mouldQuestion && s.purpose != "confirm" && s.purpose != "baseline" && len(findings) == 0 && len(a.Rounds) > 0 {
		fault("there is an answer without any model, and none was given: %s", a.Summary)
	}
	if a.Findings == nil || a.Evidence == nil {
		fault("null for an empty list")
	}
	return faults
}

func (s modelStage) said(a sextant.Answer) bool {
	return slices.ContainsFunc(a.Degraded, func(d sextant.Degradation) bool { return d.Stage == s.degraded })
}

// Deadline of a question whose model fails, what it may take longer, and what a test allows
// for on a machine that does other things as well.
const (
	faultWall  = 400 * time.Millisecond
	faultSlack = 50 * time.Millisecond
	faultGrace = 2 * time.Second
)

// Every fault of a model's server, through both clients, streamed and whole, at every stage
// that calls one: the question ends, in time, with an answer that holds and says what was done
// without the model.
func TestEveryFaultOfAModelAtEveryStage(t *testing.T) {
	p := newProof(t, llm.Policy{First: time.Millisecond})
	before := runtime.NumGoroutine()
	var mu sync.Mutex
	var ran, late int
	var longest time.Duration
	type job struct {
		stage    modelStage
		fault    llmtest.Fault
		stream   bool
		protocol string
	}
	jobs := make(chan job)
	run := func(j job) {
		name := fmt.Sprintf("%s, %s, stream %v, %s", j.stage.purpose, j.protocol, j.stream, j.fault.Name)
		client := clients[j.protocol]
		address, stop := j.fault.Serve(client.protocol, j.stream)
		defer stop()
		m, err := client.connect(address)
		if err != nil {
			t.Error(err)
			return
		}
		q := j.stage.question
		q.Limits.WallTime = faultWall
		began := time.Now()
		a, err := p.ask(t.Context(), playing{j.stage.script, j.stage.purpose, m}, q)
		took := time.Since(began)
		mu.Lock()
		defer mu.Unlock()
		if ran++; took > faultWall+faultSlack {
			late++
			t.Logf("%s: %v", name, took)
		}
		longest = max(longest, took)
		if err != nil || took > faultWall+faultGrace {
			t.Errorf("%s: %v after %v", name, err, took)
			return
		}
		if faults := p.holds(t.Context(), j.stage, a); faults != nil {
			t.Errorf("%s: %s", name, strings.Join(faults, "; "))
		}
		if !j.stage.said(a) && a.Status != sextant.BudgetExhausted && (j.stage.purpose != "baseline" || j.fault.Right == "") {
			t.Errorf("%s: it is not said that this was done without a model: %+v", name, a.Degraded)
		}
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for j := range jobs {
				run(j)
			}
		})
	}
	step, at := 1, 0
	if testing.Short() && os.Getenv("SEXTANT_ALL_FAULTS") == "" {
		step = 41 // a prime, so that each stage, protocol and fault has its turn
	}
	for _, fault := range llmtest.Faults() {
		for _, protocol := range []string{"openai", "anthropic"} {
			for _, stream := range []bool{true, false} {
				for _, stage := range modelStages() {
					if at++; at%step == 0 {
						jobs <- job{stage, fault, stream, protocol}
					}
				}
			}
		}
	}
	close(jobs)
	wait.Wait()
	t.Logf("%d faults at stages; %d took more than %v longer than the limit of %v, the longest %v", ran, late, faultSlack, faultWall, longest)
	for range 300 {
		if runtime.NumGoroutine() <= before {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		stacks := make([]byte, 1<<17)
		t.Errorf("%d goroutines are left of %d:\n%s", n, before, stacks[:runtime.Stack(stacks, true)])
	}
	for _, r := range p.sink.Records() {
		if faults := tracetest.Check(r, nil); faults != nil {
			t.Errorf("the trace of %q is not complete:\n%s", r.Summary.Question, strings.Join(faults, "\n"))
		}
	}
}

var clients = map[string]struct {
	protocol llmtest.Protocol
	connect  func(address string) (llm.Model, error)
}{
	"openai": {llmtest.OpenAI, func(address string) (llm.Model, error) {
		return openai.New(openai.Options{BaseURL: address + "/v1", Key: "k", Model: "m"})
	}},
	"anthropic": {llmtest.Anthropic, func(address string) (llm.Model, error) {
		return anthropic.New(anthropic.Options{BaseURL: address, Key: "k", Model: "claude-x"})
	}},
}

// garbage are answers that came whole and are none: by stage the right one is spoilt.
func garbage(right string) map[string]llm.Response {
	stopped := func(text string) llm.Response { return llmtest.Text(text) }
	ending := func(text string, f llm.Finish) llm.Response {
		out := llmtest.Text(text)
		out.Finish, out.Raw = f, string(f)
		return out
	}
	calls := ending("", llm.Called)
	calls.Calls = []llm.Call{{ID: "1", Name: "delete_everything", Input: json.RawMessage(`{"path":"/"}`)}}
	out := map[string]llm.Response{
		"null": stopped("null"), "a list": stopped("[]"), "a word": stopped("yes"), "an empty object": stopped("{}"), "nothing": stopped(""), "blank": stopped(" \n"), "a number": stopped("1e999"),
		"half": stopped(right[:len(right)/2]), "other fields": stopped(`{"answer":"yes","tools":["rm"]}`), "one field more": stopped(strings.Replace(right, "{", `{"admin":true,`, 1)),
		"all of it null": stopped(nulled(right)), "all of it text": stopped(texted(right)), "too deep": stopped(strings.Repeat(`{"a":`, 200_000)), "braces": stopped(strings.Repeat("{", 300_000)),
		"enormous numbers": stopped(numbered(right, "999999999999999999999999999")), "negative numbers": stopped(numbered(right, "-1")), "fractions": stopped(numbered(right, "1.5")), "zeros": stopped(numbered(right, "0")), "far too many": stopped(numbered(right, "77")),
		"ten megabytes": stopped(strings.Repeat("all work and no play ", 500_000)), "ten megabytes in a field": stopped(strings.Replace(right, `:"`, `:"`+strings.Repeat("x", 10<<20), 1)),
		"no UTF-8": stopped("\xff\xfe" + strings.ReplaceAll(right, "a", "\xc3")), "control characters": stopped(strings.ReplaceAll(right, " ", "\x00")),
		"a refusal": ending("I cannot help with that.", llm.Refused), "cut at the limit": ending(right[:len(right)/2], llm.Length), "whole, cut at the limit": ending(right, llm.Length), "filtered": ending(right, llm.Refused), "an end nobody knows": ending(right, llm.Unclear), "an error inside": ending("", llm.Failed), "to be continued": ending(right, llm.Paused),
		"tool calls": calls,
	}
	return out
}

// nulled, texted and numbered give every value of JSON another type or number.
func nulled(right string) string { return revalued(right, func(any) any { return nil }) }
func texted(right string) string { return revalued(right, func(v any) any { return fmt.Sprint(v) }) }
func numbered(right, n string) string {
	return revalued(right, func(v any) any {
		if _, ok := v.(json.Number); ok {
			return json.Number(n)
		}
		return v
	})
}

func revalued(right string, f func(any) any) string {
	d := json.NewDecoder(strings.NewReader(slot.ReplaceAllString(right, "1")))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return "null"
	}
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
			return v
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
			return v
		}
		return f(v)
	}
	b, _ := json.Marshal(walk(v))
	return string(b)
}

// Whatever comes as an answer, at every stage: never a panic, never a finding that does not
// hold, and if it was of no use that is said.
func TestGarbageAtEveryStage(t *testing.T) {
	p := newProof(t, llm.Policy{First: time.Nanosecond})
	ran := 0
	for _, stage := range modelStages() {
		for name, answer := range garbage(stage.script[stage.purpose]) {
			ran++
			began := time.Now()
			a, err := p.ask(t.Context(), playing{stage.script, stage.purpose, &llmtest.Script{Answers: []llm.Response{answer}}}, stage.question)
			if took := time.Since(began); err != nil || took > 5*time.Second {
				t.Errorf("%s, %s: %v after %v", stage.purpose, name, err, took)
				continue
			}
			if faults := p.holds(t.Context(), stage, a); faults != nil {
				t.Errorf("%s, %s: %s", stage.purpose, name, strings.Join(faults, "; "))
			}
			if b, err := json.Marshal(a); err != nil || len(b) > 200_000 {
				t.Errorf("%s, %s: an answer of %d bytes, %v", stage.purpose, name, len(b), err)
			}
		}
	}
	t.Logf("%d answers", ran)
	for _, r := range p.sink.Records() {
		if faults := tracetest.Check(r, nil); faults != nil {
			t.Errorf("the trace of %q is not complete:\n%s", r.Summary.Question, strings.Join(faults, "\n"))
		}
	}
}

// Answers that are right and stand in prose, a fence, or twice are taken.
func TestRightAnswersInOddClothes(t *testing.T) {
	p := newProof(t, llm.Policy{First: time.Nanosecond})
	for name, dress := range map[string]func(string) string{
		"prose":   func(s string) string { return "Sure! Here is what you asked for:\n\n" + s + "\n\nAnything else?" },
		"a fence": func(s string) string { return "```json\n" + s + "\n```" },
		"twice":   func(s string) string { return s + "\n" + s },
	} {
		for _, stage := range modelStages() {
			if stage.purpose == "baseline" {
				continue
			}
			script := assistant{}
			for k, v := range stage.script {
				script[k] = dress(v)
			}
			a, err := p.ask(t.Context(), playing{script: script}, stage.question)
			if err != nil || stage.said(a) && stage.purpose != "confirm" && stage.purpose != "repair" {
				t.Errorf("%s, %s: %v %+v", stage.purpose, name, err, a.Degraded)
			}
		}
	}
}
