package filter

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Resolve checks a filter against the schema and returns the form a store is handed:
// views replaced by their fields, ints widened to floats where the field is a Float,
// constants folded out. The caller's filter is not changed.
//
// A field of a group must stand inside an Each of that group and a document's own
// field outside: which element is meant must never be guessed here.
func (s *Schema) Resolve(f Filter) (Filter, error) {
	out, err := s.resolve(f, "")
	if err != nil {
		return nil, err
	}
	return Simplify(out), nil
}

func (s *Schema) resolve(f Filter, group string) (Filter, error) {
	switch f := f.(type) {
	case nil:
		return All, nil
	case And:
		subs, err := s.resolveAll(f, group)
		return And(subs), err
	case Or:
		subs, err := s.resolveAll(f, group)
		return Or(subs), err
	case Not:
		sub, err := s.resolve(f.Filter, group)
		return Not{sub}, err
	case Mentions:
		return resolveMentions(f, group)
	case Each:
		if group != "" || !s.HasGroup(f.Group) {
			return nil, fmt.Errorf("filter: no group %q here: %w", f.Group, ErrSchema)
		}
		sub, err := s.resolve(f.Filter, f.Group)
		return Each{f.Group, sub}, err
	}
	return s.resolveCondition(f, group)
}

// MaxWithin is the largest distance of a Mentions.
const MaxWithin = 63

func resolveMentions(f Mentions, group string) (Filter, error) {
	switch {
	case group != "":
		return nil, fmt.Errorf("filter: mentions is a condition on a document, not on each %s: %w", group, ErrSchema)
	case f.Within < 0 || f.Within > MaxWithin:
		return nil, fmt.Errorf("filter: mentions within %d words; at most %d: %w", f.Within, MaxWithin, ErrSchema)
	case len(f.Near) > 0 && len(f.Phrases) == 0:
		return nil, fmt.Errorf("filter: mentions near something, but of what: %w", ErrSchema)
	}
	for _, phrase := range slices.Concat(f.Phrases, f.Near) {
		if !strings.ContainsFunc(phrase, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return nil, fmt.Errorf("filter: mentions %q, which has no word: %w", phrase, ErrSchema)
		}
	}
	return f, nil
}

func (s *Schema) resolveAll(fs []Filter, group string) ([]Filter, error) {
	out := make([]Filter, len(fs))
	for i, sub := range fs {
		var err error
		if out[i], err = s.resolve(sub, group); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Schema) resolveCondition(f Filter, group string) (Filter, error) {
	name := FieldOf(f)
	field, ok := s.Field(name)
	switch {
	case !ok:
		return nil, fmt.Errorf("filter: no field %q: %w", name, ErrSchema)
	case field.Group != group && group == "":
		return nil, fmt.Errorf("filter: field %q belongs to each %s: say which by Each: %w", name, field.Group, ErrSchema)
	case field.Group != group:
		return nil, fmt.Errorf("filter: field %q is no field of %s: %w", name, group, ErrSchema)
	}
	typed, err := typeCondition(f, field)
	if err != nil || len(field.AnyOf) == 0 {
		return typed, err
	}
	any := make(Or, len(field.AnyOf))
	for i, under := range field.AnyOf {
		any[i] = renamed(typed, under)
	}
	return any, nil
}

// FieldOf returns the field a single condition is about, "" for And, Or, Not, Each, Mentions.
func FieldOf(f Filter) string {
	switch f := f.(type) {
	case Eq:
		return f.Field
	case In:
		return f.Field
	case Range:
		return f.Field
	case Exists:
		return f.Field
	case Contains:
		return f.Field
	}
	return ""
}

func renamed(f Filter, field string) Filter {
	switch f := f.(type) {
	case Eq:
		f.Field = field
		return f
	case In:
		f.Field = field
		return f
	case Range:
		f.Field = field
		return f
	case Exists:
		f.Field = field
		return f
	case Contains:
		f.Field = field
		return f
	}
	return f
}

func typeCondition(f Filter, field Field) (Filter, error) {
	var err error
	switch f := f.(type) {
	case Eq:
		f.Value, err = typed(field, f.Value)
		return f, err
	case In:
		values := make([]Value, len(f.Values))
		for i, v := range f.Values {
			if values[i], err = typed(field, v); err != nil {
				return nil, err
			}
		}
		return In{f.Field, values}, nil
	case Range:
		return typeRange(f, field)
	case Contains:
		if field.Kind != Keyword {
			return nil, fmt.Errorf("filter: contains needs a keyword, %q is %s: %w", field.Name, field.Kind, ErrSchema)
		}
	}
	return f, nil
}

func typeRange(f Range, field Field) (Filter, error) {
	if field.Kind == Keyword || field.Kind == Bool {
		return nil, fmt.Errorf("filter: %q is %s and has no order: %w", field.Name, field.Kind, ErrSchema)
	}
	for _, bound := range []*Value{&f.Lo, &f.Hi} {
		if bound.IsZero() {
			continue
		}
		v, err := typed(field, *bound)
		if err != nil {
			return nil, err
		}
		*bound = v
	}
	if f.Lo.IsZero() && f.Hi.IsZero() {
		return Exists{f.Field}, nil
	}
	return f, nil
}

func typed(field Field, v Value) (Value, error) {
	if field.Kind == Float && v.Kind() == Int {
		v = OfFloat(float64(v.Int()))
	}
	if v.Kind() != field.Kind {
		return v, fmt.Errorf("filter: %q is %s, got %s %q: %w", field.Name, field.Kind, v.Kind(), v, ErrSchema)
	}
	if v.Kind() == Float && math.IsNaN(v.Float()) {
		return v, fmt.Errorf("filter: %q compared with not-a-number: %w", field.Name, ErrSchema)
	}
	return v, nil
}
