package pipeline_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/llmtest"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/tracetest"
)

// assistant is a scripted model: what it answers, by what it is asked for. An answer may
// name evidence as {{words}}: that is replaced by the number of the evidence that says them.
type assistant map[string]string

var slot = regexp.MustCompile(`\{\{(.+?)\}\}`)

func (a assistant) script(label string) *llmtest.Script {
	return &llmtest.Script{Label: label, Answer: func(_ int, r llm.Request) (llm.Response, error) {
		answer, ok := a[r.Purpose]
		if !ok {
			return llm.Response{}, &llm.Error{Kind: llm.Unreachable, Provider: "script", Message: "nothing is scripted for " + r.Purpose}
		}
		prompt := r.Messages[0].Text
		return llmtest.Text(slot.ReplaceAllStringFunc(answer, func(s string) string { return fmt.Sprint(numberOf(prompt, strings.Trim(s, "{}"))) })), nil
	}}
}

var opening = regexp.MustCompile(`<<evidence (\d+) [0-9a-f]{16}>>`)

// numberOf finds the evidence of a prompt that says words; 99 if none does.
func numberOf(prompt, words string) int {
	number := 99
	for _, block := range strings.Split(prompt, "<<end ") {
		if m := opening.FindStringSubmatch(block); m != nil && strings.Contains(block, words) {
			_, _ = fmt.Sscan(m[1], &number)
			return number
		}
	}
	return number
}

// helped is a library whose questions models help with.
func helped(t *testing.T, small, large assistant) (*pipeline.Engine, *tracetest.Sink, *llmtest.Script, *llmtest.Script) {
	t.Helper()
	_, s := library(t, nil)
	sink := &tracetest.Sink{}
	c := pipeline.Config{Store: s, Domain: domain, Now: func() time.Time { return now }, Traces: &trace.Recorder{Sink: sink}}
	var small1, large1 *llmtest.Script
	policy := llm.Policy{First: time.Nanosecond}
	if small != nil {
		small1 = small.script("small-1")
		c.Models.Small = llm.NewCaller(small1, policy)
	}
	if large != nil {
		large1 = large.script("large-1")
		c.Models.Large = llm.NewCaller(large1, policy)
	}
	e, err := pipeline.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return e, sink, small1, large1
}

const (
	plain       = `{"intent":"causal","confidence":"high","aspects":["mould on the map"],"queries":[{"collection":"damages","query":"mould damp cellar"}],"conditions":[],"disputes":[]}`
	enoughFound = `{"sufficient":true,"missing":[],"queries":[]}`
	mould       = `{"findings":[{"statement":"Mould was found on the map of Norway.","quotes":[{"evidence":{{Mould}},"text":"Mould was found on the map of Norway."}],"confidence":"high"}],
"causal_chain":[{"statement":"The cellar was damp.","quotes":[{"evidence":{{Mould}},"text":"the cellar  was damp"}],"confidence":"high"}],
"regulatory":[],"summary":"The cellar was damp. It cost 900 euros.","caveats":["The damage was entered on 2012-02-03."],"missing":[]}`
	mouldQuestion = "Why did mould appear on the map of Norway?"
)

func TestModelsWriteWhatHolds(t *testing.T) {
	e, sink, small, large := helped(t, assistant{"understand": plain}, assistant{"generate": mould})
	a := ask(t, e, sextant.Question{Text: mouldQuestion})
	if a.Status != sextant.Answered || len(a.Findings) != 1 || len(a.CausalChain) != 1 || a.Degraded != nil {
		t.Fatalf("%s: %+v %+v %+v", a.Status, a.Findings, a.CausalChain, a.Degraded)
	}
	if got := a.CausalChain[0].Quotes[0].Text; got != "The cellar was damp" {
		t.Errorf("the quote is the model's, not the document's: %q", got)
	}
	if !strings.Contains(a.Summary, "damp") || strings.Contains(a.Summary, "900") {
		t.Errorf("the summary says what no finding bears, or not what they do: %q", a.Summary)
	}
	if a.Usage.ModelCalls != 2 || a.Usage.InputTokens != 20 || a.Usage.OutputTokens != 10 {
		t.Errorf("usage %+v", a.Usage)
	}
	if n := len(small.Asked()) + len(large.Asked()); n != 2 {
		t.Errorf("%d calls", n)
	}
	if faults := tracetest.Check(last(t, sink), &tracetest.Calls{Models: 2, Tokens: 30}); faults != nil {
		t.Error(strings.Join(faults, "\n"))
	}
	for _, r := range slices.Concat(small.Asked(), large.Asked()) {
		if r.Prompt == "" || r.Output == nil || r.MaxTokens == 0 || *r.Temperature != 0 {
			t.Errorf("a request without version, schema, bound or fixed temperature: %+v", r)
		}
	}
}

