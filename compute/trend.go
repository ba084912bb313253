package compute

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// filled adds the periods that were asked for, are covered, and have none: a zero is
// only said where the data could have shown otherwise.
func (c *computer) filled(g constrain.Grouping, buckets []bucket) ([]bucket, []string) {
	asked, ok := c.askedPeriod()
	if !ok || g.Field != c.spec.DateField || g.By == string(store.Day) {
		return buckets, nil
	}
	counts := map[string]int64{}
	for _, b := range buckets {
		counts[b.key] = b.count
	}
	if g.By == string(store.MonthOfYear) {
		return monthsOf(asked, counts)
	}
	var out []bucket
	var keys []string
	for t := asked.From; !t.After(asked.To); t = next(g.By, t) {
		label, _ := intervalLabel(g.By, t)
		keys = append(keys, label)
		out = append(out, bucket{key: label, count: counts[label]})
	}
	return out, keys
}

// monthsOf lists the months that some year of a period has, in the order of the year.
func monthsOf(asked constrain.Span, counts map[string]int64) (out []bucket, keys []string) {
	for m := time.January; m <= time.December; m++ {
		begin := time.Date(asked.From.Year(), m, 1, 0, 0, 0, 0, time.UTC)
		if begin.AddDate(0, 1, -1).Before(asked.From) {
			begin = begin.AddDate(1, 0, 0)
		}
		if begin.After(asked.To) {
			continue
		}
		label, _ := intervalLabel(string(store.MonthOfYear), begin)
		out, keys = append(out, bucket{key: label, count: counts[label]}), append(keys, label)
	}
	return out, keys
}

