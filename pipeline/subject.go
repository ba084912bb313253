package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/compute"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/plan"
	"github.com/sextant-rag/sextant/store"
)

// subject is what a question can be about: collections that are read with one lexicon.
// The domain's collections are one; every other collection is one by itself, read by
// its own schema and values. Kept apart, the words of one never are conditions of
// another: "open" is the status of a ticket, not of an airport.
type subject struct {
	collections []store.Collection
	parser      *constrain.Parser
	words       plan.Words
	counting    compute.Domain
	names       map[string]bool // what its documents are called; empty for the domain, whose words tell
}

// subjects groups the collections. The domain's, if it has any, come first.
func (e *Engine) subjects(ctx context.Context, collections []store.Collection) ([]*subject, error) {
	var own []store.Collection
	var others []*subject
	for _, c := range collections {
		spec := c.Spec()
		if e.ofDomain(spec.Name) {
			own = append(own, c)
			continue
		}
		v, err := constrain.BuildVocabulary(ctx, []store.Collection{c})
		if err != nil {
			return nil, err
		}
		names := called(spec)
		said, err := e.wording(spec.Name)
		if err != nil {
			return nil, err
		}
		names = append(names, said.Called...)
		l, err := said.Extend(ownLexicon(spec, names, e.domain.Lexicon), spec.Schema)
		if err != nil {
			return nil, misworded(spec.Name, err)
		}
		others = append(others, &subject{collections: []store.Collection{c}, parser: constrain.NewParser(v, l, nil), names: wordSet(names),
			words: plan.Words{Sources: map[sextant.Role][]string{spec.Role: names}}})
	}
	if len(own) == 0 {
		return others, nil
	}
	v, err := constrain.BuildVocabulary(ctx, own, e.domain.Lexicon.Lookups...)
	if err != nil {
		return nil, err
	}
	l := e.lexicon(own)
	for _, c := range own {
		said, err := e.wording(c.Spec().Name)
		if err != nil {
			return nil, err
		}
		spec := c.Spec()
		if l, err = said.Extend(l, spec.Schema); err != nil {
			return nil, misworded(spec.Name, err)
		}
	}
	domain := &subject{collections: own, parser: constrain.NewParser(v, l, e.domain.Made), words: e.domain.Words, counting: e.domain.Compute}
	return append([]*subject{domain}, others...), nil
}

// wording is what the owner of a collection says of it.
func (e *Engine) wording(name string) (constrain.Wording, error) {
	if e.words == nil {
		return constrain.Wording{}, nil
	}
	said, err := e.words(name)
	if err != nil {
		return said, misworded(name, err)
	}
	return said, nil
}

// misworded says that the words kept for a collection cannot be used, which whoever wrote
// them can mend.
func misworded(name string, err error) error {
	return &sextant.Error{Code: sextant.CodeBadRequest, Op: "words of " + name, Message: fmt.Sprintf("The words kept for %s cannot be used: %s.", name, strings.TrimPrefix(err.Error(), "wording: ")), Hint: "Mend the file of words beside the collection's schema.", Err: err}
}

func (e *Engine) ofDomain(name string) bool {
	return slices.ContainsFunc(e.domain.Collections, func(c sextant.Collection) bool { return c.Name == name })
}

