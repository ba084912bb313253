package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/compute"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/generate"
	"github.com/sextant-rag/sextant/plan"
	"github.com/sextant-rag/sextant/store"
)

// inScope returns the collections the question may use: those of its subject that it
// names, or all of them.
func (a *asking) inScope() []store.Collection {
	if len(a.question.Collections) == 0 {
		return a.subject.collections
	}
	var out []store.Collection
	for _, c := range a.subject.collections {
		if slices.Contains(a.question.Collections, c.Spec().Name) {
			out = append(out, c)
		}
	}
	return out
}

// userFilter reads the caller's own filter for every collection that has its fields.
// One that fits none is the caller's mistake.
func (a *asking) userFilter() (constrain.UserFilter, error) {
	u := constrain.UserFilter{Text: a.question.FilterText, Filter: map[string]filter.Filter{}}
	if u.Text == "" && a.question.Filter != nil {
		u.Text = filter.String(a.question.Filter)
	}
	if u.Text == "" {
		return u, nil
	}
	var mistake error
	for _, c := range a.inScope() {
		spec := c.Spec()
		f, err := spec.Schema.ParseExpr(u.Text)
		if err != nil {
			if mistake == nil || spec.Role == sextant.RoleEvents {
				mistake = err
			}
			continue
		}
		u.Filter[spec.Name] = f
	}
	if len(u.Filter) == 0 {
		return u, &sextant.Error{Code: sextant.CodeBadRequest, Op: "filter", Message: "The filter cannot be read: " + strings.TrimPrefix(fmt.Sprint(mistake), "filter: ") + ".",
			Hint: `Write it like: state = AK and event_date >= 2010-01-01. "sextant describe COLLECTION" lists the fields.`, Err: mistake}
	}
	return u, nil
}

func (a *asking) knownCollections() error {
	for _, name := range a.question.Collections {
		if _, ok := a.state.collection(name); !ok {
			return unknownCollection(name, a.state)
		}
	}
	return nil
}

func unknownCollection(name string, s *state) error {
	var names []string
	for _, c := range s.collections {
		names = append(names, c.Spec().Name)
	}
	return &sextant.Error{Code: sextant.CodeNotFound, Op: "collections", Message: fmt.Sprintf("There is no collection %q.", name), Hint: "There are: " + strings.Join(names, ", ") + "."}
}

// nothingHeld ends the question when no collection in scope holds a document.
func (a *asking) nothingHeld() bool {
	for _, c := range a.inScope() {
		if a.state.holds(c.Spec().Name) > 0 {
			return false
		}
	}
	for _, c := range a.inScope() {
		a.answer.NotHeld = append(a.answer.NotHeld, emptyCollection(c.Spec()))
	}
	a.answer.Status = sextant.InsufficientEvidence
	return true
}

func emptyCollection(spec sextant.Collection) sextant.NotHeld {
	return sextant.NotHeld{Collection: spec.Name, Reason: spec.Title + " are not ingested yet", Command: spec.Fill}
}

// notHeld names the collections the question needs that hold nothing: because of the
// plan, or because a condition is about them alone.
func (a *asking) notHeld() {
	needed := map[string]bool{}
	for _, role := range a.plan.Needed {
		for _, c := range a.subject.ofRole(role) {
			needed[c.Spec().Name] = true
		}
	}
	for _, k := range a.account.Ledger.Constraints {
		if len(k.Collections) == 1 {
			needed[k.Collections[0]] = true
		}
	}
	for _, c := range a.inScope() {
		if spec := c.Spec(); needed[spec.Name] && a.state.holds(spec.Name) == 0 {
			a.answer.NotHeld = append(a.answer.NotHeld, emptyCollection(spec))
		}
	}
}

