package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"path"
	"strconv"
	"strings"
	"time"
)

// Workbook is an XLSX file whose sheets are read row by row.
type Workbook struct {
	office *office
	Sheets []Sheet
	texts  []string // shared between cells
	styles []numberStyle
	date0  time.Time
}

// Sheet is one sheet of a Workbook.
type Sheet struct {
	Name   string
	Hidden bool
	part   string
}

// Row is a row of a Sheet.
type Row struct {
	Number int // as the sheet counts it, from 1
	// Cells hold what a reader sees, from column A on; dates as 2006-01-02 or
	// 2006-01-02 15:04:05, percentages with their sign, other figures without any
	// grouping. Empty cells at the end are left out.
	Cells []string
}

// mostColumns is Excel's own limit.
const mostColumns = 16384

// OpenWorkbook reads what the sheets of a workbook share. The error is a *Refusal if the
// file is the reason.
func OpenWorkbook(ctx context.Context, name string, r io.ReaderAt, size int64, limits Limits) (*Workbook, error) {
	limits = limits.withDefaults()
	return openWorkbook(ctx, &input{name: name, r: r, size: size, limits: limits, left: newBudget(limits, size)})
}

func openWorkbook(ctx context.Context, in *input) (*Workbook, error) {
	o, err := openOffice(ctx, in)
	if err != nil {
		return nil, err
	}
	main := officeMain(o.zip)
	if !strings.HasPrefix(main, "xl/") {
		return nil, missing("xl/workbook.xml")
	}
	b := &Workbook{office: o, date0: time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)}
	relations, err := o.relations(main)
	if err != nil {
		return nil, err
	}
	if err := b.list(main, relations); err != nil {
		return nil, err
	}
	for _, name := range ofKind(relations, "sharedStrings") {
		if err := b.shared(name); err != nil {
			return nil, err
		}
	}
	for _, name := range ofKind(relations, "styles") {
		if err := b.readStyles(name); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// list finds the sheets.
func (b *Workbook) list(main string, relations map[string]relation) error {
	return b.office.walk(main, func(_ *xmlReader, t xmlToken) error {
		switch t.name {
		case "workbookPr":
			if t.attr("date1904") != "" && t.attr("date1904") != "0" && t.attr("date1904") != "false" {
				b.date0 = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
			}
		case "sheet":
			r := relations[t.attr("id")]
			if len(b.Sheets) < 10_000 && r.target != "" && strings.HasPrefix(path.Base(path.Dir(r.target)), "worksheet") {
				b.Sheets = append(b.Sheets, Sheet{Name: clean(t.attr("name")), Hidden: t.attr("state") == "hidden" || t.attr("state") == "veryHidden", part: r.target})
			}
		}
		return nil
	})
}

// shared reads the texts that cells refer to by number.
func (b *Workbook) shared(name string) error {
	left := b.office.in.limits.Text
	return b.office.walk(name, func(x *xmlReader, t xmlToken) error {
		if t.name != "si" {
			return nil
		}
		text, err := richText(x)
		text = clean(text)
		if left -= int64(len(text)) + 16; left < 0 {
			return &Refusal{Code: TooLarge, Reason: fmt.Sprintf("its text is over the limit of %d bytes", b.office.in.limits.Text)}
		}
		b.texts = append(b.texts, text)
		return err
	})
}

// richText reads runs of text to the end of the element at hand, without phonetic hints.
func richText(x *xmlReader) (string, error) {
	var out strings.Builder
	for depth := 1; depth > 0; {
		t, err := x.next()
		if err != nil {
			return out.String(), err
		}
		switch {
		case t.kind == '/':
			depth--
		case t.kind == '<' && t.name == "t":
			text, err := x.elementText()
			out.WriteString(text)
			if err != nil {
				return out.String(), err
			}
		case t.kind == '<' && t.name == "rPh":
			if err := x.skipElement(); err != nil {
				return out.String(), err
			}
		case t.kind == '<':
			depth++
		}
	}
	return out.String(), nil
}

// Rows yields the rows of a sheet that have text, in their order.
func (b *Workbook) Rows(sheet Sheet) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for r, err := range b.sparse(sheet) {
			if err != nil {
				yield(Row{}, err)
				return
			}
			row := Row{Number: r.number}
			for _, c := range r.cells {
				for len(row.Cells) <= c.column {
					row.Cells = append(row.Cells, "")
				}
				row.Cells[c.column] = c.text
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// sparse yields rows with their filled cells only.
func (b *Workbook) sparse(sheet Sheet) iter.Seq2[sparseRow, error] {
	return func(yield func(sparseRow, error) bool) {
		x, err := b.office.part(sheet.part)
		if err == nil && x == nil {
			err = missing(sheet.part)
		}
		if err != nil {
			yield(sparseRow{}, err)
			return
		}
		number, stopped := 0, errors.New("stopped")
		err = walkXML(x, sheet.part, func(x *xmlReader, t xmlToken) error {
			if t.name != "row" {
				return nil
			}
			number = max(atoi(t.attr("r"), number+1), number+1)
			row, err := b.row(x, number)
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			if len(row.cells) > 0 && !yield(row, nil) {
				return stopped
			}
			return err
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(sparseRow{}, err)
		}
	}
}

func atoi(s string, def int) int { return number(s, def) }

func (b *Workbook) row(x *xmlReader, number int) (sparseRow, error) {
	row := sparseRow{number: number}
	column := -1
	for depth := 1; depth > 0; {
		t, err := x.next()
		if err != nil {
			return row, err
		}
		switch {
		case t.kind == '/':
			depth--
		case t.kind == '<' && t.name == "c":
			if c := columnOf(t.attr("r")); c > column {
				column = c
			} else {
				column++
			}
			text, err := b.cell(x, t)
			if text = clean(text); text != "" && column < mostColumns {
				row.cells = append(row.cells, sparseCell{column, text})
			}
			if err != nil {
				return row, err
			}
		case t.kind == '<':
			depth++
		}
	}
	return row, nil
}

// columnOf reads the letters of a reference such as "AB12"; -1 if there are none.
func columnOf(ref string) int {
	n := 0
	for i := 0; i < len(ref) && i < 3 && ref[i] >= 'A' && ref[i] <= 'Z'; i++ {
		n = n*26 + int(ref[i]-'A') + 1
	}
	return n - 1
}

// cell reads a cell to its end.
func (b *Workbook) cell(x *xmlReader, c xmlToken) (string, error) {
	var value string
	for depth := 1; depth > 0; {
		t, err := x.next()
		if err != nil {
			return "", err
		}
		switch {
		case t.kind == '/':
			depth--
		case t.kind == '<' && t.name == "v":
			if value, err = x.elementText(); err != nil {
				return "", err
			}
		case t.kind == '<' && t.name == "is":
			if value, err = richText(x); err != nil {
				return "", err
			}
		case t.kind == '<' && t.name == "f":
			if err := x.skipElement(); err != nil {
				return "", err
			}
		case t.kind == '<':
			depth++
		}
	}
	return b.show(c.attr("t"), number(c.attr("s"), 0), value), nil
}

// show is what a reader sees of a value.
func (b *Workbook) show(kind string, style int, value string) string {
	switch kind {
	case "s":
		if i := number(value, -1); i >= 0 && i < len(b.texts) {
			return b.texts[i]
		}
		return ""
	case "b":
		if strings.TrimSpace(value) == "1" {
			return "TRUE"
		}
		return "FALSE"
	case "str", "inlineStr", "e", "d":
		return value
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return value
	}
	if style >= 0 && style < len(b.styles) {
		switch b.styles[style] {
		case styleDate:
			return b.date(v)
		case stylePercent:
			return figure(v*100) + "%"
		}
	}
	return figure(v)
}

// figure writes a number with the 15 digits that a sheet keeps.
func figure(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	if r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 15, 64), 64); err == nil {
		v = r
	}
	if a := math.Abs(v); a >= 1e21 || a < 1e-6 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// date writes a day number as its date; numbers below a day are times.
func (b *Workbook) date(v float64) string {
	if v < 0 || v > 2958466 {
		return figure(v)
	}
	at := b.date0.Add(time.Duration(math.Round(v*86400)) * time.Second)
	switch {
	case v < 1:
		return at.Format("15:04:05")
	case v == math.Trunc(v):
		return at.Format("2006-01-02")
	}
	return at.Format("2006-01-02 15:04:05")
}
