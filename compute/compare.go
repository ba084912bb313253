package compute

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
)

// compared finds the constraint whose values are set against each other.
func (c *computer) compared() int {
	return slices.IndexFunc(c.Parts, func(p constrain.Compiled) bool {
		return len(p.Values) > 1 && (p.Op == sextant.OpIn || p.Op == sextant.OpContains)
	})
}

// compare counts each of the values by itself under all other constraints; where danger
// is asked for, or a share, with the part of each and its interval.
func (c *computer) compare(at int) (sextant.Computed, error) {
	out, err := c.base("compare")
	if err != nil {
		return out, err
	}
	varied := c.Parts[at]
	out.GroupBy, out.Columns = varied.Field, []string{varied.Field, out.UnitLabel}
	part, name := c.partCompared()
	if part != nil {
		out.ShareOf = filter.String(part)
		out.Columns = append(out.Columns, name, "%", "from %", "to %")
	}
	for _, v := range varied.Values {
		row, err := c.sideOf(at, v, out.Unit, part)
		if err != nil {
			return out, err
		}
		out.Keys, out.Rows = append(out.Keys, row[0].(string)), append(out.Rows, row)
		c.smallSide(&out, row, part)
	}
	return out, c.whateverTheValue(&out, at)
}

// holdsSides reports whether the collection can enforce what each side says.
func (c *computer) holdsSides() bool {
	for _, s := range c.Reading.Sides {
		if compiled, _ := constrain.Compile(c.spec, c.Parser.Lexicon(), s.Constraints); len(compiled) != len(s.Constraints) {
			return false
		}
	}
	return true
}

// compareSides counts each side by itself under the conditions that are no side's.
func (c *computer) compareSides() (sextant.Computed, error) {
	common := slices.DeleteFunc(slices.Clone(c.Parts), c.ofSide)
	var either filter.Or
	filters := make([]filter.Filter, len(c.Reading.Sides))
	for i, s := range c.Reading.Sides {
		compiled, _ := constrain.Compile(c.spec, c.Parser.Lexicon(), s.Constraints)
		filters[i] = constrain.Joint(append(slices.Clone(common), compiled...))
		either = append(either, filters[i])
	}
	whole := *c
	whole.Filter = filter.Simplify(either)
	out, err := whole.base("compare")
	if err != nil {
		return out, err
	}
	out.GroupBy, out.Columns = c.Reading.Sides[0].Constraints[0].Field, []string{"compared", out.UnitLabel}
	part, name := c.partCompared()
	if part != nil {
		out.ShareOf = filter.String(part)
		out.Columns = append(out.Columns, name, "%", "from %", "to %")
	}
	var sum int64
	for i, s := range c.Reading.Sides {
		row, err := c.rowOf(s.Label, filters[i], out.Unit, part)
		if err != nil {
			return out, err
		}
		sum += row[1].(int64)
		out.Keys, out.Rows = append(out.Keys, s.Label), append(out.Rows, row)
		c.smallSide(&out, row, part)
	}
	if sum > out.Total {
		c.note(&out, "%d of the %s are on more than one side, and count once in the total.", sum-out.Total, out.UnitLabel)
	}
	return out, c.onNoSide(&out, common)
}

// ofSide reports whether a constraint was made of sides: it is on their field, and its words
// are theirs. Another one on the field ("excluding Canada") holds for each side.
func (c *computer) ofSide(p constrain.Compiled) bool {
	return slices.ContainsFunc(c.Reading.Sides, func(s constrain.Side) bool {
		return slices.ContainsFunc(s.Constraints, func(k constrain.Constraint) bool {
			return k.Field == p.Field && p.Start <= k.Start && k.End <= p.End
		})
	})
}

// onNoSide says of a value and its opposite, which look like all there is, how many have
// neither.
func (c *computer) onNoSide(out *sextant.Computed, common []constrain.Compiled) error {
	a, b := c.Reading.Sides[0].Constraints[0], c.Reading.Sides[1].Constraints[0]
	if len(c.Reading.Sides) != 2 || a.Field != b.Field || !slices.Equal(a.Values, b.Values) {
		return nil
	}
	f := filter.All
	if len(common) > 0 {
		f = constrain.Joint(common)
	}
	all, err := c.Collection.Count(c.ctx, f, out.Unit)
	if n := all - out.Total; err == nil && n > 0 {
		c.note(out, "%d of the %d %s that satisfy the rest are on no side: no %s is recorded for them.", n, all, out.UnitLabel, c.label(a.Field))
	}
	return err
}

