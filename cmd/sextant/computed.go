package main

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
)

// writeComputed shows an exact figure: its table, the total, what it means and which
// records it counts.
func writeComputed(p *page, c *sextant.Computed) {
	p.heading(c.Title)
	if len(c.Rows) > 0 {
		writeRows(p, c)
	}
	total := counted(c.Total, c.UnitLabel)
	if c.Method.AtLeast {
		total = "at least " + total
	}
	p.text("  ", total+figures(c))
	for _, q := range c.Snippets[:min(len(c.Snippets), shownSnippets)] {
		p.text("  ", "“"+q.Text+"” "+q.Locator+", "+q.Title)
	}
	writeMethod(p, &c.Method)
	writeIDs(p, c)
}

// shownSnippets are enough to see what the mentions are like; --json has more.
const shownSnippets = 5

// counted is a number of units; one of them is called by the singular.
func counted(n int64, units string) string {
	if n == 1 {
		units = strings.TrimSuffix(units, "s")
	}
	return humanize.Comma(n) + " " + units
}

func writeRows(p *page, c *sextant.Computed) {
	t := table{head: c.Columns, right: make([]bool, len(c.Columns))}
	for i := range t.right {
		t.right[i] = i > 0 && numeric(c.Rows, i)
	}
	for _, row := range c.Rows[:min(len(c.Rows), maxRows)] {
		cells := make([]string, len(c.Columns))
		for i := range cells {
			switch {
			case i >= len(row):
			case t.right[i]:
				cells[i] = cellText(row[i])
			default:
				cells[i] = valueText(row[i])
			}
		}
		t.rows = append(t.rows, cells)
	}
	p.table(t)
	if more := len(c.Rows) - maxRows; more > 0 {
		p.note("  ", fmt.Sprintf("and %s more rows: --json has them", humanize.Comma(int64(more))))
	}
}

// numeric reports whether a column holds numbers only.
func numeric(rows [][]any, column int) bool {
	for _, row := range rows {
		if column < len(row) {
			if _, isString := row[column].(string); isString {
				return false
			}
		}
	}
	return true
}

// figures is what stands beside the total: the unknown, a share, a sum, a date.
func figures(c *sextant.Computed) string {
	var out []string
	if c.Unknown > 0 && c.GroupBy != "" {
		out = append(out, fmt.Sprintf("%s of them with no %s recorded", humanize.Comma(c.Unknown), c.GroupBy))
	}
	if c.Percent != "" {
		s := fmt.Sprintf("%s of them (%s %%)", humanize.Comma(c.PartCount), c.Percent)
		if c.Low != "" && c.High != "" {
			s = fmt.Sprintf("%s of them (%s %%, 95 %% interval %s to %s)", humanize.Comma(c.PartCount), c.Percent, c.Low, c.High)
		}
		out = append(out, s)
	}
	if c.SumOf != "" && (c.Kind == "sum" || c.Kind == "mean") {
		out = append(out, fmt.Sprintf("%s %s in all", humanize.Comma(c.Sum), strings.ReplaceAll(c.SumOf, "_", " ")))
	}
	if c.Value != "" {
		out = append(out, fmt.Sprintf("%s of %s: %s", c.Kind, strings.ReplaceAll(c.ValueOf, "_", " "), c.Value))
	}
	if c.Kind == "distinct" {
		out = append(out, fmt.Sprintf("%s different", humanize.Comma(c.Distinct)))
	}
	if c.Date != "" {
		out = append(out, c.Date)
	}
	if len(out) == 0 {
		return ""
	}
	return ", " + strings.Join(out, ", ")
}

func writeMethod(p *page, m *sextant.Method) {
	var parts []string
	for _, part := range []struct{ name, text string }{
		{"counted", m.Scope}, {"period", m.Period}, {"coverage", m.Coverage}, {"data to", m.DataDate}, {"from", strings.Join(m.Files, ", ")},
	} {
		if part.text != "" {
			parts = append(parts, part.name+" "+part.text)
		}
	}
	if m.OpenCases > 0 {
		parts = append(parts, humanize.Comma(m.OpenCases)+" cases still open")
	}
	if len(parts) > 0 {
		p.note("  ", strings.Join(parts, "; "))
	}
	for _, s := range append(m.Unknown, m.Notes...) {
		p.note("  ", s)
	}
	if len(m.CountedAs) > 0 {
		var spellings []string
		for _, pair := range m.CountedAs {
			spellings = append(spellings, pairText(pair))
		}
		p.note("  ", "counted as: "+strings.Join(spellings, ", "))
	}
	for _, o := range m.OtherCounts {
		p.note("  ", fmt.Sprintf("%s by another rule, %s: %s", humanize.Comma(o.Count), o.Rule, o.Why))
	}
}

func writeIDs(p *page, c *sextant.Computed) {
	if len(c.IDs) == 0 {
		return
	}
	ids := strings.Join(c.IDs[:min(len(c.IDs), maxIDs)], ", ")
	if more := max(c.Total-int64(maxIDs), 0); more > 0 {
		ids += fmt.Sprintf(" and %s more: --json has them", humanize.Comma(more))
	}
	p.note("  ids ", ids)
}
