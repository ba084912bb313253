package chroma

import (
	"encoding/json"

	"github.com/sextant-rag/sextant/filter"
)

// condition is a where clause of Chroma's.
type condition map[string]any

func equals(key string, value any) condition { return condition{key: map[string]any{"$eq": value}} }

func all(cs ...condition) condition { return joined("$and", cs) }

// joined joins conditions by $and or $or, which take two at least.
func joined(op string, cs []condition) condition {
	if len(cs) == 1 {
		return cs[0]
	}
	return condition{op: cs}
}

// where translates a resolved filter into what the server can decide, for records of
// chunks. Every record of a matching document satisfies the condition; exact says that
// no other does. A nil condition is that all may match.
//
// Chroma has no negation, no "is there", no empty lists, no substring of a field and no
// elements: Not is pushed inwards, presence is a list written with each record, folded
// keywords are a second key, and of a group only what any element has can be asked.
// Whatever is left over is decided by who has the documents.
func where(s *filter.Schema, f filter.Filter) (c condition, exact bool) {
	t := translator{s}
	return t.filter(f, false, "")
}

type translator struct{ schema *filter.Schema }

// anything is the condition of what cannot be translated.
func anything() (condition, bool) { return nil, false }

// filter translates f, or its complement.
func (t translator) filter(f filter.Filter, not bool, group string) (condition, bool) {
	switch f := f.(type) {
	case nil:
		return t.constant(!not)
	case filter.And:
		return t.several(f, not, !not, group)
	case filter.Or:
		return t.several(f, not, not, group)
	case filter.Not:
		return t.filter(f.Filter, !not, group)
	case filter.Each:
		return t.each(f, not)
	case filter.Mentions, filter.Contains:
		return anything()
	case filter.Range:
		return t.between(f, not, group)
	}
	return t.single(f, not, group)
}

// constant is a filter without conditions. What matches nothing never gets here from a
// simplified filter; below Not it may, and is left to the caller.
func (t translator) constant(holds bool) (condition, bool) {
	if holds {
		return nil, true
	}
	return nil, false
}

// several joins filters, by $and if conjunction is set. A part that cannot be
// translated is left out of a conjunction and makes a disjunction as a whole so.
func (t translator) several(fs []filter.Filter, not, conjunction bool, group string) (condition, bool) {
	var cs []condition
	exact := true
	for _, f := range fs {
		c, ok := t.filter(f, not, group)
		exact = exact && ok
		switch {
		case c != nil:
			cs = append(cs, c)
		case !conjunction:
			return nil, ok // one of the alternatives is everything, or may be
		}
	}
	switch {
	case len(cs) == 0 && !conjunction:
		return t.constant(false)
	case len(cs) == 0:
		return nil, exact
	case conjunction:
		return joined("$and", cs), exact
	}
	return joined("$or", cs), exact
}

// each asks for what some elements of a group have, not necessarily one of them.
func (t translator) each(f filter.Each, not bool) (condition, bool) {
	if not {
		return anything()
	}
	c, exact := t.filter(f.Filter, false, f.Group)
	switch f.Filter.(type) {
	case filter.Eq, filter.In, filter.Exists:
		return c, exact
	}
	return c, false
}

// single translates a condition on one field; negated, that no value satisfies it.
func (t translator) single(f filter.Filter, not bool, group string) (condition, bool) {
	field, ok := t.schema.Field(filter.FieldOf(f))
	if !ok || len(field.AnyOf) > 0 || group != "" && not {
		return anything()
	}
	key, is := keyOf(field), "$eq"
	switch {
	case asList(field) && not:
		is = "$not_contains"
	case asList(field):
		is = "$contains"
	case not:
		is = "$ne"
	}
	var vs []filter.Value
	switch f := f.(type) {
	case filter.Exists:
		return present(key, !not), true
	case filter.Eq:
		vs = []filter.Value{f.Value}
	case filter.In:
		vs = f.Values
	default:
		return anything()
	}
	if field.Kind == filter.Keyword && field.Fold != filter.Exact {
		key, vs = keyFolded+key, folded(field, vs)
	}
	if len(vs) == 0 || len(vs) > maxAlternatives {
		return anything()
	}
	if !asList(field) && len(vs) > 1 && field.Kind != filter.Float {
		return condition{key: map[string]any{map[bool]string{false: "$in", true: "$nin"}[not]: literals(vs)}}, true
	}
	cs := make([]condition, len(vs))
	for i, v := range vs {
		cs[i] = condition{key: map[string]any{is: json.RawMessage(jsonOf(v))}}
	}
	return joined(map[bool]string{false: "$or", true: "$and"}[not], cs), true
}

// maxAlternatives is how many values one condition may have: the server's statements
// have a limit, and long ones are slow.
const maxAlternatives = 400

func literals(vs []filter.Value) []json.RawMessage {
	out := make([]json.RawMessage, len(vs))
	for i, v := range vs {
		out[i] = json.RawMessage(jsonOf(v))
	}
	return out
}

func present(key string, is bool) condition {
	return condition{keyPresent: map[string]any{map[bool]string{true: "$contains", false: "$not_contains"}[is]: key}}
}

// between translates a range. Chroma compares no elements of lists by size, and a
// comparison turned round misses records without the field.
func (t translator) between(f filter.Range, not bool, group string) (condition, bool) {
	field, ok := t.schema.Field(f.Field)
	if !ok || len(field.AnyOf) > 0 || asList(field) || group != "" {
		return anything()
	}
	key := keyOf(field)
	if f.Lo.IsZero() && f.Hi.IsZero() {
		return present(key, !not), true
	}
	var cs []condition
	bound := func(v filter.Value, exclusive bool, outside, inside string) {
		if v.IsZero() {
			return
		}
		op := inside
		if not {
			op = outside
		}
		if exclusive == not { // from: $gte; above: $gt; not from: $lt; not above: $lte
			op += "e"
		}
		cs = append(cs, condition{key: map[string]any{op: json.RawMessage(jsonOf(v))}})
	}
	bound(f.Lo, f.LoExcl, "$lt", "$gt")
	bound(f.Hi, f.HiExcl, "$gt", "$lt")
	if not {
		return joined("$or", append(cs, present(key, false))), true
	}
	return joined("$and", cs), true
}
