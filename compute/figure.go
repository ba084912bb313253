package compute

import (
	"fmt"
	"strconv"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// sum adds a field up over the documents (or elements) themselves, each once: what
// belongs to an event is never repeated for each of its aircraft. A mean is that sum
// over those that have a value.
func (c *computer) sum(kind string) (sextant.Computed, error) {
	field, ok := c.spec.Schema.Field(c.asked.Of)
	if !ok {
		return c.base("count")
	}
	if field.Group == "" {
		c.asked.Unit = store.Documents
	} else {
		c.asked.Unit = field.Group
	}
	out, err := c.base(kind)
	if err != nil {
		return out, err
	}
	s, err := c.Collection.Sum(c.ctx, c.Filter, field.Name)
	if err != nil {
		return out, err
	}
	out.SumOf, out.Sum, out.Unknown = field.Name, int64(s.Total), out.Total-s.Known
	label := c.label(field.Name)
	out.Title = label + ": " + out.Title
	if kind == "mean" {
		out.Title, out.ValueOf = "Mean of "+out.Title, field.Name
		if s.Known > 0 {
			out.Value = strconv.FormatFloat(s.Total/float64(s.Known), 'f', 2, 64)
		}
	}
	c.note(&out, "%s are added up over %s, each counted once.", label, out.UnitLabel)
	if out.Unknown > 0 {
		c.note(&out, "%s is not recorded for %d of these %s; they add nothing to the sum.", label, out.Unknown, out.UnitLabel)
	}
	return out, nil
}

// distinct counts the different values of a field, equal under its fold, and shows the
// commonest.
func (c *computer) distinct() (sextant.Computed, error) {
	out, err := c.base("distinct")
	if err != nil {
		return out, err
	}
	g := c.asked.Groups[0]
	if _, ok := c.spec.Schema.Field(g.Field); !ok {
		out.Kind = "count"
		return out, nil
	}
	t, err := c.tally(g, c.Filter, out.Unit)
	if err != nil {
		return out, err
	}
	out.GroupBy, out.Columns = g.Name, []string{g.Name, out.UnitLabel}
	out.Distinct, out.Unknown = int64(len(t.buckets)), t.unknown
	for _, b := range t.buckets[:min(len(t.buckets), shownDistinct)] {
		out.Rows = append(out.Rows, []any{b.key, b.count})
	}
	if len(t.buckets) > shownDistinct {
		c.note(&out, "The table shows the %d commonest of %d.", shownDistinct, len(t.buckets))
	}
	out.Title = fmt.Sprintf("Different values of %s. %s", c.label(g.Field), out.Title)
	if recorded, ok := c.Domain.Recorded[g.Field]; ok && recorded != g.Field {
		as, err := c.tally(constrain.Grouping{Name: recorded, Field: recorded}, c.Filter, out.Unit)
		if err != nil {
			return out, err
		}
		out.Method.OtherCounts = append(out.Method.OtherCounts, sextant.OtherCount{Rule: "as spelled", Count: int64(len(as.buckets)), Why: "every spelling of " + c.label(g.Field) + " for itself"})
	}
	return out, nil
}

const shownDistinct = 20

// share computes the part of the whole that satisfies further conditions, with the
// 95 % interval of Wilson (1927), which stays inside 0 to 100 for small numbers.
func (c *computer) share() (sextant.Computed, error) {
	out, err := c.base("share")
	if err != nil {
		return out, err
	}
	part, _ := constrain.Compile(c.spec, c.Parser.Lexicon(), c.Reading.Part)
	if len(part) == 0 {
		out.Kind = "count"
		return out, nil
	}
	both := c.with(part...)
	if out.PartCount, err = c.Collection.Count(c.ctx, both, out.Unit); err != nil {
		return out, err
	}
	out.ShareOf = filter.String(constrain.Joint(part))
	if out.Total > 0 {
		s := shareOf(out.PartCount, out.Total)
		out.Percent, out.Low, out.High = s.percent, s.low, s.high
	}
	if out.Total > 0 && out.Total < few {
		c.note(&out, "%d of %d is few: the share could be anything from %s %% to %s %%.", out.PartCount, out.Total, out.Low, out.High)
	}
	if out.Unknown, err = c.unknownPart(part, out.Unit); err != nil {
		return out, err
	}
	if out.Unknown > 0 {
		out.Method.Unknown = append(out.Method.Unknown, fmt.Sprintf("%s is not recorded for %d of the %d %s; they count as not in the part.", c.label(part[0].Field), out.Unknown, out.Total, out.UnitLabel))
	}
	out.IDs, out.Next, err = c.ids(both)
	return out, err
}

// few is how many make a share that can be told from others.
const few = 30

// unknownPart counts the units of the whole for which the part's field is not
// recorded, so that they can be in neither side.
func (c *computer) unknownPart(part []constrain.Compiled, unit string) (int64, error) {
	missing := part[0].Unknown(c.Parser.Lexicon())
	return c.Collection.Count(c.ctx, c.with(missing), unit)
}

// ratio is a share as decimal strings, so that they are exact on the wire.
type ratio struct{ percent, low, high string }

func shareOf(k, n int64) ratio {
	if n == 0 {
		return ratio{}
	}
	low, high := wilson(k, n)
	return ratio{percent(float64(k) / float64(n)), percent(low), percent(high)}
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) }