// smallSide says of a share of very few what it is worth.
func (c *computer) smallSide(out *sextant.Computed, row []any, part filter.Filter) {
	if n := row[1].(int64); part != nil && n > 0 && n < few {
		c.note(out, "%v: %v of %d is few; the share could be anything from %v %% to %v %%.", row[0], row[2], n, row[4], row[5])
	}
}

// rowOf counts a filter and the part of it.
func (c *computer) rowOf(label string, f filter.Filter, unit string, part filter.Filter) ([]any, error) {
	n, err := c.Collection.Count(c.ctx, f, unit)
	row := []any{label, n}
	if err != nil || part == nil {
		return row, err
	}
	k, err := c.Collection.Count(c.ctx, filter.Simplify(filter.And{f, part}), unit)
	s := shareOf(k, n)
	return append(row, k, s.percent, s.low, s.high), err
}

// partCompared is what a share is taken of each side: the one asked for or, where danger
// is asked for, what makes a document grave.
func (c *computer) partCompared() (filter.Filter, string) {
	if c.asked.Kind == "share" {
		part, _ := constrain.Compile(c.spec, c.Parser.Lexicon(), c.Reading.Part)
		if len(part) > 0 {
			return constrain.Joint(part), Describe(c.spec, part[0])
		}
	}
	if g := c.Domain.Grave; c.asked.Risk && g != nil && !c.restricts(g.Filter) {
		if f, err := c.spec.Schema.Resolve(g.Filter); err == nil {
			return f, g.Name
		}
	}
	return nil, ""
}

// sideOf counts one value of the constraint at a place, and its part.
func (c *computer) sideOf(at int, v any, unit string, part filter.Filter) ([]any, error) {
	one := c.Parts[at].Constraint
	one.Values, one.Narrow = []any{v}, nil
	if one.Op == sextant.OpIn {
		one.Op = sextant.OpEq
	}
	parts := slices.Clone(c.Parts)
	compiled, _ := constrain.Compile(c.spec, c.Parser.Lexicon(), []constrain.Constraint{one})
	if len(compiled) != 1 {
		return nil, fmt.Errorf("value %v of %s: %w", v, one.Field, filter.ErrSchema)
	}
	parts[at] = compiled[0]
	return c.rowOf(valueText(v), constrain.Joint(parts), unit, part)
}

// whateverTheValue adds the count that the compared sides are part of.
func (c *computer) whateverTheValue(out *sextant.Computed, at int) error {
	rest := *c
	rest.Parts = slices.Delete(slices.Clone(c.Parts), at, at+1)
	if len(rest.Parts) == 0 {
		return nil
	}
	rest.Filter = constrain.Joint(rest.Parts)
	total, err := c.Collection.Count(c.ctx, rest.Filter, out.Unit)
	if err != nil || total == out.Total {
		return err
	}
	label := c.label(c.Parts[at].Field)
	out.Method.OtherCounts = append(out.Method.OtherCounts, sextant.OtherCount{Rule: "whatever the " + label, Count: total, Why: "the sides compared are part of these"})
	for _, g := range c.spec.Schema.Groups {
		n, err := c.Collection.Count(c.ctx, rest.Filter, g.Name)
		if err != nil {
			return err
		}
		if n != total && out.Unit != g.Name {
			out.Method.OtherCounts = append(out.Method.OtherCounts, sextant.OtherCount{Rule: c.spec.UnitLabel(g.Name) + ", whatever the " + label, Count: n, Why: "the sides compared are part of these"})
		}
	}
	return nil
}

func valueText(v any) string {
	if s, ok := v.(constrain.Span); ok {
		from, to := s.Strings()
		if y := s.From.Year(); from == fmt.Sprintf("%d-01-01", y) && to == fmt.Sprintf("%d-12-31", y) {
			return strconv.Itoa(y)
		}
		return from + " to " + to
	}
	return fmt.Sprint(v)
}
