package compute

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// group breaks the count down by one or two fields; a top is a breakdown cut short.
func (c *computer) group() (sextant.Computed, error) {
	request := c.Reading.Request
	out, err := c.base(request.Kind)
	if err != nil || len(request.Groups) == 0 {
		out.Kind = "count"
		return out, err
	}
	g := request.Groups[0]
	if _, ok := c.spec.Schema.Field(g.Field); !ok {
		out.Kind = "count"
		return out, nil
	}
	out.GroupBy, out.Columns = g.Name, []string{g.Name, out.UnitLabel}
	facet, err := c.facet(g, c.Filter, out.Unit)
	if err != nil {
		return out, err
	}
	out.Unknown = facet.Unknown
	out.Rows, out.Keys = c.rows(g, facet)
	if request.Kind == "top" {
		c.cut(&out, request)
	}
	c.cautions(&out, g, facet)
	if len(request.Groups) > 1 {
		return out, c.cross(&out, request.Groups[1])
	}
	return out, nil
}

func (c *computer) facet(g constrain.Grouping, f filter.Filter, unit string) (store.Facet, error) {
	return c.Collection.Facet(c.ctx, store.FacetQuery{Field: g.Field, Filter: f, Unit: unit, By: store.Interval(g.By)})
}

// rows writes the buckets as [key, count], in order of time with the empty ones
// inside the asked and covered period, or by falling count and name.
func (c *computer) rows(g constrain.Grouping, facet store.Facet) (rows [][]any, keys []string) {
	buckets := facet.Buckets
	if g.By == string(store.Year) {
		buckets, keys = c.years(facet)
	}
	if g.By == "" {
		slices.SortStableFunc(buckets, func(a, b store.Bucket) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(key(g, a.Value), key(g, b.Value)))
		})
	}
	rows = make([][]any, len(buckets))
	for i, b := range buckets {
		rows[i] = []any{key(g, b.Value), b.Count}
	}
	return rows, keys
}

// key writes a bucket's value; months of the year with two digits, so that they sort.
func key(g constrain.Grouping, v filter.Value) string {
	if g.By == string(store.MonthOfYear) && len(v.Str()) == 1 {
		return "0" + v.Str()
	}
	return v.String()
}

// years fills in the years that were asked for, are covered, and have none: a zero
// is only said where the data could have shown otherwise.
func (c *computer) years(facet store.Facet) ([]store.Bucket, []string) {
	from, to, ok := c.askedYears()
	if !ok {
		return facet.Buckets, nil
	}
	counts := map[string]int64{}
	for _, b := range facet.Buckets {
		counts[b.Value.Str()] = b.Count
	}
	var out []store.Bucket
	var keys []string
	for y := from; y <= to; y++ {
		label := strconv.Itoa(y)
		keys = append(keys, label)
		out = append(out, store.Bucket{Value: filter.OfString(label), Count: counts[label]})
	}
	return out, keys
}

// askedYears returns the years that the question's period and the coverage share.
func (c *computer) askedYears() (from, to int, ok bool) {
	covered, ok := c.coverage()
	if !ok {
		return 0, 0, false
	}
	for _, p := range c.Parts {
		if p.Field != c.spec.DateField || len(p.Values) != 1 || p.Op == sextant.OpNotIn {
			continue
		}
		if s, isSpan := p.Values[0].(constrain.Span); isSpan {
			first, last := covered.From, covered.To
			if s.From.After(first) {
				first = s.From
			}
			if !s.To.IsZero() && s.To.Before(last) {
				last = s.To
			}
			return first.Year(), last.Year(), !last.Before(first)
		}
	}
	return 0, 0, false
}

func (c *computer) coverage() (constrain.Span, bool) {
	for _, cov := range c.Ledger.Coverage {
		if cov.Collection == c.spec.Name && cov.Field == c.spec.DateField {
			from, err1 := time.Parse(time.DateOnly, cov.From)
			to, err2 := time.Parse(time.DateOnly, cov.To)
			return constrain.Span{From: from, To: to}, err1 == nil && err2 == nil
		}
	}
	return constrain.Span{}, false
}

// cut keeps the n largest (or smallest) rows of a top. A tie at the cut is said.
func (c *computer) cut(out *sextant.Computed, request constrain.Request) {
	slices.SortStableFunc(out.Rows, func(a, b []any) int {
		d := cmp.Compare(b[1].(int64), a[1].(int64))
		if request.Least {
			d = -d
		}
		return d
	})
	out.N, out.Keys = request.N, nil
	if len(out.Rows) <= out.N {
		return
	}
	if last, next := out.Rows[out.N-1], out.Rows[out.N]; last[1] == next[1] {
		out.Method.Notes = append(out.Method.Notes, fmt.Sprintf("%v and %v have the same count at the cut.", last[0], next[0]))
	}
	out.Rows = out.Rows[:out.N]
}