// called returns what people call a collection's documents: its unit and its name.
func called(spec sextant.Collection) []string {
	var out []string
	for _, text := range []string{spec.Unit, strings.ReplaceAll(spec.Name, "_", " ")} {
		words := constrain.Words(text)
		if len(words) == 0 {
			continue
		}
		last := words[len(words)-1]
		for _, w := range []string{last, strings.TrimSuffix(last, "s")} {
			if len(w) > 2 && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
		if s, ok := strings.CutSuffix(last, "ies"); ok {
			out = append(out, s+"y")
		}
	}
	return out
}

func wordSet(words []string) map[string]bool {
	out := map[string]bool{}
	for _, w := range words {
		out[w] = true
	}
	return out
}

// intervals are what dates are grouped by.
var intervals = []store.Interval{store.Year, store.Quarter, store.Month, store.Day, store.Weekday}

// ownLexicon is what a schema says of how people speak of its fields: by their names and
// labels, of their dates by the verb in the name. Common words of the language are the
// domain's.
func ownLexicon(spec sextant.Collection, names []string, language *constrain.Lexicon) *constrain.Lexicon {
	l := &constrain.Lexicon{Dates: spec.DateField, EventNouns: names, DatedBy: map[string]string{}, Groupings: map[string]constrain.Grouping{}, Words: language.Words, Abbreviations: language.Abbreviations}
	group := func(name string, g constrain.Grouping) {
		if _, taken := l.Groupings[name]; !taken && name != "" {
			l.Groupings[name] = g
		}
	}
	if spec.DateField != "" {
		for _, by := range intervals {
			group(string(by), constrain.Grouping{Name: string(by), Field: spec.DateField, By: string(by)})
		}
	}
	for _, f := range spec.Schema.Fields {
		switch {
		case f.Kind == filter.Time:
			words := constrain.Words(cmp.Or(f.Label, strings.ReplaceAll(f.Name, "_", " ")))
			if len(words) > 0 {
				l.DatedBy[words[0]] = f.Name
			}
		case f.Facet, f.Kind == filter.Bool:
			g := constrain.Grouping{Name: f.Name, Field: f.Name}
			group(strings.ReplaceAll(f.Name, "_", " "), g)
			group(strings.ToLower(f.Label), g)
		}
	}
	for _, f := range spec.Schema.Fields { // "agent" for "assigned agent", where no other field is called so
		if words := strings.Split(f.Name, "_"); f.Facet && len(words) > 1 {
			group(words[len(words)-1], constrain.Grouping{Name: f.Name, Field: f.Name})
		}
	}
	return l
}

// holds reports whether a subject has any document.
func (s *subject) holds() bool {
	for _, n := range s.parser.Vocabulary().Documents {
		if n > 0 {
			return true
		}
	}
	return false
}

// has reports whether a collection belongs to the subject.
func (s *subject) has(name string) bool {
	return slices.ContainsFunc(s.collections, func(c store.Collection) bool { return c.Spec().Name == name })
}

// ofRole returns the subject's collections of a role.
func (s *subject) ofRole(role sextant.Role) (out []store.Collection) {
	for _, c := range s.collections {
		if c.Spec().Role == role {
			out = append(out, c)
		}
	}
	return out
}

// everything is all collections taken together. A question about them is not read for
// conditions: it is looked up.
func (s *state) everything() *subject {
	return &subject{collections: s.collections, parser: s.subjects[0].parser, counting: compute.Domain{}}
}

// choose decides what the question is about and reads it: the subject that understands
// most of its words, among those of the collections the caller names and those that have
// the fields of the caller's filter. Of equals the domain's wins. A question that none
// understands is looked up in all collections that are not the domain's.
func (a *asking) choose() {
	best := -1
	var candidates []*subject
	for _, s := range a.state.subjects {
		if a.allowed(s) {
			candidates = append(candidates, s)
		}
	}
	if len(candidates) == 0 {
		candidates = a.state.subjects
	}
	for _, s := range candidates {
		reading := s.parser.Parse(a.question.Text, a.asOf)
		made := plan.Make(reading, s.parser, s.words)
		if score := s.understands(reading, made); score > best {
			best, a.subject, a.reading, a.plan = score, s, reading, made
		}
	}
	if best == unknowing && len(a.subject.names) > 0 && len(a.question.Collections) == 0 && a.question.FilterText == "" {
		all := &subject{parser: a.subject.parser}
		a.plan.Roles = []sextant.Role{sextant.RoleEvents, sextant.RoleRules, sextant.RoleReports, sextant.RoleReference}
		for _, s := range candidates {
			if len(s.names) > 0 {
				all.collections = append(all.collections, s.collections...)
			}
		}
		a.subject = all
	}
	for _, name := range a.question.Collections {
		if !a.subject.has(name) {
			a.answer.Caveats = append(a.answer.Caveats, fmt.Sprintf("The question was read as one about %s; %s was not looked at. Ask about it separately.", a.subject.collections[0].Spec().Name, name))
		}
	}
}

// allowed reports whether the caller's collections and filter leave a subject possible.
func (a *asking) allowed(s *subject) bool {
	if names := a.question.Collections; len(names) > 0 && !slices.ContainsFunc(names, s.has) {
		return false
	}
	return a.question.FilterText == "" || slices.ContainsFunc(s.collections, func(c store.Collection) bool {
		spec := c.Spec()
		_, err := spec.Schema.ParseExpr(a.question.FilterText)
		return err == nil
	})
}

// unknowing is how far a subject that holds documents understands a question that shows
// nothing of it.
const unknowing = 1

// understands measures how much of a question is the subject's.
func (s *subject) understands(r constrain.Reading, p plan.Plan) int {
	score := 0
	for _, c := range r.Constraints {
		score += 2 * len(strings.Fields(c.Text))
	}
	switch {
	case len(s.names) == 0 && p.Intent == plan.OutOfScope:
		return 0
	case len(s.names) == 0 && !s.holds():
		return score + unknowing // it can say what is missing, where no other understands more
	case len(s.names) == 0:
		return score + 3
	case !s.holds():
		return 0
	case slices.ContainsFunc(r.Words, func(w string) bool { return s.names[w] }):
		return score + 5
	}
	return max(score, unknowing)
}
