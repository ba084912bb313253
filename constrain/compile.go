package constrain

import (
	"fmt"
	"strconv"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// CompileFunc turns a condition into a filter over the fields of its group.
type CompileFunc func(c Condition) filter.Filter

// plain is the ordinary meaning of a condition, over untyped values.
func plain(c Condition) filter.Filter {
	switch c.Op {
	case sextant.OpEq, sextant.OpIn:
		return anyOfValues(c)
	case sextant.OpNotIn:
		return filter.And{filter.Exists{Field: c.Field}, filter.Not{Filter: anyOfValues(c)}}
	case sextant.OpContains:
		return containsAny(c)
	case sextant.OpNotContains:
		return filter.And{filter.Exists{Field: c.Field}, filter.Not{Filter: containsAny(c)}}
	case sextant.OpGte, sextant.OpLte, sextant.OpBetween:
		return ranged(c)
	}
	return filter.Exists{Field: c.Field}
}

func anyOfValues(c Condition) filter.Filter {
	in := filter.In{Field: c.Field}
	var out filter.Or
	for _, v := range c.Values {
		if s, ok := v.(Span); ok {
			out = append(out, s.over(c.Field))
			continue
		}
		in.Values = append(in.Values, valueOf(v))
	}
	return filter.Simplify(append(out, in))
}

func (s Span) over(field string) filter.Filter {
	var from, to filter.Value
	if !s.From.IsZero() {
		from = filter.OfTime(s.From)
	}
	if !s.To.IsZero() {
		to = filter.OfTime(s.To)
	}
	return filter.DayRange(field, from, to)
}

func containsAny(c Condition) filter.Filter {
	out := make(filter.Or, len(c.Values))
	for i, v := range c.Values {
		out[i] = filter.Contains{Field: c.Field, Sub: fmt.Sprint(v)}
	}
	return filter.Simplify(out)
}

func ranged(c Condition) filter.Filter {
	if s, ok := c.Values[0].(Span); ok {
		return s.over(c.Field)
	}
	r := filter.Range{Field: c.Field}
	switch {
	case c.Op == sextant.OpGte:
		r.Lo = valueOf(c.Values[0])
	case c.Op == sextant.OpLte:
		r.Hi = valueOf(c.Values[0])
	default:
		r.Lo, r.Hi = valueOf(c.Values[0]), valueOf(c.Values[1])
	}
	return r
}

func valueOf(v any) filter.Value {
	switch v := v.(type) {
	case int:
		return filter.OfInt(int64(v))
	case bool:
		return filter.OfBool(v)
	case float64:
		return filter.OfFloat(v)
	case string:
		return filter.OfString(v)
	}
	return filter.Value{}
}

// Compiled is a constraint as one collection enforces it: Filter speaks of fields of
// Group, or of the document where Group is "".
type Compiled struct {
	Constraint
	Group  string
	Filter filter.Filter
}

// Compile returns the constraints that a collection can enforce, as filters. at maps
// each to its place in constraints.
func Compile(spec sextant.Collection, l *Lexicon, constraints []Constraint) (out []Compiled, at []int) {
	for i, c := range constraints {
		if isMention(c.Op) {
			if f, ok := compileMention(c.Condition, spec.Role); ok {
				out, at = append(out, Compiled{Constraint: c, Filter: f}), append(at, i)
			}
			continue
		}
		f, ok := spec.Schema.Field(c.Field)
		if !ok {
			continue
		}
		out = append(out, Compiled{Constraint: c, Group: f.Group, Filter: retype(compileOne(l, c), f.Kind)})
		at = append(at, i)
	}
	return out, at
}

func compileOne(l *Lexicon, c Constraint) filter.Filter {
	if c.Narrow != nil {
		return c.Narrow
	}
	if special, ok := l.Compile[c.Field]; ok {
		return special(c.Condition)
	}
	return plain(c.Condition)
}

// retype turns values read as numbers into the keywords a field holds ("91" is the
// name of a part), and the reverse is an error the schema reports.
func retype(f filter.Filter, kind filter.Kind) filter.Filter {
	if kind != filter.Keyword {
		return f
	}
	text := func(v filter.Value) filter.Value {
		if v.Kind() == filter.Int {
			return filter.OfString(strconv.FormatInt(v.Int(), 10))
		}
		return v
	}
	switch f := f.(type) {
	case filter.And:
		return filter.And(retypeAll(f, kind))
	case filter.Or:
		return filter.Or(retypeAll(f, kind))
	case filter.Not:
		return filter.Not{Filter: retype(f.Filter, kind)}
	case filter.Eq:
		return filter.Eq{Field: f.Field, Value: text(f.Value)}
	case filter.In:
		values := make([]filter.Value, len(f.Values))
		for i, v := range f.Values {
			values[i] = text(v)
		}
		return filter.In{Field: f.Field, Values: values}
	}
	return f
}

func retypeAll(fs []filter.Filter, kind filter.Kind) []filter.Filter {
	out := make([]filter.Filter, len(fs))
	for i, f := range fs {
		out[i] = retype(f, kind)
	}
	return out
}

// Joint joins compiled constraints: all conditions on one group hold for the same
// element.
func Joint(constraints []Compiled) filter.Filter {
	var out filter.And
	place := map[string]int{}
	for _, c := range constraints {
		if c.Group == "" {
			out = append(out, c.Filter)
			continue
		}
		if i, ok := place[c.Group]; ok {
			each := out[i].(filter.Each)
			each.Filter = filter.And{each.Filter, c.Filter}
			out[i] = each
			continue
		}
		place[c.Group] = len(out)
		out = append(out, filter.Each{Group: c.Group, Filter: c.Filter})
	}
	return filter.Simplify(out)
}

// alone is the filter of one constraint by itself.
func (c Compiled) alone() filter.Filter { return Joint([]Compiled{c}) }

// Unknown is the constraint turned into "the field is not recorded, though it could
// have been".
func (c Compiled) Unknown(l *Lexicon) Compiled {
	if isMention(c.Op) {
		c.Filter = untold(c.Condition)
		return c
	}
	c.Filter = filter.Not{Filter: filter.Exists{Field: c.Field}}
	if applies, ok := l.Applies[c.Field]; ok {
		c.Filter = filter.And{c.Filter, applies}
	}
	return c
}