// cautions says what a reader of the rows could get wrong.
func (c *computer) cautions(out *sextant.Computed, g constrain.Grouping, facet store.Facet) {
	if facet.Unknown > 0 {
		out.Method.Unknown = append(out.Method.Unknown, fmt.Sprintf("%s is not recorded for %d of the %d %s; they stand in no row.", c.label(g.Field), facet.Unknown, facet.Total, out.UnitLabel))
	}
	if sum := total(facet.Buckets); sum > facet.Total-facet.Unknown {
		out.Method.Notes = append(out.Method.Notes, fmt.Sprintf("Rows sum to %d: one of the %s can stand in several rows, where its %s differ.", sum, out.UnitLabel, c.label(g.Field)))
	}
	covered, ok := c.coverage()
	if ok && g.By == string(store.Year) && len(facet.Buckets) > 0 && covered.To.YearDay() < 365 && facet.Buckets[len(facet.Buckets)-1].Value.Str() == strconv.Itoa(covered.To.Year()) {
		out.Method.Notes = append(out.Method.Notes, fmt.Sprintf("%d is partial: the data end on %s.", covered.To.Year(), covered.To.Format(time.DateOnly)))
	}
}

func total(buckets []store.Bucket) (n int64) {
	for _, b := range buckets {
		n += b.Count
	}
	return n
}

// maxCross bounds the rows of a cross-table's first field.
const maxCross = 60

// cross breaks each row down by a second field.
func (c *computer) cross(out *sextant.Computed, second constrain.Grouping) error {
	first := c.Reading.Request.Groups[0]
	if _, ok := c.spec.Schema.Field(second.Field); !ok {
		return nil
	}
	out.Columns = []string{first.Name, second.Name, out.UnitLabel}
	out.GroupBy = first.Name + ", " + second.Name
	var rows [][]any
	for i, row := range out.Rows {
		if i == maxCross {
			out.Method.Notes = append(out.Method.Notes, fmt.Sprintf("Only the first %d of %d rows are broken down.", maxCross, len(out.Rows)))
			break
		}
		f, ok := c.within(first, row[0].(string))
		if !ok {
			continue
		}
		facet, err := c.facet(second, f, out.Unit)
		if err != nil {
			return err
		}
		inner, _ := c.rows(second, facet)
		for _, r := range inner {
			rows = append(rows, []any{row[0], r[0], r[1]})
		}
	}
	out.Rows = rows
	return nil
}

// within is the filter of one row of a breakdown.
func (c *computer) within(g constrain.Grouping, label string) (filter.Filter, bool) {
	field, _ := c.spec.Schema.Field(g.Field)
	var f filter.Filter
	switch g.By {
	case "":
		v, err := filter.Parse(field.Kind, label)
		if err != nil {
			return nil, false
		}
		f = filter.Eq{Field: g.Field, Value: v}
	case string(store.Year):
		y, err := strconv.Atoi(label)
		if err != nil {
			return nil, false
		}
		f = filter.DayRange(g.Field, filter.Date(y, 1, 1), filter.Date(y, 12, 31))
	default:
		return nil, false
	}
	row := constrain.Compiled{Group: field.Group, Filter: f}
	return constrain.Joint(append(slices.Clone(c.Parts), row)), true
}

// compared finds the constraint whose values are set against each other.
func (c *computer) compared() int {
	return slices.IndexFunc(c.Parts, func(p constrain.Compiled) bool {
		return len(p.Values) > 1 && (p.Op == sextant.OpIn || p.Op == sextant.OpContains)
	})
}

// compare counts each of the values by itself under all other constraints.
func (c *computer) compare(at int) (sextant.Computed, error) {
	out, err := c.base("compare")
	if err != nil {
		return out, err
	}
	varied := c.Parts[at]
	out.GroupBy, out.Columns = varied.Field, []string{varied.Field, out.UnitLabel}
	for _, v := range varied.Values {
		one := varied.Constraint
		one.Values, one.Narrow = []any{v}, nil
		if one.Op == sextant.OpIn {
			one.Op = sextant.OpEq
		}
		parts := slices.Clone(c.Parts)
		compiled, _ := constrain.Compile(c.spec, c.Parser.Lexicon(), []constrain.Constraint{one})
		parts[at] = compiled[0]
		n, err := c.Collection.Count(c.ctx, constrain.Joint(parts), out.Unit)
		if err != nil {
			return out, err
		}
		label := valueText(v)
		out.Keys, out.Rows = append(out.Keys, label), append(out.Rows, []any{label, n})
	}
	return out, nil
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

// extreme finds the first or last documents in time. All that share the day of the
// first one are named: the data know no order within a day.
func (c *computer) extreme() (sextant.Computed, error) {
	out, err := c.base(c.Reading.Request.Kind)
	if err != nil || c.spec.DateField == "" {
		return out, err
	}
	n := max(c.Reading.Request.N, 1)
	list, err := c.Collection.List(c.ctx, store.ListQuery{Filter: c.Filter, By: c.spec.DateField, Desc: out.Kind == "last", Limit: n})
	if err != nil || len(list.IDs) == 0 {
		return out, err
	}
	docs, err := c.Collection.Get(c.ctx, list.IDs)
	if err != nil || len(docs) == 0 {
		return out, err
	}
	when := docs[0].Meta.Fields.One(c.spec.DateField)
	out.Date, out.N, out.Next = when.Time().Format(time.DateOnly), n, ""
	if n == 1 {
		sameDay := constrain.Compiled{Filter: filter.DayRange(c.spec.DateField, when, when)}
		out.IDs, _, err = c.ids(constrain.Joint(append(slices.Clone(c.Parts), sameDay)))
		return out, err
	}
	out.IDs, out.Columns = nil, []string{"date", "title", "id"}
	for _, d := range docs {
		out.IDs = append(out.IDs, d.ID.Native())
		out.Rows = append(out.Rows, []any{d.Meta.Fields.One(c.spec.DateField).String(), d.Title, d.ID.Native()})
	}
	return out, nil
}
