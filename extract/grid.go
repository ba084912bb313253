package extract

import (
	"fmt"
	"slices"
	"strings"
)

// sparseRow is a row of a sheet: its filled cells, from left to right.
type sparseRow struct {
	number int // as people count them, from 1
	cells  []sparseCell
}

type sparseCell struct {
	column int
	text   string
}

// numberedTable writes rows of a sheet or a file as a table, in parts that say which
// rows they are. Columns without any text are left out.
func (w *writer) numberedTable(label string, rows []sparseRow, header int) {
	columns := usedColumns(rows)
	if len(columns) == 0 {
		return
	}
	index := make(map[int]int, len(columns))
	for i, c := range columns {
		index[c] = i
	}
	w.tables++
	var b strings.Builder
	ends := make([]int, len(rows))
	cells := make([]string, len(columns))
	for i, r := range rows {
		clear(cells)
		for _, c := range r.cells {
			cells[index[c.column]] = c.text
		}
		if i == header && header > 1 {
			b.WriteString(strings.TrimSuffix(strings.Repeat("--- | ", len(cells)), " | ") + "\n")
		}
		b.WriteString(rowLine(cells))
		ends[i] = b.Len()
		b.WriteByte('\n')
	}
	start, end := w.write(blockText, strings.TrimSuffix(b.String(), "\n"))
	if w.err != nil {
		return
	}
	w.part(KindTable, "", start, end)
	first, from := 0, 0
	for i := range rows {
		if ends[i]-from >= partLines || i == len(rows)-1 {
			w.part(KindRows, rowRange(label, rows[first].number, rows[i].number), start+from, start+ends[i])
			first, from = i+1, ends[i]+1
		}
	}
}

func rowRange(label string, first, last int) string {
	if first == last {
		return fmt.Sprintf("%s %d", label, first)
	}
	return fmt.Sprintf("%ss %d-%d", label, first, last)
}

func usedColumns(rows []sparseRow) []int {
	seen := map[int]bool{}
	var out []int
	for _, r := range rows {
		for _, c := range r.cells {
			if !seen[c.column] {
				seen[c.column] = true
				out = append(out, c.column)
			}
		}
	}
	slices.Sort(out)
	return out
}

// mostRows is how many rows are held before they are written.
const mostRows = 5000

// pieceWriter writes rows as a table that may be of any length. A long one is written in
// pieces, each with the header.
type pieceWriter struct {
	w    *writer
	rows []sparseRow
}

func (p *pieceWriter) add(r sparseRow) {
	if len(r.cells) == 0 || p.w.err != nil {
		return
	}
	if p.rows = append(p.rows, r); len(p.rows) == mostRows {
		header := p.rows[0]
		p.flush()
		p.rows = append(p.rows, header)
	}
}

func (p *pieceWriter) flush() {
	p.w.numberedTable("row", p.rows, 1)
	p.rows = nil
}
