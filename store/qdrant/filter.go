package qdrant

import (
	"fmt"
	"math"

	"github.com/sextant-rag/sextant/filter"
)

// documentField stands for the ids of documents in filters that were rewritten. No schema
// has a field of that name.
const documentField = "_document"

// valueKey is where a field's values stand. in names the group whose objects the key is
// relative to; outside of them it is written as a path through all elements.
func valueKey(f filter.Field, in string) string { return prefix(f, in) + f.Name }

// foldedKey is where the values stand as they are compared.
func foldedKey(f filter.Field, in string) string {
	if f.Fold == filter.Exact {
		return valueKey(f, in)
	}
	return prefix(f, in) + "_fold." + f.Name
}

// wideKey is where the halves of integers stand that a float64 does not hold.
func wideKey(f filter.Field, in string) string { return prefix(f, in) + "_wide." + f.Name }

func prefix(f filter.Field, in string) string {
	switch {
	case f.Group == "":
		return "metadata."
	case in == insideObject:
		return ""
	}
	return "metadata." + f.Group + "[]."
}

// insideObject says that a key is one of the objects of a nested condition.
const insideObject = "{}"

// translation turns a resolved, rewritten filter into Qdrant's.
type translation struct {
	schema filter.Schema
	unit   string // group whose elements are asked for: its Each is about the point itself
}

// condition translates a filter that is no constant.
func (t translation) condition(f filter.Filter, in string) (condition, error) {
	switch f := f.(type) {
	case filter.And:
		cs, err := t.conditions(f, in)
		return condition{clause: clause{Must: cs}}, err
	case filter.Or:
		cs, err := t.conditions(f, in)
		return condition{clause: clause{Should: cs}}, err
	case filter.Not:
		c, err := t.condition(f.Filter, in)
		return not(c), err
	case filter.Each:
		return t.each(f)
	}
	return t.single(f, in)
}

func (t translation) conditions(fs []filter.Filter, in string) ([]condition, error) {
	out := make([]condition, len(fs))
	for i, f := range fs {
		var err error
		if out[i], err = t.condition(f, in); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// each asks documents with one element as if its fields were theirs, which is the same and
// what indexes answer, and looks into the elements only where there are several.
func (t translation) each(f filter.Each) (condition, error) {
	elements := "_g." + f.Group
	some := filter.IsAll(f.Filter)
	if t.unit == f.Group {
		if some {
			return atLeast(elements, 1), nil
		}
		return t.condition(f.Filter, "")
	}
	if some {
		return atLeast(elements, 1), nil
	}
	one, err := t.condition(f.Filter, "")
	if err != nil {
		return one, err
	}
	inner, err := t.condition(f.Filter, insideObject)
	if err != nil {
		return inner, err
	}
	several := condition{Nested: &nested{Key: "metadata." + f.Group, Filter: clause{Must: []condition{inner}}}}
	return anyOf(all(integers(elements, 1), one), all(atLeast(elements, 2), several)), nil
}

func (t translation) single(f filter.Filter, in string) (condition, error) {
	name := filter.FieldOf(f)
	if name == documentField {
		return keywords("document_id", texts(f.(filter.In).Values)...), nil
	}
	field, ok := t.schema.Field(name)
	if !ok {
		return condition{}, fmt.Errorf("no field %q: %w", name, filter.ErrSchema)
	}
	switch f := f.(type) {
	case filter.Exists:
		return exists(valueKey(field, in)), nil
	case filter.Eq:
		return oneOf(field, in, f.Value), nil
	case filter.In:
		return oneOf(field, in, f.Values...), nil
	case filter.Range:
		return between(field, in, f), nil
	}
	return condition{}, fmt.Errorf("condition %T: %w", f, filter.ErrSchema)
}

func texts(values []filter.Value) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.Str()
	}
	return out
}

