package compute

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// group breaks the count down by one or two fields; a top is a breakdown cut short, and
// a trend one by time.
func (c *computer) group() (sextant.Computed, error) {
	sharing := c.asked.Kind == "share"
	kind := c.asked.Kind
	if sharing {
		kind = "group"
	}
	out, err := c.base(kind)
	if err != nil || len(c.asked.Groups) == 0 {
		out.Kind = "count"
		return out, err
	}
	g := c.asked.Groups[0]
	if _, ok := c.spec.Schema.Field(g.Field); !ok {
		out.Kind = "count"
		return out, nil
	}
	if len(c.asked.Groups) > 1 && c.asked.Of == "" {
		return out, c.cross(&out, g, c.asked.Groups[1])
	}
	t, err := c.rowsOf(&out, g)
	if err != nil {
		return out, err
	}
	if err := c.otherCountsOfRows(&out, g, t); err != nil {
		return out, err
	}
	c.cautions(&out, g, t)
	if inTime(g) {
		if err := c.inTime(&out, g); err != nil {
			return out, err
		}
	}
	switch {
	case sharing:
		part, _ := constrain.Compile(c.spec, c.Parser.Lexicon(), c.Reading.Part)
		err = c.addShares(&out, g, c.whole(), Part{Name: "in the part", Filter: constrain.Joint(part)})
	case c.asked.Risk && c.Domain.Grave != nil && !c.restricts(c.Domain.Grave.Filter):
		whole := c.whole()
		if inside, ok := c.inside(); ok && inTime(g) && c.asked.Kind != "top" {
			whole = inside
		}
		err = c.addShares(&out, g, whole, *c.Domain.Grave)
	}
	return out, err
}

// whole is what shares are taken of when nothing else is said: all that is counted.
func (c *computer) whole() Part { return Part{Filter: c.Filter} }

// rowsOf fills in the rows of a breakdown by one field.
func (c *computer) rowsOf(out *sextant.Computed, g constrain.Grouping) (t tally, err error) {
	out.GroupBy, out.Columns = g.Name, []string{g.Name, out.UnitLabel}
	if of, ok := c.spec.Schema.Field(c.asked.Of); ok && of.Group == "" {
		out.SumOf, out.Columns[1] = of.Name, c.label(of.Name)
		t, err = c.addUp(g, c.Filter, of.Name)
	} else {
		t, err = c.tally(g, c.Filter, out.Unit)
	}
	if err != nil {
		return t, err
	}
	out.Unknown = t.unknown
	buckets := t.buckets
	if inTime(g) || g.By == string(store.MonthOfYear) {
		buckets, out.Keys = c.filled(g, buckets)
	}
	for _, b := range buckets {
		out.Rows = append(out.Rows, []any{b.key, b.count})
	}
	if c.asked.Kind == "top" {
		c.cut(out)
	}
	return t, nil
}

// cut keeps the n largest (or smallest) rows of a top. A tie at the cut is said.
func (c *computer) cut(out *sextant.Computed) {
	slices.SortStableFunc(out.Rows, func(a, b []any) int {
		d := cmp.Compare(b[1].(int64), a[1].(int64))
		if c.asked.Least {
			d = -d
		}
		return d
	})
	out.N, out.Keys = c.asked.N, nil
	if len(out.Rows) <= out.N {
		return
	}
	if last, next := out.Rows[out.N-1], out.Rows[out.N]; last[1] == next[1] {
		c.note(out, "%v and %v have the same count at the cut.", last[0], next[0])
	}
	out.Rows = out.Rows[:out.N]
}

// cautions says what a reader of the rows could get wrong.
func (c *computer) cautions(out *sextant.Computed, g constrain.Grouping, t tally) {
	label := c.label(g.Field)
	switch {
	case t.unknown > 0 && g.By == string(store.Hour):
		out.Method.Unknown = append(out.Method.Unknown, fmt.Sprintf("The time of day is not recorded for %d of the %d %s; they stand in no row.", t.unknown, t.total, out.UnitLabel))
	case t.unknown > 0:
		out.Method.Unknown = append(out.Method.Unknown, fmt.Sprintf("%s is not recorded for %d of the %d %s; they stand in no row.", label, t.unknown, t.total, out.UnitLabel))
	}
	if float64(t.unknown) > tooManyUnknown*float64(t.total) {
		out.Method.AtLeast = true
	}
	if t.repeats {
		c.note(out, "Rows sum to more than the total: one of the %s can stand in several rows, where its %s differ.", out.UnitLabel, label)
	}
}

