package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// conflicts shows where sources disagree about one of the few things the answer is
// about: what a document was put together from, and what other collections report of it.
// Sides stand in order of their authority, each in its own words; nothing is blended.
func (a *asking) conflicts() error {
	if !a.narrow() {
		return nil
	}
	for _, d := range a.documents {
		c, ok := a.state.collection(d.Collection)
		if !ok || c.Spec().Role != sextant.RoleEvents {
			continue
		}
		spec := c.Spec()
		a.answer.Conflicts = append(a.answer.Conflicts, within(spec, d)...)
		against, err := a.between(spec, d)
		if err != nil {
			return err
		}
		a.answer.Conflicts = append(a.answer.Conflicts, against...)
	}
	return nil
}

// within makes conflicts of the differences a document kept, one a field.
func within(spec sextant.Collection, d sextant.Document) (out []sextant.Conflict) {
	type key struct{ field, element string }
	var order []key
	sides := map[key][]sextant.Difference{}
	for _, x := range d.Differences {
		k := key{x.Field, x.Element}
		if sides[k] == nil {
			order = append(order, k)
		}
		sides[k] = append(sides[k], x)
	}
	for _, k := range order {
		label := k.field
		if f, ok := spec.Schema.Field(k.field); ok && f.Label != "" {
			label = f.Label
		}
		conflict := sextant.Conflict{Subject: strings.TrimSpace(label + " of " + d.Title + " " + k.element)}
		slices.SortStableFunc(sides[k], func(x, y sextant.Difference) int {
			return cmp.Or(cmp.Compare(y.Source.Authority, x.Source.Authority), cmp.Compare(y.Date, x.Date))
		})
		for _, x := range sides[k] {
			conflict.Sides = append(conflict.Sides, side(d, label, x))
		}
		if len(conflict.Sides) > 1 {
			out = append(out, conflict)
		}
	}
	return out
}

// side is what one source says of a field, with the place in the document that says so
// where the document has kept it.
func side(d sextant.Document, label string, x sextant.Difference) sextant.Finding {
	value := x.Value
	if value == "" {
		value = "nothing"
	}
	from := []string{cmp.Or(x.Source.URI, x.Source.Kind, x.Source.Name)}
	for _, s := range []string{x.Status, x.Date} {
		if s != "" {
			from = append(from, s)
		}
	}
	f := sextant.Finding{Text: fmt.Sprintf("%s: “%s” (%s)", label, value, strings.Join(from, ", ")), Source: d.Collection, Confidence: "low", Quotes: []sextant.Quote{}}
	if x.Kept {
		f.Confidence = "high"
		if i := strings.Index(d.Text, x.Value); i >= 0 && len(x.Value) > 1 {
			if q, err := d.Quote(i, i+len(x.Value)); err == nil {
				f.Quotes = append(f.Quotes, q)
			}
		}
	}
	return f
}

// between compares an event's number of the worst consequence with what documents of
// other collections say that name the event by an identifier of its own: those that were
// found for the question, and reports whose records name it.
func (a *asking) between(spec sextant.Collection, event sextant.Document) (out []sextant.Conflict, err error) {
	grave := a.engine.domain.Lexicon.Grave
	stated := event.Meta.Fields.One(grave)
	names := identifiers(spec, event)
	if grave == "" || stated.Kind() != filter.Int || len(names) == 0 {
		return nil, nil
	}
	reports, err := a.reportsOf(names)
	if err != nil {
		return nil, err
	}
	reports = slices.DeleteFunc(reports, func(d sextant.Document) bool {
		return slices.ContainsFunc(a.documents, func(have sextant.Document) bool { return have.ID == d.ID })
	})
	for _, d := range slices.Concat(a.documents, reports) {
		if d.Collection == event.Collection || !mentionsAny(d, names) {
			continue
		}
		quote, n, ok := a.counted(d, grave)
		if !ok || int64(n) == stated.Int() {
			continue
		}
		own := sextant.Finding{Text: fmt.Sprintf("%s: %d", a.fieldLabel(grave), stated.Int()), Source: event.Collection, Confidence: "high", Quotes: []sextant.Quote{}}
		if q, ok := a.sentenceWith(event, grave, int(stated.Int())); ok {
			own.Text, own.Quotes = q.Text, append(own.Quotes, q)
		}
		out = append(out, sextant.Conflict{Subject: a.fieldLabel(grave) + " of " + event.Title,
			Sides: []sextant.Finding{own, {Text: quote.Text, Source: d.Collection, Confidence: "low", Quotes: []sextant.Quote{quote}}}})
	}
	return out, nil
}