// oneOf is equality with one of some values.
func oneOf(field filter.Field, in string, values ...filter.Value) condition {
	switch field.Kind {
	case filter.Keyword:
		folded := make([]string, len(values))
		for i, v := range values {
			folded[i] = field.Fold.Of(v.Str())
		}
		return keywords(foldedKey(field, in), folded...)
	case filter.Int, filter.Time:
		ns := make([]int64, len(values))
		for i, v := range values {
			ns[i] = v.Int() + v.Micros()
		}
		return integers(valueKey(field, in), ns...)
	}
	cs := make([]condition, len(values))
	for i, v := range values {
		if field.Kind == filter.Bool {
			b := v.Bool()
			cs[i] = condition{Key: valueKey(field, in), Match: &match{Bool: &b}}
			continue
		}
		x := v.Float() // Qdrant matches no floats
		cs[i] = condition{Key: valueKey(field, in), Range: &span{GTE: &x, LTE: &x}}
	}
	return anyOf(cs...)
}

// exactInt is the largest integer below which float64 has all of them.
const exactInt = 1 << 53

// isWide reports whether an integer is rounded, or others are rounded to it, where Qdrant
// compares float64.
func isWide(n int64) bool { return n >= exactInt || n <= -exactInt }

// between is a range. Bounds that a float64 holds, with all integers near them, are
// compared as they are, whatever is stored; the others by halves, which only stored values
// as large have.
func between(field filter.Field, in string, f filter.Range) condition {
	key := valueKey(field, in)
	if field.Kind == filter.Float {
		return condition{Key: key, Range: bounds(f.Lo, f.Hi, f.LoExcl, f.HiExcl, filter.Value.Float)}
	}
	of := func(v filter.Value) int64 { return v.Int() + v.Micros() }
	lo, hi := !f.Lo.IsZero() && isWide(of(f.Lo)), !f.Hi.IsZero() && isWide(of(f.Hi))
	if !lo && !hi {
		return condition{Key: key, Range: bounds(f.Lo, f.Hi, f.LoExcl, f.HiExcl, func(v filter.Value) float64 { return float64(of(v)) })}
	}
	var halves clause
	if !f.Lo.IsZero() {
		halves.Must = append(halves.Must, beyond(of(f.Lo), f.LoExcl, true))
	}
	if !f.Hi.IsZero() {
		halves.Must = append(halves.Must, beyond(of(f.Hi), f.HiExcl, false))
	}
	wide := condition{Nested: &nested{Key: wideKey(field, in), Filter: halves}}
	// Those that are not wide: all of them, or from the one bound on that is not wide.
	least, most := float64(1-exactInt), float64(exactInt-1)
	plain := span{GTE: &least, LTE: &most}
	if lo && of(f.Lo) > 0 || hi && of(f.Hi) < 0 {
		return wide
	}
	if x := float64(of(f.Lo)); !f.Lo.IsZero() && !lo {
		plain.GTE = &x
		if f.LoExcl {
			plain.GT, plain.GTE = &x, nil
		}
	}
	if x := float64(of(f.Hi)); !f.Hi.IsZero() && !hi {
		plain.LTE = &x
		if f.HiExcl {
			plain.LT, plain.LTE = &x, nil
		}
	}
	return anyOf(condition{Key: key, Range: &plain}, wide)
}

func bounds(lo, hi filter.Value, loExcl, hiExcl bool, of func(filter.Value) float64) *span {
	var s span
	if !lo.IsZero() {
		x := of(lo)
		if s.GTE = &x; loExcl {
			s.GT, s.GTE = &x, nil
		}
	}
	if !hi.IsZero() {
		x := of(hi)
		if s.LTE = &x; hiExcl {
			s.LT, s.LTE = &x, nil
		}
	}
	return &s
}

// beyond compares halves with a bound, above or below it.
func beyond(bound int64, excluded, above bool) condition {
	high, low := split(bound)
	var h, l span
	switch {
	case above && excluded:
		h.GT, l.GT = &high, &low
	case above:
		h.GT, l.GTE = &high, &low
	case excluded:
		h.LT, l.LT = &high, &low
	default:
		h.LT, l.LTE = &high, &low
	}
	return anyOf(condition{Key: "h", Range: &h}, all(integers("h", int64(high)), condition{Key: "l", Range: &l}))
}

// split cuts an integer into its upper half, with the sign, and its lower.
func split(n int64) (high, low float64) {
	return float64(n >> 32), float64(uint32(n & math.MaxUint32))
}