// addShares adds to each row how many of the whole are in the part, and that share.
func (c *computer) addShares(out *sextant.Computed, g constrain.Grouping, whole, p Part) error {
	part, err := c.spec.Schema.Resolve(p.Filter)
	if err != nil || filter.IsAll(part) {
		return nil // the collection does not hold what the part is about
	}
	all, err := c.tally(g, whole.Filter, out.Unit)
	if err != nil {
		return err
	}
	t, err := c.tally(g, filter.Simplify(filter.And{whole.Filter, part}), out.Unit)
	if err != nil {
		return err
	}
	out.ShareOf = filter.String(part)
	name := p.Name
	if whole.Name != "" {
		name += " " + whole.Name
	}
	out.Columns = append(out.Columns, name, "%", "from %", "to %")
	counts, totals, small := t.counts(), all.counts(), false
	for i, row := range out.Rows {
		n, k := totals[fmt.Sprint(row[0])], counts[fmt.Sprint(row[0])]
		s := shareOf(k, n)
		out.Rows[i] = append(row, k, s.percent, s.low, s.high)
		small = small || n > 0 && n < few
	}
	if small {
		c.note(out, "Rows of fewer than %d say little: look at the intervals (95 %%, Wilson) before comparing shares.", few)
	}
	return nil
}

// restricts reports whether the conditions already demand a part.
func (c *computer) restricts(part filter.Filter) bool {
	field := filter.FieldOf(part)
	return slices.ContainsFunc(c.Parts, func(p constrain.Compiled) bool { return p.Field == field })
}

// otherCountsOfRows adds, where units stand in no row, the other counts of those that
// could: of events by state those in the United States, else those with a value.
func (c *computer) otherCountsOfRows(out *sextant.Computed, g constrain.Grouping, t tally) error {
	if t.unknown == 0 || g.By != "" {
		return nil
	}
	which, rows := "with a known "+c.label(g.Field), c.on(g.Field, filter.Exists{Field: g.Field})
	if s := c.Domain.Split; s != nil && g.Field != filter.FieldOf(s.Inside.Filter) && slices.Contains(s.Unless, g.Field) {
		which, rows = s.Inside.Name, constrain.Compiled{Filter: s.Inside.Filter}
	}
	within := *c
	within.Parts = append(slices.Clone(c.Parts), rows)
	within.Filter = constrain.Joint(within.Parts)
	total, err := c.Collection.Count(c.ctx, within.Filter, out.Unit)
	if err != nil {
		return err
	}
	add := func(o sextant.OtherCount) {
		if !slices.ContainsFunc(out.Method.OtherCounts, func(have sextant.OtherCount) bool { return have.Count == o.Count }) {
			out.Method.OtherCounts = append(out.Method.OtherCounts, o)
		}
	}
	add(sextant.OtherCount{Rule: which, Count: total, Why: "the others stand in no row of the table"})
	var m sextant.Method
	if err := within.otherCounts(&m, out.Unit, total); err != nil {
		return err
	}
	for _, o := range m.OtherCounts {
		o.Rule += ", " + which
		add(o)
	}
	return nil
}

// maxCross bounds the rows of a cross-table's side that is gone through one by one.
const maxCross = 60

// cross breaks the count down by two fields at once: rows of first, second, count.
func (c *computer) cross(out *sextant.Computed, first, second constrain.Grouping) error {
	if _, ok := c.spec.Schema.Field(second.Field); !ok {
		out.Kind = "count"
		return nil
	}
	out.GroupBy, out.Columns = first.Name+", "+second.Name, []string{first.Name, second.Name, out.UnitLabel}
	t, err := c.tally(first, c.Filter, out.Unit)
	if err != nil {
		return err
	}
	out.Unknown = t.unknown
	c.cautions(out, first, t)
	switch {
	case first.By != "" && second.By != "" && first.Field == second.Field:
		err = c.crossTimes(out, first, second)
	case first.By != "" && second.By == "":
		err = c.crossValues(out, second, first, 1, 0)
	default:
		err = c.crossValues(out, first, second, 0, 1)
	}
	if err == nil {
		order(out.Rows, first, second)
	}
	return err
}