// The blueprint's spans are all there, each call of a model as a leaf below its stage.
func TestSpansOfModels(t *testing.T) {
	e, sink, _, _ := helped(t, assistant{"understand": plain}, assistant{"generate": mould})
	ask(t, e, sextant.Question{Text: mouldQuestion})
	parents, names := map[string]string{}, map[string]string{}
	for _, s := range last(t, sink).View().Spans {
		names[s.SpanID] = s.Name
		parents[s.Name] = names[s.ParentID]
	}
	want := map[string]string{"constraint_extraction": "agentic_rag_pipeline", "constraint_validation": "agentic_rag_pipeline", "intent_classification": "agentic_rag_pipeline", "strategy_selection": "agentic_rag_pipeline",
		"retrieval_iteration_1": "agentic_rag_pipeline", "reranking": "agentic_rag_pipeline", "context_refinement": "agentic_rag_pipeline", "answer_generation": "agentic_rag_pipeline",
		"chat small-1": "intent_classification", "chat large-1": "answer_generation"}
	for name, parent := range want {
		if parents[name] != parent {
			t.Errorf("%s is below %q, want %q", name, parents[name], parent)
		}
	}
}

// What is proven absent asks no model, and nothing a model says brings it back.
func TestNoDataAsksNoModel(t *testing.T) {
	e, sink, small, large := helped(t, assistant{"understand": plain}, assistant{"generate": mould})
	a := ask(t, e, sextant.Question{Text: "damages in South in 2010"})
	if a.Status != sextant.NoData || len(small.Asked())+len(large.Asked()) != 0 {
		t.Errorf("%s after %d calls", a.Status, len(small.Asked())+len(large.Asked()))
	}
	for _, name := range []string{"constraint_extraction", "intent_classification", "strategy_selection", "constraint_validation"} {
		if !slices.ContainsFunc(last(t, sink).View().Spans, func(s trace.SpanView) bool { return s.Name == name }) {
			t.Errorf("there is no span %s", name)
		}
	}
}

func understanding(conditions, disputes string) assistant {
	return assistant{"understand": `{"intent":"factual","confidence":"high","aspects":[],"queries":[],"conditions":[` + conditions + `],"disputes":[` + disputes + `]}`}
}

func TestAModelAddsConditionsThatTheQuestionSays(t *testing.T) {
	for name, tt := range map[string]struct {
		question, condition string
		added               bool
		status              sextant.Status
	}{
		"words and value stand":    {"damages where the cup cost 12", `{"words":"cost 12","field":"fee","op":"eq","values":["12"]}`, true, ""},
		"an inferred value":        {"damages at the branch up the hill", `{"words":"branch up the hill","field":"branch","op":"eq","values":["North"]}`, true, sextant.Answered},
		"inferred, proves nothing": {"damages in 2010 at the branch down the valley", `{"words":"branch down the valley","field":"branch","op":"eq","values":["South"]}`, false, sextant.Answered},
		"words are made up":        {"damages of maps", `{"words":"in North","field":"branch","op":"eq","values":["North"]}`, false, ""},
		"no such field":            {"damages of maps", `{"words":"maps","field":"colour","op":"eq","values":["North"]}`, false, ""},
		"no such value":            {"damages of maps", `{"words":"maps","field":"branch","op":"eq","values":["Mars"]}`, false, ""},
		"read already":             {"damages in North", `{"words":"in North","field":"branch","op":"eq","values":["South"]}`, false, sextant.Answered},
		"a number not in words":    {"damages of maps", `{"words":"maps","field":"fee","op":"gte","values":["7"]}`, false, ""},
		"an operator for nothing":  {"damages of maps", `{"words":"maps","field":"branch","op":"gte","values":["North"]}`, false, ""},
	} {
		e, _, _, _ := helped(t, understanding(tt.condition, ""), nil)
		a := ask(t, e, sextant.Question{Text: tt.question})
		added := slices.ContainsFunc(a.Ledger.Constraints, func(c sextant.Constraint) bool { return c.Origin == sextant.FromModel })
		if added != tt.added || tt.status != "" && a.Status != tt.status {
			t.Errorf("%s: added %v, status %s: %+v %+v", name, added, a.Status, a.Ledger.Constraints, a.Ledger.Unenforceable)
		}
	}
}