// compute answers what the store can answer exactly: over every collection with
// conditions, and over the events when a figure is asked for without any.
func (a *asking) compute() (string, error) {
	for _, c := range a.inScope() {
		name := c.Spec().Name
		asked := c.Spec().Role != sextant.RoleRules && slices.Contains([]string{"count", "group", "top", "share", "first", "last", "sum", "mean", "distinct", "max", "min"}, a.reading.Request.Kind)
		asked = asked || a.reading.Request.Kind == "list" && len(a.reading.Topic) == 0 || len(a.reading.Sides) > 1
		if a.state.holds(name) == 0 || !a.account.Applies(name) && (a.asksText() || !(asked && a.events(c))) {
			continue
		}
		if c.Spec().Role == sextant.RoleRules {
			continue // a section is looked up, not counted
		}
		if c.Spec().Role == sextant.RoleEvents && slices.Equal(a.plan.Needed, []sextant.Role{sextant.RoleReports}) {
			continue // news of Boeing are no accidents of Boeings
		}
		f := a.account.Filters[name]
		if f == nil {
			f = filter.All
		}
		computed, err := compute.Run(a.ctx, compute.Request{Collection: c, Parser: a.subject.parser, Reading: a.reading, Parts: a.account.Parts[name], Filter: f,
			Ledger: a.account.Ledger, Files: a.state.files[name], Domain: a.subject.counting})
		if err != nil {
			return "", unavailable("compute", err)
		}
		a.answer.Computed = append(a.answer.Computed, computed...)
		if err := a.topicCount(c); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d figures", len(a.answer.Computed)), nil
}

// events reports whether a collection is one whose documents are counted when the
// question names no other: the events, or anything in a store without roles.
func (a *asking) events(c store.Collection) bool {
	return c.Spec().Role == sextant.RoleEvents || len(a.subject.ofRole(sextant.RoleEvents)) == 0
}

// few is how many documents the conditions may leave for their records to be the
// answer themselves.
const few = 3

// degrade notes what was done in a lesser way, each once.
func (a *asking) degrade(all ...sextant.Degradation) {
	for _, d := range all {
		if !slices.Contains(a.answer.Degraded, d) {
			a.answer.Degraded = append(a.answer.Degraded, d)
		}
	}
}

// searchText is the content of the question; the topic alone when conditions already
// hold for every candidate, so that they do not drown it.
func (a *asking) searchText() string {
	if len(a.reading.Topic) > 0 && len(a.reading.Constraints) > 0 {
		return strings.Join(a.reading.Topic, " ")
	}
	return a.reading.Content
}

// planned returns the collections of the plan in its order, and any other that a
// condition is about.
func (a *asking) planned() []store.Collection {
	var out []store.Collection
	add := func(c store.Collection) {
		name := c.Spec().Name
		if a.state.holds(name) > 0 && !slices.ContainsFunc(out, func(o store.Collection) bool { return o.Spec().Name == name }) {
			out = append(out, c)
		}
	}
	scope := a.inScope()
	inRole := func(role sextant.Role) {
		for _, c := range scope {
			if c.Spec().Role == role {
				add(c)
			}
		}
	}
	for _, role := range a.plan.Roles {
		inRole(role)
	}
	for _, c := range scope {
		if a.account.Applies(c.Spec().Name) {
			add(c)
		}
	}
	if len(out) == 0 {
		for _, c := range scope {
			add(c)
		}
	}
	// Where conditions bind one collection, others without conditions of their own would
	// only add what was not asked for.
	if len(a.account.Parts) > 0 && a.plan.Intent != plan.MultiSource {
		bound := slices.DeleteFunc(slices.Clone(out), func(c store.Collection) bool {
			asked := a.plan.Otherwise == plan.Regulatory && c.Spec().Role == sextant.RoleRules // what a rule says is not told by the events it is a condition of
			return !a.account.Applies(c.Spec().Name) && !asked
		})
		if len(bound) > 0 {
			return bound
		}
	}
	return out
}

// load gets the documents of the evidence, best first.
func (a *asking) load() error {
	byCollection := map[string][]sextant.DocumentID{}
	var order []sextant.DocumentID
	for _, p := range a.answer.Evidence {
		if !slices.Contains(order, p.DocumentID) {
			order = append(order, p.DocumentID)
			byCollection[p.Source] = append(byCollection[p.Source], p.DocumentID)
		}
	}
	loaded := map[sextant.DocumentID]sextant.Document{}
	for name, ids := range byCollection {
		c, _ := a.state.collection(name)
		docs, err := c.Get(a.ctx, ids)
		if err != nil {
			return unavailable("read documents", err)
		}
		for _, d := range docs {
			loaded[d.ID] = d
		}
	}
	for _, id := range order {
		if d, ok := loaded[id]; ok {
			a.documents = append(a.documents, d)
		}
	}
	a.leaveOut()
	return nil
}

// How many sentences an answer quotes: enough to stand for many documents, or to tell
// what one of a few is about.
const (
	maxFindings = 8
	maxNarrow   = 10
)

// generate has the large model write findings, if there is one; the sentences that answer
// are picked in any case.
func (a *asking) generate() (string, error) {
	note, err := a.extract()
	if err != nil || !a.writes() {
		return note, err
	}
	return a.write()
}

// extract picks the sentences that answer.
func (a *asking) extract() (string, error) {
	limit := maxFindings
	if a.narrow() {
		limit = maxNarrow
	}
	if a.reading.Request.Timeline && a.narrow() {
		return a.timeline()
	}
	out := generate.Extract(generate.Input{Question: a.question.Text, Topic: a.reading.Topic, Causal: a.plan.Otherwise == plan.Causal, Narrow: a.narrow(), Documents: a.documents, Limit: limit})
	a.answer.Findings, a.answer.CausalChain, a.coverage = out.Findings, out.CausalChain, out.Coverage
	a.best = out.Best
	a.sufficiency, a.support = out.Sufficiency, generate.Supports(a.searchText(), a.answer.Evidence).Score()
	if a.asksFigure() && !a.asksText() && (len(a.account.Parts) == 0 || len(a.reading.Topic) > 0 && a.coverage < enough) {
		a.answer.Findings = nil // a figure needs no sentences that speak of something else
	}
	if a.asksRecordOnly() {
		a.quoteFields()
		return fmt.Sprintf("%d findings", len(a.answer.Findings)), nil
	}
	for _, word := range append(out.Sufficiency.Lacking, out.Missing...) {
		a.answer.Missing = append(a.answer.Missing, sextant.Aspect{Name: word})
	}
	return fmt.Sprintf("%d findings", len(out.Findings)), nil
}
