package compute

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// tooManyUnknown is the share of documents without the field above which a count is
// said to be a lower bound.
const tooManyUnknown = 0.2

// method writes the card of a figure.
func (c *computer) method(unit string, total int64) (sextant.Method, error) {
	m := sextant.Method{Unit: c.spec.UnitLabel(unit), Scope: "all " + c.spec.UnitLabel(store.Documents) + " of " + c.spec.Title + " that are held", Period: c.period(), Files: c.Files}
	m.Unknown, m.AtLeast = c.unknowns()
	for _, fill := range []func(*sextant.Method) error{c.covers, c.notes, c.openCases, c.countedAs, func(m *sextant.Method) error { return c.otherCounts(m, unit, total) }, func(m *sextant.Method) error { return c.proxies(m, unit) }} {
		if err := fill(&m); err != nil {
			return m, err
		}
	}
	return m, nil
}

// covers says over which days the collection holds documents, and what of the period that
// is asked for lies outside.
func (c *computer) covers(m *sextant.Method) error {
	covered, ok := c.coverage()
	if !ok {
		return nil
	}
	_, begin, stray := c.strays()
	if begin.Before(covered.From) {
		begin = covered.From
	}
	from, to := constrain.Span{From: begin, To: covered.To}.Strings()
	m.Coverage, m.DataDate = from+" to "+to, to
	if stray > 0 {
		m.Coverage += fmt.Sprintf(", and %d stray records from %s on", stray, covered.From.Format(time.DateOnly))
	}
	for _, p := range c.Parts {
		if s, ok := asSpan(p, c.spec.DateField); ok && len(p.Values) == 1 {
			if !s.From.IsZero() && s.From.Before(begin) || !s.To.IsZero() && s.To.After(covered.To) {
				m.Notes = append(m.Notes, fmt.Sprintf("The data run from %s to %s; of what was asked beyond that nothing is held, which is not zero.", from, to))
			}
		}
	}
	return nil
}

func asSpan(p constrain.Compiled, field string) (constrain.Span, bool) {
	if p.Field != field || len(p.Values) == 0 || p.Op == sextant.OpNotIn {
		return constrain.Span{}, false
	}
	s, ok := p.Values[0].(constrain.Span)
	return s, ok
}

func (c *computer) notes(m *sextant.Method) error {
	for _, p := range c.Parts {
		if p.Op == sextant.OpMentions || p.Op == sextant.OpNotMentions {
			m.Notes = append(m.Notes, "A mention is no cause: the words stand in the text, whatever it says of them.")
			break
		}
	}
	if c.Domain.Notes == nil {
		return nil
	}
	notes, err := c.Domain.Notes(c.ctx, c.Request)
	m.Notes = append(m.Notes, notes...)
	return err
}

func (c *computer) period() string {
	for _, p := range c.Parts {
		if p.Field == c.spec.DateField && len(p.Values) > 0 {
			texts := make([]string, len(p.Values))
			for i, v := range p.Values {
				texts[i] = valueText(v)
			}
			switch p.Op {
			case sextant.OpGte:
				return "from " + strings.TrimSuffix(texts[0], " to ")
			case sextant.OpLte:
				return "until " + strings.TrimPrefix(texts[0], " to ")
			case sextant.OpNotIn:
				return "all that is held except " + strings.Join(texts, ", ")
			}
			return strings.Join(texts, ", ")
		}
	}
	return "all that is held"
}

// unknowns says for each condition how many more could match if the field had been
// recorded, and whether the field is missing in so many of the documents it had to
// decide on that the count is a lower bound.
func (c *computer) unknowns() (lines []string, atLeast bool) {
	for _, p := range c.Parts {
		k, ok := c.account(p)
		if !ok || k.Within == 0 {
			continue
		}
		atLeast = atLeast || c.mostlyUnknown(k)
		units := c.spec.UnitLabel(store.Documents)
		if p.Op == sextant.OpMentions || p.Op == sextant.OpNotMentions {
			lines = append(lines, fmt.Sprintf("No %s is held for %d of the %d %s that satisfy every other condition.", p.Field, k.Within, k.Others, units))
			continue
		}
		lines = append(lines, fmt.Sprintf("%s is not recorded for %d of the %d %s that satisfy every other condition.", c.label(p.Field), k.Within, k.Others, units))
	}
	return lines, atLeast
}

// account finds what the ledger says of a constraint that values of this collection could
// satisfy if they had been recorded.
func (c *computer) account(p constrain.Compiled) (sextant.Constraint, bool) {
	field, ok := c.spec.Schema.Field(p.Field)
	mention := p.Op == sextant.OpMentions || p.Op == sextant.OpNotMentions
	if !mention && (!ok || !field.Facet) {
		return sextant.Constraint{}, false // an identifier that is not recorded names no other record
	}
	for _, k := range c.Ledger.Constraints {
		if k.Field == p.Field && k.Op == p.Op && k.Start == p.Start && k.End == p.End && slices.Contains(k.Collections, c.spec.Name) {
			return k, true
		}
	}
	return sextant.Constraint{}, false
}

// mostlyUnknown reports whether so many could satisfy a constraint besides that a count
// under it is a lower bound.
func (c *computer) mostlyUnknown(k sextant.Constraint) bool {
	return float64(k.Within) > tooManyUnknown*float64(k.Others)
}

