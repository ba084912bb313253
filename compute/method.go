package compute

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
	if covered, ok := c.coverage(); ok {
		from, to := covered.Strings()
		m.Coverage, m.DataDate = from+" to "+to, to
	}
	m.Unknown, m.AtLeast = c.unknowns()
	if c.Domain.Notes != nil {
		m.Notes = c.Domain.Notes(c.Request)
	}
	for _, fill := range []func(*sextant.Method) error{c.openCases, c.countedAs, func(m *sextant.Method) error { return c.otherCounts(m, unit, total) }} {
		if err := fill(&m); err != nil {
			return m, err
		}
	}
	return m, nil
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
	for i, k := range c.Ledger.Constraints {
		if k.Within == 0 || !slices.Contains(k.Collections, c.spec.Name) {
			continue
		}
		field, ok := c.spec.Schema.Field(k.Field)
		if !ok || !field.Facet {
			continue // an identifier that is not recorded names no other record
		}
		if float64(k.Within) > tooManyUnknown*float64(k.Others) {
			atLeast = true
		}
		lines = append(lines, fmt.Sprintf("%s is not recorded for %d of the %d %s that satisfy every other condition.", c.label(c.Ledger.Constraints[i].Field), k.Within, k.Others, c.spec.UnitLabel(store.Documents)))
	}
	return lines, atLeast
}

func (c *computer) label(name string) string {
	if f, ok := c.spec.Schema.Field(name); ok && f.Label != "" {
		return f.Label
	}
	return name
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
		if err == nil && n != total {
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
		if f, ok := r.Apply(c.Parts); ok {
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

// title names the figure by its conditions.
func (c *computer) title(label string) string {
	var words []string
	for _, p := range c.Parts {
		words = append(words, Describe(c.spec, p))
	}
	if len(words) == 0 {
		return "All " + label
	}
	return strings.ToUpper(label[:1]) + label[1:] + ": " + strings.Join(words, "; ")
}

// Describe writes a constraint for people: "state AK", "date 2008-01-01 to 2012-12-31".
func Describe(spec sextant.Collection, p constrain.Compiled) string {
	if p.Field == "filter" {
		return filter.String(p.Filter)
	}
	label := p.Field
	if f, ok := spec.Schema.Field(p.Field); ok && f.Label != "" {
		label = f.Label
	}
	texts := make([]string, len(p.Values))
	for i, v := range p.Values {
		texts[i] = valueText(v)
	}
	switch p.Op {
	case sextant.OpNotIn, sextant.OpNotContains:
		return label + " not " + strings.Join(texts, " or ")
	case sextant.OpGte:
		return label + " from " + strings.TrimSuffix(texts[0], " to ")
	case sextant.OpLte:
		return label + " up to " + strings.TrimPrefix(texts[0], " to ")
	case sextant.OpBetween:
		return label + " " + strings.Join(texts, " to ")
	}
	return label + " " + strings.Join(texts, " or ")
}

// wilson returns the 95 % score interval of k of n (Wilson 1927), as shares.
func wilson(k, n int64) (low, high float64) {
	const z = 1.959963984540054
	p, size := float64(k)/float64(n), float64(n)
	centre := (p + z*z/(2*size)) / (1 + z*z/size)
	half := z / (1 + z*z/size) * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	return max(0, centre-half), min(1, centre+half)
}