// A model may doubt a condition; it is shown, and enforced all the same.
func TestADisputedConditionStands(t *testing.T) {
	plainEngine, _ := library(t, nil)
	want := ask(t, plainEngine, sextant.Question{Text: "damages in North"})
	e, _, _, _ := helped(t, understanding("", `{"words":"North","reason":"a direction"}`), nil)
	a := ask(t, e, sextant.Question{Text: "damages in North"})
	if a.Ledger.Joint != want.Ledger.Joint || a.Ledger.Constraints[0].Disputed != "a direction" || len(a.Caveats) == 0 {
		t.Errorf("%+v %v", a.Ledger, a.Caveats)
	}
}

// Doubts stand in the order of the conditions, whenever the question is asked.
func TestDisputesStandInOrder(t *testing.T) {
	e, _, _, _ := helped(t, understanding("", `{"words":"2010","reason":"a price"},{"words":"North","reason":"a direction"},{"words":"Fiction","reason":"a lie"}`), nil)
	const question = "damages of fiction in North in 2010"
	want := ask(t, e, sextant.Question{Text: question}).Caveats
	if len(want) < 3 {
		t.Fatalf("caveats %q", want)
	}
	for range 20 {
		if got := ask(t, e, sextant.Question{Text: question}).Caveats; !slices.Equal(got, want) {
			t.Fatalf("%q, then %q", want, got)
		}
	}
}

func TestFindingsThatDoNotHold(t *testing.T) {
	false1 := `{"statement":"The cellar was damp for 3 days.","quotes":[{"evidence":{{Mould}},"text":"The cellar was damp."}],"confidence":"high"}`
	answer := func(findings string) string {
		return `{"findings":[` + findings + `],"causal_chain":[],"regulatory":[],"summary":"It was wet.","caveats":[],"missing":[]}`
	}
	t.Run("repaired once", func(t *testing.T) {
		e, _, _, large := helped(t, nil, assistant{"generate": answer(false1), "repair": `{"findings":[{"number":1,"statement":"The cellar was damp.","quotes":[{"evidence":{{Mould}},"text":"The cellar was damp."}],"confidence":"high"}]}`})
		a := ask(t, e, sextant.Question{Text: mouldQuestion})
		if len(a.Findings) != 1 || a.Findings[0].Text != "The cellar was damp." || a.Removed != nil || len(large.Asked()) != 2 {
			t.Errorf("%+v %+v after %d calls", a.Findings, a.Removed, len(large.Asked()))
		}
	})
	t.Run("removed and counted", func(t *testing.T) {
		true1 := `{"statement":"Mould was found on the map of Norway.","quotes":[{"evidence":{{Mould}},"text":"Mould was found on the map of Norway."}],"confidence":"high"}`
		e, _, _, _ := helped(t, nil, assistant{"generate": answer(true1 + "," + false1), "repair": `{"findings":[{"number":1,"statement":"The cellar was damp for 3 days.","quotes":[{"evidence":{{Mould}},"text":"The cellar was damp."}],"confidence":"high"}]}`})
		a := ask(t, e, sextant.Question{Text: mouldQuestion})
		if len(a.Findings) != 1 || len(a.Removed) != 1 || a.Removed[0].Fault == "" {
			t.Errorf("%+v %+v", a.Findings, a.Removed)
		}
	})
	t.Run("none holds", func(t *testing.T) {
		e, _, _, _ := helped(t, nil, assistant{"generate": answer(false1)})
		a := ask(t, e, sextant.Question{Text: mouldQuestion})
		without, _ := library(t, nil)
		want := ask(t, without, sextant.Question{Text: mouldQuestion})
		if d := cmp.Diff(want.Findings, a.Findings); d != "" || a.Status != want.Status || len(a.Degraded) == 0 {
			t.Errorf("the quoted sentences do not answer: %s %+v", d, a.Degraded)
		}
	})
	t.Run("evidence there is not", func(t *testing.T) {
		e, _, _, _ := helped(t, nil, assistant{"generate": answer(`{"statement":"The cellar was damp.","quotes":[{"evidence":1,"text":"The cellar was flooded."}],"confidence":"high"}`)})
		a := ask(t, e, sextant.Question{Text: mouldQuestion})
		if len(a.Removed) != 1 || a.Removed[0].Fault != sextant.FaultQuote {
			t.Errorf("%+v", a.Removed)
		}
	})
	t.Run("the model finds nothing", func(t *testing.T) {
		e, _, _, _ := helped(t, nil, assistant{"generate": `{"findings":[],"causal_chain":[],"regulatory":[],"summary":"","caveats":[],"missing":["the colour of the mould"]}`})
		a := ask(t, e, sextant.Question{Text: "What colour was the mould on the damaged book?"})
		if a.Status != sextant.InsufficientEvidence || len(a.Findings) != 0 {
			t.Errorf("%s %+v", a.Status, a.Findings)
		}
	})
}