// reportsOf returns a few reports that name one of the identifiers in a field for such.
func (a *asking) reportsOf(names []string) (out []sextant.Document, err error) {
	values := make([]filter.Value, len(names))
	for i, n := range names {
		values[i] = filter.OfString(n)
	}
	for _, c := range a.inScope() {
		spec := c.Spec()
		if spec.Role != sextant.RoleReports || a.state.holds(spec.Name) == 0 {
			continue
		}
		var named filter.Or
		for _, f := range spec.Schema.Fields {
			if f.Kind == filter.Keyword && !f.Facet && f.Fold == filter.Squeeze && f.Group == "" {
				named = append(named, filter.In{Field: f.Name, Values: values})
			}
		}
		if len(named) == 0 {
			continue
		}
		list, err := c.List(a.ctx, store.ListQuery{Filter: filter.Simplify(named), Limit: few})
		if err != nil {
			return nil, unavailable("look for reports", err)
		}
		docs, err := c.Get(a.ctx, list.IDs)
		if err != nil {
			return nil, unavailable("read reports", err)
		}
		out = append(out, docs...)
	}
	return out, nil
}

// identifiers are the values that name this document and hardly any other: those of
// keyword fields that are no facets, squeezed, with a digit in them.
func identifiers(spec sextant.Collection, d sextant.Document) (out []string) {
	fields := []filter.Fields{d.Meta.Fields}
	for _, elements := range d.Meta.Groups {
		fields = append(fields, elements...)
	}
	for _, f := range spec.Schema.Fields {
		if f.Kind != filter.Keyword || f.Facet || f.Fold != filter.Squeeze {
			continue
		}
		for _, element := range fields {
			for _, v := range element[f.Name] {
				if s := filter.Squeeze.Of(v.Str()); len(s) >= 4 && strings.ContainsAny(s, "0123456789") {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// mentionsAny reports whether a text has one of the identifiers as a word.
func mentionsAny(d sextant.Document, names []string) bool {
	for _, w := range strings.FieldsFunc(d.Title+" "+d.Text, func(r rune) bool { return r == ' ' || r == '\n' || strings.ContainsRune(",.;:()[]\"'", r) }) {
		if slices.Contains(names, filter.Squeeze.Of(w)) {
			return true
		}
	}
	return false
}

// counted finds the first sentence of a text that states a number of the field.
func (a *asking) counted(d sextant.Document, field string) (sextant.Quote, int, bool) {
	for _, s := range chunk.Sentences(d.Text) {
		if n, ok := a.states(d.Text[s.Start:s.End], field); ok {
			q, err := d.Quote(s.Start, s.End)
			return q, n, err == nil
		}
	}
	return sextant.Quote{}, 0, false
}

func (a *asking) sentenceWith(d sextant.Document, field string, n int) (sextant.Quote, bool) {
	for _, s := range chunk.Sentences(d.Text) {
		if got, ok := a.states(d.Text[s.Start:s.End], field); ok && got == n {
			q, err := d.Quote(s.Start, s.End)
			return q, err == nil
		}
	}
	return sextant.Quote{}, false
}

// states reads a number of the field out of a sentence, as it is read out of a question.
func (a *asking) states(sentence, field string) (int, bool) {
	for _, c := range a.subject.parser.Parse(sentence, a.asOf).Constraints {
		if c.Field == field && c.Op == sextant.OpEq && len(c.Values) == 1 && c.Origin == sextant.FromRule {
			n, ok := c.Values[0].(int)
			return n, ok
		}
	}
	return 0, false
}
