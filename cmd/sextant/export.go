package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chart"
)

// exports are the files a question's figures are written to, beside what is printed.
type exports struct {
	CSV   string `name:"csv" help:"Write the first figure's rows (or the documents it counts, all of them) to this file, with the rules it was counted by." placeholder:"FILE" type:"path"`
	Chart string `help:"Draw the first figure that has rows to this file, as SVG or PNG by its name." placeholder:"FILE" type:"path"`
}

// check refuses a name that says no format, before a question is asked for nothing.
func (e exports) check() error {
	if ext := strings.ToLower(filepath.Ext(e.Chart)); e.Chart != "" && ext != ".svg" && ext != ".png" {
		return usage("--chart is %q; the file must end in .svg or .png.", e.Chart)
	}
	return nil
}

func (e exports) write(ctx context.Context, r reader, a *sextant.Answer) error {
	if e.CSV != "" {
		c := first(a, func(*sextant.Computed) bool { return true })
		if c == nil {
			return noFigure("--csv")
		}
		if err := toFile(e.CSV, func(w io.Writer) error { return writeCSV(ctx, w, r, a.Question, c) }); err != nil {
			return err
		}
	}
	if e.Chart == "" {
		return nil
	}
	c := first(a, func(c *sextant.Computed) bool { return len(c.Rows) > 0 })
	if c == nil {
		return noFigure("--chart")
	}
	draw := chart.SVG
	if strings.EqualFold(filepath.Ext(e.Chart), ".png") {
		draw = chart.PNG
	}
	return toFile(e.Chart, func(w io.Writer) error { return draw(w, c) })
}

func noFigure(flag string) error {
	return &sextant.Error{Code: sextant.CodeBadRequest, Op: "export", Message: "The answer has no figure for " + flag + ".", Hint: "Ask for a count, a list or a breakdown."}
}

func first(a *sextant.Answer, suits func(*sextant.Computed) bool) *sextant.Computed {
	for i := range a.Computed {
		if suits(&a.Computed[i]) {
			return &a.Computed[i]
		}
	}
	return nil
}

// toFile writes a file whole or not at all.
func toFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".sextant-*")
	if err != nil {
		return &sextant.Error{Code: sextant.CodeForbidden, Op: "export", Message: "The file " + name + " cannot be written.", Err: err}
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := os.Chmod(f.Name(), 0o644); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// writeCSV writes a figure so that somebody else can count it again: lines of rules that
// begin with #, then the table or, of a figure without one, every document it counts.
func writeCSV(ctx context.Context, w io.Writer, r reader, question string, c *sextant.Computed) error {
	for _, line := range rules(question, c) {
		if _, err := fmt.Fprintln(w, "#", strings.ReplaceAll(line, "\n", " ")); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	out := csv.NewWriter(w)
	if len(c.Rows) > 0 {
		records := [][]string{c.Columns}
		for _, row := range c.Rows {
			cells := make([]string, len(row))
			for i, v := range row {
				cells[i] = csvCell(v)
			}
			records = append(records, cells)
		}
		return out.WriteAll(records)
	}
	if err := out.Write([]string{"id", "date", "title"}); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	for q := (sextant.ListQuery{Collection: c.Collection, FilterText: c.Filter}); ; {
		page, err := r.List(ctx, q)
		if err != nil {
			return err
		}
		for _, d := range page.Documents {
			if err := out.Write([]string{guarded(d.NativeID), d.Date, guarded(d.Title)}); err != nil {
				return fmt.Errorf("export: %w", err)
			}
		}
		if q.After = page.Next; page.Next == "" {
			break
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// csvCell writes numbers as programs read them and texts so that none is a formula.
func csvCell(v any) string {
	switch v := v.(type) {
	case string:
		return guarded(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// guarded keeps a spreadsheet from taking foreign text for a formula.
func guarded(s string) string {
	if s != "" && strings.ContainsAny(s[:1], "=+-@\t\r") {
		return "'" + s
	}
	return s
}

func rules(question string, c *sextant.Computed) []string {
	m := &c.Method
	out := []string{"question: " + question, "figure: " + c.Title, "filter: " + c.Filter, "counted: " + m.Unit + ", " + m.Scope, "period: " + m.Period}
	for _, p := range []struct{ name, text string }{{"coverage", m.Coverage}, {"data to", m.DataDate}, {"files", strings.Join(m.Files, ", ")}} {
		if p.text != "" {
			out = append(out, p.name+": "+p.text)
		}
	}
	out = append(out, fmt.Sprintf("total: %d %s", c.Total, c.UnitLabel))
	if m.AtLeast {
		out = append(out, "the total is a lower bound")
	}
	out = append(append(out, m.Unknown...), m.Notes...)
	for _, o := range m.OtherCounts {
		out = append(out, fmt.Sprintf("other count, %s: %d (%s)", o.Rule, o.Count, o.Why))
	}
	return out
}

// List implements reader.
func (l local) List(ctx context.Context, q sextant.ListQuery) (sextant.ListPage, error) {
	return l.engine.List(ctx, q)
}

type listBody struct {
	Collection string `json:"collection"`
	Filter     string `json:"filter,omitempty"`
	After      string `json:"after,omitempty"`
}

// List implements reader.
func (r *remote) List(ctx context.Context, q sextant.ListQuery) (sextant.ListPage, error) {
	var page sextant.ListPage
	_, err := r.do(ctx, http.MethodPost, "/v1/list", listBody{q.Collection, q.FilterText, q.After}, &page)
	return page, err
}