// crossValues goes through the values of one side and counts by the other within each.
// at and with are the places of the two keys in a row.
func (c *computer) crossValues(out *sextant.Computed, outer, inner constrain.Grouping, at, with int) error {
	t, err := c.tally(outer, c.Filter, out.Unit)
	if err != nil {
		return err
	}
	if t, err = c.valued(outer, t); err != nil {
		return err
	}
	if at == 1 {
		out.Method.Unknown = append(out.Method.Unknown, unknownLine(c.label(outer.Field), t, out.UnitLabel)...)
	}
	if len(t.buckets) > maxCross {
		c.note(out, "Of %d values of %s the %d commonest are broken down.", len(t.buckets), c.label(outer.Field), maxCross)
		t.buckets = t.buckets[:maxCross]
	}
	for _, b := range t.buckets {
		row := c.on(outer.Field, filter.In{Field: outer.Field, Values: b.values})
		parts, err := c.tally(inner, c.with(row), out.Unit)
		if err != nil {
			return err
		}
		for _, p := range parts.buckets {
			cells := []any{nil, nil, p.count}
			cells[at], cells[with] = b.key, p.key
			out.Rows = append(out.Rows, cells)
		}
	}
	return nil
}

// valued gives each bucket the values that fall into it, so that it can be a condition.
func (c *computer) valued(g constrain.Grouping, t tally) (tally, error) {
	if g.By == "" {
		for i := range t.buckets {
			t.buckets[i].values = []filter.Value{t.buckets[i].value}
		}
		return t, nil
	}
	facet, err := c.Collection.Facet(c.ctx, store.FacetQuery{Field: g.Field, Filter: c.Filter})
	if err != nil {
		return t, err
	}
	for i := range t.buckets {
		for _, b := range facet.Buckets {
			if label, ok := bucketLabel(g.By, b.Value); ok && label == t.buckets[i].key {
				t.buckets[i].values = append(t.buckets[i].values, b.Value)
			}
		}
	}
	return t, nil
}

func unknownLine(label string, t tally, units string) []string {
	if t.unknown == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s is not recorded for %d of the %d %s; they stand in no row.", label, t.unknown, t.total, units)}
}

// crossTimes counts two intervals of one field from its single times.
func (c *computer) crossTimes(out *sextant.Computed, first, second constrain.Grouping) error {
	times, err := c.Collection.Facet(c.ctx, store.FacetQuery{Field: first.Field, Filter: c.Filter, Unit: out.Unit})
	if err != nil {
		return err
	}
	counts := map[[2]string]int64{}
	var untimed int64
	for _, b := range times.Buckets {
		x, ok := intervalLabel(first.By, b.Value.Time())
		y, also := intervalLabel(second.By, b.Value.Time())
		if !ok || !also {
			untimed += b.Count
			continue
		}
		counts[[2]string{x, y}] += b.Count
	}
	for keys, n := range counts {
		out.Rows = append(out.Rows, []any{keys[0], keys[1], n})
	}
	if untimed > 0 {
		out.Method.Unknown = append(out.Method.Unknown, fmt.Sprintf("The time of day is not recorded for %d of the %d %s; they stand in no row.", untimed, times.Total, out.UnitLabel))
	}
	return nil
}

// order sorts the rows of a cross-table: times in their order, values by the first
// side's total and then by count.
func order(rows [][]any, first, second constrain.Grouping) {
	totals := map[any]int64{}
	for _, r := range rows {
		totals[r[0]] += r[2].(int64)
	}
	side := func(g constrain.Grouping, a, b []any, at int, n func([]any) int64) int {
		if g.By != "" {
			return compareLabels(g.By, a[at].(string), b[at].(string))
		}
		return cmp.Or(cmp.Compare(n(b), n(a)), cmp.Compare(a[at].(string), b[at].(string)))
	}
	slices.SortFunc(rows, func(a, b []any) int {
		return cmp.Or(side(first, a, b, 0, func(r []any) int64 { return totals[r[0]] }), side(second, a, b, 1, func(r []any) int64 { return r[2].(int64) }))
	})
}