// A question about figures alone is computed: no model writes numbers.
func TestFiguresAskNoLargeModel(t *testing.T) {
	e, _, _, large := helped(t, nil, assistant{"generate": mould})
	a := ask(t, e, sextant.Question{Text: "How many damages in North?"})
	if a.Status != sextant.Answered || len(large.Asked()) != 0 {
		t.Errorf("%s after %d calls", a.Status, len(large.Asked()))
	}
}

func TestRoundsAskForWhatIsMissing(t *testing.T) {
	understand := `{"intent":"comparative","confidence":"high","aspects":["tea","mould"],"queries":[],"conditions":[],"disputes":[]}`
	calls := 0
	small := &llmtest.Script{Label: "small-1", Answer: func(_ int, r llm.Request) (llm.Response, error) {
		if r.Purpose == "understand" {
			return llmtest.Text(understand), nil
		}
		calls++
		return llmtest.Text(fmt.Sprintf(`{"sufficient":false,"missing":["mould"],"queries":["mould on paper %d"]}`, min(calls, 2))), nil
	}}
	_, s := library(t, nil)
	e, sink := tracedEngine(t, s)
	_ = sink
	e2, err := pipeline.New(t.Context(), pipeline.Config{Store: s, Domain: domain, Now: func() time.Time { return now }, Models: pipeline.Models{Small: llm.NewCaller(small, llm.Policy{})}})
	if err != nil {
		t.Fatal(err)
	}
	question := sextant.Question{Text: "Compare the tea on the table with the mould on the map"}
	a := ask(t, e2, question)
	if len(a.Rounds) != 3 || a.Strategy != "iterative" {
		t.Fatalf("%d rounds of %s: %+v", len(a.Rounds), a.Strategy, a.Rounds)
	}
	seen := map[string]bool{}
	for _, r := range a.Rounds {
		q := fmt.Sprint(r.Queries)
		if seen[q] || r.JudgedBy != "small-1" || r.Sufficient {
			t.Errorf("round %d: %+v", r.Iteration, r)
		}
		seen[q] = true
	}
	if a = ask(t, e2, sextant.Question{Text: question.Text, Limits: sextant.Limits{Rounds: 1}}); len(a.Rounds) != 1 {
		t.Errorf("%d rounds where one is allowed", len(a.Rounds))
	}
	if a = ask(t, e, question); len(a.Rounds) > 3 || len(a.Rounds) == 0 || a.Rounds[0].JudgedBy != "coverage" {
		t.Errorf("without a model: %+v", a.Rounds)
	}
}

