package extract

import (
	"context"
	"fmt"
)

// readXLSX writes the sheets of a workbook as tables. Rows that stand together are one
// table; a cell alone between them is text.
func readXLSX(ctx context.Context, in *input) (Text, error) {
	b, err := openWorkbook(ctx, in)
	if err != nil {
		return Text{}, err
	}
	title, properties, err := b.office.core()
	if err != nil {
		return Text{}, err
	}
	w := newWriter(in)
	hidden := 0
	for _, s := range b.Sheets {
		if s.Hidden {
			hidden++
			continue
		}
		if err := writeSheet(b, w, s); err != nil {
			return Text{}, err
		}
		properties.Pages++
	}
	t := Text{Format: FormatXLSX, Title: title, Properties: properties}
	if t.Title == "" {
		t.Title = titleOf(Text{}, in.name)
	}
	if hidden > 0 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("%d hidden sheets were left out.", hidden))
	}
	t.Text, t.Parts, err = w.result()
	return t, err
}

func writeSheet(b *Workbook, w *writer, s Sheet) error {
	w.endAll()
	w.begin(KindSheet, s.Name)
	w.sections = false
	w.heading(1, s.Name)
	w.sections = true
	var rows []sparseRow
	flush := func() {
		writeRows(w, rows)
		rows = nil
	}
	size := int64(0)
	for r, err := range b.sparse(s) {
		if err != nil {
			return err
		}
		if len(rows) > 0 && r.number > rows[len(rows)-1].number+1 {
			flush()
		}
		for _, c := range r.cells {
			size += int64(len(c.text)) + 3
		}
		if size > b.office.in.limits.Text {
			return &Refusal{Code: TooLarge, Place: fmt.Sprintf("%s, row %d", s.Name, r.number), Reason: fmt.Sprintf("its text is over the limit of %d bytes", b.office.in.limits.Text), Hint: "Ingest it as a table."}
		}
		if rows = append(rows, r); len(rows) == mostRows { // the next piece has the header again
			header := rows[0]
			flush()
			rows = append(rows, header)
		}
		if w.err != nil {
			return w.err
		}
	}
	flush()
	return w.err
}

// writeRows writes rows that stand together. Rows of one cell before the first row of
// several are titles of the table.
func writeRows(w *writer, rows []sparseRow) {
	for len(rows) > 0 && len(rows[0].cells) == 1 && (len(rows) == 1 || len(usedColumns(rows)) > 1) {
		start, end := w.write(blockText, rows[0].cells[0].text)
		w.part(KindRows, rowRange("row", rows[0].number, rows[0].number), start, end)
		rows = rows[1:]
	}
	w.numberedTable("row", rows, 1)
}
