// Package plan decides how a question is worked on: which of six intents it has, which
// of four strategies that calls for, and which collections it needs in which order.
// It works on what package constrain read and needs no model.
package plan

import (
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

// Intent is what kind of answer a question wants.
type Intent string

// The intents.
const (
	Causal      Intent = "causal"       // what caused it, what contributed
	Compliance  Intent = "compliance"   // was what someone did allowed
	Factual     Intent = "factual"      // what happened, who, when, where, how many
	Comparative Intent = "comparative"  // things, periods or groups set against each other
	Regulatory  Intent = "regulatory"   // what a rule says, without a case
	MultiSource Intent = "multi_source" // events, rules and reports brought together
	OutOfScope  Intent = "out_of_scope" // nothing these collections could answer
)

// Strategy is how collections are worked through.
type Strategy string

// The strategies.
const (
	Direct     Strategy = "direct"     // one collection
	Sequential Strategy = "sequential" // the second is asked with what the first found
	Parallel   Strategy = "parallel"   // all at once
	Iterative  Strategy = "iterative"  // until the aspects are covered
)

// Words is what a domain says of its subject, for telling intents apart.
type Words struct {
	Subject map[string]bool           // words that belong to the domain: "runway", "pilot"
	Sources map[sextant.Role][]string // what people call each kind of source
	Kinds   map[string]bool           // fields that say of what kind a thing is; a rule can be about kinds, never about a case
	Places  map[string]bool           // fields of place and time, which alone tie a question to no subject
}

// Plan is the decision.
type Plan struct {
	Intent     Intent
	Confidence string // high, medium, low
	Strategy   Strategy
	Roles      []sextant.Role // what the strategy goes through, in order
	Needed     []sextant.Role // of these, the ones without which there is no answer
	Otherwise  Intent         // of a question that seems out of scope: its intent if it is not
	Foreign    bool           // the words name another subject, so that nothing needs to be looked up
}

// strategies are fixed by intent.
var strategies = map[Intent]struct {
	strategy Strategy
	roles    []sextant.Role
	needed   []sextant.Role
}{
	Causal:      {Sequential, []sextant.Role{sextant.RoleEvents, sextant.RoleRules, sextant.RoleReports}, []sextant.Role{sextant.RoleEvents}},
	Compliance:  {Sequential, []sextant.Role{sextant.RoleRules, sextant.RoleEvents}, []sextant.Role{sextant.RoleRules, sextant.RoleEvents}},
	Regulatory:  {Direct, []sextant.Role{sextant.RoleRules}, []sextant.Role{sextant.RoleRules}},
	Factual:     {Parallel, []sextant.Role{sextant.RoleEvents, sextant.RoleReports}, []sextant.Role{sextant.RoleEvents}},
	Comparative: {Iterative, []sextant.Role{sextant.RoleEvents}, []sextant.Role{sextant.RoleEvents}},
	MultiSource: {Parallel, []sextant.Role{sextant.RoleEvents, sextant.RoleRules, sextant.RoleReports}, []sextant.Role{sextant.RoleEvents, sextant.RoleRules, sextant.RoleReports}},
}

// Make plans a question.
func Make(r constrain.Reading, p *constrain.Parser, w Words) Plan {
	intent, confidence := classify(r, p, w)
	otherwise := intent
	if !inScope(r, p, w) {
		intent, confidence = OutOfScope, "medium"
	}
	s := strategies[otherwise]
	out := Plan{Intent: intent, Otherwise: otherwise, Confidence: confidence, Strategy: s.strategy, Roles: slices.Clone(s.roles), Needed: slices.Clone(s.needed)}
	out.Foreign = intent == OutOfScope && foreign(r.Words)
	if confidence == "low" { // whatever it may be about is looked at
		out.Roles = union(out.Roles, []sextant.Role{sextant.RoleEvents, sextant.RoleReports, sextant.RoleRules, sextant.RoleReference})
	}
	if intent == Factual && mentions(r.Words, w.Sources[sextant.RoleReports]) && !mentions(r.Words, w.Sources[sextant.RoleEvents]) && (!onEvents(r, p) || datesReports(r, p)) {
		out.Needed = []sextant.Role{sextant.RoleReports}
	}
	return out
}
