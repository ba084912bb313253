package plan_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/llmtest"
	"github.com/sextant-rag/sextant/plan"
	"github.com/sextant-rag/sextant/prompt"
)

func TestAdviceWidensAndDoesNotNarrow(t *testing.T) {
	rules := plan.Plan{Intent: plan.Factual, Otherwise: plan.Factual, Confidence: "high", Strategy: plan.Parallel, Roles: []sextant.Role{sextant.RoleEvents}, Needed: []sextant.Role{sextant.RoleEvents}}
	unsure := rules
	unsure.Confidence = "low"
	foreign := rules
	foreign.Intent = plan.OutOfScope
	for name, tt := range map[string]struct {
		plan       plan.Plan
		advice     plan.Advice
		intent     plan.Intent
		confidence string
		roles      []sextant.Role // that must be among the plan's
	}{
		"agreed":                {rules, plan.Advice{Intent: plan.Factual, Confidence: "low"}, plan.Factual, "high", rules.Roles},
		"agreed, surer":         {unsure, plan.Advice{Intent: plan.Factual, Confidence: "high"}, plan.Factual, "high", rules.Roles},
		"rules are sure":        {rules, plan.Advice{Intent: plan.Regulatory, Confidence: "high"}, plan.Factual, "medium", []sextant.Role{sextant.RoleEvents, sextant.RoleRules}},
		"rules are not":         {unsure, plan.Advice{Intent: plan.Regulatory, Confidence: "medium"}, plan.Regulatory, "medium", []sextant.Role{sextant.RoleRules, sextant.RoleEvents}},
		"neither is":            {unsure, plan.Advice{Intent: plan.Regulatory, Confidence: "low"}, plan.Factual, "low", []sextant.Role{sextant.RoleEvents, sextant.RoleRules}},
		"out of scope stays so": {foreign, plan.Advice{Intent: plan.Causal, Confidence: "high"}, plan.OutOfScope, "high", rules.Roles},
		"no such intent":        {rules, plan.Advice{Intent: "gossip", Confidence: "high"}, plan.Factual, "high", rules.Roles},
	} {
		got := tt.plan.Advised(tt.advice)
		if got.Intent != tt.intent || got.Confidence != tt.confidence {
			t.Errorf("%s: %s %s", name, got.Intent, got.Confidence)
		}
		for _, role := range tt.roles {
			if !slices.Contains(got.Roles, role) {
				t.Errorf("%s: %s is not looked at: %v", name, role, got.Roles)
			}
		}
	}
	if slices.Contains(rules.Roles, sextant.RoleRules) {
		t.Error("the rules' own plan was changed")
	}
}

func caller(answers ...string) *llm.Caller {
	s := &llmtest.Script{}
	for _, a := range answers {
		s.Answers = append(s.Answers, llmtest.Text(a))
	}
	return llm.NewCaller(s, llm.Policy{First: time.Nanosecond})
}

func TestAsk(t *testing.T) {
	in := prompt.UnderstandInput{Question: "Why did the lathe stop?", Today: "2013-01-15", Collections: []prompt.Collection{{Name: "faults"}}}
	good := `{"intent":"causal","confidence":"high","aspects":["cause","cause"," "],"queries":[{"collection":"faults","query":"lathe stopped\u202E"}],"conditions":[{"words":"lathe","field":"machine","op":"eq","values":["lathe"]}],"disputes":[]}`
	a, err := plan.Ask(context.Background(), caller("Here you are:\n```json\n"+good+"\n```"), in)
	if err != nil || a.Intent != plan.Causal || len(a.Aspects) != 1 || a.Queries["faults"] != "lathe stopped" || len(a.Proposals) != 1 {
		t.Errorf("%+v %v", a, err)
	}
	for name, bad := range map[string]string{"null": "null", "prose": "I think it is about lathes.", "another shape": `{"answer": 42}`, "another intent": `{"intent":"gossip","confidence":"high","aspects":[],"queries":[],"conditions":[],"disputes":[]}`,
		"a collection there is not": `{"intent":"causal","confidence":"high","aspects":[],"queries":[{"collection":"secrets","query":"x"}],"conditions":[],"disputes":[]}`} {
		if a, err := plan.Ask(context.Background(), caller(bad), in); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestJudgeAsksNothingTwice(t *testing.T) {
	v, err := plan.Judge(context.Background(), caller(`{"sufficient":false,"missing":["oil"],"queries":["Lathe Oil","oil of the lathe","oil of the lathe"]}`), "q", "m", nil, nil, []string{"lathe oil"})
	if err != nil || v.Sufficient || !slices.Equal(v.Queries, []string{"oil of the lathe"}) {
		t.Errorf("%+v %v", v, err)
	}
}
