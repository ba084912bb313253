package filter

import (
	"slices"
	"strings"
)

// Match reports whether metadata satisfies a resolved filter. It is the definition
// of the algebra: written to be obviously right, not fast, and used as the oracle of
// every store. Filters that do not fit the schema match nothing; Resolve says why.
// Without a text, nothing is mentioned; see Matcher.
func (s *Schema) Match(f Filter, m Meta) bool {
	return Matcher{Schema: s}.Match(f, m)
}

// MatchElement reports whether element i of the group satisfies the filter when
// every Each over that group looks at this element alone. It defines what is counted
// when the unit is a group: the aircraft that are the reason why an event matches.
func (s *Schema) MatchElement(f Filter, m Meta, group string, i int) bool {
	return Matcher{Schema: s}.MatchElement(f, m, group, i)
}

// Matcher is Match for documents that have a text: Mentioned says whether it satisfies
// a Mentions. What a word is, this package does not know.
type Matcher struct {
	Schema    *Schema
	Mentioned func(Mentions) bool // nil: nothing is mentioned
}

// Match is Schema.Match with a text.
func (x Matcher) Match(f Filter, m Meta) bool { return x.match(f, m, "", -1) }

// MatchElement is Schema.MatchElement with a text.
func (x Matcher) MatchElement(f Filter, m Meta, group string, i int) bool {
	return x.match(f, m, group, i)
}

// match evaluates f; if fixed names a group, its Each sees only element i.
func (x Matcher) match(f Filter, m Meta, fixed string, i int) bool {
	switch f := f.(type) {
	case nil:
		return true
	case And:
		return !slices.ContainsFunc(f, func(sub Filter) bool { return !x.match(sub, m, fixed, i) })
	case Or:
		return slices.ContainsFunc(f, func(sub Filter) bool { return x.match(sub, m, fixed, i) })
	case Not:
		return !x.match(f.Filter, m, fixed, i)
	case Mentions:
		return x.Mentioned != nil && x.Mentioned(f)
	case Each:
		elements := m.Groups[f.Group]
		if f.Group == fixed {
			elements = elements[i : i+1]
		}
		return slices.ContainsFunc(elements, func(e Fields) bool {
			return x.match(f.Filter, Meta{Fields: e}, "", -1)
		})
	}
	return x.Schema.matchCondition(f, m.Fields)
}

func (s *Schema) matchCondition(f Filter, fields Fields) bool {
	field, ok := s.Field(FieldOf(f))
	if !ok {
		return false
	}
	if len(field.AnyOf) > 0 {
		return slices.ContainsFunc(field.AnyOf, func(under string) bool {
			return s.matchCondition(renamed(f, under), fields)
		})
	}
	return slices.ContainsFunc(fields[field.Name], func(v Value) bool { return field.holds(f, v) })
}

// holds reports whether one value of the field satisfies a single condition.
func (field Field) holds(f Filter, v Value) bool {
	switch f := f.(type) {
	case Exists:
		return true
	case Eq:
		return field.equal(v, f.Value)
	case In:
		return slices.ContainsFunc(f.Values, func(w Value) bool { return field.equal(v, w) })
	case Range:
		return f.Includes(v)
	case Contains:
		return strings.Contains(field.Fold.Of(v.Str()), field.Fold.Of(f.Sub))
	}
	return false
}

func (field Field) equal(v, w Value) bool {
	if field.Kind == Keyword {
		return field.Fold.Of(v.Str()) == field.Fold.Of(w.Str())
	}
	return v == w
}

// Includes reports whether v lies within the range's bounds.
func (f Range) Includes(v Value) bool {
	if !f.Lo.IsZero() {
		if c := v.Compare(f.Lo); c < 0 || c == 0 && f.LoExcl {
			return false
		}
	}
	if !f.Hi.IsZero() {
		if c := v.Compare(f.Hi); c > 0 || c == 0 && f.HiExcl {
			return false
		}
	}
	return true
}