func (c *computer) openCases(m *sextant.Method) (err error) {
	if c.Domain.Open == nil {
		return nil
	}
	if open, err := c.spec.Schema.Resolve(c.Domain.Open); err == nil {
		m.OpenCases, err = c.Collection.Count(c.ctx, filter.Simplify(filter.And{c.Filter, open}), store.Documents)
		return err
	}
	return nil
}

const maxSpellings = 12

// countedAs lists the spellings that a normalised value was counted under.
func (c *computer) countedAs(m *sextant.Method) error {
	for _, p := range c.Parts {
		recorded, ok := c.Domain.Recorded[p.Field]
		if _, known := c.spec.Schema.Field(recorded); !ok || !known {
			continue
		}
		facet, err := c.Collection.Facet(c.ctx, store.FacetQuery{Field: recorded, Filter: c.Filter, Limit: maxSpellings})
		if err != nil {
			return err
		}
		for _, b := range facet.Buckets {
			m.CountedAs = append(m.CountedAs, []any{b.Value.Str(), b.Count})
		}
	}
	return nil
}

// otherCounts adds the other figures the same words could mean, where they differ.
func (c *computer) otherCounts(m *sextant.Method, unit string, total int64) error {
	add := func(rule, why string, f filter.Filter, unit string) error {
		n, err := c.Collection.Count(c.ctx, f, unit)
		if err == nil && n != total && !slices.ContainsFunc(m.OtherCounts, func(o sextant.OtherCount) bool { return o.Rule == rule }) {
			m.OtherCounts = append(m.OtherCounts, sextant.OtherCount{Rule: rule, Count: n, Why: why})
		}
		return err
	}
	for i, g := range c.spec.Schema.Groups {
		if i > 0 && !c.conditionOn(g.Name) {
			continue // what a document holds besides what it is about is no reading of the question
		}
		if unit == store.Documents {
			if err := add(c.spec.UnitLabel(g.Name), fmt.Sprintf("one of the %s can have several %s that satisfy the conditions", c.spec.UnitLabel(store.Documents), c.spec.UnitLabel(g.Name)), c.Filter, g.Name); err != nil {
				return err
			}
		} else if g.Name == unit {
			if err := add(c.spec.UnitLabel(store.Documents), "counted once each, however many "+c.spec.UnitLabel(unit)+" are the reason", c.Filter, store.Documents); err != nil {
				return err
			}
		}
	}
	if f, ok := withoutImplied(c.Parts); ok {
		if err := add("implied conditions left out", "the name brings a condition with it that the question does not state", f, unit); err != nil {
			return err
		}
	}
	if f, ok := documentNegation(c.Parts); ok {
		if err := add("negation of the whole", fmt.Sprintf("no %s at all is one of the excluded", strings.TrimSuffix(groupLabel(c.spec), "s")), f, unit); err != nil {
			return err
		}
	}
	for _, r := range c.Domain.Rules {
		f, ok, err := r.Apply(c.ctx, c.Request)
		if err != nil {
			return fmt.Errorf("count by the rule %q: %w", r.Name, err)
		}
		if _, misfit := c.spec.Schema.Resolve(f); ok && misfit == nil { // a rule about other collections changes nothing
			if err := add(r.Name, r.Why, f, unit); err != nil {
				return err
			}
		}
	}
	return nil
}

// conditionOn reports whether a condition is on a field of a group.
func (c *computer) conditionOn(group string) bool {
	return slices.ContainsFunc(c.Parts, func(p constrain.Compiled) bool {
		f, ok := c.spec.Schema.Field(p.Field)
		return ok && f.Group == group
	})
}

func groupLabel(spec sextant.Collection) string {
	if len(spec.Schema.Groups) == 0 {
		return "element"
	}
	return spec.UnitLabel(spec.Schema.Groups[0].Name)
}

func withoutImplied(parts []constrain.Compiled) (filter.Filter, bool) {
	kept := slices.DeleteFunc(slices.Clone(parts), func(p constrain.Compiled) bool { return p.Implied })
	return constrain.Joint(kept), len(kept) < len(parts) && len(kept) > 0
}

// documentNegation reads a negated condition on a group as one on the document: no
// aircraft of the event is a Cessna, instead of some aircraft is known to be another.
func documentNegation(parts []constrain.Compiled) (filter.Filter, bool) {
	var kept []constrain.Compiled
	var none filter.And
	for _, p := range parts {
		negated := p.Op == sextant.OpNotIn || p.Op == sextant.OpNotContains
		if !negated || p.Group == "" {
			kept = append(kept, p)
			continue
		}
		none = append(none, filter.Not{Filter: filter.Each{Group: p.Group, Filter: filter.And{filter.Exists{Field: p.Field}, filter.Not{Filter: p.Filter}}}})
	}
	return filter.Simplify(append(none, constrain.Joint(append(kept, negatedParts(parts)...)))), len(none) > 0
}

func negatedParts(parts []constrain.Compiled) []constrain.Compiled {
	return slices.DeleteFunc(slices.Clone(parts), func(p constrain.Compiled) bool {
		return p.Op != sextant.OpNotIn && p.Op != sextant.OpNotContains || p.Group == ""
	})
}