func TestRefinement(t *testing.T) {
	question := "damages by tea, rain, mould and dogs"
	var order []string // passages, as the question ranks them
	grades := func(f func(n int) int) *llmtest.Script {
		return &llmtest.Script{Label: "small-1", Answer: func(_ int, r llm.Request) (llm.Response, error) {
			n := slices.IndexFunc(order, func(text string) bool { return strings.Contains(r.Messages[0].Text, text) })
			if r.Purpose != "filter" || n < 0 {
				return llm.Response{}, &llm.Error{Kind: llm.Unreachable}
			}
			return llmtest.Text(fmt.Sprintf(`{"grade":%d}`, f(n+1))), nil
		}}
	}
	run := func(small *llmtest.Script, mode string) sextant.Answer {
		_, s := library(t, nil)
		c := pipeline.Config{Store: s, Domain: domain, Now: func() time.Time { return now }}
		if small != nil {
			c.Models.Small = llm.NewCaller(small, llm.Policy{First: time.Nanosecond})
		}
		e, err := pipeline.New(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return ask(t, e, sextant.Question{Text: question, Refine: mode})
	}
	whole := run(nil, sextant.RefineNone)
	if n := len(whole.Evidence); n < 3 {
		t.Fatalf("%d passages are too few to refine", n)
	}
	for _, p := range whole.Evidence {
		order = append(order, p.Title)
	}
	a := run(grades(func(n int) int { return 12 - 2*n }), sextant.RefineFilter) // 10, 8, 6, 4, 2, 0
	if r := a.Refinement; !r.Applied || r.OutputCount != min(4, len(whole.Evidence)) || r.Threshold != 4 || r.Model != "small-1" {
		t.Errorf("%+v", r)
	}
	for i, p := range a.Evidence {
		if p.Content != whole.Evidence[i].Content {
			t.Errorf("passage %d is not what was retrieved", i)
		}
	}
	for name, small := range map[string]*llmtest.Script{"all alike": grades(func(int) int { return 0 }), "none can be graded": grades(func(int) int { return 99 }), "no model": nil} {
		if a := run(small, sextant.RefineFilter); len(a.Evidence) != len(whole.Evidence) || !slices.ContainsFunc(a.Degraded, func(d sextant.Degradation) bool { return d.Stage == "refine" }) {
			t.Errorf("%s: %d of %d passages, degraded %+v", name, len(a.Evidence), len(whole.Evidence), a.Degraded)
		}
	}
	a = run(grades(func(n int) int { return []int{9, 99, 0}[min(n, 3)-1] }), sextant.RefineFilter) // the second cannot be graded
	if len(a.Evidence) != 2 || len(a.Degraded) == 0 {
		t.Errorf("%d passages, degraded %+v", len(a.Evidence), a.Degraded)
	}
}

func TestBaselineIsFairAndSaysWhatItIs(t *testing.T) {
	e, _, small, large := helped(t, assistant{"understand": plain}, assistant{"baseline": "It was 42 euros."})
	a := ask(t, e, sextant.Question{Text: "damages in South in 2010", Mode: sextant.Traditional, TopK: 3})
	if a.Summary != "It was 42 euros." || len(a.Caveats) == 0 || len(a.Evidence) > 3 || len(a.Ledger.Constraints) != 0 {
		t.Errorf("%+v", a)
	}
	if len(small.Asked()) != 0 || len(large.Asked()) != 1 {
		t.Errorf("%d and %d calls", len(small.Asked()), len(large.Asked()))
	}
}

func TestNoModelAsksNone(t *testing.T) {
	e, _, small, large := helped(t, assistant{"understand": plain}, assistant{"generate": mould})
	ask(t, e, sextant.Question{Text: mouldQuestion, NoModel: true})
	if len(small.Asked())+len(large.Asked()) != 0 {
		t.Error("a model was asked")
	}
}

func TestLimitOfCalls(t *testing.T) {
	e, _, small, large := helped(t, assistant{"understand": plain}, assistant{"generate": mould})
	a := ask(t, e, sextant.Question{Text: mouldQuestion, Limits: sextant.Limits{ModelCalls: 1}})
	if a.Status != sextant.BudgetExhausted || len(a.Findings) == 0 || a.Usage.ModelCalls != 1 || len(small.Asked()) != 1 || len(large.Asked()) != 0 {
		t.Errorf("%s %+v, %d findings", a.Status, a.Usage, len(a.Findings))
	}
}

// Where the facts of a finding stand in its quotes and its words do not, the small model is
// asked; without an answer the rules decide, and that is said.
func TestSecondOpinion(t *testing.T) {
	written := `{"findings":[{"statement":"On the map of Norway mould was found, an ugly growth.","quotes":[{"evidence":{{Mould}},"text":"Mould was found on the map of Norway."}],"confidence":"medium"}],"causal_chain":[],"regulatory":[],"summary":"","caveats":[],"missing":[]}`
	for verdict, held := range map[string]bool{"yes": true, "no": false, "unsure": false} {
		e, _, _, _ := helped(t, assistant{"understand": plain, "support": `{"verdicts":[{"number":1,"supported":"` + verdict + `"}]}`}, assistant{"generate": written, "repair": `{"findings":[]}`})
		a := ask(t, e, sextant.Question{Text: mouldQuestion})
		delivered := slices.ContainsFunc(a.Findings, func(f sextant.Finding) bool { return strings.Contains(f.Text, "ugly") })
		if delivered != held {
			t.Errorf("%s: %+v removed %+v", verdict, a.Findings, a.Removed)
		}
	}
}
