package pipeline

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/signal"
	"github.com/sextant-rag/sextant/store"
)

// Bounds on what one collection is told of another's passages: enough to find what belongs
// together, too little to drown the question.
const (
	cuePassages = 3
	cueWords    = 8
)

// cues are what the passages found so far say that another collection can be asked by:
// rules they cite that it holds, values of fields that both have, and the words in which a
// record states its cause.
func (a *asking) cues(before []lookup, next store.Collection) []string {
	var out []string
	said := signal.Stems(a.question.Text)
	add := func(word string) {
		if !slices.Contains(out, word) && !strings.Contains(a.question.Text, word) {
			out = append(out, word)
		}
	}
	for _, l := range before {
		for _, p := range l.found.Passages[:min(len(l.found.Passages), cuePassages)] {
			for _, name := range a.rulesCited(p.Content, next) {
				add(name)
			}
			for _, value := range shared(p, next.Spec()) {
				add(value)
			}
		}
		for _, word := range causeWords(l.found.Passages, said) {
			add(word)
		}
	}
	return out
}

// rulesCited are the rules that a text cites and a collection holds: tokens with a digit and a
// point in them that are the name of a document there.
func (a *asking) rulesCited(text string, c store.Collection) []string {
	field := a.engine.domain.Rule.Name
	spec := c.Spec()
	if f, ok := spec.Schema.Field(field); !ok || f.Kind != filter.Keyword {
		return nil
	}
	var out []string
	for token := range strings.FieldsSeq(text) {
		token = strings.Trim(token, ".,;:()[]§\"'")
		if paragraph := strings.IndexByte(token, '('); paragraph > 0 {
			token = token[:paragraph]
		}
		if !strings.ContainsAny(token, "0123456789") || !strings.Contains(token, ".") || len(token) > 12 || slices.Contains(out, token) {
			continue
		}
		if n, err := c.Count(a.ctx, filter.Eq{Field: field, Value: filter.OfString(token)}, store.Documents); err == nil && n > 0 {
			out = append(out, token)
		}
	}
	return out
}

// shared are a passage's values of faceted fields that the other collection has as well,
// numbers aside.
func shared(p sextant.Passage, spec sextant.Collection) []string {
	var out []string
	for _, f := range spec.Schema.Fields {
		if f.Kind != filter.Keyword || !f.Facet || f.Name == spec.DateField {
			continue
		}
		if v := p.Metadata.Fields.One(f.Name); v.Kind() == filter.Keyword && len(v.Str()) > 2 {
			out = append(out, v.Str())
		}
	}
	return out
}

// causeWords are the first content words of the part in which the best passage states a
// cause, those of the question aside.
func causeWords(passages []sextant.Passage, said map[string]bool) []string {
	for _, p := range passages[:min(len(passages), cuePassages)] {
		if !strings.Contains(strings.ToLower(p.Locator+" "+p.Heading), "cause") {
			continue
		}
		var out []string
		for word := range strings.FieldsSeq(p.Content) {
			word = strings.Trim(word, ".,;:()[]\"'")
			stems := signal.Stems(word)
			if len(stems) == 0 || subset(stems, said) || strings.ContainsAny(word, "0123456789") {
				continue
			}
			if out = append(out, word); len(out) == cueWords {
				break
			}
		}
		return out
	}
	return nil
}