// next returns the beginning of the interval after the one that holds t.
func next(by string, t time.Time) time.Time {
	switch by {
	case string(store.Month):
		return time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	case string(store.Quarter):
		return time.Date(t.Year(), t.Month()+3-(t.Month()-1)%3, 1, 0, 0, 0, 0, time.UTC)
	case decade:
		return time.Date(t.Year()/10*10+10, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(t.Year()+1, 1, 1, 0, 0, 0, 0, time.UTC)
}

// askedPeriod returns the days that the question's period and the coverage share; false
// where no period is asked for, or nothing of it is covered.
func (c *computer) askedPeriod() (constrain.Span, bool) {
	covered, ok := c.coverage()
	if !ok {
		return covered, false
	}
	for _, p := range c.Parts {
		if p.Field != c.spec.DateField || len(p.Values) != 1 || p.Op == sextant.OpNotIn {
			continue
		}
		if s, isSpan := p.Values[0].(constrain.Span); isSpan {
			if s.From.After(covered.From) {
				covered.From = s.From
			}
			if !s.To.IsZero() && s.To.Before(covered.To) {
				covered.To = s.To
			}
			return covered, !covered.To.Before(covered.From)
		}
	}
	return covered, false
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

// inTime adds to rows in time what keeps them from being misread: which are partial,
// where they cannot be compared across, what must not be mixed, and how often a
// condition's field is not recorded.
func (c *computer) inTime(out *sextant.Computed, g constrain.Grouping) error {
	c.markPartial(out, g)
	c.markBreaks(out, g)
	if c.asked.Kind == "top" {
		return nil
	}
	if err := c.splitRows(out, g); err != nil {
		return err
	}
	return c.addUnknowns(out, g)
}

// thin is the part of a middling year below which a year is no year of the data, but
// some records that strayed in.
const thin = 0.1

// strays returns the years of which the collection holds only stray records, the first
// day of the years it does hold, and how many strays lie before it.
func (c *computer) strays() (years map[string]int64, begin time.Time, before int64) {
	if c.spec.DateField == "" {
		return nil, begin, 0
	}
	all := c.Parser.Vocabulary().Years[c.spec.Name]
	if len(all) < fewYears {
		return nil, begin, 0
	}
	counts := make([]int64, len(all))
	for i, b := range all {
		counts[i] = b.Count
	}
	slices.Sort(counts)
	middle := float64(counts[len(counts)/2])
	years = map[string]int64{}
	for _, b := range all {
		label := b.Value.Str()
		if float64(b.Count) < thin*middle {
			years[label] = b.Count
			continue
		}
		if begin.IsZero() {
			begin, _ = begins(string(store.Year), label)
			for _, n := range years {
				before += n
			}
		}
	}
	return years, begin, before
}

// fewYears are too few to say what a middling one is.
const fewYears = 5

func (c *computer) markPartial(out *sextant.Computed, g constrain.Grouping) {
	covered, ok := c.coverage()
	if !ok || g.Field != c.spec.DateField {
		return
	}
	asked, isAsked := c.askedPeriod()
	if isAsked {
		covered = asked
	}
	strays, _, _ := c.strays()
	var stray int64
	for _, row := range out.Rows {
		key, _ := row[0].(string)
		begin, ok := begins(g.By, key)
		if !ok {
			continue
		}
		end := next(g.By, begin).AddDate(0, 0, -1)
		switch n, isStray := strays[key]; {
		case isStray && end.Before(covered.To):
			stray += n
			out.Partial = append(out.Partial, key)
		case begin.Add(slack(begin, end)).Before(covered.From), end.Add(-slack(begin, end)).After(covered.To):
			out.Partial = append(out.Partial, key)
			c.note(out, "%s is partial: it is covered from %s to %s. It shows no rise and no fall.", key, later(begin, covered.From).Format(time.DateOnly), earlier(end, covered.To).Format(time.DateOnly))
		}
	}
	if stray > 0 {
		c.note(out, "Of some years before the data begin only %d stray records are held; they are no counts of those years.", stray)
	}
}

// slack is how much of an interval may lie before the first or behind the last document
// without its being partial: a twentieth, as there need not be one every day.
func slack(begin, end time.Time) time.Duration { return end.Sub(begin) / 20 }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// begins returns the first day of a labelled interval.
func begins(by, label string) (time.Time, bool) {
	for _, layout := range map[string][]string{string(store.Year): {"2006"}, string(store.Month): {"2006-01"}, string(store.Day): {time.DateOnly}}[by] {
		t, err := time.Parse(layout, label)
		return t, err == nil
	}
	year, rest := label[:min(4, len(label))], label[min(4, len(label)):]
	y, err := strconv.Atoi(year)
	if err != nil {
		return time.Time{}, false
	}
	month := 1
	if by == string(store.Quarter) && len(rest) == 3 {
		month = 3*int(rest[2]-'1') + 1
	}
	return time.Date(y, time.Month(month), 1, 0, 0, 0, 0, time.UTC), true
}

// markBreaks marks where the coding of a field changed that the rows depend on.
func (c *computer) markBreaks(out *sextant.Computed, g constrain.Grouping) {
	if len(out.Rows) == 0 || g.Field != c.spec.DateField {
		return
	}
	first, _ := begins(g.By, fmt.Sprint(out.Rows[0][0]))
	last, _ := begins(g.By, fmt.Sprint(out.Rows[len(out.Rows)-1][0]))
	for _, b := range c.Domain.Breaks {
		if b.Year <= first.Year() || b.Year > last.Year() || b.Field != "" && !c.uses(b.Field) {
			continue
		}
		key, _ := intervalLabel(g.By, time.Date(b.Year, 1, 1, 0, 0, 0, 0, time.UTC))
		out.Breaks = append(out.Breaks, sextant.Break{Key: key, Field: b.Field, Why: b.Why})
		c.note(out, "Rows before %s are not to be compared with those after it: %s.", key, b.Why)
	}
}

// uses reports whether a figure depends on a field: by a condition, a part or a row.
func (c *computer) uses(field string) bool {
	return slices.ContainsFunc(c.Parts, func(p constrain.Compiled) bool { return p.Field == field }) ||
		slices.ContainsFunc(c.Reading.Part, func(p constrain.Constraint) bool { return p.Field == field }) ||
		slices.ContainsFunc(c.asked.Groups, func(g constrain.Grouping) bool { return g.Field == field }) || c.asked.Of == field
}

// splitRows adds the two series that must not be taken for one.
func (c *computer) splitRows(out *sextant.Computed, g constrain.Grouping) error {
	s := c.Domain.Split
	if _, ok := c.inside(); !ok || out.SumOf != "" {
		return nil
	}
	for _, part := range []Part{s.Inside, s.Outside} {
		f, err := c.spec.Schema.Resolve(part.Filter)
		if err != nil {
			return nil // not a collection this split is about
		}
		t, err := c.tally(g, filter.Simplify(filter.And{c.Filter, f}), out.Unit)
		if err != nil {
			return err
		}
		c.addColumn(out, part.Name, t)
	}
	c.note(out, "Read %s by itself: records %s are another selection, and their part changes over the years.", s.Inside.Name, s.Outside.Name)
	return nil
}

// inside is the part of what is counted that a trend is to be read by, if it is split.
func (c *computer) inside() (Part, bool) {
	s := c.Domain.Split
	if s == nil || slices.ContainsFunc(s.Unless, c.uses) {
		return Part{}, false
	}
	f, err := c.spec.Schema.Resolve(s.Inside.Filter)
	return Part{Name: s.Inside.Name, Filter: filter.Simplify(filter.And{c.Filter, f})}, err == nil
}

func (c *computer) addColumn(out *sextant.Computed, name string, t tally) {
	counts := t.counts()
	out.Columns = append(out.Columns, name)
	for i, row := range out.Rows {
		out.Rows[i] = append(row, counts[fmt.Sprint(row[0])])
	}
}

// addUnknowns adds, for a condition whose field is often not recorded, how many of each
// row could be meant besides: those that satisfy all other conditions.
func (c *computer) addUnknowns(out *sextant.Computed, g constrain.Grouping) error {
	for i, p := range c.Parts {
		k, ok := c.account(p)
		if !ok || !c.mostlyUnknown(k) {
			continue
		}
		others := slices.Clone(c.Parts)
		others[i] = p.Unknown(c.Parser.Lexicon())
		t, err := c.tally(g, constrain.Joint(others), out.Unit)
		if err != nil {
			return err
		}
		c.addColumn(out, c.label(p.Field)+" not recorded", t)
	}
	return nil
}
